"""Training data as in the paper: all of Zhang's candidates, few of them right, brought into proportion by sampling.

First all candidates are found and labelled, then rows are drawn, and only what was drawn is put into pictures, in a file that
is mapped into memory. All of it follows from the photographs and the seed, so it can be made again at any time.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.errors import ConfigError, InputError
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.io.files import make_folder, write_text
from jigsawnet.io.images import read_image
from jigsawnet.io.lock import hold_lock
from jigsawnet.learned import Learned
from jigsawnet.match import MatchConfig
from jigsawnet.match.config import ZhangConfig
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet.score.views import SeamViews
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.training.boosting import IntArray, sample_rows
from jigsawnet.training.config import SamplingConfig
from jigsawnet.training.examples import BORDER_PX, HOLD_OUT_EVERY, Columns, Examples, read_part, write_part
from jigsawnet.training.solving import find, look
from jigsawnet.types import Assembly, BoolArray, Progress, Puzzle, no_progress

ALL = 1 << 30
"""Candidates kept per piece: all of them."""
_KEEPING, _SAMPLING, _VALIDATION = range(3)
"""What a random stream is for."""
_COLUMNS = ("i", "j", "pose", "gap_px", "fit", "right")
_TAKEN = "Another training makes the examples in {folder}{holder}; wait until they are there."
_ROWS, _PICTURES, _DONE = "rows.npz", "pictures.npy", "done.json"


@dataclass(frozen=True, slots=True)
class ImbalanceConfig:
    """Puzzles, candidates and sampling of the paper's experiment."""

    sizes: tuple[int, ...] = (36, 100, 200)
    """Numbers of pieces."""
    shares: tuple[float, ...] = (0.5, 0.42, 0.08)
    """Part of the puzzles that has each number of pieces; each photograph is one puzzle."""
    matches_per_pair: int = 3
    """Segment matches of a pair that Zhang's matcher refines. With 3, 1.9 % of the candidates of 36 and 100 pieces are right
    and 0.36 % of those of 400, as in the paper (1.9 % and 0.34 %)."""
    kept: float = 0.175
    """Part of the candidates of each puzzle that is looked at, right and wrong ones alike, by chance: more photographs for as
    many examples."""
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    validation: int = 2000
    """Candidates of held-out puzzles that training is watched on, 30 % of them right."""
    seed: int = 0
    """Seed of cuts and draws."""
    picture: PictureConfig = field(default_factory=PictureConfig)

    def __post_init__(self) -> None:
        if not self.sizes or len(self.sizes) != len(self.shares) or min(self.sizes) < 4 or abs(sum(self.shares) - 1) > 1e-9:
            raise ConfigError(
                "Each number of pieces, 4 or more, needs its share of the puzzles, and the shares must add up to 1."
            )
        if not 0 < self.kept <= 1 or self.validation < 1 or self.matches_per_pair < 1:
            raise ConfigError("kept must lie between 0 and 1; validation and matches-per-pair must be 1 or more.")


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Distinct examples, how often sampling drew each ``(N,)`` (0: held out), and what there was to draw from."""

    examples: Examples
    counts: IntArray
    candidates: int
    right: int

    @property
    def rows(self) -> IntArray:
        """Rows to train on, with repetition."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


def all_candidates(puzzle: Puzzle, truth: Assembly, learned: Learned, matches_per_pair: int) -> tuple[Candidates, BoolArray]:
    """All of Zhang's candidates for a puzzle without damage, not only some for each piece; and which of them are right."""
    match = MatchConfig(per_piece=ALL, zhang=ZhangConfig(matches_per_pair=matches_per_pair))
    _, rows = find(puzzle, learned, "zhang", match)
    return rows, right_candidates(puzzle, rows, truth, gap_px=BORDER_PX)


def draw_examples(
    photos: Sequence[Path], config: ImbalanceConfig, learned: Learned, cache: Path, progress: Progress = no_progress
) -> Drawn:
    """Candidates of one puzzle a photograph, sampled as in the paper, and their pictures; files under ``cache`` are used again.

    Raises:
        InputError: there are no right or no wrong candidates, or no puzzle is held out.
        OutputError: another process is making them, or they cannot be written.
    """
    key = {"config": dataclasses.asdict(config), "photos": [(p.name, p.stat().st_size) for p in photos]}
    key["fit"] = learned.digest_of("fit", "contact")
    folder = cache / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    make_folder(folder)
    if not (folder / _DONE).is_file():
        with hold_lock(folder / "lock", _TAKEN):
            _make(folder, photos, config, learned, progress)
    return _load(folder, photos)


def _make(folder: Path, photos: Sequence[Path], config: ImbalanceConfig, learned: Learned, progress: Progress) -> None:
    """Candidates of all puzzles, the draw, the pictures and, last, the file that says that all is there."""
    tables = []
    for number, photo in enumerate(photos):
        tables.append(_table(folder / f"candidates_{number:04d}.npz", photo, number, config, learned))
        progress("candidates", number + 1, len(photos))
    chosen = _choose(tables, config)
    write_part(folder / _ROWS, _put_into_pictures(folder, photos, tables, chosen, config, learned, progress))
    counts = {"candidates": sum(len(t["right"]) for t in tables), "right": sum(int(t["right"].sum()) for t in tables)}
    write_text(folder / _DONE, json.dumps(counts) + "\n")


def _load(folder: Path, photos: Sequence[Path]) -> Drawn:
    rows = read_part(folder / _ROWS, ("rois", "right", "puzzle", "held_out", "counts", "fit"))
    if rows is None:
        raise InputError(f"{folder} is damaged; remove it, and the examples are made again.")
    n = len(rows["right"])
    examples = Examples(
        pictures=np.load(folder / _PICTURES, mmap_mode="r"), rois=rows["rois"], bands=np.zeros((n, 0, 0, 5), np.uint8),
        features=np.zeros((n, 0), np.float32), fit=rows["fit"], right=rows["right"], puzzle=rows["puzzle"],
        held_out=rows["held_out"], case=("all of Zhang's candidates",) * len(photos), photos=tuple(p.name for p in photos),
    )  # fmt: skip
    return Drawn(examples, rows["counts"], **json.loads((folder / _DONE).read_text(encoding="utf-8")))


def _cut(photo: Path, number: int, config: ImbalanceConfig) -> tuple[Puzzle, Assembly]:
    """Puzzle ``number``: its size is drawn first, then its cuts."""
    rng = np.random.default_rng([config.seed, number])
    pieces = int(rng.choice(config.sizes, p=config.shares))
    return shred_images([read_image(photo)[..., :3]], ShredConfig(pieces=pieces), rng)


def _table(path: Path, photo: Path, number: int, config: ImbalanceConfig, learned: Learned) -> Columns:
    """The candidates of one puzzle that are looked at, labelled."""
    table = read_part(path, _COLUMNS)
    if table is None:
        rows, right = all_candidates(*_cut(photo, number, config), learned, config.matches_per_pair)
        kept = np.random.default_rng([config.seed, number, _KEEPING]).random(len(rows)) < config.kept
        table = {name: (right if name == "right" else getattr(rows, name))[kept] for name in _COLUMNS}
        write_part(path, table)
    return table


def _choose(tables: Sequence[Columns], config: ImbalanceConfig) -> list[tuple[IntArray, IntArray]]:
    """Rows of each table that are drawn, and how often; of held-out puzzles 0 times."""
    counts = [np.zeros(len(table["right"]), np.int64) for table in tables]
    held = [number % HOLD_OUT_EVERY == HOLD_OUT_EVERY - 1 for number in range(len(tables))]
    if not any(held):
        raise InputError(f"None of the puzzles is held out; give at least {HOLD_OUT_EVERY} photographs.")
    taken = [count > 0 for count in counts]
    even = dataclasses.replace(config.sampling, oversample=1, keep=1.0)
    for own, sampling in ((False, config.sampling), (True, even)):
        numbers = [number for number in range(len(tables)) if held[number] == own]
        right = np.concatenate([tables[number]["right"] for number in numbers])
        rng = np.random.default_rng([config.seed, len(tables), _VALIDATION if own else _SAMPLING])
        rows = sample_rows(right, sampling, rng)
        if own and len(rows) > config.validation:
            rows = rng.choice(rows, config.validation, replace=False)
        drawn = np.bincount(rows, minlength=len(right))
        for number, part in zip(numbers, np.split(drawn, np.cumsum([len(taken[k]) for k in numbers])[:-1]), strict=True):
            taken[number] = part > 0
            counts[number] = part * (not own)
    return [(np.flatnonzero(t), c[t].astype(np.int64)) for t, c in zip(taken, counts, strict=True)]


def _put_into_pictures(
    folder: Path, photos: Sequence[Path], tables: Sequence[Columns], chosen: Sequence[tuple[IntArray, IntArray]],
    config: ImbalanceConfig, learned: Learned, progress: Progress,
) -> Columns:  # fmt: skip
    """Write the pictures of all chosen rows, puzzle by puzzle, and give the other columns."""
    size = config.picture
    shape = (sum(len(rows) for rows, _ in chosen), size.height, size.width, 3)
    pictures = np.lib.format.open_memmap(folder / _PICTURES, "w+", np.uint8, shape)
    rois, start = np.zeros((len(pictures), 4), np.float32), 0
    for number, (photo, table, (rows, _)) in enumerate(zip(photos, tables, chosen, strict=True)):
        if len(rows):
            views = _views(_cut(photo, number, config)[0], {name: table[name][rows] for name in _COLUMNS}, learned)
            for block in range(0, len(rows), 256):
                part = slice(start + block, start + min(block + 256, len(rows)))
                pictures[part], rois[part] = views.pictures(slice(block, block + 256), size)
        start += len(rows)
        progress("pictures", number + 1, len(photos))
    pictures.flush()
    lengths = [len(rows) for rows, _ in chosen]
    held = [number % HOLD_OUT_EVERY == HOLD_OUT_EVERY - 1 for number in range(len(photos))]
    return {
        "rois": rois,
        "right": np.concatenate([table["right"][rows] for table, (rows, _) in zip(tables, chosen, strict=True)]),
        "fit": np.concatenate([table["fit"][rows] for table, (rows, _) in zip(tables, chosen, strict=True)]).astype(np.float32),
        "puzzle": np.repeat(np.arange(len(photos), dtype=np.int32), lengths),
        "held_out": np.repeat(held, lengths),
        "counts": np.concatenate([counts for _, counts in chosen]),
    }


def _views(puzzle: Puzzle, table: Columns, learned: Learned) -> SeamViews:
    pixels, borders = look(puzzle, learned)
    return SeamViews(pixels, borders, Candidates.make(table["i"], table["j"], table["pose"], gap_px=table["gap_px"]))
