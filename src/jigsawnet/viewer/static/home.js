/** The page of cases: drop, see what was cut out, solve. `window.home` is for tests and the curious. */
import { Api, ApiError, at } from "./api.js";
import { wireTheme } from "./chrome.js";
import { byId, make, plural } from "./dom.js";
import { countsOf, ReviewView } from "./home_review.js";
import { chosenFiles, droppedFiles, upload } from "./home_upload.js";
import { ActionQueue } from "./queue.js";

const STAGES = {
  start: "Starting", read: "Reading", cut: "Cutting out", contours: "Tracing borders", match: "Matching", score: "Scoring",
  compose: "Composing", refine: "Refining", "second round": "Second look", confidence: "Judging", results: "Writing results",
};

const api = new Api();
const queue = new ActionQueue(explain);
let desk = { phase: "empty", case: null, error: "" };
let shown = null; // the case whose review is drawn, and its revision
let uploading = false;
let solving = false; // the workbench opens as soon as it can
let front = true; // the list of cases is shown, though one may lie on the workbench
let isOpen = false;
let ended = false;
const review = new ReviewView((action, edit) => change(action, edit), say);

function say(sentence) {
  byId("status").textContent = sentence;
}

function banner(sentence) {
  byId("banner").hidden = !sentence;
  byId("banner").textContent = sentence ?? "";
}

async function explain(error) {
  if (error.status === undefined) console.error(error);
  say(error.message);
  banner(error.message);
  if (error.status === 409) await refresh();
}

function showProgress(share, words) {
  const bar = byId("progress");
  bar.hidden = share === undefined;
  if (share === null) bar.removeAttribute("value");
  else if (share !== undefined) bar.value = share;
  byId("counts").textContent = words ?? "";
}

function showStage({ stage, done, total }) {
  const words = STAGES[stage] ?? stage;
  showProgress(total > 0 ? done / total : null, total > 0 ? `${words} ${Math.round((100 * done) / total)} %` : words);
}

const workbench = (name) => at(`/case/${encodeURIComponent(name)}/`);

/** Take the server's newest word in, and show what follows from it. */
async function refresh() {
  if (ended) return;
  desk = await api.get("/api/desk");
  const { phase } = desk;
  const isBusy = phase === "reading" || phase === "solving";
  if (solving && desk.open) {
    solving = false;
    location.href = workbench(desk.case);
    return;
  }
  if (!isBusy) solving = false;
  if (!uploading) {
    if (isBusy) showStage(desk.progress);
    else showProgress(undefined);
  }
  if (isBusy || phase === "found") front = false;
  const atWork = uploading || (desk.case !== null && !front);
  byId("start").hidden = atWork;
  byId("work").hidden = !atWork;
  byId("all-cases").hidden = !atWork || uploading;
  byId("title").textContent = (atWork && desk.case) || "jigsawnet";
  document.title = atWork && desk.case ? `${desk.case} – jigsawnet` : "jigsawnet";
  if (!atWork) {
    shown = null;
    review.clear();
    byId("refused").hidden = true;
    await showCases();
  } else if (!uploading && ["found", "open", "solving"].includes(phase)) await showFound();
  else showReading();
  byId("stop").hidden = !isBusy;
  byId("solve").hidden = isBusy || uploading;
  byId("see").hidden = !desk.open;
  byId("add").hidden = isBusy || uploading;
  byId("solve").disabled = !review.review || review.review.n_pieces < 2;
  if (desk.error) explain(new ApiError(422, desk.error));
}

function showReading() {
  shown = null;
  review.clear();
  byId("found").textContent = uploading ? "Taking the files …" : desk.phase === "reading" ? "Looking for pieces …" : "No pieces yet";
  byId("hint").textContent = uploading ? "" : desk.error;
  byId("solve").disabled = true;
}

async function showFound() {
  const found = await api.get("/api/review").catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });
  if (found === null) return;
  takeReview(found);
}

function takeReview(found) {
  const isNew = shown?.name !== desk.case;
  if (!isNew && shown.revision === found.revision && shown.scans === found.scans.length) return;
  shown = { name: desk.case, revision: found.revision, scans: found.scans.length };
  review.take(found, isNew);
  byId("found").textContent = countsOf(found);
  byId("hint").textContent = found.scans.length > 0 ? "Every piece has an outline. Correct what is wrong, or just solve." : "Each picture shows one piece.";
  byId("solve").disabled = found.n_pieces < 2;
  if (isNew) say(`${countsOf(found)}. Press Solve when the outlines are right.`);
}

async function showCases() {
  const cases = await api.get("/api/cases");
  byId("recent").hidden = cases.length === 0;
  byId("cases").replaceChildren(...cases.map((one) => {
    const path = `/api/cases/${encodeURIComponent(one.name)}`;
    const picture = make("img", { src: at(`${path}/thumb.jpg?v=${one.version}`), alt: "", loading: "lazy" });
    picture.addEventListener("error", () => picture.remove());
    return make("li", { class: "case" },
      make("button", { class: "open", onclick: () => openCase(one) }, make("span", { class: "shot" }, picture),
        make("span", { class: "name", title: one.name }, one.name),
        make("span", { class: "when" }, `${one.solved ? "Solved" : "Not solved yet"}, ${new Date(one.when).toLocaleString()}`)),
      one.solved && make("button", { class: "again", "aria-label": `Cut-out of ${one.name}`, onclick: () => lookAt(one.name) }, "See the cut-out"));
  }));
  byId("where").textContent = `Cases are kept in ${desk.folder}`;
}

function openCase({ name, solved }) {
  if (!solved) return lookAt(name);
  banner(null);
  return queue.run(async () => {
    say("Opening …");
    await api.post(`/api/cases/${encodeURIComponent(name)}/open`);
    location.href = workbench(name);
  });
}

function lookAt(name) {
  banner(null);
  return queue.run(async () => {
    await api.post(`/api/cases/${encodeURIComponent(name)}/look`);
    await refresh();
  });
}

function change(action, edit = null) {
  banner(null);
  return queue.run(async () => {
    takeReview(await api.post(`/api/review/${action}`, { revision: review.review.revision, edit }));
    const { edits } = review.review;
    say(action === "edits" ? `${edits[edits.length - 1]}.` : action === "undo" ? "Undone." : "Redone.");
  });
}

/** Take files into the case on the desk, or into a new one, and look at them. */
function take(files) {
  if (files.length === 0 || uploading) return;
  banner(null);
  queue.run(async () => {
    const name = front ? null : desk.case;
    [uploading, shown] = [true, null];
    byId("refused").hidden = true;
    await refresh();
    say(`Taking ${plural(files.length, "file")} …`);
    try {
      const done = await upload(api, files, name, (file, sent, total) => {
        showProgress(total ? sent / total : null, `Taking ${file}`);
      });
      uploading = false;
      if (done.name !== null) await api.post(`/api/cases/${encodeURIComponent(done.name)}/look`);
      showRefused(done.refused, done.name === null);
    } finally {
      uploading = false;
      await refresh();
    }
  });
}

function showRefused(sentences, isAll) {
  if (sentences.length === 0) return;
  byId("refused").hidden = false;
  byId("refused").replaceChildren(...sentences.slice(0, 20).map((text) => make("li", {}, text)));
  const more = sentences.length > 1 ? ` ${plural(sentences.length - 1, "other file")} could not be taken either.` : "";
  say(sentences[0]);
  if (isAll || more) banner(sentences[0] + more);
}

function wireDrop() {
  const files = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    document.body.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget || document.body.classList.remove("over"));
  document.addEventListener("drop", async (event) => {
    if (!files(event)) return;
    event.preventDefault();
    document.body.classList.remove("over");
    take(await droppedFiles(event.dataTransfer));
  });
  for (const [button, input] of [["choose", "files-input"], ["choose-folder", "folder-input"], ["add", "files-input"]]) {
    byId(button).addEventListener("click", () => byId(input).click());
  }
  for (const input of [byId("files-input"), byId("folder-input")]) {
    input.addEventListener("change", () => {
      take(chosenFiles(input));
      input.value = "";
    });
  }
}

function wireButtons() {
  byId("solve").addEventListener("click", () => queue.run(async () => {
    banner(null);
    solving = true;
    await api.post("/api/solve");
    await refresh();
  }));
  byId("stop").addEventListener("click", () => queue.run(() => api.post("/api/stop")));
  byId("see").addEventListener("click", () => (location.href = workbench(desk.case)));
  byId("all-cases").addEventListener("click", () => queue.run(async () => {
    banner(null);
    front = true;
    await api.post("/api/leave");
    await refresh();
    say("Ready.");
  }));
  byId("banner").addEventListener("click", () => banner(null));
  byId("quit").addEventListener("click", () => queue.run(async () => {
    ended = true; // the stream may end before the answer comes
    await api.post("/api/end");
    source.close();
    byId("main").replaceChildren(make("div", { class: "ended" }, make("h2", {}, "jigsawnet has ended"), make("p", { class: "quiet" }, "Everything is kept. This window can be closed.")));
    say("Ended.");
  }));
}

const source = new EventSource(at("/api/events"));
source.onerror = () => {
  if (ended) return;
  isOpen = false;
  banner("The server does not answer. Is jigsawnet still running?");
};
source.onmessage = ({ data }) => {
  if (!isOpen) banner(null);
  isOpen = true;
  const event = JSON.parse(data);
  if (event.type === "progress" && !uploading) showStage(event);
  if (event.type === "changed") queue.run(refresh);
};
window.addEventListener("beforeunload", () => source.close());
window.addEventListener("pageshow", (event) => event.persisted && location.reload());

window.home = {
  api, queue, review, take,
  get desk() {
    return desk;
  },
  /** Nothing is on its way: what is seen is what the server knows. */
  isIdle: () => isOpen && queue.empty && api.pending === 0 && !uploading && !["reading", "solving"].includes(desk.phase),
};

wireTheme(() => {});
wireDrop();
wireButtons();
await queue.run(refresh);
if (byId("status").textContent === "Loading …") say("Ready.");
