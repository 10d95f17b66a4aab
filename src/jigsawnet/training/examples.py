"""Training data: puzzles cut from photographs, their candidates as the detectors see them, labelled by the truth.

Every puzzle is kept in a file of its own, so that an interrupted synthesis goes on where it stopped.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.errors import ConfigError, InputError, JigsawNetError
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.io.array_store import read_arrays
from jigsawnet.io.files import make_folder, write_bytes
from jigsawnet.io.images import read_image, silent_decoders
from jigsawnet.io.pieces import list_pictures, list_unread, say_unread
from jigsawnet.learned import Learned, NetworkName
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet.score.seam_band import BAND_CHANNELS
from jigsawnet.score.views import SeamViews
from jigsawnet.seam_fit import seam_terms
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.shred.documents import Typefaces, make_document
from jigsawnet.shred.pages import make_page
from jigsawnet.shred.presets import preset
from jigsawnet.training.solving import find
from jigsawnet.types import BoolArray, Float32Array, Progress, UInt8Array, no_progress

BORDER_PX = 2.5
_FARTHEST_PX = 25.0
"""Neighbours whose borders were lost lie up to this far apart."""
_PRESETS = ("fresco", "torn-photo", "torn-page", "phone", "old-print")
_PRESET_SHARES = (0.5, 0.14, 0.1, 0.13, 0.13)
_PAGE_PRESETS, _PAGE_SHARES = ("torn-page", "phone", "old-print", "torn-photo"), (0.6, 0.15, 0.1, 0.15)
_PAGES = 1 / 12
"""Pages among puzzles, unless more are asked for."""
_PAGE_DPI = (85.0, 150.0)
"""Documents are printed at a resolution in between."""
CHANNELS: Mapping[NetworkName, int] = {"seam": BAND_CHANNELS, "ragged": BAND_CHANNELS, "printed": 2 * BAND_CHANNELS}
"""Of the bands that our networks look at: the near view, and on pages the far one, too."""
HOLD_OUT_EVERY = 8
"""Every so many photographs, one is kept for validation."""
Columns = dict[str, NDArray[Any]]
"""What is kept of one puzzle."""
_COLUMNS = ("pictures", "rois", "bands", "features", "fit", "right")


@dataclass(frozen=True, slots=True)
class ExamplesConfig:
    """What the detectors are trained on."""

    puzzles: int = 135
    """Puzzles to cut; the photographs take turns."""
    largest: int = 200
    """Most pieces of a puzzle; 9 to 200 are drawn, most often 36."""
    matchers: tuple[str, ...] = ("dense", "zhang")
    """Who proposes the candidates. The paper has zhang."""
    wrong_per_puzzle: int = 240
    """Wrong candidates kept of each puzzle and matcher, half of them those with the best fit; 0 keeps all."""
    damage: bool = True
    """Cut some puzzles straight, wear some pieces, and add noise, JPEG and colour shifts. The paper has none of this."""
    presets: float = 0.0
    """Part of the puzzles that are damaged by the named presets of the shredder, at strengths of their own; for `ragged`."""
    pages: float = _PAGES
    """Part of the puzzles that are pages of text; 1, for `printed`: made-up documents, most of them torn."""
    fonts: tuple[Path, ...] = ()
    """Folders of font files to print documents with; without any, one Latin font."""
    seed: int = 0
    """Seed of the cuts."""
    picture: PictureConfig = field(default_factory=PictureConfig)

    def __post_init__(self) -> None:
        if self.puzzles < 2 or self.largest < 4 or not self.matchers or self.wrong_per_puzzle < 0:
            raise ConfigError(
                "Training needs two puzzles of four pieces and one matcher; wrong-per-puzzle must not be negative."
            )
        if not 0 <= self.presets <= 1 or not 0 <= self.pages <= 1:
            raise ConfigError("presets and pages must lie between 0 and 1.")


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Candidates of many puzzles.

    ``pictures (N, H, W, 3)`` and ``rois (N, 4)`` as of `render_pairs`, ``bands (N, 32, 128, 10)`` as of `render_bands`,
    ``features (N, 77)`` as of `seam_terms`, ``fit (N,)`` the matcher's score, ``right (N,)``, ``puzzle (N,)`` the index of its
    puzzle in ``case``, which says what kind of puzzle that is, and ``held_out (N,)``: from a photograph kept for validation.
    """

    pictures: UInt8Array
    rois: Float32Array
    bands: UInt8Array
    features: Float32Array
    fit: Float32Array
    right: BoolArray
    puzzle: NDArray[np.int32]
    held_out: BoolArray
    case: tuple[str, ...]
    photos: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.right)

    def images(self, network: NetworkName) -> UInt8Array:
        """What a network looks at: pictures, or bands with as many channels as it takes."""
        return self.pictures if network == "jigsawnet" else self.bands[..., : CHANNELS[network]]

    def digest(self) -> str:
        """What the data is, as a hash."""
        total = hashlib.sha256()
        for array in (self.pictures, self.rois, self.bands, self.right, self.held_out):
            total.update(str((array.shape, array.dtype)).encode())
            total.update(np.ascontiguousarray(array[:: max(1, len(array) // 997)]).tobytes())
        total.update(self.right.tobytes())
        return total.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Job:
    name: str
    photo: Path | None
    shred: ShredConfig
    seed: int
    document: bool
    held_out: bool


def make_examples(
    pictures: Sequence[Path], config: ExamplesConfig, learned: Learned, cache: Path, progress: Progress = no_progress
) -> Examples:
    """Cut puzzles from photographs, propose candidates, draw and label them; files under ``cache`` are used again."""
    jobs = _plan(pictures, config)
    fonts = Typefaces.find(config.fonts)
    same = dataclasses.replace(config, puzzles=2, fonts=())  # more puzzles of the same kind add to the folder
    key = {
        "config": dataclasses.asdict(same),
        "fonts": fonts.names(),
        "photos": [(p.name, p.stat().st_size) for p in pictures],
        "format": 2,
    }
    key["fit"] = learned.digest_of("fit", "contact")
    folder = cache / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    make_folder(folder)
    parts = []
    for done, job in enumerate(jobs):
        path = folder / f"puzzle_{done:04d}.npz"
        part = read_part(path, _COLUMNS)
        if part is None:
            part = _make_part(job, config, fonts, learned)
            write_part(path, part)
        parts.append(part)
        progress("examples", done + 1, len(jobs))
    counts = [len(part["right"]) for part in parts]
    return Examples(
        **{name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS},
        puzzle=np.repeat(np.arange(len(jobs), dtype=np.int32), counts),
        held_out=np.repeat([job.held_out for job in jobs], counts),
        case=tuple(job.name for job in jobs),
        photos=tuple(p.name for p in pictures),
    )


def usable_photos(folder: Path) -> tuple[list[Path], list[str]]:
    """The pictures of a folder that can be read, in order, and a sentence for each that cannot.

    Raises:
        InputError: fewer than two of them.
    """
    good, broken = [], say_unread(list_unread(folder))
    with silent_decoders():
        for path in list_pictures(folder):
            try:
                read_image(path)
                good.append(path)
            except JigsawNetError:
                broken.append(f"{path.name} cannot be read as a picture and was left out.")
    if len(good) < 2:
        found = f"{len(good)} usable picture{'s' * (len(good) != 1)}" + (f" and {len(broken)} broken" if broken else "")
        raise InputError(f"The folder {folder} holds {found}; training needs at least two photographs, better forty.")
    return good, broken


def _plan(pictures: Sequence[Path], config: ExamplesConfig) -> list[_Job]:
    """Which puzzle is cut from which photograph: sizes and damage drawn from the seed; one in twelve is a page of text."""
    rng = np.random.default_rng(config.seed)
    hold = min(HOLD_OUT_EVERY, len(pictures))
    jobs = []
    for k in range(config.puzzles):
        index = k % len(pictures)
        pieces = int(rng.choice((9, 16, 36, 64, 100, 200), p=(0.08, 0.1, 0.42, 0.15, 0.17, 0.08)))
        pieces = min(pieces, config.largest)
        wiggle = float(rng.uniform(0.02, 0.06))
        kind, shred = "clean", ShredConfig(pieces=pieces, perturbation=wiggle)
        draw = rng.random()
        if config.damage and draw < 0.22:
            kind, shred = "straight", dataclasses.replace(shred, perturbation=float(rng.choice((0.0, 0.0, 0.005, 0.01))))
            if rng.random() < 0.25:
                shred = dataclasses.replace(shred, erosion_px=float(rng.uniform(0.5, 2.0)))
        elif config.damage and draw < 0.44:
            kind, shred = "eroded", dataclasses.replace(shred, erosion_px=float(rng.uniform(0.5, 5.0)))
        elif config.damage and draw < 0.6:
            kind = "noisy"
            shred = dataclasses.replace(
                shred,
                noise=float(rng.uniform(2, 12)),
                jpeg_quality=int(rng.integers(40, 95)),
                color_shift=float(rng.uniform(0, 6)),
            )
        page = config.damage and rng.random() < config.pages
        if config.presets and rng.random() < config.presets:
            names, shares = (_PAGE_PRESETS, _PAGE_SHARES) if config.pages == 1 else (_PRESETS, _PRESET_SHARES)
            name = str(rng.choice(names, p=shares))
            strength = float(rng.uniform(0.2, 1.0))
            pieces = min(int(rng.choice((12, 18, 25, 36, 64))), config.largest)
            kind, shred, page = f"{name} {strength:.2f}", preset(name, strength, rng, pieces), page or name == "torn-page"
        held_out = index % hold == hold - 1
        photo = None if page else pictures[index]
        jobs.append(
            _Job(
                f"{'page, ' * page}{kind}, {pieces} pieces",
                photo,
                shred,
                config.seed * 100_003 + k,
                document=config.pages == 1,
                held_out=held_out,
            )
        )
    return jobs


def _picture(job: _Job, fonts: Typefaces, rng: np.random.Generator) -> UInt8Array:
    if job.photo is not None:
        return read_image(job.photo)[..., :3]
    return draw_document(rng, fonts) if job.document else make_page(rng)


def draw_document(rng: np.random.Generator, fonts: Typefaces) -> UInt8Array:
    """A made-up page at a resolution of its own."""
    return make_document(rng, fonts, float(rng.uniform(*_PAGE_DPI)))


def _make_part(job: _Job, config: ExamplesConfig, fonts: Typefaces, learned: Learned) -> Columns:
    rng = np.random.default_rng(job.seed)
    picture = _picture(job, fonts, rng)
    puzzle, truth = shred_images([picture], job.shred, rng)
    parts: list[Columns] = []
    for matcher in config.matchers:
        scene, rows = find(puzzle, learned, matcher)
        right = right_candidates(puzzle, rows, truth, gap_px=gap_of(job.shred))
        fit = rows.fit.astype(np.float32)
        kept = _thin(right, fit, config.wrong_per_puzzle, rng)
        chosen = rows.take(kept)
        views = SeamViews(scene.pixels, scene.borders, chosen)
        blocks = [slice(start, start + 64) for start in range(0, len(chosen), 64)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            bands = list(pool.map(partial(views.bands, channels=CHANNELS["printed"]), blocks))
            pairs = list(pool.map(views.pictures, blocks, [config.picture] * len(blocks)))
        parts.append({
            "pictures": np.concatenate([pair[0] for pair in pairs]),
            "rois": np.concatenate([pair[1] for pair in pairs]),
            "bands": np.concatenate(bands),
            "features": seam_terms(chosen.features, scene.borders.step_px).astype(np.float32),
            "fit": fit[kept],
            "right": right[kept],
        })  # fmt: skip
    return {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}


def gap_of(shred: ShredConfig) -> float:
    """How far apart true neighbours may lie, in px, after what the pieces suffer."""
    lost = 1.2 * max(shred.damage.loss_px, shred.damage.crumble_px / 2)
    return float(min(BORDER_PX + shred.gap_px + lost, _FARTHEST_PX)) if lost else BORDER_PX + shred.gap_px


def _thin(right: BoolArray, fit: Float32Array, wrong: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """All right candidates, and of the wrong ones those with the best fit and as many others by chance."""
    others = np.flatnonzero(~right)
    if wrong and len(others) > wrong:
        others = others[np.argsort(-fit[others], kind="stable")]
        others = np.concatenate([others[: wrong // 2], rng.choice(others[wrong // 2 :], wrong - wrong // 2, replace=False)])
    return np.sort(np.concatenate([np.flatnonzero(right), others]))


def read_part(path: Path, columns: Sequence[str]) -> Columns | None:
    """Columns of what `write_part` kept; None when it is not there or not whole."""
    return read_arrays(path, None, columns)


def write_part(path: Path, part: Columns) -> None:
    """Keep what was measured on one puzzle."""
    buffer = BytesIO()
    np.savez(buffer, allow_pickle=False, **part)
    write_bytes(path, buffer.getvalue())
