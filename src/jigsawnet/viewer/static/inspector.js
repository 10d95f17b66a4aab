/** Details of the selected piece: how sure it is and why, its joins, its other places. */
import { scaleColor } from "./colors.js";
import { make, percent, stem } from "./dom.js";
import { hintsPanel } from "./hints.js";
import { noteField } from "./notes.js";

/** All of a piece; `detail` and `places` are the server's answers. */
export function piecePanel(workbench, piece, detail, places) {
  const { store, actions, api } = workbench;
  return [
    make("div", { class: "piece-head" },
      make("img", { src: api.pictureUrl(piece.idx, 256), alt: `Picture of ${piece.name}` }),
      make("div", {}, make("h2", {}, piece.name), piece.pose && meter(piece.confidence), make("p", { class: "quiet" }, standing(store, piece)))),
    make("div", { class: "buttons" },
      piece.pose && action("pin", piece.pinned ? "Unpin" : "Pin", "I", () => actions.togglePin(), store.busy),
      action("aside", piece.aside ? "Take back" : "Set aside", "X", () => actions.toggleAside(), store.busy),
      piece.pose && action("off", "Into the tray", "Delete", () => actions.takeOff(), store.busy)),
    detail.why.length > 0 && [make("h3", {}, "Why"), make("ul", { class: "why" }, detail.why.map((sentence) => make("li", {}, sentence)))],
    places && guessRow(workbench, piece),
    places && placesList(workbench, piece, places),
    noteField(workbench, `note-${piece.idx}`, piece.name, piece.note, (text) => ({ kind: "note_piece", piece: piece.idx, text })),
    hintsPanel(workbench, piece),
    detail.joins.length > 0 && [make("h3", {}, "Its joins"), joinTable(workbench, piece, detail.joins)],
    !places && alternatives(workbench, piece, detail.alternatives),
  ].flat(2);
}

export function meter(share) {
  const bar = make("span", { class: "meter", "aria-hidden": "true" }, make("span", {}));
  bar.firstChild.style.width = `${Math.round((share ?? 0) * 100)}%`;
  bar.firstChild.style.background = scaleColor(share ?? 0);
  return make("p", { class: "sure" }, bar, share === null || share === undefined ? "no confidence" : `${percent(share)} sure`);
}

export function action(key, text, shortcut, onclick, disabled = false) {
  return make("button", { "data-key": key, onclick, disabled, title: `${text} (${shortcut})`, "aria-keyshortcuts": shortcut }, text);
}

function standing(store, piece) {
  if (piece.aside) return "Set aside: not to be placed.";
  if (!piece.pose) return "In the tray: no place yet.";
  const words = [store.state.pages.find((page) => page.id === piece.component)?.title ?? "Alone"];
  if (piece.pinned) words.push("pinned");
  if (piece.fixed_by_person) words.push("placed by you");
  return `${words.join(", ")}.`;
}

/** The ghost of a place is shown while its button is pointed at or has the focus. */
function preview(store, idx, places, active) {
  const show = () => store.setGhost({ idx, places, active });
  const hide = () => store.setGhost(places.length > 1 ? { idx, places, active: -1 } : null);
  return { onpointerenter: show, onfocus: show, onpointerleave: hide, onblur: hide };
}

/** The best guess with its button, and the next best place. */
function guessRow({ store, actions }, piece) {
  const guess = store.guesses.find(({ idx }) => idx === piece.idx);
  if (!guess) return [];
  const next = guess.runner_up;
  const places = [{ pose: guess.pose, score: guess.probability }];
  const button = make("button", {
    class: "row", "data-key": "guess", disabled: store.busy, "aria-keyshortcuts": "D", title: "Lay it here (D)",
    onclick: () => actions.takeGuess(), ...preview(store, piece.idx, places, 0),
  }, make("span", {}, beside(store, [guess.beside]), !store.pieces[guess.beside].pose && ", which is in the tray, too"),
  make("span", { class: "number" }, percent(guess.probability)));
  return [make("h3", {}, "Best guess"), make("ol", { class: "rows" }, make("li", {}, button)),
    next && make("p", { class: "quiet" }, `Next best: ${beside(store, [next.beside])}, ${percent(next.probability)}.`)];
}

function placesList({ store, actions }, piece, places) {
  if (!places.length) return [make("h3", {}, "Best places"), make("p", { class: "quiet" }, "No candidate join leads to a free place.")];
  const rows = places.map((place, k) => make("li", {}, make("button", {
    class: "row", "data-key": `place-${k}`, disabled: store.busy, "aria-keyshortcuts": k + 1, title: `Lay it here (${k + 1})`,
    onclick: () => actions.placeAt(k), ...preview(store, piece.idx, places, k),
  }, make("b", {}, `${k + 1}`), make("span", {}, beside(store, place.joins)), make("span", { class: "number" }, percent(place.score)))));
  return [make("h3", {}, "Best places"), make("ol", { class: "rows" }, rows)];
}

function alternatives({ store, actions }, piece, others) {
  if (!others.length) return [];
  const rows = others.map(({ j, pose, score }, k) => make("li", {}, make("button", {
    class: "row", "data-key": `other-${k}`, disabled: store.busy || piece.pinned, title: "Lay it here instead",
    onclick: () => actions.placeBeside(piece.idx, pose, [j]), ...preview(store, piece.idx, [{ pose, score }], 0),
  }, make("span", {}, beside(store, [j])), make("span", { class: "number" }, percent(score)))));
  return [make("h3", {}, "Other places it might have"), make("ol", { class: "rows" }, rows)];
}

function beside(store, neighbors) {
  const names = neighbors.slice(0, 3).map((idx) => store.pieces[idx].name);
  return `beside ${names.join(", ")}${neighbors.length > 3 ? " and others" : ""}`;
}

function joinTable({ store, actions }, piece, joins) {
  const head = ["With", "Sure", "Seam px", "Off px", "Colour", "Loops"];
  const rows = joins.map((join) => {
    const [i, j] = [Math.min(piece.idx, join.j), Math.max(piece.idx, join.j)];
    const open = make("button", {
      class: "link", "data-key": `join-${i}-${j}`, disabled: !store.join(i, j), onclick: () => actions.select({ kind: "join", i, j }),
    }, stem(store.pieces[join.j].name));
    return make("tr", {}, make("th", { scope: "row" }, open, join.status === "accepted" && make("span", { class: "quiet" }, " accepted")),
      cells(percent(join.confidence), number(join.length_px, 0), number(join.residual_px, 2), number(join.color_step, 1), String(join.loops ?? "–")));
  });
  return make("table", { class: "figures" },
    make("thead", {}, make("tr", {}, head.map((title) => make("th", { scope: "col" }, title)))), make("tbody", {}, rows));
}

const cells = (...texts) => texts.map((text) => make("td", {}, text));
export const number = (value, digits) => (value === null || value === undefined ? "–" : value.toFixed(digits));
