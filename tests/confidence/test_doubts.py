"""What is said about doubt: other places that fit as well, sentences that say why, and nothing sure about nonsense."""

from __future__ import annotations

import json
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.cli import main_code
from jigsawnet.confidence.doubts import describe_doubts, find_other_places
from jigsawnet.geometry import SE2
from jigsawnet.io.pieces import write_pieces
from jigsawnet.pipeline import solve_puzzle
from jigsawnet.shred.squares import SquareName, make_squares
from jigsawnet.types import Alignment, Assembly, Join, Puzzle, UInt8Array

SQUARES: dict[SquareName, str] = {
    "noise": "equally well in many places", "same": "equally well in many places",
    "white": "equally well in many places", "foreign": "may be of different pictures|equally well in many places",
}  # fmt: skip
"""What is said; of foreign squares either is true, and which is said depends on how alike they are."""


def blurred_picture(seed: int, width: int = 320, height: int = 240) -> UInt8Array:
    """Smooth random colours; (H, W, 3)."""
    noise = np.random.default_rng(seed).normal(size=(height, width, 3)).astype(np.float32)
    smooth = sum(cv2.GaussianBlur(noise, (0, 0), sigma) * sigma for sigma in (2.0, 9.0, 30.0))
    return np.clip(140 + 60 * smooth, 50, 255).astype(np.uint8)


def squares(kind: SquareName) -> Puzzle:
    pictures = [blurred_picture(seed) for seed in range(16 if kind == "foreign" else 1)]
    return make_squares(kind, 16, pictures, np.random.default_rng(2), side_px=72)[0]


@pytest.mark.parametrize("kind", SQUARES)
def test_of_nonsense_no_piece_is_sure_and_a_sentence_says_why(
    kind: SquareName, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pieces(tmp_path / "pieces", squares(kind))
    assert main_code(["solve", str(tmp_path / "pieces"), "-o", str(tmp_path / "out")]) == 1
    assert re.search(SQUARES[kind], capsys.readouterr().err)
    found = json.loads((tmp_path / "out" / "assembly.json").read_text(encoding="utf-8"))
    assert max(piece["confidence"] or 0.0 for piece in found["fragments"]) <= 0.5
    warnings = json.loads((tmp_path / "out" / "report.json").read_text())["warnings"]
    assert any(re.search(SQUARES[kind], text) for text in warnings)


def test_the_other_places_of_nonsense_are_named_and_shown(tmp_path: Path) -> None:
    solved = solve_puzzle(squares("noise"))
    assert solved.assembly.guesses == tuple(sorted(solved.assembly.poses))
    assert solved.report.other_places
    for place in solved.report.other_places:
        assert place.piece in place.pieces
        assert place.beside not in place.pieces
        lies = solved.assembly.poses[place.beside].inverse() @ solved.assembly.poses[place.piece]
        angle, distance = lies.distance(place.beside_from_piece, at=(36.0, 36.0))
        assert angle > 0.08 or distance > 5.0, "elsewhere than in the assembly"


def _pose(idx: int) -> SE2:
    return SE2(0.0, 100.0 * idx, 0.0)


def _chain(*scores: float) -> tuple[Assembly, list[Join]]:
    """Pieces in a row, one more than there are scores; three more lie beside the table."""
    joins = [Join(Alignment(k, k + 1, SE2(0.0, 100.0, 0.0), score), score) for k, score in enumerate(scores)]
    n = len(joins) + 1
    sure = dict.fromkeys(range(n), 0.9)
    return Assembly(n + 3, {k: _pose(k) for k in range(n)}, (tuple(range(n)),), tuple(joins), sure), joins


def _rows(*joins: Join) -> Candidates:
    return Candidates.of([e.alignment for e in joins]).with_scores(np.array([e.score for e in joins]))


def test_a_block_that_fits_elsewhere_as_well_is_named_with_all_its_pieces() -> None:
    assembly, joins = _chain(0.99, 0.99, 0.8, 0.99)
    turned = Join(Alignment(0, 3, SE2(3.1, -100.0, 0.0), 0.79), 0.79)
    instead = Join(Alignment(2, 6, SE2(0.0, 100.0, 0.0), 0.75), 0.75)
    far_behind = Join(Alignment(2, 7, SE2(0.0, 100.0, 0.0), 0.1), 0.1)
    found = find_other_places(assembly, _rows(*joins, turned, instead, far_behind))
    assert [(place.pieces, place.piece, place.beside) for place in found] == [((3, 4), 3, 0), ((6,), 6, 2)]
    assert (found[0].score, found[0].chosen) == pytest.approx((0.79, 0.8))
    angle, distance = found[0].beside_from_piece.distance(turned.alignment.i_from_j)
    assert angle < 1e-9
    assert distance < 1e-9


def test_where_nothing_else_fits_there_is_nothing_to_say() -> None:
    assembly, joins = _chain(0.99, 0.9)
    assert find_other_places(assembly, _rows(*joins)) == ()
    assert describe_doubts(assembly, _rows(*joins)) == ()
    assert find_other_places(Assembly(3, {}, ()), Candidates.none()) == ()
    assert describe_doubts(Assembly(3, {}, ()), Candidates.none()) == ()


def test_guesses_are_counted_in_the_sentence() -> None:
    assembly, joins = _chain(0.99, 0.6)
    unsure = Assembly(6, assembly.poses, assembly.components, assembly.joins, {0: 0.9, 1: 0.9, 2: 0.4})
    assert unsure.guesses == (2,)
    (sentence,) = describe_doubts(unsure, _rows(*joins))
    assert "1 of 3 placed pieces is less than 50 % sure" in sentence
