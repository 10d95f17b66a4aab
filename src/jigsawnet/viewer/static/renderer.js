/** The picture on the canvas. A frame is drawn only when something changed; panning copies the resting layer. */
import { readPalette } from "./colors.js";
import { Layer } from "./layer.js";
import { paintOverlay } from "./overlay.js";

const NEW_PICTURES_MS = 120;

export class Renderer {
  layer = new Layer();
  frames = 0;
  #asked = false;
  #late = 0;

  /** `onDrawn()` is called after each frame. */
  constructor(canvas, store, camera, bitmaps, onDrawn) {
    Object.assign(this, { canvas, store, camera, bitmaps, onDrawn });
    this.ctx = canvas.getContext("2d");
    this.palette = readPalette();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  /** Nothing waits to be drawn. */
  get idle() {
    return !this.#asked && !this.#late && !this.camera.zooming;
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    this.dpr = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(width * this.dpr));
    this.canvas.height = Math.max(1, Math.round(height * this.dpr));
    this.layer.stale = true;
    this.camera.resize(width, height);
  }

  /** Something of the resting picture changed. */
  invalidate() {
    this.layer.stale = true;
    this.ask();
  }

  /** Pictures came: draw again, but not for each of a thousand. */
  invalidateSoon() {
    this.#late ||= setTimeout(() => {
      this.#late = 0;
      this.invalidate();
    }, NEW_PICTURES_MS);
  }

  /** Only the view or what lies over it changed. */
  ask() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      this.draw();
    });
  }

  draw() {
    const { ctx, store, camera, bitmaps, palette, dpr } = this;
    if (!store.state) return;
    if (!this.layer.serves(camera)) this.layer.draw(store, camera, bitmaps, palette, dpr);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = palette.ground;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.layer.copyTo(ctx, camera, dpr);
    const [ox, oy] = camera.toWorld([0, 0]);
    paintOverlay({ ctx, k: camera.scale * dpr, ox, oy }, store, bitmaps, palette, dpr);
    bitmaps.end();
    this.frames++;
    this.onDrawn();
  }

  changeTheme() {
    this.palette = readPalette();
    this.invalidate();
  }
}
