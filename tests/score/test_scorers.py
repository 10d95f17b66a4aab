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
from jigsawnet.pipeline import Corridor
from jigsawnet.score import Scene, parts_of, score_candidates, scorers
from jigsawnet.score.combine import LOWEST
from jigsawnet.seam_fit import contact_fit
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, FloatArray, Puzzle

Nine = tuple[Candidates, Scene, np.ndarray]
NAMES = ("fit", "seam", "ragged", "printed", "jigsawnet", "combined")
OWN = ("fit", "seam", "jigsawnet", "combined")
"""Those that are for seams as these pieces have them."""


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
    assert parts_of("ragged") == ("ragged",)
    assert set(parts_of("combined")) == {
        "seam", "fit", "combined", "contact", "ragged", "printed", "touching", "lines", "strokes", "strips",
    }  # fmt: skip


@pytest.mark.parametrize("scorer", OWN)
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


@pytest.mark.parametrize("scorer", ["seam", "ragged", "jigsawnet", "combined"])
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


@pytest.fixture(scope="module")
def touching(fresco: tuple[Puzzle, Assembly]) -> tuple[Candidates, Scene]:
    walk = Corridor(fresco[0])
    return walk.get("candidates").rows, walk.get("scene")


def _certain(scene: Scene, whole: float, parts: float) -> Scene:
    """The same with combined scores that say one thing of all seams, of those all along and of those that touch in parts."""
    learned = scene.learned
    combined = replace(learned.combined, bias=whole, hopeless=0.02, weights=(0.0,) * len(learned.combined.weights))
    touching = replace(learned.touching, bias=parts, hopeless=0.5, weights=(0.0,) * len(learned.touching.weights))
    return replace(scene, learned=replace(learned, combined=combined, touching=touching), _detectors={})


def test_where_seams_touch_in_parts_the_higher_of_two_scores_counts(touching: tuple[Candidates, Scene]) -> None:
    rows, scene = touching
    assert rows.ragged.all()
    step_px, learned = scene.borders.step_px, scene.learned
    along = scene.cuts.fit(rows, step_px, learned.fit) >= 0.02
    usual = float(np.median(np.log1p(rows.contact[along, 0] / step_px)))
    short = replace(learned.contact, bias=usual, weights=(-1.0, *[0.0] * (len(learned.contact.weights) - 1)))
    scene = replace(scene, learned=replace(learned, contact=short))
    hopeful = contact_fit(rows, step_px, short) >= 0.5
    assert (hopeful & ~along).any()
    assert (hopeful & along).any()
    assert (along & ~hopeful).any()
    assert ((score(rows, _certain(scene, -99.0, 99.0), "combined") > 0.9) == hopeful).all()
    assert ((score(rows, _certain(scene, 99.0, -99.0), "combined") > 0.9) == along).all()
    clean = replace(rows, contact=np.full_like(rows.contact, np.nan))
    assert score(clean, _certain(scene, -99.0, 99.0), "combined").max() < 0.1, "in a clean puzzle there is one"


def test_on_a_page_what_is_printed_says_which_seams_are_looked_at_and_other_weights_judge_them(
    touching: tuple[Candidates, Scene],
) -> None:
    """As if lines were clear on all pieces: contact or the matcher's word is enough, and the weights of pages decide."""
    rows, scene = touching
    contact = replace(scene.learned.contact, bias=-99.0)
    rows = replace(rows, fit=np.where(np.arange(len(rows)) % 3 == 0, 0.9, 0.1))
    scene = _certain(replace(scene, learned=replace(scene.learned, contact=contact)), -99.0, -99.0)
    lines = replace(scene.learned.lines, bias=99.0, weights=(0.0,) * len(scene.learned.lines.weights))
    scene = replace(scene, learned=replace(scene.learned, lines=lines), _detectors={})
    assert score(rows, scene, "combined").max() < 0.1, "not a page"
    assert set(scene._detectors) <= {"seam"}
    vars(scene)["_lines"] = np.zeros(len(scene.puzzle.pieces))
    assert scene.of_page
    assert ((score(rows, scene, "combined") > 0.9) == (rows.fit > 0.5)).all()
    assert set(scene._detectors) == {"seam", "printed"}


def test_the_word_of_the_matcher_lets_no_seam_of_a_picture_be_looked_at(touching: tuple[Candidates, Scene]) -> None:
    rows, scene = touching
    contact = replace(scene.learned.contact, bias=-99.0)
    scene = _certain(replace(scene, learned=replace(scene.learned, contact=contact)), -99.0, 99.0)
    assert score(replace(rows, fit=np.ones(len(rows))), scene, "combined").max() < 0.1


def test_along_the_sides_of_strips_the_matcher_has_the_last_word(nine: Nine) -> None:
    rows, scene, _ = nine
    strips = replace(rows, strokes=np.zeros(len(rows)), fit=np.linspace(0.0, 1.0, len(rows)))
    assert score(strips, scene, "combined").tolist() == strips.fit.tolist()


def test_a_scene_rates_a_seam_by_the_better_of_whole_and_parts(touching: tuple[Candidates, Scene]) -> None:
    rows, scene = touching
    parts = contact_fit(rows, scene.borders.step_px, scene.learned.contact)
    alone = scene.fit(replace(rows, contact=np.full_like(rows.contact, np.nan)))
    np.testing.assert_array_equal(scene.fit(rows), np.maximum(parts, alone))
    assert (scene.fit(rows) > alone).any()


def test_rivals_are_those_of_the_whole_puzzle(touching: tuple[Candidates, Scene]) -> None:
    rows, scene = touching
    every = scene.rivals(rows)
    np.testing.assert_array_equal(scene.rivals(rows.take(slice(3, 9))), every[3:9])
    assert every.shape == (len(rows), 2)
    assert (every > LOWEST).any()
