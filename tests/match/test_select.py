"""Selection: best first, no near-copies, caps obeyed, ties by position."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.candidates import FEATURES, MIDDLE, Candidates
from jigsawnet.geometry import SE2, wrap_angle
from jigsawnet.match.select import SAME_PX, SAME_RAD, chosen, select_candidates

Row = tuple[int, int, float, float, float, float]
"""``i, j, theta, x, y, fit``"""
N_PIECES = 5


def select(
    rows: list[Row], per_piece: int = 100, per_pair: int = 1 << 30, middle: tuple[float, float] = (0.0, 0.0)
) -> list[int]:
    table = np.array(rows, dtype=np.float64).reshape(-1, 6)
    features = np.zeros((len(rows), len(FEATURES)), np.float32)
    features[:, MIDDLE] = middle
    found = Candidates.make(table[:, 0], table[:, 1], table[:, 2:5], features, fit=table[:, 5])
    return select_candidates(found, per_piece, N_PIECES, per_pair).tolist()


def test_the_best_comes_first() -> None:
    assert select([(0, 1, 0, 0, 0, 0.2), (0, 2, 0, 0, 0, 0.9), (1, 2, 0, 0, 0, 0.5)]) == [1, 2, 0]


def test_ties_are_broken_by_position() -> None:
    assert select([(3, 4, 0, 0, 0, 0.5), (0, 1, 0, 0, 0, 0.5), (1, 2, 0, 0, 0, 0.5)]) == [0, 1, 2]


def test_of_near_copies_the_best_is_kept() -> None:
    assert select([(0, 1, 0.0, 100, 0, 0.5), (0, 1, 0.03, 102, 0, 0.9), (0, 1, 0.0, 103, 1, 0.4)]) == [1]


@pytest.mark.parametrize(
    "other",
    [(0, 1, 0.0, 107.0, 0.0, 0.5), (0, 1, 0.08, 100.0, 0.0, 0.5), (0, 2, 0.0, 100.0, 0.0, 0.5)],
    ids=["farther off", "turned more", "another pair"],
)
def test_what_is_no_copy_is_kept(other: Row) -> None:
    assert select([(0, 1, 0.0, 100.0, 0.0, 0.9), other], middle=(100.0, 0.0)) == [0, 1]


def test_copies_are_told_apart_where_the_seam_is() -> None:
    """Two poses that turn by 0.05 about the seam are one; about a point 300 px from the seam they are two."""
    about = SE2(0.0, 300.0, 0.0)
    turned = about @ SE2(0.05, 0.0, 0.0) @ about.inverse()
    rows: list[Row] = [(0, 1, 0.0, 0.0, 0.0, 0.9), (0, 1, turned.theta, turned.x, turned.y, 0.5)]
    assert select(rows, middle=(300.0, 0.0)) == [0]
    assert select(rows, middle=(0.0, 0.0)) == [0, 1]


def test_angles_are_compared_on_the_circle() -> None:
    assert select([(0, 1, math.pi - 0.01, 0, 0, 0.9), (0, 1, 0.01 - math.pi, 0, 0, 0.5)]) == [0]


def test_a_cap_for_each_pair_and_each_piece() -> None:
    rows: list[Row] = [(0, 1, 0.0, 50.0 * k, 0.0, 0.9 - 0.1 * k) for k in range(5)] + [(1, 2, 0.0, 0.0, 0.0, 0.1)]
    assert select(rows, per_pair=2) == [0, 1, 5]
    assert select(rows, per_piece=3) == [0, 1, 2], "piece 1 has its share before its join with 2 comes"


def test_candidates_without_a_fit_and_nothing_at_all_give_nothing() -> None:
    assert select([(0, 1, 0, 0, 0, 0.0), (0, 2, 0, 0, 0, -1.0)]) == []
    assert select([]) == []


pairs = st.sampled_from([(i, j) for j in range(N_PIECES) for i in range(j)])
rows_of_any_kind = st.lists(
    st.builds(
        lambda pair, theta, x, y, fit: (*pair, theta, x, y, fit),
        pairs, st.sampled_from([0.0, 0.05, 0.1, 3.1, -3.15]), st.integers(0, 12), st.integers(0, 12), st.integers(0, 9),
    ),
    max_size=40,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(rows_of_any_kind, st.integers(1, 6), st.integers(1, 4))
def test_all_kept_obey_the_rules_and_all_dropped_break_one(rows: list[Row], per_piece: int, per_pair: int) -> None:
    kept = select(rows, per_piece, per_pair)
    assert kept == select(rows, per_piece, per_pair)
    assert kept == sorted(kept, key=lambda k: (-rows[k][5], k))
    for k, row in enumerate(rows):
        better = [rows[m] for m in kept if (-rows[m][5], m) < (-row[5], k)]
        of_pair = [r for r in better if r[:2] == row[:2]]
        full = max(sum(piece in r[:2] for r in better) for piece in row[:2]) >= per_piece
        refused = row[5] <= 0 or full or len(of_pair) >= per_pair or any(is_copy(row, r) for r in of_pair)
        assert (k in kept) is not refused


def is_copy(row: Row, other: Row) -> bool:
    """With the seam's middle at (0, 0) of i."""
    a, b = (SE2(*r[2:5]).inverse() @ np.zeros(2) for r in (row, other))
    return abs(wrap_angle(row[2] - other[2])) < SAME_RAD and float(np.linalg.norm(a - b)) < SAME_PX


def test_a_chosen_row_becomes_an_alignment() -> None:
    features = np.arange(len(FEATURES), dtype=np.float32)[None]
    found = chosen(Candidates.make(1, 3, np.array([[7.0, 20.0, 30.0]], np.float32), features, 4.0, 0.6), 5, N_PIECES)
    (a,) = found.alignments()
    assert (a.i, a.j, a.fit) == (1, 3, 0.6)
    assert (a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y) == pytest.approx((7.0 - 2 * math.pi, 20.0, 30.0))
    assert a.seam is not None
    told = (a.seam.length_px, a.seam.residual_px, a.seam.gap_px, a.seam.overlap_px, a.seam.color_step, a.seam.flatness_px)
    columns = ("length", "residual", "gap", "overlap_depth", "color_step", "flatness")
    assert told == tuple(FEATURES.index(name) for name in columns)
    assert a.seam.distance_px == 4.0
