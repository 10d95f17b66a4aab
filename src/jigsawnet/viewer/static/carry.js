/** Pieces in hand: moved and turned freely, drawn to the nearest candidate, and put down as one edit. */
import { plural } from "./dom.js";
import { apply, compose, inverse, layAt, turnAbout } from "./pose.js";

const TURN_REST_MS = 500;

export class Carry {
  #hand = null; // {draft, members, raw, free, page, moved, turned}; a page that is only turned snaps to nothing
  #asking = false;
  #askAgain = false;
  #resting = 0;

  constructor(store, api, actions) {
    Object.assign(this, { store, api, actions });
  }

  /** Something was only nudged and is not yet put down. */
  get resting() {
    return this.#resting !== 0;
  }

  get holds() {
    return this.#hand !== null;
  }

  /** Take a piece (or its whole component) up; `at` is where the middle of a piece from the tray goes. False: it cannot be moved. */
  begin(idx, wholeComponent, at = null) {
    this.settle();
    const piece = this.store.pieces[idx];
    const members = this.store.handful(idx, wholeComponent);
    const pinned = members.find((member) => this.store.pieces[member].pinned);
    if (this.store.busy) return this.#refuse("The run is being solved. Stop it first.");
    if (piece.aside) return this.#refuse(`${piece.name} is set aside. Take it back first (X).`);
    if (pinned !== undefined) return this.#refuse(`${this.store.pieces[pinned].name} is pinned. Unpin it first (I).`);
    const raw = new Map(members.map((member) => [member, this.store.pieces[member].pose]));
    if (!piece.pose) raw.set(idx, layAt(0, piece.center, at ?? [0, 0]));
    const draft = { shown: new Map(raw), snap: null };
    this.#hand = { draft, members, raw, free: false, page: wholeComponent && piece.pose !== null, moved: false, turned: 0 };
    this.store.setDraft(draft);
    return true;
  }

  #refuse(sentence) {
    this.actions.say(sentence);
    return false;
  }

  /** Shift by world px. */
  move(dx, dy) {
    this.#hand.moved = true;
    this.#carry([0, dx, dy]);
  }

  /** Turn about the middle of what is in hand. */
  turn(angle) {
    this.#hand.turned += angle;
    this.#carry(turnAbout(angle, this.middle()));
  }

  /** Turn the selection without taking it up by hand; after a short rest it is put down exactly as it lies. */
  nudge(idx, wholeComponent, angle) {
    const inHand = this.#hand && !this.#resting;
    if (!this.#hand && !this.begin(idx, wholeComponent)) return;
    if (!inHand) this.setFree(true);
    this.turn(angle);
    if (inHand) return;
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.settle(), TURN_REST_MS);
  }

  /** Put down what was only nudged; true if something was. */
  settle() {
    if (!this.#resting) return false;
    clearTimeout(this.#resting);
    this.#resting = 0;
    this.drop();
    return true;
  }

  middle() {
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const [idx, pose] of this.#hand.raw) {
      const [x, y] = apply(pose, this.store.pieces[idx].center);
      box.splice(0, 4, Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y));
    }
    return [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  }

  /** Without snapping, as long as `free` is true. */
  setFree(free) {
    if (this.#hand) this.#hand.free = free;
  }

  #carry(motion) {
    const hand = this.#hand;
    for (const [idx, pose] of hand.raw) hand.raw.set(idx, compose(motion, pose));
    this.#show(hand, hand.free ? null : hand.draft.snap);
    this.#probe();
  }

  #show(hand, snap) {
    hand.draft.snap = snap;
    hand.draft.shown = snappedPoses(hand, snap);
    if (this.store.draft === hand.draft) this.store.setDraft(hand.draft);
  }

  /** Ask for the nearest candidate; one question at a time, the last one counts. */
  async #probe() {
    const hand = this.#hand;
    if (this.#asking) this.#askAgain = true;
    if (this.#asking || !hand || hand.free || onlyTurned(hand)) return;
    this.#asking = true;
    try {
      const snap = await this.#ask(hand);
      if (this.#hand === hand) this.#show(hand, hand.free ? null : snap);
    } catch {
      // A drag goes on without snapping; putting down asks again and reports.
    } finally {
      this.#asking = false;
    }
    if (this.#askAgain) {
      this.#askAgain = false;
      this.#probe();
    }
  }

  async #ask(hand) {
    const [first] = hand.members;
    const answer = await this.api.post("/api/snap", { pieces: hand.members, pose: hand.raw.get(first) });
    return answer.pose ? answer : null;
  }

  cancel() {
    const hand = this.#hand;
    this.#hand = null;
    clearTimeout(this.#resting);
    this.#resting = 0;
    if (hand && this.store.draft === hand.draft) this.store.setDraft(null);
  }

  /** Put down: one edit, on the nearest candidate if there is one. */
  drop() {
    const hand = this.#hand;
    this.#hand = null;
    if (!hand) return Promise.resolve();
    const name = this.store.pieces[hand.members[0]].name;
    const what = hand.members.length > 1 ? `${name} and ${plural(hand.members.length - 1, "other")}` : name;
    const moved = this.actions.edit(async () => {
      if (onlyTurned(hand)) return this.actions.turning(hand.members[0], hand.turned);
      const snap = hand.free ? null : await this.#ask(hand);
      this.#show(hand, snap);
      const edit = { kind: "move", poses: Object.fromEntries(hand.draft.shown) };
      if (snap) edit.joins = snap.joins;
      return { edit, said: snap ? `Moved: ${what}, snapped to a candidate.` : (state) => `${state.edits[state.in_force - 1].text}.` };
    });
    return moved.finally(() => {
      if (this.store.draft === hand.draft) this.store.setDraft(null);
    });
  }
}

const onlyTurned = (hand) => hand.page && !hand.moved;

/** Where all pieces in hand lie when the first one lies as the candidate says. */
function snappedPoses(hand, snap) {
  if (!snap) return new Map(hand.raw);
  const motion = compose(snap.pose, inverse(hand.raw.get(hand.members[0])));
  return new Map([...hand.raw].map(([idx, pose]) => [idx, compose(motion, pose)]));
}
