"""Rows of chads joined as wholes, by a matcher that says what the test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np
import pytest

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import join_blocks
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2, pose_row
from jigsawnet.types import Alignment, Assembly, Constraints, Join, Piece, Puzzle

WIDTH, HEIGHT = 20, 100


@pytest.fixture(scope="module")
def borders() -> Borders:
    """Six chads."""
    mask = np.zeros((HEIGHT + 10, WIDTH + 10), np.uint8)
    cv2.rectangle(mask, (5, 5), (4 + WIDTH, 4 + HEIGHT), 1, -1)
    pieces = tuple(Piece(k, str(k), np.zeros((*mask.shape, 3), np.uint8), mask > 0) for k in range(6))
    return build_borders(trace_contours(Puzzle("chads", pieces), ContourConfig()))


ROWS = Assembly(6, {k: SE2(0.0, (k % 3) * float(WIDTH), (k // 3) * 900.0) for k in range(6)}, ((0, 1, 2), (3, 4, 5)))
"""Two rows of three, far apart."""


class Matches:
    """Says that the second block lies by ``pose`` from the first."""

    def __init__(self, pose: SE2, fit: float = 0.9) -> None:
        self.pose, self.fit, self.asked = pose, fit, list[int]()

    def __call__(self, blocks: Sequence[Mapping[int, SE2]]) -> Candidates:
        self.asked.append(len(blocks))
        if len(blocks) < 2:
            return Candidates.none()
        first, second = (next(iter(block.values())) for block in blocks[:2])
        pose = first @ self.pose @ second.inverse()
        return Candidates.make([0], [1], np.array([pose_row(pose)]), fit=[self.fit], strokes=[50.0])


def joined(borders: Borders, match: Matches, constraints: Constraints | None = None) -> Assembly:
    return join_blocks(Candidates.none(), borders, ROWS, match, 0.5, constraints or Constraints())[0]


def test_rows_are_joined_and_every_piece_is_named_with_the_one_below(borders: Borders) -> None:
    match = Matches(SE2(0.0, 0.0, float(HEIGHT)))
    assembly = joined(borders, match)
    assert assembly.components == (tuple(range(6)),)
    assert {(e.alignment.i, e.alignment.j) for e in assembly.joins} == {(0, 3), (1, 4), (2, 5)}
    assert {e.score for e in assembly.joins} == {0.9}
    lower = assembly.poses[0].inverse() @ assembly.poses[5]
    assert (lower.x, lower.y) == pytest.approx((2 * WIDTH, HEIGHT))


def test_a_row_may_lie_upside_down(borders: Borders) -> None:
    turned = SE2(np.pi, 3.0 * WIDTH - 1 + 10, 2.0 * HEIGHT + 9)
    pairs = {(e.alignment.i, e.alignment.j) for e in joined(borders, Matches(turned)).joins}
    assert pairs == {(0, 5), (1, 4), (2, 3)}


def test_weak_joins_are_not_made_and_nobody_is_asked_again(borders: Borders) -> None:
    match = Matches(SE2(0.0, 0.0, float(HEIGHT)), fit=0.4)
    assert joined(borders, match) is ROWS, "too weak"
    assert match.asked == [2]


def test_what_would_lie_on_top_is_refused(borders: Borders) -> None:
    assert joined(borders, Matches(SE2(0.0, 0.0, HEIGHT / 2.0))) is ROWS


def test_a_join_that_a_person_has_refused_is_not_brought_about(borders: Borders) -> None:
    below = SE2(0.0, 0.0, float(HEIGHT))
    refused = Constraints(forbidden=(Alignment(1, 4, below, 0.0),))
    assert joined(borders, Matches(below), refused) is ROWS


def test_pieces_laid_aside_are_no_blocks(borders: Borders) -> None:
    match = Matches(SE2(0.0, 0.0, float(HEIGHT)))
    alone = Assembly(
        6, {0: SE2(0.0, 0.0, 0.0), 1: SE2(0.0, 20.0, 0.0)}, ((0, 1),), (Join(Alignment(0, 1, SE2(0.0, 20.0, 0.0), 1.0), 1.0),)
    )
    join_blocks(Candidates.none(), borders, alone, match, 0.95, Constraints(aside=frozenset({2, 3, 4})))
    assert match.asked[0] == 2
