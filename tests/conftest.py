"""What many tests need: small puzzles with their truth, and graphs of square tiles made by hand."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2
from jigsawnet.graph import build_graph
from jigsawnet.raster import ShapeBank, build_bank
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Alignment, Assembly, Fragment, MatchGraph, Puzzle, UInt8Array

TILE_PX = 60
TILE_MARGIN_PX = 5
TILE_MIDDLE = TILE_MARGIN_PX + (TILE_PX - 1) / 2

TileGraph = tuple[MatchGraph, ShapeBank, dict[int, SE2]]
"""A graph, the bank of its tiles, and the true ``world_from_fragment`` of each tile."""


# A slow machine is no failure. A landing must not hang on the luck of the draw; contributors draw anew each time.
SLOW_IS_FINE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
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


@cache
def _square_tiles(n: int) -> ShapeBank:
    mask = np.zeros((TILE_PX + 2 * TILE_MARGIN_PX,) * 2, dtype=bool)
    mask[TILE_MARGIN_PX:-TILE_MARGIN_PX, TILE_MARGIN_PX:-TILE_MARGIN_PX] = True
    image = np.full((*mask.shape, 3), 120, np.uint8)
    puzzle = Puzzle("tiles", tuple(Fragment(idx, f"tile {idx}", image.copy(), mask.copy()) for idx in range(n)))
    return build_bank(trace_contours(puzzle, ContourConfig()))


@pytest.fixture(scope="session")
def square_tiles() -> Callable[[int], ShapeBank]:
    """``square_tiles(n)``: n square pieces of 60 x 60 px."""
    return _square_tiles


def _tile_pose(x: float, y: float, quarter_turns: int = 0) -> SE2:
    to_place = SE2(0.0, x * TILE_PX, y * TILE_PX) @ SE2(quarter_turns * math.pi / 2, 0.0, 0.0)
    return to_place @ SE2(0.0, -TILE_MIDDLE, -TILE_MIDDLE)


@pytest.fixture(scope="session")
def tile_pose() -> Callable[..., SE2]:
    """``tile_pose(x, y, quarter_turns=0)``: world_from_fragment of a tile in the middle of that place, in tile widths."""
    return _tile_pose


def _tile_graph(places: dict[int, tuple[float, float]], joins: dict[tuple[int, int], float]) -> TileGraph:
    """Tiles at places counted in tile widths, tile k turned by k quarters, and true joins with their scores."""
    poses = {idx: _tile_pose(x, y, idx) for idx, (x, y) in places.items()}
    alignments = [Alignment(i, j, poses[i].inverse() @ poses[j], fit=score) for (i, j), score in joins.items()]
    return build_graph(len(places), alignments, list(joins.values())), _square_tiles(len(places)), poses


@pytest.fixture(scope="session")
def triangle() -> TileGraph:
    """Three tiles, each beside both others (two above, one below their seam), all joins true."""
    return _tile_graph({0: (0, 0), 1: (1, 0), 2: (0.5, 1)}, {(0, 1): 0.9, (1, 2): 0.8, (0, 2): 0.7})


@pytest.fixture(scope="session")
def square() -> TileGraph:
    """Four tiles, 2 x 2, all four joins true: one loop."""
    return _tile_graph({0: (0, 0), 1: (1, 0), 2: (0, 1), 3: (1, 1)}, {(0, 1): 0.9, (2, 3): 0.85, (0, 2): 0.8, (1, 3): 0.75})


@pytest.fixture(scope="session")
def false_loop(square: TileGraph) -> TileGraph:
    """The square, and a false join of 1 and 3, scored above the true one, that puts 3 to the right of 1."""
    graph, bank, poses = square
    false = Alignment(1, 3, poses[1].inverse() @ _tile_pose(2, 0, 3), fit=0.78)
    alignments = [*(e.alignment for e in graph.edges), false]
    return build_graph(4, alignments, [a.fit for a in alignments]), bank, poses


@pytest.fixture(scope="session")
def two_islands() -> TileGraph:
    """Tiles 0 and 3 are one picture, 1, 2 and 4 another; nothing joins the two."""
    places = {0: (0.0, 0.0), 3: (1.0, 0.0), 1: (9.0, 9.0), 2: (10.0, 9.0), 4: (10.0, 10.0)}
    return _tile_graph(places, {(0, 3): 0.9, (1, 2): 0.8, (2, 4): 0.7})
