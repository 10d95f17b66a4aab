"""Torn pages: poses at which lines of print run on, found without the outline's help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.learned import load_learned
from jigsawnet.match import MatchConfig
from jigsawnet.match.printed import add_printed, find_printed
from jigsawnet.pipeline import Corridor
from jigsawnet.print_lines import find_lines
from jigsawnet.shred import preset, shred_images
from jigsawnet.shred.pages import make_page
from jigsawnet.types import Assembly, Puzzle
from jigsawnet.workers import LocalWorkers

GAP_PX = 12.0


@pytest.fixture(scope="module")
def torn() -> tuple[Puzzle, Assembly]:
    rng = np.random.default_rng(5)
    return shred_images([make_page(rng, 900, 1200)], preset("torn-page", 0.5, rng, 9), rng)


@pytest.fixture(scope="module")
def walk(torn: tuple[Puzzle, Assembly]) -> Corridor:
    return Corridor(torn[0], SolveConfig(match=MatchConfig(printed=False)))


def printed(walk: Corridor, context: Context | None = None) -> Candidates:
    pieces, config = walk.puzzle.pieces, MatchConfig().dense
    return find_printed(walk.get("borders"), pieces, find_lines(pieces), config, load_learned().contact, context or Context())


def pairs(rows: Candidates, chosen: np.ndarray) -> set[tuple[int, int]]:
    return set(zip(rows.i[chosen].tolist(), rows.j[chosen].tolist(), strict=True))


def test_most_neighbours_are_found_by_print_alone(walk: Corridor, torn: tuple[Puzzle, Assembly]) -> None:
    rows = printed(walk)
    right = pairs(rows, right_candidates(torn[0], rows, torn[1], gap_px=GAP_PX))
    assert len(right) >= 8, "of twelve"


def test_every_pose_lets_the_lines_run_on_or_lies_upside_down(walk: Corridor) -> None:
    rows, angle = printed(walk), find_lines(walk.puzzle.pieces)
    off = (angle[rows.j] + rows.pose[:, 0] - angle[rows.i] + np.pi / 2) % np.pi - np.pi / 2
    assert np.median(np.abs(off)) < np.radians(2.0)
    assert (np.abs(off) < 1e-4).any(), "as they were found, and as the outlines would have them"


def test_the_same_on_any_number_of_workers(walk: Corridor) -> None:
    one, two = printed(walk), printed(walk, Context(workers=LocalWorkers(2)))
    for name in Candidates.__slots__:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def test_they_join_those_of_the_outline_and_none_is_lost(walk: Corridor) -> None:
    found, config = walk.get("candidates").rows, MatchConfig()
    pieces = walk.puzzle.pieces
    both = add_printed(walk.get("borders"), pieces, found, config, Context(), load_learned())
    count = np.bincount(np.concatenate([both.i, both.j]), minlength=len(pieces))
    assert len(both) > len(found)
    assert count.max() <= 2 * config.per_piece
    assert pairs(found, np.ones(len(found), bool)) <= pairs(both, np.ones(len(both), bool))
    assert np.isnan(both.score).all()
    assert (both.fit > 0).all()


def test_pictures_get_none(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    walk = Corridor(nine_pieces[0])
    found = walk.get("candidates").rows
    same = add_printed(walk.get("borders"), nine_pieces[0].pieces, found, MatchConfig(), Context(), load_learned())
    assert same is found


def test_the_option_turns_it_off(torn: tuple[Puzzle, Assembly], walk: Corridor) -> None:
    assert walk.get("candidates").rows.ragged.any(), "the page is ragged"
    assert len(Corridor(torn[0]).get("candidates").rows) > len(walk.get("candidates").rows)


def test_a_giant_piece_among_small_ones_is_left_out(torn: tuple[Puzzle, Assembly]) -> None:
    first, *others = torn[0].pieces
    giant = replace(
        first, image=np.repeat(np.repeat(first.image, 5, 0), 5, 1), mask=np.repeat(np.repeat(first.mask, 5, 0), 5, 1)
    )
    puzzle = replace(torn[0], pieces=(giant, *others))
    walk = Corridor(puzzle)
    rows = printed(walk)
    assert len(rows)
    assert 0 not in rows.i
