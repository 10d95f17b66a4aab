"""The picture equals the original, has no cracks, and keeps what is truly missing."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from jigsawnet.errors import InputError
from jigsawnet.geometry import SE2
from jigsawnet.render import image as image_module
from jigsawnet.render import lay_out, render_assembly, straighten_components
from jigsawnet.render.image import shrink_to_preview
from jigsawnet.types import Assembly, Piece, Puzzle

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


def original_on_canvas(cut, assembly):
    """The uncut picture, moved as the layout moves the assembly."""
    layout = lay_out(cut.puzzle, assembly)
    shift = layout.canvas_from_piece[0] @ assembly.poses[0].inverse()
    size = (layout.width, layout.height)
    return cv2.warpAffine(cut.picture, shift.matrix()[:2], size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)


def assert_whole(rgba, edge_px, min_alpha=255):
    """Neither transparent nor dark nor key-coloured away from the border: every channel of the picture is above 90."""
    inside = rgba[edge_px:-edge_px, edge_px:-edge_px]
    assert inside[..., 3].min() >= min_alpha
    assert inside[..., :3].min() > 70


def single(piece, pose=None):
    return Puzzle("one", (piece,)), Assembly(1, {0: pose or SE2.identity()}, ((0,),))


def test_true_poses_give_the_picture_back(turned):
    rgba = render_assembly(turned.puzzle, turned.truth)
    assert abs(rgba.shape[1] - 240) <= 1
    assert abs(rgba.shape[0] - 180) <= 1
    error = np.abs(rgba[..., :3].astype(int) - original_on_canvas(turned, turned.truth))[3:-3, 3:-3]
    assert error.mean() < 1.0
    assert error.max() < 15
    assert_whole(rgba, 3)


def test_whole_pixel_poses_give_the_picture_back_exactly(upright):
    rgba = render_assembly(upright.puzzle, upright.truth)
    assert (rgba[..., 3] == 255).all()
    assert np.abs(rgba[..., :3].astype(int) - upright.picture).max() <= 1


def test_no_crack_when_poses_are_a_little_off(turned):
    directions = np.random.default_rng(3).uniform(-np.pi, np.pi, size=9)
    assembly = turned.moved(lambda i: (0.7 * np.cos(directions[i]), 0.7 * np.sin(directions[i])))
    rgba = render_assembly(turned.puzzle, assembly)
    assert_whole(rgba, 4)
    error = np.abs(rgba[..., :3].astype(int) - original_on_canvas(turned, assembly))[4:-4, 4:-4]
    assert error.mean() < 4.0


@pytest.mark.parametrize("gap_px", [1.0, 2.0, 3.0])
def test_gaps_between_neighbours_are_closed(turned, upright, gap_px):
    for cut in (turned, upright):
        opened = cut.moved(lambda i: (gap_px * (i % 3), gap_px * (i // 3)))
        assert_whole(render_assembly(cut.puzzle, opened), 4, min_alpha=230 if gap_px > 2 else 255)


def test_wider_gaps_stay_open(upright):
    opened = upright.moved(lambda i: (9.0 * (i % 3), 9.0 * (i // 3)))
    assert (render_assembly(upright.puzzle, opened)[..., 3] == 0).sum() > 9 * 4 * 180


def test_closing_can_be_turned_off(upright):
    opened = upright.moved(lambda i: (2.0 * (i % 3), 2.0 * (i // 3)))
    assert (render_assembly(upright.puzzle, opened, max_gap_px=0)[..., 3] == 0).sum() > 2 * 180


def test_overlaps_fade_from_one_piece_to_the_other():
    dark, light = (np.full((40, 40, 3), value, np.uint8) for value in (50, 150))
    mask = np.ones((40, 40), bool)
    puzzle = Puzzle("two", (Piece(0, "dark", dark, mask), Piece(1, "light", light, mask.copy())))
    assembly = Assembly(2, {0: SE2.identity(), 1: SE2(0.0, 36.0, 0.0)}, ((0, 1),))
    row = render_assembly(puzzle, assembly)[20, :, 0].astype(int)
    assert row[30] == 50
    assert row[45] == 150
    assert (np.diff(row) >= 0).all()
    assert np.diff(row).max() <= 40


def test_a_missing_piece_stays_a_hole(upright):
    without_middle = upright.moved(lambda i: (0.0, 0.0), members=(0, 1, 2, 3, 5, 6, 7, 8))
    alpha = render_assembly(upright.puzzle, without_middle)[..., 3]
    hole = (upright.labels == 4).astype(np.uint8)
    assert (alpha[hole == 0] == 255).all()
    depth_px = cv2.distanceTransform(hole, cv2.DIST_L2, 5)
    assert (alpha[depth_px > 2.5] == 0).all()
    assert (alpha[hole > 0] > 0).mean() < 0.01  # sharp corners become a little rounder, no more


def test_the_silhouette_does_not_grow(upright):
    corner_missing = upright.moved(lambda i: (0.0, 0.0), members=(0, 1, 2, 3, 4, 5, 6, 7))
    alpha = render_assembly(upright.puzzle, corner_missing)[..., 3]
    paper = (upright.labels != 8).astype(np.uint8)
    assert (alpha[cv2.dilate(paper, np.ones((3, 3), np.uint8)) == 0] == 0).all()


def test_a_pinhole_of_a_single_piece_is_kept():
    mask = np.ones((20, 20), bool)
    mask[10, 10] = False
    puzzle, assembly = single(Piece(0, "a", np.full((20, 20, 3), 200, np.uint8), mask))
    alpha = render_assembly(puzzle, assembly)[..., 3]
    assert np.argwhere(alpha == 0).tolist() == [[10, 10]]


def test_the_background_never_shines_through():
    mask = np.zeros((60, 60), np.uint8)
    cv2.circle(mask, (30, 30), 20, 1, -1)
    image = np.where(mask[..., None] > 0, np.uint8(120), np.array([255, 0, 255], np.uint8)).astype(np.uint8)
    rgba = render_assembly(*single(Piece(0, "disc", image, mask > 0), SE2(0.3, 0.4, 0.7)))
    assert (rgba[rgba[..., 3] > 0][:, :3] == 120).all()
    assert abs((rgba[..., 3] / 255.0).sum() - mask.sum()) < 0.01 * mask.sum()


def test_the_same_input_gives_the_same_picture(turned):
    assert np.array_equal(render_assembly(turned.puzzle, turned.truth), render_assembly(turned.puzzle, turned.truth))


def test_bands_do_not_show(turned, monkeypatch):
    whole = render_assembly(turned.puzzle, turned.truth)
    monkeypatch.setattr(image_module, "_BAND_PIXELS", 240 * 37)
    banded = render_assembly(turned.puzzle, turned.truth)
    assert np.abs(whole.astype(int) - banded).max() <= 3


def test_nothing_placed_is_one_transparent_pixel(upright):
    rgba = render_assembly(upright.puzzle, Assembly(9, {}, ()))
    assert rgba.tolist() == [[[0, 0, 0, 0]]]


def test_a_piece_without_paper_is_not_drawn():
    puzzle, assembly = single(Piece(0, "empty", np.zeros((5, 5, 3), np.uint8), np.zeros((5, 5), bool)))
    assert not render_assembly(puzzle, assembly).any()


def test_unplaced_pieces_are_drawn_only_on_request(upright):
    some = upright.moved(lambda i: (0.0, 0.0), members=(0, 1, 3, 4))
    picture = render_assembly(upright.puzzle, some)
    with_tray = render_assembly(upright.puzzle, some, with_unplaced=True)
    assert np.array_equal(with_tray[: picture.shape[0], : picture.shape[1]], picture)
    missing = np.isin(upright.labels, (2, 5, 6, 7, 8)).sum()
    assert (with_tray[picture.shape[0] :, :, 3] == 255).sum() == missing


def test_an_absurd_canvas_is_refused(upright):
    far = upright.moved(lambda i: (1e6 * i, 0.0))
    with pytest.raises(InputError, match=r"would be \d+ x \d+ pixels, more than the 400,000,000 allowed"):
        render_assembly(upright.puzzle, far)


def test_the_authors_puzzle_has_no_crack():
    folder = SHARED / "examples" / "MIT_ex"
    if not folder.is_dir():
        pytest.skip("the authors' example puzzle is not here")
    key = np.array((folder / "bg_color.txt").read_text().split(), int)
    images = [cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB) for path in sorted(folder.glob("fragment_*.png"))]
    pieces = tuple(Piece(i, str(i), image, (image != key).any(axis=2)) for i, image in enumerate(images))
    swap = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    rows = [line.split() for line in (folder / "groundTruth.txt").read_text().splitlines()[1::2] if line.strip()]
    poses = {i: SE2.from_matrix(swap @ np.array(row, float).reshape(3, 3) @ swap) for i, row in enumerate(rows)}
    puzzle, truth = Puzzle("MIT_ex", pieces), Assembly(len(rows), poses, (tuple(range(len(rows))),))
    rgba = render_assembly(puzzle, straighten_components(puzzle, truth))
    inside = rgba[4:-4, 4:-4].astype(int)
    assert (inside[..., 3] == 255).all()
    assert np.abs(inside[..., :3] - key).max(axis=2).min() > 60


def test_the_compiled_sums_are_those_of_the_formula_to_the_bit():
    rng = np.random.default_rng(7)
    depth = rng.uniform(-9.0, 6.0, (40, 50)).astype(np.float32)
    color = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    reach = np.float32(7.0)
    band = image_module._new_band(0, 0, 60, 45)
    for _ in range(2):
        image_module._add(band.color, band.weight, band.coverage, band.n_near, 6, 3, color, depth, reach)
    weight = np.clip((depth + 0.5) / 3.0, 0.0, 1.0) + 1e-3 * np.clip(1.0 + depth / 7, 0.0, 1.0)
    part = color * weight[..., None]
    window = np.s_[3:43, 6:56]
    assert np.array_equal(band.weight[window], weight + weight)
    assert np.array_equal(band.color[window], part + part)
    assert np.array_equal(band.coverage[window], 2 * np.clip(depth + 0.5, 0.0, 1.0))
    assert np.array_equal(band.n_near[window], np.where(depth > -7, 2, 0))
    assert np.count_nonzero(band.weight) == np.count_nonzero(weight)


def test_a_picture_that_is_too_large_is_drawn_smaller(turned) -> None:
    whole = render_assembly(turned.puzzle, turned.truth)
    puzzle, assembly, shrink = shrink_to_preview(turned.puzzle, turned.truth, max_pixels=whole[..., 0].size // 10)
    small = render_assembly(puzzle, assembly)
    assert shrink == 4
    assert small[..., 0].size <= whole[..., 0].size // 10
    rows, cols = (min(a, b // shrink) for a, b in zip(small.shape[:2], whole.shape[:2], strict=True))
    expected = cv2.resize(whole[: rows * shrink, : cols * shrink], (cols, rows), interpolation=cv2.INTER_AREA)
    inside = slice(4, -4), slice(4, -4)
    assert np.abs(small[:rows, :cols].astype(int) - expected)[inside].mean() < 6
    assert shrink_to_preview(turned.puzzle, turned.truth)[2] == 1
