"""Closed loops: which are found, which are not, and how their pieces lie."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.compose import ComposeConfig
from jigsawnet.compose.edge_table import EdgeTable
from jigsawnet.compose.loops import MAX_LOOPS_PER_EDGE, Loops, Tolerance, best_per_piece, find_closed_loops
from jigsawnet.compose.patches import bits, merge_patches, patches_of
from jigsawnet.geometry import SE2
from jigsawnet.graph import build_graph
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Alignment, MatchGraph

TileGraph = tuple[MatchGraph, ShapeBank, dict[int, SE2]]
Tiles = Callable[[int], ShapeBank]
TilePose = Callable[..., SE2]


def loops_of(graph: MatchGraph, bank: ShapeBank) -> tuple[EdgeTable, Loops]:
    table = EdgeTable.of(graph.edges)
    return table, find_closed_loops(table, bank, Tolerance.of(ComposeConfig(), bank))


def edge_sets(loops: Loops) -> set[frozenset[int]]:
    return {frozenset(e for e in edges if e >= 0) for edges in loops.edges.tolist()}


def grid(side: int, tile_pose: TilePose) -> dict[int, SE2]:
    return {k: tile_pose(k % side, k // side, k) for k in range(side * side)}


def grid_joins(side: int) -> list[tuple[int, int]]:
    right = [(k, k + 1) for k in range(side * side) if k % side < side - 1]
    return right + [(k, k + side) for k in range(side * (side - 1))]


def test_a_triangle_and_a_square_are_one_loop_each(triangle: TileGraph, square: TileGraph) -> None:
    assert edge_sets(loops_of(*triangle[:2])[1]) == {frozenset({0, 1, 2})}
    assert edge_sets(loops_of(*square[:2])[1]) == {frozenset({0, 1, 2, 3})}


def test_a_false_join_closes_no_loop_but_its_parallel_does(false_loop: TileGraph) -> None:
    graph, bank, _ = false_loop
    _, loops = loops_of(graph, bank)
    (edges,) = edge_sets(loops)
    assert {graph.edges[e].score for e in edges} == {0.9, 0.85, 0.8, 0.75}


def test_poses_of_a_loop_are_those_of_its_joins_in_one_frame(square: TileGraph) -> None:
    graph, bank, truth = square
    _, loops = loops_of(graph, bank)
    pieces = loops.pieces[0].tolist()
    for piece, pose in zip(pieces, loops.poses[0], strict=True):
        expected = truth[pieces[0]].inverse() @ truth[piece]
        assert SE2(*pose.tolist()).distance(expected, at=(35, 35)) == (pytest.approx(0, abs=1e-9), pytest.approx(0, abs=1e-6))


def test_every_small_square_of_a_grid_is_found_and_no_larger_loop(square_tiles: Tiles, tile_pose: TilePose) -> None:
    truth = grid(5, tile_pose)
    joins = [Alignment(i, j, truth[i].inverse() @ truth[j], 0.5) for i, j in grid_joins(5)]
    _, loops = loops_of(build_graph(25, joins, [0.5] * len(joins)), square_tiles(25))
    assert len(loops.edges) == 16
    assert all(len({k % 5 for k in p}) == 2 and len({k // 5 for k in p}) == 2 for p in loops.pieces.tolist())


def test_a_loop_of_four_with_a_closing_chord_is_two_triangles(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """A chord that contradicts the loop is a false candidate and no reason to give the loop up."""
    places = {0: tile_pose(0, 0), 1: tile_pose(1, 0), 2: tile_pose(0.5, 1), 3: tile_pose(1.5, 1)}
    around = [(0, 1), (1, 3), (2, 3), (0, 2)]
    joins = [Alignment(i, j, places[i].inverse() @ places[j], 0.5) for i, j in around]
    chord = Alignment(1, 2, places[1].inverse() @ places[2], 0.5)
    false_chord = Alignment(1, 2, places[1].inverse() @ tile_pose(2, 0), 0.5)
    bank = square_tiles(4)
    with_false = loops_of(build_graph(4, [*joins, false_chord], [0.5] * 5), bank)[1]
    assert [len(s) for s in edge_sets(with_false)] == [4]
    with_true = loops_of(build_graph(4, [*joins, chord], [0.5] * 5), bank)[1]
    assert sorted(len(s) for s in edge_sets(with_true)) == [3, 3]


@pytest.mark.parametrize(("turn_deg", "shift_px", "closed"), [(1.9, 0, True), (2.8, 0, False), (0, 3.5, True), (0, 4.5, False)])
def test_the_tolerance_decides_what_is_closed(square: TileGraph, turn_deg: float, shift_px: float, closed: bool) -> None:
    """Four joins: twice 2 px and twice 1.2 degrees, at the middle of the piece."""
    graph, bank, _ = square
    middle = SE2(0.0, *bank.center[3].tolist())
    error = middle @ SE2(math.radians(turn_deg), shift_px, 0.0) @ middle.inverse()
    joins = [e.alignment for e in graph.edges]
    joins[3] = Alignment(1, 3, joins[3].i_from_j @ error, 0.75)
    assert len(loops_of(build_graph(4, joins, [a.fit for a in joins]), bank)[1].edges) == closed


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_loops_are_those_that_trying_all_finds(square_tiles: Tiles, tile_pose: TilePose, seed: int) -> None:
    """Against a plain walk over all triples of edges."""
    rng = np.random.default_rng(seed)
    poses = {k: tile_pose(*rng.integers(0, 3, 2).tolist(), int(rng.integers(4))) for k in range(6)}
    pairs = {tuple(sorted(rng.choice(6, 2, replace=False).tolist())) for _ in range(12)}
    joins = [Alignment(i, j, poses[i].inverse() @ poses[j] if rng.uniform() < 0.7 else tile_pose(1, 3), 0.5) for i, j in pairs]
    graph = build_graph(6, joins, [0.5] * len(joins))
    triangles = set()
    by_pair = {(e.alignment.i, e.alignment.j): (k, e.alignment.i_from_j) for k, e in enumerate(graph.edges)}
    for (a, b), (e, ab) in by_pair.items():
        for c in range(b + 1, 6):
            if (a, c) in by_pair and (b, c) in by_pair:
                angle, distance = (ab @ by_pair[b, c][1]).distance(by_pair[a, c][1], at=(35, 35))
                if angle < 0.01 and distance < 0.1:
                    triangles.add(frozenset({e, by_pair[a, c][0], by_pair[b, c][0]}))
    found = edge_sets(loops_of(graph, square_tiles(6))[1])
    assert {s for s in found if len(s) == 3} == triangles


def test_a_join_is_in_a_bounded_number_of_loops(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """Tiles 2 to 91 all pretend to complete the same triangle with 0 and 1; the best of them are kept."""
    here, right, below = tile_pose(0, 0), tile_pose(1, 0), tile_pose(0.5, 1)
    joins = [Alignment(0, 1, here.inverse() @ right, 0.9)]
    for k in range(2, 92):
        joins += [Alignment(0, k, here.inverse() @ below, 1 / k), Alignment(1, k, right.inverse() @ below, 1 / k)]
    _, loops = loops_of(build_graph(92, joins, [a.fit for a in joins]), square_tiles(92))
    assert len(loops.edges) == MAX_LOOPS_PER_EDGE
    assert loops.pieces.max() == MAX_LOOPS_PER_EDGE + 1


def test_only_the_best_joins_of_a_piece_take_part(square_tiles: Tiles, tile_pose: TilePose) -> None:
    joins = [Alignment(0, k, tile_pose(1, 0), 1 / k) for k in range(1, 6)] + [Alignment(4, 5, tile_pose(1, 0), 0.01)]
    table = EdgeTable.of(build_graph(6, joins, [a.fit for a in joins]).edges)
    assert best_per_piece(table, 6, most=3).tolist() == [0, 1, 2, 5]


def test_patches_merge_when_they_agree_and_not_when_pieces_meet(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """Two true squares side by side merge; a false one that puts 6 on 4 does not."""
    truth = {
        0: tile_pose(0, 0),
        1: tile_pose(1, 0),
        2: tile_pose(0, 1),
        3: tile_pose(1, 1),
        4: tile_pose(2, 0),
        5: tile_pose(2, 1),
    }
    places = truth | {6: tile_pose(2.3, 0.2), 7: tile_pose(2, 1)}
    around = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 4), (3, 5), (4, 5), (1, 6), (3, 7), (6, 7)]
    joins = [Alignment(i, j, places[i].inverse() @ places[j], 0.5) for i, j in around]
    bank = square_tiles(8)
    table, loops = loops_of(build_graph(8, joins, [0.5] * len(joins)), bank)
    patches = {tuple(p.pieces.tolist()): p for p in patches_of(loops, bank)}
    tolerance = Tolerance.of(ComposeConfig(), bank)
    merged = merge_patches(patches[0, 1, 2, 3], patches[1, 3, 4, 5], table, bank, tolerance)
    assert merged is not None
    assert merged.pieces.tolist() == [0, 1, 2, 3, 4, 5]
    assert (merged.edges.bit_count(), merged.score) == (7, pytest.approx(3.5))
    assert (1, 3, 6, 7) not in patches or merge_patches(merged, patches[1, 3, 6, 7], table, bank, tolerance) is None
    assert merge_patches(patches[0, 1, 2, 3], patches[0, 1, 2, 3], table, bank, tolerance) is not None


@given(st.sets(st.integers(0, 300), max_size=20))
def test_bits_are_the_numbers_that_were_set(numbers: set[int]) -> None:
    assert bits(sum(1 << k for k in numbers)) == sorted(numbers)
