"""The runs that are disturbed, each in a folder of its own: what lies there before, what is done, what people get from it."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from PIL import Image, ImageDraw

from jigsawnet.cli import main_code
from jigsawnet.errors import JigsawNetError

Files = Mapping[str, str]
"""Checksums by path."""
RESULT_NAMES = ("assembly", "report", "poses.csv", "alignments", "pose_result", "selected_transformation")


@dataclass(frozen=True)
class Scenario:
    """A run in a folder."""

    prepare: Callable[[Path], None]
    run: Callable[[Path], int]
    """Gives an exit code; says on stderr what is wrong."""
    results: Callable[[Files], Files]
    """Of all files of the folder, those that are the result and belong together."""
    others: tuple[Callable[[Path], int], ...] = ()
    """Other ways from what lies there to a result that is right, too."""
    between: tuple[Callable[[Path], int], ...] = ()
    """Ways to a result that may be left, but that the next run goes on from."""
    finished: str = ""
    """With this file there, the same run again is refused, since there is a result already."""


def all_files(folder: Path) -> Files:
    """Whatever lies there, hidden files too."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and "pieces" not in path.relative_to(folder).parts[:1])
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def stop_clocks() -> None:
    """Seconds in reports are all the same, so that the same result is the same bytes."""
    from jigsawnet import context
    from jigsawnet.cli import solve
    from jigsawnet.training import loop

    zero = SimpleNamespace(time=lambda: 0.0, perf_counter=lambda: 0.0, monotonic=lambda: 0.0)
    for module in (context, loop):
        module.time = zero  # type: ignore[attr-defined]
    solve._STARTED = 0.0


def _picture(width: int = 120, height: int = 90, seed: int = 3) -> Image.Image:
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(40, 255, (9, 12, 3), dtype=np.uint8))
    picture = small.resize((width, height), Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(picture)
    for _ in range(30):
        x, y, r = (int(rng.integers(0, high)) for high in (width, height, 9))
        draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(rng.integers(50, 255, 3).tolist()))
    return picture


def _pieces(folder: Path) -> None:
    _picture(240, 180).save(folder / "photo.png", dpi=(300, 300))
    assert main_code(["shred", str(folder / "photo.png"), "-o", str(folder / "pieces"), "--pieces", "4", "--seed", "4"]) == 0


def _solve(folder: Path) -> int:
    words = ["solve", str(folder / "pieces"), "-o", str(folder / "out"), "--workers", "1", "--tiff", "--authors-text"]
    return main_code(words)


def _solved_without_one(folder: Path) -> None:
    """A solve of three of the pieces; the fourth is added then."""
    _pieces(folder)
    away = folder / "pieces" / "piece-004.png"
    away = away if away.exists() else sorted((folder / "pieces").glob("*.png"))[-1]
    away.rename(folder / "away")
    _solve(folder)
    (folder / "away").rename(away)


def _solve_anew(folder: Path) -> int:
    """A saved stage that cannot be read is made again, and then all pairs are measured anew."""
    shutil.rmtree(folder / "out")
    return _solve(folder)


def _run_results(files: Files) -> Files:
    return {name: value for name, value in files.items() if name.removeprefix("out/").startswith(RESULT_NAMES)}


def _below_out(files: Files) -> Files:
    return {name: value for name, value in files.items() if name.startswith("out/") and "/." not in name}


def _scan(folder: Path) -> None:
    page = Image.new("RGB", (270, 250), (235, 232, 228))
    for k, (x, y) in enumerate(((30, 30), (160, 60), (30, 150))):
        page.paste((150, 50 + 30 * k, 60), (x, y, x + 80, y + 70))
    page.save(folder / "scan.png", dpi=(300, 300))
    page.save(folder / "back.png", dpi=(300, 300))


def _cut(folder: Path) -> int:
    return main_code(["cut", str(folder / "scan.png"), "-o", str(folder / "out"), "--back", str(folder / "back.png")])


def _shred(folder: Path) -> int:
    words = ["--pieces", "4", "--preset", "torn-photo", "--key-color", "8", "248", "8"]
    return main_code(["shred", str(folder / "photo.png"), "-o", str(folder / "out"), *words])


def _photos(folder: Path) -> None:
    (folder / "photos").mkdir()
    for k in range(2):
        _picture(seed=k).save(folder / "photos" / f"{k}.png")


def _train(folder: Path) -> int:
    words = "--parts fit network --network seam --learners 2 --steps 2 --batch 4 --validate-every 2 --checkpoint-every 1"
    more = "--threads 1 --examples.puzzles 2 --examples.largest 4 --examples.matchers dense --fits.puzzles 2 --fits.largest 4"
    return main_code(["train", str(folder / "photos"), "-o", str(folder / "out"), *words.split(), *more.split()])


def _bundle(files: Files) -> Files:
    """What solve would use: nothing before the list of files is there."""
    return _below_out(files) if "out/bundle.json" in files else {}


def _run_folder(folder: Path) -> None:
    _pieces(folder)
    _solve(folder)


def _export(folder: Path) -> int:
    words = ["--formats", "pdf", "tiff", "png", "svg", "csv", "iiif", "--labels", "--scale-bar"]
    return main_code(["export", str(folder / "out"), "-o", str(folder / "pages"), *words])


def _below_pages(files: Files) -> Files:
    return {name: value for name, value in files.items() if name.startswith("pages/") and "/." not in name}


def _edit(folder: Path, most: int = 5) -> int:
    """What the workbench does: open, edit (as far as that was not done before), undo, solve on, write the results, close."""
    from jigsawnet.edits import Move, NamePage, Pin, SetAside
    from jigsawnet.geometry import SE2
    from jigsawnet.runs import open_run
    from jigsawnet.viewer.session import Session

    try:
        session = Session(open_run(folder / "out"))
        try:
            told: list[str] = []

            def listen(event: Mapping[str, str]) -> None:
                if event["type"] == "error":
                    told.append(event["text"])

            session.hub.publish = listen  # type: ignore[method-assign, assignment]
            edits = [Pin((0,)), Move({1: SE2(0.1, 500.0, 20.0)}), SetAside((2,)), NamePage(0, "first"), Pin((3,))]
            for k, edit in enumerate(edits[:most]):
                if len(session.edits.entries) <= k:
                    session.make(session.revision, edit)
                    _acknowledge(folder, k + 1)
            if session.edits.in_force == len(edits):
                session.undo(session.revision)
        finally:
            session.close()
        if told:
            raise JigsawNetError(told[0])
    except (JigsawNetError, OSError, MemoryError) as error:
        words = str(error) or "There is not enough memory."
        print(f"jigsawnet: {words}", file=sys.stderr)
        return 2
    return 0


def _acknowledge(folder: Path, count: int) -> None:
    """The browser was told that so many edits are taken; written beside what is watched."""
    target = Path(str(folder) + ".told")
    target.write_text(str(count))


def edits_in(folder: Path) -> int:
    """How many edits are on the disk, those taken back included."""
    lists = [folder / "out" / name for name in ("edits.json", "edits_undone.json")]
    return sum(len(json.loads(path.read_text())["edits"]) for path in lists if path.exists())


SCENARIOS = {
    "solve": Scenario(_pieces, _solve, _run_results),
    "solve-more": Scenario(_solved_without_one, _solve, _run_results, (_solve_anew,)),
    "cut": Scenario(_scan, _cut, _below_out, finished="out/cut.json"),
    "shred": Scenario(lambda folder: _picture().save(folder / "photo.png"), _shred, _below_out, finished="out/truth.json"),
    "export": Scenario(_run_folder, _export, _below_pages, finished="pages/export.json"),
    "edits": Scenario(_run_folder, _edit, _run_results, between=tuple(partial(_edit, most=k) for k in range(5))),
    "train": Scenario(_photos, _train, _bundle),
}
