"""Folders of real material: which hold puzzles, of which kind, and what is known of the truth.

A puzzle is a folder of pictures. Beside them may lie the truth, ours or the authors'; strips lie in ``pieces`` beside a
``truth.json`` that gives each file its place from the left. A folder of puzzles is a kind, a folder of kinds a collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from jigsawnet.errors import FormatError, InputError
from jigsawnet.io.files import read_text
from jigsawnet.io.json_text import parse_json
from jigsawnet.io.pieces import list_pictures
from jigsawnet.io.truth import AUTHORS_TRUTH_FILE, TRUTH_FILE
from jigsawnet.types import Puzzle

Truth = Literal["poses", "order", "none"]
"""What is known: every pose; the order of strips; nothing, it has to be looked at."""
PIECES = "pieces"
BACK = "back_"
"""How names of scans of backs begin."""
GAPS: Mapping[str, float] = {"fresco": 25.0, "goa": 8.0}
"""How close true neighbours come in kinds that lost material along the seams, in px; `NEIGHBOR_PX` in others."""
NEIGHBOR_PX = 5.0
"""True neighbours come this close, and twice the erosion."""


def truth_of(folder: Path) -> Truth:
    """What is known of a puzzle."""
    if (folder / PIECES).is_dir() and (folder / TRUTH_FILE).is_file():
        return "order"
    return "poses" if any((folder / name).is_file() for name in (AUTHORS_TRUTH_FILE, TRUTH_FILE)) else "none"


def gap_of(folder: Path) -> float:
    """How close true neighbours of a puzzle come, by the folder of its kind."""
    return GAPS.get(folder.resolve().parent.name, NEIGHBOR_PX)


def pictures_of(folder: Path) -> Path:
    """Where the pictures of a puzzle lie."""
    return folder / PIECES if truth_of(folder) == "order" else folder


def scans_of(folder: Path) -> tuple[list[Path], list[Path]]:
    """What is given to be solved, and the backs of it: the folder, or its scans where some show fronts and some backs."""
    pictures = list_pictures(pictures_of(folder))
    backs = [path for path in pictures if path.name.startswith(BACK)]
    fronts = [path for path in pictures if path not in backs]
    return (fronts, backs) if fronts and backs else ([pictures_of(folder)], [])


def read_order(folder: Path, puzzle: Puzzle) -> tuple[dict[int, int], int]:
    """The place from the left of each strip that was read, by its number in the puzzle; and how many the page has."""
    path = folder / TRUTH_FILE
    try:
        places = parse_json(read_text(path))
    except ValueError as error:
        raise FormatError(f"{path} is not valid JSON.") from error
    if not isinstance(places, dict) or sorted(places.values(), key=str) != sorted(range(len(places)), key=str):
        raise FormatError(f"{path} must give each file its place from the left, from 0 and each place once.")
    return {piece.idx: places[piece.name] for piece in puzzle.pieces if piece.name in places}, len(places)


def kinds_in(folder: Path) -> dict[str, list[Path]]:
    """The puzzles of a folder by kind: those in it form one of its name; a puzzle by itself does, too.

    Raises:
        InputError: there is none.
    """
    if _is_puzzle(folder):
        return {folder.resolve().name: [folder]}
    kinds = {}
    for inner in (folder, *_folders(folder)):
        puzzles = [path for path in _folders(inner) if _is_puzzle(path)]
        if puzzles:
            kinds[inner.resolve().name] = puzzles
    if not kinds:
        raise InputError(f"{folder} holds no puzzles: folders of pictures, or folders of such folders.")
    return kinds


def _is_puzzle(folder: Path) -> bool:
    return truth_of(folder) == "order" or bool(list_pictures(folder))


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and path.name != PIECES and not path.name.startswith("."))
