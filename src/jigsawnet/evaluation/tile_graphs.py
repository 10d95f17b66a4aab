"""Graphs of square tiles: the true joins of a grid and many times as many false ones, each of them plausible.

False joins lay whole sides on each other too, so they close loops by chance, as false joins of real pieces do at worst.
"""

from __future__ import annotations

import math

import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.graph import build_graph
from jigsawnet.raster import ShapeBank, build_bank
from jigsawnet.types import Alignment, Assembly, Contour, FloatArray, MatchGraph

TILE_PX = 60.0
_PER_SIDE = 20
_NOISE_PX, _NOISE_RAD = 0.3, 0.003


def make_tile_graph(
    rows: int, columns: int, false_per_true: float, rng: np.random.Generator
) -> tuple[MatchGraph, ShapeBank, Assembly]:
    """A grid of tiles, each turned by some quarters: the graph, the pieces and the truth.

    True joins score 0.5 to 1, false ones 0 to 0.9, both uniformly: no threshold tells them apart.
    """
    n = rows * columns
    half = TILE_PX / 2
    truth = {k: SE2(float(rng.integers(4)) * math.pi / 2, (k % columns) * TILE_PX, (k // columns) * TILE_PX) for k in range(n)}
    truth = {k: pose @ SE2(0.0, -half, -half) for k, pose in truth.items()}
    sides = [(k, k + 1) for k in range(n) if (k + 1) % columns] + [(k, k + columns) for k in range(n - columns)]
    joins = [(i, j, truth[i].inverse() @ truth[j]) for i, j in sides]
    scores = list(rng.uniform(0.5, 1.0, len(joins)))
    for _ in range(round(false_per_true * len(sides))):
        i, j = sorted(int(v) for v in rng.choice(n, 2, replace=False))
        joins.append((i, j, _side_on_side(int(rng.integers(4)), int(rng.integers(4)))))
        scores.append(float(rng.uniform(0.0, 0.9)))
    alignments = [Alignment(i, j, _shaken(pose, rng), score) for (i, j, pose), score in zip(joins, scores, strict=True)]
    graph = build_graph(n, alignments, scores)
    return graph, build_bank([_tile(k) for k in range(n)]), Assembly(n, truth, (tuple(range(n)),))


def _side_on_side(side_i: int, side_j: int) -> SE2:
    """i_from_j that lays side ``side_j`` of one tile against side ``side_i`` of another."""
    half = TILE_PX / 2
    outwards = SE2(side_i * math.pi / 2, 0.0, 0.0) @ SE2(0.0, TILE_PX, 0.0)
    turned = SE2(math.pi - side_j * math.pi / 2, 0.0, 0.0)
    return SE2(0.0, half, half) @ outwards @ turned @ SE2(0.0, -half, -half)


def _shaken(pose: SE2, rng: np.random.Generator) -> SE2:
    shift_x, shift_y = rng.normal(0.0, _NOISE_PX, 2)
    return pose @ SE2(float(rng.normal(0.0, _NOISE_RAD)), float(shift_x), float(shift_y))


def _tile(idx: int) -> Contour:
    """A square from (0, 0) to (TILE_PX, TILE_PX), walked with the inside to the right."""
    along = np.arange(_PER_SIDE) * (TILE_PX / _PER_SIDE)
    zero, full = np.zeros(_PER_SIDE), np.full(_PER_SIDE, TILE_PX)
    sides = ((along, zero), (full, along), (TILE_PX - along, full), (zero, TILE_PX - along))
    points: FloatArray = np.concatenate([np.column_stack(side) for side in sides])
    inward = np.repeat(np.array([[0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [1.0, 0.0]]), _PER_SIDE, axis=0)
    return Contour(idx, points, inward, np.zeros((len(points), 3)), TILE_PX / _PER_SIDE)
