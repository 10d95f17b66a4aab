/** Drawing single things: pieces, joins, marks. `frame` is `{ctx, k, ox, oy}`: k device px per world px, world (ox, oy) at 0, 0. */
import { GRADES, gradeOf } from "./colors.js";
import { pointAlong } from "./pose.js";

export const toDevice = (frame, [x, y]) => [(x - frame.ox) * frame.k, (y - frame.oy) * frame.k];

/** From here on, coordinates of the piece's own frame. */
export function enterPiece({ ctx, k, ox, oy }, pose) {
  const c = k * Math.cos(pose[0]), s = k * Math.sin(pose[0]);
  ctx.setTransform(c, s, -s, c, (pose[1] - ox) * k, (pose[2] - oy) * k);
}

export const leavePiece = ({ ctx }) => ctx.setTransform(1, 0, 0, 1, 0, 0);

/** The piece's picture, or its shape in one colour while the picture is on its way. */
export function paintPiece(frame, piece, pose, bitmaps, blank) {
  const { ctx } = frame;
  enterPiece(frame, pose);
  const bitmap = bitmaps.get(piece, piece.longest * frame.k);
  if (bitmap) {
    ctx.drawImage(bitmap, -0.5, -0.5, piece.width, piece.height);
  } else {
    ctx.fillStyle = blank;
    ctx.fill(piece.path);
  }
}

/** The outline of a piece, `width` device px. */
export function strokePiece(frame, piece, pose, color, width, dash = []) {
  const { ctx, k } = frame;
  enterPiece(frame, pose);
  ctx.strokeStyle = color;
  ctx.lineWidth = width / k;
  ctx.lineJoin = "round";
  ctx.setLineDash(dash.map((length) => length / k));
  ctx.stroke(piece.path);
  ctx.setLineDash([]);
}

export function fillPiece(frame, piece, pose, color, alpha) {
  const { ctx } = frame;
  enterPiece(frame, pose);
  ctx.globalAlpha = alpha;
  ctx.fillStyle = color;
  ctx.fill(piece.path);
  ctx.globalAlpha = 1;
}

/** Text in the middle of something, with a casing so that it is read on any picture. */
export function paintLabel(frame, at, text, size, ink, casing) {
  const { ctx } = frame;
  const [x, y] = toDevice(frame, at);
  leavePiece(frame);
  ctx.font = `600 ${size}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  ctx.lineWidth = size / 4;
  ctx.strokeStyle = casing;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = ink;
  ctx.fillText(text, x, y);
}

/** Slanted lines over a piece that is rather wrong than right: told apart without colour. */
export function hatchPiece(frame, piece, pose, color) {
  const { ctx } = frame;
  ctx.save();
  enterPiece(frame, pose);
  ctx.clip(piece.path);
  const step = 7 / frame.k;
  const [cx, cy] = piece.center;
  ctx.beginPath();
  for (let d = -2 * piece.radius; d <= 2 * piece.radius; d += step) {
    ctx.moveTo(cx - piece.radius + d, cy - piece.radius);
    ctx.lineTo(cx + piece.radius + d, cy + piece.radius);
  }
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5 / frame.k;
  ctx.stroke();
  ctx.restore();
}

/** Ends of the line that stands for a join: across its seam, towards the middles of both pieces. */
export function stitchOf(store, join) {
  const [a, b] = [store.centerOf(join.i), store.centerOf(join.j)];
  if (!a || !b || !join.seam.length) return null;
  const at = pointAlong(join.seam, 0.5);
  const reach = (end, r) => {
    const length = Math.hypot(end[0] - at[0], end[1] - at[1]) || 1;
    const share = Math.min(0.4, (0.2 * r) / length);
    return [at[0] + share * (end[0] - at[0]), at[1] + share * (end[1] - at[1])];
  };
  return [reach(a, store.pieces[join.i].radius), at, reach(b, store.pieces[join.j].radius)];
}

/** Width of the line of each grade, px: what is sure is quiet, what is doubtful speaks. */
const WIDTHS = [1.5, 2.5, 4, 5, 6];

/** All joins, thin where sure, drawn in a few strokes; joins a person accepted get a knot in the middle. */
export function paintJoins(frame, store, joins, dpr) {
  const { ctx } = frame;
  leavePiece(frame);
  ctx.lineCap = "round";
  const small = Math.min(1, (store.state.unit_px * frame.k) / (130 * dpr)); // less where pieces are small on the screen
  const paths = GRADES.map(() => new Path2D());
  const knots = new Path2D();
  for (const join of joins) {
    const stitch = stitchOf(store, join)?.map((point) => toDevice(frame, point));
    if (!stitch) continue;
    const path = paths[gradeOf(join.confidence)];
    stitch.forEach(([x, y], k) => (k ? path.lineTo(x, y) : path.moveTo(x, y)));
    if (join.status === "accepted") {
      knots.moveTo(stitch[1][0] + 5 * small * dpr, stitch[1][1]);
      knots.arc(...stitch[1], 5 * small * dpr, 0, 2 * Math.PI);
    }
  }
  paths.forEach((path, grade) => {
    const width = Math.max(1, WIDTHS[grade] * small * dpr);
    if (small > 0.3) {
      ctx.strokeStyle = "#101318";
      ctx.lineWidth = width + 2 * small * dpr;
      ctx.globalAlpha = 0.8;
      ctx.stroke(path);
      ctx.globalAlpha = 1;
    }
    ctx.strokeStyle = GRADES[grade].color;
    ctx.lineWidth = width;
    ctx.stroke(path);
  });
  ctx.fillStyle = "#ffffff";
  ctx.strokeStyle = "#101318";
  ctx.lineWidth = Math.max(1, 1.5 * small * dpr);
  ctx.fill(knots);
  ctx.stroke(knots);
}

/** The line of a seam, with a casing. */
export function paintSeam(frame, seam, color, casing, width) {
  const { ctx } = frame;
  leavePiece(frame);
  ctx.beginPath();
  seam.forEach((point, k) => (k ? ctx.lineTo(...toDevice(frame, point)) : ctx.moveTo(...toDevice(frame, point))));
  ctx.lineCap = ctx.lineJoin = "round";
  ctx.strokeStyle = casing;
  ctx.lineWidth = width + 3;
  ctx.stroke();
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.stroke();
}
