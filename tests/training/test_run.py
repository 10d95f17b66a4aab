"""The whole training: one folder with everything learned, in the right order, going on after an interruption."""

from __future__ import annotations

import csv
import dataclasses
import importlib.util
import json
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from jigsawnet.cli import train as command
from jigsawnet.cli.train import Train
from jigsawnet.errors import ConfigError, InputError, ModelError
from jigsawnet.io.images import write_png
from jigsawnet.learned import CARD, MANIFEST, PACKAGED, PARTS, load_learned
from jigsawnet.training import fits, run
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.examples import Examples, ExamplesConfig
from jigsawnet.training.fits import FitsConfig
from jigsawnet.training.run import FROM_PHOTOS, Plan, learn
from jigsawnet.types import UInt8Array

TINY = TrainConfig(network="seam", learners=2, steps=4, batch=8, validate_every=2, checkpoint_every=2, threads=1)
FITS = FitsConfig(puzzles=3, largest=9)


@pytest.fixture(scope="module")
def photos(picture: UInt8Array, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    write_png(folder / "a.png", picture)
    write_png(folder / "b.png", np.ascontiguousarray(picture[::-1, :, ::-1]))
    (folder / "broken0.jpg").write_bytes(b"not a picture")
    return folder


@pytest.fixture(scope="module")
def whole(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the whole command has written."""
    out = tmp_path_factory.mktemp("whole") / "run"
    examples = ExamplesConfig(puzzles=2, largest=4, matchers=("dense",))
    assert Train(photos, out, config=TINY, examples=examples, fits=FITS).run() == 0
    return out


def _noise(folder: Path, good: int, broken: int = 0) -> Path:
    folder.mkdir()
    rng = np.random.default_rng(0)
    for k in range(good):
        cv2.imwrite(str(folder / f"photo{k}.png"), rng.integers(0, 255, (40, 50, 3), dtype=np.uint8))
    for k in range(broken):
        (folder / f"broken{k}.jpg").write_bytes(b"not a picture")
    return folder


def test_one_command_writes_everything_learned(whole: Path) -> None:
    learned, shipped = load_learned(whole), load_learned()
    changed = {part for part in PARTS if learned.digest_of(part) != shipped.digest_of(part)}
    assert {"fit", "seam", "combined"} <= changed
    assert "jigsawnet" not in changed
    assert len(learned.network("seam").sessions) == 2
    assert len(learned.network("jigsawnet").sessions) == 3
    assert learned.combined.hopeless == shipped.combined.hopeless
    for name in ("fit", "combined"):
        record = json.loads((whole / f"{name}.json").read_text())["training"]
        assert record["puzzles"] == 3
        assert 0 < record["right"] < record["rows"]
        assert len(record["held_out"]) == 1
        assert str(record["rows"]) in learned.card
    assert "| jigsawnet | the base |" in learned.card
    assert "| fit | this training |" in learned.card


def test_a_second_start_measures_and_trains_nothing_and_ends_the_same(
    whole: Path, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = Path(shutil.copytree(whole, tmp_path / "again"))
    monkeypatch.setattr(fits, "write_part", None)
    monkeypatch.setattr("jigsawnet.training.train.train_learner", None)
    examples = ExamplesConfig(puzzles=2, largest=4, matchers=("dense",))
    assert Train(photos, again, config=TINY, examples=examples, fits=FITS).run() == 0
    assert (again / MANIFEST).read_bytes() == (whole / MANIFEST).read_bytes()


def test_an_interrupted_fit_goes_on_to_the_same_coefficients(whole: Path, photos: Path, tmp_path: Path) -> None:
    class Interrupted(Exception):  # noqa: N818
        pass

    def until(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("seam fit", 2):
            raise Interrupted

    pictures = sorted(photos.glob("*.png"))
    plan = Plan(("fit",), fits=FITS)
    with pytest.raises(Interrupted):
        learn(pictures, plan, load_learned(), tmp_path / "run", until)
    with pytest.raises(ModelError, match="are missing"):
        load_learned(tmp_path / "run")
    assert len(list((tmp_path / "run" / "fits").glob("fit-*.npz"))) == 2
    outcome = learn(pictures, plan, load_learned(), tmp_path / "run")
    assert outcome.learned.fit == load_learned(whole).fit
    assert outcome.learned.combined == load_learned().combined
    assert outcome.trained is None


def test_each_step_is_learned_with_what_those_before_it_gave(
    examples: Examples, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def fit_part(name, pictures, learned, *_):  # type: ignore[no-untyped-def]
        seen.append((name, learned.fit.bias, len(learned.networks["seam"].manifest["files"]), learned.combined.bias))
        found = dataclasses.replace(getattr(learned, name), bias=len(seen) + 0.5)
        content = {**dataclasses.asdict(found)}
        (tmp_path / "run" / f"{name}.json").write_text(json.dumps(content))
        return found, ""

    def make_examples(pictures, config, learned, *_):  # type: ignore[no-untyped-def]
        seen.append(("network", learned.fit.bias, len(learned.networks["seam"].manifest["files"]), learned.combined.bias))
        return examples

    monkeypatch.setattr(run, "fit_part", fit_part)
    monkeypatch.setattr(run, "make_examples", make_examples)
    shipped = load_learned().combined.bias
    outcome = learn(sorted(photos.glob("*.png")), Plan(tuple(reversed(FROM_PHOTOS)), TINY), load_learned(), tmp_path / "run")
    assert seen == [
        ("fit", load_learned().fit.bias, 1, shipped), ("contact", 1.5, 1, shipped), ("network", 1.5, 1, shipped),
        ("combined", 1.5, 2, shipped), ("touching", 1.5, 2, 4.5), ("lines", 1.5, 2, 4.5), ("confidence", 1.5, 2, 4.5),
    ]  # fmt: skip
    fitted = ("fit", "contact", "combined", "touching", "confidence")
    assert [getattr(outcome.learned, name).bias for name in fitted] == [1.5, 2.5, 4.5, 5.5, 7.5]


def test_a_run_leaves_weights_curves_history_and_a_card(
    examples: Examples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "make_examples", lambda *_: examples)
    photos = _noise(tmp_path / "photos", 2, broken=1)
    assert Train(photos, tmp_path / "run", ("network",), config=TINY).run() == 0
    shown = capsys.readouterr()
    assert "broken0.jpg cannot be read as a picture and was left out." in shown.err
    assert "2 x seam trained" in shown.out
    assert MANIFEST in shown.out
    learned = load_learned(tmp_path / "run")
    assert len(learned.network("seam").sessions) == 2
    assert (learned.fit, learned.combined) == (load_learned().fit, load_learned().combined)
    picture = cv2.imread(str(tmp_path / "run" / "curves.png"))
    assert picture is not None
    assert picture.std() > 5
    rows = list(csv.DictReader((tmp_path / "run" / "history.csv").read_text().splitlines()))
    assert [(row["learner"], row["step"]) for row in rows] == [("0", "2"), ("0", "4"), ("1", "2"), ("1", "4")]
    assert len(json.loads((tmp_path / "run" / "history.json").read_text())) == 4
    card = (tmp_path / "run" / CARD).read_text()
    for fact in ("| photos | 2 |", "| puzzles | 8 |", f"| held-out candidates | {examples.held_out.sum()} |", "| all |"):
        assert fact in card
    assert "The puzzles: 1 × clean." in card
    manifest = json.loads((tmp_path / "run" / "seam.json").read_text())
    assert manifest["training"]["options"]["steps"] == 4


def test_the_papers_network_takes_its_place_beside_ours(
    examples: Examples, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "make_examples", lambda *_: examples)
    config = dataclasses.replace(TINY, network="jigsawnet", learners=1)
    assert Train(photos, tmp_path / "run", ("network",), config=config).run() == 0
    learned = load_learned(tmp_path / "run")
    assert len(learned.network("jigsawnet").sessions) == 1
    assert learned.network("jigsawnet").manifest["picture"] == {"width": 160, "height": 64, "upright": True}
    assert [p for p in PARTS if learned.digest_of(p) != load_learned().digest_of(p)] == ["jigsawnet"]


def test_another_training_can_be_the_base(whole: Path, photos: Path, tmp_path: Path) -> None:
    assert Train(photos, tmp_path / "next", (), base=whole).run() == 0
    learned, base = load_learned(tmp_path / "next"), load_learned(whole)
    assert learned.digest == base.digest


def test_what_was_trained_is_not_lost_by_accident(whole: Path, photos: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(whole, tmp_path / "copy"))
    with pytest.raises(ConfigError, match=r"seam\.json is not that of the base and would be lost"):
        Train(photos, copy, ("confidence", "touching", "fit", "contact", "combined"), fits=FITS).run()
    with pytest.raises(ConfigError, match="is the base itself"):
        Train(photos, copy, ("confidence",), base=copy).run()
    assert load_learned(copy).digest == load_learned(whole).digest


@pytest.mark.parametrize(("good", "broken"), [(0, 0), (1, 0), (1, 2)])
def test_too_few_photographs_are_refused(tmp_path: Path, good: int, broken: int) -> None:
    photos = _noise(tmp_path / "photos", good, broken)
    with pytest.raises(InputError, match="at least two photographs"):
        Train(photos, tmp_path / "run", config=TINY).run()


def test_without_pytorch_one_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "torch" else found(name))
    with pytest.raises(InputError, match=r"^Training needs PyTorch: pip install 'jigsawnet\[train\]'\.$"):
        Train(tmp_path, tmp_path / "run").run()


def test_the_base_must_be_whole(tmp_path: Path, photos: Path) -> None:
    base = Path(shutil.copytree(PACKAGED, tmp_path / "base"))
    (base / "jigsawnet-1.onnx").write_bytes(b"damaged")
    with pytest.raises(ModelError, match="is damaged"):
        Train(photos, tmp_path / "run", (), base=base).run()
    assert not (tmp_path / "run" / MANIFEST).exists()
