/** The list of pages: a picture of each, its name, which way is up, and its place in the order. */
import { make, plural, refill } from "./dom.js";
import { noteField } from "./notes.js";

const MOST = 200;

export function drawPages(parent, workbench) {
  const { pages } = workbench.store.state;
  if (!pages.length) return refill(parent, make("p", { class: "quiet" }, "No piece is placed."));
  const rows = pages.slice(0, MOST).map((page, k) => make("li", { class: "page" }, ...pageRow(workbench, page, k, pages.length)));
  return refill(parent,
    make("div", { class: "buttons first" },
      make("button", { "data-key": "lay-out", disabled: workbench.store.busy, title: "Lay the pages out in rows (L)", onclick: () => workbench.actions.layOut() }, "Lay out")),
    make("ol", { class: "pages", "aria-label": "pages" }, rows),
    pages.length > MOST && make("p", { class: "quiet" }, `and ${plural(pages.length - MOST, "page")} more`));
}

function pageRow(workbench, page, k, count) {
  const { actions, api, store } = workbench;
  const key = `page-${page.pieces[0]}`;
  const off = store.busy || store.state.read_only;
  const button = (name, text, title, onclick, disabled = false) =>
    make("button", { "data-key": `${key}-${name}`, title, "aria-label": `${title}: ${page.title}`, onclick, disabled: off || disabled }, text);
  const name = make("input", {
    type: "text", "data-key": `${key}-name`, value: page.name, placeholder: page.title, maxlength: 200, disabled: off,
    "aria-label": `Name of ${page.title}`, onchange: (event) => actions.namePage(page, event.target.value),
  });
  return [
    make("button", { class: "shot", "data-key": key, title: `Show ${page.title}`, onclick: () => workbench.showComponent(page) },
      make("img", { src: api.pageUrl(page.pieces[0], store.state.revision), alt: page.title, width: 84, height: 84, loading: "lazy" })),
    make("div", {}, name, make("p", { class: "quiet small" }, `Page ${k + 1} of ${count}, ${plural(page.pieces.length, "piece")}`),
      make("div", { class: "buttons tight" },
        button("left", "↺", "Turn a quarter to the left", () => actions.turnPage(-1, page)),
        button("right", "↻", "Turn a quarter to the right", () => actions.turnPage(1, page)),
        button("over", "⇅", "Turn upside down", () => actions.turnPage(2, page)),
        button("up", "↑", "Earlier in the order", () => actions.orderPage(page, k), k === 0),
        button("down", "↓", "Later in the order", () => actions.orderPage(page, k + 2), k === count - 1)),
      noteField(workbench, `${key}-note`, page.title, page.note, (text) => ({ kind: "note_page", piece: page.pieces[0], text }))),
  ];
}
