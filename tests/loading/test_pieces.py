"""A folder becomes a Puzzle, or one sentence says why not."""

from __future__ import annotations

import struct
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jigsawnet.errors import FormatError, InputError
from jigsawnet.io.images import write_png
from jigsawnet.io.pieces import write_pieces
from jigsawnet.loading import load_puzzle
from jigsawnet.types import UInt8Array

EXAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "examples"
needs_examples = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the shared example puzzles")


def piece(seed: int, side: int = 12) -> UInt8Array:
    """RGBA, a square of random colours with a transparent margin."""
    rgba = np.zeros((20, 24, 4), dtype=np.uint8)
    rgba[4 : 4 + side, 5 : 5 + side, :3] = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    rgba[4 : 4 + side, 5 : 5 + side, 3] = 255
    return rgba


def make_folder(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for seed, name in enumerate(names):
        write_png(folder / name, piece(seed))
    return folder


def test_a_folder_of_pieces(tmp_path: Path) -> None:
    names = ['it\'s "one".png', "piece 2.png", "piece 10.png", "片.png"]
    puzzle = load_puzzle(make_folder(tmp_path / "my page", *names))
    assert puzzle.name == "my page"
    assert puzzle.names() == tuple(names)
    assert puzzle.warnings == ()
    for seed, loaded in enumerate(puzzle.pieces):
        rgba = piece(seed)
        np.testing.assert_array_equal(loaded.mask, rgba[..., 3] > 0)
        np.testing.assert_array_equal(loaded.image, rgba[..., :3])


def test_a_path_may_be_text_or_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path / "here", "a.png", "b.png")
    assert load_puzzle(str(folder)).name == "here"
    monkeypatch.chdir(folder)
    assert load_puzzle(".").name == "here"


def test_progress_counts_pictures_in_order(tmp_path: Path) -> None:
    calls: list[tuple[str, int, int]] = []
    load_puzzle(make_folder(tmp_path / "f", "a.png", "b.png", "c.png"), progress=lambda *call: calls.append(call))
    assert calls == [("read", 1, 3), ("read", 2, 3), ("read", 3, 3)]


def test_what_was_written_reads_back(tmp_path: Path) -> None:
    puzzle = load_puzzle(make_folder(tmp_path / "f", "a.png", "b.png"))
    for key_color in (None, (8, 248, 8), (0, 0, 0)):
        out = tmp_path / f"out {key_color}"
        write_pieces(out, puzzle, key_color)
        again = load_puzzle(out)
        for piece, same in zip(puzzle.pieces, again.pieces, strict=True):
            np.testing.assert_array_equal(same.mask, piece.mask)
            assert np.abs(same.image.astype(int) - piece.image).max() <= (key_color is not None)


@needs_examples
def test_the_authors_layout() -> None:
    puzzle = load_puzzle(EXAMPLES / "MIT_ex")
    assert (puzzle.name, len(puzzle), puzzle.warnings) == ("MIT_ex", 9, ())


@needs_examples
def test_a_hundred_pieces_load_quickly() -> None:
    start = time.process_time()
    puzzle = load_puzzle(EXAMPLES / "BGU_100")
    assert len(puzzle) == 100
    assert time.process_time() - start < 3.0


def test_missing_folder_and_files_instead_of_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no folder"):
        load_puzzle(tmp_path / "missing")
    write_png(tmp_path / "scan.png", piece(0))
    with pytest.raises(InputError, match="is one picture"):
        load_puzzle(tmp_path / "scan.png")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match="is not a folder"):
        load_puzzle(tmp_path / "notes.txt")
    for impossible in ("n" * 300, "nul\0"):
        with pytest.raises(InputError):
            load_puzzle(tmp_path / impossible)


def test_a_folder_without_pictures(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f")
    with pytest.raises(InputError, match="holds no pictures"):
        load_puzzle(folder)
    (folder / "readme.txt").write_text("hello")
    (folder / "assembly.png").touch()
    with pytest.raises(InputError, match="holds no pictures"):
        load_puzzle(folder)


@pytest.mark.parametrize("n_left_out", [0, 1])
def test_one_piece_is_not_enough(tmp_path: Path, n_left_out: int) -> None:
    folder = make_folder(tmp_path / "f", "a.png")
    if n_left_out:
        write_png(folder / "b.png", piece(0, side=1))
    with pytest.raises(InputError, match=f"At least two pieces are needed, but 1 of {1 + n_left_out}"):
        load_puzzle(folder)


@pytest.mark.parametrize("damage", ["text", "truncated", "empty", "huge"])
def test_a_damaged_picture_stops_and_is_named(tmp_path: Path, damage: str) -> None:
    folder = make_folder(tmp_path / "f", "a.png", "b.png", "c.png")
    header = b"IHDR" + struct.pack(">IIBBBBB", 20_000, 20_000, 1, 0, 0, 0, 0)
    data = {
        "text": b"not a picture at all",
        "truncated": (folder / "b.png").read_bytes()[:200],
        "empty": b"",
        "huge": b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + header
        + struct.pack(">I", zlib.crc32(header))
        + b"\0\0\0\0IDAT5\xaf\x06\x1e",
    }[damage]
    (folder / "b.png").write_bytes(data)
    (folder / "c.png").write_bytes(data)
    with pytest.raises(InputError, match=r"^b\.png is .*\. Nor can these be used: c\.png\.$"):
        load_puzzle(folder)


def test_all_damaged_pictures_are_named_or_counted(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", "a.png", *(f"{k}.png" for k in range(9)))
    for k in range(9):
        (folder / f"{k}.png").write_bytes(b"words")
    said = r"^0\.png is not a picture .* Nor can these be used: 1\.png, 2\.png, 3\.png, 4\.png, 5\.png and 3 more\.$"
    with pytest.raises(InputError, match=said):
        load_puzzle(folder)
    for k in range(9):
        (folder / f"{k}.tif").write_bytes((folder / f"{k}.png").read_bytes())
        (folder / f"{k}.png").write_bytes(b"%PDF-1.7 and nothing else")
    with pytest.raises(InputError, match=r"^0\.png is damaged .* 5\.png and 3 more\.$"):
        load_puzzle(folder)


def test_other_kinds_of_files_are_named(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", "a.png", "b.png")
    for name in ("c.gif", "notes.txt", ".hidden.gif"):
        (folder / name).touch()
    said = "c.gif was not read, being of another kind: save it as PNG, JPEG, TIFF, WebP, BMP, HEIC, AVIF or PDF."
    assert load_puzzle(folder).warnings == (said,)
    for name in ("a.png", "b.png"):
        (folder / name).unlink()
    with pytest.raises(InputError, match=r"holds no pictures of pieces: .* c\.gif was not read"):
        load_puzzle(folder)


def test_pages_are_pieces_too(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", "z.png")
    first, second = Image.fromarray(piece(7)), Image.fromarray(piece(8))
    first.save(folder / "two.tif", save_all=True, append_images=[second])
    puzzle = load_puzzle(folder)
    assert puzzle.names() == ("two.tif page 1", "two.tif page 2", "z.png")
    np.testing.assert_array_equal(puzzle.pieces[1].image, piece(8)[..., :3])


def test_several_pieces_in_one_picture_stop(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", "a.png", "b.png")
    write_png(folder / "both.png", np.hstack([piece(0), piece(1)]))
    with pytest.raises(InputError, match=r"both\.png shows 2 pieces"):
        load_puzzle(folder)


def test_background_and_tiny_pieces_are_left_out_with_a_warning(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", "a.png", "c.png", "e.png")
    write_png(folder / "b.png", np.zeros((9, 9, 4), dtype=np.uint8))
    write_png(folder / "d.png", piece(0, side=1))
    Image.new("RGB", (1, 1)).save(folder / "f.bmp")
    puzzle = load_puzzle(folder)
    assert puzzle.names() == ("a.png", "c.png", "e.png")
    assert [loaded.idx for loaded in puzzle.pieces] == [0, 1, 2]
    assert [warning.split()[0] for warning in puzzle.warnings] == ["b.png", "d.png", "f.bmp"]
    assert all(warning.endswith("left out.") for warning in puzzle.warnings)


def test_identical_pieces_are_kept_with_a_warning(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", "a.png", "b.png", "c.png")
    write_png(folder / "d.png", piece(1))
    puzzle = load_puzzle(folder)
    assert len(puzzle) == 4
    assert puzzle.warnings == ("b.png and d.png are identical: is it one piece saved twice?",)


def test_a_key_colour_with_letters_stops(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", "a.png", "b.png")
    (folder / "bg_color.txt").write_text("green")
    with pytest.raises(FormatError, match=r"bg_color\.txt should hold three whole numbers"):
        load_puzzle(folder)
