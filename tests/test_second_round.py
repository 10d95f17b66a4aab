"""The second round: left-over pieces and groups are joined on joint evidence, neighbours are named, and a person is obeyed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from jigsawnet import second_round as module
from jigsawnet.compose.constraints import is_near
from jigsawnet.config import SolveConfig
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.evaluation.metrics import evaluate
from jigsawnet.evaluation.neighbors import common_borders, true_neighbors
from jigsawnet.geometry import SE2
from jigsawnet.graph import build_graph
from jigsawnet.match import MatchConfig, propose_alignments
from jigsawnet.pipeline import solve_puzzle
from jigsawnet.raster import ShapeBank, build_bank
from jigsawnet.second_round import SecondRoundConfig, SecondRoundStats, second_round
from jigsawnet.types import Alignment, Assembly, Constraints, Edge, MatchGraph, Puzzle, sort_components

Nine = tuple[Puzzle, ShapeBank, MatchGraph, Assembly]
CONFIG = SecondRoundConfig()
MIN_SCORE = 0.5
NEVER = 1.01
"""A score that no lay can reach."""


@pytest.fixture(scope="module")
def nine(nine_pieces: tuple[Puzzle, Assembly]) -> Nine:
    """Nine pieces, their bank, their candidates, and the truth."""
    puzzle, truth = nine_pieces
    bank = build_bank(trace_contours(puzzle, ContourConfig()))
    alignments = propose_alignments(bank, "dense", MatchConfig())
    return puzzle, bank, build_graph(len(puzzle), alignments, [a.fit for a in alignments]), truth


def true_groups(truth: Assembly, *groups: Iterable[int]) -> Assembly:
    """Some groups laid rightly, each in a frame of its own; all other pieces are unplaced."""
    poses = {}
    for k, group in enumerate(groups):
        frame = SE2(0.7 * k, 500.0 * k, -80.0 * k)
        poses |= {idx: frame @ truth.poses[idx] for idx in group}
    return Assembly(truth.n_fragments, poses, sort_components(groups))


def without(truth: Assembly, piece: int) -> Assembly:
    return true_groups(truth, [idx for idx in range(truth.n_fragments) if idx != piece])


def true_join(truth: Assembly, i: int, j: int) -> Alignment:
    return Alignment(i, j, truth.poses[i].inverse() @ truth.poses[j], fit=1.0)


def assert_whole(puzzle: Puzzle, found: Assembly, truth: Assembly) -> None:
    metrics = evaluate(puzzle, found, truth, gap_px=2.5)
    assert found.complete
    assert (metrics.pcr_tight, metrics.acr_precision, metrics.acr_recall) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("piece", [0, 4, 8])
def test_a_left_over_piece_is_placed(nine: Nine, piece: int) -> None:
    puzzle, bank, graph, truth = nine
    found, stats = second_round(puzzle, bank, graph, without(truth, piece), MIN_SCORE, CONFIG)
    assert stats.groups_merged == 1
    assert_whole(puzzle, found, truth)


@pytest.mark.parametrize("groups", [((0, 1, 2, 3), (4, 5, 6, 7, 8)), ((0, 5), (1, 6), (2, 7), (3, 8))])
def test_groups_are_merged(nine: Nine, groups: tuple[tuple[int, ...], ...]) -> None:
    puzzle, bank, graph, truth = nine
    start = true_groups(truth, *groups)
    found, stats = second_round(puzzle, bank, graph, start, MIN_SCORE, CONFIG)
    assert stats.groups_merged == len(groups) + len(start.unplaced) - 1
    assert_whole(puzzle, found, truth)


def test_a_weak_candidate_is_judged_by_all_borders_that_meet(nine: Nine) -> None:
    puzzle, bank, graph, truth = nine
    weak = MatchGraph(9, tuple(Edge(e.alignment, 0.01 + 0.01 * e.score) for e in graph.edges))
    found, stats = second_round(puzzle, bank, weak, without(truth, 4), MIN_SCORE, CONFIG)
    assert stats.groups_merged == 1
    assert_whole(puzzle, found, truth)


def test_without_candidates_the_joint_border_of_a_group_finds_the_place(nine: Nine) -> None:
    puzzle, bank, _, truth = nine
    found, stats = second_round(puzzle, bank, MatchGraph(9, ()), without(truth, 4), MIN_SCORE, CONFIG)
    assert stats.groups_merged == 1
    assert_whole(puzzle, found, truth)


def test_no_more_candidates_are_tried_than_allowed(nine: Nine, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle, bank, graph, truth = nine
    monkeypatch.setattr(module, "_super_alignments", lambda *_: [])
    for most, merged in ((0, 0), (2000, 1)):
        _, stats = second_round(puzzle, bank, graph, without(truth, 4), MIN_SCORE, SecondRoundConfig(most_candidates=most))
        assert stats.groups_merged == merged


def test_nothing_is_merged_on_less_evidence_than_asked(nine: Nine) -> None:
    puzzle, bank, graph, truth = nine
    found, stats = second_round(puzzle, bank, graph, without(truth, 4), NEVER, CONFIG)
    assert stats.groups_merged == 0
    assert found.unplaced == (4,)


def test_what_is_whole_stays_as_it_is(nine: Nine) -> None:
    puzzle, bank, graph, truth = nine
    found, stats = second_round(puzzle, bank, graph, truth, MIN_SCORE, CONFIG)
    assert stats.groups_merged == 0
    assert_whole(puzzle, found, truth)
    for idx in range(1, 9):
        angle, distance = true_join(found, 0, idx).i_from_j.distance(true_join(truth, 0, idx).i_from_j, bank.center[idx])
        assert angle < 1e-6
        assert distance < 1e-3


def test_every_pair_that_touches_is_named_once_and_no_other(nine: Nine) -> None:
    puzzle, bank, _, truth = nine
    joins = second_round(puzzle, bank, MatchGraph(9, ()), truth, MIN_SCORE, CONFIG)[0].edges
    pairs = [(e.alignment.i, e.alignment.j) for e in joins]
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) >= true_neighbors(puzzle, truth, gap_px=2.5)
    assert set(pairs) <= {(b.i, b.j) for b in common_borders(puzzle, truth, gap_px=5.0, min_share=0.0)}
    for e in joins:
        assert 0 <= e.score <= 1
        true_pose = truth.poses[e.alignment.i].inverse() @ truth.poses[e.alignment.j]
        assert e.alignment.i_from_j.distance(true_pose, bank.center[e.alignment.j])[1] < 0.01, "measured, not moved"


def test_joins_are_implied_within_a_component_only(nine: Nine) -> None:
    puzzle, bank, _, truth = nine
    start = true_groups(truth, (0, 1, 2, 3), (4, 5, 6, 7, 8))
    joins = second_round(puzzle, bank, MatchGraph(9, ()), start, NEVER, CONFIG)[0].edges
    assert joins
    assert all(any({e.alignment.i, e.alignment.j} <= set(group) for group in start.components) for e in joins)
    assert second_round(puzzle, bank, MatchGraph(9, ()), Assembly(9, {}, ()), NEVER, CONFIG)[0].edges == ()


def test_added_joins_are_counted(nine: Nine) -> None:
    puzzle, bank, _, truth = nine
    found, stats = second_round(puzzle, bank, MatchGraph(9, ()), truth, MIN_SCORE, CONFIG)
    assert stats.joins_added == len(found.edges) >= len(true_neighbors(puzzle, truth, gap_px=2.5))


@pytest.mark.parametrize("share", ["one", "all"])
def test_a_forbidden_join_is_not_brought_about(nine: Nine, share: str) -> None:
    puzzle, bank, graph, truth = nine
    neighbors = sorted(pair for pair in true_neighbors(puzzle, truth, gap_px=2.5) if 4 in pair)
    forbidden = tuple(true_join(truth, i, j) for i, j in (neighbors[:1] if share == "one" else neighbors))
    found, _ = second_round(puzzle, bank, graph, without(truth, 4), MIN_SCORE, CONFIG, Constraints(forbidden=forbidden))
    for join in forbidden:
        if join.i in found.poses and join.j in found.poses:
            assert not is_near(true_join(found, join.i, join.j), join, bank)
        assert all(not is_near(e.alignment, join, bank) for e in found.edges)


def test_a_forbidden_join_is_not_named_where_other_joins_imply_it(nine: Nine) -> None:
    puzzle, bank, graph, truth = nine
    join = true_join(truth, *min(true_neighbors(puzzle, truth, gap_px=2.5)))
    found, _ = second_round(puzzle, bank, graph, truth, MIN_SCORE, CONFIG, Constraints(forbidden=(join,)))
    assert all(not is_near(e.alignment, join, bank) for e in found.edges)


def test_a_piece_set_aside_is_left_alone(nine: Nine) -> None:
    puzzle, bank, graph, truth = nine
    found, stats = second_round(puzzle, bank, graph, without(truth, 4), MIN_SCORE, CONFIG, Constraints(aside=frozenset({4})))
    assert stats.groups_merged == 0
    assert found.unplaced == (4,)
    assert all(4 not in (e.alignment.i, e.alignment.j) for e in found.edges)


def test_nothing_at_all_is_harmless() -> None:
    puzzle, bank = Puzzle("none", ()), build_bank([])
    found, stats = second_round(puzzle, bank, MatchGraph(0, ()), Assembly(0, {}, ()), MIN_SCORE, CONFIG)
    assert (found.components, found.edges, stats) == ((), (), SecondRoundStats(0, 0))


def test_pieces_without_candidates_or_poses_are_harmless(nine: Nine) -> None:
    puzzle, bank, _, truth = nine
    found, _ = second_round(puzzle, bank, MatchGraph(9, ()), Assembly(9, {}, ()), MIN_SCORE, CONFIG)
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
    found = solve_puzzle(puzzle, time_limit=0.0).assembly
    assert found.n_fragments == 4
    assert all(np.isfinite((p.theta, p.x, p.y)).all() for p in found.poses.values())
