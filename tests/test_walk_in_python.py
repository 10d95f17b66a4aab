"""From scan to export by the public names alone, as the page about Python shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import jigsawnet as jn


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pieces of a picture, apart from each other on a plain page, at 150 dpi."""
    rng = np.random.default_rng(3)
    coarse = Image.fromarray(rng.integers(0, 200, (14, 18, 3), dtype=np.uint8))
    picture = np.asarray(coarse.resize((360, 280), Image.Resampling.BICUBIC))
    puzzle, _ = jn.shred_images([picture], jn.ShredConfig(pieces=4), rng)
    page = np.full((700, 900, 3), (238, 236, 230), np.uint8)
    for piece in puzzle.pieces:
        height, width = piece.mask.shape
        y, x = 20 + piece.idx // 2 * 340, 20 + piece.idx % 2 * 440
        page[y : y + height, x : x + width][piece.mask] = piece.image[piece.mask]
    path = tmp_path_factory.mktemp("walk") / "scan.png"
    Image.fromarray(page).save(path, dpi=(150, 150))
    return path


def test_from_a_scan_to_pages_by_public_names_alone(scan: Path, tmp_path: Path) -> None:
    loaded = jn.load_input([scan], jn.ScanInput(straighten=False))
    assert len(loaded.puzzle) == 4
    assert loaded.dpi == pytest.approx(150, abs=0.1)
    solution = jn.solve_puzzle(loaded.puzzle)
    assert solution.assembly.complete

    run = jn.solve_run(jn.Request((scan,), jn.ScanInput(straighten=False)), tmp_path / "run", operator="Ada")
    assert isinstance(run, jn.Run)
    assert run.assembly.complete
    assert isinstance(run.report, jn.RunReport)
    assert "match" in [stage.name for stage in run.report.stages]

    (i, j) = (run.assembly.joins[0].alignment.i, run.assembly.joins[0].alignment.j)
    apart = run.solve_on(jn.Constraints(hints=tuple(jn.Hint("apart", (i, other)) for other in {0, 1, 2, 3} - {i})))
    home = next((set(c) for c in apart.assembly.components if i in c), set())
    assert j not in home, "a hint is obeyed"
    aside = run.solve_on(jn.Constraints(aside=frozenset({2})))
    assert aside.assembly.unplaced == (2,)
    run = run.solve_on()
    assert run.assembly.complete

    again = jn.open_run(tmp_path / "run")
    assert again.assembly.poses.keys() == run.assembly.poses.keys()
    done = jn.export_pages(again, tmp_path / "pages", jn.ExportConfig(formats=("png", "pdf")))
    assert isinstance(done, jn.Exported)
    assert all((tmp_path / "pages" / name).stat().st_size for name in done.files)
    with Image.open(next((tmp_path / "pages").rglob("*.png"))) as page:
        assert page.info["dpi"] == pytest.approx((150, 150), abs=0.1)

    jn.pack_run(again.folder, tmp_path / "case.jigsaw", with_inputs=True)
    jn.unpack_run(tmp_path / "case.jigsaw", tmp_path / "elsewhere")
    assert jn.open_run(tmp_path / "elsewhere").assembly.complete


def test_everything_prints_as_one_short_line_and_shows_itself(scan: Path, tmp_path: Path) -> None:
    loaded = jn.load_input([scan])
    solution = jn.solve_puzzle(loaded.puzzle)
    run = jn.solve_run(jn.Request((scan,)), tmp_path / "run")
    shown = (
        loaded,
        loaded.puzzle,
        loaded.puzzle.pieces[0],
        solution,
        solution.assembly,
        solution.candidates,
        run,
        jn.load_learned(),
    )
    for value in shown:
        assert len(repr(value)) < 300, type(value)
        assert "\n" not in repr(value)
        assert "array(" not in repr(value)
        assert repr(value).startswith(type(value).__name__)
    for value in (solution, run):
        assert value._repr_html_().startswith("<figure><img src=")
        assert (value._repr_png_() or b"").startswith(b"\x89PNG")
    assert "4 of 4 pieces placed in 1 part" in repr(run)
