"""What many tests need: small puzzles with their truth, and candidates of square tiles made by hand."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from jigsawnet.borders import Borders, build_borders, mark_compiled
from jigsawnet.candidates import Candidates
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2
from jigsawnet.shred import ShredConfig, preset, shred_images
from jigsawnet.types import Alignment, Assembly, Piece, Puzzle, UInt8Array

mark_compiled()  # no test depends on whether it is the first to solve; those of the first solve say so themselves

TILE_PX = 60
TILE_MARGIN_PX = 5
TILE_MIDDLE = TILE_MARGIN_PX + (TILE_PX - 1) / 2

TileCandidates = tuple[Candidates, Borders, dict[int, SE2]]
"""Scored candidates, best first, the borders of the tiles, and the true ``world_from_piece`` of each tile."""


# A slow machine is no failure. A landing must not hang on the luck of the draw; contributors draw anew each time.
SLOW_IS_FINE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much]}
settings.register_profile("ci", derandomize=True, **SLOW_IS_FINE)
settings.register_profile("contributor", **SLOW_IS_FINE)
settings.load_profile("ci" if os.environ.get("CI") else "contributor")


def colorful_picture(width: int = 320, height: int = 240, seed: int = 3) -> UInt8Array:
    """Smooth random colour fields with a few discs and bars, never near black; (H, W, 3)."""
    rng = np.random.default_rng(seed)
    picture = np.full((height, width, 3), 140.0, np.float32)
    for sigma, strength in ((40.0, 35.0), (9.0, 20.0)):
        noise = cv2.GaussianBlur(rng.normal(size=picture.shape).astype(np.float32), (0, 0), sigma)
        picture += strength * noise / noise.std()
    for _ in range(12):
        color = rng.uniform(60, 250, 3).tolist()
        center = (int(rng.integers(0, width)), int(rng.integers(0, height)))
        cv2.circle(picture, center, int(rng.integers(8, 30)), color, thickness=-1, lineType=cv2.LINE_AA)
        end = (int(rng.integers(0, width)), int(rng.integers(0, height)))
        cv2.line(picture, center, end, color, thickness=int(rng.integers(2, 8)), lineType=cv2.LINE_AA)
    return np.clip(picture, 50, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def picture() -> UInt8Array:
    """The picture that `tiny_puzzle` and `nine_pieces` are cut from."""
    return colorful_picture()


@pytest.fixture(scope="session")
def tiny_puzzle(picture: UInt8Array) -> tuple[Puzzle, Assembly]:
    """Four turned pieces of a small picture, and the truth."""
    return shred_images([picture], ShredConfig(pieces=4), np.random.default_rng(4))


@pytest.fixture(scope="session")
def nine_pieces(picture: UInt8Array) -> tuple[Puzzle, Assembly]:
    """Nine turned pieces of a small picture, and the truth."""
    return shred_images([picture], ShredConfig(pieces=9), np.random.default_rng(9))


@pytest.fixture(scope="session")
def fresco() -> tuple[Puzzle, Assembly]:
    """Nine pieces that crumbled and lost parts of their borders, and the truth."""
    rng = np.random.default_rng(1)
    return shred_images([colorful_picture(480, 360)], preset("fresco", 0.6, rng, 9), rng)


@cache
def _square_tiles(n: int) -> Borders:
    mask = np.zeros((TILE_PX + 2 * TILE_MARGIN_PX,) * 2, dtype=bool)
    mask[TILE_MARGIN_PX:-TILE_MARGIN_PX, TILE_MARGIN_PX:-TILE_MARGIN_PX] = True
    image = np.full((*mask.shape, 3), 120, np.uint8)
    puzzle = Puzzle("tiles", tuple(Piece(idx, f"tile {idx}", image.copy(), mask.copy()) for idx in range(n)))
    return build_borders(trace_contours(puzzle, ContourConfig()))


@pytest.fixture(scope="session")
def square_tiles() -> Callable[[int], Borders]:
    """``square_tiles(n)``: n square pieces of 60 x 60 px."""
    return _square_tiles


def _tile_pose(x: float, y: float, quarter_turns: int = 0) -> SE2:
    to_place = SE2(0.0, x * TILE_PX, y * TILE_PX) @ SE2(quarter_turns * math.pi / 2, 0.0, 0.0)
    return to_place @ SE2(0.0, -TILE_MIDDLE, -TILE_MIDDLE)


@pytest.fixture(scope="session")
def tile_pose() -> Callable[..., SE2]:
    """``tile_pose(x, y, quarter_turns=0)``: world_from_piece of a tile in the middle of that place, in tile widths."""
    return _tile_pose


def _scored(alignments: Iterable[Alignment], scores: Sequence[float] | None = None) -> Candidates:
    """Candidates best first; without scores, the fit of each is its score."""
    rows = Candidates.of(alignments)
    return rows.with_scores(rows.fit if scores is None else np.array(scores))


def _tile_candidates(places: dict[int, tuple[float, float]], joins: dict[tuple[int, int], float]) -> TileCandidates:
    """Tiles at places counted in tile widths, tile k turned by k quarters, and true joins with their scores."""
    poses = {idx: _tile_pose(x, y, idx) for idx, (x, y) in places.items()}
    alignments = [Alignment(i, j, poses[i].inverse() @ poses[j], fit=score) for (i, j), score in joins.items()]
    return _scored(alignments), _square_tiles(len(places)), poses


@pytest.fixture(scope="session")
def triangle() -> TileCandidates:
    """Three tiles, each beside both others (two above, one below their seam), all joins true."""
    return _tile_candidates({0: (0, 0), 1: (1, 0), 2: (0.5, 1)}, {(0, 1): 0.9, (1, 2): 0.8, (0, 2): 0.7})


@pytest.fixture(scope="session")
def square() -> TileCandidates:
    """Four tiles, 2 x 2, all four joins true: one loop."""
    return _tile_candidates(
        {0: (0, 0), 1: (1, 0), 2: (0, 1), 3: (1, 1)}, {(0, 1): 0.9, (2, 3): 0.85, (0, 2): 0.8, (1, 3): 0.75}
    )


@pytest.fixture(scope="session")
def false_loop(square: TileCandidates) -> TileCandidates:
    """The square, and a false join of 1 and 3, scored above the true one, that puts 3 to the right of 1."""
    rows, borders, poses = square
    false = Alignment(1, 3, poses[1].inverse() @ _tile_pose(2, 0, 3), fit=0.78)
    return _scored([*rows.alignments(), false]), borders, poses


@pytest.fixture(scope="session")
def two_islands() -> TileCandidates:
    """Tiles 0 and 3 are one picture, 1, 2 and 4 another; nothing joins the two."""
    places = {0: (0.0, 0.0), 3: (1.0, 0.0), 1: (9.0, 9.0), 2: (10.0, 9.0), 4: (10.0, 10.0)}
    return _tile_candidates(places, {(0, 3): 0.9, (1, 2): 0.8, (2, 4): 0.7})
