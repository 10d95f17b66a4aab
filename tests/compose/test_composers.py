"""What all composers have in common, and where loops make the difference."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig, compose, composers
from jigsawnet.compose.components import pose_rows
from jigsawnet.compose.intersection import placements_intersect
from jigsawnet.context import Context
from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Assembly, FloatArray

TileCandidates = tuple[Candidates, Borders, dict[int, SE2]]
Tiles = Callable[[int], Borders]
TilePose = Callable[..., SE2]
COMPOSERS = ("best-first", "glc", "hlm")
DEFAULTS = ComposeConfig()
every_composer = pytest.mark.parametrize("composer", COMPOSERS)


def share_placed(assembly: Assembly, truth: Mapping[int, SE2]) -> float:
    """Pieces of the largest component that lie right, from its best piece on, over all pieces."""
    hits = [0]
    for component in assembly.components[:1]:
        for anchor in component:
            move = truth[anchor] @ assembly.poses[anchor].inverse()
            hits.append(sum((move @ assembly.poses[k]).distance(truth[k], at=(35, 35))[1] < 10 for k in component))
    return max(hits) / len(truth)


def grid(side: int, tile_pose: TilePose) -> tuple[dict[int, SE2], list[tuple[int, int]]]:
    truth = {k: tile_pose(k % side, k // side, k) for k in range(side * side)}
    right = [(k, k + 1) for k in truth if k % side < side - 1]
    return truth, right + [(k, k + side) for k in range(side * (side - 1))]


def hard_grid(side: int, ratio: float, rng: np.random.Generator, tile_pose: TilePose) -> tuple[list[Alignment], dict[int, SE2]]:
    """The true joins of a grid with small pose errors, and ``ratio`` times as many false ones, some in closed false loops."""
    truth, pairs = grid(side, tile_pose)
    joins = []

    def add(i: int, j: int, pose_i: SE2, pose_j: SE2, score: float) -> None:
        if i > j:
            i, j, pose_i, pose_j = j, i, pose_j, pose_i
        error = SE2(rng.normal(0, 0.003), *rng.normal(0, 0.3, 2))
        joins.append(Alignment(i, j, pose_i.inverse() @ pose_j @ error, score))

    for i, j in pairs:
        add(i, j, truth[i], truth[j], rng.beta(4, 1))
    while len(joins) < (1 + ratio) * len(pairs):
        turns = rng.integers(4, size=4)
        ring = [tile_pose(x, y, int(t)) for (x, y), t in zip([(0, 0), (1, 0), (1, 1), (0, 1)], turns, strict=True)]
        false = rng.choice(side * side, 4, replace=False).tolist()
        for k in range(4 if rng.uniform() < 0.15 else 1):
            add(false[k], false[(k + 1) % 4], ring[k], ring[(k + 1) % 4], rng.beta(2, 2))
    return joins, truth


def scored(joins: Sequence[Alignment], scores: Sequence[float] | FloatArray | None = None) -> Candidates:
    """Candidates best first; without scores, the fit of each is its score."""
    rows = Candidates.of(joins)
    return rows.with_scores(rows.fit if scores is None else np.array(scores))


def run(
    rows: Candidates,
    borders: Borders,
    composer: str,
    config: ComposeConfig = DEFAULTS,
    context: Context | None = None,
    *,
    seed: int = 0,
) -> Assembly:
    return compose(rows, borders, composer, config, context or Context(), seed=seed)


def test_all_composers_are_tested() -> None:
    assert set(COMPOSERS) <= set(composers)


@every_composer
def test_small_puzzles_are_put_together(
    composer: str, triangle: TileCandidates, square: TileCandidates, false_loop: TileCandidates, two_islands: TileCandidates
) -> None:
    for rows, borders, truth in (triangle, square, false_loop):
        assembly = run(rows, borders, composer)
        assert assembly.complete
        assert share_placed(assembly, truth) == 1.0
        assert len(assembly.joins) == len(truth)
    rows, borders, _ = two_islands
    assert run(rows, borders, composer).components == ((1, 2, 4), (0, 3))


@every_composer
def test_without_joins_or_pieces_nothing_is_placed(composer: str, square_tiles: Tiles) -> None:
    assert run(Candidates.none(), square_tiles(3), composer).unplaced == (0, 1, 2)
    assert run(Candidates.none(), build_borders([]), composer) == Assembly(0, {}, ())


@every_composer
def test_poor_joins_place_nothing(composer: str, square: TileCandidates) -> None:
    rows, borders, _ = square
    assert run(rows, borders, composer, ComposeConfig(min_score=1.0)).components == ()


@every_composer
def test_a_score_that_is_no_number_counts_as_0(composer: str, square: TileCandidates) -> None:
    rows, borders, _ = square
    scores = np.array([0.9, math.nan, math.nan, math.nan])
    assert run(rows.with_scores(scores), borders, composer).components == ((0, 1),)
    assert run(replace(rows, score=scores), borders, composer).components == ((0, 1),), "not even when nobody has cleaned them"


def test_a_closed_loop_carries_a_join_too_poor_to_place_a_piece(square: TileCandidates) -> None:
    rows, borders, _ = square
    joins = rows.alignments()
    without_loop = scored(joins[:3], [0.9, 0.02, 0.9])
    low = ComposeConfig(min_score=0.05)
    assert run(without_loop, borders, "hlm", low).unplaced == (3,)
    with_loop = scored(joins, [0.9, 0.02, 0.9, 0.02])
    assert run(with_loop, borders, "hlm", low).complete
    assert run(with_loop, borders, "hlm", ComposeConfig(min_score=0.05, loop_share=1.0)).unplaced == (3,)


@every_composer
@settings(deadline=None, max_examples=5)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_edges_does_not_matter(tile_pose: TilePose, square_tiles: Tiles, composer: str, random: Any) -> None:
    joins, _ = hard_grid(4, 3, np.random.default_rng(5), tile_pose)
    first = run(scored(joins), square_tiles(16), composer, seed=7)
    random.shuffle(joins)
    assert run(scored(joins), square_tiles(16), composer, seed=7) == first


@every_composer
@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32 - 1))
def test_no_piece_lies_on_another(tile_pose: TilePose, square_tiles: Tiles, composer: str, seed: int) -> None:
    joins, _ = hard_grid(4, 6, np.random.default_rng(seed), tile_pose)
    borders = square_tiles(16)
    assembly = run(scored(joins), borders, composer)
    for component in assembly.components:
        placed = np.array([(k, assembly.poses[k].theta, assembly.poses[k].x, assembly.poses[k].y) for k in component])
        lying_on = [k for k in range(1, len(placed)) if placements_intersect(borders, placed[:k], placed[k : k + 1])]
        assert lying_on == []


def test_the_more_loops_count_the_more_false_joins_are_stood(tile_pose: TilePose, square_tiles: Tiles) -> None:
    """Five times as many false joins as true ones: merging loops holds where single joins and single loops do not."""
    shares: dict[str, float] = dict.fromkeys(COMPOSERS, 0.0)
    for seed in range(3):
        joins, truth = hard_grid(5, 5, np.random.default_rng(seed), tile_pose)
        for composer in COMPOSERS:
            assembly = run(scored(joins), square_tiles(25), composer)
            shares[composer] += share_placed(assembly, truth) / 3
    assert shares["hlm"] > 0.9
    assert max(shares["best-first"], shares["glc"]) < 0.7


def paper_figure(tile_pose: TilePose) -> tuple[list[Alignment], dict[int, SE2]]:
    """Nine pieces, true joins all round, and a false loop (5, 8, 9) that closes (pieces 4, 7, 8 counted from 0)."""
    truth, pairs = grid(3, tile_pose)
    joins = [Alignment(i, j, truth[i].inverse() @ truth[j], 0.7) for i, j in pairs]
    false = {4: tile_pose(0, 0, 2), 7: tile_pose(1, 0, 1), 8: tile_pose(0.5, 1, 3)}
    joins += [Alignment(i, j, false[i].inverse() @ false[j], 0.7) for i, j in ((4, 7), (4, 8), (7, 8))]
    return joins, truth


def test_the_figure_where_greedy_loop_closing_fails_and_hierarchical_merging_does_not(
    tile_pose: TilePose, square_tiles: Tiles
) -> None:
    joins, truth = paper_figure(tile_pose)
    rows, borders = scored(joins), square_tiles(9)

    def solved(composer: str, seed: int) -> bool:
        return share_placed(run(rows, borders, composer, seed=seed), truth) == 1.0

    greedy = [solved("glc", seed) for seed in range(51)]
    assert not all(greedy)
    assert any(greedy)
    assert all(solved("hlm", seed) for seed in range(51))


def test_greedy_loop_closing_depends_on_the_seed_and_on_nothing_else(tile_pose: TilePose, square_tiles: Tiles) -> None:
    joins, _ = paper_figure(tile_pose)
    rows, borders = scored(joins), square_tiles(9)
    results = [run(rows, borders, "glc", seed=seed) for seed in range(10)]
    assert [run(rows, borders, "glc", seed=seed) for seed in range(10)] == results
    assert any(result != results[0] for result in results)


def test_without_steps_greedy_loop_closing_is_best_first(tile_pose: TilePose, square_tiles: Tiles) -> None:
    joins, _ = hard_grid(4, 3, np.random.default_rng(2), tile_pose)
    rows, borders = scored(joins), square_tiles(16)
    greedy = run(rows, borders, "glc", ComposeConfig(glc_steps=0))
    assert greedy == run(rows, borders, "best-first")


def test_without_merges_hierarchical_merging_still_grows_from_the_best_loop(tile_pose: TilePose, square_tiles: Tiles) -> None:
    joins, truth = paper_figure(tile_pose)
    truth, pairs = grid(3, tile_pose)
    assembly = run(scored(joins[: len(pairs)]), square_tiles(9), "hlm", ComposeConfig(max_merges=0))
    assert share_placed(assembly, truth) == 1.0


def relative(assembly: Assembly, i: int, j: int) -> SE2:
    return assembly.poses[i].inverse() @ assembly.poses[j]


def lie_as(assembly: Assembly, at: Mapping[int, SE2], *pieces: int) -> bool:
    """True when pieces are in one component and lie to the first of them as in ``at``, within 10 px."""
    together = any(set(pieces) <= set(component) for component in assembly.components)
    first = pieces[0]
    return together and all(
        relative(assembly, first, k).distance(at[first].inverse() @ at[k], at=(35, 35))[1] < 10 for k in pieces[1:]
    )


def joins_at(places: Mapping[int, SE2], scores: Mapping[tuple[int, int], float]) -> list[Alignment]:
    return [Alignment(i, j, places[i].inverse() @ places[j], score) for (i, j), score in scores.items()]


def test_growing_from_the_best_patch_takes_in_loops_whose_joins_are_too_poor_alone(
    tile_pose: TilePose, square_tiles: Tiles
) -> None:
    """Two squares share the join of 1 and 3. What joins 4 and 5 to them is below the limit, but not the mean of their loop.

    No merge is allowed on the way up, so only the way down can bring the two together.
    """
    at = {
        0: tile_pose(0, 0),
        1: tile_pose(1, 0),
        2: tile_pose(0, 1),
        3: tile_pose(1, 1),
        4: tile_pose(2, 0),
        5: tile_pose(2, 1),
    }
    scores = {(0, 1): 0.9, (0, 2): 0.9, (2, 3): 0.9, (1, 3): 1.0, (4, 5): 0.9, (1, 4): 0.3, (3, 5): 0.3}
    joins = joins_at(at, scores)
    assembly = run(scored(joins), square_tiles(6), "hlm", ComposeConfig(max_merges=0))
    assert lie_as(assembly, at, 0, 1, 2, 3, 4, 5)


def two_sided(tile_pose: TilePose) -> tuple[list[Alignment], dict[int, SE2], dict[int, SE2]]:
    """Pieces 0 to 5, two squares that share a join; and a square of 0, 5, 6 and 7, better by itself, that contradicts them."""
    true = {k: tile_pose(k % 3, k // 3) for k in range(6)}
    false = {0: tile_pose(0, 0), 5: tile_pose(1, 0), 6: tile_pose(0, 1), 7: tile_pose(1, 1)}
    pairs = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
    joins = joins_at(true, dict.fromkeys(pairs, 0.7)) + joins_at(false, dict.fromkeys([(0, 5), (0, 6), (5, 7), (6, 7)], 0.9))
    return joins, true, false


@pytest.mark.parametrize(("max_merges", "believed"), [(0, False), (1, True), (500, True)])
def test_as_many_merges_are_tried_on_a_level_as_theta_m_allows(
    tile_pose: TilePose, square_tiles: Tiles, max_merges: int, believed: bool
) -> None:
    """Merged, the two true squares outweigh the false one; without a merge it is l*."""
    joins, true, false = two_sided(tile_pose)
    assembly = run(scored(joins), square_tiles(8), "hlm", ComposeConfig(max_merges=max_merges))
    assert lie_as(assembly, true, 0, 5) is believed
    assert lie_as(assembly, false, 0, 5) is not believed


def test_the_best_patch_of_all_levels_is_grown_not_that_of_the_last(tile_pose: TilePose, square_tiles: Tiles) -> None:
    """Two sure squares are whole on the second level; three poor ones, which contradict them, reach the third."""
    sure = {k: tile_pose(k % 3, k // 3) for k in range(6)}
    poor = {k: tile_pose(n % 4, n // 4) for n, k in enumerate((0, 6, 7, 8, 5, 9, 10, 11))}
    pairs = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
    poor_pairs = [(0, 6), (6, 7), (7, 8), (5, 9), (9, 10), (10, 11), (0, 5), (6, 9), (7, 10), (8, 11)]
    joins = joins_at(sure, dict.fromkeys(pairs, 0.95)) + joins_at(poor, dict.fromkeys(poor_pairs, 0.6))
    assembly = run(scored(joins), square_tiles(12), "hlm")
    assert lie_as(assembly, sure, 0, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(("shift_px", "closes"), [(3.0, True), (4.4, False), (40.0, False)])
def test_where_no_loop_closes_greedy_loop_closing_is_best_first(square: TileCandidates, shift_px: float, closes: bool) -> None:
    """Four joins may be 4 px from closed. Of an open loop the worst join is left out, whatever the seed."""
    rows, borders, _ = square
    joins = list(rows.alignments())
    joins[3] = Alignment(1, 3, SE2(0.0, shift_px, 0.0) @ joins[3].i_from_j, 0.75)
    rows = scored(joins)
    plain = run(rows, borders, "best-first")
    assert any(run(rows, borders, "glc", seed=seed).poses != plain.poses for seed in range(10)) is closes


def test_once_a_loop_is_fixed_other_candidates_of_its_pairs_are_out(tile_pose: TilePose, square_tiles: Tiles) -> None:
    """1 and 3 have two candidates 4.4 px apart: the true one closes the square of 0 to 3, the other one that of 1, 3, 4, 5.

    Where the first square is fixed before, its candidate is the only one of 1 and 3, the second square does not close, and 4
    goes where its best single join puts it.
    """
    at = {
        0: tile_pose(0, 0),
        1: tile_pose(1, 0),
        2: tile_pose(0, 1),
        3: tile_pose(1, 1),
        4: tile_pose(2, 0),
        5: tile_pose(2, 1),
    }
    joins = joins_at(at, {(0, 1): 0.9, (0, 2): 0.9, (2, 3): 0.9, (1, 3): 0.9, (1, 4): 0.8, (4, 5): 0.8})
    joins.append(Alignment(1, 3, at[1].inverse() @ SE2(0.0, -4.4, 0.0) @ at[3], 0.7))
    joins.append(Alignment(3, 5, at[3].inverse() @ SE2(0.0, 5.0, 0.0) @ at[5], 0.8))
    joins.append(Alignment(2, 4, at[2].inverse() @ tile_pose(0, 2), 0.85))
    rows, borders = scored(joins), square_tiles(6)
    results = [run(rows, borders, "glc", seed=seed) for seed in range(20)]
    true = at[1].inverse() @ at[3]
    first = [result for result in results if relative(result, 1, 3).distance(true, at=(35, 35))[1] < 1]
    assert first
    assert not any(lie_as(result, at, 1, 4) for result in first)


def test_a_path_does_not_grow_where_pieces_would_lie_on_each_other(tile_pose: TilePose, square_tiles: Tiles) -> None:
    """Three pieces that candidates put on 1, 3, 4 and 5 cost a step each, so that 200 steps are enough for both squares.

    Single joins put 4 and 5 elsewhere, so that only the loops place them rightly.
    """
    at = {
        0: tile_pose(0, 0),
        1: tile_pose(1, 0),
        2: tile_pose(0, 1),
        3: tile_pose(1, 1),
        4: tile_pose(2, 0),
        5: tile_pose(2, 1),
    }
    joins = joins_at(at, {(0, 1): 0.9, (0, 2): 0.9, (2, 3): 0.9, (1, 3): 0.9, (1, 4): 0.8, (4, 5): 0.8, (3, 5): 0.8})
    joins.append(Alignment(2, 4, at[2].inverse() @ tile_pose(0, 2), 0.85))
    joins.append(Alignment(0, 5, at[0].inverse() @ tile_pose(-1, 0), 0.85))
    on = {6: tile_pose(0.2, 0.1, 1), 7: tile_pose(-0.1, 0.2, 2), 8: tile_pose(0.1, -0.2, 3)}
    joins += [Alignment(i, k, tile_pose(0, 0).inverse() @ pose, 0.9) for k, pose in on.items() for i in (1, 3, 4, 5)]
    joins += [Alignment(i, j, tile_pose(0, 0).inverse() @ tile_pose(1.3, 0.3), 0.9) for i, j in ((6, 7), (6, 8), (7, 8))]
    rows, borders = scored(joins), square_tiles(9)
    results = [run(rows, borders, "glc", ComposeConfig(glc_steps=200), seed=seed) for seed in range(20)]
    assert sum(lie_as(result, at, 0, 1, 2, 3, 4, 5) for result in results) >= 18


def test_two_pictures_stay_two_components(tile_pose: TilePose, square_tiles: Tiles) -> None:
    truth, pairs = grid(3, tile_pose)
    one = [Alignment(i, j, truth[i].inverse() @ truth[j], 0.7) for i, j in pairs]
    two = [Alignment(a.i + 9, a.j + 9, a.i_from_j, 0.6) for a in one]
    assembly = run(scored([*one, *two]), square_tiles(18), "hlm")
    assert assembly.components == (tuple(range(9)), tuple(range(9, 18)))


def test_joins_that_agree_connect_two_groups_before_a_better_one_alone(tile_pose: TilePose, square_tiles: Tiles) -> None:
    """Two rows of three: two joins of 0.4 say the same, one of 0.6 says otherwise. No loop of four holds both."""
    at = {k: tile_pose(k % 3, k // 3) for k in range(6)}
    pairs = {(0, 1): 0.9, (1, 2): 0.9, (3, 4): 0.9, (4, 5): 0.9, (0, 3): 0.4, (2, 5): 0.4}
    joins = [Alignment(i, j, at[i].inverse() @ at[j], score) for (i, j), score in pairs.items()]
    joins.append(Alignment(1, 4, at[1].inverse() @ tile_pose(1, -1), 0.6))
    low = ComposeConfig(min_score=0.05)
    assembly = run(scored(joins), square_tiles(6), "hlm", low)
    assert share_placed(assembly, at) == 1.0
    assert share_placed(run(scored(joins), square_tiles(6), "best-first", low), at) < 1.0


def test_near_copies_of_one_join_are_one_witness(tile_pose: TilePose, square_tiles: Tiles) -> None:
    """Two candidates of one pair say nearly the same wrong thing; one better join of another pair is believed instead."""
    at = {k: tile_pose(k % 2, k // 2) for k in range(4)}
    joins = [Alignment(i, i + 1, at[i].inverse() @ at[i + 1], 0.95) for i in (0, 2)]
    joins.append(Alignment(0, 2, at[0].inverse() @ at[2], 0.8))
    wrong = at[1].inverse() @ tile_pose(1, -1)
    joins += [Alignment(1, 3, SE2(wrong.theta, wrong.x + shift, wrong.y), 0.7) for shift in (0.0, 0.4)]
    assembly = run(scored(joins), square_tiles(4), "hlm")
    assert share_placed(assembly, at) == 1.0


@every_composer
def test_when_the_time_is_up_what_is_joined_is_returned(composer: str, tile_pose: TilePose, square_tiles: Tiles) -> None:
    joins, truth = hard_grid(8, 5, np.random.default_rng(1), tile_pose)
    rows, borders = scored(joins), square_tiles(64)
    assert run(rows, borders, composer, context=Context(stop=Stop(time.monotonic() - 1))).components == ()
    start = time.monotonic()
    some = run(rows, borders, composer, context=Context(stop=Stop(start + 0.2)))
    assert time.monotonic() - start < 2.0
    assert some.components
    assert len(truth) == some.n_pieces


@every_composer
def test_progress_is_told(composer: str, square: TileCandidates) -> None:
    rows, borders, _ = square
    told: list[tuple[str, int, int]] = []
    run(rows, borders, composer, context=Context(lambda *args: told.append(args)))
    assert {stage for stage, _, _ in told} <= {"compose"}
    assert all(0 <= done <= total for _, done, total in told)


@every_composer
def test_a_flood_of_candidates_is_stood(composer: str, square_tiles: Tiles) -> None:
    rng = np.random.default_rng(0)
    pairs = np.sort(rng.integers(0, 60, (20_000, 2)), axis=1)
    poses = rng.uniform((-3, -90, -90), (3, 90, 90), (len(pairs), 3)).tolist()
    joins = [Alignment(i, j, SE2(*p), rng.uniform()) for (i, j), p in zip(pairs.tolist(), poses, strict=True) if i < j]
    start = time.monotonic()
    assert run(scored(joins), square_tiles(60), composer).components
    assert time.monotonic() - start < 20.0


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("min_score", 1.1, "compose.min-score must lie between 0 and 1"),
        ("loop_share", -0.1, "compose.loop-share must lie between 0 and 1"),
        ("loop_px", 0.0, "compose.loop-px must be positive"),
        ("loop_deg", math.inf, "compose.loop-deg must be positive"),
        ("max_merges", -1, "compose.max-merges must not be negative"),
        ("glc_steps", -1, "compose.glc-steps must not be negative"),
    ],
)
def test_options_out_of_range_are_refused(field: str, value: float, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        ComposeConfig(**{field: value})  # type: ignore[arg-type]


def test_a_hundred_thousand_joins_are_handled(square_tiles: Tiles) -> None:
    """Made at random, nearly all of them false: nothing breaks, and no two placed pieces lie on each other."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 99, 100_000)
    pairs = np.column_stack([first, rng.integers(first + 1, 100)])
    poses = np.column_stack([rng.uniform(-3, 3, 100_000), rng.uniform(-90, 90, (100_000, 2))])
    joins = [Alignment(int(i), int(j), SE2(*map(float, p)), 0.6) for (i, j), p in zip(pairs, poses, strict=True)]
    rows, borders = scored(joins, rng.uniform(0, 1, 100_000)), square_tiles(100)
    assembly = run(rows, borders, "hlm", context=Context(stop=Stop(time.monotonic() + 3.0)))
    assert assembly.n_pieces == 100
    for component in assembly.components:
        placed = pose_rows((idx, assembly.poses[idx]) for idx in component)
        assert not any(placements_intersect(borders, placed[k : k + 1], placed[k + 1 :]) for k in range(len(placed) - 1))
