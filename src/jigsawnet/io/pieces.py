"""Folders of pieces: which pictures count, the authors' ``bg_color.txt``, and writing pieces out."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.io.decoding import READABLE
from jigsawnet.io.files import make_folder, read_text, refuse_link_outside, write_text
from jigsawnet.io.images import write_png
from jigsawnet.names import is_plain_name
from jigsawnet.types import Piece, Puzzle, UInt8Array

PICTURE_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".heic", ".heif", ".hif", ".avif", ".pdf"}
)
KEY_COLOR_FILE = "bg_color.txt"

AUTHORS_FILES = frozenset({KEY_COLOR_FILE, "groundTruth.txt", "fragmentList.txt", "alignments.txt"})
_AUTHORS_PIECE = re.compile(r"fragment_.*", re.IGNORECASE)
_BESIDE = (
    ".txt .md .rst .json .jsonl .csv .tsv .toml .yaml .yml .xml .xmp .aae .html .htm .css .js .log .ini .cfg .conf .db "
    ".lnk .url .py .sh .bat .npz .npy .onnx .lock"
)
"""Endings of notes, tables, settings and programs."""
_BESIDE_NAMES = frozenset({"readme", "license", "licence", "copying", "makefile", "notes", "changelog"})
_MOST_NAMES = 5
_RESULT = re.compile(r"(assembly(_[0-9]+|-back)?\.(png|tif|svg)|reassembled_result_[0-9]+\.png)", re.IGNORECASE)


def list_pictures(folder: Path) -> list[Path]:
    """Pictures of pieces in ``folder``, in natural order of their names (``piece2`` before ``piece10``).

    Hidden files, folders, other kinds of files and our own or the authors' results are passed over. Beside any text file of the
    authors' layout only ``fragment_*`` pictures are pieces, if there are any.

    Raises:
        InputError: the folder cannot be listed, or a picture is a link to a file outside it.
    """
    files = _list_files(folder)
    pictures = [
        path
        for path in files
        if path.suffix.lower() in PICTURE_SUFFIXES and not path.name.startswith(".") and not _RESULT.fullmatch(path.name)
    ]
    pieces = [path for path in pictures if _AUTHORS_PIECE.fullmatch(path.name)]
    if pieces and any(path.name in AUTHORS_FILES for path in files):
        pictures = pieces
    for path in pictures:
        refuse_link_outside(path, folder)
    return sorted(pictures, key=lambda path: _natural_key(path.name))


def list_unread(folder: Path) -> list[str]:
    """Names of the files in ``folder`` that may be meant as pictures and are not read, in natural order.

    Not meant as pictures are hidden files, folders, results, and notes, tables and settings by their ending.

    Raises:
        InputError: the folder cannot be listed.
    """
    names = [path.name for path in _list_files(folder)]
    unread = (name for name in names if not name.startswith(".") and not _RESULT.fullmatch(name) and not _is_beside(name))
    return sorted((name for name in unread if Path(name).suffix.lower() not in PICTURE_SUFFIXES), key=_natural_key)


def say_unread(names: Sequence[str]) -> list[str]:
    """One sentence about the files that `list_unread` gives, or none."""
    if not names:
        return []
    shown = list(names) if len(names) <= _MOST_NAMES else [*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES} more"]
    which = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    verb, them = ("was", "it") if len(names) == 1 else ("were", "them")
    return [f"{which} {verb} not read, being of another kind: save {them} as {READABLE}."]


def _is_beside(name: str) -> bool:
    """Whether a file lies beside pictures for some other purpose."""
    return Path(name).suffix.lower() in _BESIDE.split() or name.lower() in _BESIDE_NAMES


def _list_files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if not path.is_dir()]
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be listed: {error.strerror or error}.") from error


def read_key_color(folder: Path) -> tuple[int, int, int] | None:
    """The background colour (red, green, blue) from ``bg_color.txt``, or None when there is no such file.

    Raises:
        FormatError: the file does not hold three whole numbers from 0 to 255.
        InputError: the file cannot be read.
    """
    path = folder / KEY_COLOR_FILE
    if not os.path.lexists(path):
        return None
    refuse_link_outside(path, folder)
    try:
        words = read_text(path, max_bytes=1024).split()
    except FormatError as error:
        raise _bad_key_color(path) from error
    if len(words) != 3 or not all(re.fullmatch("[0-9]{1,3}", word) and int(word) <= 255 for word in words):
        raise _bad_key_color(path)
    red, green, blue = map(int, words)
    return red, green, blue


def write_pieces(folder: Path, puzzle: Puzzle, key_color: tuple[int, int, int] | None = None, dpi: float | None = None) -> None:
    """Write one PNG per piece, named after the piece (``.png`` is added to other endings); the folder is made if need be.

    Without ``key_color`` as RGBA with alpha 0 or 255; with it as RGB on that colour beside ``bg_color.txt``, where paper of
    exactly that colour is changed by one level of blue, so that the mask can be read back exactly.

    Raises:
        OutputError: a name is not a plain file name, two names clash, or the folder cannot be written.
    """
    names = [_file_name(piece) for piece in puzzle.pieces]
    if len({name.casefold() for name in names}) != len(names):
        raise OutputError(f"The pieces of {puzzle.name} cannot be written: two of them would have the same file name.")
    make_folder(folder)
    if key_color is not None:
        write_text(folder / KEY_COLOR_FILE, " ".join(map(str, key_color)) + "\n")
    for name, piece in zip(names, puzzle.pieces, strict=True):
        pixels = _with_alpha(piece) if key_color is None else _on_key_color(piece, key_color)
        write_png(folder / name, pixels, dpi)


def _natural_key(name: str) -> tuple[list[str | int], str]:
    words = re.split(r"([0-9]+)", name.casefold())
    return [int(word) if odd % 2 else word for odd, word in enumerate(words)], name


def _bad_key_color(path: Path) -> FormatError:
    return FormatError(f"{path.name} should hold three whole numbers from 0 to 255 (red green blue), such as 8 248 8.")


def _file_name(piece: Piece) -> str:
    name = piece.name
    if not is_plain_name(name):
        raise OutputError(f"The piece {name!r} cannot be written: its name is not a plain file name.")
    return name if name.lower().endswith(".png") else f"{name}.png"


def _with_alpha(piece: Piece) -> UInt8Array:
    return np.dstack([piece.image, np.where(piece.mask, np.uint8(255), np.uint8(0))])


def _on_key_color(piece: Piece, key_color: tuple[int, int, int]) -> UInt8Array:
    key = np.array(key_color, dtype=np.uint8)
    rgb = np.where(piece.mask[..., np.newaxis], piece.image, key)
    looks_like_key = piece.mask & (rgb == key).all(axis=-1)
    rgb[looks_like_key, 2] = key_color[2] + 1 if key_color[2] < 255 else 254
    return rgb
