"""Confidence: probabilities that grow with support and shrink with rivals, and pieces left out that are not sure enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.candidates import Candidates
from jigsawnet.confidence import join_features, judge_assembly, leave_out_unsure
from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2
from jigsawnet.learned import load_learned
from jigsawnet.pipeline import solve_puzzle
from jigsawnet.types import Alignment, Assembly, Constraints, Join, Puzzle

Pair = tuple[int, int]
WEIGHTS = load_learned().confidence
NONE = Candidates.none()


def scored(*joins: Join) -> Candidates:
    return Candidates.of([e.alignment for e in joins]).with_scores(np.array([e.score for e in joins]))


def join(pair: Pair, fit: float = 0.8) -> Join:
    return Join(Alignment(*pair, SE2.identity(), fit), fit)


def one_component(n: int, *pairs: Pair, fit: float = 0.8) -> Assembly:
    """All n pieces in one component, held by the joins given."""
    joins = tuple(join(pair, fit) for pair in pairs)
    return Assembly(n, {k: SE2(0.1 * k, 10.0 * k, 0.0) for k in range(n)}, (tuple(range(n)),), joins)


def judged(assembly: Assembly, *rivals: Join) -> dict[Pair, float]:
    """The confidence of every join, once the rivals are among the candidates too; nothing else about it changes."""
    wider = replace(assembly, n_pieces=assembly.n_pieces + 5)
    found = judge_assembly(wider, scored(*assembly.joins, *rivals), WEIGHTS)
    assert [(e.alignment, e.score) for e in found.joins] == [(e.alignment, e.score) for e in assembly.joins]
    return {(e.alignment.i, e.alignment.j): e.confidence for e in found.joins}


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda p: p[0] < p[1]), st.floats(0, 1)))
def test_confidences_are_probabilities_and_scores_stay(fits: dict[Pair, float]) -> None:
    joins = tuple(join(pair, fit) for pair, fit in fits.items())
    plain = one_component(6)
    assembly = Assembly(6, plain.poses, plain.components, joins[::2])
    found = judge_assembly(assembly, scored(*joins), WEIGHTS)
    assert [(e.alignment, e.score) for e in found.joins] == [(e.alignment, e.score) for e in assembly.joins]
    assert set(found.confidence) == set(range(6))
    assert all(0 <= value <= 1 for value in (*found.confidence.values(), *(e.confidence for e in found.joins)))
    for e in found.joins:
        assert min(found.confidence[e.alignment.i], found.confidence[e.alignment.j]) >= e.confidence - 1e-9


@pytest.mark.parametrize("loop", [((0, 1), (1, 2), (0, 2)), ((0, 1), (1, 2), (2, 3), (0, 3))], ids=["three", "four"])
def test_a_join_in_a_closed_loop_is_surer_than_the_same_join_alone(loop: tuple[Pair, ...]) -> None:
    n = len(loop)
    assert judged(one_component(n, *loop))[0, 1] > judged(one_component(n, *loop[:-1]))[0, 1]


def test_a_better_seam_makes_a_join_surer() -> None:
    scores = [judged(one_component(2, (0, 1), fit=fit))[0, 1] for fit in (0.05, 0.5, 0.95)]
    assert scores == sorted(scores)
    assert scores[0] < scores[1] < scores[2]


def test_a_rival_close_behind_makes_a_join_less_sure() -> None:
    pair = one_component(2, (0, 1), fit=0.9)
    alone, far, close = judged(pair)[0, 1], judged(pair, join((1, 2), 0.1))[0, 1], judged(pair, join((1, 2), 0.88))[0, 1]
    assert alone > far > close


def test_a_rival_of_other_pieces_does_not_matter() -> None:
    pair = one_component(2, (0, 1))
    assert judged(pair) == judged(pair, join((3, 4), 0.99))


def test_a_piece_held_by_two_joins_is_surer_than_by_either() -> None:
    assembly = one_component(3, (0, 1), (1, 2), fit=0.3)
    found = judge_assembly(assembly, scored(*assembly.joins), WEIGHTS)
    first, second = (e.confidence for e in found.joins)
    assert found.confidence[1] == pytest.approx(1 - (1 - first) * (1 - second))
    assert found.confidence[1] > max(found.confidence[0], found.confidence[2])


def test_features_have_four_columns_even_without_joins() -> None:
    assert join_features(one_component(3), NONE).shape == (0, 4)
    assert join_features(one_component(3, (0, 1), (1, 2)), NONE).shape == (2, 4)
    nothing = judge_assembly(Assembly(3, {}, ()), NONE, WEIGHTS)
    assert (nothing.joins, dict(nothing.confidence)) == ((), {})


def test_features_count_loops_and_tell_when_there_are_none() -> None:
    two_triangles = one_component(5, (0, 1), (1, 2), (0, 2), (1, 3), (2, 3), (3, 4))
    rows = dict(zip([(0, 1), (1, 2), (0, 2), (1, 3), (2, 3), (3, 4)], join_features(two_triangles, NONE), strict=True))
    assert rows[1, 2][1:3].tolist() == [2.0, 0.0], "in both triangles; the square of the other four joins passes it by"
    assert rows[0, 1][1:3].tolist() == [2.0, 0.0], "in one triangle and the square"
    assert rows[3, 4][1:3].tolist() == [0.0, 1.0]


def with_confidence(assembly: Assembly, **low: float) -> Assembly:
    confidence = {idx: low.get(f"piece_{idx}", 0.9) for idx in assembly.poses}
    return Assembly(assembly.n_pieces, assembly.poses, assembly.components, assembly.joins, confidence)


def pairs_of(assembly: Assembly) -> list[Pair]:
    return [(e.alignment.i, e.alignment.j) for e in assembly.joins]


def test_what_an_unsure_piece_alone_connected_falls_apart() -> None:
    chain = one_component(6, (0, 1), (1, 2), (2, 3), (3, 4), (4, 5))
    found = leave_out_unsure(with_confidence(chain, piece_2=0.4), 0.5)
    assert found.components == ((3, 4, 5), (0, 1))
    assert found.unplaced == (2,)
    assert pairs_of(found) == [(0, 1), (3, 4), (4, 5)]
    assert all(found.poses[idx] == chain.poses[idx] for idx in found.poses)
    assert set(found.confidence) == set(found.poses)


def test_a_loop_holds_together_without_one_of_its_pieces() -> None:
    loop = one_component(4, (0, 1), (1, 2), (2, 3), (0, 3))
    assert leave_out_unsure(with_confidence(loop, piece_1=0.4), 0.5).components == ((0, 2, 3),)


def test_a_sure_piece_that_is_left_alone_is_unplaced() -> None:
    chain = one_component(4, (0, 1), (1, 2), (2, 3))
    assert leave_out_unsure(with_confidence(chain, piece_1=0.4), 0.5).unplaced == (0, 1)
    star = one_component(4, (0, 1), (0, 2), (0, 3))
    nothing = leave_out_unsure(with_confidence(star, piece_0=0.4), 0.5)
    assert (nothing.components, nothing.joins, nothing.unplaced) == ((), (), (0, 1, 2, 3))


def test_zero_keeps_everything_and_the_limit_itself_is_enough() -> None:
    chain = with_confidence(one_component(3, (0, 1), (1, 2)), piece_0=0.0, piece_1=0.0)
    assert leave_out_unsure(chain, 0.0) == chain
    assert leave_out_unsure(with_confidence(chain, piece_1=0.5), 0.5).unplaced == ()


@pytest.mark.parametrize("value", [2, -0.1, float("nan")])
def test_a_confidence_out_of_range_is_refused(value: float) -> None:
    with pytest.raises(ConfigError, match="min-confidence"):
        SolveConfig(min_confidence=value)


def test_every_piece_of_a_solve_is_as_sure_as_wanted(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle, _ = nine_pieces
    all_of_it = solve_puzzle(puzzle).assembly
    limit = float(np.median(list(all_of_it.confidence.values())))
    sure = solve_puzzle(puzzle, SolveConfig(min_confidence=limit)).assembly
    assert all(all_of_it.confidence[idx] >= limit for idx in sure.poses)
    assert set(sure.poses) < set(all_of_it.poses) or limit == min(all_of_it.confidence.values())


def test_a_piece_pinned_alone_stays_where_it_was_put(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    pose = SE2(0.25, 10.0, 20.0)
    decided = Constraints(pinned={0: pose}, aside=frozenset({1, 2, 3}))
    assert dict(solve_puzzle(tiny_puzzle[0], constraints=decided).assembly.poses) == {0: pose}


def test_what_a_person_has_decided_is_certain(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    fixed = Alignment(0, 1, truth.poses[0].inverse() @ truth.poses[1], fit=0.0)
    decided = Constraints(joins=(fixed,), aside=frozenset({2, 3}))
    found = solve_puzzle(puzzle, SolveConfig(min_confidence=1.0), constraints=decided).assembly
    assert found.components == ((0, 1),)
    assert [e.confidence for e in found.joins] == [1.0]
