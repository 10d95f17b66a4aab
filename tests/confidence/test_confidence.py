"""Confidence: probabilities that grow with support and shrink with rivals, doubt that a block shares, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.candidates import Candidates
from jigsawnet.confidence import FEATURES, gather_evidence, judge_assembly, leave_out_unsure
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


def pose(idx: int) -> SE2:
    return SE2(0.1 * idx, 100.0 * idx, 0.0)


def join(pair: Pair, fit: float = 0.8) -> Join:
    """A join that agrees with the poses."""
    i, j = pair
    return Join(Alignment(i, j, pose(i).inverse() @ pose(j), fit), fit)


def rival(pair: Pair, fit: float) -> Join:
    """A candidate that puts its pieces elsewhere."""
    return Join(Alignment(*pair, SE2(1.5, 700.0, 0.0), fit), fit)


def one_component(n: int, *pairs: Pair, fit: float = 0.8) -> Assembly:
    """All n pieces in one component, held by the joins given."""
    joins = tuple(join(pair, fit) for pair in pairs)
    return Assembly(n, {k: pose(k) for k in range(n)}, (tuple(range(n)),), joins)


def judged(assembly: Assembly, *rivals: Join) -> dict[Pair, float]:
    """The confidence of every join, once the rivals are among the candidates too; nothing else about it changes."""
    wider = replace(assembly, n_pieces=assembly.n_pieces + 3)
    found = judge_assembly(wider, scored(*assembly.joins, *rivals), WEIGHTS)
    assert [(e.alignment, e.score) for e in found.joins] == [(e.alignment, e.score) for e in assembly.joins]
    return {(e.alignment.i, e.alignment.j): e.confidence for e in found.joins}


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from([(i, j) for j in range(6) for i in range(j)]), st.floats(0, 1)))
def test_confidences_are_probabilities_and_scores_stay(fits: dict[Pair, float]) -> None:
    joins = tuple(join(pair, fit) for pair, fit in fits.items())
    plain = one_component(6)
    assembly = Assembly(6, plain.poses, plain.components, joins[::2])
    found = judge_assembly(assembly, scored(*joins), WEIGHTS)
    assert [(e.alignment, e.score) for e in found.joins] == [(e.alignment, e.score) for e in assembly.joins]
    assert set(found.confidence) == set(range(6))
    assert all(0 <= value <= 1 for value in (*found.confidence.values(), *(e.confidence for e in found.joins)))
    assert judge_assembly(assembly, scored(*joins), WEIGHTS) == found


@pytest.mark.parametrize("loop", [((0, 1), (1, 2), (0, 2)), ((0, 1), (1, 2), (2, 3), (0, 3))], ids=["three", "four"])
def test_a_join_in_a_closed_loop_is_surer_than_the_same_join_alone(loop: tuple[Pair, ...]) -> None:
    n = len(loop)
    assert judged(one_component(n, *loop))[0, 1] > judged(one_component(n, *loop[:-1]))[0, 1]


@pytest.mark.parametrize(("n_pieces", "may_be_sure"), [(9, False), (7, False), (5, True), (2, True)])
def test_a_join_that_no_loop_holds_is_a_guess_where_less_than_a_third_is_placed(n_pieces: int, may_be_sure: bool) -> None:
    pair = replace(one_component(2, (0, 1), fit=0.99), n_pieces=n_pieces)
    sure = judge_assembly(pair, scored(*pair.joins), WEIGHTS).confidence
    assert all((value > 0.5) == may_be_sure for value in sure.values())


def test_a_better_seam_makes_a_join_surer() -> None:
    scores = [judged(one_component(2, (0, 1), fit=fit))[0, 1] for fit in (0.05, 0.5, 0.95)]
    assert scores == sorted(scores)
    assert scores[0] < scores[1] < scores[2]


def test_a_rival_close_behind_makes_a_join_less_sure() -> None:
    pair = one_component(2, (0, 1), fit=0.9)
    alone, far, close = judged(pair)[0, 1], judged(pair, rival((1, 2), 0.1))[0, 1], judged(pair, rival((1, 2), 0.88))[0, 1]
    assert alone > far > close


def test_a_rival_of_other_pieces_does_not_matter() -> None:
    pair = one_component(2, (0, 1))
    assert judged(pair) == judged(pair, rival((3, 4), 0.99))


def test_a_candidate_that_agrees_with_the_assembly_is_no_rival() -> None:
    pair = one_component(2, (0, 1))
    again = join((0, 1), 0.79)
    near = replace(again, alignment=replace(again.alignment, i_from_j=again.alignment.i_from_j @ SE2(0.01, 1.0, -1.0)))
    assert judged(pair) == judged(pair, near)
    assert judged(pair, rival((0, 1), 0.79))[0, 1] < judged(pair)[0, 1], "the same two pieces otherwise"


@pytest.mark.parametrize("rivals", [1, 3, 6])
def test_of_places_that_fit_alike_one_is_right(rivals: int) -> None:
    assembly = Assembly(9, {k: pose(k) for k in range(2)}, ((0, 1),), (join((0, 1), 0.9),))
    found = judge_assembly(assembly, scored(*assembly.joins, *(rival((0, 2 + k), 0.9) for k in range(rivals))), WEIGHTS)
    assert found.joins[0].confidence <= 1 / (1 + rivals) + 1e-9
    assert found.confidence[0] == found.confidence[1] == found.joins[0].confidence


def test_a_rival_of_one_join_does_not_weaken_two_sides_that_another_join_holds() -> None:
    outside = rival((1, 4), 0.95)
    chain, square = (one_component(5, (0, 1), (1, 2), (2, 3), *more, fit=0.95) for more in ([], [(0, 3)]))
    bound = [gather_evidence(each, scored(*each.joins, outside)).share for each in (chain, square)]
    assert bound[0] == pytest.approx([0.5, 0.5, 0.9975], abs=1e-3)
    assert bound[1].min() > 0.99, "the join of 0 and 3 has no rival"


def test_a_block_that_hangs_on_one_doubtful_join_is_doubtful_as_a_whole() -> None:
    firm = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (4, 5), (5, 6), (4, 6)]
    joins = (*(join(pair, 0.999) for pair in firm), join((3, 4), 0.6))
    assembly = Assembly(7, {k: pose(k) for k in range(7)}, (tuple(range(7)),), joins)
    found = judge_assembly(assembly, scored(*joins, rival((3, 6), 0.55)), WEIGHTS)
    bridge = found.joins[-1].confidence
    assert bridge < 0.8
    assert all(found.confidence[idx] <= bridge + 1e-12 for idx in (4, 5, 6))
    assert all(found.confidence[idx] > 0.95 for idx in range(4))
    assert all(e.confidence > 0.95 for e in found.joins[:-1]), "inside it is firm"


def test_pieces_that_a_person_has_pinned_hold_each_other() -> None:
    assembly = one_component(4, (0, 1), (2, 3), fit=0.99)
    alone = judge_assembly(assembly, scored(*assembly.joins), WEIGHTS)
    assert min(alone.confidence[2], alone.confidence[0]) == 0.0, "no join connects the two halves"
    pinned = judge_assembly(assembly, scored(*assembly.joins), WEIGHTS, Constraints(pinned={0: pose(0), 3: pose(3)}))
    assert pinned.confidence[0] == pinned.confidence[3] == 1.0
    assert pinned.confidence[1] > 0.5
    assert pinned.confidence[2] > 0.5


@pytest.mark.parametrize(("scores", "most"), [((0.6,), 0.84), ((0.1,), 0.19), ((0.6, 0.6), 0.9744), ((0.999,), 1.0)])
def test_a_cut_is_no_surer_than_all_its_seams_together_allow(scores: tuple[float, ...], most: float) -> None:
    firm = [join(pair, 0.9999) for pair in ((0, 1), (2, 3))]
    joins = (*firm, *(join(pair, score) for pair, score in zip([(1, 2), (0, 3)], scores, strict=False)))
    assembly = Assembly(4, {k: pose(k) for k in range(4)}, (tuple(range(4)),), joins)
    evidence = gather_evidence(assembly, scored(*joins))
    assert evidence.share[list(evidence.tree.edges).index(2)] == pytest.approx(most, abs=1e-4)


def test_more_joins_between_two_sides_make_them_surer() -> None:
    pairs = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]
    one = judged(one_component(6, *pairs, fit=0.95))[2, 3]
    two = judged(one_component(6, *pairs, (0, 5), fit=0.95))[2, 3]
    three = judged(one_component(6, *pairs, (0, 5), (1, 4), fit=0.95))[2, 3]
    assert one < two < three


def test_where_hardly_a_piece_is_placed_a_join_that_no_loop_holds_may_be_chance() -> None:
    pair = Assembly(40, {k: pose(k) for k in range(2)}, ((0, 1),), (join((0, 1), 0.99),))
    assert judge_assembly(pair, scored(*pair.joins), WEIGHTS).confidence[0] < 0.5, "so it is a guess"


def test_features_have_their_columns_even_without_joins() -> None:
    assert gather_evidence(one_component(3), NONE).features.shape == (0, len(FEATURES))
    assert gather_evidence(one_component(3, (0, 1), (1, 2)), NONE).features.shape == (2, len(FEATURES))
    nothing = judge_assembly(Assembly(3, {}, ()), NONE, WEIGHTS)
    assert (nothing.joins, dict(nothing.confidence)) == ((), {})


def test_features_are_of_the_joins_that_hold_the_component_together() -> None:
    two_triangles = one_component(5, (0, 1), (1, 2), (0, 2), (1, 3), (2, 3), (3, 4))
    evidence = gather_evidence(two_triangles, scored(rival((1, 4), 0.8)))
    pairs = [pairs_of(two_triangles)[row] for row in evidence.tree.edges]
    assert pairs == [(0, 1), (1, 2), (1, 3), (3, 4)]
    own, no_loop, crowd, usual, placed = evidence.features.T
    assert own == pytest.approx(np.log(4.0))
    assert no_loop.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert crowd == pytest.approx([0.0] * 4, abs=1e-3), "one rival as good at pieces 1 and 4"
    assert usual == pytest.approx(0.0, abs=1e-3)
    assert placed.tolist() == [0.0] * 4
    assert evidence.share == pytest.approx([1.0, 1.0, 1.0, 0.5], abs=0.01), "other joins without a rival cross all but the last"


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
