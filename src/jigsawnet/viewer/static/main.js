/** The workbench: makes the parts, joins them, and loads the run. `window.workbench` is for tests and the curious. */
import { Actions } from "./actions.js";
import { Api } from "./api.js";
import { Bitmaps } from "./bitmaps.js";
import { Camera } from "./camera.js";
import { Carry } from "./carry.js";
import { wireCase } from "./case.js";
import { recall, remember, wireTabs, wireTheme, wireToolbar } from "./chrome.js";
import { Details } from "./details.js";
import { byId, percent } from "./dom.js";
import { wireExporter } from "./exporter.js";
import { listenToServer } from "./events.js";
import { listenToKeys } from "./keyboard.js";
import { buildLists } from "./lists.js";
import { stitchOf } from "./paint.js";
import { unite } from "./pose.js";
import { handleAt } from "./picking.js";
import { Pointer } from "./pointer.js";
import { ActionQueue } from "./queue.js";
import { Renderer } from "./renderer.js";
import { Store } from "./store.js";
import { Tray } from "./tray.js";

const canvas = byId("canvas");
const store = new Store();
const api = new Api();
store.on("state", () => (api.images = store.state.images ?? "")); // before the listeners that show pictures
const queue = new ActionQueue(explain);
const actions = new Actions(store, api, queue, { say, follow });
const carry = new Carry(store, api, actions);
const camera = new Camera(() => {
  renderer?.ask();
  byId("zoom-level").textContent = percent(camera.scale);
});
const bitmaps = new Bitmaps(api, () => renderer.invalidateSoon());
let renderer = null;
renderer = new Renderer(canvas, store, camera, bitmaps, () => {
  if (waiting && bitmaps.pending === 0) say(ready());
});

let waiting = false; // for the pictures, to say that the page is ready; not after anything else was said
function say(sentence) {
  waiting = false;
  byId("status").textContent = sentence;
}

function banner(sentence) {
  byId("banner").hidden = !sentence;
  byId("banner").textContent = sentence ?? "";
}

byId("banner").addEventListener("click", () => banner(null));

/** Say what went wrong. Another window was faster (409): show their state. */
async function explain(error) {
  if (error.status === 409) store.take(await api.get("/api/state"));
  if (error.status === undefined) console.error(error);
  say(error.message);
  banner(error.message);
}

const workbench = {
  store, api, queue, actions, carry, camera, bitmaps, renderer, canvas, say, banner,

  /** The server is listened to, no request on its way, no action waiting, nothing to draw: what is seen is what it knows. */
  isIdle() {
    return Boolean(workbench.line?.isOpen) && store.state !== null && queue.empty && !carry.resting && api.pending === 0 && bitmaps.pending === 0 && renderer.idle;
  },

  /** Where the turning handle is on the canvas. */
  handle: () => handleAt(store, camera),

  /** Where the line of a join crosses its seam, on the canvas. */
  stitch: (i, j) => camera.toScreen(stitchOf(store, store.join(i, j))[1]),

  placed: () => store.pieces.filter((piece) => store.poseOf(piece.idx)).map((piece) => piece.idx),

  fitAll() {
    camera.fit(unite(store.boxOfPieces(this.placed()), store.boxOfGuesses()));
    camera.chosen = false;
  },

  fitSelection() {
    const { selection } = store;
    if (!selection) return this.fitAll();
    camera.chosen = true;
    return camera.fit(store.boxOfPieces(selection.kind === "piece" ? store.handful(selection.idx, store.view.wholeComponent) : [selection.i, selection.j]));
  },

  /** Select, and bring into view. */
  show(what) {
    return actions.select(what);
  },

  showComponent(component) {
    actions.select({ kind: "piece", idx: component.pieces[0] });
    camera.chosen = true;
    camera.fit(store.boxOfPieces(component.pieces));
  },

  nextColor() {
    const colors = ["picture", "confidence", ...(store.state.truth ? ["truth"] : [])];
    store.setView({ color: colors[(colors.indexOf(store.view.color) + 1) % colors.length] });
    say(`Colour by ${store.view.color}.`);
  },

  toggleComponent() {
    store.setView({ wholeComponent: !store.view.wholeComponent });
    say(store.view.wholeComponent ? "Whole pages are moved and turned." : "Single pieces are moved.");
  },

  openHelp: () => byId("help").showModal(),

  closeExport() {
    const wasOpen = byId("export").open;
    byId("export").open = false;
    if (wasOpen) byId("export").querySelector("summary").focus();
    return wasOpen;
  },

  openExport() {
    byId("export").open = true;
    byId("export").querySelector("button, a").focus();
  },
};
window.workbench = workbench;

const pointer = (workbench.pointer = new Pointer(canvas, { store, camera, carry, actions, tip: byId("tip") }));
new Tray(byId("tray"), byId("tray-title"), { store, actions, api, pointer });
const details = new Details(byId("page-details"), workbench);
const lists = buildLists({
  pieces: byId("page-pieces"), joins: byId("page-joins"), pages: byId("page-pages"), history: byId("page-history"),
}, workbench);
workbench.openTab = wireTabs(() => lists.redraw());
wireToolbar(workbench);
wireExporter(workbench);
wireCase(workbench);
wireTheme(() => {
  renderer.changeTheme();
  details.update();
});

const singleKeys = byId("single-keys");
singleKeys.checked = recall("single-keys") !== "off";
singleKeys.addEventListener("change", () => remember("single-keys", singleKeys.checked ? "on" : "off"));
listenToKeys(workbench, () => singleKeys.checked);

let inHand = null; // the layer lacks what is in hand, so it changes only when that is taken up or put down
store.on("draft", () => {
  if (store.draft === inHand) return renderer.ask();
  inHand = store.draft;
  return renderer.invalidate();
});
store.on("state view truth snapshot", () => renderer.invalidate());
store.on("state", () => banner(null));
store.on("snapshot", follow);
new ResizeObserver(follow).observe(canvas);
store.on("selection hover ghost", () => renderer.ask());
store.on("selection", () => {
  const { selection } = store;
  const box = selection && store.boxOfPieces(selection.kind === "piece" ? [selection.idx] : [selection.i, selection.j]);
  if (box && !store.draft) camera.reveal(box);
});
store.on("state view", loadTruth);
store.on("state view", loadGuesses);
let fitted = false; // what comes first, or alone, is brought into view
store.on("guesses", () => {
  if (!fitted || workbench.placed().length === 0) follow();
  fitted = true;
  renderer.ask();
});

/** Show everything, unless a person has chosen the view. */
function follow() {
  if (!camera.chosen) workbench.fitAll();
}

function ready() {
  return store.state.read_only ? "This run may only be read; nothing can be changed." : "Ready.";
}

let judged = -1; // revision that the truth in the store speaks of
async function loadTruth() {
  if (store.view.color !== "truth" || !store.state.truth || judged === store.state.revision) return;
  judged = store.state.revision;
  try {
    store.setTruth(await api.get("/api/truth"));
  } catch (error) {
    say(error.message);
  }
}

let guessed = ""; // what the guesses in the store speak of
async function loadGuesses() {
  const { state, view } = store;
  const wanted = `${state.revision} ${state.busy}`;
  if (!view.guesses || guessed === wanted) return;
  guessed = wanted;
  const waits = !state.busy && store.tray().some((piece) => !piece.aside);
  try {
    const answer = waits ? await api.get("/api/guesses") : { guesses: [] };
    if (guessed === wanted) store.setGuesses(answer.guesses);
  } catch (error) {
    guessed = "";
    say(error.message);
  }
}

await actions.refresh();
workbench.fitAll();
if (store.state) {
  say(store.busy ? "Solving …" : "Loading pictures …");
  waiting = !store.busy;
  renderer.invalidate();
}
workbench.line = listenToServer({ store, actions, banner, follow });
