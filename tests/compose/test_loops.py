"""Closed loops: which are found, which are not, and how their pieces lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.borders import Borders
from jigsawnet.candidates import FEATURES, Candidates
from jigsawnet.compose import ComposeConfig
from jigsawnet.compose.loops import MAX_LOOPS_PER_JOIN, Loops, Tolerance, best_per_piece, find_closed_loops
from jigsawnet.compose.patches import bits, merge_patches, patches_of
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment

TileCandidates = tuple[Candidates, Borders, dict[int, SE2]]
Tiles = Callable[[int], Borders]
TilePose = Callable[..., SE2]


def loops_of(rows: Candidates, borders: Borders) -> Loops:
    return find_closed_loops(rows, borders, Tolerance.of(ComposeConfig(), borders, rows))


def scored(joins: Sequence[Alignment]) -> Candidates:
    """Candidates best first; the fit of each is its score."""
    return Candidates.of(joins).with_scores(np.array([a.fit for a in joins]))


def edge_sets(loops: Loops) -> set[frozenset[int]]:
    return {frozenset(e for e in joins if e >= 0) for joins in loops.joins.tolist()}


def grid(side: int, tile_pose: TilePose) -> dict[int, SE2]:
    return {k: tile_pose(k % side, k // side, k) for k in range(side * side)}


def grid_joins(side: int) -> list[tuple[int, int]]:
    right = [(k, k + 1) for k in range(side * side) if k % side < side - 1]
    return right + [(k, k + side) for k in range(side * (side - 1))]


def test_a_triangle_and_a_square_are_one_loop_each(triangle: TileCandidates, square: TileCandidates) -> None:
    assert edge_sets(loops_of(*triangle[:2])) == {frozenset({0, 1, 2})}
    assert edge_sets(loops_of(*square[:2])) == {frozenset({0, 1, 2, 3})}


def test_a_false_join_closes_no_loop_but_its_parallel_does(false_loop: TileCandidates) -> None:
    rows, borders, _ = false_loop
    loops = loops_of(rows, borders)
    (joins,) = edge_sets(loops)
    assert set(rows.score[list(joins)].tolist()) == {0.9, 0.85, 0.8, 0.75}


def test_poses_of_a_loop_are_those_of_its_joins_in_one_frame(square: TileCandidates) -> None:
    rows, borders, truth = square
    loops = loops_of(rows, borders)
    pieces = loops.pieces[0].tolist()
    for piece, pose in zip(pieces, loops.poses[0], strict=True):
        expected = truth[pieces[0]].inverse() @ truth[piece]
        assert SE2(*pose.tolist()).distance(expected, at=(35, 35)) == (pytest.approx(0, abs=1e-9), pytest.approx(0, abs=1e-6))


def test_every_small_square_of_a_grid_is_found_and_no_larger_loop(square_tiles: Tiles, tile_pose: TilePose) -> None:
    truth = grid(5, tile_pose)
    joins = [Alignment(i, j, truth[i].inverse() @ truth[j], 0.5) for i, j in grid_joins(5)]
    loops = loops_of(scored(joins), square_tiles(25))
    assert len(loops.joins) == 16
    assert all(len({k % 5 for k in p}) == 2 and len({k // 5 for k in p}) == 2 for p in loops.pieces.tolist())


def test_a_loop_of_four_with_a_closing_chord_is_two_triangles(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """A chord that contradicts the loop is a false candidate and no reason to give the loop up."""
    places = {0: tile_pose(0, 0), 1: tile_pose(1, 0), 2: tile_pose(0.5, 1), 3: tile_pose(1.5, 1)}
    around = [(0, 1), (1, 3), (2, 3), (0, 2)]
    joins = [Alignment(i, j, places[i].inverse() @ places[j], 0.5) for i, j in around]
    chord = Alignment(1, 2, places[1].inverse() @ places[2], 0.5)
    false_chord = Alignment(1, 2, places[1].inverse() @ tile_pose(2, 0), 0.5)
    borders = square_tiles(4)
    with_false = loops_of(scored([*joins, false_chord]), borders)
    assert [len(s) for s in edge_sets(with_false)] == [4]
    with_true = loops_of(scored([*joins, chord]), borders)
    assert sorted(len(s) for s in edge_sets(with_true)) == [3, 3]


@pytest.mark.parametrize(("turn_deg", "shift_px", "closed"), [(1.9, 0, True), (2.8, 0, False), (0, 3.5, True), (0, 4.5, False)])
def test_the_tolerance_decides_what_is_closed(square: TileCandidates, turn_deg: float, shift_px: float, closed: bool) -> None:
    """Four joins: twice 2 px and twice 1.2 degrees, at the middle of the piece."""
    rows, borders, _ = square
    middle = SE2(0.0, *borders.center[3].tolist())
    error = middle @ SE2(math.radians(turn_deg), shift_px, 0.0) @ middle.inverse()
    joins = list(rows.alignments())
    joins[3] = Alignment(1, 3, joins[3].i_from_j @ error, 0.75)
    assert len(loops_of(scored(joins), borders).joins) == closed


def test_the_error_of_a_loop_is_shared_by_both_ways_round(square: TileCandidates) -> None:
    """The piece opposite the first lies in the middle between where the one way puts it and where the other does."""
    rows, borders, _ = square
    joins = list(rows.alignments())
    joins[3] = Alignment(1, 3, joins[3].i_from_j @ SE2(0.0, 3.0, 0.0), 0.75)
    loops = loops_of(scored(joins), borders)
    _, one, opposite, other = pieces = loops.pieces[0].tolist()
    poses = {piece: SE2(*pose) for piece, pose in zip(pieces, loops.poses[0].tolist(), strict=True)}
    steps = {(a.i, a.j): a.i_from_j for a in joins} | {(a.j, a.i): a.i_from_j.inverse() for a in joins}
    ways = [poses[k] @ steps[k, opposite] for k in (one, other)]
    off = [poses[opposite].distance(way, at=borders.center[opposite])[1] for way in ways]
    assert off == pytest.approx([1.5, 1.5], abs=1e-3)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_loops_are_those_that_trying_all_finds(square_tiles: Tiles, tile_pose: TilePose, seed: int) -> None:
    """Against a plain walk over all triples of edges."""
    rng = np.random.default_rng(seed)
    poses = {k: tile_pose(*rng.integers(0, 3, 2).tolist(), int(rng.integers(4))) for k in range(6)}
    pairs = {tuple(sorted(rng.choice(6, 2, replace=False).tolist())) for _ in range(12)}
    joins = [Alignment(i, j, poses[i].inverse() @ poses[j] if rng.uniform() < 0.7 else tile_pose(1, 3), 0.5) for i, j in pairs]
    rows = scored(joins)
    triangles = set()
    by_pair = {(a.i, a.j): (k, a.i_from_j) for k, a in enumerate(rows.alignments())}
    for (a, b), (e, ab) in by_pair.items():
        for c in range(b + 1, 6):
            if (a, c) in by_pair and (b, c) in by_pair:
                angle, distance = (ab @ by_pair[b, c][1]).distance(by_pair[a, c][1], at=(35, 35))
                if angle < 0.01 and distance < 0.1:
                    triangles.add(frozenset({e, by_pair[a, c][0], by_pair[b, c][0]}))
    found = edge_sets(loops_of(rows, square_tiles(6)))
    assert {s for s in found if len(s) == 3} == triangles


def test_a_join_is_in_a_bounded_number_of_loops(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """Tiles 2 to 91 all pretend to complete the same triangle with 0 and 1; the best of them are kept."""
    here, right, below = tile_pose(0, 0), tile_pose(1, 0), tile_pose(0.5, 1)
    joins = [Alignment(0, 1, here.inverse() @ right, 0.9)]
    for k in range(2, 92):
        joins += [Alignment(0, k, here.inverse() @ below, 1 / k), Alignment(1, k, right.inverse() @ below, 1 / k)]
    loops = loops_of(scored(joins), square_tiles(92))
    assert len(loops.joins) == MAX_LOOPS_PER_JOIN
    assert loops.pieces.max() == MAX_LOOPS_PER_JOIN + 1


def test_only_the_best_joins_of_a_piece_take_part(square_tiles: Tiles, tile_pose: TilePose) -> None:
    joins = [Alignment(0, k, tile_pose(1, 0), 1 / k) for k in range(1, 6)] + [Alignment(4, 5, tile_pose(1, 0), 0.01)]
    assert best_per_piece(scored(joins), 6, most=3).tolist() == [0, 1, 2, 5]


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
    borders = square_tiles(8)
    rows = scored(joins)
    patches = {tuple(p.pieces.tolist()): p for p in patches_of(loops_of(rows, borders), borders)}
    tolerance = Tolerance.of(ComposeConfig(), borders, rows)
    merged = merge_patches(patches[0, 1, 2, 3], patches[1, 3, 4, 5], rows, borders, tolerance)
    assert merged is not None
    assert merged.pieces.tolist() == [0, 1, 2, 3, 4, 5]
    assert (merged.joins.bit_count(), merged.score) == (7, pytest.approx(3.5))
    assert (1, 3, 6, 7) not in patches or merge_patches(merged, patches[1, 3, 6, 7], rows, borders, tolerance) is None
    assert merge_patches(patches[0, 1, 2, 3], patches[0, 1, 2, 3], rows, borders, tolerance) is not None


@given(st.sets(st.integers(0, 300), max_size=20))
def test_bits_are_the_numbers_that_were_set(numbers: set[int]) -> None:
    assert bits(sum(1 << k for k in numbers)) == sorted(numbers)


def test_loops_may_be_farther_from_closed_where_sure_seams_are_rough(square_tiles: Tiles) -> None:
    def tolerance(residual: float, score: float = 0.9) -> Tolerance:
        measured = np.ones((4, len(FEATURES)), np.float32)
        measured[:, FEATURES.index("residual")] = residual
        rows = Candidates.make([0] * 4, [1] * 4, np.zeros((4, 3)), measured, score=np.full(4, score))
        return Tolerance.of(ComposeConfig(), borders, rows)

    borders = square_tiles(2)
    clean = Tolerance.of(ComposeConfig(), borders, Candidates.none())
    assert tolerance(0.2 * borders.unit_px).after(1) == clean.after(1)
    assert tolerance(0.6 * borders.unit_px).px == pytest.approx(1.5 * clean.px)
    assert tolerance(0.6 * borders.unit_px).rad == pytest.approx(1.5 * clean.rad)
    assert tolerance(9.0).px == pytest.approx(2 * clean.px), "twice at most"
    assert tolerance(9.0, score=0.1).after(1) == clean.after(1), "seams that are not sure say nothing"
