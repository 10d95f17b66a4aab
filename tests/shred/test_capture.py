from __future__ import annotations

import cv2
import numpy as np
import pytest
from damage_cases import SIZE, damaged, depth, in_picture, ramp_picture
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from jigsawnet.shred import Damage
from jigsawnet.types import FloatArray, Puzzle

seeds = st.integers(0, 2**32 - 1)
CLEAN = Damage(backdrop=(254, 255, 255))


def by_depth(puzzle: Puzzle) -> FloatArray:
    """Mean grey level of the pixels 1, 2, ... 8 px from the outside."""
    colors = np.concatenate([piece.image[piece.mask].mean(axis=1) for piece in puzzle.pieces])
    deep = np.rint(np.concatenate([depth(piece)[piece.mask] for piece in puzzle.pieces]))
    return np.array([colors[deep == k].mean() for k in range(1, 9)])


@pytest.mark.parametrize("backdrop", [(255, 255, 255), (0, 0, 0), (20, 200, 90)])
@pytest.mark.parametrize("halo", [1.0, 2.0, 3.0])
def test_halo_pulls_the_outermost_pixels_to_the_backdrop_and_leaves_the_inside(
    backdrop: tuple[int, int, int], halo: float
) -> None:
    puzzle, _ = damaged(Damage(halo_px=halo, backdrop=backdrop))
    for piece in puzzle.pieces:
        deep, colors = depth(piece), piece.image.astype(float)
        outermost = colors[piece.mask & (deep == 1)].mean(axis=0)
        pull = (outermost - 40) / (np.array(backdrop) - 40)
        assert (pull > 0.1).all()
        assert (pull < 0.6).all()
        assert (piece.image[deep > halo + 1.5] == 40).all()


def test_a_white_halo_on_dark_content_reaches_the_levels_of_real_scans() -> None:
    levels = by_depth(damaged(Damage(halo_px=1.0, blur_px=0.4, mask_px=0.2), jpeg_quality=80)[0])
    assert levels[0] - levels[5] > 50
    assert abs(levels[4] - levels[7]) < 4


def test_all_pieces_of_a_scan_have_the_same_halo() -> None:
    puzzle, _ = damaged(Damage(halo_px=2.0))
    levels = [piece.image[piece.mask & (depth(piece) == 1)].mean() for piece in puzzle.pieces]
    assert np.ptp(levels) < 12


@given(seed=seeds, offset=st.floats(-3.0, 3.0))
@settings(max_examples=10, deadline=None)
def test_masks_end_inside_or_outside_of_the_true_outline(seed: int, offset: float) -> None:
    exact, truth = damaged(CLEAN, seed)
    cut, cut_truth = damaged(Damage(mask_px=offset, backdrop=(254, 255, 255)), seed)
    least, most = 0.47 * abs(offset) - 2.0, 1.35 * abs(offset) + 2.0  # uneven; corners are rounded; put back pixel by pixel
    for a, b in zip(exact.pieces, cut.pieces, strict=True):
        before, after = np.pad(in_picture(a, truth), 8), np.pad(in_picture(b, cut_truth), 8)
        seen = np.pad(np.ones(SIZE[::-1], bool), 8)
        within, beyond = (cv2.distanceTransform(m.astype(np.uint8), cv2.DIST_L2, 5) for m in (before, ~before))
        if offset >= 0:
            assert beyond[after].max() <= most
            assert after[(beyond <= least) & seen].all()
        else:
            assert within[after].min() >= least
            assert after[within > most].mean() > 0.999
        grown = (int(b.mask.sum()) - int(a.mask.sum())) / np.count_nonzero(depth(a) == 1)
        assert 0.5 * abs(offset) - 0.1 < abs(grown) < 1.6 * abs(offset) + 0.1
        assert abs(offset) < 0.2 or grown * offset > 0
        if offset > 1.5:
            assert (b.image[b.mask & (depth(b) == 1)] > 200).mean() > 0.8


@given(seed=seeds)
@settings(max_examples=6, deadline=None)
def test_truth_is_exact_for_pieces_that_are_not_bent(seed: int) -> None:
    damage = Damage(loss_px=8.0, rough_px=0.8, crumble_px=8.0, tear_px=4.0, halo_px=1.5, mask_px=0.5, blur_px=0.5, whiskers=1.0)
    puzzle, truth = damaged(damage, seed, picture=ramp_picture())
    for piece in puzzle.pieces:
        inside = (depth(piece) > 14) & (np.abs(piece.image[..., 2].astype(int) - 90) <= 1)
        y, x = np.nonzero(inside)
        at = truth.poses[piece.idx] @ np.stack([x, y], axis=1).astype(np.float64)
        seen = piece.image[inside][:, :2].astype(float) - (8, 20)
        assert len(x) > 100
        np.testing.assert_allclose((seen - at).mean(axis=0), 0.0, atol=0.1)
        assert np.percentile(np.abs(seen - at), 99) < 1.0


def test_blur_sharpening_and_jpeg_change_colours_and_not_masks() -> None:
    exact, _ = damaged(CLEAN, picture=ramp_picture())
    for damage, quality in ((Damage(blur_px=1.0), None), (Damage(sharpen=1.0), None), (CLEAN, 30)):
        seen, _ = damaged(damage, picture=ramp_picture(), jpeg_quality=quality)
        for a, b in zip(exact.pieces, seen.pieces, strict=True):
            np.testing.assert_array_equal(a.mask, b.mask)
            assert np.abs(a.image[a.mask].astype(float) - b.image[a.mask]).mean() > 0.3


def test_blur_and_sharpening_leave_their_marks_beside_the_outline() -> None:
    assert by_depth(damaged(CLEAN)[0]) == pytest.approx(np.full(8, 40.0), abs=0.01)
    blurred = by_depth(damaged(Damage(blur_px=1.5))[0])
    assert (np.diff(blurred[:5]) < 0).all()
    assert blurred[0] > 90
    sharp = by_depth(damaged(Damage(halo_px=1.5, sharpen=1.0))[0])
    assert sharp[2] < 40 < sharp[0]


def test_shadow_falls_to_the_same_side_of_all_pieces_and_is_cut_out_with_them() -> None:
    exact, _ = damaged(CLEAN, 5, pieces=9)
    cast, _ = damaged(Damage(shadow=0.8, mask_px=2.5), 5, pieces=9)
    towards = []
    for piece in cast.pieces:
        rim = piece.mask & (depth(piece) <= 2)
        dark = rim & (piece.image[..., 0] < 200) & (piece.image[..., 0] > 60)
        towards.append(np.array(ndimage.center_of_mass(dark)) - ndimage.center_of_mass(rim))
    angles = np.array(towards) / np.linalg.norm(towards, axis=1, keepdims=True)
    assert np.linalg.norm(angles.mean(axis=0)) > 0.8
    taken, _ = damaged(Damage(shadow=0.8), 5, pieces=9)
    assert all(b.mask.sum() > a.mask.sum() for a, b in zip(exact.pieces, taken.pieces, strict=True))


def test_whiskers_stand_out_and_hang_on() -> None:
    exact, _ = damaged(CLEAN, 2)
    hairy, _ = damaged(Damage(whiskers=6.0), 2)
    more = [int(b.mask.sum()) - int(a.mask.sum()) for a, b in zip(exact.pieces, hairy.pieces, strict=True)]
    assert min(more) >= 0
    assert max(more) > 10
    for piece in hairy.pieces:
        assert ndimage.label(piece.mask)[1] == 1
        thin = piece.mask & ~ndimage.binary_opening(piece.mask, np.ones((3, 3)))
        assert np.count_nonzero(thin) < 6 * 4 * 12
        assert not piece.image[~piece.mask].any()
