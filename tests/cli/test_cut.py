"""``jigsawnet cut``: scans in, pieces that `load_puzzle` reads out, findings said, nothing half-written."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import made_files
import numpy as np
import pytest
import tyro
from PIL import Image

from jigsawnet.cli import main_code
from jigsawnet.cli.cut import Cut
from jigsawnet.errors import ConfigError, InputError, OutputError
from jigsawnet.io.images import read_image, write_png
from jigsawnet.io.scans import piece_stems, read_dpi, read_scan
from jigsawnet.loading import ScanInput, load_puzzle
from jigsawnet.types import UInt8Array

SQUARES = ((30, 30), (160, 60), (30, 150))
Capture = pytest.CaptureFixture[str]


def scan_picture(scale: int = 1) -> UInt8Array:
    page = np.full((250 * scale, 270 * scale, 3), (235, 232, 228), np.uint8)
    for k, (x, y) in enumerate(SQUARES):
        page[y * scale : (y + 70) * scale, x * scale : (x + 80) * scale] = (150, 50 + 30 * k, 60)
    return np.asarray(cv2.GaussianBlur(page, (0, 0), 0.6), np.uint8)


def save(path: Path, picture: UInt8Array, dpi: int | None = None) -> Path:
    Image.fromarray(picture).save(path, **({} if dpi is None else {"dpi": (dpi, dpi)}))
    return path


def test_pieces_are_cut_and_can_be_loaded(tmp_path: Path, capsys: Capture) -> None:
    scan, out = save(tmp_path / "my scan.png", scan_picture()), tmp_path / "out"
    assert tyro.cli(Cut, args=[str(scan), "-o", str(out), "--scan.margin-px", "5"]).run() == 0
    assert "3 pieces from 1 scan" in capsys.readouterr().out
    puzzle = load_puzzle(out)
    assert puzzle.names() == ("my scan-001.png", "my scan-002.png", "my scan-003.png")
    assert puzzle.pieces[0].mask.shape == (80, 90)
    assert read_image(out / "check" / "my scan.png").shape == (250, 270, 3)
    record = json.loads((out / "cut.json").read_text())
    assert [(p["x"], p["y"], p["scan"]) for p in record["pieces"]] == [(x - 5, y - 5, "my scan.png") for x, y in SQUARES]
    with pytest.raises(OutputError, match="already"):
        Cut((scan,), out).run()


def test_pages_of_a_file_are_scans(tmp_path: Path, capsys: Capture) -> None:
    scans = tmp_path / "scans"
    scans.mkdir()
    (scans / "my scan.tif").write_bytes(made_files.tiff(scan_picture(), scan_picture(), scan_picture()))
    (scans / "other.gif").touch()
    assert main_code(["cut", str(scans), "-o", str(tmp_path / "out"), "--pages", "2-3"]) == 0
    said = capsys.readouterr()
    assert "6 pieces from 2 scans" in said.out
    assert "note: other.gif was not read" in said.err
    record = json.loads((tmp_path / "out" / "cut.json").read_text())
    assert [scan["name"] for scan in record["scans"]] == ["my scan.tif page 2", "my scan.tif page 3"]
    assert load_puzzle(tmp_path / "out").names()[::3] == ("my scan page 2-001.png", "my scan page 3-001.png")


BAD_FILES = {
    "long.pdf": (made_files.pdf_pages([b""] * 101, made_files.pdf_picture(scan_picture())), "has 101 pages, and at most 100"),
    "locked.pdf": (made_files.pdf_with_password(), "is protected by a password"),
    "cut.heic": (made_files.heic(scan_picture())[:2000], "is damaged or cut short"),
    "circle.tif": (made_files.tiff_in_circle(scan_picture()), "its pages go in a circle"),
}


@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("command", ["cut", "solve", "shred"])
def test_bad_files_are_one_sentence(tmp_path: Path, capsys: Capture, name: str, command: str) -> None:
    data, said = BAD_FILES[name]
    (tmp_path / name).write_bytes(data)
    assert main_code([command, str(tmp_path / name), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith(f"jigsawnet: {name} ")
    assert said in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_pages_that_make_no_sense(tmp_path: Path, capsys: Capture) -> None:
    scan = save(tmp_path / "a.png", scan_picture())
    assert main_code(["cut", str(scan), "-o", str(tmp_path / "out"), "--pages", "4-1"]) == 2
    assert "such as 1-4,7" in capsys.readouterr().err


def test_findings_are_said_and_recorded(tmp_path: Path, capsys: Capture) -> None:
    scan = save(tmp_path / "a.png", np.ascontiguousarray(scan_picture()[:, 40:]))
    Cut((scan,), tmp_path / "out").run()
    assert "note: a.png: Pieces 1 and 3 are cut off" in capsys.readouterr().err
    (finding,) = json.loads((tmp_path / "out" / "cut.json").read_text())["scans"][0]["findings"]
    assert finding["kind"] == "cut off"
    assert finding["pieces"] == [1, 3]


@pytest.mark.parametrize("by_tags", [True, False])
def test_two_scans_come_to_one_scale(tmp_path: Path, capsys: Capture, by_tags: bool) -> None:
    coarse = save(tmp_path / "a.png", scan_picture(), 150 if by_tags else None)
    fine = save(tmp_path / "b.png", scan_picture(2), 300 if by_tags else None)
    Cut((coarse, fine), tmp_path / "out", options=ScanInput(scale=() if by_tags else (1.0, 0.5))).run()
    areas = [int(np.count_nonzero(piece.mask)) for piece in load_puzzle(tmp_path / "out").pieces]
    assert areas[3:] == pytest.approx(areas[:3], rel=0.05)
    assert ("brought to 150 dpi" in capsys.readouterr().err) == by_tags


def test_backs_have_the_names_of_their_fronts(tmp_path: Path, capsys: Capture) -> None:
    front = save(tmp_path / "front.png", scan_picture())
    flipped = scan_picture()[:, ::-1].copy()
    flipped[140:230, 150:250] = (235, 232, 228)
    back = save(tmp_path / "back.png", flipped)
    Cut((front,), tmp_path / "out", options=ScanInput(back=(back,))).run()
    assert sorted(path.name for path in (tmp_path / "out" / "back").iterdir()) == ["front-001.png", "front-002.png"]
    assert len(load_puzzle(tmp_path / "out")) == 3
    assert "No back was found on back.png for piece 3" in capsys.readouterr().err


def test_an_excluded_box_is_not_looked_at(tmp_path: Path) -> None:
    scan = save(tmp_path / "a.png", scan_picture())
    Cut((scan,), tmp_path / "out", options=ScanInput(exclude=("20,140,100,100",))).run()
    assert len(load_puzzle(tmp_path / "out")) == 2


def test_nothing_found_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    scan = save(tmp_path / "empty.png", np.full((100, 100, 3), 230, np.uint8))
    with pytest.raises(InputError, match=r"No pieces were found on empty\.png"):
        Cut((scan,), tmp_path / "out").run()
    with pytest.raises(InputError, match="There is no file"):
        Cut((tmp_path / "no.png",), tmp_path / "out").run()
    with pytest.raises(InputError, match="at least one"):
        Cut((), tmp_path / "out").run()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("box", ["1,2,3", "a,b,c,d", "-1,0,5,5", "0,0,0,5"])
def test_bad_options_are_refused(tmp_path: Path, box: str) -> None:
    scan, out = save(tmp_path / "a.png", scan_picture()), tmp_path / "out"
    with pytest.raises(ConfigError, match="exclude"):
        ScanInput(exclude=(box,))
    with pytest.raises(ConfigError, match="between"):
        ScanInput(scale=(0.0,))
    with pytest.raises(ConfigError, match="one factor"):
        Cut((scan,), out, ScanInput(scale=(1.0, 2.0))).run()
    with pytest.raises(ConfigError, match="one back"):
        Cut((scan,), out, ScanInput(back=(scan, scan))).run()
    assert not out.exists()


def test_resolution_tags_are_read_only_where_they_make_sense(tmp_path: Path) -> None:
    picture = scan_picture()
    assert read_dpi(save(tmp_path / "a.png", picture, 300)) == 300.0
    assert read_dpi(save(tmp_path / "a.tif", picture, 600)) == 600.0
    assert read_dpi(save(tmp_path / "b.png", picture)) is None
    assert read_dpi(save(tmp_path / "c.png", picture, 1)) is None
    (tmp_path / "bad.png").write_bytes(b"no picture")
    assert read_dpi(tmp_path / "bad.png") is None


def test_scans_of_one_name_and_odd_names_give_different_plain_names() -> None:
    paths = [Path("a/scan.png"), Path("b/Scan.jpg"), Path('we"ird?.png'), Path(".hidden.png")]
    assert piece_stems(paths) == ["scan", "Scan(2)", "we_ird_", "hidden"]


def test_transparent_parts_of_a_scan_are_white(tmp_path: Path) -> None:
    pixels = np.zeros((20, 20, 4), np.uint8)
    pixels[:10, :, 3] = 255
    write_png(tmp_path / "a.png", pixels)
    read = read_scan(tmp_path / "a.png")
    assert (read[:10] == 0).all()
    assert (read[10:] == 255).all()
