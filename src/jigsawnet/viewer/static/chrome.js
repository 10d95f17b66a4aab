/** Buttons, switches, tabs, theme and dialogs around the picture. */
import { GRADES, RIGHT, WRONG } from "./colors.js";
import { byId, make, percent, plural } from "./dom.js";
import { keyTable } from "./keyboard.js";

const THEMES = ["system", "light", "dark"];

export function wireToolbar(workbench) {
  const { store, actions, camera } = workbench;
  const click = (id, action) => byId(id).addEventListener("click", action);
  click("undo", () => actions.undo());
  click("redo", () => actions.redo());
  click("solve", () => actions.solve());
  click("stop", () => actions.stop());
  click("zoom-in", () => camera.zoom(1.25));
  click("zoom-out", () => camera.zoom(0.8));
  click("zoom-fit", () => workbench.fitAll());
  click("help-button", () => workbench.openHelp());
  click("help-close", () => byId("help").close());
  byId("color-by").addEventListener("change", (event) => store.setView({ color: event.target.value }));
  for (const [id, name] of [["show-joins", "joins"], ["show-outlines", "outlines"], ["show-guesses", "guesses"], ["whole-component", "wholeComponent"]]) {
    byId(id).addEventListener("change", (event) => store.setView({ [name]: event.target.checked }));
  }
  wireCompare(store);
  store.on("state progress snapshot", () => showRun(store));
  store.on("view", () => showView(store));
  store.on("view truth state", () => showLegend(store));
  store.on("guesses", () => (byId("guesses-switch").hidden = store.guesses.length === 0));
  byId("help-keys").append(keyTable());
  document.addEventListener("click", (event) => {
    if (!byId("export").contains(event.target) || event.target.matches("a")) byId("export").open = false;
  });
}

function wireCompare(store) {
  const button = byId("compare");
  const set = (compare) => () => store.view.compare !== compare && store.setView({ compare });
  button.addEventListener("pointerdown", set(true));
  for (const name of ["pointerup", "pointerleave", "pointercancel", "blur"]) button.addEventListener(name, set(false));
  button.addEventListener("keydown", (event) => [" ", "Enter"].includes(event.key) && set(true)());
  button.addEventListener("keyup", (event) => [" ", "Enter"].includes(event.key) && set(false)());
}

function showRun(store) {
  const { state, progress } = store;
  document.title = `${state.name} – workbench`;
  byId("run-name").textContent = state.name;
  byId("undo").disabled = !state.can_undo || state.busy;
  byId("redo").disabled = !state.can_redo || state.busy;
  byId("solve").hidden = state.busy;
  byId("solve").disabled = state.read_only;
  byId("stop").hidden = !state.busy;
  byId("truth-choice").hidden = !state.truth;
  const bar = byId("progress");
  bar.hidden = !state.busy;
  if (progress?.share === null || !progress) bar.removeAttribute("value");
  else bar.value = progress.share;
  const placed = store.pieces.filter((piece) => store.settledPose(piece.idx)).length;
  const counts = `${placed} of ${plural(store.pieces.length, "piece")} placed, ${plural(state.joins.length, "join")}, ${plural(state.components.length, "page")}${state.saved || state.read_only ? "" : "; results are being written"}`;
  byId("empty").hidden = placed > 0;
  byId("empty").textContent = state.busy ? "Pieces come together here." : "No piece has a place. Drag one out of the tray.";
  byId("counts").textContent = state.busy ? (progress?.text ?? "Solving …") : counts;
}

function showView(store) {
  const { color, joins, outlines, guesses, wholeComponent, compare } = store.view;
  byId("color-by").querySelector(`[value=${color}]`).checked = true;
  byId("show-joins").checked = joins;
  byId("show-outlines").checked = outlines;
  byId("show-guesses").checked = guesses;
  byId("whole-component").checked = wholeComponent;
  byId("compare").setAttribute("aria-pressed", String(compare));
}

function showLegend(store) {
  const legend = byId("legend");
  const { color, compare } = store.view;
  legend.hidden = color === "picture" && !compare;
  if (compare) return legend.replaceChildren("Before any edit");
  if (color === "confidence") {
    return legend.replaceChildren(...GRADES.map((grade) => swatch(grade.color, grade.words, grade.atLeast < 0.5)));
  }
  const judged = Object.values(store.truth?.right ?? {});
  const right = judged.filter(Boolean).length;
  return legend.replaceChildren(swatch(RIGHT, `✓ ${right} in the right place`), swatch(WRONG, `✗ ${judged.length - right} not`, true));
}

function swatch(color, text, hatched = false) {
  const box = make("span", { class: hatched ? "swatch hatched" : "swatch", "aria-hidden": "true" });
  box.style.backgroundColor = color;
  return make("span", { class: "key" }, box, text);
}

/** Tabs as people with screen readers know them: arrows move, one is in the tab order. */
export function wireTabs(onOpen) {
  const tabs = [...byId("tabs").querySelectorAll("[role=tab]")];
  const open = (tab, focus = false) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
      byId(other.getAttribute("aria-controls")).hidden = other !== tab;
    }
    if (focus) tab.focus();
    onOpen();
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) open(tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length], true);
    });
  }
  return (name) => open(byId(`tab-${name}`));
}

/** Light, dark or as the system; kept for the next visit where the browser allows it. */
export function wireTheme(onChange) {
  let theme = THEMES.includes(recall("theme")) ? recall("theme") : "system";
  const show = () => {
    document.documentElement.dataset.theme = theme;
    byId("theme").textContent = `Theme: ${theme}`;
    onChange();
  };
  byId("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    remember("theme", theme);
    show();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

export function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser that keeps nothing is no fault.
  }
}
