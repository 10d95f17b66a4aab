"""The front door: every command with good and bad input, its exit code, and exactly one sentence when it says no."""

from __future__ import annotations

import errno
import gc
import inspect
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from jigsawnet import learned
from jigsawnet.cli import console, main_code
from jigsawnet.cli.commands import COMMANDS
from jigsawnet.io.authors import read_joins, read_poses
from jigsawnet.io.images import read_image, write_png
from jigsawnet.io.scans import read_dpi
from jigsawnet.runs import results
from jigsawnet.types import Progress, UInt8Array, no_progress
from jigsawnet.version import __version__

RESULT_FILES = {
    "assembly.json", "assembly.png", "assembly.svg", "poses.csv", "report.html", "report.json", "alignments.json",
    "run.json", "stages", "history.jsonl", "inputs.json",
}  # fmt: skip
Capture = pytest.CaptureFixture[str]


def colourful_picture(seed: int, width: int = 320, height: int = 240) -> UInt8Array:
    """Smooth blobs of random colours."""
    coarse = np.random.default_rng(seed).integers(0, 256, (height // 20, width // 20, 3), dtype=np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.uint8, copy=False)


def files_below(folder: Path) -> dict[str, bytes]:
    """All files by their bytes, but for the history, which holds the time."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "history.jsonl")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def refusal(capsys: Capture, *arguments: object) -> str:
    """Run a command that must be refused; gives its one sentence without the name of the program."""
    capsys.readouterr()
    assert main_code([str(argument) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("jigsawnet: ")
    assert err.count("\n") == 1
    assert err.endswith((".\n", "?\n"))
    return err.removeprefix("jigsawnet: ").rstrip("\n")


def exit_code(arguments: list[str]) -> object:
    """The exit code of a call, whether it is given back or the process would end with it."""
    try:
        return main_code(arguments)
    except SystemExit as end:
        return end.code


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two picture files."""
    folder = tmp_path_factory.mktemp("pictures")
    for seed in (0, 1):
        write_png(folder / f"{seed}.png", colourful_picture(seed))
    return folder / "0.png", folder / "1.png"


@pytest.fixture(scope="module")
def shredded(pictures: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pieces with their truth; not to be changed."""
    folder = tmp_path_factory.mktemp("shredded") / "pieces"
    assert main_code(["shred", str(pictures[0]), "-o", str(folder), "--pieces", "4"]) == 0
    return folder


@pytest.fixture(scope="module")
def solved(shredded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `solve` makes of them; not to be changed."""
    out = tmp_path_factory.mktemp("solved") / "result"
    assert main_code(["solve", str(shredded), "-o", str(out), "--authors-text"]) == 0
    return out


@pytest.fixture
def pieces(shredded: Path, tmp_path: Path) -> Path:
    """A copy of the four pieces, without the truth, to be spoilt."""
    folder = tmp_path / "pieces"
    folder.mkdir()
    for path in shredded.glob("*.png"):
        shutil.copy(path, folder)
    return folder


# --- good input -----------------------------------------------------------------------------------------------------


def test_solve_writes_the_result_and_says_where(shredded: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "new" / "out"
    assert main_code(["solve", str(shredded), "-o", str(out)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.startswith("4 of 4 pieces placed in one picture, ")
    assert {path.name for path in out.iterdir()} == RESULT_FILES
    assert str(out / "assembly.png") in said.out


def test_the_resolution_of_the_pieces_is_kept_in_every_picture(pieces: Path, tmp_path: Path) -> None:
    for path in pieces.glob("*.png"):
        write_png(path, read_image(path), 300.0)
    out = tmp_path / "out"
    assert main_code(["solve", str(pieces), "-o", str(out), "--tiff"]) == 0
    assert {path.name for path in out.iterdir()} == RESULT_FILES | {"assembly.tif"}
    assert [read_dpi(out / name) for name in ("assembly.png", "assembly.tif")] == [300.0, 300.0]
    assert (read_image(out / "assembly.tif") == read_image(out / "assembly.png")).all()
    width = read_image(out / "assembly.png").shape[1]
    found = re.search(r'width="([\d.]+)mm"', (out / "assembly.svg").read_text(encoding="utf-8"))
    assert found is not None
    assert float(found[1]) == pytest.approx(width / 300 * 25.4, abs=0.01)
    assert "300 dpi" in (out / "report.html").read_text(encoding="utf-8")
    odd = next(pieces.glob("*.png"))
    write_png(odd, read_image(odd), 200.0)
    assert main_code(["solve", str(pieces), "-o", str(out), "--tiff"]) == 0
    assert read_dpi(out / "assembly.png") is None, "pieces that do not agree have no common resolution"


def test_the_report_is_about_this_run(solved: Path) -> None:
    page = (solved / "report.html").read_text(encoding="utf-8")
    assert "All 4 pieces are placed in one picture." in page
    rows = (solved / "poses.csv").read_text(encoding="utf-8").splitlines()
    for piece in json.loads((solved / "assembly.json").read_text())["fragments"]:
        assert piece["name"] in page
        assert any(row.startswith(f"{piece['name']},0,") for row in rows)


def test_authors_text_can_be_read_back(solved: Path) -> None:
    assembly = json.loads((solved / "assembly.json").read_text())
    poses = read_poses(solved / "pose_result_0.txt", 4)
    for idx, piece in enumerate(assembly["fragments"]):
        np.testing.assert_allclose(poses.poses[idx].matrix(), piece["world_from_fragment"], atol=1e-6)
    joins = read_joins(solved / "selected_transformation.txt", 4)
    assert [edge.score for edge in joins] == pytest.approx([join["score"] for join in assembly["alignments"]], abs=1e-8)


def test_two_pictures_mixed_are_solved_in_part(pictures: tuple[Path, Path], tmp_path: Path, capsys: Capture) -> None:
    mixed, out = tmp_path / "mixed", tmp_path / "out"
    assert main_code(["shred", *map(str, pictures), "-o", str(mixed), "--pieces", "4"]) == 0
    assert not (mixed / "groundTruth.txt").exists()
    capsys.readouterr()
    assert main_code(["solve", str(mixed), "-o", str(out), "--json", "--authors-text"]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.count("\n") == 1
    summary = json.loads(said.out)
    assert (summary["pieces"], summary["placed"], summary["components"]) == (8, 8, 2)
    assert (out / "pose_result_1.txt").is_file()
    assert main_code(["eval", str(out), "--truth", str(mixed), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pcr_tight"] == 1.0


def test_eval_prints_percentages_or_one_json_line(shredded: Path, solved: Path, capsys: Capture) -> None:
    assert main_code(["eval", str(solved), "--truth", str(shredded)]) == 0
    said = capsys.readouterr().out
    assert "PCR 100.0 % (tight 100.0 %)" in said
    assert "ACR 100.0 %   right candidates that were chosen, of those that could be" in said
    assert "joins right 100.0 %, found 100.0 %" in said
    assert main_code(["eval", str(solved / "assembly.json"), "--truth", str(shredded), "--json"]) == 0
    metrics = json.loads(capsys.readouterr().out)
    assert (metrics["n"], metrics["pcr_tight"], metrics["candidate_recall"], metrics["acr"]) == (4, 1.0, 1.0, 1.0)


def test_eval_says_how_far_confidences_can_be_trusted(shredded: Path, solved: Path, capsys: Capture) -> None:
    assert main_code(["eval", str(solved), "--truth", str(shredded), "--json", "--confidence"]) == 0
    told = json.loads(capsys.readouterr().out)["confidence"]
    assembly = json.loads((solved / "assembly.json").read_text())
    assert sum(each["count"] for each in told["pieces"]) == len(assembly["fragments"])
    assert sum(each["count"] for each in told["joins"]) == len(assembly["alignments"])
    assert set(told["pieces"][0]) == {"low", "high", "said", "right", "count"}
    assert main_code(["eval", str(solved), "--truth", str(shredded), "--confidence"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = [k for k, line in enumerate(lines) if line.split()[1:] == ["said", "right", "count"]]
    assert [lines[k].split()[0] for k in at] == ["pieces", "joins"]
    assert sum(int(line.split()[-1]) for line in lines[at[1] + 1 :]) == len(assembly["alignments"])
    assert main_code(["eval", str(solved), "--truth", str(shredded)]) == 0
    assert "said" not in capsys.readouterr().out


def test_eval_tells_a_tree_from_a_loop(shredded: Path, tmp_path: Path, capsys: Capture) -> None:
    """Best-first chooses three of the four right joins of four pieces, though all four hold in the result."""
    out = tmp_path / "tree"
    assert main_code(["solve", str(shredded), "-o", str(out), "--composer", "best-first"]) == 0
    capsys.readouterr()
    assert main_code(["eval", str(out), "--truth", str(shredded), "--json"]) == 0
    metrics = json.loads(capsys.readouterr().out)
    assert (metrics["acr"], metrics["acr_recall"]) == (0.75, 1.0)
    for entry in (candidates := json.loads((out / "alignments.json").read_text()))["alignments"]:
        entry.pop("choice", None)
    (out / "alignments.json").write_text(json.dumps(candidates))
    assert main_code(["eval", str(out), "--truth", str(shredded)]) == 0
    assert "ACR -   " in capsys.readouterr().out, "a run of an older version does not say"


def test_eval_reads_the_truth_of_the_authors_too(shredded: Path, solved: Path, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "authors"
    shutil.copytree(shredded, folder, ignore=shutil.ignore_patterns("truth.json"))
    assert main_code(["eval", str(solved), "--truth", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pcr_tight"] == 1.0


def test_shred_on_a_key_colour(pictures: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "keyed"
    assert main_code(["shred", str(pictures[0]), "-o", str(folder), "--pieces", "4", "--key-color", "8", "248", "8"]) == 0
    assert (folder / "bg_color.txt").read_text() == "8 248 8\n"
    with Image.open(folder / "fragment_0001.png") as piece:
        assert piece.mode == "RGB"
        assert piece.getpixel((0, 0)) == (8, 248, 8)
    assert main_code(["solve", str(folder), "-o", str(tmp_path / "out")]) == 0


def test_odd_file_names(pieces: Path, tmp_path: Path, capsys: Capture) -> None:
    names = ['it\'s "one" & two.png', "<b>bold<b>.png", "片 ü.png", "-o.png"]
    for path, name in zip(sorted(pieces.iterdir()), names, strict=True):
        path.rename(pieces / name)
    assert main_code(["solve", str(pieces), "-o", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == ""
    fragments = json.loads((tmp_path / "out" / "assembly.json").read_text(encoding="utf-8"))["fragments"]
    assert {piece["name"] for piece in fragments} == set(names)
    assert {path.name for path in (tmp_path / "out").iterdir()} == RESULT_FILES


def test_identical_and_tiny_pieces_are_named_in_notes(pieces: Path, tmp_path: Path, capsys: Capture) -> None:
    shutil.copy(pieces / "fragment_0001.png", pieces / "fragment_0009.png")
    write_png(pieces / "dot.png", np.full((1, 1, 4), 255, dtype=np.uint8))
    write_png(pieces / "nothing.png", np.zeros((30, 30, 4), dtype=np.uint8))
    assert main_code(["solve", str(pieces), "-o", str(tmp_path / "out")]) in (0, 1)
    notes = capsys.readouterr().err.splitlines()
    assert [note.split(": ", 1)[0] for note in notes] == ["note"] * 4
    assert "dot.png" in notes[0]
    assert "nothing.png" in notes[1]
    assert "fragment_0001.png and fragment_0009.png are identical" in notes[2]
    assert "so where they lie is a guess" in notes[3], "either of the two may be the one that belongs there"
    assert json.loads((tmp_path / "out" / "report.json").read_text())["warnings"] == [n.removeprefix("note: ") for n in notes]


def test_a_scrap_of_six_pixels_does_no_harm(pieces: Path, tmp_path: Path) -> None:
    scrap = np.zeros((12, 12, 4), dtype=np.uint8)
    scrap[3:9, 3:9] = 255
    write_png(pieces / "scrap.png", scrap)
    assert main_code(["solve", str(pieces), "-o", str(tmp_path / "out")]) == 1


def test_a_puzzle_of_two_identical_pieces(pieces: Path, tmp_path: Path, capsys: Capture) -> None:
    for name in ("fragment_0003.png", "fragment_0004.png"):
        (pieces / name).unlink()
    shutil.copy(pieces / "fragment_0001.png", pieces / "fragment_0002.png")
    assert main_code(["solve", str(pieces), "-o", str(tmp_path / "out"), "--json"]) in (0, 1)
    assert "identical" in json.loads(capsys.readouterr().out)["warnings"][0]
    assert {path.name for path in (tmp_path / "out").iterdir()} == RESULT_FILES


# --- pieces that cannot be used -------------------------------------------------------------------------------------


def huge_png(side: int) -> bytes:
    """A picture of side x side pixels in a few bytes."""

    def chunk(tag: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")


def pages(path: Path, n: int) -> None:
    first, *others = [Image.fromarray(colourful_picture(seed, 40, 40)) for seed in range(n)]
    first.save(path, save_all=True, append_images=others, compression="tiff_lzw")


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:300])


def keep_one(folder: Path) -> None:
    for path in sorted(folder.iterdir())[1:]:
        path.unlink()


def blank(path: Path) -> None:
    write_png(path, np.full((40, 40, 3), 255, dtype=np.uint8))


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty folder": (lambda f: [path.unlink() for path in f.iterdir()], "holds no pictures of pieces"),
    "no image": (lambda f: (f / "note.png").write_text("buy bread and milk"), "note.png is not a picture"),
    "truncated": (lambda f: truncate(f / "fragment_0002.png"), "fragment_0002.png is damaged or cut short"),
    "empty file": (lambda f: (f / "fragment_0002.png").write_bytes(b""), "fragment_0002.png is an empty file"),
    "one piece": (keep_one, "At least two pieces are needed, but 1 of 1"),
    "all background": (lambda f: (keep_one(f), blank(f / "z.png")), "z.png shows only background"),
    "huge": (lambda f: (f / "huge.png").write_bytes(huge_png(20_000)), "huge.png is larger than 100 million pixels"),
    "pages": (lambda f: pages(f / "scan.tif", 2), "scan.tif page 1: no background was found"),
    "letters": (lambda f: (f / "bg_color.txt").write_text("pale green"), "bg_color.txt should hold three whole numbers"),
    "line break": (lambda f: (f / "two\nlines.png").write_text("x"), r"two\nlines.png is not a picture"),
}


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_folder_that_cannot_be_used(spoil: str, pieces: Path, tmp_path: Path, capsys: Capture) -> None:
    change, sentence = SPOILT[spoil]
    if spoil == "line break" and sys.platform == "win32":
        pytest.skip("such a name cannot exist here")
    change(pieces)
    before = files_below(pieces)
    assert sentence in refusal(capsys, "solve", pieces, "-o", tmp_path / "a" / "b")
    assert files_below(tmp_path) == {f"pieces{os.sep}{name}": data for name, data in before.items()}
    assert not (tmp_path / "a").exists()


def test_inputs_that_are_no_folder(pieces: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    piece = pieces / "fragment_0001.png"
    assert "There is no file or folder" in refusal(capsys, "solve", tmp_path / "missing", "-o", out)
    assert "At least two pieces are needed" in refusal(capsys, "solve", piece, "-o", out)
    assert "Give a folder of pieces, or scans" in refusal(capsys, "solve", "-o", out)
    assert "two pieces called" in refusal(capsys, "solve", piece, piece, "-o", out)
    assert "cannot be read" in refusal(capsys, "solve", tmp_path / ("n" * 300), "-o", out)
    assert not out.exists()


# --- places that cannot be written ----------------------------------------------------------------------------------


def test_a_result_that_no_run_made_is_never_written_over(shredded: Path, solved: Path, tmp_path: Path, capsys: Capture) -> None:
    shutil.copy(solved / "assembly.json", tmp_path)
    before = files_below(tmp_path)
    assert "already holds a result" in refusal(capsys, "solve", shredded, "-o", tmp_path)
    assert files_below(tmp_path) == before


def test_truth_is_never_written_over(pictures: tuple[Path, Path], shredded: Path, capsys: Capture) -> None:
    before = files_below(shredded)
    assert "already holds a result" in refusal(capsys, "shred", pictures[1], "-o", shredded)
    assert files_below(shredded) == before


def test_an_output_folder_that_cannot_be_made(
    pictures: tuple[Path, Path], shredded: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("n" * 300)):
        for command in (("solve", shredded), ("shred", pictures[0])):
            assert out.name[:20] in refusal(capsys, *command, "-o", out)
    assert files_below(tmp_path) == {"file": b"mine"}


def test_other_trouble_with_files_is_one_sentence_too(
    shredded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "somewhere")

    monkeypatch.setattr(results, "write_report", full_disk)
    sentence = refusal(capsys, "solve", shredded, "-o", tmp_path / "out")
    assert sentence == "somewhere cannot be used: No space left on device."
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"run.json", "stages", "inputs.json"}


# --- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("solve x -o y --compose.min-score 7", "compose.min-score must lie between 0 and 1."),
        ("solve x -o y --match.per-piece 0", "match.per-piece must be at least 1."),
        ("solve x -o y --seed -1", "seed is -1; it must be 0 or more."),
        ("shred x -o y --seed -1", "seed is -1; it must be 0 or more."),
        ("shred x -o y --pieces 1", "pieces is 1; a puzzle needs at least 2."),
        ("shred x -o y --missing nan", "missing is nan; it must be between 0 and 1."),
        ("shred x -o y --key-color 8 256 8", "The key colour must be three whole numbers from 0 to 255."),
        ("shred -o y", "Name at least one picture to cut."),
        ("eval x --truth y --gap-px nan", "gap-px must be more than 0 and at most 1000."),
    ],
)
def test_options_out_of_range(arguments: str, sentence: str, capsys: Capture) -> None:
    assert refusal(capsys, *arguments.split()) == sentence


def test_alone_without_the_extra_it_says_what_to_install_and_helps(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("jigsawnet.cli.find_spec", lambda name: None)
    assert exit_code([]) == 2
    said = capsys.readouterr().err
    assert "pip install 'jigsawnet[web]'" in said
    assert "--help" in said


@pytest.mark.parametrize("arguments", ["fly", "solve x", "solve x -o y --bogus 1", "solve x -o y --seed many"])
def test_what_is_no_command_exits_with_2(arguments: str, capsys: Capture) -> None:
    assert exit_code(arguments.split()) == 2
    assert "--help" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["", "solve", "shred", "eval"])
def test_help_explains_every_command(command: str, capsys: Capture) -> None:
    assert exit_code([*command.split(), "--help"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert f"usage: jigsawnet {command}".rstrip() in said.out
    assert command or "jigsawnet solve pieces/ -o result/" in said.out


def test_a_command_that_is_not_there_is_said_in_one_sentence(capsys: Capture) -> None:
    assert refusal(capsys, "slove", "x") == "There is no command 'slove': did you mean solve? See jigsawnet --help."
    assert refusal(capsys, "<fly>").startswith("There is no command '<fly>': the commands are start, ")


def test_the_version_is_told(capsys: Capture) -> None:
    assert main_code(["--version"]) == 0
    assert capsys.readouterr().out == f"jigsawnet {__version__}\n"


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    for name, entry in COMMANDS.items():
        assert inspect.getdoc(entry.load()).splitlines()[0] == entry.summary, name


def test_listing_the_commands_loads_nothing_heavy() -> None:
    code = "import sys; from jigsawnet.cli import main_code; main_code(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    assert "'jigsawnet.cli'" in loaded
    assert not [name for name in ("numpy", "numba", "cv2", "tyro", "PIL", "scipy") if f"'{name}'" in loaded]


# --- shred and eval with bad input ----------------------------------------------------------------------------------


def test_a_result_is_not_written_among_the_pieces(shredded: Path, tmp_path: Path, capsys: Capture) -> None:
    pieces = tmp_path / "pieces"
    shutil.copytree(shredded, pieces)
    before = sorted(path.name for path in pieces.iterdir())
    assert main_code(["solve", str(pieces), "-o", str(pieces / ".")]) == 2
    error = capsys.readouterr().err
    assert "holds the pieces; give another folder" in error
    assert error.count("\n") == 1
    assert sorted(path.name for path in pieces.iterdir()) == before


def test_shred_of_bad_pictures(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "text.png").write_text("not a picture")
    write_png(tmp_path / "small.png", np.zeros((3, 3, 3), dtype=np.uint8))
    before = files_below(tmp_path)
    for name, words in (
        ("gone.png", "does not exist"),
        ("text.png", "is not a picture"),
        ("small.png", "picture"),
        (".", "folder"),
    ):
        assert words in refusal(capsys, "shred", tmp_path / name, "-o", tmp_path / "out")
    assert files_below(tmp_path) == before
    assert not (tmp_path / "out").exists()


def test_eval_without_truth_or_result(pieces: Path, shredded: Path, solved: Path, tmp_path: Path, capsys: Capture) -> None:
    assert "holds no truth.json" in refusal(capsys, "eval", solved, "--truth", pieces)
    assert "There is no folder" in refusal(capsys, "eval", solved, "--truth", tmp_path / "gone")
    assert "is not a file" in refusal(capsys, "eval", pieces, "--truth", shredded)
    assert "name too long" in refusal(capsys, "eval", tmp_path / ("n" * 300), "--truth", shredded).lower()


HOSTILE = {
    "empty": "",
    "list": "[1, 2]",
    "deep": "[" * 100_000,
    "nan": '{"format": "jigsawnet/assembly", "version": NaN}',
    "version": '{"format": "jigsawnet/assembly", "version": 99, "fragments": [], "alignments": []}',
    "pieces": '{"format": "jigsawnet/assembly", "version": 1, "fragments": [], "alignments": []}',
    "pose": '{"format": "jigsawnet/assembly", "version": 1, "fragments": [{"name": 1}], "alignments": []}',
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_eval_of_hostile_json(kind: str, shredded: Path, solved: Path, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "assembly.json").write_text(HOSTILE[kind])
    assert "assembly.json" in refusal(capsys, "eval", tmp_path, "--truth", shredded)
    folder = tmp_path / "pieces"
    shutil.copytree(shredded, folder)
    (folder / "truth.json").write_text(HOSTILE[kind])
    assert "truth.json" in refusal(capsys, "eval", solved, "--truth", folder)


# --- the process ----------------------------------------------------------------------------------------------------


def test_a_key_press_while_results_are_written_leaves_none_of_them(
    shredded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(results, "write_report", stop)
    assert main_code(["solve", str(shredded), "-o", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err == "jigsawnet: Stopped.\n"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"run.json", "stages", "inputs.json"}


def test_a_terminal_gets_a_progress_bar(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    with console.progress_bars() as quiet:
        assert quiet is no_progress
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    progress: Progress
    with console.progress_bars() as progress:
        progress("match", 1, 2)
        progress("match", 2, 2)
    said = capsys.readouterr()
    assert said.out == ""
    assert "match" in said.err
    assert "2/2" in said.err


def test_any_name_can_be_shown_on_any_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, encoding="ascii", write_through=True))
    console.say("out \udcff/片\x1b[2J\n.png")
    assert stream.getvalue().split() == [rb"out", rb"\udcff/\u7247\x1b[2J\n.png"]


def test_it_works_without_any_terminal(shredded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main_code(["solve", str(shredded), "-o", str(tmp_path / "out")]) == 0
    assert main_code(["solve", str(shredded), "-o", str(tmp_path / "out" / "assembly.json")]) == 2


def run_process(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jigsawnet", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_a_real_process_prints_no_traceback(shredded: Path, tmp_path: Path) -> None:
    done = run_process("solve", shredded, "-o", "out", "--compose.min-score", "7", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "jigsawnet: compose.min-score must lie between 0 and 1.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_real_process_keeps_libtiff_silent(pieces: Path, tmp_path: Path) -> None:
    pages(pieces / "torn.tif", 1)
    data = bytearray((pieces / "torn.tif").read_bytes())
    data[12:60] = b"\xff" * 48
    (pieces / "torn.tif").write_bytes(data)
    done = run_process("solve", "pieces", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "jigsawnet: torn.tif is damaged or cut short and cannot be read: save or copy it again.\n"


@pytest.mark.parametrize("scorer", ["jigsawnet", "seam", "combined"])
def test_without_its_weights_a_scorer_says_so_and_writes_nothing(
    scorer: str, shredded: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned, "PACKAGED", tmp_path / "lost")
    sentence = refusal(capsys, "solve", shredded, "-o", tmp_path / "out", "--scorer", scorer)
    assert "are missing" in sentence
    assert "jigsawnet train" in sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("scorer", ["fit", "jigsawnet", "seam", "combined"])
def test_every_scorer_solves_a_small_puzzle(scorer: str, shredded: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main_code(["solve", str(shredded), "-o", str(tmp_path / "out"), "--scorer", scorer]) == 0
    stages = {stage["name"] for stage in json.loads((tmp_path / "out" / "report.json").read_text())["stages"]}
    assert "score" in stages


def test_the_first_solve_says_that_it_compiles(
    pieces: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr("jigsawnet.cli.compiling.compile_beside", lambda: started.append("beside"))
    for compiled, said in ((False, True), (True, False)):
        monkeypatch.setattr("jigsawnet.cli.solve.is_compiled", lambda known=compiled: known)
        assert main_code(["solve", str(pieces), "-o", str(tmp_path / str(compiled))]) == 0
        assert ("note: Preparing compiled code" in capsys.readouterr().err) == said
    assert gc.isenabled()
    assert started == ["beside"]


@pytest.mark.parametrize(
    "error",
    [
        ImportError("cv2.abi3.so: failed to map segment from shared object"),
        OSError("Could not find/load shared object file 'libllvmlite.so'.\nThis could mean much."),
    ],
)
def test_a_library_for_which_there_is_no_memory_is_one_sentence(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def load(_: object) -> None:
        raise error

    monkeypatch.setattr(type(COMMANDS["solve"]), "load", load)
    assert main_code(["solve", "pieces", "-o", "out"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("jigsawnet: A library cannot be loaded, as when there is not enough memory: ")
    assert told.count("\n") == 1
    assert "Traceback" not in told
