"""One solved puzzle as a strip of three pictures: the pieces, the result, and the truth with what went wrong outlined."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import cv2
import numpy as np

from jigsawnet.evaluation.metrics import right_pieces
from jigsawnet.evaluation.neighbors import outer_contour
from jigsawnet.geometry import SE2
from jigsawnet.render import render_assembly
from jigsawnet.render.layout import lay_out
from jigsawnet.types import Assembly, Fragment, Puzzle, UInt8Array

PANEL = (360, 250)
"""Width and height of each of the three pictures, in px."""
GAP_PX = 8
WRONG = (213, 94, 0)
UNPLACED = (0, 114, 178)
"""Vermilion and blue, which everybody can tell apart."""
_LONG_SIDE_PX = 900.0
"""Pieces are drawn as if the picture were about this large."""
_FADED = 0.35


def draw_result(puzzle: Puzzle, truth: Assembly, assembly: Assembly) -> UInt8Array:
    """A strip ``(PANEL height, 3 panels wide, 3)`` RGB.

    Pieces in a wrong place are outlined in vermilion, pieces left out in blue, both in the result and in the truth.
    """
    right = right_pieces(puzzle, assembly, truth)
    marks = {idx: WRONG if idx in assembly.poses else UNPLACED for idx in range(len(puzzle)) if idx not in right}
    scale = _scale(puzzle)
    small = Puzzle(puzzle.name, tuple(_shrink(fragment, scale) for fragment in puzzle.fragments))
    unsorted = Assembly(len(puzzle), {}, ())
    panels = [
        _panel(small, unsorted, {}),
        _panel(small, _shrink_poses(_turn_to_truth(assembly, truth), scale), marks),
        _panel(small, _shrink_poses(truth, scale), marks, faded=True),
    ]
    gap = np.full((PANEL[1], GAP_PX, 3), 255, np.uint8)
    return np.hstack([panels[0], gap, panels[1], gap, panels[2]])


def _scale(puzzle: Puzzle) -> float:
    area = sum(int(np.count_nonzero(fragment.mask)) for fragment in puzzle.fragments)
    return min(1.0, _LONG_SIDE_PX / max(1.0, math.sqrt(1.5 * area)))


def _shrink(fragment: Fragment, scale: float) -> Fragment:
    height, width = fragment.mask.shape
    size = max(2, round(width * scale)), max(2, round(height * scale))
    coverage = cv2.resize(fragment.mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    paper = cv2.resize(fragment.image * fragment.mask[..., None].astype(np.float32), size, interpolation=cv2.INTER_AREA)
    image = np.rint(paper / np.maximum(coverage, 1e-6)[..., None])
    return dataclasses.replace(fragment, image=np.clip(image, 0, 255).astype(np.uint8), mask=coverage >= 0.5)


def _turn_to_truth(assembly: Assembly, truth: Assembly) -> Assembly:
    """Turn every component by quarters, so that most of it lies as in the truth."""
    poses: dict[int, SE2] = {}
    for component in assembly.components:
        turns = [truth.poses[idx].theta - assembly.poses[idx].theta for idx in component if idx in truth.poses]
        mean = np.angle(np.exp(1j * np.array(turns)).sum()) if turns else 0.0
        quarters = SE2(round(float(mean) / (math.pi / 2)) * (math.pi / 2), 0.0, 0.0)
        poses |= {idx: quarters @ assembly.poses[idx] for idx in component}
    return dataclasses.replace(assembly, poses=poses)


def _shrink_poses(assembly: Assembly, scale: float) -> Assembly:
    poses = {idx: SE2(pose.theta, scale * pose.x, scale * pose.y) for idx, pose in assembly.poses.items()}
    return dataclasses.replace(assembly, poses=poses)


def _panel(puzzle: Puzzle, assembly: Assembly, marks: Mapping[int, tuple[int, int, int]], faded: bool = False) -> UInt8Array:
    """All pieces as they lie, the unplaced below, with outlines, on white, as large as fits the panel."""
    layout = lay_out(puzzle, assembly, with_unplaced=True)
    rgba = render_assembly(puzzle, assembly, with_unplaced=True)
    alpha = rgba[..., 3:].astype(np.float32) / 255.0 * (_FADED if faded and marks else 1.0)
    canvas = np.ascontiguousarray(np.rint(rgba[..., :3] * alpha + 255.0 * (1.0 - alpha)).astype(np.uint8))
    shrink = min(PANEL[0] / canvas.shape[1], PANEL[1] / canvas.shape[0], 1.0)
    thickness = max(1, round(2.0 / shrink))
    for idx, color in marks.items():
        border = layout.canvas_from_fragment[idx] @ outer_contour(puzzle.fragments[idx])
        if len(border):
            cv2.polylines(canvas, [np.rint(border).astype(np.int32).reshape(-1, 1, 2)], True, color, thickness)
    return _fit(canvas, shrink)


def _fit(canvas: UInt8Array, shrink: float) -> UInt8Array:
    """Shrink a picture and centre it on a white panel."""
    size = max(1, int(canvas.shape[1] * shrink)), max(1, int(canvas.shape[0] * shrink))
    small = np.asarray(cv2.resize(canvas, size, interpolation=cv2.INTER_AREA), np.uint8)
    panel = np.full((PANEL[1], PANEL[0], 3), 255, np.uint8)
    top, left = (PANEL[1] - size[1]) // 2, (PANEL[0] - size[0]) // 2
    panel[top : top + size[1], left : left + size[0]] = small
    return panel
