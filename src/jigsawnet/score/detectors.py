"""The two detectors: the paper's boosted ensemble on stitched pictures, and ours on straightened seams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.errors import ConfigError, ModelError
from jigsawnet.pixels import PixelBank
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet.score.views import Seams, SeamViews
from jigsawnet.score.weights import Weights, load_weights
from jigsawnet.stopping import Stop
from jigsawnet.types import Float32Array, FloatArray, Progress, no_progress
from jigsawnet.workers import LocalWorkers, Shared, Workers

BLOCK = 64
"""Candidates drawn and judged at a time: enough to keep a core busy, few enough to stay in its cache."""

Rows = NDArray[np.int64]
Inputs = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class _Sight:
    """Networks and the pieces they look at: what every worker needs."""

    detector: Detector
    pixels: PixelBank
    unit_px: float


class Detector:
    """K networks and how to draw what they look at; can be pickled."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._draw = _drawing(weights)
        self._shared: Shared[_Sight] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Detector, (self.weights,)

    @property
    def learners(self) -> int:
        """How many networks vote."""
        return len(self.weights.sessions)

    def votes(
        self,
        views: SeamViews,
        rows: Rows,
        learners: range,
        progress: Progress = no_progress,
        workers: Workers | None = None,
        stop: Stop | None = None,
    ) -> Float32Array:
        """What each of some learners says about candidates ``rows (R,)``: probabilities ``(R, len(learners))``.

        Networks see the candidates in the same small lots on all workers, so the answers are the same to the bit. Stopped
        early, candidates that were not seen get 0.
        """
        workers = workers or LocalWorkers()
        size = BLOCK * workers.grain
        blocks = [(views.seams.take(rows[start : start + size]), learners) for start in range(0, len(rows), size)]
        answers = np.zeros((len(rows), len(learners)), np.float32)
        if len(rows) <= BLOCK:  # not worth sending
            parts = [_judge(_Sight(self, views.pixels, views.unit_px), block) for block in blocks]
        else:
            parts = workers.run(_judge, self._sight(views), blocks, lambda done, total: progress("score", done, total), stop)
        for k, part in enumerate(parts):
            answers[k * size : k * size + len(part)] = part
        return answers

    def judge(self, seams: Seams, pixels: PixelBank, unit_px: float, learners: range) -> Float32Array:
        """Some learners' probabilities ``(C, len(learners))`` of a few candidates."""
        inputs = self._draw(seams, pixels, unit_px)
        columns = [self.weights.sessions[k].run(None, inputs)[0].reshape(-1) for k in learners]
        return np.stack(columns, axis=1).astype(np.float32)

    def _sight(self, views: SeamViews) -> Shared[_Sight]:
        """The same handle as long as the pieces are the same, so that they are sent once."""
        if self._shared is None or self._shared.data.pixels is not views.pixels or self._shared.data.unit_px != views.unit_px:
            self._shared = Shared(_Sight(self, views.pixels, views.unit_px))
        return self._shared

    def score(
        self,
        views: SeamViews,
        rows: Rows,
        progress: Progress = no_progress,
        workers: Workers | None = None,
        stop: Stop | None = None,
    ) -> FloatArray:
        """The ensemble's score ``(R,)`` of candidates, run as a cascade.

        The first learner sees all; what it finds plainly wrong (below the manifest's ``reject_below``) is left at its word, the
        rest is voted on by all learners: the mean of their probabilities, weighted by alpha. That is the paper's sum of votes,
        soft instead of hard, brought to [0, 1].
        """
        alphas = np.array(self.weights.alphas)
        first: FloatArray = self.votes(views, rows, range(1), progress, workers, stop)[:, 0].astype(np.float64)
        if self.learners == 1:
            return first
        score: FloatArray = first * min(1.0, alphas[0] / alphas.sum())
        doubtful = np.flatnonzero(first >= self.reject_below)
        later = self.votes(views, rows[doubtful], range(1, self.learners), progress, workers, stop).astype(np.float64)
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


def _judge(sight: _Sight, block: tuple[Seams, range]) -> Float32Array:
    seams, learners = block
    lots = (seams.take(slice(start, start + BLOCK)) for start in range(0, len(seams), BLOCK))
    return np.concatenate([sight.detector.judge(lot, sight.pixels, sight.unit_px, learners) for lot in lots])


def _drawing(weights: Weights) -> Callable[[Seams, PixelBank, float], Inputs]:
    network = weights.manifest.get("network")
    if network == "seam":
        return lambda seams, pixels, unit_px: {"band": seams.bands(pixels, unit_px)}
    if network == "jigsawnet":
        size = weights.manifest.get("picture")
        try:
            config = PictureConfig(**size)  # type: ignore[arg-type]
        except (TypeError, ConfigError) as error:
            raise ModelError("The weights of the jigsawnet detector do not say how large its pictures are.") from error

        def draw(seams: Seams, pixels: PixelBank, unit_px: float) -> Inputs:
            pictures, rois = seams.pictures(pixels, unit_px, config)
            wanted: Inputs = {"picture": pictures, "roi": rois}
            return {node.name: wanted[node.name] for node in weights.sessions[0].get_inputs()}

        return draw
    raise ModelError(f"The weights are of a network {str(network)[:40]!r} that this jigsawnet does not know.")
