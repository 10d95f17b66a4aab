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
from jigsawnet.match.strips import (
    SideJoins,
    Sides,
    agreement,
    best_joins,
    find_block_joins,
    find_strip_joins,
    shape_sides,
    shares,
    stretch_shares,
    with_shapes,
)
from jigsawnet.pipeline import Corridor, solve_puzzle
from jigsawnet.stopping import Stop
from jigsawnet.strips import Strip, is_blank, stand_up
from jigsawnet.types import Piece, Puzzle
from jigsawnet.workers import LocalWorkers

COUNT = 9
TURNED = (1, 4, 5)


@pytest.fixture(scope="module")
def strips() -> Puzzle:
    return strips_of(page(0, 640, 1450), COUNT, turned=TURNED)


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
    best = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(rows.i[:COUNT], rows.j[:COUNT], strict=True))}
    assert set(best) - {(0, COUNT - 1)} == set(pairwise(range(COUNT))), "the outermost sides have only each other"
    for (i, j), k in best.items():
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
    """They do not keep the others from being joined, even when most strips are blank."""
    blank = [replace(strips.pieces[k % COUNT], idx=COUNT + k, name=f"blank_{k}.png",
                     image=np.repeat(strips.pieces[k % COUNT].mask[..., None], 3, axis=2) * np.uint8(245))
             for k in range(COUNT + 3)]  # fmt: skip
    solution = solve_puzzle(Puzzle("page", (*strips.pieces, *blank)))
    assembly = solution.assembly
    assert any("12 of the pieces (blank_0.png" in note and "Nothing is printed" in note for note in solution.report.warnings)
    assert set(assembly.components[0]) == set(range(COUNT))
    assert all(assembly.confidence.get(idx, 0.0) < 0.5 for idx in range(COUNT, 2 * COUNT + 3))


def test_dark_strips_of_a_picture_are_not_said_to_be_blank() -> None:
    """Very many strips are always matched by what they show, and a part of a picture may be plain."""
    sheet = clouds(0, 1400, 120)
    sheet[:, 500:700] = 60
    pictures = [np.pad(part, ((4, 4), (4, 4), (0, 0))) for part in np.split(sheet, 70, axis=1)]
    pieces = [Piece(k, f"{k}.png", image, np.pad(np.ones((120, 20), bool), 4)) for k, image in enumerate(pictures)]
    assert any(is_blank(piece) for piece in pieces)
    found = Corridor(Puzzle("picture", tuple(pieces))).get("candidates")
    assert found.rows.of_strips
    assert not any("printed" in note for note in found.notes)


def _part(piece: Piece, rows: slice, idx: int, name: str) -> Piece:
    mask = np.zeros_like(piece.mask)
    mask[rows] = piece.mask[rows]
    return Piece(idx, name, piece.image * mask[..., None].astype(np.uint8), mask)


def test_strips_of_another_page_are_a_page_of_their_own(strips: Puzzle) -> None:
    others = strips_of(page(11, 640, 1450), COUNT, turned=TURNED).pieces[:5]
    mixed = (*strips.pieces, *(replace(piece, idx=COUNT + k, name=f"other_{k}.png") for k, piece in enumerate(others)))
    assembly = solve_puzzle(Puzzle("two pages", mixed)).assembly
    assert set(range(COUNT)) in [set(component) for component in assembly.components]
    assert not [join for join in assembly.joins if (join.alignment.i < COUNT) != (join.alignment.j < COUNT)]


def test_a_strip_torn_in_two_confuses_nobody(strips: Puzzle) -> None:
    whole = strips.pieces[3]
    cut = len(whole.mask) // 2
    halves = _part(whole, slice(0, cut), 3, "upper.png"), _part(whole, slice(cut, None), COUNT, "lower.png")
    assembly = solve_puzzle(Puzzle("page", (*strips.pieces[:3], halves[0], *strips.pieces[4:], halves[1]))).assembly
    sure = {(e.alignment.i, e.alignment.j) for e in assembly.joins if e.confidence > 0.95}
    assert sure <= {*pairwise(range(COUNT)), (2, COUNT), (4, COUNT)}, "those on both sides of it are not surely neighbours"
    assert {0, 1, 2} <= set(next(c for c in assembly.components if 0 in c))


def test_a_strip_seen_in_a_mirror_stays_aside(strips: Puzzle) -> None:
    odd = strips.pieces[4]
    mirrored = replace(odd, image=np.ascontiguousarray(odd.image[:, ::-1]), mask=np.ascontiguousarray(odd.mask[:, ::-1]))
    assembly = solve_puzzle(Puzzle("page", (*strips.pieces[:4], mirrored, *strips.pieces[5:]))).assembly
    assert all(e.confidence < 0.9 for e in assembly.joins if 4 in (e.alignment.i, e.alignment.j))
    assert {0, 1, 2, 3} <= set(next(c for c in assembly.components if 0 in c))


def test_rows_of_a_page_are_joined_along_their_ends() -> None:
    """Two rows as chads would make them, the second upside down; chads stand upright, so rows meet at their ends."""
    sheet = page(11, 950, 1200)
    cut = 300 + int((sheet[300:400, :, 0] < 128).sum(axis=1).argmax())  # through print
    rows = [np.pad(part, ((6, 6), (6, 6), (0, 0))) for part in (sheet[: cut - 1], sheet[cut + 1 : 800][::-1, ::-1])]
    pieces = [Piece(k, f"{k}.png", row, np.pad(np.ones(np.array(row.shape[:2]) - 12, bool), 6)) for k, row in enumerate(rows)]
    found = find_block_joins([stand_up(piece, 0.0, 1.0) for piece in pieces], Context(), load_learned())
    likely = found.take(found.fit > 0.5)
    assert len(likely) == 1
    assert abs(likely.i_from_j(0).theta) == pytest.approx(np.pi, abs=0.02)
    upper, lower = (_middle(piece) for piece in pieces)
    apart = likely.i_from_j(0) @ lower - upper
    assert (apart[0], apart[1]) == pytest.approx((0, upper[1] + lower[1] - 12), abs=6)


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
    true = SideJoins(np.arange(0, 10, 2), np.arange(2, 12, 2), np.zeros(5, np.int64), *np.ones((3, 5)))
    assert agreement(true, shapes) > 0.95
    wrong = replace(true, b=np.roll(true.b, 1))
    assert agreement(wrong, shapes) < 0.5
    joins = found(with_shapes(blank, shapes, 0.95))
    best = {(int(a), int(b)) for a, b, share in zip(joins.a, joins.b, joins.share, strict=True) if share > 0.9}
    assert best == {(2 * k, 2 * k + 2) for k in range(5)}


def test_few_sure_joins_say_nothing_about_shape() -> None:
    shapes = Sides(*np.ones((2, 4, 30, 1), np.float32), np.full(2, 30))
    assert agreement(SideJoins(*np.array([[0], [2], [0]]), *np.ones((3, 1))), shapes) == 0.0


def test_stopped_early_there_are_no_candidates(strips: Puzzle) -> None:
    stop = Stop()
    stop.request()
    assert len(find_strip_joins(strips.pieces, Context(stop=stop), load_learned())) == 0


def side_joins(*joins: tuple[int, int, int, float]) -> SideJoins:
    a, b, slide, evidence = zip(*joins, strict=True)
    return SideJoins(np.array(a), np.array(b), np.array(slide), np.array(evidence, float), *np.zeros((2, len(a))))


def test_two_halves_share_a_long_side() -> None:
    """0 is twice as long as 1 and 2, and has both to its right, one below the other."""
    rows = np.array([100, 50, 50])
    apart = stretch_shares(side_joins((0, 2, 0, 60.0), (0, 4, -50, 60.0)), rows)
    assert (apart > 0.99).all()
    same = stretch_shares(side_joins((0, 2, 0, 60.0), (0, 4, 0, 60.0)), rows)
    assert same == pytest.approx([0.5, 0.5], abs=0.01)


def test_stretches_are_the_same_seen_upside_down() -> None:
    """The right side of 0 is the left one of 0 turned: there, its rows are counted from the other end."""
    rows = np.array([100, 50, 50])
    lower, upper = (stretch_shares(side_joins((0, 2, 0, 60.0), (5, 1, slide, 60.0)), rows) for slide in (0, 50))
    assert (lower > 0.99).all(), "1 lies at the upper half, 2, turned, at the lower one"
    assert upper == pytest.approx([0.5, 0.5], abs=0.01)


def test_weak_evidence_is_no_join_though_there_is_no_rival() -> None:
    assert stretch_shares(side_joins((0, 2, 0, 2.0)), np.array([50, 50]))[0] < 0.05


def with_lines(sides: Sides, strength: np.ndarray) -> Sides:
    """The same strips of 81 rows with level lines, as strong along each of the 2 N right sides as ``strength`` says."""
    lines = np.cos(np.arange(81) * 2 * np.pi / 10)[:, None].astype(np.float32)  # the same upside down
    right, left = (each[:, None, None] * lines for each in (strength, strength[np.arange(len(strength)) ^ 1]))
    return Sides(np.concatenate([sides.right, right], 2), np.concatenate([sides.left, left], 2), sides.rows)


def test_what_is_left_when_others_have_chosen_is_a_candidate() -> None:
    """Both sides of the first cut have more evidence with all others than with each other, but the others have neighbours."""
    sides = sides_of(14, rows=81)
    sides.right[0] *= 0.3  # faint, seen from both ways up
    sides.left[1] *= 0.3
    for other in (
        0,
        3,
    ):  # lines that the right side of 0 shares with all but 1, and such that the left side of 1 shares with all but 0
        strength = np.full(28, 1.5, np.float32)
        strength[other] = 0.0
        sides = with_lines(sides, strength)
    joins = found(sides)
    (row,) = np.flatnonzero((joins.a == 0) & (joins.b == 2))
    assert joins.share[row] > 0.9


def test_lines_that_lie_level_do_not_stand_out() -> None:
    """Lines fit at every slide by a line; what goes on across the cut fits once."""
    sides = with_lines(sides_of(4, rows=81), np.full(8, 1.5, np.float32))
    joins = found(sides)
    true = {(2 * k, 2 * k + 2) for k in range(3)}
    clear = {(int(a), int(b)): float(c) for a, b, c in zip(joins.a, joins.b, joins.clear, strict=True)}
    likely = {(int(a), int(b)) for a, b, s in zip(joins.a, joins.b, joins.share, strict=True) if s > 0.5}
    assert true <= likely
    ends = [clear[pair] for pair in likely - true]
    assert min(clear[pair] for pair in true) > 2 * max([0.5, *ends])
