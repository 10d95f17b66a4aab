"""Pieces that are added to the input later: only pairs with a new one are looked at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.config import SolveConfig
from jigsawnet.io.pieces import write_pieces
from jigsawnet.match import DenseConfig, MatchConfig
from jigsawnet.runs import Request, open_run, solve_run
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Puzzle, UInt8Array

NEW = ("fragment_0004.png", "fragment_0011.png", "fragment_0023.png")


@pytest.fixture
def pieces(picture: UInt8Array, tmp_path: Path) -> Path:
    """Twenty pieces, and three more beside the folder."""
    folder = tmp_path / "pieces"
    puzzle = shred_images([picture], ShredConfig(pieces=23), np.random.default_rng(2))[0]
    write_pieces(folder, Puzzle(puzzle.name, puzzle.pieces[:23]))
    (tmp_path / "later").mkdir()
    for name in NEW:
        (folder / name).rename(tmp_path / "later" / name)
    return folder


@pytest.mark.slow
def test_only_pairs_with_a_new_piece_are_matched(pieces: Path, tmp_path: Path) -> None:
    request, out = Request((pieces,)), tmp_path / "out"
    first = solve_run(request, out)
    assert (len(first.puzzle), first.pairs_matched) == (20, 190)
    for name in NEW:
        (tmp_path / "later" / name).rename(pieces / name)
    second = solve_run(request, out)
    assert (len(second.puzzle), second.pairs_matched) == (23, 20 * 3 + 3)
    assert len(second.assembly.poses) > len(first.assembly.poses)
    assert second.reused == ()
    assert solve_run(request, out).done == ()
    opened = open_run(out)
    np.testing.assert_array_equal(opened.borders.points, second.borders.points)
    assert opened.solve_on().assembly == second.assembly
    for number, name in enumerate(sorted(path.name for path in pieces.glob("*.png"))):
        (pieces / name).rename(pieces / f"renamed {number:02}.png")
    renamed = solve_run(request, out)
    assert (renamed.done, renamed.reused) == (("pieces",), ("match", "score", "assembly"))
    assert renamed.puzzle.names()[0] == "renamed 00.png"
    assert '"name": "renamed 22.png"' in (out / "assembly.json").read_text()
    (pieces / "renamed 05.png").unlink()
    fewer = solve_run(request, out)
    assert (len(fewer.puzzle), fewer.pairs_matched) == (22, 0)


def test_other_options_of_the_matcher_match_all_again(nine: Path, tmp_path: Path) -> None:
    solve_run(Request((nine,)), tmp_path)
    config = SolveConfig(match=MatchConfig(dense=DenseConfig(seeds_per_pair=5)))
    assert solve_run(Request((nine,), config=config), tmp_path).pairs_matched == 36
    fewer = replace(config, match=replace(config.match, per_piece=30))
    assert solve_run(Request((nine,), config=fewer), tmp_path).pairs_matched == 0, "what was measured is the same"
