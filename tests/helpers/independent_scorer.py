"""A second opinion on results, read from files alone: nothing of the product is used, not even its geometry.

Poses are 3 x 3 matrices on columns (x, y, 1). ``assembly.json`` names pieces by their files; ``groundTruth.txt`` holds, for the
pieces in the order of their names, a number and a matrix on (row, column, 1) in turns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from scipy.spatial import cKDTree

Matrix = np.ndarray[Any, np.dtype[np.float64]]

SWAP = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
IN_PLACE, TIGHT, JOINED = (5.0, 100.0), (2.0, 5.0), (5.0, 30.0)
"""Degrees and px that a piece, or piece j of a join, may be off at its centroid."""
TOUCHING_SHARE = 0.04
"""Neighbours touch along more than this part of the shorter outline."""


def score(folder: Path, assembly_file: Path, gap_px: float = 5.0) -> dict[str, float | None]:
    """Shares of pieces in place (loosely, tightly), of joins that are right, of neighbours joined, of pieces held together."""
    pieces = {path.name: _outline(path) for path in sorted(folder.glob("fragment_*.png"))}
    truth = dict(zip(pieces, _true_matrices(folder / "groundTruth.txt"), strict=True))
    result = json.loads(assembly_file.read_text(encoding="utf-8"))
    parts: dict[int, dict[str, Matrix]] = {}
    for fragment in result["fragments"]:
        if fragment["world_from_fragment"] is not None:
            name = Path(fragment["name"]).name
            parts.setdefault(fragment["component"], {})[name] = np.array(fragment["world_from_fragment"], float)
    right = []
    for join in result["alignments"]:
        i, j = Path(join["i"]).name, Path(join["j"]).name
        if _is_near(np.array(join["i_from_j"], float), np.linalg.inv(truth[i]) @ truth[j], pieces[j][1], JOINED):
            right.append((min(i, j), max(i, j)))
    neighbors = set(_neighbors(pieces, truth, gap_px))
    return {
        "n": len(pieces),
        "placed": sum(len(part) for part in parts.values()),
        "in_place": _most_in_place(pieces, truth, parts, IN_PLACE) / len(pieces),
        "tight": _most_in_place(pieces, truth, parts, TIGHT) / len(pieces),
        "joins_right": len(right) / len(result["alignments"]) if result["alignments"] else None,
        "neighbors_joined": len(neighbors.intersection(right)) / max(1, len(neighbors)),
        "held_together": _largest_group(list(pieces), right) / len(pieces),
    }


def score_strips(folder: Path, assembly_file: Path, rise_px: float = 40.0) -> dict[str, float | None]:
    """Neighbours in the order of ``truth.json`` (file → place from the left) that lie side by side in one component.

    Side by side: within 5 degrees, the right one's middle 0.4 to 1.4 mean widths further right, at most ``rise_px`` up or down.
    """
    place = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    result = json.loads(assembly_file.read_text(encoding="utf-8"))
    lying: dict[int, tuple[Matrix, int, Matrix, int]] = {}
    for fragment in result["fragments"]:
        name = Path(fragment["name"]).name
        if fragment["world_from_fragment"] is not None:
            height, width = cv2.imread(str(folder / "pieces" / name), cv2.IMREAD_UNCHANGED).shape[:2]
            matrix = np.array(fragment["world_from_fragment"], float)
            lying[place[name]] = matrix, fragment["component"], np.array([width / 2, height / 2, 1.0]), width

    def beside(left: int) -> bool:
        if left not in lying or left + 1 not in lying or lying[left][1] != lying[left + 1][1]:
            return False
        (one, _, middle, width), (two, _, other_middle, other_width) = lying[left], lying[left + 1]
        across = np.linalg.inv(one) @ two
        step, rise = (across @ other_middle - middle)[:2]
        turn = np.degrees(np.arctan2(across[1, 0], across[0, 0]))
        return bool(abs(turn) < 5 and 0.4 < 2 * step / (width + other_width) < 1.4 and abs(rise) < rise_px)

    pairs = [sorted(place[Path(join[end]).name] for end in ("i", "j")) for join in result["alignments"]]
    good = [b - a == 1 and beside(a) for a, b in pairs]
    right = sum(beside(left) for left in range(len(place) - 1))
    return {
        "n": len(place),
        "placed": len(lying),
        "pairs_right": right,
        "accuracy": right / (len(place) - 1),
        "join_precision": sum(good) / len(good) if good else None,
    }


def _true_matrices(path: Path) -> list[Matrix]:
    """Every second line, from (row, column) to (x, y)."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [SWAP @ np.array(cells, float).reshape(3, 3) @ SWAP for cells in lines[1::2]]


def _outline(path: Path) -> tuple[Matrix, Matrix]:
    """Pixels ``(N, 3)`` of the outer border of the largest part, and the centroid ``(3,)`` of all paper."""
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if picture.shape[2] == 4:
        paper = picture[..., 3] > 0
    else:
        key = [int(word) for word in (path.parent / "bg_color.txt").read_text(encoding="utf-8").split()]
        paper = (picture[..., ::-1] != key).any(axis=2)
    outlines, _ = cv2.findContours(paper.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=cv2.contourArea)[:, 0]
    rows, columns = np.nonzero(paper)
    return np.insert(outline.astype(float), 2, 1.0, axis=1), np.array([columns.mean(), rows.mean(), 1.0])


def _is_near(pose: Matrix, wanted: Matrix, centroid: Matrix, limits: tuple[float, float]) -> bool:
    turn = np.linalg.inv(wanted) @ pose
    degrees = abs(np.degrees(np.arctan2(turn[1, 0], turn[0, 0])))
    return bool(degrees < limits[0] and np.hypot(*((pose - wanted) @ centroid)[:2]) < limits[1])


def _most_in_place(
    pieces: dict[str, tuple[Matrix, Matrix]],
    truth: dict[str, Matrix],
    parts: dict[int, dict[str, Matrix]],
    limits: tuple[float, float],
) -> int:
    """The most pieces of one part that lie right when the whole part is moved so that one of its pieces does."""
    most = 0
    for part in parts.values():
        for anchor, pose in part.items():
            move = truth[anchor] @ np.linalg.inv(pose)
            most = max(most, sum(_is_near(move @ part[name], truth[name], pieces[name][1], limits) for name in part))
    return most


def _neighbors(pieces: dict[str, tuple[Matrix, Matrix]], truth: dict[str, Matrix], gap_px: float) -> Iterator[tuple[str, str]]:
    placed = {name: (outline @ truth[name].T)[:, :2] for name, (outline, _) in pieces.items()}
    names = sorted(placed)
    trees = {name: cKDTree(placed[name]) for name in names}
    for k, one in enumerate(names):
        for two in names[k + 1 :]:
            distance, _ = trees[two].query(placed[one], distance_upper_bound=gap_px)
            if np.isfinite(distance).sum() > TOUCHING_SHARE * min(len(placed[one]), len(placed[two])):
                yield one, two


def _largest_group(names: list[str], pairs: list[tuple[str, str]]) -> int:
    group = {name: {name} for name in names}
    for one, two in pairs:
        if group[one] is not group[two]:
            group[one] |= group[two]
            for name in group[two]:
                group[name] = group[one]
    return max(map(len, group.values()))
