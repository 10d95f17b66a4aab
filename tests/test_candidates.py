"""The table of candidates: rows come out as they went in, best first whatever their order, and no number counts as 0."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.borders import build_borders
from jigsawnet.candidates import CONTACT, FEATURES, MIDDLE, Candidates
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.context import Context
from jigsawnet.geometry import SE2, wrap_angle
from jigsawnet.pipeline import solve_puzzle
from jigsawnet.store import rows_from_arrays, rows_to_arrays
from jigsawnet.types import Alignment, Join, Piece, Puzzle, Seam

COLUMNS = ("i", "j", "pose", "features", "gap_px", "fit", "score", "contact", "strokes")
PAIRS = st.sampled_from([(i, j) for j in range(5) for i in range(j)])
POSES = st.builds(SE2, st.floats(-3, 3), st.floats(-9, 9), st.floats(-9, 9))
SINGLE = st.floats(0, 500, width=32)
"""Measured features are kept in single precision."""
SEAMS = st.builds(Seam, SINGLE, SINGLE, SINGLE, SINGLE, SINGLE, SINGLE, st.floats(0, 20))
ALIGNMENTS = st.builds(
    lambda pair, pose, fit, seam: Alignment(*pair, pose, fit, seam), PAIRS, POSES, st.floats(0, 1), st.none() | SEAMS
)
TABLES = st.lists(st.tuples(ALIGNMENTS, st.floats(0, 1)), max_size=8)
quick = settings(deadline=None, max_examples=50)


def join(i: int, j: int, x: float = 0.0, fit: float = 0.5) -> Alignment:
    return Alignment(i, j, SE2(0.0, x, 0.0), fit)


def table(rows: list[tuple[Alignment, float]]) -> Candidates:
    return Candidates.of([a for a, _ in rows], [score for _, score in rows])


def scored(alignments: list[Alignment], scores: list[float]) -> Candidates:
    return Candidates.of(alignments).with_scores(np.array(scores))


def assert_same(a: Candidates, b: Candidates) -> None:
    """All columns are equal to the bit, and of one type."""
    for name in COLUMNS:
        here, there = getattr(a, name), getattr(b, name)
        assert here.dtype == there.dtype, name
        np.testing.assert_array_equal(here, there, err_msg=name)


def is_free(column: Any) -> bool:
    """True for a column of equal numbers that holds one of them in memory."""
    return column.strides == (0,)


def test_the_columns_are_those_that_are_saved() -> None:
    assert Candidates.__slots__ == COLUMNS
    rows = Candidates.of([join(0, 1), join(1, 2)])
    assert [getattr(rows, name).shape for name in COLUMNS] == [(2,), (2,), (2, 3), (2, 13), (2,), (2,), (2,), (2, 16), (2,)]
    assert len(FEATURES) == len(set(FEATURES)) == 13
    assert FEATURES[MIDDLE] == ("middle_x", "middle_y")


@quick
@given(TABLES)
def test_alignments_come_out_as_they_went_in(rows: list[tuple[Alignment, float]]) -> None:
    made = table(rows)
    assert len(made) == len(rows)
    assert made.alignments() == tuple(a for a, _ in rows)
    assert [made.join_at(k) for k in range(len(made))] == [Join(a, score) for a, score in rows]
    assert made.measured.tolist() == [a.seam is not None for a, _ in rows]
    assert_same(Candidates.of(made.alignments(), made.score), made)


def test_a_row_says_what_was_measured() -> None:
    seam = Seam(length_px=80.0, residual_px=0.5, gap_px=3.0, overlap_px=1.0, color_step=7.0, flatness_px=2.0, distance_px=4.0)
    rows = Candidates.of([Alignment(0, 2, SE2(0.25, 3.0, -4.0), 0.75, seam), join(1, 2)], [0.5, 0.25])
    named = {name: float(rows.feature(name)[0]) for name in FEATURES}
    known = {"length": 80.0, "residual": 0.5, "gap": 3.0, "overlap_depth": 1.0, "color_step": 7.0, "flatness": 2.0}
    assert {name: value for name, value in named.items() if not math.isnan(value)} == known
    assert rows.gap_px.tolist() == [4.0, 0.0]
    assert rows.pose.tolist() == [[0.25, 3.0, -4.0], [0.0, 0.0, 0.0]]
    assert rows.i_from_j(0) == SE2(0.25, 3.0, -4.0)
    assert rows.measured.tolist() == [True, False]
    assert rows.alignment(1).seam is None
    assert rows.join_at(0) == Join(rows.alignment(0), 0.5, 0.5)
    with pytest.raises(ValueError, match="not in tuple"):
        rows.feature("colour")


def test_a_pose_read_from_a_row_lies_within_a_turn() -> None:
    rows = Candidates.make([0], [1], [7.0, 1.0, 2.0])
    assert rows.i_from_j(0) == SE2(wrap_angle(7.0), 1.0, 2.0)
    assert -math.pi <= rows.alignment(0).i_from_j.theta <= math.pi


def test_an_unscored_table_has_no_score_yet() -> None:
    assert np.isnan(Candidates.of([join(0, 1)]).score).all()
    assert np.isnan(Candidates.make([0], [1], np.zeros((1, 3))).fit).all()
    assert not Candidates.make([0], [1], np.zeros((1, 3))).measured.any()


def test_a_table_of_nothing() -> None:
    assert_same(Candidates.none(), Candidates.of([]))
    for empty in (
        Candidates.none(), Candidates.concat([]), Candidates.concat([Candidates.none()] * 2), Candidates.none().take(slice(3)),
        Candidates.none().best_first(), Candidates.none().with_scores(np.zeros(0)),
    ):  # fmt: skip
        assert len(empty) == 0
        assert empty.alignments() == ()
        assert [getattr(empty, name).shape for name in COLUMNS] == [
            (0,),
            (0,),
            (0, 3),
            (0, 13),
            (0,),
            (0,),
            (0,),
            (0, 16),
            (0,),
        ]


@quick
@given(TABLES, st.data())
def test_rows_taken_are_those_rows_in_that_order(rows: list[tuple[Alignment, float]], data: st.DataObject) -> None:
    made = table(rows)
    wanted = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=10) if rows else st.just([]))
    assert_same(made.take(np.array(wanted, np.intp)), table([rows[k] for k in wanted]))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool)
    assert_same(made.take(mask), table([row for row, kept in zip(rows, mask, strict=True) if kept]))
    assert_same(made.take(slice(2)), table(rows[:2]))


@quick
@given(st.lists(TABLES, max_size=4))
def test_tables_are_joined_part_after_part(parts: list[list[tuple[Alignment, float]]]) -> None:
    assert_same(Candidates.concat([table(part) for part in parts]), table([row for part in parts for row in part]))


def test_a_column_of_one_number_takes_no_memory_however_often_it_is_passed_on() -> None:
    rows = Candidates.make(np.zeros(1000), np.ones(1000), np.zeros((1000, 3)), gap_px=2.5, fit=0.5)
    for same in (
        rows, rows.take(np.arange(500)), rows.take(rows.i == 0), rows.take(slice(10)), Candidates.concat([rows, rows]),
        Candidates.concat([Candidates.none(), rows]), rows.take([]).take([]),
    ):  # fmt: skip
        assert all(is_free(column) for column in (same.gap_px, same.fit, same.score) if len(same))
        assert set(same.gap_px.tolist()) <= {2.5}
        assert np.isnan(same.score).all()
    assert len(Candidates.concat([rows, rows])) == 2000


def test_columns_of_different_numbers_are_joined_as_they_are() -> None:
    near, far = (Candidates.make([0, 0], [1, 2], np.zeros((2, 3)), gap_px=gap) for gap in (1.0, 3.0))
    assert Candidates.concat([near, far]).gap_px.tolist() == [1.0, 1.0, 3.0, 3.0]
    assert Candidates.concat([near, Candidates.of([join(0, 1)])]).gap_px.tolist() == [1.0, 1.0, 0.0]
    both = Candidates.concat([near, replace(near, score=np.array([0.5, 0.25]))])
    assert both.score.tolist()[2:] == [0.5, 0.25]
    assert np.isnan(both.score[:2]).all()


def test_poses_of_single_precision_stay_so() -> None:
    """What the matcher measured is kept as it is, half as large."""
    assert Candidates.make([0], [1], np.zeros((1, 3), np.float32)).pose.dtype == np.float32
    assert Candidates.make([0], [1], [(0, 1, 2)]).pose.dtype == np.float64


def test_rows_come_best_first_and_several_of_one_pair_stay() -> None:
    rows = scored([join(0, 1), join(1, 2), join(0, 1, x=5.0)], [0.2, 0.9, 0.5])
    assert list(zip(rows.i.tolist(), rows.j.tolist(), rows.score.tolist(), strict=True)) == [
        (1, 2, 0.9), (0, 1, 0.5), (0, 1, 0.2),
    ]  # fmt: skip


def test_equal_scores_are_ordered_by_pair_and_then_by_pose() -> None:
    first = Alignment(0, 1, SE2(-0.5, 9.0, 0.0), 0.1)
    ordered = [first, join(0, 1, x=-3.0), Alignment(0, 1, SE2(0.0, 2.0, -1.0), 0.9), join(0, 1, x=2.0), join(0, 2), join(1, 2)]
    for order in ([5, 4, 3, 2, 1, 0], [2, 0, 4, 1, 5, 3]):
        assert scored([ordered[k] for k in order], [0.5] * 6).alignments() == tuple(ordered)


@pytest.mark.parametrize(
    ("score", "counts_as"),
    [(math.nan, 0.0), (math.inf, 0.0), (-math.inf, 0.0), (-0.3, 0.0), (1.7, 1.0), (0.0, 0.0), (1.0, 1.0), (0.4, 0.4)],
)
def test_scores_lie_between_0_and_1_and_no_number_counts_as_0(score: float, counts_as: float) -> None:
    rows = scored([join(0, 1)], [score])
    assert rows.score.tolist() == [counts_as]
    assert rows.join_at(0).score == rows.join_at(0).confidence == counts_as


def test_scoring_leaves_the_table_that_was_scored_alone() -> None:
    rows = Candidates.of([join(0, 1), join(1, 2)])
    better = rows.with_scores(np.array([0.1, 0.9]))
    assert rows.alignments() == (join(0, 1), join(1, 2))
    assert np.isnan(rows.score).all()
    assert better.alignments() == (join(1, 2), join(0, 1))


def test_every_candidate_needs_a_score_and_pieces_that_exist() -> None:
    for scores in ([], [0.5, 0.5]):
        with pytest.raises(ValueError, match="shape"):
            Candidates.of([join(0, 1)], scores)
    with pytest.raises(IndexError):
        compose(scored([join(0, 2)], [0.5]), build_borders([None, None]), "hlm", ComposeConfig(), Context())


@quick
@given(
    st.lists(st.tuples(PAIRS, POSES, st.sampled_from([0.0, 0.5, 1.0, math.nan])), max_size=8), st.randoms(use_true_random=False)
)
def test_the_order_of_the_input_does_not_matter(candidates: list[tuple[tuple[int, int], SE2, float]], random: Any) -> None:
    def build() -> Candidates:
        return scored([Alignment(*pair, pose, 0.5) for pair, pose, _ in candidates], [s for _, _, s in candidates])

    rows = build()
    random.shuffle(candidates)
    assert_same(build(), rows)
    assert rows.score.tolist() == sorted(rows.score.tolist(), reverse=True)
    assert_same(rows.best_first(), rows)


def test_given_candidates_of_a_piece_that_does_not_exist_are_refused() -> None:
    """Before anything is measured: compiled loops do not look whether there is such a piece."""
    pieces = tuple(Piece(k, str(k), np.full((40, 40, 3), 90, np.uint8), np.ones((40, 40), bool)) for k in range(2))
    with pytest.raises(ValueError, match="does not exist"):
        solve_puzzle(Puzzle("two", pieces), candidates=[join(0, 1, 40.0), join(0, 2)])


def touching(n: int, first: float = 1.0) -> Candidates:
    contact = first + np.arange(n * len(CONTACT), dtype=np.float32).reshape(n, -1)
    features = np.ones((n, len(FEATURES)), np.float32)
    return Candidates.make([0] * n, np.arange(1, n + 1), np.zeros((n, 3)), features, fit=0.5, contact=contact)


def test_contact_goes_with_its_row() -> None:
    rows, plain = touching(3), Candidates.of([join(0, 1), join(1, 2)])
    assert rows.ragged.all()
    assert not plain.ragged.any()
    assert_same(rows.take(np.array([2, 0])), Candidates.concat([rows.take(slice(2, 3)), rows.take(slice(1))]))
    np.testing.assert_array_equal(rows.take(np.array([2, 0])).contact, rows.contact[[2, 0]])
    mixed = Candidates.concat([plain, rows, plain])
    assert mixed.ragged.tolist() == [False, False, True, True, True, False, False]
    np.testing.assert_array_equal(mixed.contact[2:5], rows.contact)
    best = rows.with_scores(np.array([0.1, 0.9, 0.5]))
    np.testing.assert_array_equal(best.contact, rows.contact[[1, 2, 0]])


def test_contact_that_was_not_measured_takes_no_memory() -> None:
    plain = Candidates.of([join(0, 1), join(1, 2)])
    for rows in (plain, plain.take(np.array([1, 0, 1])), Candidates.concat([plain, plain])):
        assert rows.contact.shape == (len(rows), len(CONTACT))
        assert rows.contact.dtype == np.float32
        assert not any(rows.contact.strides)


def test_contact_is_saved_and_read_again() -> None:
    for rows in (
        touching(3),
        Candidates.of([join(0, 1)]),
        Candidates.none(),
        Candidates.concat([touching(2), touching(1, 9.0)]),
    ):
        assert_same(rows_from_arrays(rows_to_arrays(rows)), rows)


def test_tables_saved_without_contact_are_read() -> None:
    rows = touching(3)
    saved = {name: values for name, values in rows_to_arrays(rows).items() if name != "contact"}
    found = rows_from_arrays(saved)
    assert not found.ragged.any()
    assert_same(found, replace(rows, contact=np.full_like(rows.contact, np.nan)))


@pytest.mark.parametrize(
    "contact", [np.zeros((3, 5), np.float32), np.zeros((2, 16), np.float32), np.zeros(3, np.float32), np.zeros((3, 16), int)]
)
def test_contact_of_another_shape_is_no_contact(contact: Any) -> None:
    with pytest.raises(ValueError, match="columns of"):
        rows_from_arrays(rows_to_arrays(touching(3)) | {"contact": contact})
