"""``jigsawnet sheet``: a page that prints at its size and is found again; nothing of a person's is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from jigsawnet.cli import main_code
from jigsawnet.cli.sheet import draw_sheet
from jigsawnet.fragments.markers import PAPERS, PaperName, find_markers, view_of_markers
from jigsawnet.io.images import read_image
from jigsawnet.io.scans import read_dpi

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(("paper", "ground"), [("a4", "white"), ("letter", "blue")])
def test_the_sheet_is_found_again_at_its_size(tmp_path: Path, capsys: Capture, paper: PaperName, ground: str) -> None:
    path = tmp_path / "sheet.pdf"
    assert main_code(["sheet", "-o", str(path), "--paper", paper, "--ground", ground]) == 0
    assert f"{PAPERS[paper].name}, with 14 markers" in capsys.readouterr().out
    assert b"/PrintScaling /None" in path.read_bytes()
    picture, dpi = read_image(path)[..., :3], read_dpi(path)
    markers = find_markers(picture)
    assert markers is not None
    view = view_of_markers(markers, (picture.shape[1], picture.shape[0]))
    assert view is not None
    assert dpi is not None
    assert view.dpi == pytest.approx(dpi, rel=0.002)
    flat = view.straighten(picture)
    assert flat.std(axis=(0, 1)).max() < 1.0  # neither line nor marker is left on the inside
    assert flat.mean() == pytest.approx(255.0 if ground == "white" else 81.0, abs=3.0)


def test_the_same_sheet_is_the_same_file() -> None:
    assert draw_sheet(PAPERS["a3"], "green") == draw_sheet(PAPERS["a3"], "green")


def test_what_cannot_be_written_is_said(tmp_path: Path, capsys: Capture) -> None:
    assert main_code(["sheet", "-o", str(tmp_path / "sheet.png")]) == 2
    assert "must end in .pdf, such as sheet.pdf" in capsys.readouterr().err
    mine = tmp_path / "mine.pdf"
    mine.write_text("mine")
    assert main_code(["sheet", "-o", str(mine)]) == 2
    assert "already exists" in capsys.readouterr().err
    assert mine.read_text() == "mine"
    assert main_code(["sheet", "-o", str(tmp_path / "none" / "sheet.pdf")]) == 2
    assert "cannot be written" in capsys.readouterr().err
