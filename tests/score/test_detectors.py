"""The ensemble as a cascade: plainly wrong candidates cost one look, the rest are voted on by all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jigsawnet.context import Context
from jigsawnet.errors import ModelError
from jigsawnet.learned import read_network
from jigsawnet.score.detectors import BLOCK, Detector
from jigsawnet.score.views import Seams, SeamViews

MakeDetector = Callable[..., Detector]


class _RedSeams(Seams):
    """Seams whose bands have a red that is known."""

    def bands(self, pixels: Any, unit_px: float, channels: int = 5) -> np.ndarray:
        pixels.append(len(self))
        return np.broadcast_to(self.i.astype(np.uint8)[:, None, None, None], (len(self), 32, 128, 5)).copy()

    def take(self, rows: Any) -> _RedSeams:
        part = super().take(rows)
        return _RedSeams(part.i, part.j, part.pose, part.path, part.span)


class _Reds(SeamViews):
    """Views of such seams; the number of a piece is its red, and ``pixels`` notes how many were drawn at a time."""

    def __init__(self, reds: list[int]) -> None:
        red, none = np.array(reds, np.int32), np.zeros(len(reds), np.float32)
        self.seams, self.pixels, self.unit_px = _RedSeams(red, red, none, none, none), [], 1.0


@pytest.fixture
def make_detector(tmp_path: Path, write_ensemble: Callable[..., Path]) -> MakeDetector:
    """``make_detector(biases, alphas, reject_below)``: learners that answer the band's red plus a bias."""

    def make(biases: tuple[float, ...], alphas: tuple[float, ...], reject_below: float) -> Detector:
        write_ensemble(tmp_path, biases, alphas, reject_below=reject_below)
        return Detector(read_network(tmp_path / "seam.json").load())

    return make


def test_the_score_is_the_mean_of_the_votes_weighted_by_alpha(make_detector: MakeDetector) -> None:
    detector = make_detector((0.0, 0.1), (3.0, 1.0), 0.0)
    score = detector.score(_Reds([51, 102, 204]), np.arange(3), Context())
    assert score == pytest.approx(np.array([0.2, 0.4, 0.8]) + 0.1 / 4, abs=1e-5)


def test_what_the_first_learner_rejects_is_not_shown_to_the_others(make_detector: MakeDetector) -> None:
    detector = make_detector((0.0, 0.1), (1.0, 1.0), 0.3)
    views = _Reds([0, 25, 204, 230])
    score = detector.score(views, np.arange(4), Context())
    assert views.pixels == [4, 2]
    assert (score[:2] < 0.3).all()
    assert score[2:] == pytest.approx([0.85, 0.902 + 0.05], abs=1e-2)


def test_what_the_first_learner_rejects_scores_below_whatever_it_does_not(make_detector: MakeDetector) -> None:
    """Even when the others find that plainly wrong: 0.29 alone, and 0.31 with nothing."""
    detector = make_detector((0.0, -79 / 255), (1.0, 1.0), 0.3)
    rejected, voted_on = detector.score(_Reds([74, 79]), np.arange(2), Context())
    assert voted_on == pytest.approx(0.155, abs=1e-3)
    assert rejected == pytest.approx(0.145, abs=1e-3)


def test_one_learner_gives_its_own_probability(make_detector: MakeDetector) -> None:
    detector = make_detector((0.0,), (0.4,), 0.0)
    assert detector.score(_Reds([51]), np.arange(1), Context()) == pytest.approx([0.2])


def test_many_blocks_come_back_in_order_and_rows_are_honoured(make_detector: MakeDetector) -> None:
    detector = make_detector((0.0,), (1.0,), 0.0)
    reds = np.random.default_rng(0).integers(0, 256, 3 * BLOCK + 5)
    rows = np.random.default_rng(1).permutation(len(reds))
    seen = []
    context = Context(lambda stage, done, total: seen.append((stage, done, total)))
    score = detector.score(_Reds(reds.tolist()), rows, context)
    assert score == pytest.approx(reds[rows] / 255, abs=1e-5)
    assert seen[-1] == ("score", 4, 4)


def test_no_candidates_no_scores(make_detector: MakeDetector) -> None:
    detector = make_detector((0.0, 0.0), (1.0, 1.0), 0.5)
    assert detector.score(_Reds([]), np.zeros(0, np.int64), Context()).shape == (0,)


def test_an_unknown_network_is_refused(tmp_path: Path, write_ensemble: Callable[..., Path]) -> None:
    write_ensemble(tmp_path, (0.0,), (1.0,), network="crystal ball")
    with pytest.raises(ModelError, match="crystal ball"):
        Detector(read_network(tmp_path / "seam.json").load())


@pytest.mark.parametrize("size", [None, {"width": 7}, {"wide": 160}, 12])
def test_pictures_of_unknown_size_are_refused(tmp_path: Path, write_ensemble: Callable[..., Path], size: object) -> None:
    write_ensemble(tmp_path, (0.0,), (1.0,), network="jigsawnet", picture=size)
    with pytest.raises(ModelError, match="how large"):
        Detector(read_network(tmp_path / "seam.json").load())
