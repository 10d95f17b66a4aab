"""Which files of a folder are pieces, the key colour file, and writing pieces so that they read back exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures, list_unread, read_key_color, say_unread, write_pieces
from jigsawnet.types import Piece, Puzzle

EXAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "examples"
ODD_NAMES = ["with space.png", "ünï çødé 片.png", 'it\'s "quoted".png', "100%.png", "-dash.png", "a.b.c.png"]


def make_files(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch()


def listed(folder: Path) -> list[str]:
    return [path.name for path in list_pictures(folder)]


def make_puzzle(*names: str, seed: int = 0) -> Puzzle:
    """Pieces with random colours, some of them near the key colours used below, and random masks."""
    rng = np.random.default_rng(seed)
    return Puzzle(
        "p",
        tuple(
            Piece(k, name, rng.integers(0, 3, (9, 8, 3), dtype=np.uint8) * 127, rng.random((9, 8)) < 0.6)
            for k, name in enumerate(names)
        ),
    )


def test_names_are_sorted_as_people_count(tmp_path: Path) -> None:
    make_files(tmp_path, "p10.png", "p2.png", "P1.PNG", "p02.png", "a.png", "10.png", "9.png")
    assert listed(tmp_path) == ["9.png", "10.png", "a.png", "P1.PNG", "p02.png", "p2.png", "p10.png"]


def test_only_pictures_count(tmp_path: Path) -> None:
    make_files(tmp_path, "a.JPG", "b.jpeg", "c.tif", "d.TIFF", "e.webp", "f.bmp", "g.png")
    make_files(tmp_path, ".hidden.png", "notes.txt", "data.json", "noending", "assembly.png", "assembly_2.png", "Thumbs.db")
    (tmp_path / "folder.png").mkdir()
    assert listed(tmp_path) == ["a.JPG", "b.jpeg", "c.tif", "d.TIFF", "e.webp", "f.bmp", "g.png"]


def test_new_formats_count(tmp_path: Path) -> None:
    make_files(tmp_path, "a.heic", "b.HEIF", "c.hif", "d.avif", "e.PDF")
    assert listed(tmp_path) == ["a.heic", "b.HEIF", "c.hif", "d.avif", "e.PDF"]


def test_files_that_may_be_pictures_are_named_and_others_are_not(tmp_path: Path) -> None:
    make_files(tmp_path, "10.gif", "9.gif", "page.psd", "raw.CR2", "drawing.svg", "scan.jpg.part", "noending", "scans.zip")
    make_files(
        tmp_path, ".hidden.gif", "groundTruth.txt", "data.json", "README", "notes.md", "poses.csv", "Thumbs.db", "IMG_1.AAE"
    )
    make_files(tmp_path, "assembly.png", "assembly.svg", "report.html", "a.png", "b.heic")
    (tmp_path / "folder.gif").mkdir()
    unread = ["9.gif", "10.gif", "drawing.svg", "noending", "page.psd", "raw.CR2", "scan.jpg.part", "scans.zip"]
    assert list_unread(tmp_path) == unread
    readable = "PNG, JPEG, TIFF, WebP, BMP, HEIC, AVIF or PDF."
    (sentence,) = say_unread(unread)
    assert sentence.startswith("9.gif, 10.gif, drawing.svg, noending, page.psd and 3 more were not read, being of another kind")
    assert sentence.endswith(f": save them as {readable}")
    assert say_unread(unread[:2]) == [f"9.gif and 10.gif were not read, being of another kind: save them as {readable}"]
    assert say_unread(unread[:1]) == [f"9.gif was not read, being of another kind: save it as {readable}"]
    assert say_unread([]) == []


@pytest.mark.parametrize("marker", ["groundTruth.txt", "bg_color.txt"])
def test_in_the_authors_layout_only_fragments_count(tmp_path: Path, marker: str) -> None:
    make_files(tmp_path, "fragment_0002.png", "fragment_0001.png", "reassembled_result_0.png", "photo.jpg", marker)
    assert listed(tmp_path) == ["fragment_0001.png", "fragment_0002.png"]


def test_without_the_authors_files_all_pictures_count(tmp_path: Path) -> None:
    results = ("reassembled_result_0.png", "assembly.png", "assembly.tif", "assembly-back.png")
    make_files(tmp_path, "fragment_0001.png", "corner.png", *results)
    assert listed(tmp_path) == ["corner.png", "fragment_0001.png"]


def test_a_key_colour_file_beside_other_names(tmp_path: Path) -> None:
    make_files(tmp_path, "left.png", "right.png", "bg_color.txt")
    assert listed(tmp_path) == ["left.png", "right.png"]


def test_a_broken_link_is_listed_so_that_no_piece_is_lost_silently(tmp_path: Path) -> None:
    (tmp_path / "link.png").symlink_to(tmp_path / "gone.png")
    assert listed(tmp_path) == ["link.png"]


def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be listed"):
        list_pictures(tmp_path / "missing")


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the shared example puzzles")
def test_the_authors_examples() -> None:
    assert listed(EXAMPLES / "MIT_ex") == [f"fragment_{k:04d}.png" for k in range(1, 10)]
    assert read_key_color(EXAMPLES / "MIT_ex") == (248, 8, 232)


@pytest.mark.parametrize("text", ["8 248 9", "8\t248\n9\r\n", "\ufeff8 248 9 "])
def test_key_colour(tmp_path: Path, text: str) -> None:
    (tmp_path / "bg_color.txt").write_text(text, encoding="utf-8")
    assert read_key_color(tmp_path) == (8, 248, 9)


def test_no_key_colour_file(tmp_path: Path) -> None:
    assert read_key_color(tmp_path) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"red green blue",
        b"8 248",
        b"8 248 9 1",
        b"8 248 256",
        b"-1 0 0",
        b"1.5 0 0",
        b"1_0 0 0",
        b"\xff\xfe\0",
        b"0 " * 999,
    ],
)
def test_a_wrong_key_colour_file_is_explained(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bg_color.txt").write_bytes(data)
    with pytest.raises(FormatError, match=r"bg_color\.txt should hold three whole numbers from 0 to 255"):
        read_key_color(tmp_path)


def test_a_key_colour_folder(tmp_path: Path) -> None:
    (tmp_path / "bg_color.txt").mkdir()
    with pytest.raises(InputError, match=r"bg_color\.txt"):
        read_key_color(tmp_path)


def test_pieces_with_hard_alpha(tmp_path: Path) -> None:
    puzzle = make_puzzle(*ODD_NAMES)
    write_pieces(tmp_path / "new" / "folder", puzzle)
    assert sorted(listed(tmp_path / "new" / "folder")) == sorted(ODD_NAMES)
    for piece in puzzle.pieces:
        rgba = read_image(tmp_path / "new" / "folder" / piece.name)
        np.testing.assert_array_equal(rgba[..., 3], np.where(piece.mask, 255, 0))
        np.testing.assert_array_equal(rgba[piece.mask, :3], piece.image[piece.mask])


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1000), key=st.sampled_from([(0, 0, 0), (127, 0, 254), (254, 254, 255), (255, 255, 255)]))
def test_the_mask_on_a_key_colour_is_exact(tmp_path: Path, seed: int, key: tuple[int, int, int]) -> None:
    puzzle = make_puzzle("a.png", seed=seed)
    write_pieces(tmp_path, puzzle, key)
    assert read_key_color(tmp_path) == key
    rgb = read_image(tmp_path / "a.png")
    piece = puzzle.pieces[0]
    np.testing.assert_array_equal((rgb != key).any(axis=-1), piece.mask)
    assert np.abs(rgb[piece.mask].astype(int) - piece.image[piece.mask]).max() <= 1


def test_other_endings_get_png_added(tmp_path: Path) -> None:
    write_pieces(tmp_path, make_puzzle("a.jpg", "b", "c.PNG"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jpg.png", "b.png", "c.PNG"]


@pytest.mark.parametrize("name", ["../a.png", "a/b.png", "/a.png", "..", ".", "", "a\\b.png", "C:a.png", "a\0.png"])
def test_names_that_leave_the_folder_are_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match="not a plain file name"):
        write_pieces(tmp_path / "out", make_puzzle("good.png", name))
    assert not (tmp_path / "out").exists()


def test_names_that_clash_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="same file name"):
        write_pieces(tmp_path, make_puzzle("a.png", "A.PNG"))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        write_pieces(tmp_path / "file", make_puzzle("a.png"))
