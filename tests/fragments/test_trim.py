"""What texture adds to a mask goes: whiskers, lines, phantoms, the scan's edge; tabs and strong thin parts stay."""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.fragments.trim import Tint, slits, thin_lines, trim_mask
from jigsawnet.types import BoolArray, Float32Array


def two_pieces() -> tuple[BoolArray, Float32Array]:
    """Two squares of side 80, one with a round tab, which stand out by 100 levels."""
    mask = np.zeros((240, 400), np.uint8)
    mask[60:140, 40:120] = 1
    mask[60:140, 250:330] = 1
    cv2.circle(mask, (132, 100), 16, 1, -1)
    return mask.astype(bool), np.where(mask, np.float32(100), np.float32(2))


def test_a_faint_whisker_goes_and_a_tab_stays() -> None:
    mask, strength = two_pieces()
    grown, weak = mask.copy(), strength.copy()
    grown[138:200, 60:63] = True
    weak[140:200, 60:63] = 10
    trimmed = trim_mask(grown, weak)
    assert not trimmed.mask[150:, 55:70].any()
    assert trimmed.mask[100, 145]
    assert np.count_nonzero(trimmed.mask ^ mask) < 0.01 * mask.sum()


def test_a_thin_part_that_stands_out_as_pieces_do_is_paper() -> None:
    mask, strength = two_pieces()
    mask[138:160, 60:63] = True
    strength[138:160, 60:63] = 100
    assert trim_mask(mask, strength).mask[155, 61]


def test_a_faint_blob_beside_a_piece_goes_and_a_dark_part_within_it_stays() -> None:
    mask, strength = two_pieces()
    mask[30:60, 260:285] = True
    strength[30:60, 260:285] = 9
    strength[90:110, 60:80] = 9
    trimmed = trim_mask(mask, strength).mask
    assert not trimmed[35:55, 265:280].any()
    assert trimmed[92:108, 62:78].all()


def socket(tint_in_it: float, tint_of_paper: float, beside: float = 100.0) -> tuple[BoolArray, Float32Array, Tint]:
    """A piece with a round socket in its upper side, filled by something faint of some tint; the mask holds it."""
    mask = np.zeros((240, 400), np.uint8)
    mask[60:160, 60:180] = 1
    mask[60:160, 250:330] = 1
    hole = cv2.circle(np.zeros_like(mask), (120, 78), 22, 1, -1).astype(bool) & (mask > 0)
    strength = np.where(mask, np.float32(beside), np.float32(2))
    strength[60:160, 250:330] = 100
    strength[hole] = 9
    off = np.where(mask, np.float32(tint_of_paper), np.float32(0))
    off[hole] = tint_in_it
    return mask.astype(bool), strength, Tint(lambda window: off[window], 5.0)


def test_gray_light_smeared_into_the_socket_of_a_colored_piece_is_taken_off() -> None:
    mask, strength, tint = socket(tint_in_it=1.0, tint_of_paper=30.0)
    trimmed = trim_mask(mask, strength, tint).mask
    assert not trimmed[64:96, 112:128].any()
    assert trimmed[104:156, 70:170].all()
    assert trim_mask(mask, strength).mask[64:96, 112:128].all()


def test_of_the_smallest_smear_too_the_paper_beside_it_is_looked_at() -> None:
    mask, strength = two_pieces()
    off = np.where(mask, np.float32(30), np.float32(0))
    strength[60:63, 80:83], off[60:63, 80:83] = 9, 1
    trimmed = trim_mask(mask, strength, Tint(lambda window: off[window], 5.0)).mask
    assert not trimmed[60:63, 80:83].any()


def test_dark_print_that_reaches_the_border_stays() -> None:
    """It has a tint of its own; or the piece has none either, and then nothing tells print from light; or it begins softly."""
    for tint_in_it, tint_of_paper, beside in ((4.0, 30.0, 100.0), (1.0, 1.0, 100.0), (1.0, 30.0, 30.0)):
        mask, strength, tint = socket(tint_in_it, tint_of_paper, beside)
        assert trim_mask(mask, strength, tint).mask[64:96, 112:128].all()


def test_phantoms_and_the_edge_of_the_scan_are_dropped_and_counted() -> None:
    mask, strength = two_pieces()
    mask[180:210, 160:180] = True
    strength[180:210, 160:180] = 9
    mask[:, 394:] = True
    strength[:, 394:] = 150
    trimmed = trim_mask(mask, strength)
    assert (trimmed.n_phantoms, trimmed.n_edges) == (1, 1)
    assert not trimmed.mask[180:210, 160:180].any()
    assert not trimmed.mask[:, 394:].any()
    assert trimmed.mask[100, 290]


def test_a_piece_at_the_border_is_no_edge() -> None:
    mask, strength = two_pieces()
    mask[100:180, 320:] = True
    strength[100:180, 320:] = 100
    assert trim_mask(mask, strength).n_edges == 0


def test_lines_are_long_and_thin() -> None:
    objects = np.zeros((200, 300), bool)
    objects[50, :] = objects[:, 120] = True
    objects[80:140, 150:220] = True
    lines = thin_lines(objects)
    assert lines[50, 10]
    assert not lines[100, 180]
    assert not thin_lines(objects & (np.arange(300) > 140)[None, :] & (np.arange(200) > 60)[:, None]).any()
    assert slits(lines)[50, 10]


def test_nothing_stays_nothing() -> None:
    assert not trim_mask(np.zeros((50, 60), bool), np.zeros((50, 60), np.float32)).mask.any()
