"""Every command in the README and the docs is run, on small pictures named as the docs name them, or it says here why not."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import cv2
import made_files
import numpy as np
import pytest
from PIL import Image

from jigsawnet.cli import main_code
from jigsawnet.edits import Accept, Edits
from jigsawnet.io.edits_json import save_edits
from jigsawnet.io.pieces import write_pieces
from jigsawnet.runs import open_run
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Piece, UInt8Array

ROOT = Path(__file__).resolve().parents[1]
PAPERS = [
    path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")))
    if "```" in path.read_text("utf-8")
]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXCUSED = {
    r"pip install ": "changes the Python that runs the tests",
    r"make ": "the targets run these tests themselves, or set up an environment",
    r"(JIGSAWNET_PICTURES=1 )?\.venv/bin/pytest ": "the tests themselves",
    r"jigsawnet$": "waits for a person in a browser; tests/viewer runs it",
    r"jigsawnet solve .*--review": "waits for a person in a browser; tests/viewer runs it",
    r"jigsawnet view ": "waits for a person in a browser; tests/viewer runs it",
    r"jigsawnet solve .*--view": "waits for a person in a browser; tests/viewer runs it",
    r"jigsawnet bench ": "needs a folder of photographs and takes long; tests/jigsawnet_bench runs it",
    r"python -m jigsawnet_bench\.side_by_side ": "needs a clone with its history; tests/jigsawnet_bench runs it",
    r"jigsawnet solve .*--scheduler": "needs a cluster; tests/workers starts one",
    r"dask ": "starts a server that does not end",
}
"""What is not run, and why."""
SMALLER = {
    r"jigsawnet train ": "--steps 2 --batch 8 --threads 1 --examples.puzzles 2 --examples.largest 4 --examples.matchers dense "
    "--fits.puzzles 2 --fits.largest 4 --cuts.pages 2 --cuts.shredded 2 --strokes.steps 2 --strokes.threads 1 "
    "--strip-fit.pages 3 --strip-fit.processes 1"
}
"""Options that a command which takes long is run with besides; the last of two that are the same counts."""
GROUND = (40, 150, 70)


def commands(paper: Path) -> list[str]:
    """The lines of all blocks of shell commands, with lines that go on joined and remarks left out."""
    lines: list[str] = []
    for language, text in BLOCK.findall(paper.read_text(encoding="utf-8")):
        if language == "sh":
            lines += [
                shlex.join(words)
                for line in text.replace("\\\n", " ").splitlines()
                if (words := shlex.split(line, comments=True))
            ]
    return lines


def excuse(command: str) -> str | None:
    return next((reason for pattern, reason in EXCUSED.items() if re.match(pattern, command)), None)


def picture(seed: int, width: int = 300, height: int = 220) -> UInt8Array:
    """Soft blobs of many colours, none like the ground of the scans."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(60, 250, (height // 18, width // 18, 3)).astype(np.uint8)
    soft = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC).astype(int)
    soft[..., 1] = np.minimum(soft[..., 1], 120)
    return np.clip(soft, 30, 255).astype(np.uint8)


def page(pieces: list[Piece], backs: bool = False) -> UInt8Array:
    """A scan of pieces that lie apart; of their backs as it is when the whole page is turned over."""
    side = 20 + max(max(piece.mask.shape) for piece in pieces)
    sheet = np.full((side + 20, side * len(pieces) + 20, 3), GROUND, np.uint8)
    for k, piece in enumerate(pieces):
        height, width = piece.mask.shape
        place = sheet[20 : 20 + height, 20 + side * k : 20 + side * k + width]
        place[piece.mask] = (200, 180, 190) if backs else piece.image[piece.mask]
    soft = cv2.GaussianBlur(sheet, (0, 0), 0.6)
    return np.ascontiguousarray(soft[:, ::-1] if backs else soft).astype(np.uint8)


def save(path: Path, image: UInt8Array, dpi: int = 300) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, dpi=(dpi, dpi), **({"quality": 95} if path.suffix == ".jpg" else {}))


def edit(folder: Path) -> None:
    """What a person leaves behind on the workbench: here one join accepted."""
    run = open_run(folder)
    join = run.assembly.joins[0].alignment
    save_edits(folder, Edits(run.assembly).added(Accept(join.i, join.j)), run.puzzle.names())


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the docs take for granted."""
    folder = tmp_path_factory.mktemp("docs")
    for seed, name in enumerate(("photo.jpg", "photo2.jpg", "examples/photo.jpg", "photos/1.jpg", "photos/2.jpg")):
        save(folder / name, picture(seed))
    puzzle, _ = shred_images([picture(9)], ShredConfig(pieces=4), np.random.default_rng(4))
    write_pieces(folder / "pieces", puzzle, dpi=300.0)
    halves = list(puzzle.pieces[:2]), list(puzzle.pieces[2:])
    for k, (name, half) in enumerate(zip(("scan1.png", "scan2.jpg"), halves, strict=True), start=1):
        save(folder / name, page(half))
        save(folder / "scans" / name, page(half))
        for back in (f"back{k}.png", f"scan{k}-back.png", f"backs/scan{k}.png"):
            save(folder / back, page(half, backs=True))
    save(folder / "scan.png", page(list(puzzle.pieces)))
    (folder / "scans.tif").write_bytes(made_files.tiff(*[page(halves[k % 2]) for k in range(4)]))
    return folder


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_runs(paper: Path, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:  # type: ignore[no-untyped-def]
    here = tmp_path / "here"
    shutil.copytree(prepared, here)
    monkeypatch.chdir(here)
    for command in commands(paper):
        program, *words = shlex.split(command)
        words += [word for start, more in SMALLER.items() if re.match(start, command) for word in more.split()]
        if excuse(command):
            if words[:1] == ["view"]:
                edit(here / words[1])
            continue
        assert program == "jigsawnet", f"{command!r} is neither run nor excused in EXCUSED"
        allowed = {0, 1} if words[0] == "solve" else {0}
        code = main_code(words)
        assert code in allowed, f"{command!r} ended with {code}: {capsys.readouterr().err}"


def test_every_excuse_is_needed() -> None:
    said = [command for paper in PAPERS for command in commands(paper)]
    for pattern in EXCUSED:
        assert any(re.match(pattern, command) for command in said), pattern


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_are_in_blocks_that_the_tests_find(paper: Path) -> None:
    for language, text in BLOCK.findall(paper.read_text(encoding="utf-8")):
        assert language not in ("bash", "shell", "console"), f"{paper.name}: call the block sh"
        if language == "":
            assert not re.search(r"^\$? ?jigsawnet ", text, re.MULTILINE), f"{paper.name}: call the block sh"


def python_blocks(paper: Path) -> list[str]:
    return [text for language, text in BLOCK.findall(paper.read_text(encoding="utf-8")) if language == "python"]


@pytest.mark.parametrize(
    "paper",
    [paper for paper in PAPERS if python_blocks(paper) and paper.name != "CONTRIBUTING.md"],  # that one shows only heads
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_the_python_of_the_docs_runs(paper: Path, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    shutil.copytree(prepared, here)
    monkeypatch.chdir(here)
    names: dict[str, object] = {}
    for k, text in enumerate(python_blocks(paper)):
        exec(compile(text, f"{paper.name}, block {k + 1}", "exec"), names)


def test_the_page_about_python_is_among_what_runs() -> None:
    assert len(python_blocks(ROOT / "docs" / "api.md")) > 4
