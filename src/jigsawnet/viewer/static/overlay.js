/** What lies over the resting picture and changes often: pieces in hand, proposed places, hover, selection, the turning handle. */
import { WRONG } from "./colors.js";
import { percent } from "./dom.js";
import { apply, boxOf, middleOf } from "./pose.js";
import { leavePiece, paintLabel, paintPiece, paintSeam, strokePiece, toDevice } from "./paint.js";

export const HANDLE_PX = 26;
export const HANDLE_RADIUS_PX = 8;

export function paintOverlay(frame, store, bitmaps, palette, dpr) {
  if (store.view.color === "truth") paintTrueWays(frame, store, dpr);
  paintGuesses(frame, store, bitmaps, palette, dpr);
  if (store.ghost) paintGhost(frame, store, bitmaps, palette, dpr);
  if (store.draft && !store.view.compare) paintDraft(frame, store, bitmaps, palette, dpr);
  if (store.hover) paintMark(frame, store, store.hover, palette, 1.5 * dpr);
  for (const idx of store.marked) paintMark(frame, store, { kind: "piece", idx }, palette, 1.5 * dpr);
  if (store.selection) paintMark(frame, store, store.selection, palette, 2.5 * dpr);
  paintHandle(frame, store, palette, dpr);
  leavePiece(frame);
}

function paintMark(frame, store, what, palette, width) {
  if (what.kind === "join") {
    const join = store.join(what.i, what.j);
    if (join && !store.view.compare && !store.draft && !store.snapshot) paintSeam(frame, join.seam, palette.accent, palette.casing, width + 1);
    return;
  }
  for (const idx of store.handful(what.idx, store.view.wholeComponent)) {
    const pose = store.poseOf(idx);
    if (!pose) continue;
    strokePiece(frame, store.pieces[idx], pose, palette.casing, 2 * width);
    strokePiece(frame, store.pieces[idx], pose, palette.accent, width);
  }
}

function paintDraft(frame, store, bitmaps, palette, dpr) {
  for (const [idx, pose] of store.draft.shown) {
    paintPiece(frame, store.pieces[idx], pose, bitmaps, palette.blank);
    if (store.draft.snap) strokePiece(frame, store.pieces[idx], pose, palette.accent, 4 * dpr);
    else strokePiece(frame, store.pieces[idx], pose, palette.accent, 2 * dpr, [6 * dpr, 4 * dpr]);
  }
}

/** Places where a piece could lie, as pictures, each with its number and how likely it is. */
function paintGhost(frame, store, bitmaps, palette, dpr) {
  const { idx, places, active } = store.ghost;
  const piece = store.pieces[idx];
  places.forEach(({ pose }, k) => {
    frame.ctx.globalAlpha = k === active ? 0.9 : 0.55;
    paintPiece(frame, piece, pose, bitmaps, palette.blank);
    frame.ctx.globalAlpha = 1;
    strokePiece(frame, piece, pose, palette.casing, 4 * dpr);
    strokePiece(frame, piece, pose, palette.accent, 2 * dpr, [6 * dpr, 4 * dpr]);
  });
  places.forEach(({ pose, score }, k) => {
    const number = places.length > 1 ? `${k + 1}: ` : "";
    paintLabel(frame, apply(pose, piece.center), `${number}${percent(score)}`, 15 * dpr, palette.accent, palette.casing);
  });
}

/** Best guesses, pale and dashed, with how likely they are, and the pieces of the tray beside which they are. */
function paintGuesses(frame, store, bitmaps, palette, dpr) {
  const guesses = store.shownGuesses().filter(({ idx }) => store.ghost?.idx !== idx);
  const drawn = new Map(guesses.map(({ idx, pose }) => [idx, pose]));
  for (const { beside, ground } of guesses) if (!drawn.has(beside) && !store.poseOf(beside)) drawn.set(beside, ground);
  for (const [idx, pose] of drawn) {
    frame.ctx.globalAlpha = 0.4;
    paintPiece(frame, store.pieces[idx], pose, bitmaps, palette.blank);
    frame.ctx.globalAlpha = 1;
    strokePiece(frame, store.pieces[idx], pose, palette.outline, 1.5 * dpr, [4 * dpr, 5 * dpr]);
  }
  for (const { idx, pose, probability } of guesses) {
    paintLabel(frame, apply(pose, store.pieces[idx].center), `guess ${percent(probability)}`, 12 * dpr, palette.accent, palette.casing);
  }
}

/** From each piece that lies wrong, a line to where it belongs. */
function paintTrueWays(frame, store, dpr) {
  const { ctx } = frame;
  leavePiece(frame);
  ctx.strokeStyle = WRONG;
  ctx.lineWidth = 1.5 * dpr;
  ctx.setLineDash([4 * dpr, 4 * dpr]);
  ctx.beginPath();
  for (const [idx, right] of Object.entries(store.truth?.right ?? {})) {
    const [from, pose] = [store.centerOf(idx), store.truth.poses[idx]];
    if (right || !from || !pose) continue;
    ctx.moveTo(...toDevice(frame, from));
    ctx.lineTo(...toDevice(frame, apply(pose, store.pieces[idx].center)));
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

/** The piece or component that the handle turns: its middle and half its height in the world, or null. */
export function turningDisc(store) {
  if (store.selection?.kind !== "piece" || store.busy || store.view.compare) return null;
  const members = store.handful(store.selection.idx, store.view.wholeComponent).filter((idx) => store.poseOf(idx));
  const box = members.length > 1 ? store.boxOfPieces(members) : boxOf(members.flatMap((idx) => outlineInWorld(store, idx)));
  if (!box) return null;
  return { center: middleOf(box), radius: (box[3] - box[1]) / 2 };
}

const outlineInWorld = (store, idx) => store.pieces[idx].outline.map((point) => apply(store.poseOf(idx), point));

function paintHandle(frame, store, palette, dpr) {
  const disc = turningDisc(store);
  if (!disc) return;
  const { ctx, k } = frame;
  leavePiece(frame);
  const [x, y] = toDevice(frame, disc.center);
  const top = y - disc.radius * k;
  for (const [color, width] of [[palette.casing, 4], [palette.accent, 2]]) {
    ctx.strokeStyle = color;
    ctx.lineWidth = width * dpr;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top - (HANDLE_PX - HANDLE_RADIUS_PX) * dpr);
    ctx.stroke();
  }
  ctx.beginPath();
  ctx.arc(x, top - HANDLE_PX * dpr, HANDLE_RADIUS_PX * dpr, 0, 2 * Math.PI);
  ctx.fillStyle = palette.casing;
  ctx.fill();
  ctx.stroke();
}
