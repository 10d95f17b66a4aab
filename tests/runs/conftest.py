from __future__ import annotations

from pathlib import Path

import pytest

from jigsawnet.io.pieces import write_pieces
from jigsawnet.runs import Request, solve_run
from jigsawnet.types import Assembly, Puzzle


@pytest.fixture(scope="session")
def nine(nine_pieces: tuple[Puzzle, Assembly], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of nine pieces; not to be changed."""
    folder = tmp_path_factory.mktemp("nine") / "pieces"
    write_pieces(folder, nine_pieces[0])
    return folder


@pytest.fixture(scope="session")
def undisturbed(nine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of the nine pieces; not to be changed."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    solve_run(Request((nine,)), out)
    return out
