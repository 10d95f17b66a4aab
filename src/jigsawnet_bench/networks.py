"""The networks of the paper's Table I: with and without RoI, each alone and boosted, from run folders and from the package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet.context import Context
from jigsawnet.errors import FormatError, InputError
from jigsawnet.io.files import read_text
from jigsawnet.learned import load_learned, read_network
from jigsawnet.score.detectors import Detector, load_detector
from jigsawnet.score.views import SeamViews
from jigsawnet.types import BoolArray, FloatArray

NETWORKS = ("Baseline", "Boost", "RoI", "Boost+RoI")
"""As the paper names them: one network or the vote of all, without or with RoI."""
MANIFEST, HISTORY = "jigsawnet", "history.json"
"""What a folder written by ``jigsawnet train`` holds: the weights of the paper's network, and loss and scores by step."""


THRESHOLD = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What one detector makes of C candidates: ``score (C,)`` in [0, 1] ranks them, ``said_right (C,)`` decides."""

    score: FloatArray
    said_right: BoolArray
    learners: int | str = ""
    """Networks that vote."""
    steps: str = ""
    """Batches that each of them was trained on."""
    seconds: float = 0.0
    """Time taken; 0 where it was not measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """Networks that vote, and how they came to be."""

    detector: Detector
    history: Sequence[Mapping[str, float]] = ()
    """Rows with learner, step and loss; none for the networks of the package."""

    @property
    def roi(self) -> bool:
        """True when the networks look at the abutting area."""
        return any(node.name == "roi" for node in self.detector.weights.sessions[0].get_inputs())

    @property
    def names(self) -> tuple[str, str]:
        """Names of the first network alone and of the vote of all."""
        return (NETWORKS[2], NETWORKS[3]) if self.roi else (NETWORKS[0], NETWORKS[1])


def load_ensembles(runs: Sequence[Path]) -> list[Ensemble]:
    """The networks without RoI, if a run has them, and those with RoI, else those of the package; of several the last run.

    Raises:
        InputError: a folder is not a finished run of the paper's network.
        ModelError: weights are missing or damaged.
    """
    found = {}
    for run in runs:
        ensemble = read_run(run)
        found[ensemble.roi] = ensemble
    if True not in found:
        found[True] = Ensemble(load_detector("jigsawnet", load_learned()))
    return [found[roi] for roi in sorted(found)]


def judge(ensemble: Ensemble, views: SeamViews) -> dict[str, Verdict]:
    """What the first network alone, and all together, say about candidates; those whose borders do not meet are wrong.

    All together decide as in the paper, by the sign of the sum of ``alpha`` for each network that says right (probability at
    least 0.5) and ``-alpha`` for each that says wrong; they rank by the mean probability weighted by ``alpha``.
    """
    detector = ensemble.detector
    rows = np.flatnonzero(views.met)
    votes = detector.votes(views, rows, range(detector.learners), Context()).astype(np.float64)
    alphas = np.array(detector.weights.alphas)
    sum_of_votes = np.where(votes >= THRESHOLD, 1.0, -1.0) @ alphas
    steps = training_steps(detector.weights.manifest)

    def verdict(score: FloatArray, said_right: BoolArray, learners: int) -> Verdict:
        all_scores, all_said = np.zeros(len(views)), np.zeros(len(views), dtype=bool)
        all_scores[rows], all_said[rows] = score, said_right
        return Verdict(all_scores, all_said, learners, ", ".join(dict.fromkeys(steps[:learners])))

    alone, boosted = ensemble.names
    verdicts = {alone: verdict(votes[:, 0], votes[:, 0] >= THRESHOLD, 1)}
    if detector.learners > 1:
        verdicts[boosted] = verdict(votes @ alphas / alphas.sum(), sum_of_votes > 0, detector.learners)
    return verdicts


def read_run(folder: Path) -> Ensemble:
    """Networks and history of a finished run.

    Raises:
        InputError: the folder does not hold the paper's network, or the training has not ended.
        FormatError: the history is damaged.
        ModelError: the weights are damaged.
    """
    if not (folder / f"{MANIFEST}.json").is_file():
        raise InputError(
            f"{folder} holds no {MANIFEST}.json; give folders where `jigsawnet train` has finished the network {MANIFEST}."
        )
    path = folder / HISTORY
    try:
        history = [{key: float(row[key]) for key in ("learner", "step", "loss")} for row in json.loads(read_text(path))]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FormatError(f"{path} is damaged; train again, or leave this run out.") from error
    return Ensemble(Detector(read_network(folder / f"{MANIFEST}.json").load()), history)


def training_steps(manifest: Mapping[str, Any]) -> list[str]:
    """Batches that each network was trained on, from the record of its training; question marks where there is none."""
    learners = len(manifest["files"])
    record = manifest.get("training")
    options = record.get("options") if isinstance(record, dict) else None
    if not isinstance(options, dict) or not isinstance(options.get("steps"), int):
        return ["?"] * learners
    return [str(options["steps"])] + [str(options.get("later_steps") or options["steps"])] * (learners - 1)
