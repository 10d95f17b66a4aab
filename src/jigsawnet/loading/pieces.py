"""Pictures of one piece each → `Puzzle`."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.fragments import NoBackgroundError, NoPieceError, SeveralPiecesError, make_piece
from jigsawnet.fragments.filled import Outline, outline_of
from jigsawnet.fragments.masks import has_transparency
from jigsawnet.fragments.straighten import shows_sheet
from jigsawnet.io.decoding import READABLE
from jigsawnet.io.images import read_image
from jigsawnet.io.pages import Page, list_pages
from jigsawnet.io.pieces import PICTURE_SUFFIXES, list_pictures, list_unread, read_key_color, say_unread
from jigsawnet.types import Piece, Progress, Puzzle, UInt8Array, no_progress

_MAX_THREADS = 8
_MOST_NAMES = 5
_LARGE_PX = 4_000_000
"""Pictures with more pixels are first looked at in a copy of this size, which saves time and memory on scans."""
_KEPT_PX = 100_000_000
"""Pixels of pictures without a single piece that are kept, so that scans need not be read again."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to read, and its background colour where the folder says it."""

    page: Page
    key_color: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a picture holds: one piece (numbered later), or why not; and whether it is surely a picture of a piece."""

    piece: Piece | NoPieceError | SeveralPiecesError | NoBackgroundError
    cut_out: bool
    """True when it has transparency or a known background colour: somebody has cut the piece out already."""
    pixels: UInt8Array | None = None
    """The picture, when it may be a scan and is among the first `_KEPT_PX` pixels of such pictures."""
    outline: Outline | None = None
    """Its sides, when nobody has cut out a piece."""


def load_puzzle(path: str | Path, *, progress: Progress = no_progress) -> Puzzle:
    """Read a folder of pieces, in our layout or the authors'; pieces are numbered in natural order of their file names.

    A picture that is all background or holds too small a piece is left out with a warning; identical pieces are kept with a
    warning. Anything that could lose a piece silently stops instead.

    Raises:
        InputError: no such folder, no pictures, a damaged picture, several pieces in one picture, or fewer than two pieces.
        FormatError: ``bg_color.txt`` is wrong.
    """
    folder = Path(path)
    outcomes = read_pieces(list_folder(folder), progress)
    puzzle = to_puzzle(folder_name(folder), outcomes, str(folder))
    return replace(puzzle, warnings=(*say_unread(list_unread(folder)), *puzzle.warnings))


def list_folder(folder: Path, pages: str = "") -> list[Picture]:
    """The pictures in a folder, at least one, in natural order of their names; files with several pages give several."""
    _check_folder(folder)
    pictures = list_pictures(folder)
    if not pictures:
        others = "".join(f" {sentence}" for sentence in say_unread(list_unread(folder)))
        raise InputError(f"The folder {folder} holds no pictures of pieces: put one {READABLE} per piece in it.{others}")
    key_color = read_key_color(folder)
    listed: list[Picture] = []
    refused: list[tuple[str, InputError]] = []
    for path in pictures:
        try:
            listed += [Picture(page, key_color) for page in list_pages(path, pages)]
        except InputError as error:
            refused.append((path.name, error))
    if refused:
        raise _refuse_all(refused)
    return listed


def folder_name(folder: Path) -> str:
    """What a puzzle from this folder is called."""
    return folder.resolve().name or "puzzle"


def to_puzzle(name: str, outcomes: Sequence[Outcome], where: str) -> Puzzle:
    """The pieces that can be used, numbered; ``where`` names their place in errors."""
    usable: list[Piece] = []
    reasons: list[str] = []
    for piece in (outcome.piece for outcome in outcomes):
        if isinstance(piece, Piece):
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


def check_names(pieces: Sequence[Piece]) -> None:
    """Refuse two pieces of one name, which may come from different folders."""
    names: set[str] = set()
    for piece in pieces:
        if piece.name in names:
            raise InputError(f"There are two pieces called {piece.name}: give them different names.")
        names.add(piece.name)


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
    refused: list[tuple[str, InputError]] = []
    room = _KEPT_PX
    pool = ThreadPoolExecutor(min(_MAX_THREADS, os.cpu_count() or 1))
    try:
        for number, outcome in enumerate(pool.map(_try_piece, pictures), 1):
            progress("read", number, len(pictures))
            if isinstance(outcome, InputError):
                refused.append((pictures[number - 1].page.name, outcome))
                continue
            room -= 0 if outcome.pixels is None else outcome.pixels.shape[0] * outcome.pixels.shape[1]
            found.append(outcome if room >= 0 else replace(outcome, pixels=None))
    finally:
        pool.shutdown(cancel_futures=True)
    if refused:
        raise _refuse_all(refused)
    return found


def _refuse_all(refused: Sequence[tuple[str, InputError]]) -> InputError:
    """Why the first picture cannot be used, and which others cannot either."""
    (_, first), *others = refused
    if not others:
        return first
    names = [name for name, _ in others[:_MOST_NAMES]]
    more = f" and {len(others) - _MOST_NAMES} more" if len(others) > _MOST_NAMES else ""
    return InputError(f"{first} Nor can these be used: {', '.join(names)}{more}.")


def _try_piece(picture: Picture) -> Outcome | InputError:
    try:
        return _read_piece(picture)
    except InputError as error:
        return error


def _read_piece(picture: Picture) -> Outcome:
    pixels = read_image(picture.page)
    cut_out = picture.key_color is not None or has_transparency(pixels)
    outline = None if cut_out else outline_of(pixels)
    try:
        if not cut_out and pixels.shape[0] * pixels.shape[1] > _LARGE_PX:  # a large scan is known by a small copy of it
            make_piece(0, picture.page.name, _reduced(pixels, _LARGE_PX), None)
        piece = make_piece(0, picture.page.name, pixels, picture.key_color)
        if not cut_out and shows_sheet(np.ascontiguousarray(pixels[..., :3]), piece.mask):
            raise SeveralPiecesError(
                f"{picture.page.name} shows a sheet with pieces on it, beside pictures of one piece each: "
                "cut it first with jigsawnet cut, and give its pieces beside the others."
            )
        return Outcome(piece, cut_out, outline=outline)
    except (NoPieceError, SeveralPiecesError, NoBackgroundError) as error:
        return Outcome(error, cut_out, None if cut_out else pixels, outline)


def _reduced(pixels: UInt8Array, max_pixels: int) -> UInt8Array:
    """A copy of a picture ``(H, W, C)`` with at most about ``max_pixels`` pixels."""
    factor = min(1.0, (max_pixels / (pixels.shape[0] * pixels.shape[1])) ** 0.5)
    size = max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def name_identical(pieces: Sequence[Piece]) -> list[str]:
    """One sentence for each group of pieces with the same pixels and mask."""
    sizes = [(piece.mask.shape, int(np.count_nonzero(piece.mask))) for piece in pieces]
    count = Counter(sizes)
    groups: dict[tuple[tuple[int, ...], bytes], list[str]] = {}
    for piece, size in zip(pieces, sizes, strict=True):
        if count[size] > 1:  # only these can be the same
            digest = hashlib.blake2b(piece.mask.tobytes())
            digest.update(piece.image.tobytes())
            groups.setdefault((piece.mask.shape, digest.digest()), []).append(piece.name)
    return [
        f"{', '.join(names[:-1])} and {names[-1]} are identical: is it one piece saved twice?"
        for names in groups.values()
        if len(names) > 1
    ]
