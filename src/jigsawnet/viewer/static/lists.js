/** The lists beside the picture: pieces, joins, pages, edits. They hold all that the canvas shows, page by page. */
import { make, percent, refill } from "./dom.js";
import { historyLog } from "./notes.js";
import { drawPages } from "./pages.js";

const PAGE = 50;

/** A list with pages, a filter and an order. `entries()` gives `{key, text, note, isChosen, open}`. */
class PagedList {
  #page = 0;
  #filter = "";

  constructor(parent, label, entries, orders = []) {
    Object.assign(this, { parent, label, entries, orders, order: orders[0]?.[0] ?? null });
    this.body = make("div", {});
    const filter = make("input", { type: "search", placeholder: "Find by name", "aria-label": `Find in ${label}`, oninput: (event) => this.#find(event.target.value) });
    const sort = orders.length > 0 && make("select", { "aria-label": `Order of ${label}`, onchange: (event) => this.#sort(event.target.value) },
      orders.map(([value, text]) => make("option", { value }, text)));
    parent.replaceChildren(make("div", { class: "finder" }, filter, sort), this.body);
  }

  #find(text) {
    this.#filter = text.toLowerCase();
    this.#page = 0;
    this.draw();
  }

  #sort(order) {
    this.order = order;
    this.#page = 0;
    this.draw();
  }

  draw(follow = false) {
    if (this.parent.hidden) return;
    const all = this.entries(this.order).filter((entry) => entry.text.toLowerCase().includes(this.#filter));
    const chosen = all.findIndex((entry) => entry.isChosen);
    if (follow && chosen >= 0) this.#page = Math.floor(chosen / PAGE);
    const pages = Math.max(1, Math.ceil(all.length / PAGE));
    this.#page = Math.min(this.#page, pages - 1);
    const rows = all.slice(this.#page * PAGE, (this.#page + 1) * PAGE).map((entry) => make("li", {}, rowButton(entry)));
    refill(this.body, rows.length ? make("ol", { class: "rows", "aria-label": this.label }, rows) : make("p", { class: "quiet" }, "Nothing here."),
      pages > 1 && this.#pager(pages));
  }

  #pager(pages) {
    const go = (page) => () => {
      this.#page = page;
      this.draw();
    };
    return make("div", { class: "pager" },
      make("button", { "data-key": "earlier", disabled: this.#page === 0, onclick: go(this.#page - 1) }, "Back"),
      make("span", {}, `${this.#page + 1} of ${pages}`),
      make("button", { "data-key": "later", disabled: this.#page === pages - 1, onclick: go(this.#page + 1) }, "On"));
  }
}

function rowButton({ key, text, note, isChosen, open }) {
  return make("button", { class: "row", "data-key": key, "aria-current": isChosen ? "true" : null, onclick: open },
    make("span", {}, text), make("span", { class: "number" }, note));
}

export function buildLists(pages, workbench) {
  const { store, actions } = workbench;
  const isPiece = (idx) => store.selection?.kind === "piece" && store.selection.idx === idx;
  const pieces = new PagedList(pages.pieces, "pieces", (order) => {
    const sorted = [...store.pieces];
    if (order === "sure") sorted.sort((a, b) => (a.confidence ?? 2) - (b.confidence ?? 2) || a.idx - b.idx);
    return sorted.map((piece) => ({
      key: `piece-${piece.idx}`, text: piece.name, note: noteOf(piece), isChosen: isPiece(piece.idx),
      open: () => workbench.show({ kind: "piece", idx: piece.idx }),
    }));
  }, [["sure", "Least sure first"], ["name", "In order"]]);
  const joins = new PagedList(pages.joins, "joins", () => store.joinsInOrder().map(({ i, j, confidence, status }) => ({
    key: `join-${i}-${j}`, text: `${store.pieces[i].name} – ${store.pieces[j].name}`,
    note: `${percent(confidence)}${status === "accepted" ? " ✓" : ""}`,
    isChosen: store.selection?.kind === "join" && store.selection.i === i && store.selection.j === j,
    open: () => workbench.show({ kind: "join", i, j }),
  })));
  store.on("state selection", () => [pieces, joins].forEach((list) => list.draw(true)));
  store.on("state", () => {
    drawPages(pages.pages, workbench);
    drawHistory(pages.history, workbench);
  });
  return { redraw: () => [pieces, joins].forEach((list) => list.draw(true)) };
}

function noteOf(piece) {
  if (piece.aside) return "set aside";
  if (!piece.pose) return "tray";
  return `${piece.pinned ? "pinned " : ""}${percent(piece.confidence)}`;
}

function drawHistory(page, workbench) {
  const { store, actions } = workbench;
  const { edits, in_force: inForce } = store.state;
  const row = (count, text) => make("li", { class: count > inForce ? "undone" : null }, make("button", {
    class: "row", "data-key": `edit-${count}`, "aria-current": count === inForce ? "step" : null, onclick: () => actions.goTo(count),
  }, make("span", {}, text), make("span", { class: "number" }, count > inForce ? "undone" : "")));
  refill(page, make("p", { class: "quiet small" }, "Click a line to go back or forward to it."),
    make("ol", { class: "rows", "aria-label": "edits" }, [row(0, "As solved"), ...edits.map((edit, k) => row(k + 1, edit.text))]),
    historyLog(workbench));
}
