from __future__ import annotations

import csv
import importlib.util
import json
from pathlib import Path

import cv2
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from jigsawnet.cli import train as command
from jigsawnet.cli.train import Train
from jigsawnet.errors import InputError
from jigsawnet.score.weights import load_weights
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.examples import Examples

TINY = TrainConfig(network="seam", learners=2, steps=4, batch=8, validate_every=2, checkpoint_every=2, threads=1)


def _photos(folder: Path, good: int, broken: int = 0) -> Path:
    folder.mkdir()
    rng = np.random.default_rng(0)
    for k in range(good):
        cv2.imwrite(str(folder / f"photo{k}.png"), rng.integers(0, 255, (40, 50, 3), dtype=np.uint8))
    for k in range(broken):
        (folder / f"broken{k}.jpg").write_bytes(b"not a picture")
    return folder


def test_a_run_leaves_weights_curves_history_and_a_card(
    examples: Examples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "make_examples", lambda *_: examples)
    photos = _photos(tmp_path / "photos", 0, broken=1)
    assert Train(photos, tmp_path / "run", TINY).run() == 0
    assert len(load_weights("seam", tmp_path / "run").sessions) == 2
    shown = capsys.readouterr()
    assert "broken0.jpg cannot be read as a picture and was left out." in shown.err
    assert "2 x seam trained" in shown.out
    picture = cv2.imread(str(tmp_path / "run" / "curves.png"))
    assert picture is not None
    assert picture.std() > 5
    rows = list(csv.DictReader((tmp_path / "run" / "history.csv").read_text().splitlines()))
    assert [(row["learner"], row["step"]) for row in rows] == [("0", "2"), ("0", "4"), ("1", "2"), ("1", "4")]
    assert len(json.loads((tmp_path / "run" / "history.json").read_text())) == 4
    card = (tmp_path / "run" / "model-card.md").read_text()
    for fact in ("| photos | 2 |", "| puzzles | 8 |", f"| held-out candidates | {examples.held_out.sum()} |", "| all |"):
        assert fact in card
    manifest = json.loads((tmp_path / "run" / "seam.json").read_text())
    assert manifest["training"]["options"]["steps"] == 4


@pytest.mark.parametrize(("good", "broken"), [(0, 0), (1, 0), (1, 2)])
def test_too_few_photographs_are_refused(tmp_path: Path, good: int, broken: int) -> None:
    photos = _photos(tmp_path / "photos", good, broken)
    with pytest.raises(InputError, match="at least two photographs"):
        Train(photos, tmp_path / "run", TINY).run()


def test_without_pytorch_one_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "torch" else found(name))
    with pytest.raises(InputError, match=r"^Training needs PyTorch: pip install 'jigsawnet\[train\]'\.$"):
        Train(tmp_path, tmp_path / "run").run()
