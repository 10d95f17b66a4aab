"""Paper lost along the cuts: found from the seams of a puzzle, and pieces laid that far apart."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
import scipy

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import FEATURES
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.geometry import SE2
from jigsawnet.match import DenseConfig, VerifyConfig
from jigsawnet.match.gap import estimate_gap, gap_error, gap_step, lay_apart
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Alignment, Assembly, Float32Array, Puzzle

from .conftest import find

Cut = tuple[Puzzle, Borders, Assembly, tuple[Alignment, ...]]


def cut_puzzle(erosion_px: float, perturbation: float = 0.06, seed: int = 5) -> Cut:
    """Sixteen pieces of a colourful picture, wiggly unless told otherwise, their candidates and the truth."""
    coarse = np.random.default_rng(2).integers(40, 256, (24, 32, 3), dtype=np.uint8)
    picture = np.clip(cv2.resize(coarse, (640, 480), interpolation=cv2.INTER_CUBIC), 40, 255).astype(np.uint8)
    config = ShredConfig(pieces=16, perturbation=perturbation, erosion_px=erosion_px)
    puzzle, truth = shred_images([picture], config, np.random.default_rng(seed))
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    return puzzle, borders, truth, find(borders, 40, DenseConfig())


@pytest.fixture(scope="module")
def clean() -> Cut:
    return cut_puzzle(erosion_px=0.0)


@pytest.fixture(scope="module")
def eroded() -> Cut:
    return cut_puzzle(erosion_px=2.0)


def distance_between(borders: Borders, i: int, j: int, i_from_j: SE2, at_most_px: float = 12.0) -> float:
    """Median distance of j's border to i's border along the seam; the ends of the seam, where the two part, do not count."""
    moved = i_from_j @ borders.points[borders.samples(j)].astype(np.float64)
    dense = borders.points[borders.samples(i)].astype(np.float64)
    between = np.concatenate([dense + share * (np.roll(dense, -1, axis=0) - dense) for share in np.arange(0, 1, 0.1)])
    distance, _ = scipy.spatial.cKDTree(between).query(moved)
    return float(np.median(distance[distance < at_most_px]))


def right_joins(cut: Cut, gap_px: float) -> list[Alignment]:
    puzzle, _, truth, found = cut
    return [a for a, good in zip(found, right_candidates(puzzle, found, truth, gap_px=gap_px), strict=True) if good]


def as_rows(joins: list[Alignment]) -> tuple[np.ndarray, np.ndarray, Float32Array]:
    i, j = (np.array([getattr(a, name) for a in joins], np.int32) for name in ("i", "j"))
    return i, j, np.array([(a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y) for a in joins], np.float32).reshape(-1, 3)


def test_the_gap_of_eroded_pieces_is_found(eroded: Cut) -> None:
    _, borders, truth, found = eroded
    joins = right_joins(eroded, gap_px=6.5)
    true_gap = np.median([distance_between(borders, a.i, a.j, truth.poses[a.i].inverse() @ truth.poses[a.j]) for a in joins])
    assert 3.0 < true_gap < 5.5, "two pixels are lost on either side"
    laid_at = {a.seam.distance_px for a in found if a.seam}
    assert len(laid_at) == 1, "one gap for the whole puzzle"
    assert laid_at.pop() == pytest.approx(true_gap, abs=1.0)


def test_a_clean_cut_has_no_gap(clean: Cut) -> None:
    assert {a.seam.distance_px for a in clean[3] if a.seam} == {0.0}


def test_joins_of_eroded_pieces_are_as_exact_as_of_clean_ones(clean: Cut, eroded: Cut) -> None:
    errors = {}
    for name, cut, gap in (("clean", clean, 2.5), ("eroded", eroded, 6.5)):
        _, borders, truth, _ = cut
        poses = [(a, truth.poses[a.i].inverse() @ truth.poses[a.j]) for a in right_joins(cut, gap)]
        errors[name] = np.median([a.i_from_j.distance(pose, at=borders.center[a.j])[1] for a, pose in poses])
    assert errors["clean"] < 1.0
    assert errors["eroded"] < 2.0


@pytest.mark.parametrize("gap_px", [2.0, 6.0])
def test_pieces_are_laid_apart_by_the_gap(clean: Cut, gap_px: float) -> None:
    _, borders, _, _ = clean
    joins = right_joins(clean, gap_px=2.5)[:12]
    i, j, pose = as_rows(joins)
    assert np.median([distance_between(borders, a.i, a.j, a.i_from_j, gap_px + 5) for a in joins]) < 1.0
    laid, features = lay_apart(borders, i, j, pose, VerifyConfig(), gap_px)
    apart = [distance_between(borders, a.i, a.j, SE2(*map(float, row)), gap_px + 5) for a, row in zip(joins, laid, strict=True)]
    assert np.median(apart) == pytest.approx(gap_px, abs=0.7)
    assert features.shape == (len(joins), len(FEATURES))
    assert np.median(features[:, FEATURES.index("residual")]) < 1.0


def test_one_step_leads_towards_the_gap(eroded: Cut) -> None:
    _, borders, _, _ = eroded
    i, j, pose = as_rows(right_joins(eroded, gap_px=6.5))
    close, _ = lay_apart(borders, i, j, pose, VerifyConfig(), 2.0)
    far, _ = lay_apart(borders, i, j, pose, VerifyConfig(), 7.0)
    assert gap_step(borders, i, j, close, 2.0, 2.5) > 0
    assert gap_step(borders, i, j, far, 7.0, 2.5) < 0


def test_few_or_doubtful_seams_say_nothing(eroded: Cut) -> None:
    _, borders, _, _ = eroded
    joins = right_joins(eroded, gap_px=6.5)
    i, j, pose = as_rows(joins)
    config = VerifyConfig()
    assert estimate_gap(borders, i, j, pose, np.ones(len(i)), config) > 0
    assert estimate_gap(borders, i, j, pose, np.full(len(i), 0.5), config) == 0.0
    assert estimate_gap(borders, i[:5], j[:5], pose[:5], np.ones(5), config) == 0.0
    assert estimate_gap(borders, i[:0], j[:0], pose[:0], np.zeros(0), config) == 0.0


def test_straight_cuts_tell_nothing_about_the_gap() -> None:
    straight = cut_puzzle(erosion_px=0.0, perturbation=0.0, seed=0)  # without the limit 12 px are read out of these cuts
    assert {a.seam.distance_px for a in straight[3] if a.seam} == {0.0}
    joins = right_joins(straight, gap_px=2.5)
    assert len(joins) >= 20
    i, j, pose = as_rows(joins)
    assert gap_step(straight[1], i, j, pose, 0.0, 2.5, min_telling=1.0) == 0.0


@pytest.mark.parametrize(("spread_px", "gap_px"), [(0.5, 5.0), (20.0, 0.0)])
def test_a_gap_is_believed_when_the_seams_agree_on_it(
    clean: Cut, monkeypatch: pytest.MonkeyPatch, spread_px: float, gap_px: float
) -> None:
    """Along 12 strips with little wiggle each seam says something else; believed, these lie up to 16 px apart."""
    _, borders, _, _ = clean
    i, j, pose = as_rows(right_joins(clean, gap_px=2.5))
    said = 5.0 + spread_px * np.resize([1.0, -1.0], len(i) // 2 * 2)

    def votes(_borders: Borders, _i: object, _j: object, _pose: object, gap: float, _reach: float) -> tuple[np.ndarray, ...]:
        return said - gap, np.ones(len(said)), np.full(len(said), 10.0)

    monkeypatch.setattr("jigsawnet.match.gap._votes_of", votes)
    assert estimate_gap(borders, i, j, pose, np.ones(len(i)), VerifyConfig()) == pytest.approx(gap_px, abs=0.1)


def test_the_error_of_the_gap_is_small_where_seams_agree(eroded: Cut) -> None:
    _, borders, _, _ = eroded
    i, j, pose = as_rows(right_joins(eroded, gap_px=6.5))
    assert gap_error(borders, i, j, pose, 4.0, 2.5) < 0.5
    assert gap_error(borders, i[:0], j[:0], pose[:0], 4.0, 2.5) == float("inf")
