/** Pieces without a place, and pieces set aside: buttons with pictures, to click or to drag onto the ground. */
import { make, plural, refill, stem } from "./dom.js";

const PAGE = 60;
const DRAG_PX = 5;

export class Tray {
  #shown = PAGE;

  constructor(parent, title, { store, actions, api, pointer }) {
    Object.assign(this, { parent, title, store, actions, api, pointer });
    store.on("state selection snapshot", () => this.draw());
  }

  draw() {
    const loose = this.store.tray();
    const waiting = loose.filter((piece) => !piece.aside);
    const aside = loose.filter((piece) => piece.aside);
    this.title.textContent = waiting.length ? `Tray (${waiting.length})` : "Tray";
    refill(this.parent, waiting.length ? this.#list(waiting) : make("p", { class: "quiet" }, "Every piece has a place."),
      aside.length ? [make("h3", {}, `Set aside (${aside.length})`), this.#list(aside)] : []);
  }

  #list(pieces) {
    const items = pieces.slice(0, this.#shown).map((piece) => make("li", {}, this.#button(piece)));
    const left = pieces.length - items.length;
    const more = left > 0 && make("button", { class: "more", "data-key": "more", onclick: () => this.#more() }, `Show ${plural(left, "more", "more")}`);
    return make("div", {}, make("ul", { class: "thumbs" }, items), more);
  }

  #more() {
    this.#shown += 4 * PAGE;
    this.draw();
  }

  #button(piece) {
    const { selection } = this.store;
    const chosen = selection?.kind === "piece" && selection.idx === piece.idx;
    const button = make("button", {
      class: "thumb", "data-key": `tray-${piece.idx}`, "data-idx": piece.idx, "aria-pressed": String(chosen), title: piece.name,
      onclick: (event) => (event.ctrlKey || event.metaKey || event.shiftKey ? this.actions.mark(piece.idx) : this.actions.select({ kind: "piece", idx: piece.idx })),
      onpointerdown: (event) => this.#watch(event, piece.idx),
    },
    make("img", { src: this.api.pictureUrl(piece.idx, 128), alt: "", loading: "lazy", draggable: "false" }),
    make("bdi", {}, stem(piece.name)));
    return button;
  }

  /** A pointer that goes far enough takes the piece out of the tray. */
  #watch(event, idx) {
    if (event.button !== 0 || event.pointerType === "touch") return;
    const start = [event.clientX, event.clientY];
    const stop = new AbortController();
    const { signal } = stop;
    document.addEventListener("pointerup", () => stop.abort(), { signal });
    document.addEventListener("pointermove", (moved) => {
      if (Math.hypot(moved.clientX - start[0], moved.clientY - start[1]) < DRAG_PX) return;
      stop.abort();
      this.pointer.adopt(moved, idx);
    }, { signal });
  }
}
