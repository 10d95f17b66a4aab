"""Joins of strips: exclusive shares, slides, and pages put in order whichever way up their strips lie."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np
import pytest
from shredded import clouds, page, strips_of

from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.geometry import SE2
from jigsawnet.learned import load_learned
from jigsawnet.match.strips import SideJoins, Sides, agreement, best_joins, find_strip_joins, shape_sides, shares, with_shapes
from jigsawnet.pipeline import solve_puzzle
from jigsawnet.stopping import Stop
from jigsawnet.strips import Strip
from jigsawnet.types import Piece, Puzzle
from jigsawnet.workers import LocalWorkers

COUNT = 9
TURNED = (1, 4, 5)


@pytest.fixture(scope="module")
def strips() -> Puzzle:
    return strips_of(clouds(), COUNT, turned=TURNED)


@pytest.fixture(scope="module")
def rows(strips: Puzzle) -> Candidates:
    return find_strip_joins(strips.pieces, Context(), load_learned())


def sides_of(n: int, rows: int = 40, seed: int = 0) -> Sides:
    """Vectors of a page of n strips without any network: both sides of a cut have the same noise, seen from both ways up."""
    rng = np.random.default_rng(seed)
    cut = 0.35 * rng.standard_normal((n + 1, rows, 8)).astype(np.float32)
    turn = rng.choice([-1.0, 1.0], 8).astype(np.float32)  # what is seen upside down looks different
    right, left = np.zeros((2, 2 * n, rows, 16), np.float32)
    for k in range(n):
        right[2 * k], left[2 * k] = np.tile(cut[k + 1], 2), np.tile(cut[k], 2)
        right[2 * k + 1], left[2 * k + 1] = np.tile(turn * cut[k][::-1], 2), np.tile(turn * cut[k + 1][::-1], 2)
    return Sides(right, left, np.full(n, rows))


def found(sides: Sides) -> SideJoins:
    joins = best_joins(sides, Context())
    assert joins is not None
    return joins


def test_the_right_neighbours_have_the_most_evidence() -> None:
    joins = found(sides_of(6))
    best = {(int(a), int(b)) for a, b, share in zip(joins.a, joins.b, joins.share, strict=True) if share > 0.9}
    assert best == {(2 * k, 2 * k + 2) for k in range(5)}


def test_the_slide_is_found_anywhere_along_the_side() -> None:
    sides = sides_of(4)
    slid = sides.left.copy()
    slid[4, 15:], slid[4, :15] = sides.left[4, :-15], 0.0  # the third strip is 15 rows longer at its upper end
    joins = found(replace(sides, left=slid))
    (row,) = np.flatnonzero((joins.a == 2) & (joins.b == 4))
    assert joins.slide[row] == 15


def test_evidence_of_nothing_gives_no_share() -> None:
    nothing = np.zeros((8, 8))
    assert shares(nothing).max() < 0.2


def test_shares_are_symmetric_and_add_up_to_less_than_one() -> None:
    evidence = np.random.default_rng(0).normal(0, 20, (12, 12))
    evidence = (evidence + evidence.T) / 2
    np.fill_diagonal(evidence, -np.inf)
    parts = shares(evidence)
    assert parts == pytest.approx(parts.T)
    assert (parts.sum(1) < 1 + 1e-3).all()


def test_a_side_that_fits_everywhere_takes_nothing_from_a_better_pair() -> None:
    """Side 0 has more evidence for 3 than for 1, but 3 belongs to 2 without doubt: then 0 and 1 are left for each other."""
    evidence = np.full((4, 4), -50.0)
    for a, b, value in ((0, 3, 70.0), (0, 1, 60.0), (2, 3, 120.0)):
        evidence[a, b] = evidence[b, a] = value
    parts = shares(evidence)
    assert parts[0, 1] > 0.9
    assert parts[2, 3] > 0.9
    assert parts[0, 3] < 0.1


def test_neighbours_of_a_page_are_first_whichever_way_up(strips: Puzzle, rows: Candidates) -> None:
    best = {(int(i), int(j)) for i, j in zip(rows.i[: COUNT - 1], rows.j[: COUNT - 1], strict=True)}
    assert best == set(pairwise(range(COUNT)))
    for k in range(COUNT - 1):
        i, j = int(rows.i[k]), int(rows.j[k])
        turn = abs(rows.i_from_j(k).theta)
        assert (turn > 3.0) == ((i in TURNED) != (j in TURNED)), "turned to each other when one of them lies upside down"


def test_most_neighbours_of_pages_of_print_are_first() -> None:
    right = 0
    for seed in (0, 11, 13):
        found = find_strip_joins(strips_of(page(seed, 640, 1450), COUNT, turned=TURNED).pieces, Context(), load_learned())
        best = zip(found.i[: COUNT - 1].tolist(), found.j[: COUNT - 1].tolist(), strict=True)
        right += len(set(best) & set(pairwise(range(COUNT))))
    assert right >= 20, "of 24"


def test_poses_lay_side_against_side(strips: Puzzle, rows: Candidates) -> None:
    for k in range(COUNT - 1):
        i, j = strips.pieces[int(rows.i[k])], strips.pieces[int(rows.j[k])]
        a, b = (np.argwhere(p.mask)[:, ::-1].mean(0) for p in (i, j))
        apart = rows.i_from_j(k) @ b - a
        wide = (np.count_nonzero(i.mask) + np.count_nonzero(j.mask)) / (i.mask.any(1).sum() + j.mask.any(1).sum())
        assert abs(apart[0]) == pytest.approx(wide, abs=3.0)
        assert abs(apart[1]) < 6.0


def test_the_number_of_workers_changes_nothing(strips: Puzzle, rows: Candidates) -> None:
    again = find_strip_joins(strips.pieces, Context(workers=LocalWorkers(1)), load_learned())
    assert np.array_equal(again.pose, rows.pose)
    assert np.array_equal(again.fit, rows.fit)


def test_a_page_is_solved_as_a_chain(strips: Puzzle) -> None:
    assembly = solve_puzzle(strips).assembly
    assert assembly.complete
    frame = assembly.poses[0].inverse()
    x = [float((frame @ assembly.poses[k] @ _middle(strips.pieces[k]))[0]) for k in range(COUNT)]
    assert sorted(x) in (x, x[::-1])
    assert min(assembly.confidence.values()) > 0.5


def test_blank_strips_stay_aside(strips: Puzzle) -> None:
    blank = [replace(p, idx=COUNT + k, name=f"blank_{k}.png", image=np.repeat(p.mask[..., None], 3, axis=2) * np.uint8(245))
             for k, p in enumerate(strips.pieces[:4])]  # fmt: skip
    assembly = solve_puzzle(Puzzle("page", (*strips.pieces, *blank))).assembly
    assert set(assembly.components[0]) == set(range(COUNT))
    assert all(assembly.confidence.get(idx, 0.0) < 0.5 for idx in range(COUNT, COUNT + 4))


def _middle(piece: Piece) -> np.ndarray:
    return np.array(piece.mask.shape[::-1]) / 2.0


def test_the_option_turns_it_off(strips: Puzzle, monkeypatch: pytest.MonkeyPatch) -> None:
    from jigsawnet.config import SolveConfig
    from jigsawnet.match import MatchConfig

    rows = solve_puzzle(strips, SolveConfig(match=MatchConfig(strips=False))).candidates
    assert np.isnan(rows.strokes).all()


def test_edges_that_run_alike_are_found_and_tell_of_others() -> None:
    """Without any print, the wiggle of the cuts is the evidence."""
    rng = np.random.default_rng(0)
    wiggles = cv2.GaussianBlur(rng.normal(0, 1, (7, 600)), (0, 0), 8.0, sigmaY=1e-3) * 12
    strips = [
        Strip(np.zeros((600, 60), np.uint8), np.ones((600, 60), np.bool_), np.array([10 + a, 50 + b]), 255.0, SE2(0, 0, 0), 1.0)
        for a, b in pairwise(wiggles)
    ]
    blank = Sides(*np.zeros((2, 12, 300, 4), np.float32), np.full(6, 300))
    shapes = shape_sides(strips, blank)
    true = SideJoins(np.arange(0, 10, 2), np.arange(2, 12, 2), np.zeros(5, np.int64), np.ones(5), np.ones(5))
    assert agreement(true, shapes) > 0.95
    wrong = replace(true, b=np.roll(true.b, 1))
    assert agreement(wrong, shapes) < 0.5
    joins = found(with_shapes(blank, shapes, 0.95))
    best = {(int(a), int(b)) for a, b, share in zip(joins.a, joins.b, joins.share, strict=True) if share > 0.9}
    assert best == {(2 * k, 2 * k + 2) for k in range(5)}


def test_few_sure_joins_say_nothing_about_shape() -> None:
    shapes = Sides(*np.ones((2, 4, 30, 1), np.float32), np.full(2, 30))
    assert agreement(SideJoins(*np.array([[0], [2], [0]]), np.ones(1), np.ones(1)), shapes) == 0.0


def test_stopped_early_there_are_no_candidates(strips: Puzzle) -> None:
    stop = Stop()
    stop.request()
    assert len(find_strip_joins(strips.pieces, Context(stop=stop), load_learned())) == 0
