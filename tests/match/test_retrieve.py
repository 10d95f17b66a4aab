"""Retrieval: right partners come first, whoever does the work; pieces that are explained ask for no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.errors import ConfigError
from jigsawnet.evaluation.neighbors import true_neighbors
from jigsawnet.learned import load_learned
from jigsawnet.match import MatchConfig, Matched, RetrievalConfig, Scales, find_candidates, retrieve
from jigsawnet.match.dense import prepare_material
from jigsawnet.match.pairs import all_pairs, pairs_of, rows_of
from jigsawnet.match.retrieve import find_distances, nearest_partners
from jigsawnet.pipeline import Corridor
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Float32Array, Piece, Puzzle
from jigsawnet.workers import LocalWorkers

DENSE = MatchConfig().dense


@pytest.fixture(scope="module")
def cut() -> tuple[Puzzle, Assembly, Borders]:
    rng = np.random.default_rng(5)
    coarse = rng.integers(0, 256, (24, 24, 3)).astype(np.float32)
    picture = np.clip(np.kron(coarse, np.ones((20, 20, 1))), 0, 255).astype(np.uint8)
    puzzle, truth = shred_images([picture], ShredConfig(pieces=25), rng)
    return puzzle, truth, Corridor(puzzle, SolveConfig()).get("borders")


def _distances(borders: Borders, workers: int = 1, stop: Stop | None = None) -> Float32Array | None:
    material = prepare_material(borders, DENSE, Scales.of(borders), load_learned().fit, LocalWorkers(1))
    context = Context(workers=LocalWorkers(workers), stop=stop or Stop())
    return find_distances(material.kinds, material.passes, context)


def _find(borders: Borders, retrieval: RetrievalConfig, known: Matched | None = None) -> Matched:
    config = MatchConfig(dense=replace(DENSE, retrieval=retrieval))
    return find_candidates(borders, "dense", config, Context(), load_learned(), known and known.kept)


def _same(a: Candidates, b: Candidates) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in Candidates.__slots__)


def test_neighbours_are_nearest(cut: tuple[Puzzle, Assembly, Borders]) -> None:
    puzzle, truth, borders = cut
    distance = _distances(borders)
    assert distance is not None
    near = {(int(i), int(j)) for i, j in nearest_partners(distance, 8)}
    neighbors = true_neighbors(puzzle, truth)
    assert len(near & neighbors) >= 0.95 * len(neighbors)
    assert len(near) < 0.6 * len(puzzle) * (len(puzzle) - 1) / 2


def test_distances_are_symmetric_and_the_same_on_any_number_of_workers(cut: tuple[Puzzle, Assembly, Borders]) -> None:
    one, three = _distances(cut[2]), _distances(cut[2], workers=3)
    assert one is not None
    assert three is not None
    assert np.array_equal(one, three)
    assert np.array_equal(one, one.T)
    assert np.isinf(np.diag(one)).all()


def test_stopped_early_nothing_is_known(cut: tuple[Puzzle, Assembly, Borders]) -> None:
    stop = Stop()
    stop.request()
    assert _distances(cut[2], stop=stop) is None


def test_each_piece_has_its_nearest_partners() -> None:
    distance = np.array([[np.inf, 1, 2, 9], [1, np.inf, 3, 8], [2, 3, np.inf, 7], [9, 8, 7, np.inf]], np.float32)
    assert nearest_partners(distance, 1).tolist() == [[0, 1], [0, 2], [2, 3]]
    assert nearest_partners(distance, 1, np.array([3])).tolist() == [[2, 3]]
    assert nearest_partners(distance, 99).tolist() == pairs_of(all_pairs(4)).tolist()
    assert nearest_partners(distance, 2, np.zeros(0, np.int64)).tolist() == []


def test_a_piece_without_windows_has_no_partners() -> None:
    distance = np.array([[np.inf, 1, np.inf], [1, np.inf, np.inf], [np.inf, np.inf, np.inf]], np.float32)
    assert nearest_partners(distance, 2).tolist() == [[0, 1]]


def test_pairs_and_rows_are_the_same_thing() -> None:
    pairs = np.array([[0, 2], [0, 3], [4, 5]])
    assert [(i, later.tolist()) for i, later in rows_of(pairs)] == [(0, [2, 3]), (4, [5])]
    assert pairs_of(rows_of(pairs)).tolist() == pairs.tolist()
    assert rows_of(np.zeros((0, 2), np.int64)) == []


def test_with_all_partners_it_is_all_pairs_to_the_bit(cut: tuple[Puzzle, Assembly, Borders]) -> None:
    borders = cut[2]
    every = _find(borders, RetrievalConfig(above=25))
    retrieved = _find(borders, RetrievalConfig(above=24, partners=(24,), explained=()))
    assert every.pairs == retrieved.pairs == 300
    assert _same(every.candidates, retrieved.candidates)


def test_pieces_that_are_explained_ask_for_no_more(cut: tuple[Puzzle, Assembly, Borders]) -> None:
    borders = cut[2]
    first = _find(borders, RetrievalConfig(above=24, partners=(6,), explained=()))
    never = _find(borders, RetrievalConfig(above=24, partners=(6, 24), explained=(0.0,)))
    some = _find(borders, RetrievalConfig(above=24, partners=(6, 24), explained=(0.6,)))
    always = _find(borders, RetrievalConfig(above=24, partners=(6, 24), explained=(1.0,)))
    assert first.pairs == never.pairs <= some.pairs < always.pairs == 300
    assert _same(first.candidates, never.candidates)


def test_what_is_known_is_not_measured_again_and_changes_nothing(cut: tuple[Puzzle, Assembly, Borders]) -> None:
    borders = cut[2]
    small, large = (RetrievalConfig(above=24, partners=(k,), explained=()) for k in (4, 8))
    first, fresh = _find(borders, small), _find(borders, large)
    after, back = _find(borders, large, first), _find(borders, small, fresh)
    assert after.pairs == fresh.pairs - first.pairs
    assert _same(after.candidates, fresh.candidates)
    assert back.pairs == 0
    assert _same(back.candidates, first.candidates), "pairs that are not asked for do not count"


@pytest.mark.parametrize(
    "options",
    [
        {"above": 1},
        {"partners": ()},
        {"partners": (0,)},
        {"explained": (0.5, 1.5)},
        {"explained": (0.5,)},
        {"ragged_partners": 0},
    ],
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="retrieval"):
        RetrievalConfig(**options)


def test_a_rough_look_that_keeps_all_changes_nothing(
    cut: tuple[Puzzle, Assembly, Borders], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _distances(cut[2])
    monkeypatch.setattr(retrieve, "_ROUGH_ABOVE", 10)
    monkeypatch.setattr(retrieve, "_ROUGH_LEAST", 24)
    found = _distances(cut[2], workers=2)
    assert whole is not None
    assert found is not None
    np.testing.assert_allclose(found, whole, atol=1e-3)


def test_of_thousands_of_pieces_only_those_near_in_a_rough_look_are_compared(
    cut: tuple[Puzzle, Assembly, Borders], monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle, truth, borders = cut
    monkeypatch.setattr(retrieve, "_ROUGH_ABOVE", 10)
    monkeypatch.setattr(retrieve, "_ROUGH_LEAST", 10)
    distance = _distances(borders)
    assert distance is not None
    assert np.array_equal(distance, distance.T)
    met = np.isfinite(distance)
    assert (met.sum(1) >= 10).all()
    assert met.mean() < 0.75
    near = {(int(i), int(j)) for i, j in nearest_partners(distance, 8)}
    neighbors = true_neighbors(puzzle, truth)
    assert len(near & neighbors) >= 0.95 * len(neighbors)


def test_pieces_that_are_all_alike_are_bounded_like_others() -> None:
    """Blank squares, and a giant among crumbs: no more pairs than partners asked for, and no trouble."""
    square, giant = (np.pad(np.ones((side, side), bool), 4) for side in (24, 300))
    same = [Piece(k, f"{k}", np.full((*square.shape, 3), 255, np.uint8), square) for k in range(30)]
    huge = Piece(30, "giant", np.full((*giant.shape, 3), 90, np.uint8), giant)
    for pieces in (same, [*same, huge]):
        borders = Corridor(Puzzle("alike", tuple(pieces))).get("borders")
        found = _find(borders, RetrievalConfig(above=20, partners=(3, 6), explained=(0.9,), ragged_partners=5))
        assert found.pairs <= 6 * len(pieces)
        assert len(found.candidates) <= 40 * len(pieces)
