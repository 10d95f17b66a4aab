"""Whatever is given becomes pieces: what the pictures show decides, not whether they are files or a folder."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.io import images
from jigsawnet.io.images import write_png
from jigsawnet.loading import Loaded, ScanInput, load_input, load_puzzle
from jigsawnet.types import UInt8Array

GROUND = (235, 232, 228)
SQUARES = ((30, 30), (160, 60), (30, 150))


def scan(n: int = 3, scale: int = 1) -> UInt8Array:
    page = np.full((250 * scale, 270 * scale, 3), GROUND, np.uint8)
    for k, (x, y) in enumerate(SQUARES[:n]):
        page[y * scale : (y + 70) * scale, x * scale : (x + 80) * scale] = (150, 50 + 30 * k, 60 + 10 * n)
    return np.asarray(cv2.GaussianBlur(page, (0, 0), 0.6), np.uint8)


def piece(seed: int) -> UInt8Array:
    """RGBA, with a transparent margin."""
    rgba = np.zeros((40, 44, 4), np.uint8)
    rgba[5:30, 5:40, :3] = np.random.default_rng(seed).integers(0, 256, (25, 35, 3))
    rgba[5:30, 5:40, 3] = 255
    return rgba


def save(path: Path, pixels: UInt8Array, dpi: int | None = None) -> Path:
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(pixels).save(path, **({} if dpi is None else {"dpi": (dpi, dpi)}))
    return path


def names(loaded: Loaded) -> tuple[str, ...]:
    return loaded.puzzle.names()


def test_a_folder_of_pieces_is_read_as_by_load_puzzle(tmp_path: Path) -> None:
    for k in range(3):
        save(tmp_path / "f" / f"{k}.png", piece(k), 300)
    loaded, puzzle = load_input([tmp_path / "f"]), load_puzzle(tmp_path / "f")
    assert names(loaded) == puzzle.names()
    assert loaded.puzzle.name == puzzle.name
    assert (loaded.dpi, dict(loaded.backs), loaded.checks) == (300.0, {}, ())
    save(tmp_path / "f" / "3.png", piece(3), 600)
    assert load_input([tmp_path / "f"]).dpi is None


@pytest.mark.parametrize("as_folder", [True, False])
def test_scans_are_cut_whether_files_or_a_folder(tmp_path: Path, as_folder: bool) -> None:
    files = [save(tmp_path / "f" / "a1.png", scan()), save(tmp_path / "f" / "a2.png", scan(2))]
    loaded = load_input([tmp_path / "f"] if as_folder else files)
    assert names(loaded) == ("a1-001.png", "a1-002.png", "a1-003.png", "a2-001.png", "a2-002.png")
    assert [check.name for check in loaded.checks] == ["a1.png", "a2.png"]
    assert loaded.checks[0].picture.shape == (250, 270, 3)
    assert "None of the scans says its resolution" in loaded.puzzle.warnings[0]


@pytest.mark.parametrize(("kept_px", "times"), [(10_000_000, 1), (100_000, 2), (0, 2)])
def test_scans_are_read_once_while_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_px: int, times: int
) -> None:
    read: list[str] = []

    def counting(path: Path) -> UInt8Array:
        read.append(path.name)
        return images.read_image(path)

    monkeypatch.setattr("jigsawnet.loading.pieces._KEPT_PX", kept_px)
    monkeypatch.setattr("jigsawnet.loading.pieces.read_image", counting)
    monkeypatch.setattr("jigsawnet.io.scans.read_image", counting)
    files = [save(tmp_path / "f" / "a.png", scan()), save(tmp_path / "f" / "b.png", scan(2))]
    assert names(load_input(files)) == ("a-001.png", "a-002.png", "a-003.png", "b-001.png", "b-002.png")
    assert read.count("b.png") == times
    read.clear()
    assert len(load_input(files[:1]).puzzle) == 3
    assert read.count("a.png") == (1 if kept_px else 2)


def test_one_scan_with_one_piece_beside_others_is_still_a_scan(tmp_path: Path) -> None:
    save(tmp_path / "f" / "a.png", scan())
    save(tmp_path / "f" / "b.png", scan(1))
    assert names(load_input([tmp_path / "f"]))[-1] == "b-001.png"
    save(tmp_path / "f" / "c.png", scan(1))
    with pytest.raises(InputError, match=r"a\.png shows 3 pieces, .* jigsawnet cut"):
        load_input([tmp_path / "f"])
    assert len(load_input(sorted((tmp_path / "f").iterdir())).puzzle) == 5


def test_files_that_show_one_piece_each_are_pieces(tmp_path: Path) -> None:
    files = [save(tmp_path / "f" / f"{k}.png", piece(k)) for k in range(3)]
    assert names(load_input(files)) == ("0.png", "1.png", "2.png")
    plain = [save(tmp_path / "g" / f"{k}.png", np.roll(scan(1), 5 * k, axis=1)) for k in range(2)]
    assert names(load_input(plain)) == ("0.png", "1.png")


@pytest.mark.parametrize("limit", [4_000_000, 20_000])
def test_large_scans_are_known_by_a_small_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr("jigsawnet.loading.pieces._LARGE_PX", limit)
    save(tmp_path / "f" / "a.png", scan())
    save(tmp_path / "f" / "b.png", scan(2))
    assert len(load_input([tmp_path / "f"]).puzzle) == 5
    single = [save(tmp_path / "g" / f"{k}.png", np.roll(scan(1), 5 * k, axis=1)) for k in range(2)]
    assert names(load_input([single[0].parent])) == ("0.png", "1.png")


def test_pieces_and_scans_together_are_refused(tmp_path: Path) -> None:
    files = [save(tmp_path / "0.png", piece(0)), save(tmp_path / "scan.png", scan())]
    with pytest.raises(InputError, match=r"scan\.png shows 3 pieces"):
        load_input(files)


def test_two_folders_of_pieces_are_one_puzzle_unless_names_clash(tmp_path: Path) -> None:
    save(tmp_path / "f" / "a.png", piece(0))
    save(tmp_path / "g" / "b.png", piece(1))
    assert names(load_input([tmp_path / "f", tmp_path / "g"])) == ("a.png", "b.png")
    save(tmp_path / "g" / "a.png", piece(2))
    with pytest.raises(InputError, match=r"two pieces called a\.png"):
        load_input([tmp_path / "f", tmp_path / "g"])


def test_resolutions_come_to_one_scale_and_are_known_afterwards(tmp_path: Path) -> None:
    files = [save(tmp_path / "a.png", scan(), 150), save(tmp_path / "b.png", scan(3, 2), 300)]
    loaded = load_input(files)
    areas = [np.count_nonzero(piece.mask) for piece in loaded.puzzle.pieces]
    assert areas[3:] == pytest.approx(areas[:3], rel=0.05)
    assert loaded.dpi == 150.0
    assert load_input(files, ScanInput(scale=(2.0, 1.0))).dpi == 300.0
    assert load_input(files, ScanInput(scale=(1.0, 1.0))).dpi is None


def test_what_is_grave_comes_first(tmp_path: Path) -> None:
    page = np.ascontiguousarray(scan()[:, 40:])
    page[220:235, 150:165] = 30
    loaded = load_input([save(tmp_path / "a.png", page)], ScanInput())
    grave, minor = loaded.puzzle.warnings
    assert grave == "a.png: Pieces 1 and 3 are cut off at the border of the scan: move them inwards and scan again."
    assert minor.startswith("a.png: Piece 4 is less than")


def test_backs_of_scans_lie_on_their_fronts(tmp_path: Path) -> None:
    front = save(tmp_path / "front.png", scan())
    back = save(tmp_path / "backs" / "back.png", np.roll(scan()[:, ::-1, ::-1], (3, -4), axis=(0, 1)))
    loaded = load_input([front], ScanInput(back=(back.parent,)))
    assert sorted(loaded.backs) == [0, 1, 2]
    assert [check.name for check in loaded.checks] == ["front.png", "front back.png"]
    for piece in loaded.puzzle.pieces:
        laid = loaded.backs[piece.idx]
        np.testing.assert_array_equal(laid.mask[:, ::-1], piece.mask)
        off = np.abs(laid.image[:, ::-1, ::-1].astype(int) - piece.image)[piece.mask]
        assert off.mean() < 2.0


def test_backs_of_single_pieces_are_turned_onto_their_fronts(tmp_path: Path) -> None:
    for k in range(2):
        save(tmp_path / "f" / f"{k}.png", piece(k))
        save(tmp_path / "same" / f"{k}.png", np.ascontiguousarray(piece(k)[:, ::-1]))
        save(tmp_path / "turned" / f"back {k}.png", np.ascontiguousarray(np.rot90(piece(k)[:, ::-1], 3)))
    for folder in ("same", "turned"):
        loaded = load_input([tmp_path / "f"], ScanInput(back=(tmp_path / folder,)))
        assert sorted(loaded.backs) == [0, 1]
        for front in loaded.puzzle.pieces:
            np.testing.assert_array_equal(loaded.backs[front.idx].mask[:, ::-1], front.mask)
    save(tmp_path / "turned" / "back 3.png", piece(3))
    with pytest.raises(InputError, match="2 pieces but 3 pictures of backs"):
        load_input([tmp_path / "f"], ScanInput(back=(tmp_path / "turned",)))


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Give a folder"):
        load_input([])
    with pytest.raises(InputError, match="There is no file or folder"):
        load_input([tmp_path / "missing.png"])
    with pytest.raises(InputError, match=r"No pieces were found on blank\.png"):
        load_input([save(tmp_path / "blank.png", np.full((60, 60, 3), 200, np.uint8))])
    with pytest.raises(InputError, match="only one was found"):
        load_input([save(tmp_path / "one.png", scan(1))])
    with pytest.raises(InputError, match="smaller than 16"):
        load_input([save(tmp_path / "dot.png", np.full((1, 1, 3), 200, np.uint8))])
    for k in range(2):
        write_png(save(tmp_path / "f" / f"{k}.png", piece(k)), piece(k))
    with pytest.raises(ConfigError, match="scale is for scans"):
        load_input([tmp_path / "f"], ScanInput(scale=(1.0,)))
