/** Details of the selected join: its seam at full resolution, with a slider that pulls the two pieces apart. */
import { readPalette } from "./colors.js";
import { make } from "./dom.js";
import { action, meter, number } from "./inspector.js";
import { noteField } from "./notes.js";
import { enterPiece } from "./paint.js";
import { boxOf, middleOf, pointAlong } from "./pose.js";

const VIEW_PX = 300;

export function joinPanel(workbench, detail, pictures) {
  const { store, actions } = workbench;
  const names = [store.pieces[detail.i].name, store.pieces[detail.j].name];
  const seam = new SeamView(store, detail, pictures);
  const piece = (idx) => make("button", { class: "link", "data-key": `piece-${idx}`, onclick: () => actions.select({ kind: "piece", idx }) }, store.pieces[idx].name);
  return [
    make("h2", {}, "Join of ", piece(detail.i), " and ", piece(detail.j)),
    meter(detail.confidence),
    make("p", { class: "quiet" }, detail.status === "accepted" ? "Accepted by you." : "Found by the program."),
    make("div", { class: "buttons" },
      action("accept", "Accept", "A", () => actions.judgeJoin("accept"), store.busy || detail.status === "accepted"),
      action("reject", "Reject", "R", () => actions.judgeJoin("reject"), store.busy),
      action("cut", "Cut", "C", () => actions.judgeJoin("cut"), store.busy)),
    make("p", { class: "quiet small" }, "Reject: it is wrong and must not come back. Cut: part the pieces here, the join may come back."),
    seam.canvas(`The seam of ${names.join(" and ")}`),
    seam.sliders(),
    noteField(workbench, "note-join", `the join of ${names.join(" and ")}`, detail.note, (text) => ({ kind: "note_join", i: detail.i, j: detail.j, text })),
    make("dl", { class: "facts" }, facts(detail).map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]).flat()),
  ];
}

function facts(detail) {
  return [
    ["Seam length", `${number(detail.length_px, 0)} px`], ["Borders off by", `${number(detail.residual_px, 2)} px`],
    ["Colour step across", number(detail.color_step, 1)], ["Loops that support it", String(detail.loops ?? "–")],
  ];
}

class SeamView {
  apart = 0; // in percent of how far they may be pulled
  gap = 0; // the same in picture px
  along = 0.5;
  zoom = null; // screen px per picture px; 0: the whole seam; null: not chosen yet

  constructor(store, detail, pictures) {
    Object.assign(this, { store, detail, pictures, box: boxOf(detail.seam) });
  }

  canvas(label) {
    this.element = make("canvas", { class: "seam", role: "img", "aria-label": label });
    new ResizeObserver(() => this.draw()).observe(this.element);
    return this.element;
  }

  sliders() {
    const zooms = [["0", "Whole seam"], ["1", "100 %"], ["2", "200 %"], ["4", "400 %"]];
    const set = (name) => (event) => {
      this[name] = Number(event.target.value);
      this.draw();
    };
    this.alongSlider = make("input", { type: "range", id: "along", min: 0, max: 1, step: 0.01, value: 0.5, "data-key": "along", oninput: set("along") });
    this.zoomChoice = make("select", { id: "seam-zoom", "data-key": "seam-zoom", onchange: set("zoom") },
      zooms.map(([value, text]) => make("option", { value }, text)));
    return make("div", { class: "sliders" },
      make("label", {}, "Pull apart", make("input", { type: "range", id: "apart", min: 0, max: 100, step: 1, value: 0, "data-key": "apart", oninput: set("apart") })),
      make("label", {}, "Along the seam", this.alongSlider), make("label", {}, "Size", this.zoomChoice));
  }

  draw() {
    const { element, detail } = this;
    const dpr = window.devicePixelRatio || 1;
    const [width, height] = [Math.max(1, Math.round(element.clientWidth * dpr)), VIEW_PX * dpr];
    Object.assign(element, { width, height });
    const ctx = element.getContext("2d");
    ctx.fillStyle = readPalette().ground;
    ctx.fillRect(0, 0, width, height);
    const { seam, normal } = detail;
    if (!this.box) return;
    const [x0, y0, x1, y1] = this.box;
    const whole = Math.min(4, (0.8 * Math.min(width / Math.max(x1 - x0, 1), height / Math.max(y1 - y0, 1))) / dpr);
    this.zoom ??= whole >= 1 ? 0 : 1; // full resolution from the start
    this.zoomChoice.value = String(this.zoom);
    this.alongSlider.disabled = this.zoom === 0;
    const k = (this.zoom || whole) * dpr;
    const middle = this.zoom ? pointAlong(seam, this.along) : middleOf(this.box);
    // Never so far that no paper is left to see: the gap takes half of the view at most.
    const far = Math.min(Math.max(20, 0.5 * this.store.state.unit_px), (0.5 * Math.min(width, height)) / k);
    this.gap = (far * this.apart) / 100;
    const frame = { ctx, k, ox: middle[0] - width / (2 * k), oy: middle[1] - height / (2 * k) };
    ctx.imageSmoothingEnabled = k < 2;
    this.#piece(frame, detail.i, detail.i_pose, [-normal[0], -normal[1]]);
    this.#piece(frame, detail.j, detail.j_pose, normal);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
  }

  #piece(frame, idx, pose, away) {
    const piece = this.store.pieces[idx];
    enterPiece(frame, [pose[0], pose[1] + (away[0] * this.gap) / 2, pose[2] + (away[1] * this.gap) / 2]);
    frame.ctx.drawImage(this.pictures.get(idx), -0.5, -0.5, piece.width, piece.height);
  }
}
