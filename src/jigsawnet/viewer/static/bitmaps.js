/** Pictures of the pieces by size level, loaded when they are first wanted and dropped when there are too many. */

const SMALLEST = 16;
const AT_ONCE = 4;
const BUDGET_BYTES = 256e6;

export class Bitmaps {
  #loaded = new Map(); // "idx/level" → {bitmap, used}
  #levels = new Map(); // idx → levels loaded
  #wanted = new Map(); // what the last drawing lacked, not yet on its way
  #onWay = new Set();
  #failed = new Set();
  #bytes = 0;
  #clock = 0;

  constructor(api, onLoad) {
    this.api = api;
    this.onLoad = onLoad;
  }

  get pending() {
    return this.#onWay.size + this.#wanted.size;
  }

  /** A new drawing begins: what it does not ask for is not loaded. */
  begin() {
    this.#clock++;
    this.#wanted.clear();
  }

  /** The drawing is done: load what it lacked. */
  end() {
    this.#start();
  }

  /** The best picture there is for a piece shown `px` device px long, or null; the right one is asked for. */
  get(piece, px) {
    const level = levelFor(piece.longest, px);
    const key = `${piece.idx}/${level}`;
    const exact = this.#loaded.get(key);
    if (exact) {
      exact.used = this.#clock;
      return exact.bitmap;
    }
    if (!this.#onWay.has(key) && !this.#failed.has(key)) this.#wanted.set(key, { idx: piece.idx, level });
    const levels = this.#levels.get(piece.idx);
    if (!levels?.size) return null;
    const bigger = [...levels].filter((other) => other > level);
    return this.#loaded.get(`${piece.idx}/${bigger.length ? Math.min(...bigger) : Math.max(...levels)}`).bitmap;
  }

  #start() {
    for (const [key, { idx, level }] of this.#wanted) {
      if (this.#onWay.size >= AT_ONCE) return;
      this.#wanted.delete(key);
      this.#load(key, idx, level);
    }
  }

  async #load(key, idx, level) {
    this.#onWay.add(key);
    try {
      const bitmap = await this.api.picture(idx, level === Infinity ? null : level);
      this.#loaded.set(key, { bitmap, used: this.#clock });
      this.#levels.set(idx, (this.#levels.get(idx) ?? new Set()).add(level));
      this.#bytes += 4 * bitmap.width * bitmap.height;
      this.#shrink();
    } catch {
      this.#failed.add(key);
    } finally {
      this.#onWay.delete(key);
      this.onLoad();
      this.#start();
    }
  }

  /** Let the pictures go that were not used for longest, but none of the last drawing. */
  #shrink() {
    if (this.#bytes <= BUDGET_BYTES) return;
    const oldest = [...this.#loaded].filter(([, entry]) => entry.used < this.#clock).sort((a, b) => a[1].used - b[1].used);
    for (const [key, { bitmap }] of oldest) {
      if (this.#bytes <= BUDGET_BYTES) return;
      const [idx, level] = key.split("/");
      this.#levels.get(Number(idx)).delete(Number(level));
      this.#loaded.delete(key);
      this.#bytes -= 4 * bitmap.width * bitmap.height;
      bitmap.close();
    }
  }
}

/** Smallest power of two that is at least `px`; Infinity (full resolution) when the piece itself is no larger. */
export function levelFor(longest, px) {
  let level = SMALLEST;
  while (level < px && level < longest) level *= 2;
  return level >= longest ? Infinity : level;
}
