"""The pictures of the workbench in the papers; taken only when asked for, so that a plain run leaves the tree as it is.

``JIGSAWNET_PICTURES=1 pytest tests/viewer/browser/test_browser_pictures.py``
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from jigsawnet.cli import main_code
from jigsawnet.io.truth import read_truth
from jigsawnet.runs import open_run
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.viewer.home.cases import Cases
from jigsawnet.viewer.home.serve import Home
from jigsawnet.viewer.session import Session
from jigsawnet_bench.scans.lay import SheetConfig, make_scans

pytestmark = [
    pytest.mark.xdist_group("browser"),
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("JIGSAWNET_PICTURES"), reason="pictures are taken with JIGSAWNET_PICTURES=1"),
]

ROOT = Path(__file__).resolve().parents[3]
MOST_BYTES = 400_000

# The program cannot know which way is up; for the papers the picture is turned as a person would turn it.
TURN_UPRIGHT = """async () => {
    const {store, carry, api} = workbench, truth = await api.get("/api/truth");
    carry.begin(0, true);
    carry.setFree(true);
    carry.turn(truth.upright - store.pieces[0].pose[0]);
    await carry.drop();
}"""


def save(window: Any, name: str) -> None:
    picture = Image.open(BytesIO(window.page.screenshot())).convert("RGB")
    small = picture.quantize(256, kmeans=4, dither=Image.Dither.FLOYDSTEINBERG)
    path = ROOT / "docs" / "images" / name
    small.save(path, optimize=True)
    assert path.stat().st_size < MOST_BYTES


def test_the_pictures_of_the_papers(
    serve: Callable[..., Any], open_window: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces, out = tmp_path / "boats", tmp_path / "out"
    shred = ["shred", str(ROOT / "examples" / "photo.jpg"), "-o", str(pieces), "--pieces", "40", "--seed", "5"]
    assert main_code([*shred, "--erosion-px", "2", "--noise", "4"]) == 0
    assert main_code(["solve", str(pieces), "-o", str(out)]) in (0, 1)
    capsys.readouterr()
    run = open_run(out)
    truth = read_truth(pieces, run.puzzle)
    address = serve(Session(run, truth)).address
    upright = truth.poses[0].theta
    window = open_window(address, viewport={"width": 1360, "height": 820}, color_scheme="light")
    window.ask(TURN_UPRIGHT.replace("truth.upright", str(upright)))
    for idx in (17, 23):
        window.select({"kind": "piece", "idx": idx})
        window.press("Delete")
    window.press("0")
    window.select({"kind": "piece", "idx": 23})
    window.until("() => workbench.store.ghost !== null")
    save(window, "workbench.png")
    window.press("1", "v", "Escape", "0")
    for _ in range(2):
        window.click("#theme")
    window.select({"kind": "piece", "idx": 8})
    save(window, "workbench-dark.png")
    window.click("#theme")
    window.press("j")
    window.page.fill("#apart", "12")
    window.idle()
    window.page.locator("#page-details").screenshot(path=tmp_path / "join.png")
    Image.open(tmp_path / "join.png").convert("RGB").quantize(256).save(
        ROOT / "docs" / "images" / "workbench-join.png", optimize=True
    )


def test_the_pictures_of_the_page_of_cases(open_window: Callable[..., Any], tmp_path: Path) -> None:
    photo = np.asarray(Image.open(ROOT / "examples" / "photo.jpg").convert("RGB").reduce(2))
    puzzle, _ = shred_images([photo], ShredConfig(pieces=24), np.random.default_rng(5))
    side = 5 * max(max(piece.mask.shape) for piece in puzzle.pieces)
    files = []
    for k in range(2):
        config = SheetConfig(width=round(1.25 * side), height=side, color=(52, 92, 70))
        (page,), _ = make_scans(puzzle.pieces[12 * k : 12 * k + 12], config, np.random.default_rng(k))
        files.append(tmp_path / f"boats {k + 1}.png")
        Image.fromarray(page).save(files[-1], dpi=(200, 200))
    home = Home(Cases(tmp_path / "cases"), lambda _: nullcontext())
    home.start()
    try:
        window = open_window(home.address, "() => Boolean(window.home?.isIdle())", viewport={"width": 1280, "height": 800})
        window.page.set_input_files("#files-input", [str(path) for path in files])
        window.until("() => window.home?.isIdle() && home.review.review !== null")
        window.page.click("#list button >> nth=2")
        window.until("() => document.querySelector('.paper img').complete")
        save(window, "review.png")
        window.page.click("#solve")
        window.until("() => Boolean(window.workbench?.isIdle()) && !workbench.store.busy")
        window.page.click(".home-link")
        window.until("() => window.home?.isIdle() && document.querySelector('.case img')?.naturalWidth > 50")
        window.ask("() => { document.getElementById('where').textContent = ''; }")
        save(window, "start.png")
    finally:
        home.stop()
