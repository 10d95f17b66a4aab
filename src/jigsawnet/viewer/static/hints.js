/** Hints: several pieces marked, what is said of them, and the list of what was said. */
import { make } from "./dom.js";

const SEVERAL = [["together", "Belong together"], ["same_page", "Same page"], ["apart", "Not together"]];
const SIDES = [["up", "↑", -Math.PI / 2], ["right", "→", 0], ["down", "↓", Math.PI / 2], ["left", "←", Math.PI]];

/** What can be said of the selected piece and of those marked, and what was said. */
export function hintsPanel(workbench, piece) {
  const { store } = workbench;
  const off = store.busy || store.state.read_only;
  const several = store.marks(piece.idx);
  const others = several.filter((idx) => idx !== piece.idx);
  const soft = make("input", { type: "checkbox", id: "hint-soft", "data-key": "hint-soft", checked: store.soft, disabled: off, onchange: (event) => (store.soft = event.target.checked) });
  const said = store.state.hints.map((hint, k) => [hint, k + 1]).filter(([hint]) => several.some((idx) => hint.pieces.includes(idx)));
  const isOpen = others.length > 0 || said.length > 0;
  return make("details", { class: "note hints", open: isOpen }, make("summary", { "data-key": "hints-fold" }, "Hints for the solver"),
    make("p", { class: "quiet small" }, others.length ? `Of ${names(store, several)}:` : "Mark more pieces (Ctrl+click; or Q, N, Q) to say what they have to do with each other."),
    others.length > 0 && make("div", { class: "buttons" }, SEVERAL.map(([kind, text]) =>
      make("button", { "data-key": `hint-${kind}`, disabled: off, onclick: () => tell(workbench, { kind, pieces: several, firm: !store.soft }, text) }, text)),
      others.length === 1 && make("button", { "data-key": "hint-back", disabled: off, onclick: () => tell(workbench, { kind: "back_of", piece: piece.idx, front: others[0] }, "Back") }, `Is the back of ${store.pieces[others[0]].name}`)),
    side(workbench, piece, "edge_side", "An outer edge:", off), side(workbench, piece, "up_side", "This side is up:", off),
    make("p", {}, make("label", {}, soft, " perhaps (makes it likelier only)")),
    said.length > 0 && make("ul", { class: "rows", "aria-label": "hints" }, said.map(([hint, number]) => make("li", { class: "said" }, `${hint.text} `,
      make("button", { class: "link", "data-key": `drop-${number}`, disabled: off, onclick: () => tell(workbench, { kind: "drop_hint", number }, "Taken back") }, "Take back")))));
}

/** Four buttons for the sides of a piece as it lies on the screen. */
function side({ store, actions }, piece, kind, label, off) {
  const turned = piece.pose ? piece.pose[0] : 0;
  return make("p", { class: "sides" }, `${label} `, SIDES.map(([name, sign, angle]) => make("button", {
    "data-key": `${kind}-${name}`, "aria-label": `${label} ${name}`, disabled: off,
    onclick: () => actions.edit(() => ({ edit: { kind, piece: piece.idx, angle: angle - turned, firm: !store.soft }, said: `${label} ${name}.` })),
  }, sign)));
}

function tell({ actions }, edit, said) {
  return actions.edit(() => ({ edit, said: `${said}. The solver uses it when you solve on.` }));
}

function names(store, pieces) {
  const shown = pieces.slice(0, 3).map((idx) => store.pieces[idx].name);
  return pieces.length > 3 ? `${shown.join(", ")} and ${pieces.length - 3} more` : shown.join(" and ");
}
