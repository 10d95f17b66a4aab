"""Run folders that version 0.1.0 wrote: they open, can be composed again, and solved into."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.cli import main_code
from jigsawnet.context import Context
from jigsawnet.runs import Request, open_run, solve_run
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Constraints

DATA = Path(__file__).parent / "data" / "run-of-version-0.1.0.zip"
"""``pieces``: four pieces; ``run``: what that version made of them, without its report.html and assembly.svg."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with zipfile.ZipFile(DATA) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def assert_near(one: Assembly, two: Assembly) -> None:
    """The same pieces joined, poses to a thousandth of a pixel."""
    assert one.components == two.components
    assert {(e.alignment.i, e.alignment.j) for e in one.joins} == {(e.alignment.i, e.alignment.j) for e in two.joins}
    assert one.confidence == pytest.approx(two.confidence, abs=0.01), "how it is measured has changed since"
    for idx, pose in one.poses.items():
        angle, distance = pose.distance(two.poses[idx])
        assert angle < 1e-5
        assert distance < 1e-3


def test_it_opens(folder: Path) -> None:
    run = open_run(folder / "run")
    assert run.puzzle.names() == tuple(f"fragment_000{k}.png" for k in range(1, 5))
    assert (run.cut_short, run.is_draft, run.report.warnings) == (False, False, ())
    rows = run.candidates
    assert len(rows) == 24
    assert (np.diff(rows.score) <= 0).all()
    assert (rows.score >= 0.5).sum() == 3
    assert (rows.i < rows.j).all()
    seams = [a.seam for a in rows.alignments()]
    assert all(seam is not None and seam.length_px > 0 for seam in seams)
    written = json.loads((folder / "run" / "alignments.json").read_text())
    assert len(written["alignments"]) == 24
    by_fit = rows.take(np.argsort(-rows.fit, kind="stable"))
    names = run.puzzle.names()
    for a, join in zip(by_fit.alignments(), written["alignments"], strict=True):
        assert (names[a.i], names[a.j]) == (join["i"], join["j"])
        assert a.fit == pytest.approx(join["fit"], abs=1e-6)
        np.testing.assert_allclose(a.i_from_j.matrix(), join["i_from_j"], atol=1e-6)
    stages = [stage.name for stage in run.report.stages]
    assert stages == ["contours", "match", "score", "compose", "refine", "second round"]


def test_its_assembly_is_the_one_that_was_written(folder: Path) -> None:
    run = open_run(folder / "run")
    assembly, names = run.assembly, run.puzzle.names()
    written = json.loads((folder / "run" / "assembly.json").read_text())
    assert assembly.complete
    for idx, piece in enumerate(written["fragments"]):
        np.testing.assert_allclose(assembly.poses[idx].matrix(), piece["world_from_fragment"], atol=1e-9)
        assert assembly.confidence[idx] == pytest.approx(piece["confidence"], abs=1e-6)
    assert len(assembly.joins) == len(written["alignments"]) == 5
    for edge, join in zip(assembly.joins, written["alignments"], strict=True):
        assert (names[edge.alignment.i], names[edge.alignment.j]) == (join["i"], join["j"])
        assert edge.confidence == pytest.approx(join["score"], abs=1e-6), "its score was how sure it is"


def test_it_is_composed_again_without_matching_and_opens_again(folder: Path) -> None:
    run = open_run(folder / "run")
    without = run.solve_on(Constraints(aside=frozenset({0})))
    assert without.assembly.unplaced == (0,)
    assert not {"match", "score"} & set(without.corridor.made)
    opened = open_run(folder / "run")
    assert (len(opened.candidates), opened.assembly, opened.is_draft) == (24, without.assembly, False)
    back = opened.solve_on()
    assert_near(back.assembly, run.assembly)
    again = open_run(folder / "run")
    assert (again.assembly, again.cut_short, len(again.candidates)) == (back.assembly, False, 24)


def test_what_a_stop_left_of_it_can_be_opened(folder: Path) -> None:
    stop = Stop()
    stop.request()
    run = open_run(folder / "run")
    cut = run.solve_on(Constraints(aside=frozenset({0})), Context(stop=stop))
    assert cut.cut_short
    opened = open_run(folder / "run")
    assert (opened.assembly, opened.cut_short, len(opened.candidates)) == (cut.assembly, True, 24)
    assert_near(opened.solve_on().assembly, run.assembly)


def test_solving_into_it_gives_what_it_gave(folder: Path, tmp_path: Path) -> None:
    old = open_run(folder / "run")
    run = solve_run(Request((folder / "pieces",)), folder / "run")
    assert "assembly" in run.done
    assert_near(run.assembly, old.assembly)
    assert_same_candidates(run.candidates, old.candidates)
    assert "graph" not in json.loads((folder / "run" / "run.json").read_text())["stages"]
    assert not list((folder / "run" / "stages").glob("graph-*"))
    opened = open_run(folder / "run")
    assert (opened.assembly, opened.cut_short) == (run.assembly, False)
    fresh = solve_run(Request((folder / "pieces",)), tmp_path / "fresh")
    assert fresh.assembly == run.assembly
    assert solve_run(Request((folder / "pieces",)), folder / "run").done == ()


def test_the_command_solves_into_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["solve", str(folder / "pieces"), "-o", str(folder / "run"), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["placed"], summary["cut_short"]) == (4, False)
    assert (folder / "run" / "report.html").is_file()


def test_solving_into_it_and_stopped_it_still_has_its_candidates(folder: Path) -> None:
    old = open_run(folder / "run")
    run = solve_run(Request((folder / "pieces",)), folder / "run", context=Context(stop=Stop.after(0)))
    assert run.cut_short
    opened = open_run(folder / "run")
    assert len(opened.candidates) == 24
    assert_near(opened.assembly, old.assembly)


def test_its_request_is_read(folder: Path) -> None:
    request = open_run(folder / "run").request
    assert replace(request, inputs=()) == Request(())


def assert_same_candidates(one: Candidates, two: Candidates) -> None:
    assert one.i.tolist() == two.i.tolist()
    assert one.j.tolist() == two.j.tolist()
    np.testing.assert_allclose(one.pose, two.pose, atol=1e-5)
    np.testing.assert_allclose(one.fit, two.fit, atol=1e-5)
    np.testing.assert_allclose(one.score, two.score, atol=1e-5)
