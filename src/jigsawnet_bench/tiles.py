"""Candidates of square tiles: the true joins of a grid and many times as many false ones, each of them plausible.

False joins put whole sides on each other too, so they close loops by chance, as false joins of real pieces do at worst.
"""

from __future__ import annotations

import math

import numpy as np

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.context import Context
from jigsawnet.evaluation.metrics import right_pieces
from jigsawnet.geometry import SE2, pose_row
from jigsawnet.types import Assembly, Contour, FloatArray, Piece, Puzzle
from jigsawnet_bench.methods import COMPOSERS
from jigsawnet_bench.results import Row

FALSE_PER_TRUE = (0, 2, 5, 10, 20)
TILE_PX = 60.0
_PER_SIDE = 20
_NOISE_PX, _NOISE_RAD = 0.3, 0.003


def make_tiles(
    rows: int, columns: int, false_per_true: float, rng: np.random.Generator
) -> tuple[Candidates, Borders, Assembly]:
    """A grid of tiles, each turned by some quarters: scored candidates, borders and the truth.

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
    poses = [pose_row(_shaken(pose, rng)) for _, _, pose in joins]
    found = Candidates.make([i for i, _, _ in joins], [j for _, j, _ in joins], poses, fit=scores)
    return (
        found.with_scores(np.array(scores)),
        build_borders([_tile(k) for k in range(n)]),
        Assembly(n, truth, (tuple(range(n)),)),
    )


def compose_tiles(false_per_true: float, seed: int, rows: int = 6, columns: int = 6) -> list[Row]:
    """A grid of tiles with many false joins: how far each composer gets."""
    found, borders, truth = make_tiles(rows, columns, false_per_true, np.random.default_rng(seed))
    return [
        {"false_per_true": false_per_true, "method": name, "seed": seed, "pcr": _tile_pcr(name, found, borders, truth, seed)}
        for name in COMPOSERS
    ]


def _tile_pcr(composer: str, found: Candidates, borders: Borders, truth: Assembly, seed: int) -> float:
    side = int(borders.points.max()) + 1
    full, blank = np.ones((side, side), dtype=bool), np.zeros((side, side, 3), dtype=np.uint8)
    puzzle = Puzzle("tiles", tuple(Piece(k, str(k), blank, full) for k in range(truth.n_pieces)))
    assembly = compose(found, borders, composer, ComposeConfig(), Context(), seed=seed)
    return len(right_pieces(puzzle, assembly, truth, limits=(5.0, 20.0))) / truth.n_pieces


def _side_on_side(side_i: int, side_j: int) -> SE2:
    """i_from_j that puts side ``side_j`` of one tile against side ``side_i`` of another."""
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
