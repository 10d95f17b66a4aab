/** What a person can do. Each action waits its turn in the queue and looks at the state when its turn has come. */
import { percent, plural } from "./dom.js";

const WAIT = "The run is being solved. Stop it first.";

export class Actions {
  #lastJoin = null;

  /** `follow()` is called when pieces may lie elsewhere than where a person put them. */
  constructor(store, api, queue, { say, follow }) {
    Object.assign(this, { store, api, queue, say, follow });
  }

  refresh(said = null) {
    return this.queue.run(async () => {
      this.store.take(await this.api.get("/api/state"));
      if (said) this.say(said);
    });
  }

  /** `choose()` gives `{edit, said}` or a sentence why not, when its turn has come. */
  edit(choose) {
    return this.queue.run(async () => {
      if (this.store.busy) return this.say(WAIT);
      const chosen = await choose();
      if (typeof chosen === "string") return this.say(chosen);
      await this.send("/api/edits", { edit: chosen.edit, join: chosen.join ?? false }, chosen.said);
    });
  }

  /** Send something that gives back a new state; only inside the queue. */
  async send(path, body, said) {
    const state = await this.api.post(path, { revision: this.store.state.revision, ...body });
    this.store.take(state);
    if (body.edit?.kind !== "move") this.follow();
    this.say(typeof said === "function" ? said(state) : said);
  }

  undo() {
    return this.#step("/api/undo", "can_undo", -1, "Undone", "There is nothing to undo.");
  }

  redo() {
    return this.#step("/api/redo", "can_redo", 0, "Done again", "There is nothing to do again.");
  }

  #step(path, possible, offset, word, otherwise) {
    return this.queue.run(async () => {
      const { state } = this.store;
      if (this.store.busy) return this.say(WAIT);
      if (!state[possible]) return this.say(otherwise);
      const edit = state.edits[state.in_force + offset];
      await this.send(path, {}, `${word}: ${edit?.text ?? "one edit"}`);
    });
  }

  /** Undo or redo until `count` edits are in force. */
  goTo(count) {
    return this.queue.run(async () => {
      if (this.store.busy) return this.say(WAIT);
      while (this.store.state.in_force !== count) {
        const back = this.store.state.in_force > count;
        if (!this.store.state[back ? "can_undo" : "can_redo"]) break;
        await this.send(back ? "/api/undo" : "/api/redo", {}, `${plural(count, "edit")} in force.`);
      }
    });
  }

  /** `kind` is accept, reject or cut. */
  judgeJoin(kind) {
    return this.edit(() => {
      const chosen = this.store.selection;
      if (chosen?.kind !== "join") return "Select a join first: click a line across a seam, or press J.";
      const said = { accept: "Accepted", reject: "Rejected", cut: "Cut" }[kind];
      return { edit: { kind, i: chosen.i, j: chosen.j }, said: `${said}: ${this.joinName(chosen)}.` };
    });
  }

  #onPiece(decide) {
    return this.edit(() => {
      const chosen = this.store.selection;
      return chosen?.kind === "piece" ? decide(this.store.pieces[chosen.idx]) : "Select a piece first: click it, or press N.";
    });
  }

  togglePin() {
    return this.#onPiece((piece) => {
      if (!piece.pose) return `${piece.name} has no place where it could be pinned.`;
      const kind = piece.pinned ? "unpin" : "pin";
      return { edit: { kind, pieces: [piece.idx] }, said: `${piece.pinned ? "No longer pinned" : "Pinned"}: ${piece.name}.` };
    });
  }

  toggleAside() {
    return this.#onPiece((piece) => {
      const kind = piece.aside ? "take_back" : "set_aside";
      return { edit: { kind, pieces: [piece.idx] }, said: `${piece.aside ? "Taken back" : "Set aside"}: ${piece.name}.` };
    });
  }

  takeOff() {
    return this.#onPiece((piece) => {
      if (!piece.pose) return `${piece.name} is in the tray already.`;
      const pieces = this.store.handful(piece.idx, this.store.view.wholeComponent);
      return { edit: { kind: "take_off", pieces }, said: `Back in the tray: ${piece.name}${others(pieces)}.` };
    });
  }

  /** Join the selected piece, or its page, to what its borders meet where it lies. */
  joinHere() {
    return this.#onPiece((piece) => {
      if (!piece.pose) return `${piece.name} has no place yet.`;
      const members = this.store.handful(piece.idx, this.store.view.wholeComponent);
      const poses = Object.fromEntries(members.map((idx) => [idx, this.store.pieces[idx].pose]));
      return { edit: { kind: "move", poses }, join: true, said: `Joined where borders meet: ${piece.name}${others(members)}.` };
    });
  }

  /** The page that the selection lies on, or null. */
  pageOfSelection() {
    const { selection, state } = this.store;
    const idx = selection?.kind === "piece" ? selection.idx : selection?.i;
    return state.pages.find((page) => page.pieces.includes(idx)) ?? (state.pages.length === 1 ? state.pages[0] : null);
  }

  /** The edit that turns the page of a piece. */
  turning(piece, angle) {
    const page = this.store.state.pages.find((candidate) => candidate.pieces.includes(piece));
    return { edit: { kind: "turn_page", piece, angle }, said: `Turned: ${page.title}, by ${Math.round((angle * 180) / Math.PI)}°.` };
  }

  /** Turn a page (null: that of the selection) by quarters. */
  turnPage(quarters, page = null) {
    return this.edit(() => {
      const chosen = page ?? this.pageOfSelection();
      return chosen ? this.turning(chosen.pieces[0], (quarters * Math.PI) / 2) : "Select a piece of a page first: click it, or press N.";
    });
  }

  namePage(page, name) {
    return this.edit(() => {
      if (name.trim() === page.name) return `The page is still called ${page.title}.`;
      return { edit: { kind: "name_page", piece: page.pieces[0], name: name.trim() }, said: name.trim() ? `Named: ${name.trim()}.` : "The page has no name now." };
    });
  }

  orderPage(page, place) {
    return this.edit(() => ({ edit: { kind: "order_page", piece: page.pieces[0], place }, said: `${page.title} is number ${place} now.` }));
  }

  layOut() {
    return this.edit(() => (this.store.state.pages.length ? { edit: { kind: "lay_out_pages" }, said: "Pages laid out in rows." } : "No piece is placed."));
  }

  /** Lay the selected piece in the `k`-th of its best places. */
  placeAt(k) {
    return this.#onPiece(async (piece) => {
      const { places } = await this.api.get(`/api/pieces/${piece.idx}/places`);
      const place = places[k];
      if (!place) return places.length ? `${piece.name} has only ${plural(places.length, "place")}.` : `No place is known for ${piece.name}.`;
      return placing(piece, place.pose, place.joins, `Placed: ${piece.name}, ${percent(place.score)} sure.`);
    });
  }

  /** Lay a piece beside another, as a candidate says. */
  placeBeside(idx, pose, neighbors) {
    return this.edit(() => placing(this.store.pieces[idx], pose, neighbors, `Placed: ${this.store.pieces[idx].name}.`));
  }

  /** Lay the selected piece of the tray, or that of the likeliest guess, where it is guessed to belong. */
  takeGuess() {
    return this.edit(() => {
      const { selection, pieces, guesses } = this.store;
      const own = selection?.kind === "piece" && !pieces[selection.idx].pose ? pieces[selection.idx] : null;
      const open = guesses.filter(({ idx }) => !pieces[idx].pose && !pieces[idx].aside);
      const guess = own ? open.find(({ idx }) => idx === own.idx) : open[0];
      if (!guess) return own ? `There is no best guess for ${own.name}.` : "There is no best guess.";
      const { idx, beside, poses, joins, probability } = guess;
      const said = `Taken: ${pieces[idx].name} beside ${pieces[beside].name}, a guess, ${percent(probability)} likely.`;
      return { edit: { kind: "move", poses, joins }, said };
    });
  }

  solve() {
    return this.queue.run(async () => {
      if (this.store.busy) return this.say("The run is being solved already.");
      await this.api.post("/api/solve", { revision: this.store.state.revision });
      this.store.setBusy(true);
      this.say("Solving on with your edits …");
    });
  }

  stop() {
    return this.queue.run(async () => {
      if (!this.store.busy) return this.say("Nothing is being solved.");
      await this.api.post("/api/stop");
      this.say("Stopping …");
    });
  }

  select(what, said = true) {
    return this.queue.run(() => this.#choose(what, said));
  }

  /** Mark a piece (null: the selected one), or no longer. */
  mark(idx = null) {
    return this.queue.run(() => {
      const chosen = this.store.selection;
      if (idx === null && chosen?.kind !== "piece") return this.say("Select a piece first: click it, or press N.");
      this.store.mark(idx ?? chosen.idx);
      const names = [...this.store.marked].map((other) => this.store.pieces[other].name);
      return this.say(names.length ? `Marked: ${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""}.` : "Nothing is marked.");
    });
  }

  #choose(what, said = true, keep = false) {
    this.store.select(what, keep);
    if (what?.kind === "join") this.#lastJoin = this.store.join(what.i, what.j);
    if (said && this.store.selection) this.say(this.describe(this.store.selection));
  }

  /** The next (or with -1 the last) of the placed pieces, or of the tray. */
  nextPiece(step, inTray = false) {
    return this.queue.run(() => {
      const order = this.store.pieces.filter((piece) => (piece.pose === null) === inTray).map((piece) => piece.idx);
      if (!order.length) return this.say(inTray ? "The tray is empty." : "No piece is placed.");
      const { selection } = this.store;
      const at = selection?.kind === "piece" ? order.indexOf(selection.idx) : -1;
      const next = at < 0 && step < 0 ? order.length - 1 : (at + step + order.length) % order.length;
      this.#choose({ kind: "piece", idx: order[next] }, true, true);
    });
  }

  /** Joins in order, the least sure first; goes on from a join that is gone. */
  nextJoin(step) {
    return this.queue.run(() => {
      const order = this.store.joinsInOrder();
      if (!order.length) return this.say("There is no join.");
      const last = this.#lastJoin;
      const isAfter = (join) => join.confidence - last.confidence || join.i - last.i || join.j - last.j;
      const after = last ? order.find((join) => isAfter(join) > 0) : order[0];
      const before = last ? order.findLast((join) => isAfter(join) < 0) : order.at(-1);
      const next = step > 0 ? (after ?? order[0]) : (before ?? order.at(-1));
      this.#choose({ kind: "join", i: next.i, j: next.j });
    });
  }

  joinName({ i, j }) {
    return `${this.store.pieces[i].name} and ${this.store.pieces[j].name}`;
  }

  describe(what) {
    if (what.kind === "join") {
      const join = this.store.join(what.i, what.j);
      return `Join of ${this.joinName(what)}, ${percent(join.confidence)} sure${join.status === "accepted" ? ", accepted by you" : ""}.`;
    }
    const piece = this.store.pieces[what.idx];
    if (piece.aside) return `${piece.name}, set aside.`;
    return piece.pose ? `${piece.name}, ${percent(piece.confidence)} sure${piece.pinned ? ", pinned" : ""}.` : `${piece.name}, in the tray.`;
  }
}

const others = (pieces) => (pieces.length > 1 ? ` and ${plural(pieces.length - 1, "other")}` : "");

function placing(piece, pose, neighbors, said) {
  const joins = neighbors.map((other) => [Math.min(piece.idx, other), Math.max(piece.idx, other)]);
  return { edit: { kind: "move", poses: { [piece.idx]: pose }, joins }, said };
}
