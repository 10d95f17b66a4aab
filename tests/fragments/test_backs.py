"""Backs that lie anywhere, turned over one by one, are paired by their shapes; pieces that are all alike are not."""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.fragments.backs import are_placed, lay_back, pair_backs, pair_by_shape, pair_sides
from jigsawnet.fragments.scan import ScanResult, find_pieces
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Piece, UInt8Array
from jigsawnet_bench.scans.lay import LaidPiece, SheetConfig, make_scans

CONFIG = SheetConfig(width=560, height=520, color=(30, 60, 140), gap_px=8, shadow=0.0)


def pieces() -> tuple[Piece, ...]:
    picture = np.random.default_rng(0).integers(120, 250, (6, 8, 3), dtype=np.uint8)
    large = np.asarray(cv2.resize(picture, (320, 240), interpolation=cv2.INTER_CUBIC), np.uint8)
    return shred_images([large], ShredConfig(pieces=9), np.random.default_rng(1))[0].pieces


def turned_over(piece: Piece) -> Piece:
    mask = np.ascontiguousarray(piece.mask[:, ::-1])
    return Piece(piece.idx, piece.name, np.where(mask[..., None], np.uint8(210), np.uint8(0)).repeat(3, axis=2), mask)


def scan(some: tuple[Piece, ...], seed: int) -> tuple[UInt8Array, ScanResult, list[int]]:
    """A page, what is found on it, and which piece each is."""
    (page,), laid = make_scans(some, CONFIG, np.random.default_rng(seed))
    found = find_pieces(page)
    return page, found, [_nearest(found, k, laid) for k in range(len(found.pieces))]


def _nearest(found: ScanResult, k: int, laid: list[LaidPiece]) -> int:
    x, y, width, height = found.pieces[k].box
    middle = np.array([x + width / 2, y + height / 2])
    away = [np.linalg.norm(np.array(one.corner) + np.array(one.mask.shape[::-1]) / 2 - middle) for one in laid]
    return laid[int(np.argmin(away))].idx


def test_pieces_turned_over_one_by_one_are_paired_by_shape() -> None:
    fronts = pieces()
    _, front, front_idx = scan(fronts, 2)
    _, back, back_idx = scan(tuple(turned_over(piece) for piece in fronts), 3)
    assert len(front.pieces) == len(back.pieces) == 9
    assert not are_placed(front, back, pair_backs(front, back))
    placed, pairs = pair_sides(front, back)
    assert (len(placed), len(pairs)) == (0, 9)
    assert all(front_idx[i] == back_idx[j] for i, j in pairs.items())
    one, other = front.pieces[0], back.pieces[pairs[0]]
    laid = lay_back(Piece(0, "a", one.image, one.mask), Piece(0, "b", other.image, other.mask), any_angle=True)
    assert np.array_equal(laid.mask[:, ::-1], one.mask)
    assert pair_by_shape(front, back, pairs) == {}


def test_a_page_turned_as_a_whole_is_known_as_such() -> None:
    page, front, _ = scan(pieces(), 2)
    back = find_pieces(np.ascontiguousarray(page[:, ::-1]))
    placed = pair_backs(front, back)
    assert len(placed) == 9
    assert are_placed(front, back, placed)
    assert pair_sides(front, back) == (placed, {})


def test_pieces_that_are_all_alike_are_not_paired_by_shape() -> None:
    page = np.full((260, 400, 3), 235, np.uint8)
    for x in (30, 150, 270):
        page[60:150, x : x + 80] = (150, 60, 40)
    found = find_pieces(np.asarray(cv2.GaussianBlur(page, (0, 0), 0.6), np.uint8))
    assert len(found.pieces) == 3
    assert pair_by_shape(found, found, {}) == {}
    assert not are_placed(found, found, {})
