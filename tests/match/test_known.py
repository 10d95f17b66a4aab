"""Pieces that are added later: only pairs with a new piece are looked at, and the candidates are those of all pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from jigsawnet.config import SolveConfig
from jigsawnet.match import Known, MatcherName, Measured
from jigsawnet.pipeline import find_candidates, find_with_known, trace_bank
from jigsawnet.stage_clock import StageClock
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
    chosen = (dataclasses.replace(puzzle.fragments[idx], idx=k) for k, idx in enumerate(pieces))
    return Puzzle(puzzle.name, tuple(chosen))


def _nothing_with_scales_of(known: Known) -> Known:
    nobody = np.zeros(0, np.int64)
    return Known(nobody, known.rows.take(nobody), known.scales)


@pytest.fixture(scope="module")
def puzzle(nine_pieces: tuple[Puzzle, Assembly]) -> Puzzle:
    return nine_pieces[0]


@pytest.fixture(scope="module")
def known(puzzle: Puzzle) -> Known:
    """What seven of the nine pieces gave, in the numbers of all nine."""
    kept = find_with_known(_some(puzzle, OLD), CONFIG, None).kept
    assert kept is not None
    known = kept.renumbered(OLD)
    assert known is not None
    return known


def test_added_pieces_give_what_all_pairs_give(puzzle: Puzzle, known: Known) -> None:
    few, all_of_them = _Noting(), _Noting()
    added = find_with_known(puzzle, CONFIG, known, workers=few)
    whole = find_with_known(puzzle, CONFIG, _nothing_with_scales_of(known), workers=all_of_them)
    assert len(whole.alignments) > 20
    assert added.alignments == whole.alignments
    assert all_of_them.pairs == {(i, j) for j in range(9) for i in range(j)}
    assert few.pairs == {(i, j) for i, j in all_of_them.pairs if {i, j} & {2, 6}}
    assert added.kept is not None
    assert whole.kept is not None
    for name in ("i", "j", "pose", "features"):
        assert np.array_equal(getattr(added.kept.rows, name), getattr(whole.kept.rows, name)), name
    assert added.kept.scales.steps == known.scales.steps
    again = trace_bank(puzzle, CONFIG, StageClock(), added.kept.scales)
    assert np.array_equal(again.nearest, added.bank.nearest), "the borders of the run can be had again"


def test_nothing_new_measures_nothing(puzzle: Puzzle) -> None:
    first = find_with_known(puzzle, CONFIG, None)
    workers, clock = _Noting(), StageClock()
    second = find_with_known(puzzle, CONFIG, first.kept, clock, workers=workers)
    assert second.alignments == first.alignments
    assert not workers.pairs
    assert clock.stages[-1].counts["pairs"] == 0


@pytest.mark.parametrize("scale", ["contour_step_px", "perimeter_px"])
def test_when_the_scales_have_changed_all_pairs_are_matched_again(puzzle: Puzzle, known: Known, scale: str) -> None:
    other = dataclasses.replace(known.scales, **{scale: 1.2 * getattr(known.scales, scale)})
    clock = StageClock()
    found = find_with_known(puzzle, CONFIG, dataclasses.replace(known, scales=other), clock)
    assert clock.stages[-1].counts["pairs"] == 36
    assert found.kept is not None
    assert getattr(found.kept.scales, scale) != getattr(other, scale)
    if scale == "contour_step_px":
        assert found.alignments == find_candidates(puzzle, CONFIG)[1]


@pytest.mark.parametrize("matcher", ["zhang", "tsamoura"])
def test_baseline_matchers_match_all_again(puzzle: Puzzle, known: Known, matcher: MatcherName) -> None:
    config = SolveConfig(matcher=matcher)
    found = find_with_known(puzzle, config, _nothing_with_scales_of(known))
    assert found.kept is None
    assert found.alignments


def test_a_stopped_matcher_keeps_nothing_and_gives_what_it_has(puzzle: Puzzle) -> None:
    stop = Stop()
    stop.request()
    found = find_with_known(puzzle, CONFIG, None, stop=stop)
    assert found.kept is None
    assert found.alignments == ()


def test_a_piece_that_is_gone_takes_its_rows_along(known: Known) -> None:
    without = known.renumbered([0, None, 1, 2, 3, 4, 5, 6, 7])
    assert without is not None
    assert without.pieces.tolist() == [0, 2, 3, 4, 6, 7]
    assert without.scales.reference.tolist() == [0, 2, 3, 4, 6, 7]
    kept = (known.rows.i != 1) & (known.rows.j != 1)
    assert np.array_equal(without.rows.features, known.rows.features[kept])
    assert set(without.rows.i.tolist()) | set(without.rows.j.tolist()) == {0, 2, 3, 4, 6, 7}


def test_what_was_measured_in_another_order_does_not_hold(known: Known) -> None:
    assert known.renumbered([0, 2, 1, 3, 4, 5, 6, 7, 8]) is None


def test_rows_are_joined_pair_by_pair_in_a_fixed_order() -> None:
    def row(i: int, j: int, mark: float) -> Measured:
        return Measured(np.array([i], np.int32), np.array([j], np.int32), np.full((1, 3), mark, np.float32),
                        np.full((1, 13), mark, np.float32))  # fmt: skip

    joined = Measured.join([row(1, 2, 0.0), row(0, 2, 1.0), row(0, 1, 2.0), row(0, 1, 3.0)])
    assert list(zip(joined.i.tolist(), joined.j.tolist(), strict=True)) == [(0, 1), (0, 1), (0, 2), (1, 2)]
    assert joined.pose[:, 0].tolist() == [2.0, 3.0, 1.0, 0.0]
    assert len(Measured.join([])) == 0
