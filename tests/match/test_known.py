"""Pieces that are added later: only pairs with a new piece are looked at, and the candidates are those of all pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.contours import trace_again
from jigsawnet.learned import load_learned
from jigsawnet.match import KnownPairs, Matched, find_candidates
from jigsawnet.match.dense import by_pair
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Puzzle
from jigsawnet.workers import LocalWorkers

CONFIG = SolveConfig()
OLD = (0, 1, 3, 4, 5, 7, 8)
"""The pieces that were there first; 2 and 6 are added."""


class _Noting(LocalWorkers):
    """Workers that note the pairs they are given."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: set[tuple[int, int]] = set()

    def run(self, work: Any, shared: Any, blocks: Sequence[Any], *rest: Any) -> list[Any]:
        self.pairs |= {(i, int(j)) for block in blocks for i, later in block for j in later}
        return super().run(work, shared, blocks, *rest)


def _some(puzzle: Puzzle, pieces: Sequence[int]) -> Puzzle:
    chosen = (dataclasses.replace(puzzle.pieces[idx], idx=k) for k, idx in enumerate(pieces))
    return Puzzle(puzzle.name, tuple(chosen))


def _borders(puzzle: Puzzle, steps: tuple[float, float] | None = None) -> Borders:
    """Borders traced as those of an earlier run, if these steps still suit."""
    contours, step_px = trace_again(puzzle, CONFIG.contours, steps and steps[0])
    same = steps is not None and step_px == steps[0]
    return build_borders(contours, step_px=steps[1] if same else None, contour_step_px=step_px)


def _find(puzzle: Puzzle, known: KnownPairs | None = None, config: SolveConfig = CONFIG, **context: Any) -> Matched:
    borders = _borders(puzzle, known.scales.steps if known else None)
    return find_candidates(borders, config.matcher, config.match, Context(**context), load_learned(), known)


def _nothing_with_scales_of(known: KnownPairs) -> KnownPairs:
    nobody = np.zeros(0, np.int64)
    return KnownPairs(nobody, known.rows.take(nobody), known.scales)


@pytest.fixture(scope="module")
def puzzle(nine_pieces: tuple[Puzzle, Assembly]) -> Puzzle:
    return nine_pieces[0]


@pytest.fixture(scope="module")
def known(puzzle: Puzzle) -> KnownPairs:
    """What seven of the nine pieces gave, in the numbers of all nine."""
    kept = _find(_some(puzzle, OLD)).kept
    assert kept is not None
    known = kept.renumbered(OLD)
    assert known is not None
    return known


def test_added_pieces_give_what_all_pairs_give(puzzle: Puzzle, known: KnownPairs) -> None:
    few, all_of_them = _Noting(), _Noting()
    added = _find(puzzle, known, workers=few)
    whole = _find(puzzle, _nothing_with_scales_of(known), workers=all_of_them)
    assert len(whole.candidates) > 20
    assert added.candidates.alignments() == whole.candidates.alignments()
    assert all_of_them.pairs == {(i, j) for j in range(9) for i in range(j)}
    assert few.pairs == {(i, j) for i, j in all_of_them.pairs if {i, j} & {2, 6}}
    assert (added.pairs, whole.pairs) == (len(few.pairs), 36)
    assert added.kept is not None
    assert whole.kept is not None
    for name in ("i", "j", "pose", "features"):
        assert np.array_equal(getattr(added.kept.rows, name), getattr(whole.kept.rows, name)), name
    assert added.kept.scales.steps == known.scales.steps
    again = _borders(puzzle, added.kept.scales.steps)
    first = _borders(puzzle, known.scales.steps)
    assert np.array_equal(again.nearest, first.nearest), "the borders of the run can be had again"


def test_nothing_new_measures_nothing(puzzle: Puzzle) -> None:
    first = _find(puzzle)
    workers = _Noting()
    second = _find(puzzle, first.kept, workers=workers)
    assert second.candidates.alignments() == first.candidates.alignments()
    assert not workers.pairs
    assert second.pairs == 0


@pytest.mark.parametrize("scale", ["contour_step_px", "perimeter_px"])
def test_when_the_scales_have_changed_all_pairs_are_matched_again(puzzle: Puzzle, known: KnownPairs, scale: str) -> None:
    other = dataclasses.replace(known.scales, **{scale: 1.2 * getattr(known.scales, scale)})
    found = _find(puzzle, dataclasses.replace(known, scales=other))
    assert found.pairs == 36
    assert found.kept is not None
    assert getattr(found.kept.scales, scale) != getattr(other, scale)
    if scale == "contour_step_px":
        assert found.candidates.alignments() == _find(puzzle).candidates.alignments()


@pytest.mark.parametrize("matcher", ["zhang", "tsamoura"])
def test_baseline_matchers_match_all_again(puzzle: Puzzle, known: KnownPairs, matcher: str) -> None:
    found = _find(puzzle, _nothing_with_scales_of(known), SolveConfig(matcher=matcher))
    assert found.kept is None
    assert found.pairs == 36
    assert len(found.candidates)


def test_a_stopped_matcher_keeps_nothing_and_gives_what_it_has(puzzle: Puzzle) -> None:
    stop = Stop()
    stop.request()
    found = _find(puzzle, stop=stop)
    assert found.kept is None
    assert len(found.candidates) == 0


def test_a_piece_that_is_gone_takes_its_rows_along(known: KnownPairs) -> None:
    without = known.renumbered([0, None, 1, 2, 3, 4, 5, 6, 7])
    assert without is not None
    assert without.pieces.tolist() == [0, 2, 3, 4, 6, 7]
    assert without.scales.reference.tolist() == [0, 2, 3, 4, 6, 7]
    kept = (known.rows.i != 1) & (known.rows.j != 1)
    assert np.array_equal(without.rows.features, known.rows.features[kept])
    assert set(without.rows.i.tolist()) | set(without.rows.j.tolist()) == {0, 2, 3, 4, 6, 7}


def test_what_was_measured_in_another_order_does_not_hold(known: KnownPairs) -> None:
    assert known.renumbered([0, 2, 1, 3, 4, 5, 6, 7, 8]) is None


def test_rows_are_joined_pair_by_pair_in_a_fixed_order() -> None:
    def row(i: int, j: int, mark: float) -> Candidates:
        return Candidates.make(i, j, np.full((1, 3), mark, np.float32), np.full((1, 13), mark, np.float32))

    joined = by_pair([row(1, 2, 0.0), row(0, 2, 1.0), row(0, 1, 2.0), row(0, 1, 3.0)])
    assert list(zip(joined.i.tolist(), joined.j.tolist(), strict=True)) == [(0, 1), (0, 1), (0, 2), (1, 2)]
    assert joined.pose[:, 0].tolist() == [2.0, 3.0, 1.0, 0.0]
    assert len(by_pair([])) == 0
