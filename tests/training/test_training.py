from __future__ import annotations

import dataclasses
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from jigsawnet.errors import ConfigError, InputError, ModelError  # noqa: E402
from jigsawnet.training.config import AugmentConfig, TrainConfig  # noqa: E402
from jigsawnet.training.examples import Examples  # noqa: E402
from jigsawnet.training.loop import Task, learning_rate, train_learner  # noqa: E402
from jigsawnet.training.network import SeamNet  # noqa: E402
from jigsawnet.training.train import Trained, train  # noqa: E402

CONFIG = TrainConfig(
    network="seam", learners=2, steps=10, batch=8, learning_rate=1e-3, schedule="cosine", warm_up=2, threads=1,
    validate_every=5, checkpoint_every=3, augment=AugmentConfig(flips=True, jitter=0.1, noise=0.02),
)  # fmt: skip


class InterruptedRunError(Exception):
    pass


def _same(first: Trained, second: Trained) -> bool:
    pairs = zip(first.networks, second.networks, strict=True)
    return all(
        torch.equal(value, b.state_dict()[name]) for a, b in pairs for name, value in a.state_dict().items()
    ) and _without_seconds(first) == _without_seconds(second)


def _without_seconds(trained: Trained) -> list[dict[str, float]]:
    return [{key: value for key, value in row.items() if key != "seconds"} for row in trained.history]


@pytest.fixture(scope="module")
def undisturbed(examples: Examples, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(examples, CONFIG, tmp_path_factory.mktemp("run"))


def test_it_learns_what_can_be_learned(examples: Examples, undisturbed: Trained) -> None:
    assert undisturbed.scores[0].average_precision > 0.9
    first, last = undisturbed.history[0], undisturbed.history[1]
    assert (first["step"], last["step"]) == (5, 10)
    assert last["loss"] < first["loss"]
    assert len(undisturbed.alphas) == 2


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_only_the_layers_are_computed_in_the_precision_that_is_asked_for(
    examples: Examples, tmp_path: Path, precision: str
) -> None:
    """In training; the weights stay in float32, and so does what is measured on held-out puzzles."""
    network = SeamNet()
    seen: set[tuple[bool, torch.dtype]] = set()
    network.tower[0].register_forward_hook(lambda module, given, out: seen.add((module.training, out.dtype)))
    config = dataclasses.replace(CONFIG, steps=2, precision=precision)
    task = Task(examples, np.arange(16), np.ones(16, np.float32), np.arange(4), 0)
    history = train_learner(network, task, config, tmp_path, {})
    assert seen == {(True, getattr(torch, precision)), (False, torch.float32)}
    assert {parameter.dtype for parameter in network.parameters()} == {torch.float32}
    assert np.isfinite(history[-1]["loss"])


def test_half_the_precision_learns_the_same_and_ends_the_same_when_interrupted(
    examples: Examples, undisturbed: Trained, tmp_path: Path
) -> None:
    def interrupt(now: str, count: int, total: int) -> None:
        if (now, count) == ("network 1", 7):
            raise InterruptedRunError

    config = dataclasses.replace(CONFIG, learners=1, precision="bfloat16")
    whole = train(examples, config, tmp_path / "whole")
    with pytest.raises(InterruptedRunError):
        train(examples, config, tmp_path / "parts", interrupt)
    assert _same(train(examples, config, tmp_path / "parts"), whole)
    assert whole.history[-1]["loss"] == pytest.approx(undisturbed.history[1]["loss"], rel=0.05)
    assert whole.history[-1]["loss"] != undisturbed.history[1]["loss"]


@pytest.mark.parametrize(("stage", "done"), [("network 1", 2), ("network 1", 7), ("weighing", 1), ("network 2", 9)])
def test_an_interrupted_run_ends_the_same(
    examples: Examples, undisturbed: Trained, tmp_path: Path, stage: str, done: int
) -> None:
    def interrupt(now: str, count: int, total: int) -> None:
        if now == stage and count >= done:
            raise InterruptedRunError

    with pytest.raises(InterruptedRunError):
        train(examples, CONFIG, tmp_path, interrupt)
    assert _same(train(examples, CONFIG, tmp_path), undisturbed)


def test_a_finished_run_is_read_back_and_more_networks_can_be_added(
    examples: Examples, undisturbed: Trained, tmp_path: Path
) -> None:
    train(examples, dataclasses.replace(CONFIG, learners=1), tmp_path)
    stages: set[str] = set()
    assert _same(train(examples, CONFIG, tmp_path, lambda stage, done, total: stages.add(stage)), undisturbed)
    assert "network 1" not in stages


def test_a_folder_of_other_options_or_examples_is_refused(examples: Examples, tmp_path: Path) -> None:
    short = dataclasses.replace(CONFIG, learners=1, steps=2)
    train(examples, short, tmp_path)
    with pytest.raises(ModelError, match="seed = 0, not 1"):
        train(examples, dataclasses.replace(short, seed=1), tmp_path)
    with pytest.raises(ModelError, match="other examples"):
        train(dataclasses.replace(examples, right=~examples.right), short, tmp_path)


def test_a_later_network_starts_afresh_or_from_the_one_before(examples: Examples, tmp_path: Path) -> None:
    tiny = dataclasses.replace(CONFIG, steps=2, later_steps=1, learning_rate=1e-7)
    for warm in (False, True):
        trained = train(examples, dataclasses.replace(tiny, warm_start=warm), tmp_path / str(warm))
        first, second = (network.state_dict()["head.0.weight"] for network in trained.networks)
        assert torch.allclose(first, second, atol=1e-5) is warm
        assert [row["step"] for row in trained.history] == [2, 1]


def test_weighing_a_part_leaves_the_others_alone(examples: Examples, tmp_path: Path) -> None:
    seen = []
    config = dataclasses.replace(CONFIG, steps=1, weigh_at_most=10)
    train(examples, config, tmp_path, lambda stage, done, total: seen.append(total) if stage == "weighing" else None)
    assert seen == [10, 10]


def _taught(examples: Examples, folder: Path, weights: np.ndarray, **options: float) -> tuple[list, list, float]:
    """The parameters of a network before and after some steps on all examples, and its mean loss."""
    torch.manual_seed(3)
    network = SeamNet()
    before = [parameter.detach().clone() for parameter in network.parameters()]
    rows = np.arange(len(examples))
    config = dataclasses.replace(CONFIG, learners=1, augment=AugmentConfig(), **options)
    task = Task(examples, rows, weights.astype(np.float32), rows[:4], 0)
    history = train_learner(network, task, config, folder, {})
    return before, list(network.parameters()), history[-1]["loss"]


def test_what_weighs_nothing_teaches_nothing_and_what_weighs_more_teaches_more(examples: Examples, tmp_path: Path) -> None:
    nothing, once = np.zeros(len(examples)), np.ones(len(examples))
    before, after, loss = _taught(examples, tmp_path / "nothing", nothing, weight_decay=0.0)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert loss == 0.0
    losses = [_taught(examples, tmp_path / str(k), k * once, weight_decay=0.0, steps=1)[2] for k in (1, 3)]
    assert losses[1] == pytest.approx(3 * losses[0])


def test_weight_decay_pulls_the_weights_of_layers_to_zero_and_leaves_the_rest(examples: Examples, tmp_path: Path) -> None:
    """Examples that weigh nothing leave the decay as the only force."""
    before, after, _ = _taught(examples, tmp_path, np.zeros(len(examples)), weight_decay=1e-4)
    for old, new in zip(before, after, strict=True):
        assert torch.equal(old, new) if old.ndim == 1 else (new.norm() < 0.995 * old.norm())


def test_the_options_are_the_papers_unless_others_are_given() -> None:
    paper = TrainConfig()
    assert (paper.network, paper.roi, paper.learners, paper.steps, paper.batch) == ("jigsawnet", True, 5, 30_000, 64)
    assert (paper.learning_rate, paper.schedule, paper.weight_decay) == (1e-4, "constant", 1e-4)
    assert not paper.warm_start
    assert paper.precision == "float32"
    assert (paper.weigh_at_most, paper.later_steps, paper.augment.active) == (0, 0, False)
    assert (paper.sampling.oversample, paper.sampling.keep, paper.sampling.positive_share) == (20, 0.5, 0.3)


def test_the_next_network_is_trained_with_more_weight_on_what_the_one_before_got_wrong(
    examples: Examples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first network is made to say "wrong" of every join; a row drawn k times then starts and stays k rows.

    Half the weight is on the right joins, which it misjudges, after the update; so each weighs ``1 / (2 E)``, each other
    ``1 / (2 (1 - E))``, where E is the share of right joins among the rows.
    """
    tasks: list[Task] = []

    def learn(network: object, task: Task, *rest: object) -> list[dict[str, float]]:
        tasks.append(task)
        return [{"learner": task.learner, "step": 1, "seconds": 0.0}]

    monkeypatch.setattr("jigsawnet.training.train.train_learner", learn)
    monkeypatch.setattr("jigsawnet.training.train.predict", lambda network, given, rows, *rest: np.full(len(rows), 0.1))
    trained = train(examples, CONFIG, tmp_path)
    first, second = tasks
    assert first.weights == pytest.approx(np.ones(len(first.rows)), rel=1e-5)
    right = examples.right[second.rows]
    share = right.mean()
    assert 0 < share < 0.5
    assert trained.errors[0] == pytest.approx(share)
    assert second.weights == pytest.approx(np.where(right, 0.5 / share, 0.5 / (1 - share)), rel=1e-5)


def test_held_out_puzzles_are_not_trained_on(examples: Examples, undisturbed: Trained, tmp_path: Path) -> None:
    """Other pictures and labels there leave the networks as they are, to the bit; only what is said of them changes."""
    assert not examples.held_out[undisturbed.rows].any()
    held = examples.held_out
    bands, right = examples.bands.copy(), np.where(held, ~examples.right, examples.right)
    bands[held] = 255 - bands[held]
    other = train(dataclasses.replace(examples, bands=bands, right=right), CONFIG, tmp_path)
    for one, two in zip(undisturbed.networks, other.networks, strict=True):
        assert all(torch.equal(value, two.state_dict()[name]) for name, value in one.state_dict().items())
    assert other.alphas == undisturbed.alphas
    assert other.scores != undisturbed.scores


def test_without_held_out_puzzles_it_is_refused(examples: Examples, tmp_path: Path) -> None:
    none_held = dataclasses.replace(examples, held_out=np.zeros(len(examples), bool))
    with pytest.raises(InputError, match="held out"):
        train(none_held, CONFIG, tmp_path)


def test_cosine_rises_then_falls_to_nothing() -> None:
    config = TrainConfig(schedule="cosine", learning_rate=0.1, warm_up=10)
    rates = [learning_rate(config, step, 100) for step in range(100)]
    assert rates[0] == pytest.approx(0.01)
    assert max(rates) == pytest.approx(0.1)
    assert rates.index(max(rates)) in (9, 10)
    assert rates[-1] < 1e-4
    assert {learning_rate(TrainConfig(), step, 100) for step in (0, 50, 99)} == {1e-4}


@pytest.mark.parametrize("options", [{"steps": 0}, {"learning_rate": 0.0}, {"weigh_at_most": -1}, {"seed": -1}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        TrainConfig(**options)  # type: ignore[arg-type]


KILLED_RUN = """
import pickle
import sys
from pathlib import Path
from jigsawnet.training.train import train
train(*pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is not on Windows")
def test_killed_at_random_moments_it_ends_the_same(examples: Examples, tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, learners=1, steps=30, checkpoint_every=1, validate_every=15)
    undisturbed = train(examples, config, tmp_path / "whole")
    (tmp_path / "task").write_bytes(pickle.dumps((examples, config)))
    run = tmp_path / "run"
    command = [sys.executable, "-c", KILLED_RUN, str(tmp_path / "task"), str(run)]
    chance = random.Random(0)
    killed = 0
    for _ in range(2):
        before = _checkpoints(run)
        process = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"})
        while process.poll() is None and _checkpoints(run) == before:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed
    assert _same(train(examples, config, run), undisturbed)


def _checkpoints(run: Path) -> set[str]:
    folder = run / "network-1"
    return {path.name for path in folder.glob("*.pt")} if folder.is_dir() else set()
