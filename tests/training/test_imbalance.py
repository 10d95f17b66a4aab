"""Examples in the paper's proportions: all candidates of Zhang's matcher, drawn by the paper's sampling, made again alike."""

from __future__ import annotations

import dataclasses
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.io.images import write_png
from jigsawnet.learned import load_learned
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet.score.views import SeamViews
from jigsawnet.training import imbalance
from jigsawnet.training.config import SamplingConfig
from jigsawnet.training.imbalance import Drawn, ImbalanceConfig, all_candidates, draw_examples
from jigsawnet.training.solving import find, look
from jigsawnet.types import Assembly, Puzzle, UInt8Array

CONFIG = ImbalanceConfig(
    sizes=(4, 6), shares=(0.5, 0.5), matches_per_pair=4, kept=0.8, sampling=SamplingConfig(oversample=4),
    validation=7, picture=PictureConfig(width=32, height=32),
)  # fmt: skip


@pytest.fixture(scope="module")
def photos(picture: UInt8Array, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Eight pictures, the last of which is held out."""
    folder = tmp_path_factory.mktemp("photos")
    for k in range(8):
        write_png(folder / f"{k}.png", np.ascontiguousarray(np.roll(picture, 37 * k, axis=1)))
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def made(photos: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Drawn, Path]:
    cache = tmp_path_factory.mktemp("cache")
    return draw_examples(photos, CONFIG, load_learned(), cache), cache


def test_all_candidates_are_there_and_not_some_for_each_piece(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    few, _ = all_candidates(puzzle, truth, load_learned(), 1)
    rows, right = all_candidates(puzzle, truth, load_learned(), 12)
    assert Counter(zip(few.i.tolist(), few.j.tolist(), strict=True)).most_common(1)[0][1] == 1
    assert len(rows) > 3 * len(few), "a pair has several candidates"
    assert right.tolist() == right_candidates(puzzle, rows, truth, gap_px=2.5).tolist()
    assert 0 < right.mean() < 0.5


def test_a_piece_has_more_candidates_than_the_matcher_keeps_for_it(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    rows, _ = all_candidates(*nine_pieces, load_learned(), 12)
    assert np.bincount(np.concatenate([rows.i, rows.j])).max() > imbalance.MatchConfig().per_piece


def test_sampling_brings_right_and_wrong_ones_into_proportion(made: tuple[Drawn, Path]) -> None:
    drawn, _ = made
    examples, rows = drawn.examples, drawn.rows
    assert 0.27 < examples.right[rows].mean() < 0.33
    assert drawn.right / drawn.candidates < 0.27, "there was something to balance"
    assert len(rows) == drawn.counts.sum()
    assert drawn.counts[~examples.right].max() == 1, "wrong ones are thinned out, not repeated"
    assert 1 < drawn.counts[examples.right].max() <= 4


def test_the_held_out_photograph_is_watched_and_not_trained_on(made: tuple[Drawn, Path]) -> None:
    examples = made[0].examples
    assert examples.held_out.tolist() == (examples.puzzle == 7).tolist()
    assert examples.held_out.sum() == CONFIG.validation
    assert made[0].counts.tolist() == pytest.approx(np.where(examples.held_out, 0, made[0].counts).tolist())
    assert (made[0].counts[~examples.held_out] > 0).all(), "only what was drawn is put into pictures"


def test_pictures_and_labels_are_those_of_the_candidates(made: tuple[Drawn, Path], photos: list[Path]) -> None:
    drawn, cache = made
    (folder,) = cache.iterdir()
    table = np.load(folder / "candidates_0002.npz")
    puzzle, truth = imbalance._cut(photos[2], 2, CONFIG)
    pixels, borders = look(puzzle, load_learned())
    _, rows = find(puzzle, load_learned(), "zhang", imbalance.MatchConfig(zhang=imbalance.ZhangConfig(matches_per_pair=4)))
    right, views = right_candidates(puzzle, rows, truth, gap_px=2.5), SeamViews(pixels, borders, rows)
    labels: dict[bytes, set[bool]] = {}
    for k in range(len(rows)):
        labels.setdefault(views.pictures(slice(k, k + 1), CONFIG.picture)[0].tobytes(), set()).add(bool(right[k]))
    own = drawn.examples.puzzle == 2
    assert len(set(drawn.examples.right[own].tolist())) == 2
    for picture, label in zip(drawn.examples.pictures[own], drawn.examples.right[own].tolist(), strict=True):
        assert label in labels[picture.tobytes()]
    assert 0.5 * len(rows) < len(table["right"]) < len(rows), "some candidates are left out by chance"


def test_they_are_made_once_and_again_alike(made: tuple[Drawn, Path], photos: list[Path], tmp_path: Path) -> None:
    drawn, cache = made
    kept = {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}
    draw_examples(photos, CONFIG, load_learned(), cache)
    assert kept == {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}
    other = Path(shutil.copytree(cache, tmp_path / "stopped"))
    for path in [*other.rglob("done.json"), *other.rglob("candidates_0003.npz")]:  # stopped half-way
        path.unlink()
    again = draw_examples(photos, CONFIG, load_learned(), other)
    assert again.counts.tolist() == drawn.counts.tolist()
    assert (np.asarray(again.examples.pictures) == np.asarray(drawn.examples.pictures)).all()
    assert (again.candidates, again.right) == (drawn.candidates, drawn.right)


def test_what_cannot_be_drawn_is_refused(photos: list[Path], made: tuple[Drawn, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 8 photographs"):
        draw_examples(photos[:3], CONFIG, load_learned(), tmp_path)
    damaged = Path(shutil.copytree(made[1], tmp_path / "damaged"))
    next(damaged.rglob("rows.npz")).write_bytes(b"")
    with pytest.raises(InputError, match="is damaged"):
        draw_examples(photos, CONFIG, load_learned(), damaged)
    for wrong in ({"sizes": ()}, {"shares": (0.5, 0.6)}, {"sizes": (3, 6)}, {"kept": 0.0}, {"validation": 0}):
        with pytest.raises(ConfigError):
            dataclasses.replace(CONFIG, **wrong)
