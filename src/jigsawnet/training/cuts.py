"""Examples for the networks that look along strips: documents made up, shredded, and both sides of every cut, in line."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np

from jigsawnet.errors import ConfigError
from jigsawnet.io.files import make_folder, write_bytes
from jigsawnet.io.images import read_image
from jigsawnet.shred import ShredConfig, preset, shred_images
from jigsawnet.shred.documents import Typefaces, make_document
from jigsawnet.strips import WIDTH_PX, bands, straighten
from jigsawnet.types import Assembly, Float32Array, Piece, Progress, Puzzle, UInt8Array, no_progress

MM_PER_INCH = 25.4
INK, MASK = 80.0, 255.0
"""Units of a band as it is kept, in bytes; white paper is `PAPER`."""
PAPER = 40.0
_HEIGHT_PX, _MOST_STRIPS, _END_PX = 1300, 30, 40
"""Part of a page that is shredded, how many strips are taken, and what is left out at both ends of them."""
_PHOTOS, _TRIMMED = 0.08, 0.35
"""Parts of all examples that are a photograph instead of a page, and whose cuts are straight."""
_LARGEST_DPI = 200.0
"""Of whole pages."""
_PICTURES = 40
"""Photographs that pages show."""


@dataclass(frozen=True, slots=True)
class CutsConfig:
    """Documents that are made up and shredded to learn what goes on across a cut."""

    pages: int = 1600
    """Pages that are cut straight, elsewhere at every look."""
    shredded: int = 200
    """Parts of pages that are shredded, with ragged sides."""
    fonts: tuple[Path, ...] = ()
    """Folders of font files to print them with; without any, one Latin font."""
    seed: int = 0
    """Number that all randomness comes from."""

    def __post_init__(self) -> None:
        if min(self.pages, self.shredded) < 2 or self.seed < 0:
            raise ConfigError("cuts.pages and cuts.shredded must be 2 or more, and cuts.seed 0 or more.")


@dataclass(frozen=True, slots=True)
class Shredding:
    """How one page went through the shredder: the width of strips in mm, the scan in dots per inch, and the rest."""

    width_mm: float
    dpi: float
    config: ShredConfig


def draw_shredding(rng: np.random.Generator, strips: int) -> Shredding:
    """Strips of 3 to 8 mm, scanned at 120 to 300 dpi, with ragged or trimmed sides."""
    width_mm, dpi = float(rng.uniform(3.0, 8.0)), float(rng.uniform(120.0, 300.0))
    config = preset("strip-cut", float(rng.uniform(0.1, 1.0)), rng, strips, rotate=False)
    if rng.random() < _TRIMMED:
        calm = dataclasses.replace(
            config.damage,
            rough_px=float(rng.uniform(0, 0.4)),
            loss_px=0.0,
            fray_px=float(rng.choice((0.0, 1.0, 2.0, 4.0, 6.0))),
        )
        config = dataclasses.replace(config, perturbation=0.0, damage=calm)
    return Shredding(width_mm, dpi, config)


def make_cuts(
    photos: Sequence[Path], config: CutsConfig, folder: Path, processes: int, progress: Progress = no_progress
) -> list[Path]:
    """Files with the bands of one example each, made where they are missing; see `cut_example`."""
    fonts = Typefaces.find(config.fonts)
    files = example_files(photos, config, fonts, folder, "cuts", config.shredded, ".npy")
    write_missing(files, partial(_write_example, tuple(photos), fonts, config.seed), processes, "shredding pages", progress)
    return files


def example_files(
    photos: Sequence[Path], config: CutsConfig, fonts: Typefaces, folder: Path, name: str, count: int, suffix: str
) -> list[Path]:
    """Where examples are kept; the names change with all that they are made from."""
    stamp = hashlib.sha256(json.dumps([config.seed, fonts.names(), sorted(p.name for p in photos)]).encode()).hexdigest()[:12]
    return [folder / f"{stamp}-{name}-{k:05d}{suffix}" for k in range(count)]


def write_missing(
    files: Sequence[Path], write: Callable[[int, Path], None], processes: int, stage: str, progress: Progress
) -> None:
    """Have ``write(number, path)`` make the files that are not there, in other processes."""
    missing = [k for k, path in enumerate(files) if not path.is_file()]
    if missing:
        make_folder(files[0].parent)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        jobs = [pool.submit(write, k, files[k]) for k in missing]
        for done, job in enumerate(jobs, start=1):
            job.result()
            progress(stage, done, len(jobs))


def _write_example(photos: tuple[Path, ...], fonts: Typefaces, seed: int, number: int, path: Path) -> None:
    cv2.setNumThreads(1)
    buffer = BytesIO()
    np.save(buffer, cut_example(pictures_of(photos), fonts, np.random.default_rng([seed, number])))
    write_bytes(path, buffer.getvalue())


@lru_cache(maxsize=1)
def pictures_of(photos: tuple[Path, ...]) -> tuple[UInt8Array, ...]:
    """Photographs for pages to show."""
    return tuple(read_image(path)[..., :3] for path in sorted(photos)[:_PICTURES])


def cut_example(pictures: Sequence[UInt8Array], fonts: Typefaces, rng: np.random.Generator) -> UInt8Array:
    """Both sides of every cut of one page: ``(2, K, 2, H, 40)`` bytes, [0] what lies left of the cuts, [1] right of them.

    Rows of both are in line. `unpack` gives bands as `strips.bands` does.
    """
    plan = draw_shredding(rng, 2)
    wide = plan.width_mm * plan.dpi / MM_PER_INCH
    shrunk = min(1.0, WIDTH_PX / wide)  # as `straighten` would; drawn small at once
    wide = max(16.0, wide * shrunk)
    if rng.random() < _PHOTOS and pictures:
        page = _at_least_high(pictures[int(rng.integers(len(pictures)))])
    else:
        page = _at_least_high(make_document(rng, fonts, plan.dpi * shrunk, pictures))
    count = max(4, min(_MOST_STRIPS, int(min(page.shape[1], _HEIGHT_PX - 50) / wide)))
    x = int(rng.integers(0, max(1, page.shape[1] - round(count * wide) + 1)))
    y = int(rng.integers(0, page.shape[0] - _HEIGHT_PX + 1))
    part = np.ascontiguousarray(page[y : y + _HEIGHT_PX, x : x + round(count * wide)])
    puzzle, truth = shred_images([part], dataclasses.replace(plan.config, pieces=count), rng)
    return _in_line(puzzle, truth)


def _at_least_high(page: UInt8Array) -> UInt8Array:
    scale = max(1.0, (_HEIGHT_PX + 1) / page.shape[0])
    return page if scale == 1.0 else np.asarray(cv2.resize(page, None, fx=scale, fy=scale), np.uint8)


def _in_line(puzzle: Puzzle, truth: Assembly) -> UInt8Array:
    """Bands on both sides of all cuts of one page, from the same row of the page on."""
    strips = straighten(puzzle.pieces)
    rows, found = _HEIGHT_PX - 2 * _END_PX, []
    for idx, strip in enumerate(strips):
        picture_from_upright = truth.poses[idx] @ strip.upright_from_piece.inverse()
        top = picture_from_upright @ (np.array([strip.mask.shape[1] / 2.0, 0.0]) / strip.scale)
        first = max(0, round((_END_PX - float(top[1])) * strip.scale))
        seen = bands(strip)[:, :, first : first + rows]
        found.append((float(top[0]), np.pad(seen, ((0, 0), (0, 0), (0, rows - seen.shape[2]), (0, 0)))))
    sides = np.stack([seen for _, seen in sorted(found, key=lambda each: each[0])])
    return pack(np.stack([sides[:-1, 1], sides[1:, 0]]))


def pack(seen: Float32Array) -> UInt8Array:
    """Bands ``(..., 2, H, 40)`` as bytes."""
    ink, mask = np.moveaxis(seen, -3, 0)
    return np.stack([np.clip(ink * INK + PAPER, 0, 255), np.clip(mask * MASK, 0, 255)], axis=-3).astype(np.uint8)


def shredded_page(
    photos: Sequence[Path], fonts: Typefaces, rng: np.random.Generator
) -> tuple[list[Piece], list[list[int]], list[bool]]:
    """A whole page as strips, any way up: the pieces, those that lie side by side, and which of them are upside down."""
    plan = draw_shredding(rng, 2)
    shrunk = min(1.0, WIDTH_PX * MM_PER_INCH / (plan.width_mm * plan.dpi))  # as `straighten` would; drawn small at once
    page = make_document(rng, fonts, min(plan.dpi * shrunk, _LARGEST_DPI), pictures_of(tuple(photos)))
    count = max(4, round(210.0 / plan.width_mm))
    puzzle, truth = shred_images([page], dataclasses.replace(plan.config, pieces=count), rng)
    middle = [float((truth.poses[p.idx] @ (np.array(p.mask.shape[::-1]) / 2.0))[0]) for p in puzzle.pieces]
    turned = (rng.random(len(puzzle)) < 0.5).tolist()
    return (
        [upside_down(p) if t else p for p, t in zip(puzzle.pieces, turned, strict=True)],
        [np.argsort(middle).tolist()],
        turned,
    )


def upside_down(piece: Piece) -> Piece:
    """The same piece, turned by half a turn."""
    image, mask = np.ascontiguousarray(piece.image[::-1, ::-1]), np.ascontiguousarray(piece.mask[::-1, ::-1])
    return dataclasses.replace(piece, image=image, mask=mask)
