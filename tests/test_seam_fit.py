"""What a seam says by itself: rated alike in any company, lower where it is too straight for the puzzle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet import seam_fit as module
from jigsawnet.borders import Borders
from jigsawnet.candidates import FEATURES, Candidates
from jigsawnet.learned import load_learned
from jigsawnet.match import VerifyConfig, measure
from jigsawnet.pipeline import Corridor
from jigsawnet.score import Scene
from jigsawnet.seam_fit import PLAIN_TERMS, CutShape, cut_shape, seam_fit, seam_terms
from jigsawnet.types import Assembly, Float32Array, Puzzle

WEIGHTS = load_learned().fit
STEP_PX = 3.0
VERIFY = VerifyConfig()
GOOD = {
    "length": 150.0, "tight_length": 140.0, "residual": 0.4, "gap": 3.0, "overlap_depth": 0.5, "overlap_length": 0.0,
    "color_step": 3.0, "color_correlation": 0.9, "color_spread": 20.0, "flatness": 8.0, "middle_x": 30.0, "middle_y": 40.0,
    "share": 0.25,
}  # fmt: skip
quick = settings(deadline=None, max_examples=40)


def features(**other: float) -> Float32Array:
    """One seam, a good one but for what is said."""
    return np.array([[(GOOD | other)[name] for name in FEATURES]], np.float32)


def fit(**other: float) -> float:
    return float(seam_fit(features(**other), STEP_PX, WEIGHTS)[0])


def rows_of(*seams: tuple[int, int, float, float]) -> Candidates:
    """Candidates (i, j, flatness, length)."""
    measured = np.concatenate([features(flatness=flatness, length=length) for _, _, flatness, length in seams])
    return Candidates.make([s[0] for s in seams], [s[1] for s in seams], np.zeros((len(seams), 3)), measured)


@pytest.fixture(scope="module")
def nine(nine_pieces: tuple[Puzzle, Assembly]) -> tuple[Borders, Candidates, Scene]:
    walk = Corridor(nine_pieces[0])
    return walk.get("borders"), walk.get("candidates").rows, walk.get("scene")


def test_a_good_seam_fits_and_a_poor_one_does_not() -> None:
    assert fit() > 0.9
    assert fit(length=20.0, tight_length=4.0, residual=2.2, color_step=40.0, color_correlation=0.0, share=0.03) < 0.1
    assert fit() > fit(residual=1.8, tight_length=50.0)
    assert fit() > fit(color_step=40.0, color_correlation=-0.2)


def test_a_pose_without_any_seam_scores_0() -> None:
    assert fit(length=0.0) == 0.0


def test_the_terms_are_the_plain_ones_and_all_their_products() -> None:
    terms = seam_terms(features(), STEP_PX)
    assert terms.shape == (1, len(WEIGHTS.weights)) == (1, 77)
    plain, products = terms[0, :PLAIN_TERMS], terms[0, PLAIN_TERMS:]
    a, b = np.triu_indices(PLAIN_TERMS)
    np.testing.assert_array_equal(products, plain[a] * plain[b])
    assert plain[0] == pytest.approx(np.log(GOOD["length"] / STEP_PX))


def test_nothing_to_rate() -> None:
    assert seam_terms(np.zeros((0, 13), np.float32), STEP_PX).shape == (0, 77)
    assert seam_fit(np.zeros((0, 13), np.float32), STEP_PX, WEIGHTS).shape == (0,)
    assert cut_shape(Candidates.none(), np.zeros(0), STEP_PX) == CutShape(0.0, 1.0)


@quick
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_a_fit_is_a_probability_and_the_same_in_any_company(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    seams = np.abs(rng.normal(0.0, 30.0, (n, len(FEATURES)))).astype(np.float32)
    found = seam_fit(seams, STEP_PX, WEIGHTS)
    assert ((found >= 0) & (found <= 1)).all()
    alone = np.concatenate([seam_fit(seams[k : k + 1], STEP_PX, WEIGHTS) for k in range(n)])
    np.testing.assert_array_equal(found, alone)


def test_many_seams_are_rated_part_by_part_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    seams = np.abs(np.random.default_rng(0).normal(0.0, 30.0, (10, len(FEATURES)))).astype(np.float32)
    whole = seam_fit(seams, STEP_PX, WEIGHTS)
    monkeypatch.setattr(module, "_CHUNK", 3)
    np.testing.assert_array_equal(seam_fit(seams, STEP_PX, WEIGHTS), whole)


def test_the_usual_cut_is_that_of_the_best_seams_of_the_pieces() -> None:
    rows = rows_of((0, 1, 9.0, 150.0), (0, 2, 2.0, 60.0), (1, 2, 7.0, 120.0))
    shape = cut_shape(rows, np.array([0.99, 0.91, 0.95]), STEP_PX)
    assert shape == CutShape(9.0, 150.0), "the best of 0 and 1 is the first, of 2 the last: the median of (9, 9, 7)"
    assert cut_shape(rows, np.array([0.5, 0.9, 0.2]), STEP_PX) == CutShape(0.0, 1.0), "none is certain"
    straight = rows_of((0, 1, 0.2, 150.0), (1, 2, 0.3, 120.0))
    assert cut_shape(straight, np.array([0.99, 0.99]), STEP_PX) == CutShape(0.0, 1.0), "all cuts are straight"


@quick
@given(st.floats(0, 1), st.floats(1e-6, 50), st.floats(1, 500), st.floats(0, 20), st.floats(1, 300))
def test_straight_seams_are_lowered_and_none_is_raised(
    value: float, flatness: float, length: float, usual: float, usual_length: float
) -> None:
    lowered = CutShape(usual, usual_length).lower_straight(np.array([value]), np.array([flatness]), np.array([length]))
    assert 0 <= lowered[0] <= value + 1e-9
    if flatness >= usual:
        assert lowered[0] == pytest.approx(value, abs=1e-8)


def test_the_straighter_the_lower() -> None:
    shape, values = CutShape(10.0, 100.0), np.full(4, 0.9)
    lowered = shape.lower_straight(values, np.array([10.0, 2.0, 1.0, 0.0]), np.full(4, 120.0))
    assert lowered[0] == pytest.approx(0.9)
    assert lowered[0] > lowered[1] > lowered[2] > lowered[3] == 0.0
    short = shape.lower_straight(values[:2], np.array([1.0, 1.0]), np.array([20.0, 120.0]))
    assert short[0] > short[1], "less is expected of a short seam"


def test_measured_again_candidates_keep_their_fit(nine: tuple[Borders, Candidates, Scene]) -> None:
    borders, rows, scene = nine
    again = measure(borders, rows, VERIFY)
    assert scene.fit(again) == pytest.approx(rows.fit, abs=0.02)


def test_what_another_program_said_does_not_matter(nine: tuple[Borders, Candidates, Scene]) -> None:
    borders, rows, scene = nine
    strangers = replace(rows, fit=np.full(len(rows), 0.5), features=np.full_like(rows.features, np.nan))
    np.testing.assert_array_equal(measure(borders, strangers, VERIFY).features, measure(borders, rows, VERIFY).features)
    np.testing.assert_array_equal(scene.fit(measure(borders, strangers, VERIFY)), scene.fit(measure(borders, rows, VERIFY)))
