"""The mask of a piece: exact where the data is exact, within a pixel where it is not."""

from __future__ import annotations

import io
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from jigsawnet.errors import InputError
from jigsawnet.fragments import NoPieceError, make_piece
from jigsawnet.fragments.masks import difference_from, fill_small_holes, find_key_color, find_mask
from jigsawnet.types import BoolArray, UInt8Array

EXAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "examples"
Color = tuple[int, int, int]
GREEN: Color = (8, 248, 8)


def star_mask(size: int = 160, seed: int = 0) -> BoolArray:
    """A ragged blob in the middle of the picture."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    radii = size * rng.uniform(0.28, 0.42, angles.size)
    points = np.stack([size / 2 + radii * np.cos(angles), size / 2 + radii * np.sin(angles)], axis=1)
    canvas = np.zeros((size, size), dtype=np.uint8)
    return cv2.fillPoly(canvas, [np.rint(points).astype(np.int32)], 1).astype(np.bool_)


def texture(size: int = 160, seed: int = 0) -> UInt8Array:
    """Smooth random colours over the whole range."""
    rng = np.random.default_rng(seed)
    return cv2.resize(rng.integers(30, 226, (12, 12, 3), dtype=np.uint8), (size, size), interpolation=cv2.INTER_CUBIC)


def piece_on(key: Color, seed: int = 0) -> tuple[UInt8Array, BoolArray]:
    mask = star_mask(seed=seed)
    return np.where(mask[..., np.newaxis], texture(seed=seed), np.array(key, dtype=np.uint8)), mask


def as_jpeg(rgb: UInt8Array, quality: int) -> UInt8Array:
    stream = io.BytesIO()
    Image.fromarray(rgb).save(stream, format="JPEG", quality=quality, subsampling="4:2:0")
    return np.array(Image.open(stream))


def join(mask: BoolArray) -> BoolArray:
    return mask & ~cv2.erode(mask.astype(np.uint8), np.ones((3, 3), dtype=np.uint8)).astype(np.bool_)


def border_distance_px(a: BoolArray, b: BoolArray) -> float:
    """Mean distance between the borders of two masks, both ways."""

    def one_way(source: BoolArray, target: BoolArray) -> float:
        return float(cv2.distanceTransform((~target).astype(np.uint8), cv2.DIST_L2, 5)[source].mean())

    return 0.5 * (one_way(join(a), join(b)) + one_way(join(b), join(a)))


def test_alpha_decides_before_any_colour() -> None:
    rgb, _ = piece_on(GREEN)
    alpha = np.zeros(rgb.shape[:2], dtype=np.uint8)
    alpha[40:80, 40:90] = 255
    alpha[40:80, 90], alpha[40:80, 91] = 128, 127
    piece = make_piece(3, "a.png", np.dstack([rgb, alpha]), GREEN)
    np.testing.assert_array_equal(piece.mask, alpha > 127)
    assert (piece.idx, piece.name) == (3, "a.png")
    assert not piece.image[~piece.mask].any()
    np.testing.assert_array_equal(piece.image[piece.mask], rgb[piece.mask])


@pytest.mark.parametrize("given_key", [True, False])
@pytest.mark.parametrize("key", [GREEN, (0, 0, 0), (255, 255, 255)])
def test_a_lossless_key_colour_gives_the_exact_mask(key: Color, given_key: bool) -> None:
    rgb, truth = piece_on(key)
    np.testing.assert_array_equal(make_piece(0, "a", rgb, key if given_key else None).mask, truth)


def test_opaque_rgba_counts_as_rgb() -> None:
    rgb, truth = piece_on(GREEN)
    opaque = np.dstack([rgb, np.full(rgb.shape[:2], 255, dtype=np.uint8)])
    np.testing.assert_array_equal(make_piece(0, "a", opaque, None).mask, truth)


def test_colours_one_level_from_the_key_are_paper() -> None:
    rgb, truth = piece_on(GREEN)
    rgb[70:90, 70:90] = (8, 248, 9)
    rgb[20, 20] = (8, 248, 9)
    mask = find_mask(rgb, GREEN)
    assert mask is not None
    np.testing.assert_array_equal(mask, truth | (difference_from(rgb, GREEN) == 1))


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the shared example puzzles")
@pytest.mark.parametrize("puzzle", ["MIT_ex", "BGU_100"])
def test_the_authors_pieces_have_hard_edges(puzzle: str) -> None:
    red, green, blue = map(int, (EXAMPLES / puzzle / "bg_color.txt").read_text().split())
    for path in sorted((EXAMPLES / puzzle).glob("fragment_*.png"))[:30]:
        rgb = np.array(Image.open(path))
        truth = difference_from(rgb, (red, green, blue)) > 0
        for key in ((red, green, blue), None):
            np.testing.assert_array_equal(make_piece(0, path.name, rgb, key).mask, truth)


@pytest.mark.parametrize("quality", [60, 80, 95])
@pytest.mark.parametrize("key", [GREEN, (248, 8, 232), (0, 0, 0), (255, 255, 255)])
def test_jpeg_masks_are_within_a_pixel(key: Color, quality: int) -> None:
    for seed in range(2):
        rgb, truth = piece_on(key, seed)
        for given_key in (key, None):
            piece = make_piece(0, "a.jpg", as_jpeg(rgb, quality), given_key)
            assert border_distance_px(piece.mask, truth) < 0.5
            growth_px = (int(piece.mask.sum()) - int(truth.sum())) / join(truth).sum()
            assert abs(growth_px) < 0.2


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the shared example puzzles")
def test_jpeg_masks_of_real_pieces() -> None:
    for path in sorted((EXAMPLES / "MIT_ex").glob("fragment_*.png"))[:4]:
        rgb = np.array(Image.open(path))
        truth = difference_from(rgb, (248, 8, 232)) > 0
        assert border_distance_px(make_piece(0, path.name, as_jpeg(rgb, 75), None).mask, truth) < 0.3


def test_antialiased_edges_are_cut_halfway() -> None:
    rgb, truth = piece_on(GREEN)
    turn = cv2.getRotationMatrix2D((80, 80), 10, 1.0)
    turned = cv2.warpAffine(rgb, turn, (160, 160), flags=cv2.INTER_LINEAR, borderValue=GREEN)
    coverage = cv2.warpAffine(truth.astype(np.float32), turn, (160, 160), flags=cv2.INTER_LINEAR)
    mask = make_piece(0, "a", turned, None).mask
    assert border_distance_px(mask, coverage > 0.5) < 0.3


def test_sensor_noise_does_not_fray_the_mask() -> None:
    rgb, truth = piece_on((20, 60, 200))
    noise = np.random.default_rng(1).normal(0, 4, rgb.shape)
    noisy = np.clip(rgb + noise, 0, 255).astype(np.uint8)
    assert border_distance_px(make_piece(0, "a", noisy, None).mask, truth) < 0.3


def test_paper_that_looks_like_the_key_is_no_hole_unless_large() -> None:
    mask = star_mask()
    speckled = mask.copy()
    speckled[78:84, 78:84] = False
    np.testing.assert_array_equal(fill_small_holes(speckled), mask)
    ring = mask.copy()
    ring[60:100, 60:100] = False
    np.testing.assert_array_equal(fill_small_holes(ring), ring)


def test_a_corner_gap_is_no_hole() -> None:
    mask = np.zeros((8, 8), dtype=np.bool_)
    mask[1:7, 1:7] = True
    mask[1, 1] = mask[2, 2] = False
    np.testing.assert_array_equal(fill_small_holes(mask), mask)


@pytest.mark.parametrize("quality", [None, 75])
def test_a_piece_may_touch_the_border(quality: int | None) -> None:
    rgb, truth = piece_on(GREEN)
    rgb, truth = rgb[30:, 20:], truth[30:, 20:]
    piece = make_piece(0, "a", rgb if quality is None else as_jpeg(rgb, quality), None)
    assert border_distance_px(piece.mask, truth) < 0.5


def test_specks_are_ignored_and_the_mask_is_one_part() -> None:
    rgb, truth = piece_on(GREEN)
    rgb[3:7, 3:7] = 0
    rgb[150, 150] = 0
    np.testing.assert_array_equal(make_piece(0, "a", rgb, GREEN).mask, truth)


@pytest.mark.parametrize("quality", [None, 80])
def test_a_scan_of_several_pieces_is_refused(quality: int | None) -> None:
    one, _ = piece_on(GREEN)
    two, _ = piece_on(GREEN, seed=1)
    scan = np.hstack([one, two])
    with pytest.raises(InputError, match=r"scan\.png shows 2 pieces.*jigsawnet cut"):
        make_piece(0, "scan.png", scan if quality is None else as_jpeg(scan, quality), None)


def test_a_photo_without_background_is_refused() -> None:
    with pytest.raises(InputError, match=r"photo\.jpg: no background was found.*RGBA"):
        make_piece(0, "photo.jpg", texture(), None)


def test_a_smooth_gradient_is_not_a_background() -> None:
    ramp = np.broadcast_to(np.linspace(60, 130, 100, dtype=np.uint8)[:, np.newaxis, np.newaxis], (100, 100, 3))
    assert find_key_color(np.ascontiguousarray(ramp)) is None


def test_a_wrong_key_colour_is_told() -> None:
    rgb, _ = piece_on(GREEN)
    with pytest.raises(InputError, match=r"a\.png: the background has the colour \(8, 248, 8\), not \(248, 8, 8\)"):
        make_piece(0, "a.png", rgb, (248, 8, 8))


def test_with_a_known_key_colour_a_piece_may_fill_its_picture() -> None:
    assert make_piece(0, "a.png", texture(), (255, 0, 255)).mask.all()


@pytest.mark.parametrize("channels", [3, 4])
def test_all_background(channels: int) -> None:
    empty = np.zeros((40, 40, channels), dtype=np.uint8)
    with pytest.raises(NoPieceError, match=r"a\.png shows only background"):
        make_piece(0, "a.png", empty, None)
    noise = np.random.default_rng(0).normal(128, 2, (40, 40, 3)).astype(np.uint8)
    with pytest.raises(NoPieceError):
        make_piece(0, "a.jpg", noise, None)


@pytest.mark.parametrize("shape", [(1, 1), (3, 30), (1, 40)])
def test_a_tiny_piece_is_refused(shape: tuple[int, int]) -> None:
    height, width = shape
    picture = np.zeros((50, 50, 4), dtype=np.uint8)
    picture[5 : 5 + height, 5 : 5 + width] = 255
    for pixels in (picture, picture[5 : 5 + height, 5 : 5 + width], picture[..., :3]):
        with pytest.raises(NoPieceError, match="less than 4 x 4 pixels"):
            make_piece(0, "a.png", pixels, None)


def test_a_piece_of_four_by_four_is_enough() -> None:
    picture = np.zeros((20, 20, 3), dtype=np.uint8)
    picture[5:9, 5:9] = 200
    assert make_piece(0, "a.png", picture, None).mask.sum() == 16


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(1, 24),
    width=st.integers(1, 24),
    channels=st.sampled_from([3, 4]),
    levels=st.sampled_from([2, 4, 256]),
    key=st.sampled_from([None, GREEN, (0, 0, 0)]),
)
def test_any_picture_gives_one_connected_piece_or_an_input_error(
    seed: int, height: int, width: int, channels: int, levels: int, key: Color | None
) -> None:
    rng = np.random.default_rng(seed)
    pixels = (rng.integers(0, levels, (height, width, channels)) * (255 // (levels - 1))).astype(np.uint8)
    try:
        piece = make_piece(0, "a.png", pixels, key)
    except InputError:
        return
    n_labels, _ = cv2.connectedComponents(piece.mask.astype(np.uint8), connectivity=8)
    assert n_labels == 2
    assert not piece.image[~piece.mask].any()
