/** What part of the world is seen: (x, y) in the middle of the view, `scale` screen px per world px. */

export const MIN_SCALE = 0.005;
export const MAX_SCALE = 16;
const SETTLE_MS = 120;
const REVEAL_MARGIN_PX = 40;

export class Camera {
  x = 0;
  y = 0;
  scale = 1;
  width = 1;
  height = 1;
  zooming = false;
  /** Has a person chosen the view? Until then, and after "show everything", it follows the solver. */
  chosen = false;
  #timer = 0;

  constructor(onChange) {
    this.onChange = onChange;
  }

  resize(width, height) {
    Object.assign(this, { width: Math.max(width, 1), height: Math.max(height, 1) });
    this.onChange();
  }

  toScreen([x, y]) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  toWorld([x, y]) {
    return [(x - this.width / 2) / this.scale + this.x, (y - this.height / 2) / this.scale + this.y];
  }

  /** Move what is seen by screen px. */
  pan(dx, dy) {
    this.chosen = true;
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.onChange();
  }

  /** Zoom so that the world under the screen point (the middle, if none is given) stays there. */
  zoom(factor, at = [this.width / 2, this.height / 2]) {
    this.chosen = true;
    const before = this.toWorld(at);
    this.scale = Math.min(Math.max(this.scale * factor, MIN_SCALE), MAX_SCALE);
    const after = this.toWorld(at);
    this.x += before[0] - after[0];
    this.y += before[1] - after[1];
    this.#changedScale();
  }

  /** Show the box [x0, y0, x1, y1] with a margin; not larger than `largest` screen px per world px. */
  fit(box, largest = 2) {
    if (!box) return;
    const [wide, high] = [Math.max(box[2] - box[0], 1), Math.max(box[3] - box[1], 1)];
    const scale = 0.9 * Math.min(this.width / wide, this.height / high);
    this.scale = Math.min(Math.max(scale, MIN_SCALE), largest);
    this.x = (box[0] + box[2]) / 2;
    this.y = (box[1] + box[3]) / 2;
    this.#changedScale();
  }

  /** Pan, no further than needed, until the box is in view. */
  reveal(box) {
    const [x0, y0] = this.toScreen([box[0], box[1]]);
    const [x1, y1] = this.toScreen([box[2], box[3]]);
    this.x += shiftIntoView(x0, x1, this.width) / this.scale;
    this.y += shiftIntoView(y0, y1, this.height) / this.scale;
    this.onChange();
  }

  #changedScale() {
    this.zooming = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.zooming = false;
      this.onChange();
    }, SETTLE_MS);
    this.onChange();
  }
}

/** Screen px by which the view must go so that [low, high] lies within [0, size]; in the middle when it is too long. */
function shiftIntoView(low, high, size) {
  const margin = Math.min(REVEAL_MARGIN_PX, size / 10);
  if (high - low > size - 2 * margin) return (low + high - size) / 2;
  return Math.min(0, low - margin) + Math.max(0, high + margin - size);
}
