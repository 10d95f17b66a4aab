"""Stage 1: the picture of one piece → `Piece`, by transparency, key colour or plain background."""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.fragments.masks import NEAR_LEVELS, difference_from, find_key_color, find_mask, has_transparency, split_pieces
from jigsawnet.types import BoolArray, Piece, UInt8Array

__all__ = ["NoBackgroundError", "NoPieceError", "SeveralPiecesError", "make_piece"]

_MIN_SIDE_PX = 4
_MIN_AREA_PX = 16


class NoPieceError(InputError):
    """A picture that is all background, or whose piece is too small to use: it can be left out without loss."""


class SeveralPiecesError(InputError):
    """A picture that shows several pieces: a scan."""


class NoBackgroundError(InputError):
    """A picture in which no plain background can be told from a piece."""


def make_piece(idx: int, name: str, pixels: UInt8Array, key_color: tuple[int, int, int] | None) -> Piece:
    """Find the one piece in ``pixels (H, W, 3 | 4)``; the piece keeps the picture's frame, with 0 outside the mask.

    ``key_color`` is the RGB of the background where it is known; otherwise it is found from the picture's border.

    Raises:
        NoPieceError: the picture is all background, or the piece is too small.
        SeveralPiecesError: the picture shows several pieces.
        NoBackgroundError: no background can be told from the piece.
        InputError: the background has another colour than ``key_color``.
    """
    if min(pixels.shape[:2]) < _MIN_SIDE_PX:
        raise _too_small(name)
    mask = find_mask(pixels, key_color)
    if mask is None:
        raise NoBackgroundError(
            f"{name}: no background was found around the piece: "
            "save it with a transparent background (RGBA PNG) or on one plain colour."
        )
    if key_color is not None and mask.all() and not has_transparency(pixels):
        _check_key_color(name, pixels[..., :3], key_color)
    if not mask.any():
        raise NoPieceError(f"{name} shows only background, so there is no piece in it to use.")
    mask, n_pieces = split_pieces(mask)
    if n_pieces > 1:
        raise SeveralPiecesError(
            f"{name} shows {n_pieces} pieces, beside pictures of one piece each: "
            "cut it first with jigsawnet cut, and give its pieces beside the others."
        )
    if _is_too_small(mask):
        raise _too_small(name)
    rgb = np.ascontiguousarray(pixels[..., :3])
    image = cv2.copyTo(rgb, mask.astype(np.uint8), np.zeros_like(rgb)).astype(np.uint8, copy=False)
    return Piece(idx, name, image, mask)


def _check_key_color(name: str, rgb: UInt8Array, key_color: tuple[int, int, int]) -> None:
    """Refuse a given colour that is nowhere in a picture which plainly has another background."""
    found = find_key_color(rgb)
    if found is not None and (difference_from(rgb, found) > NEAR_LEVELS).any():
        raise InputError(
            f"{name}: the background has the colour {found}, not {key_color} as given: correct bg_color.txt or remove it."
        )


def _is_too_small(mask: BoolArray) -> bool:
    rows, columns = np.count_nonzero(mask.any(axis=1)), np.count_nonzero(mask.any(axis=0))
    return bool(min(rows, columns) < _MIN_SIDE_PX or np.count_nonzero(mask) < _MIN_AREA_PX)


def _too_small(name: str) -> NoPieceError:
    return NoPieceError(f"{name} holds a piece of less than {_MIN_SIDE_PX} x {_MIN_SIDE_PX} pixels, too small to use.")
