"""Pictures of one piece each → `Puzzle`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from jigsawnet.errors import InputError
from jigsawnet.fragments import NoBackgroundError, NoPieceError, SeveralPiecesError, make_fragment
from jigsawnet.fragments.masks import has_transparency
from jigsawnet.fragments.scale import reduce
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import PICTURE_SUFFIXES, list_pictures, read_key_color
from jigsawnet.types import Fragment, Progress, Puzzle, no_progress

_MAX_THREADS = 8
_LARGE_PX = 4_000_000
"""Pictures with more pixels are first looked at in a copy of this size, which saves time and memory on scans."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to read, and its background colour where the folder says it."""

    path: Path
    key_color: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a picture holds: one piece (numbered later), or why not; and whether it is surely a picture of a piece."""

    piece: Fragment | NoPieceError | SeveralPiecesError | NoBackgroundError
    cut_out: bool
    """True when it has transparency or a known background colour: somebody has cut the piece out already."""


def load_puzzle(path: str | Path, *, progress: Progress = no_progress) -> Puzzle:
    """Read a folder of pieces, in our layout or the authors'; fragments are numbered in natural order of their file names.

    A picture that is all background or holds too small a piece is left out with a warning; identical pieces are kept with a
    warning. Anything that could lose a piece silently stops instead.

    Raises:
        InputError: no such folder, no pictures, a damaged picture, several pieces in one picture, or fewer than two pieces.
        FormatError: ``bg_color.txt`` is wrong.
    """
    folder = Path(path)
    outcomes = read_pieces(list_folder(folder), progress)
    return to_puzzle(folder_name(folder), outcomes, str(folder))


def list_folder(folder: Path) -> list[Picture]:
    """The pictures in a folder, at least one, in natural order of their names."""
    _check_folder(folder)
    pictures = list_pictures(folder)
    if not pictures:
        raise InputError(
            f"The folder {folder} holds no pictures of pieces: put one PNG, JPEG, TIFF, WebP or BMP per piece in it."
        )
    key_color = read_key_color(folder)
    return [Picture(path, key_color) for path in pictures]


def folder_name(folder: Path) -> str:
    """What a puzzle from this folder is called."""
    return folder.resolve().name or "puzzle"


def to_puzzle(name: str, outcomes: Sequence[Outcome], where: str) -> Puzzle:
    """The pieces that can be used, numbered; ``where`` names their place in errors."""
    usable: list[Fragment] = []
    reasons: list[str] = []
    for piece in (outcome.piece for outcome in outcomes):
        if isinstance(piece, Fragment):
            usable.append(replace(piece, idx=len(usable)))
        elif isinstance(piece, NoPieceError):
            reasons.append(str(piece))
        else:
            raise piece
    if len(usable) < 2:
        detail = f": {reasons[0]}" if reasons else "."
        raise InputError(f"At least two pieces are needed, but {len(usable)} of {len(outcomes)} in {where} can be used{detail}")
    check_names(usable)
    left_out = [f"{reason} It was left out." for reason in reasons]
    return Puzzle(name, tuple(usable), (*left_out, *name_identical(usable)))


def check_names(fragments: Sequence[Fragment]) -> None:
    """Refuse two pieces of one name, which may come from different folders."""
    names: set[str] = set()
    for fragment in fragments:
        if fragment.name in names:
            raise InputError(f"There are two pieces called {fragment.name}: give them different names.")
        names.add(fragment.name)


def _check_folder(folder: Path) -> None:
    try:
        if folder.is_dir():
            return
        exists = folder.exists()
    except (OSError, ValueError) as error:
        raise InputError(f"The folder {folder} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if not exists:
        raise InputError(f"There is no folder {folder}.")
    if folder.suffix.lower() in PICTURE_SUFFIXES:
        raise InputError(f"{folder} is one picture: put the pictures of all pieces in a folder and give that folder.")
    raise InputError(f"{folder} is not a folder: give the folder that holds the pictures of the pieces.")


def read_pieces(pictures: Sequence[Picture], progress: Progress = no_progress) -> list[Outcome]:
    """Read in threads, in order, so that the same file is named in an error whatever the number of threads."""
    found: list[Outcome] = []
    pool = ThreadPoolExecutor(min(_MAX_THREADS, os.cpu_count() or 1))
    try:
        for outcome in pool.map(_read_piece, pictures):
            found.append(outcome)
            progress("read", len(found), len(pictures))
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def _read_piece(picture: Picture) -> Outcome:
    pixels = read_image(picture.path)
    cut_out = picture.key_color is not None or has_transparency(pixels)
    try:
        if not cut_out and pixels.shape[0] * pixels.shape[1] > _LARGE_PX:  # a large scan is known by a small copy of it
            make_fragment(0, picture.path.name, reduce(pixels, _LARGE_PX), None)
        return Outcome(make_fragment(0, picture.path.name, pixels, picture.key_color), cut_out)
    except (NoPieceError, SeveralPiecesError, NoBackgroundError) as error:
        return Outcome(error, cut_out)


def name_identical(fragments: Sequence[Fragment]) -> list[str]:
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
