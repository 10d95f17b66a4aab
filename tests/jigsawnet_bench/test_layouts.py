"""Folders of real material: kinds, puzzles, and what is known of their truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jigsawnet.errors import FormatError, InputError
from jigsawnet.io.images import write_png
from jigsawnet.types import Assembly, Puzzle
from jigsawnet_bench.layouts import gap_of, kinds_in, pictures_of, read_order, scans_of, truth_of


def put(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        if name.endswith(".png"):
            write_png(folder / name, np.full((8, 8, 3), 7, np.uint8))
        else:
            (folder / name).write_text("{}")
    return folder


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    put(tmp_path / "all" / "fresco" / "wall", "fragment_0001.png", "groundTruth.txt")
    put(tmp_path / "all" / "fresco" / "arch", "fragment_0001.png", "groundTruth.txt")
    put(tmp_path / "all" / "strips" / "page", "truth.json")
    put(tmp_path / "all" / "strips" / "page" / "pieces", "p0.png")
    put(tmp_path / "all" / "torn" / "letter", "a.png")
    put(tmp_path / "all" / "cut" / "ours", "a.png", "truth.json")
    put(tmp_path / "all" / "notes", "readme.txt")
    return tmp_path / "all"


def test_a_collection_holds_kinds_and_these_puzzles(collection: Path) -> None:
    found = {kind: [path.name for path in puzzles] for kind, puzzles in kinds_in(collection).items()}
    assert found == {"cut": ["ours"], "fresco": ["arch", "wall"], "strips": ["page"], "torn": ["letter"]}
    assert list(kinds_in(collection / "strips")) == ["strips"]
    assert kinds_in(collection / "torn" / "letter") == {"letter": [collection / "torn" / "letter"]}


def test_the_kind_of_truth_is_told_by_the_files(collection: Path) -> None:
    truths = {path.name: truth_of(path) for puzzles in kinds_in(collection).values() for path in puzzles}
    assert truths == {"ours": "poses", "arch": "poses", "wall": "poses", "page": "order", "letter": "none"}
    assert pictures_of(collection / "strips" / "page").name == "pieces"
    assert pictures_of(collection / "fresco" / "wall").name == "wall"
    assert gap_of(collection / "fresco" / "wall") > gap_of(collection / "torn" / "letter") == 5.0


def test_a_folder_without_puzzles_is_named(collection: Path) -> None:
    with pytest.raises(InputError, match="notes holds no puzzles"):
        kinds_in(collection / "notes")
    with pytest.raises(InputError, match="nowhere cannot be listed"):
        kinds_in(collection / "nowhere")


def test_scans_of_backs_are_told_from_fronts(tmp_path: Path) -> None:
    both = put(tmp_path / "both", "front_1.png", "back_1.png")
    assert scans_of(both) == ([both / "front_1.png"], [both / "back_1.png"])
    backs = put(tmp_path / "backs", "back_1.png")
    assert scans_of(backs) == ([backs], [])


def test_the_order_is_read_by_file_names(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle = tiny_puzzle[0]
    first, second, *_ = puzzle.names()
    (tmp_path / "truth.json").write_text(f'{{"{second}": 0, "{first}": 2, "lost.png": 1}}')
    assert read_order(tmp_path, puzzle) == ({0: 2, 1: 0}, 3)


@pytest.mark.parametrize("text", ['{"a.png": 0, "b.png": 0}', '{"a.png": 1}', '{"a.png": "left"}', "[1]", "{"])
def test_an_order_that_is_none_is_refused(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly], text: str) -> None:
    (tmp_path / "truth.json").write_text(text)
    with pytest.raises(FormatError, match=r"truth\.json"):
        read_order(tmp_path, tiny_puzzle[0])
