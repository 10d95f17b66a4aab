/** What the server tells by itself: edits of other windows, progress, pieces coming together. */
import { at } from "./api.js";
import { plural } from "./dom.js";

const STAGES = {
  start: "Starting", read: "Reading", contours: "Tracing borders", match: "Matching", score: "Scoring", compose: "Composing", refine: "Refining",
  "second round": "Second look", confidence: "Judging", results: "Writing results",
};

export function listenToServer({ store, actions, banner, follow }) {
  const source = new EventSource(at("/api/events"));
  const line = { isOpen: false }; // the server's first word shows that it will tell what happens from now on
  let lost = false;
  source.onopen = () => {
    if (!lost) return;
    lost = false;
    banner(null);
    actions.refresh("Connected again.");
  };
  source.onerror = () => {
    lost = true;
    line.isOpen = false;
    banner("The server does not answer. The page tries again by itself.");
  };
  source.onmessage = ({ data }) => {
    line.isOpen = true;
    const event = JSON.parse(data);
    handlers[event.type]?.(event);
  };

  const handlers = {
    // In the queue, so that this window's own edit on its way is taken in first.
    revision: ({ revision }) => actions.queue.run(() => {
      if (store.state && revision > store.state.revision) actions.refresh("Changed in another window; this is the newest state.");
    }),
    progress: (event) => actions.queue.run(() => {
      if (store.state && !store.busy) store.setBusy(true);
      const total = event.total > 0 ? event.total : 0;
      const percent = total ? ` ${Math.round((100 * event.done) / total)} %` : "";
      store.setProgress({ share: total ? event.done / total : null, text: `${STAGES[event.stage] ?? event.stage}${percent}` });
    }),
    snapshot: ({ poses }) => actions.queue.run(() => store.setSnapshot(poses)),
    solved: ({ placed, components, stopped }) => actions.refresh(`${stopped ? "Stopped" : "Solved"}: ${plural(placed, "piece")} placed on ${plural(components, "page")}.`)
      .then(follow),
    saved: ({ revision }) => actions.queue.run(() => store.state?.revision === revision && store.setSaved()),
    error: ({ text }) => actions.refresh().then(() => banner(text)),
  };
  window.addEventListener("beforeunload", () => source.close());
  return line;
}
