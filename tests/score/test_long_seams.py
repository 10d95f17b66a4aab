"""Seams too long to be shown whole: the combined scorer looks at them in several places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2
from jigsawnet.learned import load_learned, read_network
from jigsawnet.match import VerifyConfig, measure
from jigsawnet.pixels import build_pixels
from jigsawnet.score import Scene, score_candidates
from jigsawnet.score.detectors import Detector
from jigsawnet.score.long_seams import MOST_PLACES, count_places, score_along
from jigsawnet.score.seam_path import longest_shown, unit_of
from jigsawnet.score.views import SeamViews
from jigsawnet.seam_fit import CutShape
from jigsawnet.types import Alignment, Piece, Puzzle

from .conftest import WriteEnsemble

LONG, WIDE = 1500, 40


def _strips(red: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> tuple[Puzzle, Borders, Candidates]:
    """Two strips side by side whose redness runs along them."""
    image = np.zeros((WIDE, LONG, 3), np.uint8)
    image[..., 0] = red
    mask = np.ones((WIDE, LONG), bool)
    puzzle = Puzzle("strips", tuple(Piece(k, f"{k}.png", image.copy(), mask.copy()) for k in range(2)))
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    join = Candidates.of([Alignment(0, 1, SE2(0.0, 0.0, float(WIDE)), 0.9)])
    return puzzle, borders, measure(borders, join, VerifyConfig())


@pytest.mark.parametrize(("length", "places"), [(0.0, 1), (99.0, 1), (100.0, 1), (101.0, 2), (250.0, 3), (9999.0, MOST_PLACES)])
def test_a_seam_is_looked_at_as_often_as_its_length_asks(length: float, places: int) -> None:
    assert count_places(np.array([length], np.float32), 100.0).tolist() == [places]


def test_slender_pieces_are_seen_finely() -> None:
    _, borders, _ = _strips(np.zeros(LONG, np.uint8))
    assert borders.step_px / 3.0 > 2.0
    assert unit_of(borders) == 1.0


def test_what_lies_far_from_the_middle_is_seen(write_ensemble: WriteEnsemble, tmp_path: Path) -> None:
    """The detector answers how red a place is; red is only where a look at the middle never comes."""
    red = np.zeros(LONG, np.uint8)
    red[: LONG // 5] = red[-LONG // 5 :] = 255
    puzzle, borders, join = _strips(red)
    assert longest_shown(unit_of(borders)) < LONG / 2
    write_ensemble(tmp_path, (0.0,), (1.0,))
    detector, pixels = Detector(read_network(tmp_path / "seam.json").load()), build_pixels(puzzle, unit_of(borders))
    views, rows = SeamViews(pixels, borders, join), np.array([0])
    once = detector.score(views, rows, Context())
    along = score_along(detector, borders, join, views, rows, Context())
    assert once[0] < 0.01
    assert along[0] > 10 * once[0]


@pytest.mark.parametrize(("left", "right", "said"), [(0.3, 0.3, 0.3), (0.2, 0.8, 0.5), (0.8, 0.2, 0.5)])
def test_what_is_said_of_places_along_the_whole_seam_is_averaged_as_log_odds(
    write_ensemble: WriteEnsemble, tmp_path: Path, left: float, right: float, said: float
) -> None:
    """The detector answers how red a place is; places lie evenly about the middle, where one half turns into the other."""
    puzzle, borders, join = _strips(np.repeat([255 * left, 255 * right], LONG // 2).round().astype(np.uint8))
    write_ensemble(tmp_path, (0.0,), (1.0,))
    detector, pixels = Detector(read_network(tmp_path / "seam.json").load()), build_pixels(puzzle, unit_of(borders))
    along = score_along(detector, borders, join, SeamViews(pixels, borders, join), np.array([0]), Context())
    assert along[0] == pytest.approx(said, abs=0.03)


def test_the_combined_scorer_looks_along_the_seam(
    write_ensemble: WriteEnsemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    red = np.zeros(LONG, np.uint8)
    red[LONG // 2 - 320 : LONG // 2 + 320] = 255
    puzzle, borders, join = _strips(red)
    write_ensemble(tmp_path, (0.0,), (1.0,))
    detector = Detector(read_network(tmp_path / "seam.json").load())
    learned = load_learned()
    learned = replace(learned, combined=replace(learned.combined, hopeless=0.0))  # the cut is straight
    scene = Scene(puzzle, borders, learned, join, CutShape(0.0, 1.0), {"seam": detector})
    asked: list[float] = []
    monkeypatch.setattr("jigsawnet.score.combined_terms", lambda terms, votes: asked.extend(votes[:, 1]) or np.zeros((1, 104)))
    score_candidates(join, scene, "combined", Context())
    middle = detector.score(SeamViews(scene.pixels, borders, join), np.array([0]), Context())
    assert asked[0] < 0.9 * middle[0]
