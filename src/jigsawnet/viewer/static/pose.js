/** Rigid motions of the plane: a pose is [theta, x, y] (radians, px), `world_from_piece`. */

export function compose(a, b) {
  const c = Math.cos(a[0]), s = Math.sin(a[0]);
  return [wrapAngle(a[0] + b[0]), c * b[1] - s * b[2] + a[1], s * b[1] + c * b[2] + a[2]];
}

export function inverse(a) {
  const c = Math.cos(a[0]), s = Math.sin(a[0]);
  return [-a[0], -c * a[1] - s * a[2], s * a[1] - c * a[2]];
}

/** Carry the point [x, y]. */
export function apply(a, [x, y]) {
  const c = Math.cos(a[0]), s = Math.sin(a[0]);
  return [c * x - s * y + a[1], s * x + c * y + a[2]];
}

/** The motion of the world that turns by `angle` about the point [x, y]. */
export function turnAbout(angle, [x, y]) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return [angle, x - c * x + s * y, y - s * x - c * y];
}

/** The pose that turns a piece by `angle` and lays its point `center` on the point `at` of the world. */
export function layAt(angle, center, at) {
  const [x, y] = apply([angle, 0, 0], center);
  return [angle, at[0] - x, at[1] - y];
}

export function wrapAngle(angle) {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}

/** Smallest [x0, y0, x1, y1] that holds all points, or null when there are none. */
export function boxOf(points) {
  let box = null;
  for (const [x, y] of points) {
    if (!box) box = [x, y, x, y];
    else box = [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)];
  }
  return box;
}

/** The box around two boxes, of which either may be null. */
export const unite = (...boxes) => boxOf(boxes.flatMap((box) => (box ? [[box[0], box[1]], [box[2], box[3]]] : [])));

export const middleOf = (box) => [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];

/** The point at a share (0 to 1) of a line's length; the line has at least one point. */
export function pointAlong(line, share) {
  const lengths = line.slice(1).map(([x, y], k) => Math.hypot(x - line[k][0], y - line[k][1]));
  let left = share * lengths.reduce((sum, length) => sum + length, 0);
  for (const [k, length] of lengths.entries()) {
    if (left <= length && length > 0) {
      const t = left / length;
      return [line[k][0] + t * (line[k + 1][0] - line[k][0]), line[k][1] + t * (line[k + 1][1] - line[k][1])];
    }
    left -= length;
  }
  return line.at(-1);
}
