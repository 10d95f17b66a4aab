/** What lies under a point of the screen. */
import { HANDLE_PX, HANDLE_RADIUS_PX, turningDisc } from "./overlay.js";
import { stitchOf } from "./paint.js";
import { apply, inverse } from "./pose.js";

const JOIN_PX = 6;

/** `{kind: "join"}`, `{kind: "piece"}` or null, the topmost first. */
export function pick(store, camera, at) {
  return pickJoin(store, camera, at) ?? pickPiece(store, camera, at);
}

export function pickPiece(store, camera, at) {
  const point = camera.toWorld(at);
  for (const piece of store.fromBelow.toReversed()) {
    const center = store.centerOf(piece.idx);
    if (!center || Math.hypot(point[0] - center[0], point[1] - center[1]) > piece.radius) continue;
    if (isInside(piece.outline, apply(inverse(store.poseOf(piece.idx)), point))) return { kind: "piece", idx: piece.idx };
  }
  return null;
}

function pickJoin(store, camera, at) {
  const { joins, compare } = store.view;
  if (!joins || compare || store.snapshot || store.draft || store.state.unit_px * camera.scale < 24) return null;
  const point = camera.toWorld(at);
  let [best, nearest] = [null, JOIN_PX / camera.scale];
  for (const join of store.state.joins) {
    const stitch = stitchOf(store, join);
    if (!stitch) continue;
    const distance = Math.min(toSegment(point, stitch[0], stitch[1]), toSegment(point, stitch[1], stitch[2]));
    if (distance < nearest) [best, nearest] = [{ kind: "join", i: join.i, j: join.j }, distance];
  }
  return best;
}

/** Where the handle is that turns the selection, on the screen, or null. */
export function handleAt(store, camera) {
  const disc = turningDisc(store);
  if (!disc) return null;
  const [x, y] = camera.toScreen(disc.center);
  return [x, y - disc.radius * camera.scale - HANDLE_PX];
}

export function isOnHandle(store, camera, [x, y]) {
  const handle = handleAt(store, camera);
  return handle !== null && Math.hypot(x - handle[0], y - handle[1]) <= HANDLE_RADIUS_PX + 5;
}

/** Even-odd rule. */
export function isInside(outline, [x, y]) {
  let inside = false;
  for (let k = 0, last = outline.length - 1; k < outline.length; last = k++) {
    const [x0, y0] = outline[k], [x1, y1] = outline[last];
    if (y0 > y !== y1 > y && x < ((x1 - x0) * (y - y0)) / (y1 - y0) + x0) inside = !inside;
  }
  return inside;
}

function toSegment([x, y], [x0, y0], [x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const t = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x0 - t * dx, y - y0 - t * dy);
}
