from __future__ import annotations

import cv2
import numpy as np
import pytest
from damage_cases import SIZE, damaged, in_picture, ramp_picture
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from jigsawnet.errors import InputError
from jigsawnet.shred import Damage, ShredConfig
from jigsawnet.shred.cuts import cut_cells, find_regions
from jigsawnet.shred.loss import PAPER_WHITE, bite, find_corners
from jigsawnet.types import BoolArray

seeds = st.integers(0, 2**32 - 1)
CLEAN = Damage(backdrop=(254, 255, 255))
"""No damage, by the same way."""
NOWHERE = np.zeros((0, 2))


def half(width: int = 300, height: int = 200) -> BoolArray:
    """Paper on the left, a straight seam in the middle."""
    return np.repeat(np.arange(width)[None] < width // 2, height, axis=0)


@given(seed=seeds, loss=st.floats(0, 20), rough=st.floats(0, 1), crumble=st.floats(0, 20))
@settings(max_examples=15, deadline=None)
def test_loss_only_removes_paper_no_deeper_than_asked_and_not_at_the_pictures_border(
    seed: int, loss: float, rough: float, crumble: float
) -> None:
    paper = half()
    corners = np.array([[149.5, -0.5], [149.5, 199.5]])
    left = bite(paper, corners, Damage(loss_px=loss, rough_px=rough, crumble_px=crumble), np.random.default_rng(seed))
    assert not (left & ~paper).any()
    lost = paper & ~left
    from_seam = 150 - np.nonzero(lost)[1]
    assert (from_seam <= max(loss, crumble, rough + 0.5) + 0.5).all()


def test_bites_leave_the_seam_tight_in_between_and_reach_deep() -> None:
    depths = []
    for seed in range(12):
        left = bite(half(), NOWHERE, Damage(loss_px=12.0, loss_share=0.3), np.random.default_rng(seed))
        depths.append(150 - left[:, :150].sum(axis=1))
    lost = np.concatenate(depths)
    assert (lost == 0).mean() == pytest.approx(0.7, abs=0.12)
    assert 6 < np.percentile(lost, 98) <= 12


def test_roughness_is_at_the_scale_of_a_pixel() -> None:
    left = bite(half(), NOWHERE, Damage(rough_px=1.0), np.random.default_rng(0))
    edge = left[:, :150].sum(axis=1)
    assert set(np.unique(edge)) <= {148, 149, 150}
    changes = np.count_nonzero(np.diff(edge))
    assert 20 < changes < 150


@given(seed=seeds)
@settings(max_examples=8, deadline=None)
def test_damaged_pieces_lie_within_the_whole_ones(seed: int) -> None:
    whole, truth = damaged(CLEAN, seed, rotate=False)
    bitten, bitten_truth = damaged(Damage(loss_px=10.0, loss_share=0.5, rough_px=0.7), seed, rotate=False)
    before = [in_picture(piece, truth) for piece in whole.pieces]
    after = [in_picture(piece, bitten_truth) for piece in bitten.pieces]
    assert not any((new & ~old).any() for old, new in zip(before, after, strict=True))
    lost = np.array([(old & ~new).sum() for old, new in zip(before, after, strict=True)])
    assert (lost > 0).all()


def test_the_two_sides_of_a_seam_lose_different_things() -> None:
    pairs = []
    for seed in range(6):
        options = {"rotate": False, "pieces": 2, "perturbation": 0.0, "tilt_deg": 0.0}
        (whole, truth), (bitten, put) = (damaged(d, seed, **options) for d in (CLEAN, Damage(loss_px=10.0, loss_share=0.5)))
        lost = [
            in_picture(a, truth).sum(axis=1).astype(int) - in_picture(b, put).sum(axis=1)
            for a, b in zip(whole.pieces, bitten.pieces, strict=True)
        ]
        pairs.append(lost)
    left, right = np.concatenate(pairs, axis=1)
    assert min(left.std(), right.std()) > 1.0
    assert abs(np.corrcoef(left, right)[0, 1]) < 0.5


def test_corners_are_where_three_pieces_meet_and_crumble() -> None:
    regions = find_regions(cut_cells(200, 240, ShredConfig(pieces=4, perturbation=0.0, tilt_deg=0.0), np.random.default_rng(0)))
    corners = find_corners(regions)
    assert len(corners) == 5  # the middle, and four at the border
    paper = regions == 0
    middle = corners[np.argmin(np.abs(corners - [119.5, 99.5]).sum(axis=1))]
    left = bite(paper, corners, Damage(crumble_px=15.0), np.random.default_rng(1))
    y, x = np.nonzero(paper & ~left)
    assert len(x) > 10
    distances = np.hypot(x[:, None] - corners[:, 0], y[:, None] - corners[:, 1]).min(axis=1)
    assert distances.max() < 2.5 * 15
    assert np.hypot(x - middle[0], y - middle[1]).min() < 2


def test_losses_larger_than_pieces_are_refused_or_leave_pieces_out() -> None:
    with pytest.raises(InputError, match="less"):
        damaged(Damage(loss_px=2000.0, loss_share=1.0), seed=2)
    puzzle, truth = damaged(Damage(loss_px=60.0, loss_share=0.7), seed=3, pieces=12)
    assert len(puzzle) == truth.n_pieces
    assert all(ndimage.label(piece.mask)[1] == 1 for piece in puzzle.pieces)


@given(seed=seeds, width=st.floats(1.0, 20.0))
@settings(max_examples=10, deadline=None)
def test_torn_pieces_overlap_by_no_more_than_the_rim_and_cover_the_picture(seed: int, width: float) -> None:
    whole, truth = damaged(CLEAN, seed, rotate=False)
    torn, torn_truth = damaged(Damage(tear_px=width), seed, rotate=False)
    count = np.zeros(SIZE[::-1])
    for before, after in zip(whole.pieces, torn.pieces, strict=True):
        own, put = in_picture(before, truth), in_picture(after, torn_truth)
        assert not (own & ~put).any()
        beyond = cv2.distanceTransform((~own).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
        assert beyond[put].max() <= width + 1.0
        count += put
    assert (count >= 1).mean() > 0.999  # the staircase of a cut is smoothed
    assert (count > 1).any()


def test_the_rim_is_bare_paper_and_the_prints_meet() -> None:
    torn, truth = damaged(Damage(tear_px=8.0), 4, picture=ramp_picture(), rotate=False)
    prints = np.zeros(SIZE[::-1])
    for piece in torn.pieces:
        is_print = piece.mask & (piece.image[..., 2] == 90)
        assert (piece.image[piece.mask & ~is_print] > PAPER_WHITE - 60).all()
        pose = truth.poses[piece.idx]
        y, x = np.nonzero(is_print)
        at = np.rint(pose @ np.stack([x, y], axis=1).astype(np.float64)).astype(int)
        np.testing.assert_array_equal(piece.image[is_print][:, 0], at[:, 0] + 8)
        prints[at[:, 1], at[:, 0]] += 1
    assert (prints == 1).mean() > 0.99


def test_rims_change_along_the_tear_and_one_side_keeps_most_of_them() -> None:
    kept: list[list[int]] = []
    for seed in range(6):
        options = {"rotate": False, "pieces": 2, "perturbation": 0.0, "tilt_deg": 0.0}
        torn, _ = damaged(Damage(tear_px=12.0), seed, **options)
        rims = [piece.mask & (piece.image[..., 0] > 180) for piece in torn.pieces]
        kept.append(sorted(int(rim.sum()) for rim in rims))
        along = max(rims, key=np.count_nonzero).sum(axis=1)[12:-12]
        assert along.std() > 1.0
        assert along.max() <= 13
    less, more = np.sum(kept, axis=0)
    assert more > 4 * less
