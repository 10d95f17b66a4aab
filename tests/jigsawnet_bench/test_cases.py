"""Puzzles of a suite: the same on every machine, spread over the pictures, and named by what they are made of."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jigsawnet.errors import InputError
from jigsawnet.io.assembly_json import write_assembly
from jigsawnet.io.pieces import write_pieces
from jigsawnet.shred import Damage, ShredConfig
from jigsawnet.types import Assembly, Puzzle
from jigsawnet_bench.cases import Case, build_puzzle, suite_cases
from jigsawnet_bench.suite import Group, Head, Kind, Source, Suite, load_suite


def suite_of(*groups: Group, photos: str | None = None) -> Suite:
    return Suite("mine", Head("title", photos=photos), groups, Path())


def group_of(source: Source = "photos", puzzles: int = 3, mix: int = 1, pieces: int = 4) -> Group:
    return Group(Kind(f"{source} {pieces}", source, puzzles, mix), ShredConfig(pieces=pieces))


def names(cases: Sequence[Case]) -> list[list[str]]:
    return [[path.name for path in case.sources] for case in cases]


@pytest.fixture
def solved_folder(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly]) -> Path:
    puzzle, truth = tiny_puzzle
    folder = tmp_path / "sets" / "MIT_1"
    write_pieces(folder, puzzle)
    write_assembly(folder / "truth.json", truth, puzzle.names())
    return folder


def test_puzzles_are_spread_over_the_folder(photos: Path) -> None:
    assert names(suite_cases(suite_of(group_of(puzzles=3)), photos)) == [["a.png"], ["b.png"], ["c.png"]]
    assert names(suite_cases(suite_of(group_of(puzzles=1, mix=2)), photos)) == [["a.png", "b.png"]]
    assert names(suite_cases(suite_of(group_of(puzzles=4)), photos)) == [["a.png"], ["b.png"], ["c.png"], ["a.png"]]


def test_pictures_can_be_cut_several_times_all_of_them_before_the_first_again(photos: Path) -> None:
    group = group_of(puzzles=2)
    cases = suite_cases(suite_of(replace(group, kind=replace(group.kind, cuts=2))), photos)
    assert names(cases) == [["a.png"], ["b.png"], ["a.png"], ["b.png"]]
    assert len({case.digest() for case in cases}) == 4


def test_fewer_puzzles_are_the_first_of_many(photos: Path) -> None:
    suite = suite_of(group_of(puzzles=3))
    assert suite_cases(suite, photos, most=2) == suite_cases(suite, photos)[:2]


def test_large_puzzles_can_be_left_out(photos: Path) -> None:
    suite = suite_of(group_of(pieces=4), group_of(pieces=100))
    assert {case.group.shred.pieces for case in suite_cases(suite, photos, largest=36)} == {4}
    with pytest.raises(InputError, match="more than 3 pieces"):
        suite_cases(suite, photos, largest=3)


def test_the_same_puzzle_is_cut_again(photos: Path) -> None:
    case = suite_cases(suite_of(group_of()), photos)[1]
    (one, truth), (other, _) = build_puzzle(case), build_puzzle(case)
    assert len(one) == truth.n_pieces == 4
    assert all(np.array_equal(a.image, b.image) for a, b in zip(one.pieces, other.pieces, strict=True))


@pytest.mark.parametrize("source", ["pages", "generated"])
def test_made_up_pictures_need_no_folder(source: Source) -> None:
    (case,) = suite_cases(suite_of(group_of(source, puzzles=1, mix=2)), None)
    puzzle, truth = build_puzzle(case)
    assert (len(puzzle), len(truth.components)) == (8, 2)
    assert "generated" in case.title


def test_foreign_pieces_have_no_place_in_the_truth() -> None:
    case = Case(Group(Kind("foreign", "generated", 1, foreign=2), ShredConfig(pieces=4)), 0)
    puzzle, truth = build_puzzle(case)
    assert [name for name in puzzle.names() if name.startswith("foreign")] == ["foreign_0001.png", "foreign_0002.png"]
    assert truth.unplaced == (len(puzzle) - 2, len(puzzle) - 1)
    assert case.digest() != replace(case, group=Group(Kind("own", "generated", 1), ShredConfig(pieces=4))).digest()


def test_a_puzzle_is_named_by_what_it_is_made_of_and_not_by_names(photos: Path, tmp_path: Path) -> None:
    first, second, _ = suite_cases(suite_of(group_of()), photos)
    shutil.copytree(photos, tmp_path / "elsewhere")
    moved = suite_cases(suite_of(group_of()), tmp_path / "elsewhere")[0]
    renamed = replace(first, group=replace(first.group, kind=replace(first.group.kind, name="other", methods=("ours",))))
    assert first.digest() == moved.digest() == renamed.digest()
    worn = replace(first, group=replace(first.group, shred=ShredConfig(pieces=4, noise=1.0)))
    digests = {first.digest(), second.digest(), replace(first, number=7).digest(), worn.digest()}
    assert len(digests) == 4


def test_a_preset_is_drawn_for_each_puzzle_and_stronger_with_its_strength(photos: Path) -> None:
    def damaged(strength: float, number: int = 0) -> Case:
        return Case(
            Group(Kind("fresco", preset="fresco", strength=strength), ShredConfig(pieces=4)), number, (photos / "a.png",)
        )

    weak, strong, other = damaged(0.25), damaged(0.5), damaged(0.5, 1)
    assert strong.shred == damaged(0.5).shred
    assert strong.shred.pieces == 4
    assert strong.shred.damage.loss_px == pytest.approx(2 * weak.shred.damage.loss_px, rel=1e-3)
    assert other.shred.damage.loss_px != strong.shred.damage.loss_px
    assert len({case.digest() for case in (weak, strong, other)}) == 3
    puzzle, truth = build_puzzle(strong)
    assert len(puzzle) == truth.n_pieces == 4


def test_neighbours_come_as_close_as_what_was_lost_allows(photos: Path) -> None:
    def gap(**options: Any) -> float:
        return Case(Group(Kind("worn"), ShredConfig(**options)), 0, (photos / "a.png",)).gap_px

    assert gap() == 5.0
    assert gap(erosion_px=2.0, damage=Damage(mask_px=-1.0)) == 11.0
    assert gap(damage=Damage(mask_px=1.0, loss_px=9.0)) == 5.0
    assert Case(Group(Kind("fresco", "real")), 0, (Path("fresco/wall"),)).gap_px == 25.0


def test_folders_with_truth_are_puzzles(solved_folder: Path) -> None:
    suite = load_suite("authors")
    for given in (solved_folder, solved_folder.parent):
        (case,) = suite_cases(suite, None, [given])
        assert (case.group.kind.name, case.title) == (given.name, "MIT_1")
        puzzle, truth = build_puzzle(case)
        assert len(puzzle) == truth.n_pieces == 4


def test_what_is_lacking_is_named(photos: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="cuts photographs; give their folder with --photos"):
        suite_cases(suite_of(group_of()), None)
    with pytest.raises(InputError, match=r"empty holds no pictures; give a folder of photographs\."):
        suite_cases(suite_of(group_of()), tmp_path / "empty")
    with pytest.raises(InputError, match="give folders that hold such with --folders"):
        suite_cases(load_suite("authors"), None)
    with pytest.raises(InputError, match=r"photos holds no puzzle: a folder of pieces needs a groundTruth\.txt"):
        suite_cases(load_suite("authors"), None, [photos])
    with pytest.raises(InputError, match="nowhere cannot be listed"):
        suite_cases(load_suite("authors"), None, [tmp_path / "nowhere"])
