"""What a seam says by itself: rated alike in any company, lower where it is too straight for the puzzle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet import seam_fit as module
from jigsawnet.borders import Borders
from jigsawnet.candidates import CONTACT, FEATURES, Candidates
from jigsawnet.learned import Logistic, load_learned
from jigsawnet.match import VerifyConfig, measure
from jigsawnet.pipeline import Corridor
from jigsawnet.score import Scene
from jigsawnet.seam_fit import (
    PLAIN_TERMS,
    CutShape,
    contact_fit,
    contact_terms,
    cut_shape,
    seam_fit,
    seam_terms,
    slack_of,
    with_products,
)
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


def touching_rows(n: int = 1, **other: float) -> Candidates:
    """Seams that touch in parts, all alike, good ones but for what is said."""
    good = {
        "contact": 90.0, "stretches": 3.0, "longest_contact": 50.0, "contact_span": 110.0, "contact_residual": 0.3,
        "bend_fine": 0.7, "bend_coarse": 0.8, "roughness": 1.0, "facing": 130.0, "mean_gap": 2.0, "overlap_area": 0.0,
        "near_step": 6.0, "near_correlation": 0.9, "far_step": 15.0, "far_correlation": 0.7, "far_spread": 30.0,
    }  # fmt: skip
    contact = np.array([[(good | other)[name] for name in CONTACT]] * n, np.float32)
    return Candidates.make([0] * n, [1] * n, np.zeros((n, 3)), np.repeat(features(), n, axis=0), contact=contact)


def test_contact_terms_are_comparable_between_puzzles() -> None:
    """Twice as large in every length, measured on borders with steps twice as long, is the same seam."""

    def terms(times: float) -> list[float]:
        rows = touching_rows()
        contact, measured = rows.contact.copy(), rows.features.copy()
        px = [
            CONTACT.index(n)
            for n in (
                "contact",
                "longest_contact",
                "contact_span",
                "contact_residual",
                "roughness",
                "facing",
                "mean_gap",
                "overlap_area",
            )
        ]
        contact[:, px] *= times
        lengths = [
            FEATURES.index(n) for n in ("length", "tight_length", "residual", "overlap_depth", "overlap_length", "flatness")
        ]
        measured[:, lengths] *= times
        return contact_terms(replace(rows, contact=contact, features=measured), times * 3.0)[0].tolist()

    assert terms(1.0) == pytest.approx(terms(2.0), rel=1e-6)
    assert len(terms(1.0)) == 25


def test_the_contact_fit_is_the_regression_on_terms_and_products() -> None:
    weights = Logistic(bias=-2.0, weights=(1.0, *[0.0] * 349))
    z = np.log1p(90.0 / STEP_PX) - 2.0
    assert contact_fit(touching_rows(), STEP_PX, weights) == pytest.approx(1 / (1 + np.exp(-z)))
    last = Logistic(bias=0.0, weights=(*[0.0] * 349, 1.0))
    z = float(contact_terms(touching_rows(), STEP_PX)[0, -1]) ** 2
    assert contact_fit(touching_rows(), STEP_PX, last) == pytest.approx(1 / (1 + np.exp(-z)))


def test_what_touches_nowhere_or_was_not_measured_has_no_contact_fit() -> None:
    sure = Logistic(bias=5.0, weights=(0.0,) * 350)
    assert contact_fit(touching_rows(), STEP_PX, sure) > 0.99
    assert contact_fit(touching_rows(contact=0.0), STEP_PX, sure).tolist() == [0.0]
    unmeasured = Candidates.make([0], [1], np.zeros((1, 3)), features())
    assert contact_fit(unmeasured, STEP_PX, sure).tolist() == [0.0]
    assert contact_fit(Candidates.none(), STEP_PX, sure).shape == (0,)


def test_many_contacts_are_rated_part_by_part_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = touching_rows(7)
    rows = replace(rows, contact=rows.contact * np.linspace(0.1, 2.0, 7, dtype=np.float32)[:, None])
    whole = contact_fit(rows, STEP_PX, load_learned().contact)
    monkeypatch.setattr(module, "_CHUNK", 3)
    np.testing.assert_array_equal(contact_fit(rows, STEP_PX, load_learned().contact), whole)


def test_products_are_those_of_all_pairs_of_terms() -> None:
    assert with_products(np.array([[2.0, 3.0, 5.0]])).tolist() == [[2, 3, 5, 4, 6, 10, 9, 15, 25]]


@pytest.mark.parametrize(
    ("residuals", "unit_px", "slack"),
    [
        ([], 1.0, 1.0), ([0.2, 0.1, 0.3], 1.0, 1.0), ([0.6], 1.0, 1.5), ([0.6, 0.6, 9.0], 1.0, 1.5), ([0.6], 2.0, 1.0),
        ([1.2], 2.0, 1.5), ([5.0], 1.0, 2.0),
    ],
)  # fmt: skip
def test_rough_seams_give_slack_of_at_most_twice(residuals: list[float], unit_px: float, slack: float) -> None:
    assert slack_of(np.array(residuals, np.float32), unit_px) == pytest.approx(slack)
