/** The page "Details": asks the server about the selection and shows the answer; an answer that comes too late is dropped. */
import { make, plural, refill } from "./dom.js";
import { piecePanel } from "./inspector.js";
import { joinPanel } from "./join_panel.js";
import { noteField } from "./notes.js";

export class Details {
  #turn = 0;

  constructor(parent, workbench) {
    Object.assign(this, { parent, workbench });
    workbench.store.on("selection guesses", () => this.update());
  }

  async update() {
    const turn = ++this.#turn;
    const { selection, state } = this.workbench.store;
    if (!state) return;
    try {
      const filled = !selection ? this.#nothing() : selection.kind === "piece" ? await this.#piece(selection.idx) : await this.#join(selection);
      if (turn === this.#turn) refill(this.parent, filled.children);
      if (turn === this.#turn && filled.ghost) this.workbench.store.setGhost(filled.ghost);
    } catch (error) {
      if (turn === this.#turn) refill(this.parent, make("p", { class: "quiet" }, error.message));
    }
  }

  #nothing() {
    const { state, pieces } = this.workbench.store;
    const placed = pieces.filter((piece) => piece.pose).length;
    return { children: [
      make("h2", {}, state.name),
      make("p", {}, `${placed} of ${plural(pieces.length, "piece")} placed on ${plural(state.components.length, "page")}, held by ${plural(state.joins.length, "join")}.`),
      noteField(this.workbench, "note-case", "the case", state.note, (text) => ({ kind: "note_case", text })),
      make("p", { class: "quiet" }, "Click a piece or a join to see how sure it is and why. Drag pieces to correct them, then solve on. Press ? for all keys."),
    ] };
  }

  async #piece(idx) {
    const { api, store } = this.workbench;
    const piece = store.pieces[idx];
    const wantsPlaces = !piece.pose && !piece.aside;
    const [detail, answer] = await Promise.all([
      api.get(`/api/pieces/${idx}`), wantsPlaces ? api.get(`/api/pieces/${idx}/places`) : null,
    ]);
    const places = answer?.places.slice(0, 3) ?? null;
    const ghost = places?.length ? { idx, places, active: -1 } : null;
    return { children: piecePanel(this.workbench, piece, detail, places), ghost };
  }

  async #join({ i, j }) {
    const { api } = this.workbench;
    const [detail, ...bitmaps] = await Promise.all([api.get(`/api/joins/${i}/${j}`), api.picture(i, null), api.picture(j, null)]);
    return { children: joinPanel(this.workbench, detail, new Map([[i, bitmaps[0]], [j, bitmaps[1]]])) };
  }
}
