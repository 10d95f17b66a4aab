"""Where a component parts when a join is cut, and where the part that comes loose is put."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy

from jigsawnet.edits.arrangement import Arrangement, Pair, PieceSizes, connected, split
from jigsawnet.geometry import SE2, shelve
from jigsawnet.types import FloatArray, sort_components

GAP = 0.25
"""Room left beside a part that is put apart, as part of a piece's size."""
_DIRECTIONS = tuple((math.cos(k * math.pi / 4), math.sin(k * math.pi / 4)) for k in range(8))
_ACCEPTED_STRENGTH = 1_000_000
"""More than all other joins of a cut together."""


def part_at(pieces: PieceSizes, now: Arrangement, pair: Pair) -> Arrangement:
    """Cut a join and what must go with it; the side with fewer pieces, or the one that is not pinned, is put beside."""
    gone = weakest_cut(now, *pair)
    joins = {other: join for other, join in now.joins.items() if other not in gone}
    component = now.component_of(pair[0])
    rest = [other for other in now.components if other != component]
    parts = split(component, component, now.joins, joins)
    result = replace(now, components=sort_components([*rest, *parts])).with_joins(joins)
    sides = [result.component_of(idx) for idx in pair]
    free = [side for side in sides if now.pinned.isdisjoint(side)]
    if sides[0] == sides[1] or not free:
        return result
    loose = min(free, key=lambda side: (len(side), -side[0]))
    return replace(result, poses=dict(result.poses) | beside(pieces, result.poses, loose))


def weakest_cut(now: Arrangement, i: int, j: int) -> set[Pair]:
    """The join of i and j, and the weakest others that must go with it so that the two are no longer connected.

    A minimum cut: the joins between what i still reaches in the residual graph of a maximum flow to j, and the rest.
    """
    cut = {(i, j)}
    rest = [pair for pair in now.joins if pair != (i, j)]
    members = next(part for part in connected(now.poses, rest) if i in part)
    if j not in members:
        return cut
    order = sorted(members)
    number = {idx: k for k, idx in enumerate(order)}
    inside = [pair for pair in rest if pair[0] in number]
    strength = [_strength(now, pair) for pair in inside]
    a, b = ([number[pair[side]] for pair in inside] for side in (0, 1))
    shape = (len(order), len(order))
    capacity = scipy.sparse.csr_array((np.array(strength * 2, np.int32), (np.array(a + b), np.array(b + a))), shape=shape)
    flow = scipy.sparse.csgraph.maximum_flow(capacity, number[i], number[j]).flow
    residual = scipy.sparse.csr_array(capacity - flow)
    residual.eliminate_zeros()
    side = {order[k] for k in scipy.sparse.csgraph.breadth_first_order(residual, number[i], return_predecessors=False)}
    return cut | {pair for pair in inside if (pair[0] in side) != (pair[1] in side)}


def _strength(now: Arrangement, pair: Pair) -> int:
    """How hard a join is to part, in thousandths of nepers of doubt; what a person has accepted goes last."""
    if pair in now.accepted:
        return _ACCEPTED_STRENGTH
    doubt = 1.0 - min(max(now.joins[pair].confidence, 0.0), 1.0 - 1e-4)
    return 1 + round(-1000.0 * math.log(doubt))


def beside(pieces: PieceSizes, poses: Mapping[int, SE2], moving: Collection[int]) -> dict[int, SE2]:
    """New poses of ``moving``: shifted the shortest way, in one of eight directions, to where their boxes meet no other."""
    fixed = [idx for idx in sorted(poses) if idx not in moving]
    loose = sorted(moving)
    if not fixed or not loose:
        return {idx: poses[idx] for idx in loose}
    still, moved = _boxes(pieces, poses, fixed, room_px(pieces)), _boxes(pieces, poses, loose, 0.0)
    shifts = [(_free_shift(still, moved, direction), k) for k, direction in enumerate(_DIRECTIONS)]
    length, k = min(shifts)
    dx, dy = (length * part for part in _DIRECTIONS[k])
    return {idx: SE2(poses[idx].theta, poses[idx].x + dx, poses[idx].y + dy) for idx in loose}


def room_px(pieces: PieceSizes) -> float:
    """Room between parts that are put beside each other."""
    return GAP * float(np.median([max(size) for size in pieces.sizes]))


def make_room(pieces: PieceSizes, now: Arrangement, moved: Collection[int]) -> Arrangement:
    """Pages that lie on the pages of ``moved`` pieces are put beside them, unless they are pinned."""
    own = {idx for component in now.components if not set(component).isdisjoint(moved) for idx in component}
    poses = dict(now.poses)
    kept = _boxes(pieces, poses, sorted(own), 0.0)
    for other in now.components:
        if own.isdisjoint(other) and now.pinned.isdisjoint(other) and _meet(kept, _boxes(pieces, poses, other, 0.0)):
            poses |= beside(pieces, poses, other)
    return replace(now, poses=poses)


def _meet(boxes: FloatArray, others: FloatArray) -> bool:
    """True when one of the boxes ``(K, 2, 2)`` meets one of the others."""
    low, high = boxes[:, None, :, 0], boxes[:, None, :, 1]
    return bool(((low < others[None, :, :, 1]) & (high > others[None, :, :, 0])).all(axis=2).any())


def box_around(pieces: PieceSizes, poses: Mapping[int, SE2], chosen: Collection[int]) -> tuple[FloatArray, FloatArray]:
    """Corners of the upright box around the pictures of some pieces."""
    boxes = _boxes(pieces, poses, chosen, 0.0)
    return boxes[:, :, 0].min(0), boxes[:, :, 1].max(0)


def in_rows(pieces: PieceSizes, poses: Mapping[int, SE2], groups: Sequence[Collection[int]]) -> dict[int, SE2]:
    """New poses of groups, each shifted as a whole: in rows with room between them, below all pieces of no group."""
    loose = {idx for group in groups for idx in group}
    still, room = [idx for idx in poses if idx not in loose], math.ceil(room_px(pieces))
    ends = [box_around(pieces, poses, group) for group in groups]
    sizes = [(math.ceil(float(high[0] - low[0])), math.ceil(float(high[1] - low[1]))) for low, high in ends]
    corners, _, _ = shelve(sizes, room)
    left, top = _below(box_around(pieces, poses, still), room) if still else (0.0, 0.0)
    found: dict[int, SE2] = {}
    for group, (low, _), corner in zip(groups, ends, corners, strict=True):
        dx, dy = left + corner[0] - float(low[0]), top + corner[1] - float(low[1])
        found |= {idx: replace(poses[idx], x=poses[idx].x + dx, y=poses[idx].y + dy) for idx in group}
    return found


def _below(box: tuple[FloatArray, FloatArray], room: int) -> tuple[float, float]:
    return float(box[0][0]), float(box[1][1]) + room


def _boxes(pieces: PieceSizes, poses: Mapping[int, SE2], chosen: Collection[int], margin: float) -> FloatArray:
    """``(K, 2, 2)``: for x and y the ends of the upright box around each piece's picture."""
    rows = []
    for idx in chosen:
        width, height = pieces.sizes[idx]
        corners = poses[idx] @ np.array([(0.0, 0.0), (width, 0.0), (0.0, height), (width, height)]) - 0.5
        rows.append(np.stack([corners.min(0) - margin, corners.max(0) + margin], axis=1))
    return np.array(rows)


def _free_shift(still: FloatArray, moved: FloatArray, direction: tuple[float, float]) -> float:
    """The smallest shift along a direction after which no box meets one that lies still."""
    enter = np.full((len(still), len(moved)), -np.inf)
    leave = np.full_like(enter, np.inf)
    for axis in (0, 1):
        low = still[:, None, axis, 0] - moved[None, :, axis, 1]
        high = still[:, None, axis, 1] - moved[None, :, axis, 0]
        speed = direction[axis]
        if abs(speed) < 1e-9:
            apart = (low >= 0) | (high <= 0)
            enter = np.where(apart, np.inf, enter)
        else:
            first, last = (low / speed, high / speed) if speed > 0 else (high / speed, low / speed)
            enter, leave = np.maximum(enter, first), np.minimum(leave, last)
    met = enter < leave
    shift = 0.0
    for start, stop in sorted(zip(enter[met].tolist(), leave[met].tolist(), strict=True)):
        if start > shift + 1e-9:
            break
        shift = max(shift, stop)
    return shift
