"""Folders of input that mean harm: links out, pipes, devices, strange names, thousands of files, and output that leads away."""

from __future__ import annotations

import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jigsawnet.cli import main_code
from jigsawnet.errors import InputError, OutputError
from jigsawnet.io.array_store import Saved, read_arrays
from jigsawnet.io.files import file_digest, read_text, write_text
from jigsawnet.io.images import read_image
from jigsawnet.io.lock import hold_lock
from jigsawnet.io.pieces import list_pictures, read_key_color
from jigsawnet.io.run_folder import lock_folder
from jigsawnet.io.scans import read_dpi, read_scan
from jigsawnet.io.staged import staged_folder
from jigsawnet.io.truth import read_truth
from jigsawnet.loading import load_input, load_puzzle
from jigsawnet.types import Assembly, Puzzle

Snapshot = Callable[[Path], dict[str, bytes | None]]
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="the system has no such files")
HOSTILE_NAMES = (
    "<script>alert(1)<script> & 'quote' \"\n\t.png",
    "-o $(touch hacked); {0} %s%n.png",
    "\u202e拼图 ünï \udcff.png",
    "..png.png",
)


def save_piece(path: Path, shade: int) -> None:
    pixels = np.zeros((40, 40, 4), np.uint8)
    pixels[5:35, 5:35] = (shade % 256, 100, (7 * shade) % 256, 255)
    Image.fromarray(pixels).save(path, format="PNG")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good pieces."""
    made = tmp_path / "pieces"
    made.mkdir()
    for k in range(2):
        save_piece(made / f"piece{k}.png", 60 + 20 * k)
    return made


def link(path: Path, target: Path) -> None:
    try:
        path.symlink_to(target)
    except OSError:
        pytest.skip("the system has no links")


def test_a_link_out_of_the_folder_is_refused_and_not_read(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"not to be read")
    link(folder / "piece2.png", secret)
    for read in (load_puzzle, list_pictures, lambda path: load_input([path])):
        with pytest.raises(InputError, match=r"piece2\.png is a link to a file outside the folder .*; copy the file into it"):
            read(folder)


@pytest.mark.parametrize("name", ["bg_color.txt", "truth.json", "groundTruth.txt"])
def test_other_files_are_not_read_through_links_either(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("8 248 8")
    link(folder / name, tmp_path / "secret")
    with pytest.raises(InputError, match="is a link to a file outside"):
        read_key_color(folder) if name == "bg_color.txt" else read_truth(folder, Puzzle("p", ()))


def test_links_within_the_folder_and_to_the_folder_are_fine(folder: Path, tmp_path: Path) -> None:
    link(folder / "piece2.png", Path("piece0.png"))
    link(tmp_path / "way in", folder)
    assert len(load_puzzle(tmp_path / "way in")) == 3


def test_a_link_to_itself_and_one_to_nothing(folder: Path) -> None:
    link(folder / "loop.png", folder / "loop.png")
    with pytest.raises(InputError, match=r"loop\.png"):
        load_puzzle(folder)
    (folder / "loop.png").unlink()
    link(folder / "gone.png", folder / "nothing.png")
    with pytest.raises(InputError, match=r"gone\.png does not exist"):
        load_puzzle(folder)


@posix_only
def test_pipes_are_not_waited_for(folder: Path, tmp_path: Path) -> None:
    pipe = folder / "piece2.png"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not an ordinary file"):
        load_puzzle(folder)
    for read in (read_image, read_scan, read_text, file_digest, lambda path: load_input([path])):
        with pytest.raises(InputError):
            read(pipe)
    assert read_dpi(pipe) is None
    assert read_arrays(pipe, "0" * 64) is None
    pipe.rename(folder / "bg_color.txt")
    with pytest.raises(InputError, match="is not a file"):
        load_puzzle(folder)


@posix_only
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty", "/dev/stdin"])
def test_devices_are_not_read(folder: Path, device: str) -> None:
    for read in (read_image, read_scan, read_text, file_digest, lambda path: load_input([path])):
        if device == "/dev/stdin" and Path(device).is_file():
            pytest.skip("the input of this process is a file")
        with pytest.raises(InputError):
            read(Path(device))
    link(folder / "piece2.png", Path(device))
    with pytest.raises(InputError, match=r"piece2\.png"):
        load_puzzle(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such names")
def test_strange_names_change_nothing_but_names(
    tiny_puzzle: tuple[Puzzle, Assembly],
    tmp_path: Path,
    snapshot: Snapshot,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pieces, out, others = tmp_path / "in & <b>", tmp_path / "out", tmp_path / "others"
    pieces.mkdir()
    others.mkdir()
    (others / "file").write_text("untouched")
    monkeypatch.chdir(others)
    for piece, name in zip(tiny_puzzle[0].pieces, HOSTILE_NAMES, strict=True):
        Image.fromarray(np.dstack([piece.image, piece.mask * np.uint8(255)])).save(pieces / name, format="PNG")
    before = snapshot(pieces), snapshot(others)
    assert main_code(["solve", str(pieces), "-o", str(out), "--scorer", "fit", "--second-round.no-enabled"]) in (0, 1)
    assert (snapshot(pieces), snapshot(others)) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in & <b>", "others", "out"]
    assert "Traceback" not in capfd.readouterr().err
    for page in out.glob("*.html"):
        assert "<script>alert" not in page.read_text(encoding="utf-8")
    assert "<script>alert" not in (out / "assembly.svg").read_text(encoding="utf-8")


@posix_only
def test_a_folder_that_may_only_be_read(folder: Path) -> None:
    folder.chmod(0o555)
    try:
        assert len(load_puzzle(folder)) == 2
    finally:
        folder.chmod(0o755)


def save_copies(folder: Path, count: int) -> None:
    save_piece(folder / "0.png", 80)
    data = (folder / "0.png").read_bytes()
    for k in range(1, count):
        (folder / f"{k}.png").write_bytes(data)


@pytest.mark.slow
def test_five_thousand_files(tmp_path: Path) -> None:
    save_copies(tmp_path, 5000)
    puzzle = load_puzzle(tmp_path)
    assert [piece.name for piece in puzzle.pieces] == [f"{k}.png" for k in range(5000)]
    assert len(puzzle.warnings) == 1, "one sentence for all that are identical, not one for each pair"


def test_pictures_are_not_kept_twice(tmp_path: Path) -> None:
    save_copies(tmp_path, 200)
    load_puzzle(tmp_path)  # what is loaded at first use does not count
    tracemalloc.start()
    puzzle = load_puzzle(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pixels = sum(piece.image.nbytes + piece.mask.nbytes for piece in puzzle.pieces)
    assert peak < 2 * pixels + 5e6


def test_output_is_not_written_through_links(tmp_path: Path, snapshot: Snapshot) -> None:
    away, out = tmp_path / "away", tmp_path / "out"
    away.mkdir()
    out.mkdir()
    (away / "victim").write_text("keep me")
    before = snapshot(away)
    link(out / "check", away)

    def write_a_result() -> None:
        with staged_folder(out) as stage:
            (stage / "check").mkdir()
            write_text(stage / "check" / "victim", "changed")

    with pytest.raises(OutputError, match="nothing is written through links"):
        write_a_result()
    link(out / "assembly.json", away / "victim")
    write_text(out / "assembly.json", "a result")
    assert not (out / "assembly.json").is_symlink(), "the link is replaced, not followed"
    assert snapshot(away) == before


@posix_only
def test_a_run_folder_does_not_write_through_links(tmp_path: Path, snapshot: Snapshot) -> None:
    away, out = tmp_path / "away", tmp_path / "out"
    away.mkdir()
    out.mkdir()
    (away / "victim").write_text("keep me")
    (away / f"pieces-{'0' * 16}.npz").write_text("looks like a saved stage")
    before = snapshot(away)
    link(out / ".lock", away / "victim")
    with pytest.raises(OutputError, match="cannot be written"), hold_lock(out / ".lock"):
        pass
    (out / ".lock").unlink()
    link(out / "stages", away)
    with lock_folder(out, "1.0") as run, pytest.raises(OutputError, match="nothing is written through links"):
        run.save({"pieces": Saved("1" * 64, "", {"a": np.zeros(3)})})
    with lock_folder(out, "1.0") as run:
        run.set(results="")
    assert snapshot(away) == before
