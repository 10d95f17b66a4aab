"""The two detectors: the paper's boosted ensemble on stitched pictures, and ours on straightened seams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.context import Context
from jigsawnet.errors import ConfigError, ModelError
from jigsawnet.learned import Learned, NetworkName, Weights
from jigsawnet.pixels import Pixels
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet.score.views import Seams, SeamViews
from jigsawnet.types import Float32Array, FloatArray
from jigsawnet.workers import Shared

BLOCK = 64
"""Candidates drawn and judged at a time: enough to keep a core busy, few enough to stay in its cache."""

Rows = NDArray[np.int64]
Inputs = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class _Material:
    """Networks and the pieces they look at: what every worker needs."""

    detector: Detector
    pixels: Pixels
    unit_px: float


class Detector:
    """K networks and how to draw what they look at; can be pickled."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._draw = _drawing(weights)
        self._shared: Shared[_Material] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Detector, (self.weights,)

    @property
    def learners(self) -> int:
        """How many networks vote."""
        return len(self.weights.sessions)

    def votes(self, views: SeamViews, rows: Rows, learners: range, context: Context) -> Float32Array:
        """What each of some learners says about candidates ``rows (R,)``: probabilities ``(R, len(learners))``.

        Networks see the candidates in the same small lots on all workers, so the answers are the same to the bit. Stopped
        early, candidates that were not seen get 0.
        """
        size = BLOCK * context.workers.grain
        blocks = [(views.seams.take(rows[start : start + size]), learners) for start in range(0, len(rows), size)]
        answers = np.zeros((len(rows), len(learners)), np.float32)
        if len(rows) <= BLOCK:  # not worth sending
            parts = [_look_at(_Material(self, views.pixels, views.unit_px), block) for block in blocks]
        else:
            parts = context.run("score", _look_at, self._material(views), blocks)
        for k, part in enumerate(parts):
            answers[k * size : k * size + len(part)] = part
        return answers

    def judge(self, seams: Seams, pixels: Pixels, unit_px: float, learners: range) -> Float32Array:
        """Some learners' probabilities ``(C, len(learners))`` of a few candidates."""
        inputs = self._draw(seams, pixels, unit_px)
        columns = [self.weights.sessions[k].run(None, inputs)[0].reshape(-1) for k in learners]
        return np.stack(columns, axis=1).astype(np.float32)

    def _material(self, views: SeamViews) -> Shared[_Material]:
        """The same handle as long as the pieces are the same, so that they are sent once."""
        if self._shared is None or self._shared.data.pixels is not views.pixels or self._shared.data.unit_px != views.unit_px:
            self._shared = Shared(_Material(self, views.pixels, views.unit_px))
        return self._shared

    def score(self, views: SeamViews, rows: Rows, context: Context) -> FloatArray:
        """The ensemble's score ``(R,)`` of candidates, run as a cascade.

        The first learner sees all; what it finds plainly wrong (below the manifest's ``reject_below``) counts as if the others
        said 0, the rest is voted on by all learners: the mean of their probabilities, weighted by alpha. That is the paper's
        sum of votes, soft instead of hard, brought to [0, 1].
        """
        alphas = np.array(self.weights.alphas)
        first: FloatArray = self.votes(views, rows, range(1), context)[:, 0].astype(np.float64)
        if self.learners == 1:
            return first
        score: FloatArray = first * min(1.0, alphas[0] / alphas.sum())
        doubtful = np.flatnonzero(first >= self.reject_below)
        later = self.votes(views, rows[doubtful], range(1, self.learners), context).astype(np.float64)
        score[doubtful] = (alphas[0] * first[doubtful] + later @ alphas[1:]) / alphas.sum()
        return score

    @property
    def reject_below(self) -> float:
        """Probability of the first learner below which the others are not asked."""
        value = self.weights.manifest.get("reject_below", 0.0)
        return float(value) if isinstance(value, int | float) else 0.0


def load_detector(name: NetworkName, learned: Learned) -> Detector:
    """The detector ``jigsawnet`` or ``seam`` of a bundle."""
    return Detector(learned.network(name))


def _look_at(material: _Material, block: tuple[Seams, range]) -> Float32Array:
    seams, learners = block
    lots = (seams.take(slice(start, start + BLOCK)) for start in range(0, len(seams), BLOCK))
    return np.concatenate([material.detector.judge(lot, material.pixels, material.unit_px, learners) for lot in lots])


def _drawing(weights: Weights) -> Callable[[Seams, Pixels, float], Inputs]:
    network = weights.manifest.get("network")
    if network in ("seam", "ragged", "printed"):
        channels = int(weights.sessions[0].get_inputs()[0].shape[-1])  # those of older networks have no far view
        return lambda seams, pixels, unit_px: {"band": seams.bands(pixels, unit_px, channels)}
    if network == "jigsawnet":
        size = weights.manifest.get("picture")
        try:
            config = PictureConfig(**size)  # type: ignore[arg-type]
        except (TypeError, ConfigError) as error:
            raise ModelError("The weights of the jigsawnet detector do not say how large its pictures are.") from error

        def draw(seams: Seams, pixels: Pixels, unit_px: float) -> Inputs:
            pictures, rois = seams.pictures(pixels, unit_px, config)
            wanted: Inputs = {"picture": pictures, "roi": rois}
            return {node.name: wanted[node.name] for node in weights.sessions[0].get_inputs()}

        return draw
    raise ModelError(f"The weights are of a network {str(network)[:40]!r} that this jigsawnet does not know.")
