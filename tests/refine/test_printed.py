"""How far apart pieces belong, told by what is printed on them."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
import scipy

from jigsawnet.borders import Borders, build_borders
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2, fit_rigid
from jigsawnet.refine import RefineConfig, refine_poses
from jigsawnet.refine.printed import PrintedGap, find_printed_gap
from jigsawnet.refine.seams import align_seams
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.shred.cuts import cut_cells, find_regions
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array

Cut = tuple[Puzzle, Assembly]
_ROOM_PX = 6


@pytest.fixture(scope="module")
def photo() -> UInt8Array:
    """A picture as rough as photographs are: noise of all scales, the larger the stronger."""
    rng = np.random.default_rng(3)
    layers = [cv2.resize(rng.standard_normal((480 // k, 640 // k, 3)), (640, 480)) * k**0.8 for k in (2, 4, 8, 16, 32, 80)]
    whole = np.sum(layers, axis=0)
    return np.asarray(np.clip(128 + 45 * (whole - whole.mean()) / whole.std(), 1, 255), np.uint8)


def share_cuts(picture: UInt8Array, shared_px: int, perturbation: float = 0.05) -> Cut:
    """25 pieces, each with ``shared_px`` of its neighbour to the right and below, as when cuts belong to both sides."""
    config = ShredConfig(pieces=25, perturbation=perturbation)
    height, width, _ = picture.shape
    regions = find_regions(cut_cells(height, width, config, np.random.default_rng(4)))
    regions = np.pad(regions, _ROOM_PX, constant_values=-1)
    picture = np.pad(picture, ((_ROOM_PX, _ROOM_PX), (_ROOM_PX, _ROOM_PX), (0, 0)), mode="edge")
    kernel = np.ones((shared_px + 1, shared_px + 1), np.uint8)
    pieces, poses = [], {}
    for idx, (rows, cols) in enumerate(scipy.ndimage.find_objects(regions + 1)):
        box = np.s_[rows.start - _ROOM_PX : rows.stop + _ROOM_PX, cols.start - _ROOM_PX : cols.stop + _ROOM_PX]
        mask = cv2.dilate((regions[box] == idx).astype(np.uint8), kernel, anchor=(shared_px, shared_px)) > 0
        pieces.append(Piece(idx, str(idx), picture[box], mask))
        poses[idx] = SE2(0.0, cols.start - _ROOM_PX, rows.start - _ROOM_PX)
    return Puzzle("shared", tuple(pieces)), Assembly(len(pieces), poses, (tuple(range(len(pieces))),))


def borders_of(puzzle: Puzzle) -> Borders:
    return build_borders(trace_contours(puzzle, ContourConfig()))


def read(cut: Cut) -> PrintedGap:
    """What the print says when pieces lie edge to edge, where shape alone puts them."""
    puzzle, truth = cut
    borders = borders_of(puzzle)
    found = find_printed_gap(puzzle, borders, align_seams(borders, truth.poses)[0])
    assert found is not None
    return found


def worst_error(borders: Borders, assembly: Assembly, truth: Assembly) -> float:
    """Largest distance of a piece's centre from the truth, px, after the best motion of the whole."""
    found, true = (
        np.array([a.poses[k] @ borders.center[k].astype(np.float64) for k in range(len(borders))]) for a in (assembly, truth)
    )
    motion = fit_rigid(found, true)
    assert motion is not None
    return float(np.linalg.norm((motion @ found) - true, axis=1).max())


@pytest.mark.parametrize("perturbation", [0.05, 0.0])
@pytest.mark.parametrize("shared_px", [1, 2])
def test_an_overlap_is_found_with_its_sign(photo: UInt8Array, shared_px: int, perturbation: float) -> None:
    found = read(share_cuts(photo, shared_px, perturbation))
    assert found.is_sure
    assert found.gap_px == pytest.approx(-shared_px, abs=0.25)


@pytest.mark.parametrize("perturbation", [0.05, 0.0])
def test_a_clean_cut_shows_none(photo: UInt8Array, perturbation: float) -> None:
    for cut in (
        share_cuts(photo, 0, perturbation),
        shred_images([photo], ShredConfig(pieces=25, perturbation=perturbation), np.random.default_rng(4)),
    ):
        found = read(cut)
        assert not found.is_sure
        assert abs(found.gap_px) < 0.3


def test_the_gap_of_straight_worn_edges_is_found(photo: UInt8Array) -> None:
    config = ShredConfig(pieces=25, perturbation=0.0, erosion_px=0.5)
    puzzle, truth = shred_images([photo], config, np.random.default_rng(4))
    borders = borders_of(puzzle)
    shut, _ = align_seams(borders, truth.poses)
    assert align_seams(borders, shut, find_gap=True)[1].gap_px == 0.0, "shape tells nothing"
    found = find_printed_gap(puzzle, borders, shut)
    assert found is not None
    assert found.is_sure
    lost = sum(p.mask.sum() for p in share_cuts(photo, 0, 0.0)[0].pieces) - sum(p.mask.sum() for p in puzzle.pieces)
    per_side = lost / sum(borders.step_px * np.diff(borders.first))
    assert found.gap_px == pytest.approx(2 * per_side, abs=0.35)


def test_where_pieces_lie_now_does_not_matter(photo: UInt8Array) -> None:
    puzzle, truth = share_cuts(photo, 1)
    borders = borders_of(puzzle)
    shut = find_printed_gap(puzzle, borders, align_seams(borders, truth.poses)[0])
    true = find_printed_gap(puzzle, borders, truth.poses, gap_px=-1.0)
    assert shut is not None
    assert true is not None
    assert true.gap_px == pytest.approx(shut.gap_px, abs=0.15)


def test_colours_unlike_from_piece_to_piece_are_no_gap(photo: UInt8Array) -> None:
    config = ShredConfig(pieces=25, color_shift=12.0)
    found = read(shred_images([photo], config, np.random.default_rng(4)))
    assert not found.is_sure
    assert found.unbalanced_px > 0.3


def test_a_rim_alike_on_all_pieces_is_no_overlap(photo: UInt8Array) -> None:
    puzzle, truth = share_cuts(photo, 0)
    darkened = []
    for piece in puzzle.pieces:
        depth = cv2.distanceTransform(piece.mask.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
        shade = np.clip(depth / 4.0, 0.2, 1.0)[..., None]
        darkened.append(replace(piece, image=(piece.image * shade).astype(np.uint8)))
    found = read((Puzzle("dark", tuple(darkened)), truth))
    assert found.gap_px < -0.3, "both sides are alike dark"
    assert found.rim > 1.25
    assert not found.is_sure


def test_few_seams_say_nothing(photo: UInt8Array) -> None:
    puzzle, truth = share_cuts(photo, 1)
    borders = borders_of(puzzle)
    assert find_printed_gap(puzzle, borders, {k: truth.poses[k] for k in (0, 1, 5, 6)}) is None
    assert find_printed_gap(puzzle, borders, {3: truth.poses[3]}) is None


@pytest.mark.parametrize(
    ("found", "sure"),
    [
        (PrintedGap(-0.8, 0.1, 1.0, 0.0), True),
        (PrintedGap(0.8, 0.1, 1.0, 0.0), True),
        (PrintedGap(-0.8, 0.25, 1.0, 0.0), False),
        (PrintedGap(-0.2, 0.01, 1.0, 0.0), False),
        (PrintedGap(3.5, 0.1, 1.0, 0.0), False),
        (PrintedGap(-0.8, 0.1, 0.7, 0.0), False),
        (PrintedGap(-0.8, 0.1, 1.4, 0.0), False),
        (PrintedGap(0.8, 0.1, 1.0, 0.5), False),
        (PrintedGap(-0.8, 0.1, 1.0, 0.5), True),
    ],
)
def test_a_gap_is_sure_when_nothing_speaks_against_it(found: PrintedGap, sure: bool) -> None:
    assert found.is_sure is sure


def test_pieces_are_laid_on_each_other_by_their_overlap(photo: UInt8Array) -> None:
    puzzle, truth = share_cuts(photo, 1)
    borders = borders_of(puzzle)
    by_shape, shape = refine_poses(truth, borders, RefineConfig(), Context())
    by_print, stats = refine_poses(truth, borders, RefineConfig(), Context(), puzzle=puzzle)
    assert (shape.gap_px, by_shape.gap_px) == (0.0, 0.0), "one border is a shifted copy of the other"
    assert stats.gap_px == by_print.gap_px == pytest.approx(-1.0, abs=0.25)
    assert worst_error(borders, by_shape, truth) > 2.0
    assert worst_error(borders, by_print, truth) < 0.8
    off, stats = refine_poses(truth, borders, RefineConfig(gap=False), Context(), puzzle=puzzle)
    assert stats.gap_px == off.gap_px == 0.0
