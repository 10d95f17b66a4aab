"""What is measured is kept as it goes: after a kill or a stop the next run goes on, to the same bits; counts are true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.io.array_store import MEASURED, Saved
from jigsawnet.learned import load_learned
from jigsawnet.match import KnownPairs, MatchConfig, Matched, RetrievalConfig, find_candidates, pairs
from jigsawnet.match import dense as matcher
from jigsawnet.pipeline import Corridor
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.stopping import Stop
from jigsawnet.types import Puzzle
from jigsawnet.workers import LocalWorkers

ALL = MatchConfig()
FEW = MatchConfig(dense=replace(ALL.dense, retrieval=RetrievalConfig(above=15, partners=(5, 9), explained=(0.9,))))


class _KilledError(Exception):
    pass


class _Late(Stop):
    """Over from the n-th time on that somebody asks."""

    def __init__(self, asked: int) -> None:
        super().__init__()
        self._left = asked

    def is_over(self) -> bool:
        self._left -= 1
        if self._left < 0:
            self.request()
        return super().is_over()


class _Shelf:
    """A store in memory."""

    def __init__(self) -> None:
        self.stages: dict[str, Saved] = {}

    def load(self, name: str, key: str | None = None) -> Saved | None:
        saved = self.stages.get(name)
        return saved if saved is not None and key in (None, saved.key) else None

    def save(self, stages: Any) -> None:
        self.stages |= stages


@pytest.fixture(scope="module")
def puzzle() -> Puzzle:
    rng = np.random.default_rng(2)
    coarse = rng.integers(0, 256, (20, 20, 3)).astype(np.float32)
    picture = np.kron(coarse, np.ones((18, 18, 1))).astype(np.uint8)
    return shred_images([picture], ShredConfig(pieces=16), rng)[0]


@pytest.fixture(scope="module")
def borders(puzzle: Puzzle) -> Borders:
    made: Borders = Corridor(puzzle).get("borders")
    return made


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_FEWEST_PAIRS", 5)
    monkeypatch.setattr(pairs, "_MOST_PAIRS", 5)
    monkeypatch.setattr(matcher, "_BLOCKS_KEPT", 2)


def _find(borders: Borders, config: MatchConfig, known: KnownPairs | None = None, **context: Any) -> Matched:
    own = {"workers": LocalWorkers(1)} | context
    return find_candidates(borders, "dense", config, Context(**own), load_learned(), known)


def _same(a: Candidates, b: Candidates) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in Candidates.__slots__)


@pytest.mark.parametrize("config", [ALL, FEW], ids=["all pairs", "retrieved"])
@pytest.mark.parametrize("kills", [1, 4])
def test_killed_after_some_blocks_it_goes_on_to_the_same_bits(borders: Borders, config: MatchConfig, kills: int) -> None:
    kept: list[KnownPairs] = []

    def keep(known: KnownPairs) -> None:
        kept.append(known)
        if len(kept) == kills:
            raise _KilledError

    whole = _find(borders, config)
    with pytest.raises(_KilledError):
        _find(borders, config, keep=keep)
    measured = len(kept[-1].every_pair())
    assert 0 < measured < whole.pairs
    rest = _find(borders, config, kept[-1])
    assert rest.pairs == whole.pairs - measured
    assert _same(rest.candidates, whole.candidates)


@pytest.mark.parametrize("asked", [0, 3, 40, 300, 420])
def test_stopped_at_any_check_counts_are_true(borders: Borders, asked: int) -> None:
    kept: list[KnownPairs] = []
    found = _find(borders, FEW, stop=_Late(asked), keep=kept.append)
    pieces: Sequence[tuple[int, int]] = list(zip(found.candidates.i.tolist(), found.candidates.j.tolist(), strict=True))
    assert len(set(pieces)) <= found.pairs
    assert found.kept is None or found.pairs > 0
    if kept:
        assert len(kept[-1].every_pair()) <= found.pairs


def test_the_store_has_what_was_measured_before_the_end(puzzle: Puzzle) -> None:
    undisturbed = Corridor(puzzle, context=Context(workers=LocalWorkers(1)), store=_Shelf()).get("candidates")
    shelf, done = _Shelf(), []

    def kill(stage: str, at: int, total: int) -> None:
        if stage == "match":
            done.append(at)
            if at == total // 2:
                raise _KilledError

    with pytest.raises(_KilledError):
        Corridor(puzzle, context=Context(kill, workers=LocalWorkers(1)), store=shelf).get("candidates")
    assert done == sorted(done)
    assert set(shelf.stages) == {MEASURED}
    again = Corridor(puzzle, context=Context(workers=LocalWorkers(1)), store=shelf)
    found = again.get("candidates")
    counts = next(stage.counts for stage in again.stages if stage.name == "match")
    assert counts["pairs"] < len(puzzle) * (len(puzzle) - 1) // 2
    assert _same(found.rows, undisturbed.rows)
