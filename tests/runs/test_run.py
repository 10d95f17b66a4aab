"""Runs: saved, resumed, opened, and composed again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig
from jigsawnet.config import SolveConfig
from jigsawnet.errors import InputError, OutputError
from jigsawnet.io.assembly_json import assembly_to_json
from jigsawnet.io.lock import hold_lock
from jigsawnet.runs import Request, open_run, solve_run
from jigsawnet.types import Constraints

STAGES = ("pieces", "match", "score", "assembly")


@pytest.fixture
def out(undisturbed: Path, tmp_path: Path) -> Path:
    """A copy of the finished run."""
    return Path(shutil.copytree(undisturbed, tmp_path / "out"))


def files_below(folder: Path) -> dict[str, bytes]:
    """All files by their bytes, but for the history, which holds the time."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "history.jsonl")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_finished_run_is_reused_whole(nine: Path, out: Path) -> None:
    before = files_below(out)
    run = solve_run(Request((nine,)), out)
    assert (run.done, run.reused, run.pairs_matched) == ((), STAGES, 0)
    assert files_below(out) == before


SPOIL: dict[str, Callable[[Path], object]] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "garbled": lambda path: path.write_bytes(b"PK" * 999),
    "lost": lambda path: path.unlink(),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("spoil", SPOIL)
def test_a_damaged_stage_is_done_again(stage: str, spoil: str, nine: Path, out: Path) -> None:
    before = files_below(out)
    SPOIL[spoil](next((out / "stages").glob(f"{stage}-*")))
    run = solve_run(Request((nine,)), out)
    assert run.done == (stage,)
    assert {name for name, data in files_below(out).items() if before.get(name) != data} <= {"run.json"}


def test_other_settings_do_again_what_depends_on_them(nine: Path, out: Path) -> None:
    strict = SolveConfig(compose=ComposeConfig(min_score=1.0))
    run = solve_run(Request((nine,), config=strict), out)
    assert (run.done, run.reused) == (("assembly",), ("pieces", "match", "score"))
    assert open_run(out).assembly.components == ()
    assert len(list((out / "stages").iterdir())) == 5
    again = solve_run(Request((nine,), config=replace(strict, scorer="fit")), out)
    assert (again.done, again.reused) == (("score", "assembly"), ("pieces", "match"))


def test_an_opened_run_needs_no_input(nine: Path, tmp_path: Path) -> None:
    pieces = Path(shutil.copytree(nine, tmp_path / "pieces"))
    run = solve_run(Request((pieces,)), tmp_path / "out")
    shutil.rmtree(pieces)
    opened = open_run(tmp_path / "out")
    assert opened.puzzle.names() == run.puzzle.names()
    for one, two in zip(opened.puzzle.pieces, run.puzzle.pieces, strict=True):
        np.testing.assert_array_equal(one.image, two.image)
        np.testing.assert_array_equal(one.mask, two.mask)
    for name in Candidates.__slots__:
        np.testing.assert_array_equal(getattr(opened.candidates, name), getattr(run.candidates, name))
    assert len(opened.candidates) > 20
    assert (opened.assembly, opened.request, opened.cut_short) == (run.assembly, run.request, False)
    assert replace(opened.report, seconds=run.seconds) == run.report


def test_a_run_is_composed_again_with_what_a_person_decided(out: Path) -> None:
    run = open_run(out)
    without = run.solve_on(Constraints(aside=frozenset({0})))
    assert without.assembly.unplaced == (0,)
    text = assembly_to_json(without.assembly, run.puzzle.names())
    assert (out / "assembly.json").read_text() == text
    assert open_run(out).assembly == without.assembly
    assert without.solve_on().assembly == run.assembly


def test_the_report_names_all_stages_whoever_finished_them(nine: Path, out: Path) -> None:
    stages = ["read", "halo", "contours", "match", "score", "compose", "refine", "second round", "confidence"]

    def told() -> tuple[list[str], float, float]:
        report = json.loads((out / "report.json").read_text())
        return (
            [stage["name"] for stage in report["stages"]],
            sum(stage["seconds"] for stage in report["stages"]),
            report["total_seconds"],
        )

    names, seconds, total = told()
    assert names == stages
    assert total >= seconds, "of the whole command"
    open_run(out).solve_on(Constraints(aside=frozenset({0})))
    assert told()[0] == stages
    solve_run(Request((nine,)), out)
    assert told()[0] == stages
    assert [stage.name for stage in open_run(out).report.stages] == stages


def test_a_run_of_given_candidates_is_opened_and_composed_again_without_matching(nine: Path, tmp_path: Path) -> None:
    solve_run(Request((nine,), authors_text=True), tmp_path / "first")
    request = Request((nine,), alignments=tmp_path / "first" / "alignments.txt", authors_text=True)
    out = tmp_path / "out"
    run = solve_run(request, out)
    assert run.config.chosen_scorer == "fit"
    again = solve_run(request, out)
    assert (again.done, again.reused) == ((), STAGES)
    opened = open_run(out)
    assert (opened.assembly, len(opened.candidates)) == (run.assembly, len(run.candidates))
    assert opened.solve_on().reused == ("assembly",)
    without = opened.solve_on(Constraints(aside=frozenset({0})))
    assert without.assembly.unplaced == (0,)
    assert not {"match", "score"} & set(without.corridor.made)
    assert solve_run(request, out).assembly == run.assembly


def test_what_others_left_in_the_folder_stays(nine: Path, tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "mine.npz").write_text("mine")
    (tmp_path / "letter.txt").write_text("mine")
    solve_run(Request((nine,)), tmp_path)
    solve_run(Request((nine,), seed=1), tmp_path)
    assert (tmp_path / "stages" / "mine.npz").read_text() == (tmp_path / "letter.txt").read_text() == "mine"


def test_a_second_solve_into_one_folder_says_so(nine: Path, out: Path) -> None:
    before = files_below(out)
    with hold_lock(out / ".lock"), pytest.raises(OutputError, match=r"Another solve is writing into .* \(process \d+, since "):
        solve_run(Request((nine,)), out)
    assert files_below(out) == before


def test_a_lock_left_by_a_dead_process_does_not_hold(nine: Path, out: Path) -> None:
    (out / ".lock").write_text('{"pid": 1, "since": "2020-01-01T00:00:00+00:00"}')
    assert solve_run(Request((nine,)), out).done == ()
    assert not (out / ".lock").exists()


def test_bad_input_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        solve_run(Request((tmp_path / "missing",)), tmp_path / "a" / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", '{"format": "other"}', '{"format": "jigsawnet/run", "version": 1}'])
def test_a_damaged_record_is_one_sentence(text: str, nine: Path, out: Path) -> None:
    (out / "run.json").write_text(text)
    with pytest.raises(OutputError, match=r"run\.json is damaged or of another version"):
        solve_run(Request((nine,)), out)
    assert (out / "run.json").read_text() == text


def test_a_folder_without_a_run_cannot_be_opened(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError):
            open_run(folder)
