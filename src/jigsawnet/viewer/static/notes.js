/** Notes of the case, of pages, pieces and joins; and the history of all that was done. */
import { make, plural, refill } from "./dom.js";

/** A field for a note, folded as long as there is none; `edit(text)` is the edit that writes it. */
export function noteField({ store, actions }, key, what, text, edit) {
  const area = make("textarea", {
    "data-key": key, rows: 3, maxlength: 2000, "aria-label": `Note of ${what}`, disabled: store.busy || store.state.read_only,
    onchange: (event) => event.target.value.trim() !== text && actions.edit(() => ({ edit: edit(event.target.value.trim()), said: `Noted of ${what}.` })),
  }, text);
  return make("details", { class: "note", open: Boolean(text) }, make("summary", { "data-key": `${key}-fold` }, "Note"), area);
}

/** The history, read when it is unfolded. */
export function historyLog({ api }) {
  const list = make("div", {});
  const show = async () => {
    const { entries, more } = await api.get("/api/history");
    refill(list, make("ol", { class: "log", "aria-label": "history" }, entries.map((entry) => make("li", {}, line(entry)))),
      more > 0 && make("p", { class: "quiet small" }, `and ${plural(more, "line")} before, in history.jsonl`));
  };
  const log = make("details", { class: "note" }, make("summary", { "data-key": "log" }, "Who did what when"), list);
  log.addEventListener("toggle", () => log.open && show().catch((error) => refill(list, make("p", { class: "quiet" }, error.message))));
  return log;
}

function line({ when, who, what, text, placed, pieces, file }) {
  const facts = text ?? (placed === undefined ? file : `${placed} of ${plural(pieces, "piece")} placed`);
  return [make("time", { datetime: when, class: "quiet" }, when.replace("T", " ").replace(/[+].*/, "")), ` ${who ? `${who} ` : ""}${what}${facts ? `: ${facts}` : ""}`];
}
