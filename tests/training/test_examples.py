"""Training data: labelled by the truth, the same each time, made once, and going on after an interruption."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.io.images import write_png
from jigsawnet.learned import load_learned
from jigsawnet.shred import PRESETS, Damage, ShredConfig
from jigsawnet.shred.documents import Typefaces
from jigsawnet.training import examples as module
from jigsawnet.training.examples import Examples, ExamplesConfig, make_examples, usable_photos
from jigsawnet.types import UInt8Array

CONFIG = ExamplesConfig(puzzles=3, largest=4, matchers=("dense",), wrong_per_puzzle=6)


@pytest.fixture(scope="module")
def photos(picture: UInt8Array, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pictures to cut."""
    folder = tmp_path_factory.mktemp("photos")
    write_png(folder / "a.png", picture)
    write_png(folder / "b.png", np.ascontiguousarray(picture[::-1, :, ::-1]))
    return folder


@pytest.fixture(scope="module")
def made(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Examples, Path]:
    """Examples and the folder that keeps them."""
    cache = tmp_path_factory.mktemp("cache")
    return make_examples(usable_photos(photos)[0], CONFIG, load_learned(), cache), cache


def test_every_column_has_a_row_per_candidate(made: tuple[Examples, Path]) -> None:
    examples, _ = made
    n = len(examples)
    assert examples.pictures.shape == (n, 64, 160, 3)
    assert examples.bands.shape == (n, 32, 128, 10)
    assert examples.images("seam").shape == (n, 32, 128, 5)
    assert examples.images("printed") is not examples.pictures
    assert examples.images("printed").shape == (n, 32, 128, 10)
    assert examples.rois.shape == (n, 4)
    assert examples.features.shape == (n, 77)
    assert len(examples.fit) == len(examples.puzzle) == len(examples.held_out) == n
    assert sorted(set(examples.puzzle.tolist())) == [0, 1, 2]


def test_right_and_wrong_candidates_are_there_and_differ(made: tuple[Examples, Path]) -> None:
    examples, _ = made
    assert 4 <= examples.right.sum() < len(examples)
    assert (~examples.right).sum() <= 3 * CONFIG.wrong_per_puzzle
    assert examples.fit[examples.right].mean() > examples.fit[~examples.right].mean() + 0.3


def test_one_photo_is_held_out_and_its_puzzles_are_not_trained_on(made: tuple[Examples, Path]) -> None:
    examples, _ = made
    assert [bool(examples.held_out[examples.puzzle == k][0]) for k in range(3)] == [False, True, False]


def test_what_is_kept_is_used_again_and_a_broken_part_is_made_anew(
    made: tuple[Examples, Path], photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples, cache = made
    parts = sorted(cache.glob("*/puzzle_*.npz"))
    parts[1].write_bytes(parts[1].read_bytes()[:1000])
    made_again = []
    monkeypatch.setattr(module, "_make_part", lambda *job, make=module._make_part: made_again.append(job) or make(*job))
    again = make_examples(usable_photos(photos)[0], CONFIG, load_learned(), cache)
    assert len(made_again) == 1
    assert again.digest() == examples.digest()


def test_more_puzzles_add_to_the_same_folder(made: tuple[Examples, Path], photos: Path) -> None:
    examples, cache = made
    fewer = make_examples(
        usable_photos(photos)[0],
        ExamplesConfig(puzzles=2, largest=4, matchers=("dense",), wrong_per_puzzle=6),
        load_learned(),
        cache,
    )
    assert len(list(cache.iterdir())) == 1
    assert len(fewer) < len(examples)
    assert (fewer.bands == examples.bands[: len(fewer)]).all()


def test_a_folder_with_one_good_picture_is_refused(picture: UInt8Array, tmp_path: Path) -> None:
    write_png(tmp_path / "good.png", picture)
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    with pytest.raises(InputError, match="1 usable picture and 1 broken"):
        usable_photos(tmp_path)


def test_a_broken_picture_among_good_ones_is_passed_over(photos: Path, picture: UInt8Array, tmp_path: Path) -> None:
    for name in ("a.png", "c.png"):
        write_png(tmp_path / name, picture)
    (tmp_path / "b.png").write_bytes(b"\x89PNG but no more")
    usable, notes = usable_photos(tmp_path)
    assert [path.name for path in usable] == ["a.png", "c.png"]
    assert notes == ["b.png cannot be read as a picture and was left out."]
    made = make_examples(usable, ExamplesConfig(puzzles=2, largest=4, matchers=("dense",)), load_learned(), tmp_path / "cache")
    assert made.photos == ("a.png", "c.png")


@pytest.mark.parametrize(
    "bad",
    [
        {"puzzles": 1},
        {"matchers": ()},
        {"wrong_per_puzzle": -1},
        {"largest": 2},
        {"presets": 1.5},
        {"presets": -0.1},
        {"pages": 1.5},
    ],
)
def test_options_out_of_range_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        ExamplesConfig(**bad)


def test_a_part_of_the_puzzles_is_damaged_as_the_world_does_it() -> None:
    photos = [Path(f"{k}.jpg") for k in range(10)]
    plain, world, some = (module._plan(photos, ExamplesConfig(puzzles=40, presets=share)) for share in (0.0, 1.0, 0.5))
    assert not any(job.shred.damage.changed() for job in plain)
    assert all(job.shred.damage.changed() for job in world)
    assert 5 < sum(bool(job.shred.damage.changed()) for job in some) < 35
    assert {name for name in PRESETS if any(name in str(job) for job in world)} == set(PRESETS) - {"strip-cut", "cross-cut"}
    assert all(job.photo is None for job in world if "torn-page" in str(job))
    again = module._plan(photos, ExamplesConfig(puzzles=40, presets=1.0))
    assert [job.shred for job in again] == [job.shred for job in world]


def test_all_puzzles_may_be_pages_most_of_them_torn() -> None:
    photos = [Path(f"{k}.jpg") for k in range(10)]
    jobs = module._plan(photos, ExamplesConfig(puzzles=60, presets=1.0, pages=1.0))
    assert all(job.document and job.photo is None for job in jobs)
    assert 25 < sum("torn-page" in job.name for job in jobs) < 48
    assert not any("fresco" in job.name for job in jobs)
    picture = module._picture(jobs[0], Typefaces({}), np.random.default_rng(0))
    assert picture.shape[0] > picture.shape[1] > 600, "an upright sheet"


def test_how_far_apart_neighbours_may_lie_grows_with_what_was_lost() -> None:
    assert module.gap_of(ShredConfig()) == pytest.approx(2.5 + ShredConfig().gap_px)
    lost = module.gap_of(ShredConfig(damage=Damage(loss_px=10.0)))
    assert lost == pytest.approx(module.gap_of(ShredConfig()) + 12.0)
    assert module.gap_of(ShredConfig(damage=Damage(crumble_px=10.0))) == pytest.approx(module.gap_of(ShredConfig()) + 6.0)
    assert module.gap_of(ShredConfig(damage=Damage(loss_px=90.0))) == 25.0
