/** What was found on the scans, drawn over them; pieces are chosen, cut, brushed and discarded here. */
import { at } from "./api.js";
import { byId, make, percent, plural, refill } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const MOST_NUMBERS = 400; // more would cover the scan
const ZOOMS = [1, 1.5, 2, 3, 4, 6, 8];
const MOST_POINTS = 2000;

export class ReviewView {
  review = null;
  #scan = 0;
  #chosen = new Set();
  #tool = "choose";
  #zoom = 0;
  #line = null; // points being drawn, and the path that shows them

  /** `change(action, edit)` sends a correction, `say(sentence)` tells. */
  constructor(change, say) {
    Object.assign(this, { change, say, view: byId("view") });
    byId("tool").addEventListener("change", (event) => this.setTool(event.target.value));
    byId("scan").addEventListener("change", (event) => this.#turnTo(Number(event.target.value)));
    byId("discard").addEventListener("click", () => this.discard());
    byId("merge").addEventListener("click", () => this.merge());
    byId("undo").addEventListener("click", () => this.change("undo"));
    byId("redo").addEventListener("click", () => this.change("redo"));
    byId("zoom-in").addEventListener("click", () => this.zoom(1));
    byId("zoom-out").addEventListener("click", () => this.zoom(-1));
    document.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#size()).observe(this.view);
  }

  get scan() {
    return this.review?.scans[this.#scan] ?? null;
  }

  /** Show another state of the same case, or of another one. */
  take(review, isNew) {
    this.review = review;
    if (isNew) [this.#scan, this.#zoom, this.#chosen] = [0, 0, new Set()];
    this.#scan = Math.min(this.#scan, Math.max(0, review.scans.length - 1));
    const known = new Set(this.scan?.pieces.map((piece) => piece.number));
    this.#chosen = new Set([...this.#chosen].filter((number) => known.has(number)));
    this.draw(isNew);
  }

  clear() {
    this.review = null;
    this.#line = null;
    this.view.replaceChildren();
    byId("tools").hidden = byId("zoom").hidden = byId("list-box").hidden = byId("edits-box").hidden = byId("notes-box").hidden = true;
  }

  draw(isNew = true) {
    const { review, scan } = this;
    byId("tools").hidden = byId("zoom").hidden = !scan;
    byId("scan-choice").hidden = review.scans.length < 2;
    byId("scan").replaceChildren(...review.scans.map(({ name }, k) => make("option", { value: k, selected: k === this.#scan }, name)));
    if (scan) this.#drawScan(scan, isNew);
    else this.view.replaceChildren(make("div", { class: "singles" }, review.pieces.map((name, k) =>
      make("img", { src: at(`/api/review/pieces/${k}.png`), alt: name, title: name, loading: "lazy" }))));
    byId("undo").disabled = !review.can_undo;
    byId("redo").disabled = !review.can_redo;
    byId("edits-box").hidden = review.edits.length === 0;
    byId("edits").replaceChildren(...review.edits.map((text) => make("li", {}, text)));
    byId("notes-box").hidden = review.notes.length === 0;
    byId("notes").replaceChildren(...review.notes.map((text) => make("li", {}, text)));
    this.#drawChosen();
  }

  #drawScan(scan, isNew) {
    const old = this.view.querySelector(".paper");
    if (!old || isNew || old.dataset.name !== scan.name) {
      const image = make("img", { src: at(scan.picture), alt: `The scan ${scan.name}` });
      this.svg = document.createElementNS(SVG, "svg");
      this.svg.setAttribute("viewBox", `-0.5 -0.5 ${scan.width} ${scan.height}`);
      this.#listen(this.svg);
      this.view.replaceChildren(make("div", { class: "paper", "data-name": scan.name }, image, this.svg));
      this.#size();
    }
    this.svg.replaceChildren(...scan.pieces.map((piece) => this.#shape(piece)));
    refill(byId("list"), ...scan.pieces.map((piece) => make("li", {}, make("button", {
      "data-key": piece.number, "aria-pressed": "false", "aria-label": `Piece ${piece.number}`, onclick: () => this.#toggle(piece.number),
      onfocus: () => this.#near(piece.number), onblur: () => this.#near(null),
      onpointerenter: () => this.#near(piece.number), onpointerleave: () => this.#near(null),
    }, piece.number))));
    byId("list-box").hidden = false;
    this.svg.classList.toggle("unnumbered", scan.pieces.length > MOST_NUMBERS);
  }

  #shape({ number, outline }) {
    const group = document.createElementNS(SVG, "g");
    group.dataset.number = number;
    const d = outline.map((ring) => `M${ring.map(([x, y]) => `${x} ${y}`).join("L")}Z`).join("");
    for (const name of ["piece-back", "piece-shape"]) {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", d);
      path.setAttribute("class", name);
      group.append(path);
    }
    const text = document.createElementNS(SVG, "text");
    const [xs, ys] = [0, 1].map((k) => outline[0].map((point) => point[k]));
    text.setAttribute("x", (Math.min(...xs) + Math.max(...xs)) / 2);
    text.setAttribute("y", (Math.min(...ys) + Math.max(...ys)) / 2);
    text.setAttribute("class", "piece-number");
    text.textContent = number;
    group.append(text);
    return group;
  }

  #groups() {
    return [...(this.svg?.querySelectorAll("g") ?? [])];
  }

  #near(number) {
    for (const group of this.#groups()) group.classList.toggle("near", Number(group.dataset.number) === number);
  }

  #drawChosen() {
    for (const group of this.#groups()) group.classList.toggle("chosen", this.#chosen.has(Number(group.dataset.number)));
    for (const button of byId("list").querySelectorAll("button")) button.setAttribute("aria-pressed", String(this.#chosen.has(Number(button.dataset.key))));
    byId("discard").disabled = this.#chosen.size === 0;
    byId("merge").disabled = this.#chosen.size < 2;
  }

  #toggle(number) {
    if (!this.#chosen.delete(number)) this.#chosen.add(number);
    this.#drawChosen();
    this.say(this.#chosen.size ? `Chosen: ${[...this.#chosen].join(", ")}.` : "Nothing is chosen.");
  }

  #turnTo(scan) {
    this.#scan = scan;
    this.#chosen.clear();
    this.draw();
  }

  setTool(tool) {
    this.#tool = tool;
    byId("tool").querySelector(`[value=${tool}]`).checked = true;
    this.view.dataset.tool = tool;
    byId("radius-choice").hidden = !tool.startsWith("brush");
  }

  zoom(step) {
    this.#zoom = Math.min(Math.max(this.#zoom + step, 0), ZOOMS.length - 1);
    this.#size();
  }

  /** The paper fits into the view, times the zoom; its middle stays where it is. */
  #size() {
    const { scan, view } = this;
    const paper = view.querySelector(".paper");
    if (!scan || !paper || !view.clientWidth || !view.clientHeight) return;
    const middle = [(view.scrollLeft + view.clientWidth / 2) / view.scrollWidth, (view.scrollTop + view.clientHeight / 2) / view.scrollHeight];
    const scale = ZOOMS[this.#zoom] * Math.min(view.clientWidth / scan.width, view.clientHeight / scan.height);
    paper.style.width = `${Math.floor(scan.width * scale)}px`;
    paper.style.height = `${Math.floor(scan.height * scale)}px`;
    this.svg.style.fontSize = `${13 / scale}px`; // the numbers are as large as other text, whatever the zoom
    view.scrollTo(middle[0] * view.scrollWidth - view.clientWidth / 2, middle[1] * view.scrollHeight - view.clientHeight / 2);
    byId("zoom-level").textContent = percent(ZOOMS[this.#zoom]);
  }

  /** Where the pointer is on the scan, in its px. */
  #place(event) {
    const box = this.svg.getBoundingClientRect();
    const { width, height } = this.scan;
    return [((event.clientX - box.left) / box.width) * width - 0.5, ((event.clientY - box.top) / box.height) * height - 0.5];
  }

  #listen(svg) {
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.scan) return;
      if (this.#tool === "choose") {
        const group = event.target.closest("g");
        if (group) this.#toggle(Number(group.dataset.number));
        return;
      }
      svg.setPointerCapture(event.pointerId);
      const path = document.createElementNS(SVG, "polyline");
      path.setAttribute("class", `stroke ${this.#tool}`);
      if (this.#tool !== "split") path.setAttribute("stroke-width", 2 * this.#radius());
      svg.append(path);
      this.#line = { points: [this.#place(event)], path };
      this.#draw();
    });
    svg.addEventListener("pointermove", (event) => {
      if (!this.#line || this.#line.points.length >= MOST_POINTS) return;
      this.#line.points.push(this.#place(event));
      this.#draw();
    });
    svg.addEventListener("pointerup", () => this.#endLine());
    svg.addEventListener("pointercancel", () => this.#dropLine());
  }

  #draw() {
    const { points, path } = this.#line;
    path.setAttribute("points", (points.length > 1 ? points : [points[0], points[0]]).map((point) => point.join(",")).join(" "));
  }

  /** The brush's radius in px of the scan: the slider counts px of the screen. */
  #radius() {
    return Math.min(1000, Math.max(1, (Number(byId("radius").value) * this.scan.width) / this.svg.getBoundingClientRect().width));
  }

  #dropLine() {
    this.#line?.path.remove();
    this.#line = null;
  }

  #endLine() {
    if (!this.#line) return;
    const line = this.#line.points.map((point) => point.map((value) => Math.round(value * 10) / 10));
    this.#dropLine();
    const brush = this.#tool === "split" ? {} : { radius: this.#radius(), pieces: [...this.#chosen].slice(0, 1) };
    this.change("edits", { kind: this.#tool, scan: this.scan.name, line, ...brush });
  }

  discard() {
    if (this.#chosen.size > 0) this.change("edits", { kind: "discard", scan: this.scan.name, pieces: [...this.#chosen] });
  }

  merge() {
    if (this.#chosen.size > 1) this.change("edits", { kind: "merge", scan: this.scan.name, pieces: [...this.#chosen] });
  }

  #key(event) {
    if (!this.scan || event.altKey || event.target.matches("input[type=range], select")) return;
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey) {
      if (key !== "z" && key !== "y") return;
      event.preventDefault();
      this.change(key === "y" || event.shiftKey ? "redo" : "undo");
      return;
    }
    const tools = { 1: "choose", 2: "split", 3: "brush-on", 4: "brush-off" };
    if (key === "delete" || key === "backspace") this.discard();
    else if (key === "m") this.merge();
    else if (tools[key]) this.setTool(tools[key]);
    else if (key === "escape") {
      this.#dropLine();
      this.#chosen.clear();
      this.#drawChosen();
    } else return;
    event.preventDefault();
  }
}

/** "24 pieces on 2 scans". */
export function countsOf(review) {
  const pieces = plural(review.n_pieces, "piece");
  return review.scans.length > 0 ? `${pieces} on ${plural(review.scans.length, "scan")}` : pieces;
}
