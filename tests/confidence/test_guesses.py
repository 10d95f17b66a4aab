"""Best guesses: the likeliest place of what was not placed, how likely it is, and nothing said where rivals are as good."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from jigsawnet.candidates import FEATURES, MIDDLE, Candidates
from jigsawnet.confidence.guesses import LEAST, find_best_guesses
from jigsawnet.config import SolveConfig
from jigsawnet.geometry import SE2
from jigsawnet.pipeline import Corridor, guess_places, solve_puzzle
from jigsawnet.shred.squares import SquareName, make_squares
from jigsawnet.types import Alignment, Assembly, BestGuess, Constraints, FloatArray, Puzzle

SIDE = 100.0
RIGHT, BELOW = SE2(0.0, SIDE, 0.0), SE2(0.0, 0.0, SIDE)
EDGE = {RIGHT: (SIDE, SIDE / 2), BELOW: (SIDE / 2, SIDE)}
"""Middles of the sides to the right and below, in the frame of the piece there."""
CENTER = np.full((9, 2), SIDE / 2)
PLACED = Assembly(6, {0: SE2.identity(), 1: RIGHT}, ((0, 1),), (), {0: 0.9, 1: 0.9})
"""Two squares side by side, and four more that are not placed."""


def table(*rows: tuple[int, int, SE2, float]) -> Candidates:
    """Candidates (i, j, i_from_j, score) whose seam is one side of a square."""
    features = np.full((len(rows), len(FEATURES)), np.nan, np.float32)
    features[:, FEATURES.index("length")] = SIDE
    features[:, MIDDLE] = [EDGE.get(pose, (0.0, SIDE / 2)) for _, _, pose, _ in rows]
    i, j, pose, score = zip(*rows, strict=True)
    poses = [(each.theta, each.x, each.y) for each in pose]
    return Candidates.make(i, j, poses, features, fit=0.5).with_scores(np.array(score))


def anywhere(fixed: FloatArray, moving: FloatArray) -> bool:
    return True


def guesses(*rows: tuple[int, int, SE2, float], assembly: Assembly = PLACED, aside: Sequence[int] = ()) -> dict[int, BestGuess]:
    return {each.piece: each for each in find_best_guesses(assembly, table(*rows), CENTER, anywhere, aside)}


def test_the_likeliest_place_comes_first_and_the_next_one_beside_it() -> None:
    found = guesses((1, 2, RIGHT, 0.4), (0, 2, BELOW, 0.2), (1, 3, BELOW, 0.05))
    assert set(found) == {2}
    best, other = found[2].best, found[2].runner_up
    assert (best.beside, best.beside_from_piece) == (1, RIGHT)
    assert other is not None
    assert (other.beside, other.beside_from_piece) == (0, BELOW)
    assert LEAST <= best.probability <= 0.4
    assert 0 < other.probability < best.probability


def test_a_place_beside_another_unplaced_piece_is_one_too_seen_from_both() -> None:
    found = guesses((3, 4, RIGHT, 0.3))
    assert set(found) == {3, 4}
    assert (found[4].best.beside, found[4].best.beside_from_piece) == (3, RIGHT)
    angle, distance = found[3].best.beside_from_piece.distance(RIGHT.inverse())
    assert (found[3].best.beside, angle, distance) == (4, 0.0, pytest.approx(0.0, abs=1e-9))
    assert found[3].best.probability == found[4].best.probability == pytest.approx(0.3)


@pytest.mark.parametrize(("rivals", "at_most"), [(1, 0.5), (2, 1 / 3), (3, 1 / 4)])
def test_of_places_that_exclude_each_other_and_fit_alike_none_is_likelier_than_its_share(rivals: int, at_most: float) -> None:
    elsewhere = [(1, 2, SE2(0.5 * k, SIDE, 0.0), 0.8) for k in range(1, rivals + 1)]
    found = guesses((1, 2, RIGHT, 0.8), *elsewhere)
    assert found[2].best.probability == pytest.approx(at_most, abs=1e-6)


def test_another_piece_for_the_same_side_of_the_neighbour_is_a_rival() -> None:
    alone = guesses((1, 2, RIGHT, 0.8))[2].best.probability
    rivalled = guesses((1, 2, RIGHT, 0.8), (1, 3, RIGHT, 0.8))[2].best.probability
    at_another_side = guesses((1, 2, RIGHT, 0.8), (1, 3, BELOW, 0.8))[2].best.probability
    assert rivalled == pytest.approx(0.5, abs=1e-6)
    assert alone == at_another_side == pytest.approx(0.8)


def test_joins_with_two_placed_pieces_that_agree_are_one_place_and_no_rivals() -> None:
    beside = SE2(0.0, 0.0, SIDE)  # below 1 is the same as right of and below 0
    found = guesses((1, 2, beside, 0.4), (0, 2, RIGHT @ beside, 0.4))
    assert found[2].best.probability == pytest.approx(0.4)
    assert found[2].runner_up is None


def test_what_is_too_unlikely_placed_already_or_aside_has_no_guess() -> None:
    assert guesses((1, 2, RIGHT, LEAST / 2)) == {}
    assert guesses((0, 1, BELOW, 0.9)) == {}
    assert set(guesses((3, 4, RIGHT, 0.3), aside=[3])) == {4}
    assert find_best_guesses(PLACED, Candidates.none(), CENTER, anywhere) == ()


def test_a_place_that_is_taken_is_passed_over() -> None:
    def is_free(fixed: FloatArray, moving: FloatArray) -> bool:
        assert fixed[:, 0].tolist() == [0, 1]  # all of the component is asked
        return bool(moving[0, 3] > 50.0)

    (found,) = find_best_guesses(PLACED, table((1, 2, RIGHT, 0.4), (0, 2, BELOW, 0.2)), CENTER, is_free)
    assert (found.best.beside, found.runner_up) == (0, None)


def test_strips_have_the_probability_of_their_scores() -> None:
    rows = table((1, 2, RIGHT, 0.4), (1, 3, RIGHT, 0.35))
    strips = Candidates.make(rows.i, rows.j, rows.pose, rows.features, fit=0.5, score=rows.score, strokes=1.0)
    assert [each.best.probability for each in find_best_guesses(PLACED, strips, CENTER, anywhere)] == [0.4, 0.35]


def test_what_a_person_rejected_or_set_aside_is_not_guessed(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle, _ = nine_pieces
    config = SolveConfig()
    solved = solve_puzzle(puzzle, config)
    rows = solved.candidates
    weak = rows.with_scores(np.minimum(rows.score, 0.3))
    nothing = Assembly(len(puzzle), {}, ())
    borders = Corridor(puzzle).get("borders")
    found = guess_places(nothing, weak, borders, config, Constraints())
    assert len(found) == len(puzzle), "nothing ends without a guess when the ranking is good"
    first = found[0]
    i, j = sorted((first.piece, first.best.beside))
    pose = first.best.beside_from_piece
    wrong = Alignment(i, j, pose if j == first.piece else pose.inverse(), 1.0)
    again = guess_places(nothing, weak, borders, config, Constraints(forbidden=(wrong,)))
    now = {each.piece: each.best for each in again}
    assert now.get(first.piece) != first.best
    without = guess_places(nothing, weak, borders, config, Constraints(aside=frozenset({0})))
    assert all(0 not in (each.piece, each.best.beside) for each in without)


@pytest.mark.parametrize("kind", ["noise", "same", "white"])
def test_of_nonsense_no_guess_is_likely(kind: SquareName) -> None:
    solved = solve_puzzle(
        make_squares(kind, 9, [np.full((200, 200, 3), 90, np.uint8)], np.random.default_rng(4), side_px=60)[0]
    )
    likely = [guess.best.probability for guess in solved.report.best_guesses]
    assert max(likely, default=0.0) <= 0.5
    assert all(math.isfinite(value) for value in likely)
