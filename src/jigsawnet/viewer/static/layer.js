/** The resting picture: all pieces, their colours and joins, drawn once into a canvas larger than the view and then only copied. */
import { inkOn, RIGHT, scaleColor, WRONG } from "./colors.js";
import { fillPiece, hatchPiece, paintJoins, paintLabel, paintPiece, strokePiece } from "./paint.js";

/** How much of the view's width the layer reaches beyond it, on each side. */
const MARGIN = 0.3;
const LABEL_PX = 44;

export class Layer {
  canvas = document.createElement("canvas");
  stale = true;
  draws = 0;
  #at = null; // {scale, ox, oy, wide, high} in world px

  /** May the layer be copied for this camera? While zooming a scaled copy is good enough. */
  serves(camera) {
    if (this.stale || !this.#at) return false;
    const { scale, ox, oy, wide, high } = this.#at;
    const [x0, y0] = camera.toWorld([0, 0]);
    const [x1, y1] = camera.toWorld([camera.width, camera.height]);
    const covers = x0 >= ox && y0 >= oy && x1 <= ox + wide && y1 <= oy + high;
    const ratio = camera.scale / scale;
    if (camera.zooming) return ratio > 0.6 && ratio < 2.5 && (covers || ratio > 0.8);
    return covers && ratio === 1;
  }

  copyTo(ctx, camera, dpr) {
    const { scale, ox, oy } = this.#at;
    const [x, y] = camera.toScreen([ox, oy]);
    const ratio = camera.scale / scale;
    if (ratio === 1) ctx.drawImage(this.canvas, Math.round(x * dpr), Math.round(y * dpr));
    else ctx.drawImage(this.canvas, x * dpr, y * dpr, this.canvas.width * ratio, this.canvas.height * ratio);
  }

  draw(store, camera, bitmaps, palette, dpr) {
    const width = Math.round(camera.width * (1 + 2 * MARGIN) * dpr);
    const height = Math.round(camera.height * (1 + 2 * MARGIN) * dpr);
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const k = camera.scale * dpr;
    const [wide, high] = [width / k, height / k];
    const [ox, oy] = [camera.x - wide / 2, camera.y - high / 2];
    const ctx = this.canvas.getContext("2d");
    const frame = { ctx, k, ox, oy };
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, width, height);
    bitmaps.begin();
    const seen = store.fromBelow.filter((piece) => inBox(store, piece, ox, oy, ox + wide, oy + high));
    for (const piece of seen) paintPiece(frame, piece, store.poseOf(piece.idx), bitmaps, palette.blank);
    for (const piece of seen) tint(frame, store, piece, palette, dpr);
    if (store.view.joins && !store.view.compare && !store.snapshot) {
      const shown = new Set(seen.map((piece) => piece.idx));
      const joins = store.state.joins.filter((join) => shown.has(join.i) && shown.has(join.j));
      paintJoins(frame, store, joins, dpr);
    }
    for (const piece of seen) label(frame, store, piece, dpr);
    bitmaps.end();
    this.#at = { scale: camera.scale, ox, oy, wide, high };
    this.stale = false;
    this.draws++;
  }
}

/** Placed, not in hand, and at least partly in the box. */
function inBox(store, piece, x0, y0, x1, y1) {
  if (store.draft?.shown.has(piece.idx) && !store.view.compare) return false;
  const center = store.centerOf(piece.idx);
  if (!center) return false;
  const r = piece.radius;
  return center[0] + r >= x0 && center[0] - r <= x1 && center[1] + r >= y0 && center[1] - r <= y1;
}

function tint(frame, store, piece, palette, dpr) {
  const pose = store.poseOf(piece.idx);
  const { color, outlines } = store.view;
  if (color === "confidence" && piece.confidence !== null) {
    fillPiece(frame, piece, pose, scaleColor(piece.confidence), 0.72);
    if (piece.confidence < 0.5) hatchPiece(frame, piece, pose, "#ffffff");
  }
  const right = store.truth?.right[piece.idx];
  if (color === "truth" && right !== undefined) {
    fillPiece(frame, piece, pose, right ? RIGHT : WRONG, 0.55);
    if (!right) hatchPiece(frame, piece, pose, "#ffffff");
  }
  if (outlines || color !== "picture") strokePiece(frame, piece, pose, palette.outline, dpr);
}

function label(frame, store, piece, dpr) {
  if (store.state.unit_px * frame.k < LABEL_PX * dpr) return;
  const center = store.centerOf(piece.idx);
  const size = Math.min(15, Math.max(10, 0.12 * store.state.unit_px * (frame.k / dpr))) * dpr;
  if (store.view.color === "confidence" && piece.confidence !== null) {
    const ink = inkOn(piece.confidence);
    paintLabel(frame, center, `${Math.round(piece.confidence * 100)}`, size, ink, ink === "#ffffff" ? "#101318" : "#ffffff");
  }
  if (store.view.color === "truth" && store.truth?.right[piece.idx] !== undefined) {
    paintLabel(frame, center, store.truth.right[piece.idx] ? "✓" : "✗", size * 1.4, "#ffffff", "#101318");
  }
  if (piece.pinned) paintLabel(frame, [center[0], center[1] + (1.6 * size) / frame.k], "pinned", size * 0.85, "#101318", "#ffffff");
}
