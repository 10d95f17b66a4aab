"""Chains of strips, from candidates made by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np
import pytest

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Constraints, Piece, Puzzle

WIDTH, HEIGHT = 20, 160


@pytest.fixture(scope="module")
def borders() -> Borders:
    """Nine plain strips."""
    mask = np.zeros((HEIGHT + 10, WIDTH + 10), np.uint8)
    cv2.rectangle(mask, (5, 5), (4 + WIDTH, 4 + HEIGHT), 1, -1)
    pieces = tuple(Piece(k, str(k), np.zeros((*mask.shape, 3), np.uint8), mask > 0) for k in range(9))
    return build_borders(trace_contours(Puzzle("strips", pieces), ContourConfig()))


def beside(i: int, j: int, score: float, *, turned: bool = False, side: int = 1) -> Alignment:
    """j to the right of i (side -1: to the left), or there upside down."""
    if not turned:
        return Alignment(i, j, SE2(0.0, side * float(WIDTH), 0.0), fit=score)
    return Alignment(i, j, SE2(np.pi, WIDTH + 9.0 + side * float(WIDTH), HEIGHT + 9.0), fit=score)


def chains(borders: Borders, *joins: Alignment, min_score: float = 0.5, constraints: Constraints | None = None) -> Assembly:
    rows = Candidates.of(joins).with_scores(np.array([a.fit for a in joins]))
    config = ComposeConfig(min_score=min_score)
    return compose(rows, borders, "chains", config, Context(), constraints=constraints or Constraints())


def joined(assembly: Assembly) -> set[tuple[int, int]]:
    return {(e.alignment.i, e.alignment.j) for e in assembly.joins}


def test_strips_form_a_chain(borders: Borders) -> None:
    assembly = chains(borders, *(beside(k, k + 1, 0.9) for k in range(8)))
    assert assembly.components == (tuple(range(9)),)
    x = [assembly.poses[k].x for k in range(9)]
    assert np.diff(x) == pytest.approx(WIDTH)


def test_a_side_has_one_neighbour(borders: Borders) -> None:
    assembly = chains(borders, beside(0, 1, 0.9), beside(0, 2, 0.8), beside(0, 3, 0.7, side=-1))
    assert joined(assembly) == {(0, 1), (0, 3)}, "2 wants the side that 1 has; 3 lies on the other"


def test_the_best_set_counts_not_the_best_join(borders: Borders) -> None:
    """Greedily, 0-1 would be taken first, and 0-2 and 3-1 be lost, which together are worth more."""
    assembly = chains(borders, beside(0, 1, 0.9), beside(0, 2, 0.85), beside(1, 3, 0.85, side=-1))
    assert joined(assembly) == {(0, 2), (1, 3)}


def test_a_chain_does_not_bite_its_tail(borders: Borders) -> None:
    assembly = chains(borders, beside(0, 1, 0.95), beside(1, 2, 0.95), beside(2, 3, 0.95), beside(0, 3, 0.6, side=-1))
    assert joined(assembly) == {(0, 1), (1, 2), (2, 3)}, "the weakest of the ring is left out"


def test_of_joins_beyond_doubt_a_ring_loses_the_one_with_the_least_print(borders: Borders) -> None:
    """The outer sides of a photograph go together well enough; where all are sure, only the strokes tell."""
    joins = [beside(0, 1, 1.0), beside(1, 2, 1.0), beside(2, 3, 1.0), beside(0, 3, 1.0, side=-1)]
    rows = Candidates.of(joins).with_scores(np.ones(4))
    weak = (rows.i == 2) & (rows.j == 3)
    rows = replace(rows, strokes=np.where(weak, 138.0, 250.0))
    assembly = compose(rows, borders, "chains", ComposeConfig(), Context())
    assert joined(assembly) == {(0, 1), (1, 2), (0, 3)}


def test_two_rings_are_both_opened(borders: Borders) -> None:
    rings = [(0, 1, 2), (3, 4, 5)]
    joins = [j for a, b, c in rings for j in (beside(a, b, 0.9), beside(b, c, 0.9), beside(a, c, 0.7, side=-1))]
    assert joined(chains(borders, *joins)) == {(0, 1), (1, 2), (3, 4), (4, 5)}


def test_a_strip_upside_down_shows_its_other_side(borders: Borders) -> None:
    """1 lies right of 0, turned; then the side that 1 had on the left when upright is its free one."""
    assembly = chains(borders, beside(0, 1, 0.9, turned=True), beside(1, 2, 0.9, side=-1), beside(1, 3, 0.8))
    assert joined(assembly) == {(0, 1), (1, 2)}


def test_doubtful_joins_are_not_made(borders: Borders) -> None:
    assembly = chains(borders, beside(0, 1, 0.9), beside(1, 2, 0.4))
    assert joined(assembly) == {(0, 1)}
    assert set(assembly.unplaced) == set(range(2, 9))


def test_what_a_person_fixed_stays_and_takes_its_side(borders: Borders) -> None:
    fixed = Constraints(joins=(beside(0, 2, 1.0),))
    assembly = chains(borders, beside(0, 1, 0.95), beside(2, 3, 0.9), constraints=fixed)
    assert joined(assembly) == {(0, 2), (2, 3)}


def test_several_pages_are_several_chains(borders: Borders) -> None:
    pages = [(0, 1, 2, 3), (4, 5, 6), (7, 8)]
    assembly = chains(borders, *(beside(a, b, 0.9) for page in pages for a, b in pairwise(page)))
    assert assembly.components == tuple(pages)


def test_nothing_to_join_is_a_result(borders: Borders) -> None:
    assert not chains(borders).poses
