"""``jigsawnet`` alone as a person starts it: a page at an address, the same one when started twice, an end by its button."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jigsawnet.cli import main_code

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi", reason="the page needs the extra web")

Capture = pytest.CaptureFixture[str]


def test_started_twice_it_opens_the_same_page_and_ends_by_its_button(tmp_path: Path, capsys: Capture) -> None:
    command = [sys.executable, "-m", "jigsawnet", "start", "--no-browser", "--cases", str(tmp_path / "cases")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = next(line.split()[-1] for line in process.stdout if "http://" in line)
        assert (tmp_path / "cases" / ".jigsawnet.address").read_text() == address
        if sys.platform != "win32":
            assert (tmp_path / "cases" / ".jigsawnet.address").stat().st_mode & 0o077 == 0, "for this person alone"
        assert main_code(["start", "--no-browser", "--cases", str(tmp_path / "cases")]) == 0
        assert address in capsys.readouterr().out
        with httpx.Client(follow_redirects=True, timeout=600) as browser:
            page = browser.get(address)
            assert page.status_code == 200
            assert "Drop scans" in page.text
            assert browser.post(page.url.join("api/end")).status_code == 202
        assert process.wait(600) == 0
    finally:
        process.kill()
        process.communicate()
    assert list((tmp_path / "cases").iterdir()) == []


def _scan(folder: Path) -> Path:
    pixels = np.full((200, 300, 3), 240, np.uint8)
    pixels[40:120, 40:110], pixels[60:150, 180:260] = (200, 30, 30), (30, 30, 200)
    Image.fromarray(pixels).save(folder / "scan.png")
    return folder / "scan.png"


def test_a_review_that_is_left_solves_nothing_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def look_and_leave(home: object) -> None:
        home.desk.wait()  # type: ignore[attr-defined]
        assert home.desk.review.n_pieces == 2  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    monkeypatch.setattr("jigsawnet.viewer.home.serve.Home.wait", look_and_leave)
    assert main_code(["solve", str(_scan(tmp_path)), "-o", str(tmp_path / "out"), "--review", "--no-browser"]) == 1
    said = capsys.readouterr().out
    assert "http://" in said
    assert "Nothing was solved." in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("option", "words"), [("--json", "--json"), ("--corrections x.json", "--corrections")])
def test_a_review_goes_with_little_else(tmp_path: Path, option: str, words: str, capsys: Capture) -> None:
    arguments = ["solve", str(_scan(tmp_path)), "-o", str(tmp_path / "out"), "--review", *option.split()]
    assert main_code(arguments) == 2
    assert words in capsys.readouterr().err
