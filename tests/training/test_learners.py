"""A boosted series whose networks are small files: it stops after any of them and goes on to the same result."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")


from jigsawnet.errors import ModelError
from jigsawnet.learned import read_network
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet.training import boosting
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.examples import Examples
from jigsawnet.training.imbalance import Drawn
from jigsawnet.training.learners import Series, answers, go_on, learner_name
from jigsawnet.training.loop import History, Task, train_learner

PICTURE = PictureConfig(width=32, height=32)
CONFIG = TrainConfig(learners=3, steps=3, batch=8, learning_rate=1e-2, validate_every=3, checkpoint_every=2, threads=1)


@pytest.fixture(scope="module")
def drawn(examples: Examples) -> Drawn:
    """96 candidates, one in eight labelled wrongly, so that there are errors; right ones are drawn three times, and every
    seventh wrong one not at all."""
    examples = replace(examples, right=examples.right ^ (np.arange(len(examples)) % 8 == 3))
    counts = np.where(examples.right, 3, (np.arange(len(examples)) % 7 > 0).astype(np.int64))
    return Drawn(examples, np.where(examples.held_out, 0, counts), 4000, 80)


@pytest.fixture(scope="module")
def whole(drawn: Drawn, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Series]:
    folder = tmp_path_factory.mktemp("whole")
    return folder / "kept", go_on(folder / "kept", drawn, PICTURE, CONFIG, folder / "work")


def test_the_say_of_each_network_follows_from_the_answers_of_the_files(whole: tuple[Path, Series], drawn: Drawn) -> None:
    folder, series = whole
    used = np.flatnonzero(drawn.counts)
    weights, right = drawn.counts[used] / drawn.counts.sum(), drawn.examples.right[used]
    for number, (error, alpha) in enumerate(zip(series.errors, series.alphas, strict=True)):
        session = onnxruntime.InferenceSession(folder / f"{learner_name(CONFIG, number)}.onnx")
        inputs = {"picture": np.asarray(drawn.examples.pictures[used]), "roi": drawn.examples.rois[used]}
        wrong = (session.run(None, inputs)[0] >= 0.5) != right
        assert error == pytest.approx(weights[wrong].sum())
        assert alpha == pytest.approx(boosting.learner_weight(error))
        weights = weights * np.exp(np.where(wrong, alpha, -alpha))
        weights /= weights.sum()


def test_each_network_starts_afresh_and_the_misjudged_get_half_of_the_weight_in_its_loss(
    drawn: Drawn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Repetitions of an example share its weight, so at first all rows weigh the same."""
    seen: list[tuple[np.ndarray, Task]] = []

    def watch(network: Any, task: Task, *rest: Any) -> History:
        seen.append((next(network.parameters()).detach().numpy().copy(), task))
        return train_learner(network, task, *rest)

    monkeypatch.setattr("jigsawnet.training.learners.train_learner", watch)
    series = go_on(tmp_path / "kept", drawn, PICTURE, replace(CONFIG, learners=2), tmp_path / "work")
    (first, one), (second, two) = seen
    assert not np.array_equal(first, second)
    assert one.weights == pytest.approx(np.ones(len(drawn.rows)), rel=1e-5)
    assert 0 < series.errors[0] < 0.5
    said = answers(series.learners[0], drawn, drawn.rows, tmp_path / "work")
    wrong = boosting.decide(said) != drawn.examples.right[drawn.rows]
    assert two.weights[wrong].sum() == pytest.approx(0.5 * len(drawn.rows), rel=1e-4)
    assert two.weights.sum() == pytest.approx(len(drawn.rows), rel=1e-4)


def test_a_series_goes_on_from_its_files_alone(whole: tuple[Path, Series], drawn: Drawn, tmp_path: Path) -> None:
    folder, series = whole
    copy = tmp_path / "clone"
    copy.mkdir()
    for number in (1, 2):  # what was committed after two networks
        for path in folder.glob(f"*-{number}.*"):
            shutil.copy(path, copy)
    again = go_on(copy, drawn, PICTURE, CONFIG, tmp_path / "work")
    assert [each.digest for each in again.learners] == [each.digest for each in series.learners]
    assert again.alphas == series.alphas
    assert (copy / "roi-paper.json").read_bytes() == (folder / "roi-paper.json").read_bytes()


def test_all_series_share_their_first_network_and_differ_after_it(
    whole: tuple[Path, Series], drawn: Drawn, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(whole[0], tmp_path / "kept"))
    series = {
        rule: go_on(folder, drawn, PICTURE, replace(CONFIG, learners=2, rule=rule), tmp_path / "work")
        for rule in ("paper", "code", "none")
    }
    firsts = {each.learners[0].name for each in series.values()}
    assert firsts == {"roi-plain-1"}
    assert len({each.learners[1].digest for each in series.values()}) == 3
    assert series["none"].alphas == (1.0, 1.0)
    names = {path.name for path in folder.glob("*.onnx")}
    assert names == {f"roi-{name}.onnx" for name in ("plain-1", "plain-2", "paper-2", "paper-3", "code-2")}


def test_half_the_precision_is_another_network_and_its_record_says_so(
    whole: tuple[Path, Series], drawn: Drawn, tmp_path: Path
) -> None:
    config = replace(CONFIG, learners=1, precision="bfloat16")
    half, full = go_on(tmp_path, drawn, PICTURE, config, tmp_path / "work").learners[0], whole[1].learners[0]
    assert half.digest != full.digest
    assert [each.record["options"]["precision"] for each in (half, full)] == ["bfloat16", "float32"]
    manifest = json.loads((tmp_path / "roi-paper.json").read_text(encoding="utf-8"))
    assert manifest["training"]["options"]["precision"] == "bfloat16"


def test_a_detector_loads_a_series(whole: tuple[Path, Series]) -> None:
    weights = read_network(whole[0] / "roi-paper.json").load()
    assert len(weights.sessions) == 3
    assert weights.alphas == whole[1].alphas
    assert weights.manifest["picture"] == {"width": 32, "height": 32, "upright": True}


def test_networks_without_roi_have_files_of_their_own(drawn: Drawn, tmp_path: Path) -> None:
    series = go_on(tmp_path, drawn, PICTURE, replace(CONFIG, roi=False, learners=1), tmp_path / "work")
    assert [each.name for each in series.learners] == ["pool-plain-1"]
    assert "roi" not in {node.name for node in series.learners[0].session().get_inputs()}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"options": {"batch": 9}}, "batch = 9, not 8"),
        ({"options": {"precision": "bfloat16"}}, "precision = bfloat16, not float32"),
        ({"after": ["x"]}, "after other networks"),
        ({"data": {"candidates": 4100, "right": 80, "examples": 96, "rows": 0}}, "4100 candidates, not 4000"),
        ({"sha256": ""}, "damaged"),
    ],
)
def test_what_belongs_to_another_experiment_is_refused(
    whole: tuple[Path, Series], drawn: Drawn, tmp_path: Path, changed: dict[str, object], said: str
) -> None:
    folder = Path(shutil.copytree(whole[0], tmp_path / "kept"))
    path = folder / "roi-paper-2.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changed}), encoding="utf-8")
    with pytest.raises(ModelError, match=said):
        go_on(folder, drawn, PICTURE, CONFIG, tmp_path / "work")


def test_a_network_that_is_trained_anew_makes_those_after_it_void(
    whole: tuple[Path, Series], drawn: Drawn, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(whole[0], tmp_path / "kept"))
    other = replace(drawn, examples=replace(drawn.examples, pictures=255 - drawn.examples.pictures))
    for path in folder.glob("roi-plain-1.*"):
        path.unlink()
    with pytest.raises(ModelError, match="after other networks"):
        go_on(folder, other, PICTURE, CONFIG, tmp_path / "work")
