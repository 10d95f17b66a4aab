"""Pictures of results: a strip for each solved puzzle, and the contact sheet of the worst of a suite."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont, ImageOps

from jigsawnet.errors import InputError
from jigsawnet.evaluation.metrics import right_pieces
from jigsawnet.evaluation.neighbors import outer_contour
from jigsawnet.geometry import SE2
from jigsawnet.io.images import read_image
from jigsawnet.render import render_assembly
from jigsawnet.render.layout import lay_out
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array
from jigsawnet_bench.methods import OURS
from jigsawnet_bench.records import Run, thumbnail_path

PANEL = (360, 250)
"""Width and height of each of the three pictures, in px."""
GAP_PX = 8
WRONG = (213, 94, 0)
UNPLACED = (0, 114, 178)
"""Vermilion and blue, which everybody can tell apart."""
_LONG_SIDE_PX = 900.0
"""Pieces are drawn as if the picture were about this large."""
_FADED = 0.35
MOST = 24
_LABEL_PX = 26
_JPEG_QUALITY = 80
_LEGEND = "pieces · result · truth; outlined: in a wrong place (orange) or left out (blue)"


def draw_result(puzzle: Puzzle, truth: Assembly, assembly: Assembly) -> UInt8Array:
    """A strip ``(PANEL height, 3 panels wide, 3)`` RGB: the pieces, the result, and the truth.

    Pieces in a wrong place are outlined in vermilion, pieces left out in blue, both in the result and in the truth.
    """
    right = right_pieces(puzzle, assembly, truth)
    marks = {idx: WRONG if idx in assembly.poses else UNPLACED for idx in range(len(puzzle)) if idx not in right}
    scale = _scale(puzzle)
    small = Puzzle(puzzle.name, tuple(_shrink(piece, scale) for piece in puzzle.pieces))
    unsorted = Assembly(len(puzzle), {}, ())
    panels = [
        _panel(small, unsorted, {}),
        _panel(small, _shrink_poses(_turn_to_truth(assembly, truth), scale), marks),
        _panel(small, _shrink_poses(truth, scale), marks, faded=True),
    ]
    gap = np.full((PANEL[1], GAP_PX, 3), 255, np.uint8)
    return np.hstack([panels[0], gap, panels[1], gap, panels[2]])


def draw_alone(puzzle: Puzzle, assembly: Assembly) -> UInt8Array:
    """A strip as wide as that of `draw_result`: the pieces and the result; pieces left out are outlined in blue."""
    scale = _scale(puzzle)
    small = Puzzle(puzzle.name, tuple(_shrink(piece, scale) for piece in puzzle.pieces))
    size = (3 * PANEL[0] + GAP_PX) // 2, 3 * PANEL[1] // 2
    panels = [
        _panel(small, Assembly(len(puzzle), {}, ()), {}, size=size),
        _panel(small, _shrink_poses(assembly, scale), dict.fromkeys(assembly.unplaced, UNPLACED), size=size),
    ]
    return np.hstack([panels[0], np.full((size[1], GAP_PX, 3), 255, np.uint8), panels[1]])


def _scale(puzzle: Puzzle) -> float:
    area = sum(int(np.count_nonzero(piece.mask)) for piece in puzzle.pieces)
    return min(1.0, _LONG_SIDE_PX / max(1.0, math.sqrt(1.5 * area)))


def _shrink(piece: Piece, scale: float) -> Piece:
    height, width = piece.mask.shape
    size = max(2, round(width * scale)), max(2, round(height * scale))
    coverage = cv2.resize(piece.mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    paper = cv2.resize(piece.image * piece.mask[..., None].astype(np.float32), size, interpolation=cv2.INTER_AREA)
    image = np.rint(paper / np.maximum(coverage, 1e-6)[..., None])
    return dataclasses.replace(piece, image=np.clip(image, 0, 255).astype(np.uint8), mask=coverage >= 0.5)


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


def _panel(
    puzzle: Puzzle,
    assembly: Assembly,
    marks: Mapping[int, tuple[int, int, int]],
    faded: bool = False,
    size: tuple[int, int] = PANEL,
) -> UInt8Array:
    """All pieces as they lie, the unplaced below, with outlines, on white, as large as fits the panel."""
    layout = lay_out(puzzle, assembly, with_unplaced=True)
    rgba = render_assembly(puzzle, assembly, with_unplaced=True)
    alpha = rgba[..., 3:].astype(np.float32) / 255.0 * (_FADED if faded and marks else 1.0)
    canvas = np.ascontiguousarray(np.rint(rgba[..., :3] * alpha + 255.0 * (1.0 - alpha)).astype(np.uint8))
    shrink = min(size[0] / canvas.shape[1], size[1] / canvas.shape[0], 1.0)
    thickness = max(1, round(2.0 / shrink))
    for idx, color in marks.items():
        border = layout.canvas_from_piece[idx] @ outer_contour(puzzle.pieces[idx])
        if len(border):
            cv2.polylines(canvas, [np.rint(border).astype(np.int32).reshape(-1, 1, 2)], True, color, thickness)
    return np.asarray(ImageOps.pad(Image.fromarray(canvas), size, color="white"), np.uint8)


def worst_first(runs: Sequence[Run]) -> list[Run]:
    """Solved puzzles of one method, the one with most pieces in wrong places first; each puzzle once."""
    solved = {run.key: run for run in runs if run.record.error is None}
    return sorted(
        solved.values(), key=lambda run: (run.record.measured["pcr"], run.record.measured["pcr_tight"], run.case.title)
    )


def write_contact_sheet(runs: Sequence[Run], work: Path, path: Path) -> None:
    """Stack the pictures of the worst runs of the method looked at, each with a line above, as a JPEG; ``work`` holds them.

    That is ours, or the last one.
    """
    methods = [run.method for run in runs]
    method = OURS if OURS in methods else methods[-1]
    chosen = worst_first([run for run in runs if run.method == method])[:MOST]
    write_sheet(f"{method}: {_LEGEND}", {run.key: _line(run) for run in chosen}, work, path)


def write_gallery(runs: Sequence[Run], work: Path, path: Path) -> None:
    """What every method made of the first puzzle of each group, one below the other; nothing where there is one method."""
    first = [run for run in runs if run.case.number == 0 and run.record.error is None]
    if len({run.method for run in first}) > 1:
        write_sheet(_LEGEND, {run.key: f"{run.method} · {_line(run)}" for run in first}, work, path)


def write_sheet(head: str, lines: Mapping[str, str], work: Path, path: Path) -> None:
    """Stack the pictures of runs, by their keys, each with its line above; those that are not there are passed over."""
    rows: list[UInt8Array] = []
    for key, line in lines.items():
        try:
            strip = read_image(thumbnail_path(work, key))[..., :3]
        except InputError:
            continue  # the working folder was emptied in part
        rows += [_label(line, strip.shape[1]), strip]
    if rows:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.vstack([_label(head, rows[0].shape[1]), *rows])).save(path, quality=_JPEG_QUALITY)


def _line(run: Run) -> str:
    measured = run.record.measured
    figures = f"PCR {100 * measured['pcr']:.1f} %, tight {100 * measured['pcr_tight']:.1f} %"
    return f"{run.case.group.kind.name} · {run.case.title} · seed {run.case.number} · {figures}"


def _label(text: str, width: int) -> UInt8Array:
    """A line of text on white, ``(_LABEL_PX, width, 3)``."""
    strip = Image.new("RGB", (width, _LABEL_PX), (255, 255, 255))
    ImageDraw.Draw(strip).text((6, 5), text, font=ImageFont.load_default(15), fill=(20, 20, 20))
    return np.asarray(strip, dtype=np.uint8).copy()
