"""One measure for all joins: right ones of a small puzzle score high, wrong ones low, the same in any company."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jigsawnet.borders import build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.learned import load_learned
from jigsawnet.match import MatchConfig, find_candidates
from jigsawnet.score import Scene, parts_of, score_candidates, scorers
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, FloatArray, Puzzle

Nine = tuple[Candidates, Scene, np.ndarray]
NAMES = ("fit", "seam", "jigsawnet", "combined")


@pytest.fixture(scope="module")
def nine(nine_pieces: tuple[Puzzle, Assembly]) -> Nine:
    """The candidates of nine pieces, what scorers look at, and which of the candidates are right."""
    puzzle, truth = nine_pieces
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    rows = find_candidates(borders, "dense", MatchConfig(), Context(), load_learned()).candidates
    return rows, Scene.of(puzzle, borders, load_learned(), rows), np.array(right_candidates(puzzle, rows.alignments(), truth))


def score(rows: Candidates, scene: Scene, scorer: str, **context: Any) -> FloatArray:
    return score_candidates(rows, scene, scorer, Context(**context))


def test_these_are_the_scorers_and_what_they_look_with() -> None:
    assert set(scorers) == set(NAMES)
    assert parts_of("fit") == ()
    assert parts_of("jigsawnet") == ("jigsawnet",)
    assert parts_of("seam") == ("seam",)
    assert set(parts_of("combined")) == {"seam", "fit", "combined"}


@pytest.mark.parametrize("scorer", NAMES)
def test_right_joins_score_above_wrong_ones(nine: Nine, scorer: str) -> None:
    rows, scene, right = nine
    found = score(rows, scene, scorer)
    assert ((found >= 0) & (found <= 1)).all()
    pairs = found[right][:, None] > found[~right][None]
    assert pairs.mean() > 0.97


@pytest.mark.parametrize("scorer", ["fit", "seam", "combined"])
def test_a_join_scores_the_same_in_any_company(nine: Nine, scorer: str) -> None:
    rows, scene, _ = nine
    alone = np.concatenate([score(rows.take(slice(k, k + 1)), scene, scorer) for k in range(5)])
    assert alone == pytest.approx(score(rows, scene, scorer)[:5], abs=1e-6)


@pytest.mark.parametrize("scorer", NAMES)
def test_nothing_to_judge(nine: Nine, scorer: str) -> None:
    scene = nine[1]
    assert score(Candidates.none(), scene, scorer).shape == (0,)
    nothing = Scene.of(scene.puzzle, scene.borders, scene.learned, Candidates.none())
    assert score(Candidates.none(), nothing, scorer).shape == (0,)


def test_fit_is_the_word_of_the_matcher(nine: Nine) -> None:
    rows, scene, _ = nine
    assert score(rows, scene, "fit").tolist() == rows.fit.tolist()


@pytest.mark.parametrize("scorer", ["seam", "jigsawnet", "combined"])
def test_pieces_that_do_not_meet_score_nothing(nine: Nine, scorer: str) -> None:
    rows, scene, _ = nine
    apart = replace(rows, pose=rows.pose + np.array([0.0, 9000.0, 0.0]))
    assert score(apart, scene, scorer).tolist() == [0.0] * len(rows)


@pytest.mark.parametrize("scorer", ["seam", "jigsawnet"])
def test_what_a_stop_left_unseen_scores_nothing_in_particular_and_is_noted(nine: Nine, scorer: str) -> None:
    rows, scene, _ = nine
    assert len(rows) > 64, "more than one block"
    stop = Stop()
    stop.request()
    found = score(rows, scene, scorer, stop=stop)
    assert stop.has_cut
    assert found.shape == (len(rows),)
    assert np.isfinite(found).all()


def test_pictures_and_networks_are_prepared_once_and_only_when_they_are_needed(nine: Nine) -> None:
    rows, scene, _ = nine
    fresh = Scene.of(scene.puzzle, scene.borders, scene.learned, rows)
    score(rows, fresh, "fit")
    assert "pixels" not in vars(fresh)
    assert fresh._detectors == {}
    score(rows, fresh, "seam")
    assert set(fresh._detectors) == {"seam"}
    assert fresh.detector("seam") is fresh.detector("seam")
    assert fresh.pixels is fresh.pixels
