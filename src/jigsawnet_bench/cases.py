"""A suite → its puzzles: which picture, which seed; the same on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.io.truth import AUTHORS_TRUTH_FILE, TRUTH_FILE, read_truth
from jigsawnet.loading import load_puzzle
from jigsawnet.shred import ShredConfig, shred_images, with_preset
from jigsawnet.shred.documents import Typefaces, make_document
from jigsawnet.shred.pages import make_page
from jigsawnet.types import Assembly, Float32Array, Puzzle, UInt8Array
from jigsawnet_bench.layouts import NEIGHBOR_PX, gap_of, kinds_in, truth_of
from jigsawnet_bench.suite import Group, Suite

_WAVES = ((90.0, 40.0), (22.0, 22.0), (4.0, 9.0), (1.2, 5.0))
"""Width in px and strength in grey levels of the colour fields of a made-up picture."""

_MADE = {"pages": "page", "documents": "document"}
_USUAL_DPI = 150.0
_OPTIONS_STREAM = 2
"""Options of presets are drawn apart from pictures and cuts."""


@dataclass(frozen=True, slots=True)
class Case:
    """One puzzle: puzzle ``number`` of its group, cut from ``sources`` (pictures) or read from there (a folder of pieces)."""

    group: Group
    number: int
    sources: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        """For people: what the puzzle is made of."""
        if self.group.kind.source == "photos" or self.group.kind.is_read:
            return " + ".join(path.name for path in self.sources)
        return f"generated {_MADE.get(self.group.kind.source, 'picture')} {self.number + 1}"

    @property
    def gap_px(self) -> float:
        """How close true neighbours come; bites and torn rims leave the rest of a seam tight."""
        if self.group.kind.is_read:
            return gap_of(self.sources[0])
        return NEIGHBOR_PX + self.shred.gap_px

    @property
    def shred(self) -> ShredConfig:
        """How it is cut: the group's options, with those that the preset draws; at every strength the same dice fall."""
        kind, own = self.group.kind, self.group.shred
        rng = np.random.default_rng((self.number, _OPTIONS_STREAM))
        return with_preset(own, kind.preset, kind.strength, rng) if kind.preset else own

    def digest(self) -> str:
        """Names the puzzle by everything it is made of, and by no name or path."""
        made_of = {
            "source": self.group.kind.source,
            "mix": self.group.kind.mix,
            "foreign": self.group.kind.foreign,
            "seed": self.number,
            **({"dpi": self.group.kind.dpi} if self.group.kind.dpi != _USUAL_DPI else {}),
            "shred": self.shred.record(),
            **({"gap_px": self.gap_px} if self.group.kind.is_read else {}),
            "pictures": [_digest_of(path) for path in self.sources],
        }
        return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:24]


def suite_cases(
    suite: Suite,
    photos: Path | None,
    folders: Sequence[Path] = (),
    most: int | None = None,
    largest: int | None = None,
    exactly: bool = False,
) -> list[Case]:
    """All puzzles of a suite, in order.

    Args:
        suite: what is wanted.
        photos: folder of pictures; None takes the suite's own, if it has one.
        folders: pieces with their truth, for groups that read such: each a puzzle, or a folder of puzzles.
        most: at most this many puzzles of each group.
        largest: groups with more pieces than this are left out.
        exactly: just ``most`` puzzles of each group that has several.

    Raises:
        InputError: pictures or folders are needed and not given, or hold nothing.
    """
    kept = [g for g in suite.groups if largest is None or g.kind.is_read or g.shred.pieces <= largest]
    if photos is None and suite.head.task == "precision" and folders:
        kept = [g for g in kept if g.kind.is_read]
    if exactly and most:
        kept = [replace(g, kind=replace(g.kind, puzzles=most)) if g.kind.puzzles > 1 else g for g in kept]
    if not kept:
        raise InputError(f"All puzzles of {suite.name} have more than {largest} pieces; nothing is left to do.")
    pictures = _pictures(suite, photos) if any(group.kind.source == "photos" for group in kept) else []
    cases: list[Case] = []
    for group in kept:
        if group.kind.is_read:
            if folders or len(kept) == 1:  # beside other groups, folders may be left out
                cases += _folder_cases(group, folders, most, with_truth=suite.head.task != "real")
            continue
        for number in range(group.kind.puzzles * group.kind.cuts)[:most]:
            cases.append(Case(group, number, _spread(pictures, group, number) if group.kind.source == "photos" else ()))
    return cases


def build_puzzle(case: Case) -> tuple[Puzzle, Assembly]:
    """Cut or read a puzzle; gives the truth as well."""
    if case.group.kind.is_read:
        puzzle = load_puzzle(case.sources[0])
        return puzzle, read_truth(case.sources[0], puzzle)
    rng = np.random.default_rng(case.number)
    images = _images(case, rng)
    own = case.group.kind.mix
    puzzle, truth = shred_images(images[:own], case.shred, rng)
    return add_foreign(puzzle, truth, [shred_images([image], case.shred, rng)[0] for image in images[own:]], rng)


def add_foreign(puzzle: Puzzle, truth: Assembly, others: Sequence[Puzzle], rng: np.random.Generator) -> tuple[Puzzle, Assembly]:
    """Add one piece of each of ``others``; in the truth it has no place."""
    strangers = [other.pieces[int(rng.integers(len(other)))] for other in others]
    n = len(puzzle)
    added = [replace(piece, idx=n + k, name=f"foreign_{k + 1:04d}.png") for k, piece in enumerate(strangers)]
    return replace(puzzle, pieces=(*puzzle.pieces, *added)), replace(truth, n_pieces=n + len(added))


def make_picture(rng: np.random.Generator, width: int = 1200, height: int = 800) -> UInt8Array:
    """One picture ``(height, width, 3)`` RGB: colour fields from coarse to fine, with discs and bars, a landscape of a kind."""
    picture = np.full((height, width, 3), 135.0, np.float32)
    for wave_px, strength in _WAVES:
        picture += strength * _color_field(rng, height, width, wave_px)
    for _ in range(40):
        color = tuple(rng.uniform(30, 250, 3).tolist())
        x, y, end_x, end_y = (int(value) for value in rng.integers(0, (width, height, width, height)))
        cv2.circle(picture, (x, y), int(rng.integers(10, 60)), color, thickness=-1, lineType=cv2.LINE_AA)
        cv2.line(picture, (x, y), (end_x, end_y), color, thickness=int(rng.integers(2, 12)), lineType=cv2.LINE_AA)
    grain = rng.normal(0.0, 4.0, picture.shape).astype(np.float32)
    return np.asarray(np.clip(picture + grain, 0, 255), np.uint8)


def _color_field(rng: np.random.Generator, height: int, width: int, wave_px: float) -> Float32Array:
    """Smooth random colours ``(height, width, 3)`` with standard deviation near 1 and bumps about ``wave_px`` wide."""
    size = max(2, round(height / wave_px)) + 3, max(2, round(width / wave_px)) + 3
    coarse = rng.standard_normal((*size, 3), np.float32)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)


def _images(case: Case, rng: np.random.Generator) -> list[UInt8Array]:
    kind = case.group.kind
    if kind.source == "photos":
        return [read_image(path)[..., :3] for path in case.sources]
    if kind.source == "documents":  # printed with the font that every machine has
        return [make_document(rng, Typefaces({}), kind.dpi) for _ in range(kind.mix + kind.foreign)]
    make = make_page if kind.source == "pages" else make_picture
    return [make(rng) for _ in range(kind.mix + kind.foreign)]


def _pictures(suite: Suite, photos: Path | None) -> list[Path]:
    folder = photos
    if folder is None:
        if suite.head.photos is None:
            raise InputError(f"The suite {suite.name} cuts photographs; give their folder with --photos.")
        folder = suite.base / suite.head.photos
    pictures = list_pictures(folder)
    if not pictures:
        raise InputError(f"The folder {folder} holds no pictures; give a folder of photographs.")
    return pictures


def _spread(pictures: Sequence[Path], group: Group, number: int) -> tuple[Path, ...]:
    """Pictures of one puzzle; puzzles are spread over the folder, and every value of a curve has the same first pictures."""
    n, number = len(pictures), number % group.kind.puzzles
    start = number * n // group.kind.puzzles if group.kind.puzzles <= n else number
    return tuple(pictures[(start + k) % n] for k in range(group.kind.mix + group.kind.foreign))


def _folder_cases(group: Group, folders: Sequence[Path], most: int | None, with_truth: bool) -> list[Case]:
    """Puzzles of each folder given; they form a group named after the folder, of a collection after each folder in it."""
    if not folders:
        raise InputError("This suite reads puzzles with their truth; give folders that hold such with --folders.")
    cases: list[Case] = []
    for folder in folders:
        real = group.kind.source == "real"
        kinds = kinds_in(folder) if real else {folder.resolve().name: puzzle_folders(folder)}
        for name, puzzles in kinds.items():
            own = replace(group, kind=replace(group.kind, name=name))
            chosen = [puzzle for puzzle in puzzles if not with_truth or truth_of(puzzle) != "none"]
            cases += [Case(own, number, (puzzle,)) for number, puzzle in enumerate(chosen[:most])]
    return cases


def puzzle_folders(folder: Path) -> list[Path]:
    """The folder itself when the truth lies in it, or those in it that have one.

    Raises:
        InputError: there is none.
    """
    puzzles = [folder] if _has_truth(folder) else sorted(path for path in _listed(folder) if _has_truth(path))
    if not puzzles:
        raise InputError(
            f"{folder} holds no puzzle: a folder of pieces needs a {AUTHORS_TRUTH_FILE} or {TRUTH_FILE} beside them."
        )
    return puzzles


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be listed: {error.strerror or error}.") from error


def _has_truth(folder: Path) -> bool:
    return (folder / AUTHORS_TRUTH_FILE).is_file() or (folder / TRUTH_FILE).is_file()


@cache
def _digest_of(path: Path) -> str:
    """Contents of a file, or of all files of a folder."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() if path.is_dir() else b"")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
