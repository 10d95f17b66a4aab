"""Examples in, a folder with weights, curves and a model card out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.io.files import write_bytes
from jigsawnet.training.card import describe_examples, model_card
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.curves import write_curves, write_history
from jigsawnet.training.examples import Examples, ExamplesConfig
from jigsawnet.training.export import write_weights
from jigsawnet.training.train import Trained, train
from jigsawnet.types import Progress, no_progress

NETWORKS_FOLDER = "networks"
CARD_FILE = "model-card.md"
_COMPARED = 256
"""Held-out examples on which the weights in the file are compared with the trained ones."""


def train_and_write(
    examples: Examples, examples_config: ExamplesConfig, config: TrainConfig, folder: Path, progress: Progress = no_progress
) -> Trained:
    """Train on ``examples`` and write the run's folder; an interrupted run goes on when it is started again.

    Raises:
        InputError: the examples lack right joins, wrong joins or held-out puzzles.
        ModelError: ``folder`` holds a run with other options or photos.
        OutputError: ``folder`` cannot be written.
    """
    trained = train(examples, config, folder / NETWORKS_FOLDER, progress)
    write_run(folder, examples, examples_config, trained, config)
    return trained


def write_run(folder: Path, examples: Examples, examples_config: ExamplesConfig, trained: Trained, config: TrainConfig) -> Path:
    """Write history, curves, model card and, last, the weights; gives the path of their manifest."""
    name = config.network
    data = describe_examples(examples, trained.rows)
    learners = list(zip(trained.errors, trained.alphas, trained.scores, strict=True))
    cases = [examples.case[k] for k in sorted(set(examples.puzzle[examples.held_out].tolist()))]
    write_history(folder, trained.history)
    write_curves(folder / "curves.png", trained.history, f"{name}: training and held-out puzzles")
    card = model_card(name, config, data, learners, trained.ensemble, trained.seconds, cases)
    write_bytes(folder / CARD_FILE, card.encode())
    about: dict[str, Any] = {
        "network": name,
        "reject_below": trained.reject_below,
        "training": _record(data, examples_config, trained, config),
    }
    if name == "jigsawnet":
        about["picture"] = asdict(examples_config.picture)
    rows = np.flatnonzero(examples.held_out)[:_COMPARED]
    if name == "jigsawnet":
        samples: dict[str, NDArray[Any]] = {"picture": examples.pictures[rows], "roi": examples.rois[rows]}
    else:
        samples = {"band": examples.bands[rows]}
    return write_weights(folder, name, trained.networks, trained.alphas, samples, about)


def _record(data: dict[str, Any], examples_config: ExamplesConfig, trained: Trained, config: TrainConfig) -> dict[str, Any]:
    return {
        "options": asdict(config),
        "examples": asdict(examples_config),
        "data": data,
        "hours": round(trained.seconds / 3600, 3),
        "errors": list(trained.errors),
        "held_out": {
            "networks": [asdict(scores) for scores in trained.scores],
            "ensemble": asdict(trained.ensemble),
        },
    }
