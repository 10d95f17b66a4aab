"""A folder of pictures, one piece each → `Puzzle`."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from jigsawnet.errors import InputError
from jigsawnet.fragments import NoPieceError, make_fragment
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import PICTURE_SUFFIXES, list_pictures, read_key_color
from jigsawnet.types import Fragment, Progress, Puzzle, no_progress

_MAX_THREADS = 8


def load_puzzle(path: str | Path, *, progress: Progress = no_progress) -> Puzzle:
    """Read a folder of pieces, in our layout or the authors'; fragments are numbered in natural order of their file names.

    A picture that is all background or holds too small a piece is left out with a warning; identical pieces are kept with a
    warning. Anything that could lose a piece silently stops instead.

    Raises:
        InputError: no such folder, no pictures, a damaged picture, several pieces in one picture, or fewer than two pieces.
        FormatError: ``bg_color.txt`` is wrong.
    """
    folder = Path(path)
    _check_folder(folder)
    pictures = list_pictures(folder)
    if not pictures:
        raise InputError(
            f"The folder {folder} holds no pictures of pieces: put one PNG, JPEG, TIFF, WebP or BMP per piece in it."
        )
    key_color = read_key_color(folder)
    found = _read_pieces(pictures, key_color, progress)
    reasons = [piece for piece in found if isinstance(piece, str)]
    usable = [piece for piece in found if isinstance(piece, Fragment)]
    if len(usable) < 2:
        detail = f": {reasons[0]}" if reasons else "."
        raise InputError(f"At least two pieces are needed, but {len(usable)} of {len(found)} in {folder} can be used{detail}")
    fragments = tuple(replace(fragment, idx=idx) for idx, fragment in enumerate(usable))
    left_out = [f"{reason} It was left out." for reason in reasons]
    return Puzzle(folder.resolve().name or "puzzle", fragments, (*left_out, *_name_identical(fragments)))


def _check_folder(folder: Path) -> None:
    try:
        if folder.is_dir():
            return
        exists = folder.exists()
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be read: {error.strerror or error}.") from error
    if not exists:
        raise InputError(f"There is no folder {folder}.")
    if folder.suffix.lower() in PICTURE_SUFFIXES:
        raise InputError(f"{folder} is one picture: put the pictures of all pieces in a folder and give that folder.")
    raise InputError(f"{folder} is not a folder: give the folder that holds the pictures of the pieces.")


def _read_pieces(pictures: list[Path], key_color: tuple[int, int, int] | None, progress: Progress) -> list[Fragment | str]:
    """Read in threads, in order, so that the same file is named in an error whatever the number of threads."""
    found: list[Fragment | str] = []
    pool = ThreadPoolExecutor(min(_MAX_THREADS, os.cpu_count() or 1))
    try:
        for piece in pool.map(partial(_read_piece, key_color=key_color), pictures):
            found.append(piece)
            progress("read", len(found), len(pictures))
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def _read_piece(path: Path, key_color: tuple[int, int, int] | None) -> Fragment | str:
    """The fragment (numbered later), or a sentence that says why it can be left out."""
    pixels = read_image(path)
    try:
        return make_fragment(0, path.name, pixels, key_color)
    except NoPieceError as error:
        return str(error)


def _name_identical(fragments: tuple[Fragment, ...]) -> list[str]:
    """One sentence for each group of pieces with the same pixels and mask."""
    groups: dict[tuple[tuple[int, ...], bytes], list[str]] = {}
    for fragment in fragments:
        digest = hashlib.blake2b(fragment.mask.tobytes())
        digest.update(fragment.image.tobytes())
        groups.setdefault((fragment.mask.shape, digest.digest()), []).append(fragment.name)
    return [
        f"{', '.join(names[:-1])} and {names[-1]} are identical: is it one piece saved twice?"
        for names in groups.values()
        if len(names) > 1
    ]
