"""A stop at any look at the clock: the corridor ends with what it has, begins nothing more, and the next run has the same bits.

No test here measures time. The clock stands still, and the stop is over from the k-th look on; then what is begun is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jigsawnet import borders, contours, halo, pipeline, pixels
from jigsawnet.candidates import Candidates
from jigsawnet.compose import hierarchical
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.io.array_store import MEASURED, Saved
from jigsawnet.match import MatchConfig, RetrievalConfig, pairs, retrieve, windows
from jigsawnet.match import dense as matcher
from jigsawnet.pipeline import RATED, Corridor, assemble_in_time
from jigsawnet.refine import least_squares, seams
from jigsawnet.score import detectors
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.stopping import Stop
from jigsawnet.store import assembly_to_arrays
from jigsawnet.types import Assembly, Progress, Puzzle, no_progress
from jigsawnet.workers import LocalWorkers

CONFIG = SolveConfig(
    match=MatchConfig(
        dense=replace(MatchConfig().dense, retrieval=RetrievalConfig(above=10, partners=(4, 8), explained=(0.9,)))
    )
)
"""As for thousands of pieces: partners are retrieved."""


class _Late(Stop):
    """Over from the k-th look on; ``times`` how often was looked."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self.times, self._k = 0, k

    def is_over(self) -> bool:
        self.times += 1
        if self.times >= self._k:
            self.request()
        return super().is_over()


class _Shelf:
    """A store in memory, as a folder keeps it."""

    def __init__(self) -> None:
        self.stages: dict[str, Saved] = {}

    def load(self, name: str, key: str | None = None) -> Saved | None:
        saved = self.stages.get(name)
        return saved if saved is not None and key in (None, saved.key) else None

    def save(self, stages: Mapping[str, Saved]) -> None:
        self.stages |= stages


@pytest.fixture(scope="module")
def puzzle() -> Puzzle:
    rng = np.random.default_rng(4)
    coarse = rng.integers(0, 256, (18, 18, 3)).astype(np.float32)
    picture = np.kron(coarse, np.ones((18, 18, 1))).astype(np.uint8)
    return shred_images([picture], ShredConfig(pieces=12), rng)[0]


def cut_finely(patch: pytest.MonkeyPatch) -> None:
    """Work is cut as finely as that of thousands of pieces, and no time is left once it is to end."""
    for name in ("_FEWEST_PAIRS", "_MOST_PAIRS"):
        patch.setattr(pairs, name, 4)
    patch.setattr(matcher, "_BLOCKS_KEPT", 2)
    patch.setattr(retrieve, "_PIECES_PER_BLOCK", 4)
    patch.setattr(pipeline, "_LOT", 24)
    patch.setattr(pipeline, "_MOST_AT_ONCE", 24)
    patch.setattr(pipeline, "HASTE_S", 0.0)
    patch.setattr(pipeline, "_LAST_LOOK_S", 0.0)
    patch.setattr(detectors, "BLOCK", 8)


@pytest.fixture(autouse=True)
def _finely(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)


def walk(
    puzzle: Puzzle, shelf: _Shelf, stop: Stop | None = None, progress: Progress = no_progress
) -> tuple[Assembly, Corridor]:
    """Walk to the assembly; the corridor tells what it did."""
    corridor = Corridor(puzzle, CONFIG, Context(progress, stop or Stop(), LocalWorkers(1)), store=shelf)
    return assemble_in_time(corridor)[0], corridor


def same(a: Assembly, b: Assembly) -> bool:
    one, two = assembly_to_arrays(a), assembly_to_arrays(b)
    return all(np.array_equal(one[name], two[name], equal_nan=True) for name in one)


def pairs_of(corridor: Corridor) -> int:
    return int(sum(stage.counts.get("pairs", 0) for stage in corridor.stages if stage.name == "match"))


@pytest.fixture(scope="module")
def undisturbed(puzzle: Puzzle) -> tuple[Assembly, int, int, int]:
    """The assembly, how often was looked, how often progress was told, and the pairs that were measured."""
    told, stop = [], _Late(1 << 40)
    with pytest.MonkeyPatch.context() as patch:
        cut_finely(patch)
        assembly, corridor = walk(puzzle, _Shelf(), stop, lambda *at: told.append(at))
    assert len(assembly.poses) == len(puzzle)
    return assembly, stop.times, len(told), pairs_of(corridor)


WORK = {
    halo: "_ring_colors", contours: "level_ring", borders: "_fill_grid", windows: "_piece_windows",
    retrieve: "_distances_of_block", matcher: "_best_of_row", pixels: "_draw_premultiplied", detectors: "_look_at",
    hierarchical: "merge_patches", least_squares: "solve_symmetric", seams: "sum_seams",
}  # fmt: skip
"""What the stages spend their time on: a call each takes milliseconds."""


@pytest.mark.parametrize("tenth", range(12))
def test_stopped_at_any_look_nothing_is_begun_any_more(
    tenth: int, puzzle: Puzzle, undisturbed: tuple[Assembly, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, looks, _, n_pairs = undisturbed
    stop, late = _Late(1 + tenth * looks // 12), Counter[str]()

    def counted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            late[name] += stop.is_requested
            return work(*given, **named)

        return call

    shelf = _Shelf()
    with monkeypatch.context() as patch:
        for module, name in WORK.items():
            patch.setattr(module, name, counted(name, getattr(module, name)))
        cut, corridor = walk(puzzle, shelf, stop)
    assert stop.is_requested
    assert corridor.is_cut
    assert {name: times for name, times in late.items() if times > 2} == {}, "what was begun is finished, no more"
    assert cut.n_pieces == len(puzzle)
    kept = shelf.stages.get(MEASURED)
    measured = 0 if kept is None else len(kept.arrays["pairs"])
    again, second = walk(puzzle, shelf)
    assert same(again, whole)
    assert pairs_of(corridor) >= measured
    if "match" in second.made:
        assert pairs_of(second) == n_pairs - measured, "what was kept is not measured again"


@pytest.mark.parametrize("tenth", range(6))
def test_stopped_at_any_progress_the_next_run_has_the_same_bits(
    tenth: int, puzzle: Puzzle, undisturbed: tuple[Assembly, int, int, int]
) -> None:
    whole, _, tells, _ = undisturbed
    stop, told = Stop(), []

    def tell(*at: Any) -> None:
        told.append(at)
        if len(told) == 1 + tenth * tells // 6:
            stop.request()

    shelf = _Shelf()
    _, corridor = walk(puzzle, shelf, stop, tell)
    assert stop.is_requested
    assert corridor.is_cut or same(walk(puzzle, shelf)[0], whole)
    assert same(walk(puzzle, shelf)[0], whole)


def test_scores_are_kept_as_they_come_and_taken_again(
    puzzle: Puzzle, undisturbed: tuple[Assembly, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, stop, seen, real = _Shelf(), Stop(), [], pipeline.score_candidates

    def score(rows: Candidates, *others: Any) -> Any:
        seen.append(len(rows))
        if len(seen) == 3:
            stop.request()
        return real(rows, *others)

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "score_candidates", score)
        walk(puzzle, shelf, stop)
        assert seen == [24, 24, 24]
        assert len(shelf.stages[RATED].arrays["score"]) == 48, "what was cut short is not kept"
        corridor = Corridor(puzzle, CONFIG, Context(workers=LocalWorkers(1)), store=shelf)
        rows = corridor.get("scored").rows
        assert sum(seen[3:]) == len(rows) - 48, "what was scored is not scored again"
    assert same(walk(puzzle, shelf)[0], undisturbed[0])


def test_kept_scores_that_are_none_are_not_believed(puzzle: Puzzle) -> None:
    for score in (np.full(30, 2.0), np.full(30, np.nan), np.zeros((3, 3)), np.zeros(5, np.int64)):
        shelf = _Shelf()
        corridor = Corridor(puzzle, CONFIG, Context(workers=LocalWorkers(1)), store=shelf)
        shelf.stages[RATED] = Saved(corridor.key("scored"), corridor.key("puzzle"), {"score": score})
        assert corridor.get("rated") is None
