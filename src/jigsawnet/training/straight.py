"""Pages cut straight, elsewhere at every look: what a shredder with good blades leaves, or strips that were trimmed.

Such edges say nothing by their shape. What is printed goes on across them, less a few pixels that the blade took.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from jigsawnet.io.files import write_bytes
from jigsawnet.io.images import read_image
from jigsawnet.shred.documents import Typefaces, make_document
from jigsawnet.strips import INK_LEVELS, INSIDE_PX, MOST_INK, OUTSIDE_PX, paper_level
from jigsawnet.training.cuts import CutsConfig, example_files, pictures_of, upside_down, write_missing
from jigsawnet.types import BoolArray, Float32Array, Piece, Progress, UInt8Array, no_progress

_PHOTOS = 0.05
"""Part of all pages that are a photograph."""
_DPI = (110.0, 250.0)
_PHOTO_PX = 1300
"""The shorter side of a photograph, at most."""
_SIDEWAYS = 0.2
"""Part of all looks at which lines of print run along the cuts."""
_ZOOM, _WIDTHS = (0.75, 1.25), (28, 65)
_LOST = (0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6)
"""Pixels that a cut may take."""
_FADED, _DEEPEST, _ROUGHEST = 0.6, 3.2, 2.5
"""How often print is lost at the edges of the paper; to this depth everywhere, and this much deeper in places; in px."""
_MOST_CUTS, _LEAST_CUTS = 24, 3
_MARGIN = 6


def make_pages(
    photos: Sequence[Path], config: CutsConfig, folder: Path, processes: int, progress: Progress = no_progress
) -> list[Path]:
    """Files with one grey page each, made where they are missing."""
    fonts = Typefaces.find(config.fonts)
    files = example_files(photos, config, fonts, folder, "page", config.pages, ".png")
    write_missing(files, partial(_write_page, tuple(photos), fonts, config.seed), processes, "printing pages", progress)
    return files


def _write_page(photos: tuple[Path, ...], fonts: Typefaces, seed: int, number: int, path: Path) -> None:
    cv2.setNumThreads(1)
    write_bytes(path, cv2.imencode(".png", grey_page(photos, fonts, np.random.default_rng([seed, 1, number])))[1].tobytes())


def grey_page(photos: Sequence[Path], fonts: Typefaces, rng: np.random.Generator) -> UInt8Array:
    """A document ``(H, W)`` at any resolution of scans, or now and then a photograph."""
    if photos and rng.random() < _PHOTOS:
        photo = cv2.cvtColor(read_image(photos[int(rng.integers(len(photos)))])[..., :3], cv2.COLOR_RGB2GRAY)
        scale = min(1.0, _PHOTO_PX / min(photo.shape))
        return np.asarray(cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    page = make_document(rng, fonts, float(rng.uniform(*_DPI)), pictures_of(tuple(photos)))
    return np.asarray(cv2.cvtColor(page, cv2.COLOR_RGB2GRAY), np.uint8)


def straight_cuts(
    page: UInt8Array, rng: np.random.Generator, rows: int, most: int = _MOST_CUTS
) -> tuple[Float32Array, Float32Array] | None:
    """What lies left and right of K straight cuts through a part of a page: ``(K, 2, rows, 40)`` each.

    Like `strips.bands`; None where the page is too small.
    """
    if rng.random() < _SIDEWAYS:
        page = np.rot90(page, int(rng.choice((1, 3))))
    ink = _scanned(page, rng, rows)
    lost, width = int(rng.choice(_LOST)), int(rng.integers(*_WIDTHS))
    room = ink.shape[1] - 2 * INSIDE_PX - lost
    if room < _LEAST_CUTS * (width + lost):
        return None
    at = INSIDE_PX + int(rng.integers(width + lost)) + np.arange(0, room, width + lost)
    at = at[at + lost + INSIDE_PX <= ink.shape[1]]
    if len(at) > most:
        first = int(rng.integers(len(at) - most + 1))
        at = at[first : first + most]
    right = _band(ink, at - INSIDE_PX, slice(0, INSIDE_PX))
    left = _band(np.roll(ink, int(rng.choice((-1, 0, 0, 1))), axis=0), at + lost, slice(OUTSIDE_PX, None))
    fades = rng.random() < _FADED
    strength = rng.uniform(0.6, 1.5)
    for band, outer_last in ((right, True), (left, False)):
        if fades:
            _fade(band, outer_last, rng)
        band[:, 0] *= (strength * rng.uniform(0.9, 1.1, (len(band), 1, 1))).astype(np.float32)
    if rng.random() < 0.5:  # upside down the sides change their roles
        right, left = np.ascontiguousarray(left[..., ::-1, ::-1]), np.ascontiguousarray(right[..., ::-1, ::-1])
    return right, left


def _scanned(page: UInt8Array, rng: np.random.Generator, rows: int) -> Float32Array:
    """A part of a page, ``rows`` high and as wide as the page, scanned at another scale, slightly slanted: its ink."""
    scale = float(np.exp(rng.uniform(*np.log(_ZOOM))))
    high = min(page.shape[0], int(np.ceil(rows / scale)) + 2)
    top = int(rng.integers(page.shape[0] - high + 1))
    slant = float(rng.normal(0, 0.004)) if rng.random() < 0.5 else 0.0
    matrix = np.array([[scale, slant * scale, 0.0], [0.0, scale, 0.0]])
    part = np.ascontiguousarray(page[top : top + high])
    seen = _grey(cv2.warpAffine(part, matrix, (int(page.shape[1] * scale), rows), borderMode=cv2.BORDER_REPLICATE))
    if rng.random() < 0.5:
        seen = _grey(cv2.GaussianBlur(seen, (0, 0), float(rng.uniform(0.3, 1.2))))
    if rng.random() < 0.3:
        data = cv2.imencode(".jpg", seen, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(40, 95))])[1]
        seen = _grey(cv2.imdecode(data, cv2.IMREAD_GRAYSCALE))
    ink = (paper_level(seen) - seen.astype(np.float32)) / INK_LEVELS
    if rng.random() < 0.5:
        ink += rng.normal(0, rng.uniform(0, 0.12), ink.shape).astype(np.float32)
    return np.asarray(np.clip(ink, *MOST_INK), np.float32)


def _grey(values: object) -> UInt8Array:
    return np.asarray(values, np.uint8)


def _band(ink: Float32Array, first: np.ndarray[tuple[int], np.dtype[np.int64]], inside: slice) -> Float32Array:
    """Columns of the page from each of ``first (K,)`` on, as bands."""
    found = np.zeros((len(first), 2, len(ink), OUTSIDE_PX + INSIDE_PX), np.float32)
    found[:, 0, :, inside] = np.moveaxis(ink[:, first[:, None] + np.arange(INSIDE_PX)], 1, 0)
    found[:, 1, :, inside] = 1.0
    return found


def _fade(band: Float32Array, outer_last: bool, rng: np.random.Generator) -> None:
    """Take print from the outermost pixels of the paper: evenly, in teeth, in every row or pixel by chance."""
    cuts, _, rows, _ = band.shape
    kinds = (
        np.zeros((1, rows, 1)),
        (np.arange(rows) // int(rng.integers(1, 3)) % 2)[None, :, None],
        rng.random((cuts, rows, 1)),
        rng.random((cuts, rows, INSIDE_PX)),
    )
    depth = rng.uniform(0, _DEEPEST) + rng.uniform(0, _ROUGHEST) * kinds[int(rng.integers(len(kinds)))]
    inward = np.arange(INSIDE_PX) + 0.5
    kept = np.clip((inward[::-1] if outer_last else inward) - depth + 0.5, 0.0, 1.0)
    band[:, 0, :, slice(0, INSIDE_PX) if outer_last else slice(OUTSIDE_PX, None)] *= kept.astype(np.float32)


def straight_page(
    photos: Sequence[Path], fonts: Typefaces, rng: np.random.Generator
) -> tuple[list[Piece], list[list[int]], list[bool]]:
    """A whole page cut straight, any way up: the pieces, those that lie side by side, and which of them are upside down.

    Half of all pages are cut across, too, into as many rows as chads of 30 to 80 mm need.
    """
    page = grey_page(photos, fonts, rng)
    width, lost = int(rng.integers(*_WIDTHS)), int(rng.choice(_LOST))
    deep, teeth = int(rng.integers(0, 4)), int(rng.integers(1, 3))
    high = len(page) // (1 if rng.random() < 0.5 else int(rng.integers(4, 11)))
    found, places = [], []
    for top in range(0, len(page) - high + 1, high + lost):
        for first in range(0, page.shape[1] - width + 1, width + lost):
            found.append(_strip(page[top : top + high, first : first + width].copy(), deep, teeth))
            places.append((top, first))
    order = rng.permutation(len(found))
    turned = (rng.random(len(found)) < 0.5).tolist()
    pieces = [Piece(at, f"{k}.png", *found[k]) for at, k in enumerate(order.tolist())]
    where = np.argsort(order)  # where each of `found` is now
    rows = [[int(where[k]) for k, place in enumerate(places) if place[0] == top] for top in sorted({top for top, _ in places})]
    return [upside_down(piece) if t else piece for piece, t in zip(pieces, turned, strict=True)], rows, turned


def _strip(grey: UInt8Array, deep: int, teeth: int) -> tuple[UInt8Array, BoolArray]:
    """Image and mask of a strip whose print is lost along its long sides, to an even depth and in teeth."""
    for edge in (grey, grey[:, ::-1]):
        edge[:, :deep] = 255
        edge[np.arange(len(grey)) // teeth % 2 == 0, deep : deep + 1] = 255
    image = np.pad(np.repeat(grey[..., None], 3, axis=2), ((_MARGIN, _MARGIN), (_MARGIN, _MARGIN), (0, 0)))
    return image, np.pad(np.ones(grey.shape, np.bool_), _MARGIN)
