"""The truth beside the pieces: both formats, pieces in the puzzle's order, and clear words when it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jigsawnet.errors import FormatError, InputError
from jigsawnet.io.assembly_json import write_assembly
from jigsawnet.io.authors import write_ground_truth
from jigsawnet.io.pieces import write_pieces
from jigsawnet.io.truth import AUTHORS_TRUTH_FILE, TRUTH_FILE, read_truth
from jigsawnet.types import Assembly, Puzzle

Writer = Callable[[Path, Puzzle, Assembly], None]


def write_ours(folder: Path, puzzle: Puzzle, truth: Assembly) -> None:
    write_assembly(folder / TRUTH_FILE, truth, puzzle.names())


def write_authors(folder: Path, puzzle: Puzzle, truth: Assembly) -> None:
    write_ground_truth(folder / AUTHORS_TRUTH_FILE, truth, puzzle.names())


both_layouts = pytest.mark.parametrize("write", [write_ours, write_authors], ids=["ours", "the authors'"])


def some_of(puzzle: Puzzle, order: Sequence[int]) -> Puzzle:
    """Some pieces in another order, under their own names."""
    return Puzzle(puzzle.name, tuple(replace(puzzle.pieces[old], idx=new) for new, old in enumerate(order)))


def assert_same_poses(found: Assembly, truth: Assembly, order: Sequence[int]) -> None:
    assert found.n_pieces == len(order)
    for new, old in enumerate(order):
        assert found.poses[new].distance(truth.poses[old], at=(200.0, 200.0)) == pytest.approx((0.0, 0.0), abs=1e-3)


@both_layouts
def test_the_truth_is_read(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly], write: Writer) -> None:
    puzzle, truth = tiny_puzzle
    write_pieces(tmp_path, puzzle)
    write(tmp_path, puzzle, truth)
    found = read_truth(tmp_path, puzzle)
    assert found.components == truth.components
    assert_same_poses(found, truth, range(4))


@both_layouts
def test_pieces_that_are_not_in_the_puzzle_are_left_out(
    tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly], write: Writer
) -> None:
    puzzle, truth = tiny_puzzle
    write_pieces(tmp_path, puzzle)
    write(tmp_path, puzzle, truth)
    order = [3, 0, 2]
    found = read_truth(tmp_path, some_of(puzzle, order))
    assert found.components == ((0, 1, 2),)
    assert_same_poses(found, truth, order)


def test_our_truth_comes_before_the_authors(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    write_ours(tmp_path, puzzle, truth)
    (tmp_path / AUTHORS_TRUTH_FILE).write_text("not a truth", encoding="utf-8")
    assert_same_poses(read_truth(tmp_path, puzzle), truth, range(4))


def test_no_truth_at_all_is_said_with_both_names(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    with pytest.raises(InputError, match=f"no {TRUTH_FILE} and no {AUTHORS_TRUTH_FILE}"):
        read_truth(tmp_path, tiny_puzzle[0])


def test_a_piece_that_our_truth_lacks_is_named(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    write_ours(tmp_path, some_of(puzzle, [0, 1, 3]), truth.renumbered([0, 1, 3]))
    with pytest.raises(InputError, match=puzzle.names()[2]):
        read_truth(tmp_path, puzzle)


def test_a_pose_that_the_authors_truth_lacks_is_counted(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    write_pieces(tmp_path, puzzle)
    write_authors(tmp_path, some_of(puzzle, [0, 1, 2]), truth.renumbered([0, 1, 2]))
    with pytest.raises(FormatError, match="3 poses, but the puzzle has 4 pieces"):
        read_truth(tmp_path, puzzle)


def test_two_pictures_stay_apart(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    write_ours(tmp_path, puzzle, Assembly(4, truth.poses, ((0, 3), (1, 2))))
    assert read_truth(tmp_path, puzzle).components == ((0, 3), (1, 2))
