"""What scorers look at: lines of print on pages, and on nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2
from jigsawnet.learned import load_learned
from jigsawnet.print_lines import find_lines
from jigsawnet.score.scene import Scene, looking
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.shred.pages import make_page
from jigsawnet.strips import are_printed
from jigsawnet.types import Alignment, Puzzle


def scene_of(puzzle: Puzzle, borders: Borders | None = None) -> Scene:
    borders = borders or build_borders(trace_contours(puzzle, ContourConfig()))
    return Scene.of(puzzle, borders, load_learned(), Candidates.none())


@pytest.fixture(scope="module")
def page() -> Puzzle:
    rng = np.random.default_rng(2)
    return shred_images([make_page(rng, 660, 900)], ShredConfig(pieces=4), rng)[0]


def test_each_kind_of_puzzle_has_its_network() -> None:
    assert looking(True) == "printed"
    assert looking(False) == "ragged"


def test_lines_of_print_are_looked_for_on_pages_alone(page: Puzzle) -> None:
    """A page that is half as bright on one side of each piece has clear lines as well, but too little plain paper."""
    scene = scene_of(page)
    assert are_printed(page.pieces)
    assert scene.of_page
    shaded = tuple(
        replace(piece, image=np.uint8(piece.image * np.linspace(0.45, 1.0, piece.mask.shape[1])[:, None]))
        for piece in page.pieces
    )
    picture = replace(page, pieces=shaded)
    assert np.isfinite(find_lines(shaded)).all()
    assert not are_printed(shaded)
    assert not scene_of(picture, scene.borders).of_page


@pytest.mark.parametrize(
    ("lines", "turned", "turn"),
    [
        ((0.3, 0.1), 0.2, 0.0),
        ((0.3, 0.1), 0.5, 0.3),
        ((0.3, 0.1), -0.2, -0.4),
        ((0.3, 0.1), 0.2 + np.pi, 0.0),
        ((3.1, 0.1), 0.0, np.pi - 3.0),
        ((np.nan, 0.1), 0.2, np.nan),
    ],
)
def test_lines_turn_at_a_seam_as_the_second_piece_lies(
    page: Puzzle, lines: tuple[float, float], turned: float, turn: float
) -> None:
    """Upside down is no turn: lines have no beginning."""
    scene = scene_of(page)
    vars(scene)["_lines"] = np.array([*lines, np.nan, np.nan])
    rows = Candidates.of([Alignment(0, 1, SE2(turned, 5.0, 0.0), 0.5)])
    assert scene.print_turn(rows) == pytest.approx([turn], abs=1e-6, nan_ok=True)
