/** What the page knows: the server's last state, what is selected, how it is shown, and what is being carried.
 *
 * Everything that changes goes through a method, and each method tells the listeners: `on(kind, listener)` with the kinds
 * `state`, `selection`, `view`, `draft`, `ghost`, `hover`, `snapshot`, `progress`, `truth`, `guesses`.
 */
import { apply, boxOf } from "./pose.js";

export class Store {
  state = null;
  /** Pieces by idx, with `path`, `center` and `longest` made here. */
  pieces = [];
  /** The same pieces in the order in which they are drawn: small components lie on large ones. */
  fromBelow = [];
  selection = null;
  hover = null;
  /** Pieces marked beside the one that is selected, and whether hints are said softly. */
  marked = new Set();
  soft = false;
  view = { color: "picture", joins: true, outlines: false, guesses: true, wholeComponent: false, compare: false };
  /** Pieces in hand: `{shown: Map idx → pose, snap}` or null. */
  draft = null;
  /** Proposed places: `{idx, places: [{pose, score}], active: number}` or null. */
  ghost = null;
  /** Poses while solving, or null. */
  snapshot = null;
  progress = null;
  truth = null;
  /** Best guesses of pieces in the tray, the likeliest first. */
  guesses = [];
  #listeners = new Map();
  #outlines = new Map();

  on(kinds, listener) {
    for (const kind of kinds.split(" ")) this.#listeners.set(kind, [...(this.#listeners.get(kind) ?? []), listener]);
  }

  #tell(kind) {
    for (const listener of this.#listeners.get(kind) ?? []) listener();
  }

  /** Take a new state of the server in. */
  take(state) {
    this.state = state;
    this.pieces = state.pieces.map((piece) => ({ ...piece, ...this.#shape(piece) }));
    const size = new Map(state.components.map((component) => [component.id, component.pieces.length]));
    this.fromBelow = [...this.pieces].sort((a, b) => (size.get(b.component) ?? 0) - (size.get(a.component) ?? 0) || a.idx - b.idx);
    if (!state.busy) [this.snapshot, this.progress] = [null, null];
    if (!this.#exists(this.selection)) this.selection = null;
    if (!this.#exists(this.hover)) this.hover = null;
    this.ghost = null;
    for (const kind of ["state", "progress", "selection"]) this.#tell(kind);
  }

  #shape(piece) {
    if (!this.#outlines.has(piece.idx)) {
      const path = new Path2D();
      piece.outline.forEach(([x, y], k) => (k ? path.lineTo(x, y) : path.moveTo(x, y)));
      path.closePath();
      const box = boxOf(piece.outline) ?? [0, 0, piece.width, piece.height];
      const center = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
      const radius = Math.max(1, ...piece.outline.map(([x, y]) => Math.hypot(x - center[0], y - center[1])));
      this.#outlines.set(piece.idx, { path, center, radius, longest: Math.max(piece.width, piece.height) });
    }
    return this.#outlines.get(piece.idx);
  }

  #exists(what) {
    if (!what) return false;
    return what.kind === "piece" ? what.idx < this.pieces.length : Boolean(this.join(what.i, what.j));
  }

  join(i, j) {
    return this.state?.joins.find((join) => join.i === i && join.j === j) ?? null;
  }

  get busy() {
    return Boolean(this.state?.busy);
  }

  /** Where a piece is shown now, or null. */
  poseOf(idx) {
    if (this.view.compare) return this.state.start[idx] ?? null;
    return this.draft?.shown.get(idx) ?? this.settledPose(idx);
  }

  /** Where a piece lies, without what is in hand. */
  settledPose(idx) {
    if (this.snapshot) return this.snapshot.get(idx) ?? null;
    return this.pieces[idx]?.pose ?? null;
  }

  /** Middle of a piece in the world, or null when it has no place. */
  centerOf(idx) {
    const pose = this.poseOf(idx);
    return pose && apply(pose, this.pieces[idx].center);
  }

  /** Box of the circles around pieces, in the world. */
  boxOfPieces(indices) {
    return boxOf(indices.flatMap((idx) => {
      const center = this.centerOf(idx);
      const r = this.pieces[idx].radius;
      return center ? [[center[0] - r, center[1] - r], [center[0] + r, center[1] + r]] : [];
    }));
  }

  /** The pieces that move when `idx` is moved; it comes first. */
  handful(idx, wholeComponent) {
    const own = this.pieces[idx].component;
    if (!wholeComponent || own === null) return [idx];
    const members = this.state.components.find((component) => component.id === own)?.pieces ?? [];
    return [idx, ...members.filter((other) => other !== idx)];
  }

  /** Joins, the least sure first: the order of the list and of the keys. */
  joinsInOrder() {
    return [...(this.state?.joins ?? [])].sort((a, b) => a.confidence - b.confidence || a.i - b.i || a.j - b.j);
  }

  /** Pieces without a place, as far as the solver has come. */
  tray() {
    return this.pieces.filter((piece) => this.settledPose(piece.idx) === null);
  }

  /** With `keep`, what is marked stays marked. */
  select(what, keep = false) {
    this.selection = this.#exists(what) ? what : null;
    if (!keep) this.marked.clear();
    this.ghost = null;
    this.#tell("selection");
  }

  /** The selected piece and those marked, in order. */
  marks(idx) {
    return [...new Set([idx, ...this.marked])].sort((a, b) => a - b);
  }

  /** Mark a piece beside the one selected so far, or no longer; it is selected. */
  mark(idx) {
    const own = this.selection?.kind === "piece" ? this.selection.idx : null;
    if (own !== null && own !== idx) this.marked.add(own);
    if (!this.marked.delete(idx)) this.marked.add(idx);
    this.select({ kind: "piece", idx }, true);
  }

  setHover(what) {
    if (JSON.stringify(what) === JSON.stringify(this.hover)) return;
    this.hover = what;
    this.#tell("hover");
  }

  setView(changes) {
    Object.assign(this.view, changes);
    this.#tell("view");
  }

  setDraft(draft) {
    this.draft = draft;
    this.#tell("draft");
  }

  setGhost(ghost) {
    this.ghost = ghost;
    this.#tell("ghost");
  }

  setGuesses(guesses) {
    this.guesses = guesses;
    this.#tell("guesses");
  }

  /** The best guesses that are shown now, without what has got a place meanwhile. */
  shownGuesses() {
    if (!this.view.guesses || this.view.compare || this.snapshot || this.busy) return [];
    return this.guesses.filter(({ idx }) => !this.poseOf(idx) && !this.pieces[idx].aside);
  }

  /** Circles around what is guessed, as the box of their corners; null without any. */
  boxOfGuesses() {
    const drawn = this.shownGuesses().flatMap(({ idx, pose, beside, ground }) => [[idx, pose], [beside, ground]]);
    return boxOf(drawn.flatMap(([idx, pose]) => {
      const [center, r] = [apply(pose, this.pieces[idx].center), this.pieces[idx].radius];
      return [[center[0] - r, center[1] - r], [center[0] + r, center[1] + r]];
    }));
  }

  setTruth(truth) {
    this.truth = truth;
    this.#tell("truth");
  }

  setProgress(progress) {
    this.progress = progress;
    this.#tell("progress");
  }

  setBusy(busy) {
    this.state.busy = busy;
    if (!busy) this.snapshot = null;
    this.#tell("state");
    this.#tell("progress");
  }

  /** The result files show what the table shows. */
  setSaved() {
    this.state.saved = true;
    this.#tell("progress");
  }

  setSnapshot(poses) {
    this.snapshot = new Map(Object.entries(poses).map(([idx, pose]) => [Number(idx), pose]));
    this.#tell("snapshot");
  }
}
