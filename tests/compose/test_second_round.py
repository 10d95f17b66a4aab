"""The second round: left-over pieces and components are joined on joint evidence, neighbours are named, a person is obeyed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import NamedTuple

import numpy as np
import pytest

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import Evidence, SecondRoundConfig, SecondRoundStats
from jigsawnet.compose import second_round as look_again
from jigsawnet.compose.constraints import is_near
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.errors import ConfigError
from jigsawnet.evaluation.metrics import evaluate
from jigsawnet.evaluation.neighbors import common_borders, true_neighbors
from jigsawnet.geometry import SE2, pose_row
from jigsawnet.pipeline import Corridor, _evidence, solve_puzzle
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Assembly, Constraints, FloatArray, Puzzle, sort_components

second_round_module = import_module("jigsawnet.compose.second_round")  # the package gives its function this name

CONFIG = SecondRoundConfig()
NO_GUESSES = SecondRoundConfig(guess=1.0)
MIN_SCORE = 0.5
NEVER = 1.01
"""A score that no placement can reach."""
NOTHING_DECIDED = Constraints()


class Nine(NamedTuple):
    """Nine pieces, their borders, their candidates, the truth, and what the second look may ask of other stages."""

    puzzle: Puzzle
    borders: Borders
    rows: Candidates
    truth: Assembly
    evidence: Evidence


NONE = Candidates.none()


@pytest.fixture(scope="module")
def nine(nine_pieces: tuple[Puzzle, Assembly]) -> Nine:
    return evidence_of(*nine_pieces)


def evidence_of(puzzle: Puzzle, truth: Assembly) -> Nine:
    """Scored by the fit of the seam alone, as the pipeline hands it to the second round."""
    walk = Corridor(puzzle, SolveConfig(scorer="fit"))
    evidence = _evidence({"scene": walk.get("scene")}, walk.config, walk.context)
    return Nine(puzzle, walk.get("borders"), walk.get("scored").rows, truth, evidence)


def second_round(
    nine: Nine,
    rows: Candidates,
    assembly: Assembly,
    min_score: float = MIN_SCORE,
    config: SecondRoundConfig = CONFIG,
    constraints: Constraints = NOTHING_DECIDED,
) -> tuple[Assembly, SecondRoundStats]:
    return look_again(rows, nine.borders, assembly, nine.evidence, min_score, config, constraints)


def true_components(truth: Assembly, *components: Iterable[int]) -> Assembly:
    """Some components placed rightly, each in a frame of its own; all other pieces are unplaced."""
    poses = {}
    for k, component in enumerate(components):
        frame = SE2(0.7 * k, 500.0 * k, -80.0 * k)
        poses |= {idx: frame @ truth.poses[idx] for idx in component}
    return Assembly(truth.n_pieces, poses, sort_components(components))


def without(truth: Assembly, piece: int) -> Assembly:
    return true_components(truth, [idx for idx in range(truth.n_pieces) if idx != piece])


def true_join(truth: Assembly, i: int, j: int) -> Alignment:
    return Alignment(i, j, truth.poses[i].inverse() @ truth.poses[j], fit=1.0)


def assert_whole(puzzle: Puzzle, found: Assembly, truth: Assembly) -> None:
    metrics = evaluate(puzzle, found, truth, gap_px=2.5)
    assert found.complete
    assert (metrics.pcr_tight, metrics.acr_precision, metrics.acr_recall) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("piece", [0, 4, 8])
def test_a_left_over_piece_is_placed(nine: Nine, piece: int) -> None:
    puzzle, _, rows, truth, _ = nine
    found, stats = second_round(nine, rows, without(truth, piece))
    assert stats.components_merged == 1
    assert_whole(puzzle, found, truth)


@pytest.mark.parametrize("components", [((0, 1, 2, 3), (4, 5, 6, 7, 8)), ((0, 5), (1, 6), (2, 7), (3, 8))])
def test_groups_are_merged(nine: Nine, components: tuple[tuple[int, ...], ...]) -> None:
    puzzle, _, rows, truth, _ = nine
    start = true_components(truth, *components)
    found, stats = second_round(nine, rows, start)
    assert stats.components_merged == len(components) + len(start.unplaced) - 1
    assert_whole(puzzle, found, truth)


def test_a_weak_candidate_is_judged_by_all_borders_that_meet(nine: Nine) -> None:
    puzzle, _, rows, truth, _ = nine
    weak = replace(rows, score=0.01 + 0.01 * rows.score)
    found, stats = second_round(nine, weak, without(truth, 4))
    assert stats.components_merged == 1
    assert_whole(puzzle, found, truth)


def test_without_candidates_the_joint_border_of_a_group_finds_the_place(nine: Nine) -> None:
    puzzle, _, _, truth, _ = nine
    found, stats = second_round(nine, NONE, without(truth, 4))
    assert stats.components_merged == 1
    assert_whole(puzzle, found, truth)


def test_no_more_candidates_are_tried_than_allowed(nine: Nine) -> None:
    _, borders, rows, truth, evidence = nine
    no_new = replace(evidence, match_components=lambda components: NONE)
    for most, merged in ((0, 0), (2000, 1)):
        config = SecondRoundConfig(most_candidates=most)
        _, stats = look_again(rows, borders, without(truth, 4), no_new, MIN_SCORE, config)
        assert stats.components_merged == merged


def test_candidates_scored_too_low_are_not_tried(nine: Nine) -> None:
    _, borders, rows, truth, evidence = nine
    no_new = replace(evidence, match_components=lambda components: NONE)
    weak = replace(rows, score=np.full(len(rows), 0.01))
    for least, merged in ((0.02, 0), (0.005, 1)):
        config = SecondRoundConfig(min_candidate=least)
        _, stats = look_again(weak, borders, without(truth, 4), no_new, MIN_SCORE, config)
        assert stats.components_merged == merged


def test_the_scorer_has_the_last_word(nine: Nine) -> None:
    _, borders, rows, truth, evidence = nine
    asked: list[int] = []

    def never(seams: Candidates) -> FloatArray:
        asked.append(len(seams))
        assert seams.measured.all()
        assert np.isfinite(seams.fit).all()
        return np.zeros(len(seams))

    found, stats = look_again(rows, borders, without(truth, 4), replace(evidence, score=never), MIN_SCORE, NO_GUESSES)
    assert stats.components_merged == 0
    assert found.unplaced == (4,)
    assert len(asked) > 1


def test_groups_are_handed_out_whole_and_each_in_its_frame(nine: Nine) -> None:
    """What `match_components` finds is a relation of two components; one that holds in the truth puts them together."""
    puzzle, borders, _, truth, evidence = nine
    start = true_components(truth, (0, 1, 2, 3), (4, 5, 6, 7, 8))

    def true_relation(components: Sequence[Mapping[int, SE2]]) -> Candidates:
        assert sorted(sorted(component) for component in components) == [[0, 1, 2, 3], [4, 5, 6, 7, 8]]
        frames = [component[min(component)] @ truth.poses[min(component)].inverse() for component in components]
        return Candidates.make([0], [1], pose_row(frames[0] @ frames[1].inverse()))

    found, stats = look_again(NONE, borders, start, replace(evidence, match_components=true_relation), MIN_SCORE, CONFIG)
    assert stats.components_merged == 1
    assert_whole(puzzle, found, truth)


def test_stopped_early_nothing_is_merged_but_neighbours_are_named(nine: Nine) -> None:
    _, borders, rows, truth, evidence = nine
    found, stats = look_again(
        rows, borders, without(truth, 4), evidence, MIN_SCORE, CONFIG, context=Context(stop=Stop.after(0.0))
    )
    assert stats.components_merged == 0
    assert found.unplaced == (4,)
    assert found.joins


def test_nothing_is_merged_on_less_evidence_than_asked(nine: Nine) -> None:
    _, _, rows, truth, _ = nine
    found, stats = second_round(nine, rows, without(truth, 4), NEVER, NO_GUESSES)
    assert stats.components_merged == 0
    assert found.unplaced == (4,)


def test_what_is_whole_stays_as_it_is(nine: Nine) -> None:
    puzzle, borders, rows, truth, _ = nine
    found, stats = second_round(nine, rows, truth)
    assert stats.components_merged == 0
    assert_whole(puzzle, found, truth)
    for idx in range(1, 9):
        angle, distance = true_join(found, 0, idx).i_from_j.distance(true_join(truth, 0, idx).i_from_j, borders.center[idx])
        assert angle < 1e-6
        assert distance < 1e-3


def test_every_pair_that_touches_is_named_once_and_no_other(nine: Nine) -> None:
    puzzle, borders, _, truth, _ = nine
    joins = second_round(nine, NONE, truth)[0].joins
    pairs = [(e.alignment.i, e.alignment.j) for e in joins]
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) >= true_neighbors(puzzle, truth, gap_px=2.5)
    assert set(pairs) <= {(b.i, b.j) for b in common_borders(puzzle, truth, gap_px=5.0, min_share=0.0)}
    for e in joins:
        assert 0 <= e.score <= 1
        true_pose = truth.poses[e.alignment.i].inverse() @ truth.poses[e.alignment.j]
        assert e.alignment.i_from_j.distance(true_pose, borders.center[e.alignment.j])[1] < 0.01, "measured, not moved"


def test_joins_are_implied_within_a_component_only(nine: Nine) -> None:
    _, _, _, truth, _ = nine
    start = true_components(truth, (0, 1, 2, 3), (4, 5, 6, 7, 8))
    joins = second_round(nine, NONE, start, NEVER, NO_GUESSES)[0].joins
    assert joins
    assert all(any({e.alignment.i, e.alignment.j} <= set(component) for component in start.components) for e in joins)
    assert second_round(nine, NONE, Assembly(9, {}, ()), NEVER)[0].joins == ()


def test_added_joins_are_counted(nine: Nine) -> None:
    puzzle, _, _, truth, _ = nine
    found, stats = second_round(nine, NONE, truth)
    assert stats.joins_added == len(found.joins) >= len(true_neighbors(puzzle, truth, gap_px=2.5))


@pytest.mark.parametrize("share", ["one", "all"])
def test_a_forbidden_join_is_not_brought_about(nine: Nine, share: str) -> None:
    puzzle, borders, rows, truth, _ = nine
    neighbors = sorted(pair for pair in true_neighbors(puzzle, truth, gap_px=2.5) if 4 in pair)
    forbidden = tuple(true_join(truth, i, j) for i, j in (neighbors[:1] if share == "one" else neighbors))
    found, _ = second_round(nine, rows, without(truth, 4), constraints=Constraints(forbidden=forbidden))
    for join in forbidden:
        if join.i in found.poses and join.j in found.poses:
            assert not is_near(true_join(found, join.i, join.j), join, borders)
        assert all(not is_near(e.alignment, join, borders) for e in found.joins)


def test_a_forbidden_join_is_not_named_where_other_joins_imply_it(nine: Nine) -> None:
    puzzle, borders, rows, truth, _ = nine
    join = true_join(truth, *min(true_neighbors(puzzle, truth, gap_px=2.5)))
    found, _ = second_round(nine, rows, truth, constraints=Constraints(forbidden=(join,)))
    assert all(not is_near(e.alignment, join, borders) for e in found.joins)


def test_a_piece_set_aside_is_left_alone(nine: Nine) -> None:
    _, _, rows, truth, _ = nine
    found, stats = second_round(nine, rows, without(truth, 4), constraints=Constraints(aside=frozenset({4})))
    assert stats.components_merged == 0
    assert found.unplaced == (4,)
    assert all(4 not in (e.alignment.i, e.alignment.j) for e in found.joins)


def test_nothing_at_all_is_harmless() -> None:
    walk = Corridor(Puzzle("none", ()))
    evidence = _evidence({"scene": walk.get("scene")}, walk.config, walk.context)
    found, stats = look_again(NONE, build_borders([]), Assembly(0, {}, ()), evidence, MIN_SCORE, CONFIG)
    assert (found.components, found.joins, stats) == ((), (), SecondRoundStats(0, 0))


def test_pieces_without_candidates_or_poses_are_harmless(nine: Nine) -> None:
    puzzle, _, _, truth, _ = nine
    found, _ = second_round(nine, NONE, Assembly(9, {}, ()))
    assert evaluate(puzzle, found, truth, gap_px=2.5).acr_precision in (None, 1.0)


def test_the_second_round_can_be_switched_off(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, _ = tiny_puzzle
    with_it = solve_puzzle(puzzle).report.stages
    without_it = solve_puzzle(puzzle, SolveConfig(second_round=SecondRoundConfig(enabled=False))).report.stages
    assert [s.name for s in with_it if s.name not in {t.name for t in without_it}] == ["second round"]


@pytest.mark.parametrize("options", [{"min_candidate": -0.1}, {"min_candidate": 1.1}, {"most_candidates": -1}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        SecondRoundConfig(**options)  # type: ignore[arg-type]


def test_a_pinned_piece_keeps_its_pose_exactly(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    pose = SE2(0.5, 123.25, -40.5)
    found = solve_puzzle(puzzle, constraints=Constraints(pinned={2: pose})).assembly
    assert found.poses[2] == pose
    assert evaluate(puzzle, found, truth).pcr_tight == 1.0


def test_a_piece_set_aside_stays_unplaced_through_a_whole_solve(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, _ = tiny_puzzle
    found = solve_puzzle(puzzle, constraints=Constraints(aside=frozenset({1}))).assembly
    assert found.unplaced == (1,)
    assert found.components == ((0, 2, 3),)


def test_no_time_at_all_still_gives_an_assembly(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, _ = tiny_puzzle
    found = solve_puzzle(puzzle, context=Context(stop=Stop.after(0.0))).assembly
    assert found.n_pieces == 4
    assert all(np.isfinite((p.theta, p.x, p.y)).all() for p in found.poses.values())


def test_it_tells_how_far_it_is_and_a_stop_ends_it_without_looking_further(nine: Nine) -> None:
    told: list[tuple[str, int, int]] = []
    rows, start = nine.rows, without(nine.truth, 4)
    arguments = (rows, nine.borders, start, nine.evidence, MIN_SCORE, CONFIG, NOTHING_DECIDED)
    look_again(*arguments, Context(lambda *words: told.append(words)))
    shares = [done for _, done, _ in told]
    assert {(name, total) for name, _, total in told} == {("second round", 100)}
    assert shares == sorted(shares)
    assert shares[-1] >= 80
    stop = Stop()
    stop.request()
    asked: list[str] = []
    never = Evidence(*(lambda *_, name=name: asked.append(name) for name in ("measure", "score", "match")))
    found, stats = look_again(rows, nine.borders, start, never, MIN_SCORE, CONFIG, NOTHING_DECIDED, Context(stop=stop))
    assert (stats.components_merged, stats.joins_added) == (0, 0)
    assert found.components == start.components
    assert not asked


def ragged(rows: Candidates) -> Candidates:
    """The same candidates, as of a puzzle whose contact was measured."""
    return replace(rows, contact=np.zeros_like(rows.contact))


def doubting(nine: Nine, score: float) -> Nine:
    """The same puzzle, every seam scored by so much, and nothing new found along joint borders."""
    evidence = Evidence(nine.evidence.measure, lambda rows: np.full(len(rows), score), lambda components: NONE)
    return nine._replace(evidence=evidence)


def scored_by(rows: Candidates, score: float) -> Candidates:
    return replace(rows, score=np.full(len(rows), score))


def true_rows(nine: Nine) -> Candidates:
    """Every pair of neighbours as it lies, and nothing else."""
    pairs = true_neighbors(nine.puzzle, nine.truth, gap_px=2.5)
    joins = [true_join(nine.truth, i, j) for i, j in sorted(pairs)]
    return nine.evidence.measure(Candidates.of(joins))


@pytest.mark.parametrize(
    ("score", "guess", "placed"), [(0.12, 0.1, True), (0.12, 0.5, False), (0.02, 0.1, False), (0.12, 1.0, False)]
)
def test_in_a_ragged_puzzle_the_best_place_of_what_is_left_is_a_guess(
    nine: Nine, score: float, guess: float, placed: bool
) -> None:
    rows = ragged(scored_by(true_rows(nine), score))
    config = SecondRoundConfig(guess=guess)
    found, _ = second_round(doubting(nine, score), rows, without(nine.truth, 4), config=config)
    assert (4 in found.poses) is placed
    if placed:
        assert_whole(nine.puzzle, found, nine.truth)


def test_a_clean_puzzle_has_no_guesses(nine: Nine) -> None:
    rows = scored_by(true_rows(nine), 0.12)
    found, stats = second_round(doubting(nine, 0.12), rows, without(nine.truth, 4))
    assert 4 not in found.poses
    assert stats.components_merged == 0


def test_two_pieces_are_not_joined_by_a_guess_to_a_third(nine: Nine) -> None:
    rows = ragged(scored_by(true_rows(nine), 0.12))
    found, _ = second_round(doubting(nine, 0.12), rows, true_components(nine.truth, (0, 1)))
    assert set(found.poses) == {0, 1}


def test_in_a_puzzle_of_four_a_pair_is_enough_to_guess_beside(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    four = evidence_of(*tiny_puzzle)
    rows = ragged(scored_by(true_rows(four), 0.12))
    found, _ = second_round(doubting(four, 0.12), rows, true_components(four.truth, (0, 1)))
    assert set(found.poses) == {0, 1, 2, 3}


def test_the_better_of_two_guesses_comes_first(nine: Nine) -> None:
    """The right place of a piece scores more than a wrong one in which it meets as much border."""
    truth = nine.truth
    wrong = truth.poses[4] @ SE2(0.0, 6.0, 0.0)  # its own place, six px aside

    def score(rows: Candidates) -> FloatArray:
        off = [rows.i_from_j(k).distance(truth.poses[i].inverse() @ truth.poses[j])[1] for k, (i, j) in enumerate(pairs(rows))]
        return np.where(np.array(off) > 3.0, 0.15, 0.4)

    right = true_rows(nine)
    beside = [k for k, pair in enumerate(pairs(right)) if 4 in pair]
    shifted = [
        Alignment(i, j, (wrong if i == 4 else truth.poses[i]).inverse() @ (wrong if j == 4 else truth.poses[j]), fit=1.0)
        for i, j in (pairs(right)[k] for k in beside)
    ]
    rows = Candidates.concat([nine.evidence.measure(Candidates.of(shifted)), right])
    evidence = Evidence(lambda rows: replace(rows, **measured(nine, rows)), score, lambda components: NONE)
    found, _ = second_round(nine._replace(evidence=evidence), ragged(scored_by(rows, 0.3)), without(truth, 4))
    assert_whole(nine.puzzle, found, truth)


def test_one_good_border_does_not_outweigh_all_bad_ones(nine: Nine) -> None:
    rows = true_rows(nine)
    shortest = np.argsort(rows.feature("length"), kind="stable")
    good = next(pairs(rows)[k] for k in shortest if 4 in pairs(rows)[k])

    def score(rows: Candidates) -> FloatArray:
        return np.array([0.55 if pair == good else 0.0 for pair in pairs(rows)])

    evidence = Evidence(lambda rows: replace(rows, **measured(nine, rows)), score, lambda components: NONE)
    found, _ = second_round(nine._replace(evidence=evidence), scored_by(rows, 0.3), without(nine.truth, 4))
    assert 4 not in found.poses


def pairs(rows: Candidates) -> list[tuple[int, int]]:
    return list(zip(rows.i.tolist(), rows.j.tolist(), strict=True))


def measured(nine: Nine, rows: Candidates) -> dict[str, FloatArray]:
    """Seams as long as they are, all of them fitting well enough to be scored."""
    return {"features": nine.evidence.measure(rows).features, "fit": np.ones(len(rows))}


def test_of_many_pieces_the_same_neighbours_are_found(nine: Nine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of hundreds of pieces a tree is asked for what lies near, instead of all pairs."""
    whole = tuple(range(9))
    few = second_round_module._near_pairs(nine.borders, whole, nine.truth.poses)
    monkeypatch.setattr(second_round_module, "_FEW_PIECES", 2)
    assert second_round_module._near_pairs(nine.borders, whole, nine.truth.poses) == few
    assert 12 <= len(few) < 36


def test_pieces_that_meet_come_in_the_order_of_their_components(nine: Nine) -> None:
    """Whichever of the two is the larger one; what is measured together is then measured alike."""
    rows = np.array([(idx, *pose_row(nine.truth.poses[idx])) for idx in (4, 0, 8, 1, 7, 3, 5, 2, 6)])
    for cut in (2, 7):
        fixed, moving = rows[:cut], rows[cut:]
        told = second_round_module._meeting(nine.borders, fixed, moving, 0.0)
        near = second_round_module._near_pairs(nine.borders, range(9), nine.truth.poses)
        expected = [(min(a, b), max(a, b)) for a in fixed[:, 0].astype(int) for b in moving[:, 0].astype(int)]
        assert told == [pair for pair in expected if pair in near]


def bent(truth: Assembly, piece: int, by_px: float) -> Assembly:
    """All but one piece, each shifted away from that one's place, as errors of joins add up around a hole."""
    middle = truth.poses[piece]
    poses = {}
    for idx, pose in truth.poses.items():
        away = np.array([pose.x - middle.x, pose.y - middle.y])
        away *= by_px / max(1.0, float(np.hypot(*away)))
        poses[idx] = SE2(pose.theta, pose.x + away[0], pose.y + away[1])
    return without(Assembly(truth.n_pieces, poses, truth.components), piece)


def offering(nine: Nine, join: Alignment, score: float = 0.02) -> Nine:
    """The same puzzle, in which what is printed convinces nobody, and one join of two components is found."""

    def match(components: Sequence[Mapping[int, SE2]]) -> Candidates:
        a, b = (next(k for k, own in enumerate(components) if idx in own) for idx in (join.i, join.j))
        frame_from_frame = components[a][join.i] @ join.i_from_j @ components[b][join.j].inverse()
        first, second, pose = (a, b, frame_from_frame) if a < b else (b, a, frame_from_frame.inverse())
        return Candidates.make([first], [second], np.array([[pose.theta, pose.x, pose.y]]))

    return nine._replace(evidence=replace(nine.evidence, score=lambda rows: np.full(len(rows), score), match_components=match))


@pytest.mark.parametrize(("guess", "settles", "placed"), [(0.1, True, True), (1.0, True, False), (0.1, False, False)])
def test_what_closes_a_hole_is_placed_by_its_shape_though_the_hole_is_bent(
    nine: Nine, guess: float, settles: bool, placed: bool
) -> None:
    neighbors = true_neighbors(nine.puzzle, nine.truth, gap_px=2.5)
    hole = max(range(9), key=lambda k: sum(k in pair for pair in neighbors))
    start = bent(nine.truth, hole, by_px=2.0)
    one = offering(nine, true_join(nine.truth, *min(pair for pair in neighbors if hole in pair)))
    if not settles:
        one = one._replace(
            evidence=Evidence(*(getattr(one.evidence, name) for name in ("measure", "score", "match_components")))
        )
    found, _ = second_round(one, NONE, start, config=SecondRoundConfig(guess=guess))
    assert (hole in found.poses) is placed


def test_neither_a_wrong_place_nor_a_single_border_is_filled_by_shape(nine: Nine) -> None:
    truth = nine.truth
    wrong = Alignment(1, 4, true_join(truth, 1, 4).i_from_j @ SE2(0.0, 12.0, 0.0), 1.0)
    assert 4 not in second_round(offering(nine, wrong), NONE, without(truth, 4))[0].poses
    neighbors = true_neighbors(nine.puzzle, truth, gap_px=2.5)
    a, b = min(neighbors)
    others = [k for k in range(9) if k not in {a, b} and not {tuple(sorted((k, b)))} & neighbors]
    linked = [k for k in others if {tuple(sorted((k, a)))} & neighbors]
    start = true_components(truth, [a, *linked])
    found, _ = second_round(offering(nine, true_join(truth, a, b)), NONE, start)
    assert b not in found.poses
