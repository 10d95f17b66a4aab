"""Where each piece lies in one picture: components upright, packed in rows, unplaced pieces as a tray below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import cv2
import numpy as np

from jigsawnet.geometry import SE2, shelve
from jigsawnet.types import Assembly, FloatArray, Piece, Puzzle

MARGIN_PX = 24
"""Default distance between components, and between pieces of the tray."""
_SLACK_PX = 0.05
"""A box may stick out of its whole number of pixels by this much: rounding must not add a row or a column."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A canvas of ``width x height`` pixels, the centre of its top-left pixel at (0, 0), and where the pieces lie in it.

    ``canvas_from_piece`` holds every drawn piece: those of the components and those in ``tray`` (unplaced ones).
    """

    canvas_from_piece: Mapping[int, SE2]
    width: int
    height: int
    tray: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "canvas_from_piece", MappingProxyType(dict(self.canvas_from_piece)))


def straighten_components(puzzle: Puzzle, assembly: Assembly) -> Assembly:
    """Turn every component so that its smallest bounding rectangle is axis-aligned and begins at (0, 0).

    Of the four ways to do so the one with the smallest turn is taken (at most 45 degrees). Joins and confidences stay as they
    are: only the frames of the components change.
    """
    poses: dict[int, SE2] = {}
    for component in assembly.components:
        shape = {idx: assembly.poses[idx] for idx in component}
        turn = SE2(_upright_turn(_outline_points(puzzle, shape)), 0.0, 0.0)
        turned = {idx: turn @ pose for idx, pose in shape.items()}
        x, y = _outline_points(puzzle, turned).min(axis=0)
        poses.update({idx: replace(pose, x=pose.x - float(x), y=pose.y - float(y)) for idx, pose in turned.items()})
    return replace(assembly, poses=poses)


def stand_upright(puzzle: Puzzle, assembly: Assembly, ups: Mapping[int, float]) -> Assembly:
    """Every component with a piece of which it is known which way is up, turned by quarters so that it is up.

    ``ups`` are directions in the frames of the pieces; several of one component are heard together.
    """
    poses = dict(assembly.poses)
    for component in assembly.components:
        ways = [poses[idx].theta + ups[idx] for idx in component if idx in ups]
        if not ways:
            continue
        mean = math.atan2(sum(map(math.sin, ways)), sum(map(math.cos, ways)))
        quarters = round(math.remainder(-math.pi / 2 - mean, 2 * math.pi) / (math.pi / 2))
        turn = SE2(quarters * math.pi / 2, 0.0, 0.0)
        poses |= {idx: turn @ poses[idx] for idx in component} if quarters else {}
    return begin_at_zero(puzzle, replace(assembly, poses=poses)) if poses != dict(assembly.poses) else assembly


def begin_at_zero(puzzle: Puzzle, assembly: Assembly) -> Assembly:
    """Every component in a frame of its own that begins at (0, 0), turned as it is."""
    poses: dict[int, SE2] = {}
    for component in assembly.components:
        shape = {idx: assembly.poses[idx] for idx in component}
        x, y = _outline_points(puzzle, shape).min(axis=0)
        poses |= {idx: replace(pose, x=pose.x - float(x), y=pose.y - float(y)) for idx, pose in shape.items()}
    return replace(assembly, poses=poses)


def lay_out(puzzle: Puzzle, assembly: Assembly, *, with_unplaced: bool = False, margin_px: int = MARGIN_PX) -> Layout:
    """Place the components of ``assembly`` side by side, the largest at the top left, by translation only.

    Args:
        puzzle: The pieces.
        assembly: Their poses, each component in a frame of its own.
        with_unplaced: Also place the unplaced pieces, in rows below the picture.
        margin_px: Distance between components, and between pieces of the tray.
    """
    components = [{idx: assembly.poses[idx] for idx in component} for component in assembly.components]
    tray = assembly.unplaced if with_unplaced else ()
    picture, width, height = pack(puzzle, components, margin_px, row_width=0)
    below, tray_width, tray_height = pack(puzzle, [{idx: SE2.identity()} for idx in tray], margin_px, row_width=width)
    top = height + margin_px if height and tray_height else height
    poses = picture | {idx: replace(pose, y=pose.y + top) for idx, pose in below.items()}
    return Layout(poses, max(width, tray_width, 1), max(top + tray_height, 1), tray)


def outline(piece: Piece) -> FloatArray:
    """Border pixels of the mask, ``(N, 2)`` px in the piece's frame; the corner (0, 0) for a piece without paper."""
    curves, _ = cv2.findContours(piece.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    if not curves:
        return np.zeros((1, 2))
    return np.concatenate([curve.reshape(-1, 2) for curve in curves]).astype(np.float64)


def simple_outline(piece: Piece, tolerance_px: float) -> FloatArray:
    """The outer border with few points, ``(N, 2)`` px in the piece's frame."""
    curves, _ = cv2.findContours(piece.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    if not curves:
        return np.zeros((1, 2))
    largest = max(curves, key=cv2.contourArea)
    return np.asarray(cv2.approxPolyDP(largest, tolerance_px, True), dtype=np.float64).reshape(-1, 2)


def _outline_points(puzzle: Puzzle, poses: Mapping[int, SE2]) -> FloatArray:
    """Border pixels of several pieces, carried by ``poses`` into one frame; (N, 2)."""
    return np.concatenate([pose @ outline(puzzle.pieces[idx]) for idx, pose in poses.items()])


def _upright_turn(points: FloatArray) -> float:
    """The smallest turn, in (-pi/4, pi/4], that makes the minimum-area rectangle around ``points`` axis-aligned."""
    centred = (points - points.mean(axis=0)).astype(np.float32)  # float32 keeps its digits only near the origin
    _, _, degrees = cv2.minAreaRect(centred)
    turn = -math.remainder(math.radians(degrees), math.pi / 2)
    return turn + math.pi / 2 if turn < -math.pi / 4 + 1e-6 else turn


def pack(
    puzzle: Puzzle, components: Iterable[Mapping[int, SE2]], margin_px: int, row_width: int
) -> tuple[dict[int, SE2], int, int]:
    """Pack components or single pieces into rows; gives poses in the packed frame, width and height used (0, 0 for none)."""
    components = list(components)
    bounds = [(points.min(axis=0), points.max(axis=0)) for points in (_outline_points(puzzle, c) for c in components)]
    sizes = [(_cells(high[0] - low[0]), _cells(high[1] - low[1])) for low, high in bounds]
    corners, width, height = shelve(sizes, margin_px, row_width)
    poses: dict[int, SE2] = {}
    for component, (low, _), (left, top) in zip(components, bounds, corners, strict=True):
        x, y = left - float(low[0]), top - float(low[1])
        poses.update({idx: replace(pose, x=pose.x + x, y=pose.y + y) for idx, pose in component.items()})
    return poses, width, height


def _cells(span_px: float) -> int:
    """Pixels needed by centres that are ``span_px`` apart."""
    return math.ceil(span_px - _SLACK_PX) + 1
