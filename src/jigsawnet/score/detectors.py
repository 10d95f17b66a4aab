"""The two detectors: the paper's boosted ensemble on stitched pictures, and ours on straightened seams."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.errors import ConfigError, ModelError
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet.score.views import SeamViews
from jigsawnet.score.weights import Weights, load_weights
from jigsawnet.types import Float32Array, FloatArray, Progress, no_progress

BLOCK = 64
"""Candidates drawn and judged at a time: enough to keep a core busy, few enough to stay in its cache."""

Rows = NDArray[np.int64]
Inputs = dict[str, NDArray[Any]]


class Detector:
    """K networks and how to draw what they look at."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._draw = _drawing(weights)

    @property
    def learners(self) -> int:
        """How many networks vote."""
        return len(self.weights.sessions)

    def votes(self, views: SeamViews, rows: Rows, learners: range, progress: Progress = no_progress) -> Float32Array:
        """What each of some learners says about candidates ``rows (R,)``: probabilities ``(R, len(learners))``.

        Blocks are judged side by side by threads, each by itself, so the result does not depend on their number.
        """
        blocks = [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]

        def judge(block: Rows) -> Float32Array:
            inputs = self._draw(views, block)
            columns = [self.weights.sessions[k].run(None, inputs)[0].reshape(-1) for k in learners]
            return np.stack(columns, axis=1).astype(np.float32)

        parts = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for done, part in enumerate(pool.map(judge, blocks)):
                parts.append(part)
                progress("score", done + 1, len(blocks))
        return np.concatenate([np.zeros((0, len(learners)), np.float32), *parts])

    def score(self, views: SeamViews, rows: Rows, progress: Progress = no_progress) -> FloatArray:
        """The ensemble's score ``(R,)`` of candidates, run as a cascade.

        The first learner sees all; what it finds plainly wrong (below the manifest's ``reject_below``) is left at its word, the
        rest is voted on by all learners: the mean of their probabilities, weighted by alpha. That is the paper's sum of votes,
        soft instead of hard, brought to [0, 1].
        """
        alphas = np.array(self.weights.alphas)
        first: FloatArray = self.votes(views, rows, range(1), progress)[:, 0].astype(np.float64)
        if self.learners == 1:
            return first
        score: FloatArray = first * min(1.0, alphas[0] / alphas.sum())
        doubtful = np.flatnonzero(first >= self.reject_below)
        later = self.votes(views, rows[doubtful], range(1, self.learners), progress).astype(np.float64)
        score[doubtful] = (alphas[0] * first[doubtful] + later @ alphas[1:]) / alphas.sum()
        return score

    @property
    def reject_below(self) -> float:
        """Probability of the first learner below which the others are not asked."""
        value = self.weights.manifest.get("reject_below", 0.0)
        return float(value) if isinstance(value, int | float) else 0.0


def load_detector(name: str, folder: Path | None = None) -> Detector:
    """The detector ``jigsawnet`` or ``seam`` from the package, or any that was trained into ``folder``."""
    return Detector(load_weights(name, folder))


def _drawing(weights: Weights) -> Callable[[SeamViews, Rows], Inputs]:
    network = weights.manifest.get("network")
    if network == "seam":
        return lambda views, rows: {"band": views.bands(rows)}
    if network == "jigsawnet":
        size = weights.manifest.get("picture")
        try:
            config = PictureConfig(**size)  # type: ignore[arg-type]
        except (TypeError, ConfigError) as error:
            raise ModelError("The weights of the jigsawnet detector do not say how large its pictures are.") from error

        def draw(views: SeamViews, rows: Rows) -> Inputs:
            pictures, rois = views.pictures(rows, config)
            wanted: Inputs = {"picture": pictures, "roi": rois}
            return {node.name: wanted[node.name] for node in weights.sessions[0].get_inputs()}

        return draw
    raise ModelError(f"The weights are of a network {str(network)[:40]!r} that this jigsawnet does not know.")
