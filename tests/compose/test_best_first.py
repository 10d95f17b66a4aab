"""Best-first composition of candidates made by hand, where it can be seen what is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.compose.intersection import placements_intersect
from jigsawnet.context import Context
from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Progress, no_progress

TileCandidates = tuple[Candidates, Borders, dict[int, SE2]]
Tiles = Callable[[int], Borders]
TilePose = Callable[..., SE2]


def best_first(rows: Candidates, borders: Borders, min_score: float = 0.05, progress: Progress = no_progress) -> Assembly:
    return compose(rows, borders, "best-first", ComposeConfig(min_score=min_score), Context(progress))


def join(i: int, j: int, pose_i: SE2, pose_j: SE2, score: float) -> Alignment:
    """A join that holds for two poses in one frame; its fit is its score."""
    return Alignment(i, j, pose_i.inverse() @ pose_j, fit=score)


def scored(*joins: Alignment) -> Candidates:
    """Candidates best first; the fit of each is its score."""
    return Candidates.of(joins).with_scores(np.array([a.fit for a in joins]))


def assert_poses(assembly: Assembly, truth: Mapping[int, SE2], idxs: tuple[int, ...]) -> None:
    """The pieces lie to each other as in the truth."""
    for i, j in combinations(idxs, 2):
        angle, distance = (assembly.poses[i].inverse() @ assembly.poses[j]).distance(truth[i].inverse() @ truth[j], at=(35, 35))
        assert angle < 1e-6
        assert distance < 1e-4


def selected(assembly: Assembly) -> set[tuple[int, int, float]]:
    return {(e.alignment.i, e.alignment.j, e.score) for e in assembly.joins}


def test_a_square_is_put_together_and_its_loop_closed(square: TileCandidates) -> None:
    rows, borders, truth = square
    assembly = best_first(rows, borders)
    assert assembly.complete
    assert_poses(assembly, truth, (0, 1, 2, 3))
    assert selected(assembly) == {(0, 1, 0.9), (2, 3, 0.85), (0, 2, 0.8), (1, 3, 0.75)}
    assert assembly.confidence == {0: 0.9, 1: 0.9, 2: 0.85, 3: 0.85}


def test_all_joins_of_a_triangle_are_selected(triangle: TileCandidates) -> None:
    rows, borders, truth = triangle
    assembly = best_first(rows, borders)
    assert assembly.complete
    assert_poses(assembly, truth, (0, 1, 2))
    assert len(assembly.joins) == 3


def test_a_join_that_contradicts_a_loop_is_not_selected_but_the_true_one_is(false_loop: TileCandidates) -> None:
    rows, borders, truth = false_loop
    assert len(rows) == 5
    assembly = best_first(rows, borders)
    assert_poses(assembly, truth, (0, 1, 2, 3))
    assert selected(assembly) == {(0, 1, 0.9), (2, 3, 0.85), (0, 2, 0.8), (1, 3, 0.75)}


def test_two_islands_are_two_components_largest_first(two_islands: TileCandidates) -> None:
    rows, borders, truth = two_islands
    assembly = best_first(rows, borders)
    assert assembly.components == ((1, 2, 4), (0, 3))
    assert assembly.unplaced == ()
    assert not assembly.complete
    for component in assembly.components:
        assert_poses(assembly, truth, component)


def test_of_two_joins_of_a_pair_the_better_places_it(square_tiles: Tiles, tile_pose: TilePose) -> None:
    here, right, below = tile_pose(0, 0), tile_pose(1, 0), tile_pose(0, 1)
    rows = scored(join(0, 1, here, right, 0.6), join(0, 1, here, below, 0.7))
    assembly = best_first(rows, square_tiles(2))
    assert_poses(assembly, {0: here, 1: below}, (0, 1))
    assert selected(assembly) == {(0, 1, 0.7)}


def test_near_copies_of_a_join_are_selected_once(square_tiles: Tiles, tile_pose: TilePose) -> None:
    here, right, nearly = tile_pose(0, 0), tile_pose(1, 0), tile_pose(1.02, 0)
    rows = scored(join(0, 1, here, right, 0.7), join(0, 1, here, nearly, 0.6))
    assert selected(best_first(rows, square_tiles(2))) == {(0, 1, 0.7)}


def test_a_join_that_puts_a_piece_on_another_is_refused(square_tiles: Tiles, tile_pose: TilePose) -> None:
    here, right, nearly_there = tile_pose(0, 0), tile_pose(1, 0), tile_pose(1.1, 0.1)
    onto = (join(0, 1, here, right, 0.9), join(0, 2, here, nearly_there, 0.8))
    assembly = best_first(scored(*onto), square_tiles(3))
    assert assembly.components == ((0, 1),)
    assert assembly.unplaced == (2,)
    assert selected(assembly) == {(0, 1, 0.9)}
    assert set(assembly.confidence) == {0, 1}
    beside = join(0, 2, here, tile_pose(0, 1), 0.3)
    assembly = best_first(scored(*onto, beside), square_tiles(3))
    assert assembly.complete
    assert selected(assembly) == {(0, 1, 0.9), (0, 2, 0.3)}


def test_groups_are_refused_when_any_of_their_pieces_meet(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """0 and 1 form a row, 2 and 3 another; joining 0 to 2 would be fine were 3 not put on 1."""
    rows = scored(
        join(0, 1, tile_pose(0, 0), tile_pose(1, 0), 0.9),
        join(2, 3, tile_pose(0, 0), tile_pose(1, -1), 0.8),
        join(0, 2, tile_pose(0, 0), tile_pose(0, 1), 0.7),
    )
    assembly = best_first(rows, square_tiles(4))
    assert assembly.components == ((0, 1), (2, 3))
    assert (0, 2, 0.7) not in selected(assembly)


@pytest.mark.parametrize(
    ("min_score", "components", "unplaced"),
    [(0.0, ((0, 1, 2, 3),), ()), (0.82, ((0, 1), (2, 3)), ()), (0.9, ((0, 1),), (2, 3)), (0.91, (), (0, 1, 2, 3))],
)
def test_pieces_stay_out_rather_than_be_placed_by_a_poor_join(
    square: TileCandidates, min_score: float, components: tuple[tuple[int, ...], ...], unplaced: tuple[int, ...]
) -> None:
    rows, borders, _ = square
    assembly = best_first(rows, borders, min_score)
    assert assembly.components == components
    assert assembly.unplaced == unplaced


@pytest.mark.parametrize("min_score", [-0.1, 1.1, math.nan])
def test_the_least_score_lies_between_0_and_1(min_score: float) -> None:
    with pytest.raises(ConfigError, match="between 0 and 1"):
        ComposeConfig(min_score=min_score)


def test_a_score_that_is_no_number_counts_as_0(square: TileCandidates) -> None:
    rows, borders, _ = square
    unknown = rows.with_scores(np.full(4, math.nan))
    assert best_first(unknown, borders).unplaced == (0, 1, 2, 3)
    one_known = rows.with_scores(np.array([math.nan, math.nan, 0.5, math.nan]))
    assert best_first(one_known, borders).components == ((0, 2),)


def test_without_joins_nothing_is_placed(square_tiles: Tiles) -> None:
    assembly = best_first(Candidates.none(), square_tiles(3))
    assert (assembly.components, assembly.joins, assembly.unplaced) == ((), (), (0, 1, 2))
    assert best_first(Candidates.none(), build_borders([])) == Assembly(0, {}, ())


def test_a_piece_without_border_can_still_be_carried_along(tile_pose: TilePose) -> None:
    rows = scored(join(0, 1, tile_pose(0, 0), tile_pose(0, 0), 0.9))
    assert best_first(rows, build_borders([None, None])).components == ((0, 1),)


def test_progress_counts_joins_and_never_more_than_there_are(square: TileCandidates) -> None:
    rows, borders, _ = square
    told: list[tuple[str, int, int]] = []
    best_first(rows, borders, progress=lambda *args: told.append(args))
    assert told == [("compose", k, 4) for k in (1, 2, 3, 4)]


@settings(deadline=None, max_examples=20)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(false_loop: TileCandidates, random: Any) -> None:
    rows, borders, _ = false_loop
    joins = list(rows.alignments())
    random.shuffle(joins)
    shuffled = scored(*joins)
    assert best_first(shuffled, borders) == best_first(rows, borders)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.integers(1, 25))
def test_whatever_the_joins_no_piece_lies_on_another_and_joins_hold_components_together(
    square_tiles: Tiles, seed: int, n: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    pairs = [sorted(rng.choice(n, 2, replace=False).tolist()) for _ in range(count)]
    joins = [Alignment(i, j, SE2(*rng.uniform((-3, -90, -90), (3, 90, 90))), fit=rng.uniform()) for i, j in pairs]
    borders = square_tiles(8)
    assembly = best_first(scored(*joins), borders, 0.1)
    for component in assembly.components:
        assert_apart(borders, assembly, component)
        reached = {component[0]}
        for _ in component:
            for join in assembly.joins:
                pair = {join.alignment.i, join.alignment.j}
                reached |= pair if pair & reached else set()
        assert reached == set(component)
    assert len({(e.alignment.i, e.alignment.j) for e in assembly.joins}) == len(assembly.joins)


def assert_apart(borders: Borders, assembly: Assembly, component: tuple[int, ...]) -> None:
    rows = {idx: np.array([[idx, *(getattr(assembly.poses[idx], k) for k in ("theta", "x", "y"))]]) for idx in component}
    for i, j in combinations(component, 2):
        assert not (placements_intersect(borders, rows[i], rows[j]) and placements_intersect(borders, rows[j], rows[i]))
