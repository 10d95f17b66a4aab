/** Every action by key. The same table is the help dialog. */
import { make } from "./dom.js";

const PAN_PX = 60;
const STEP_PX = 10;
const TURN = Math.PI / 36;

/** Rows are [keys shown, what they do, test of the event, action]; `w` is the workbench. */
const ROWS = [
  ["View"],
  ["Arrows", "Move the view (or the piece in hand)", (e) => e.key.startsWith("Arrow") && !ctrl(e) && !e.altKey, arrow],
  ["+ and -", "Zoom", is("+", "=", "-", "_"), (w, e) => w.camera.zoom("+=".includes(e.key) ? 1.25 : 0.8)],
  ["0 or Home", "Show everything", is("0", "Home"), (w) => w.fitAll()],
  ["F", "Show the selection", is("f"), (w) => w.fitSelection()],
  ["V", "Colour by picture, confidence, truth", is("v"), (w) => w.nextColor()],
  ["O", "Joins on or off", is("o"), (w) => w.store.setView({ joins: !w.store.view.joins })],
  ["U", "Outlines on or off", is("u"), (w) => w.store.setView({ outlines: !w.store.view.outlines })],
  ["W", "Best guesses on or off", is("w"), (w) => w.store.setView({ guesses: !w.store.view.guesses })],
  ["B (hold)", "See the state before any edit", is("b"), (w) => w.store.setView({ compare: true })],
  ["Select"],
  ["N and P", "Next, previous piece", is("n", "p"), (w, e) => w.actions.nextPiece(lower(e) === "n" ? 1 : -1)],
  ["T and Shift+T", "Next, previous piece of the tray", is("t"), (w, e) => w.actions.nextPiece(e.shiftKey ? -1 : 1, true)],
  ["J and K", "Next, previous join, the least sure first", is("j", "k"), (w, e) => w.actions.nextJoin(lower(e) === "j" ? 1 : -1)],
  ["Q, or Ctrl+click", "Mark the piece, for hints; marks stay while N and P go on", is("q"), (w) => w.actions.mark()],
  ["Esc", "Put back what is in hand; select nothing", is("Escape"), escape],
  ["Joins"],
  ["A", "Accept the join", is("a"), (w) => w.actions.judgeJoin("accept")],
  ["R", "Reject the join: it is wrong", is("r"), (w) => w.actions.judgeJoin("reject")],
  ["C", "Cut the join here, without calling it wrong", is("c"), (w) => w.actions.judgeJoin("cut")],
  ["Pieces"],
  ["M, then arrows, Enter", "Take the piece up, move it, put it down; Shift+Enter: without snapping", takesOrDrops, takeOrDrop],
  ["[ and ], or , and .", "Turn the piece; with Alt by one degree", is("[", "]", ",", "."), turn],
  ["G", "Move and turn whole pages, or single pieces", is("g"), (w) => w.toggleComponent()],
  ["Y", "Join what is selected to what its borders meet", is("y"), (w) => w.actions.joinHere()],
  ["1, 2, 3", "Lay the piece in its best, second, third place", is("1", "2", "3"), (w, e) => w.actions.placeAt(Number(e.key) - 1)],
  ["D", "Take the best guess of the piece; without a piece of the tray selected, the likeliest of all", is("d"), (w) => w.actions.takeGuess()],
  ["I", "Pin the piece, or unpin it", is("i"), (w) => w.actions.togglePin()],
  ["X", "Set the piece aside, or take it back", is("x"), (w) => w.actions.toggleAside()],
  ["Delete", "Take the piece off, into the tray", is("Delete", "Backspace"), (w) => w.actions.takeOff()],
  ["Pages"],
  ["Shift+[ and Shift+]", "Turn the page of the selection by a quarter", (e) => "{}".includes(e.key) && !ctrl(e), (w, e) => w.actions.turnPage(e.key === "{" ? -1 : 1)],
  ["H", "Turn the page of the selection upside down", is("h"), (w) => w.actions.turnPage(2)],
  ["L", "Lay the pages out in rows, with room between them", is("l"), (w) => w.actions.layOut()],
  ["Run"],
  ["Ctrl+Z", "Undo", (e) => ctrl(e) && lower(e) === "z" && !e.shiftKey, (w) => w.actions.undo()],
  ["Ctrl+Shift+Z, Ctrl+Y", "Do again", (e) => ctrl(e) && "zy".includes(lower(e)), (w) => w.actions.redo()],
  ["S, Shift+S", "Solve on; stop", is("s"), (w, e) => (e.shiftKey ? w.actions.stop() : w.actions.solve())],
  ["E", "Open the exports", is("e"), (w) => w.openExport()],
  ["?", "This list", (e) => e.key === "?", (w) => w.openHelp()],
];

function is(...keys) {
  return (event) => !ctrl(event) && keys.some((key) => key.toLowerCase() === lower(event));
}

/** Ctrl or Cmd, but not AltGr, which some keyboards need for brackets. */
function ctrl(event) {
  return (event.ctrlKey || event.metaKey) && !event.getModifierState("AltGraph");
}

function lower(event) {
  return event.key.toLowerCase();
}

function arrow(w, event) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!w.carry.holds) return w.camera.pan(-dx * PAN_PX, -dy * PAN_PX);
  const step = (event.shiftKey ? 1 : STEP_PX) / w.camera.scale;
  return w.carry.move(dx * step, dy * step);
}

function turn(w, event) {
  const fine = event.altKey && !event.getModifierState("AltGraph");
  const angle = ("[,".includes(event.key) ? -1 : 1) * (fine ? Math.PI / 180 : TURN);
  const chosen = w.store.selection;
  if (chosen?.kind !== "piece" || !w.store.poseOf(chosen.idx)) w.say("Select a placed piece first: click it, or press N.");
  else w.carry.nudge(chosen.idx, w.store.view.wholeComponent, angle);
}

/** Enter on a button is the button's own. */
function takesOrDrops(event) {
  return is("m")(event) || (event.key === "Enter" && event.target.matches("canvas, body"));
}

function takeOrDrop(w, event) {
  if (w.carry.holds) {
    w.carry.setFree(event.shiftKey);
    return void w.carry.drop();
  }
  const chosen = w.store.selection;
  if (chosen?.kind !== "piece") return w.say("Select a piece first: click it, or press N or T.");
  if (!w.carry.begin(chosen.idx, w.store.view.wholeComponent, [w.camera.x, w.camera.y])) return;
  w.canvas.focus({ preventScroll: true });
  w.say(`In hand: ${w.store.pieces[chosen.idx].name}. Arrows move, [ and ] turn, Enter puts down, Esc puts back.`);
}

function escape(w) {
  w.banner(null);
  if (w.closeExport()) return;
  if (w.carry.holds) {
    w.carry.cancel();
    w.say("Put back.");
  } else {
    w.actions.select(null, false);
  }
}

/** Does the element use the key itself? */
function usesKey(target, event) {
  if (event.key === "Escape" || ctrl(event)) return target.matches("input[type=search]") && ctrl(event);
  if (target.matches("input[type=search], input[type=text], select, textarea")) return true;
  if (target.matches("input[type=radio], input[type=range], [role=tab]")) return event.key.startsWith("Arrow") || event.key === "Home";
  return (event.key.startsWith("Arrow") || event.key === "Home") && target.closest("[role=tabpanel], .tray, dialog") !== null;
}

/** Listen; `workbench` is what the actions act on, `isOn()` whether keys without Ctrl work. */
export function listenToKeys(workbench, isOn) {
  const enqueue = (action) => workbench.actions.queue.run(() => void action());
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || usesKey(event.target, event)) return;
    if (!isOn() && !ctrl(event) && event.key.length === 1) return;
    const row = ROWS.find((candidate) => candidate[2]?.(event));
    if (!row) return;
    event.preventDefault();
    workbench.pointer.hideTip();
    enqueue(() => {
      if (row[3] !== turn) workbench.carry.settle();
      row[3](workbench, event);
    });
  });
  const endCompare = () => enqueue(() => workbench.store.view.compare && workbench.store.setView({ compare: false }));
  document.addEventListener("keyup", (event) => lower(event) === "b" && endCompare());
  window.addEventListener("blur", endCompare);
}

/** The table of all keys, for the help dialog. */
export function keyTable() {
  const rows = ROWS.map(([keys, what]) =>
    what ? make("tr", {}, make("td", {}, make("kbd", {}, keys)), make("td", {}, what))
      : make("tr", {}, make("th", { colspan: 2, scope: "rowgroup" }, keys)));
  return make("table", { class: "keys" }, make("tbody", {}, rows));
}
