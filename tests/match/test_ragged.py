"""Ragged puzzles: told from clean ones by themselves, looked at again, and clean ones are left as they were."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.borders import Borders
from jigsawnet.candidates import CONTACT, FEATURES, Candidates
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.learned import load_learned
from jigsawnet.match import DenseConfig, MatchConfig, RaggedConfig, Scales, find_candidates
from jigsawnet.match.pairs import all_pairs
from jigsawnet.match.ragged import is_ragged, measure_contact, prepare_ragged, settle_row
from jigsawnet.pipeline import Corridor
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array
from jigsawnet.workers import LocalWorkers

PLAIN = SolveConfig(match=MatchConfig(dense=DenseConfig(ragged=RaggedConfig(enabled=False))))


def table(*rows: tuple[int, int, float, float]) -> Candidates:
    """Candidates (i, j, fit, residual)."""
    features = np.ones((len(rows), len(FEATURES)), np.float32)
    features[:, FEATURES.index("residual")] = [r[3] for r in rows]
    return Candidates.make(
        [r[0] for r in rows], [r[1] for r in rows], np.zeros((len(rows), 3)), features, fit=[r[2] for r in rows]
    )


def chain(n: int, fit: float, residual: float) -> list[tuple[int, int, float, float]]:
    return [(k, k + 1, fit, residual) for k in range(n - 1)]


def same(one: Candidates, two: Candidates) -> None:
    for name in Candidates.__slots__:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def test_a_puzzle_whose_pieces_all_fit_tightly_is_not_ragged(square_tiles) -> None:  # type: ignore[no-untyped-def]
    tiles = square_tiles(10)
    assert not is_ragged(table(*chain(10, 0.97, 0.2)), tiles)
    most = [row for row in chain(10, 0.97, 0.2) if row[0] != 8]
    assert not is_ragged(table(*most, (0, 9, 0.5, 0.2)), tiles), "nine of ten have a sure seam"


def test_it_is_ragged_when_too_few_pieces_have_a_sure_seam(square_tiles) -> None:  # type: ignore[no-untyped-def]
    tiles = square_tiles(10)
    assert is_ragged(table(*chain(9, 0.97, 0.2)[:7]), tiles), "eight of ten"
    assert is_ragged(table(*chain(10, 0.85, 0.2)), tiles), "none is sure"
    assert is_ragged(Candidates.none(), tiles)


def test_it_is_ragged_when_sure_seams_are_rough(square_tiles) -> None:  # type: ignore[no-untyped-def]
    tiles = square_tiles(10)
    limit = 0.45 * tiles.unit_px
    assert is_ragged(table(*chain(10, 0.97, 1.1 * limit)), tiles)
    assert not is_ragged(table(*chain(10, 0.97, 0.9 * limit)), tiles)
    assert not is_ragged(table(*chain(10, 0.97, 0.2), *[(0, 5, 0.3, 9.0)] * 20), tiles), "seams that do not fit say nothing"


def test_two_pieces_and_pieces_without_a_border_do_not_count(square_tiles) -> None:  # type: ignore[no-untyped-def]
    assert not is_ragged(Candidates.none(), square_tiles(2))
    tiles: Borders = square_tiles(4)
    first = np.array([0, tiles.first[1], tiles.first[1], tiles.first[1], tiles.first[1]])
    assert not is_ragged(Candidates.none(), replace(tiles, first=first)), "only one has a border"


def test_a_ragged_puzzle_gets_its_contact_measured_and_more_right_candidates(fresco: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = fresco
    walk = Corridor(puzzle)
    rows, plain = walk.get("candidates").rows, Corridor(puzzle, PLAIN).get("candidates").rows
    assert rows.ragged.all()
    assert not plain.ragged.any()
    assert rows.measured.all()
    assert np.isfinite(rows.contact).all()
    assert (rows.feature("length") > 0).all()
    assert np.bincount(np.concatenate([rows.i, rows.j])).max() <= SolveConfig().match.per_piece
    assert rows.fit.tolist() == sorted(rows.fit.tolist(), reverse=True)

    def right(found: Candidates) -> set[tuple[int, int]]:
        good = right_candidates(puzzle, found.alignments(), truth, gap_px=20.0)
        return {(int(i), int(j)) for i, j, ok in zip(found.i, found.j, good, strict=True) if ok}

    assert len(right(rows)) > len(right(plain))
    assert len(right(rows)) >= 9
    again = measure_contact(walk.get("borders"), rows)
    np.testing.assert_allclose(again.contact, rows.contact, rtol=1e-3, atol=1e-3)


def test_a_clean_puzzle_keeps_its_candidates_to_the_bit(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    rows = Corridor(nine_pieces[0]).get("candidates").rows
    assert not rows.ragged.any()
    same(rows, Corridor(nine_pieces[0], PLAIN).get("candidates").rows)


def test_the_number_of_workers_does_not_matter(fresco: tuple[Puzzle, Assembly]) -> None:
    one, two = (Corridor(fresco[0], context=Context(workers=LocalWorkers(slots))).get("scored").rows for slots in (1, 2))
    assert one.ragged.all()
    same(one, two)


def test_known_pairs_give_the_same_candidates(fresco: tuple[Puzzle, Assembly]) -> None:
    borders, learned, config = Corridor(fresco[0]).get("borders"), load_learned(), MatchConfig()
    first = find_candidates(borders, "dense", config, Context(), learned)
    again = find_candidates(borders, "dense", config, Context(), learned, first.kept)
    assert (first.pairs, again.pairs) == (36, 0)
    same(again.candidates, first.candidates)
    assert first.kept is not None
    assert not first.kept.rows.ragged.any(), "what is kept is what was measured of the whole seams"


def test_without_time_the_first_look_is_all(fresco: tuple[Puzzle, Assembly]) -> None:
    borders = Corridor(fresco[0]).get("borders")
    stop = Stop()
    found = find_candidates(borders, "dense", MatchConfig(), Context(), load_learned())
    stop.request()
    late = find_candidates(borders, "dense", MatchConfig(), Context(stop=stop), load_learned(), found.kept)
    assert len(late.candidates) > 0
    assert not late.candidates.ragged.any()


def test_seeds_that_hardly_touch_are_left_out(fresco: tuple[Puzzle, Assembly]) -> None:
    borders: Borders = Corridor(fresco[0]).get("borders")
    material = prepare_ragged(borders, DenseConfig(), Scales.of(borders), load_learned().contact)
    parts = [settle_row(material, row) for row in all_pairs(len(borders))]
    assert [set(part.i.tolist()) for part in parts[:3]] == [{0}, {1}, {2}]
    rows = Candidates.concat(parts)
    assert len(rows) > 500
    assert (rows.contact[:, CONTACT.index("contact")] >= 4 * borders.step_px).all()
    assert (rows.feature("length") > 0).all()


@pytest.mark.parametrize("pieces", [[], [(2, 2)] * 4, [(40, 40), (2, 2), (2, 2)]])
def test_nothing_to_look_at_again_does_no_harm(pieces: list[tuple[int, int]], picture: UInt8Array) -> None:
    made = tuple(Piece(k, str(k), picture[:h, :w].copy(), np.ones((h, w), bool)) for k, (h, w) in enumerate(pieces))
    rows = Corridor(Puzzle("few", made)).get("scored").rows
    assert len(rows) == 0
