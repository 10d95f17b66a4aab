"""Runs that are stopped, killed or run out of disk: they go on where they were, and the result is the undisturbed one."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from jigsawnet.cli import main_code
from jigsawnet.compose import ComposeConfig
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.errors import OutputError, UnreadError
from jigsawnet.io.images import read_image
from jigsawnet.runs import Request, open_run, results, solve_run
from jigsawnet.runs import run as run_module
from jigsawnet.stopping import Stop
from jigsawnet.types import Constraints

TIMEOUT_S = 600
DIE_IN_WRITE = """
import os, sys
from jigsawnet.cli import main_code
real, left = os.fsync, int(sys.argv.pop(1))
def sync(descriptor):
    global left
    left -= 1
    if left == 0:
        os._exit(9)  # as if killed: nothing is tidied up
    real(descriptor)
os.fsync = sync
sys.exit(main_code(sys.argv[1:]))
"""


def result_of(out: Path) -> bytes:
    return (out / "assembly.json").read_bytes()


def leftovers(out: Path) -> list[str]:
    return [path.name for path in out.rglob(".*")]


def stopped_at(stage: str, stop: Stop) -> Context:
    """Somebody asks for the end as soon as a stage is under way."""
    return Context(lambda at, *_: stop.request() if at == stage else None, stop)


# --- killed ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_killed_in_the_middle_of_writing(nine: Path, undisturbed: Path, tmp_path: Path) -> None:
    out, codes = tmp_path / "out", []
    for moment in (1, 4, 7, 9, 12, 3, 400):
        command = [sys.executable, "-c", DIE_IN_WRITE, str(moment), "solve", str(nine), "-o", str(out)]
        codes.append(subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False).returncode)
    assert codes == [9] * 6 + [0]
    assert result_of(out) == result_of(undisturbed)
    assert leftovers(out) == []


def test_what_was_left_before_anything_was_saved_is_removed(nine: Path, tmp_path: Path) -> None:
    """Killed while the very first file is written, ``run.json`` is not there yet."""
    out = tmp_path / "out"
    out.mkdir()
    (out / ".jigsawnet-0123.tmp").write_bytes(b"half")
    solve_run(Request((nine,)), out, context=Context(stop=Stop.after(0)))
    assert leftovers(out) == []


@pytest.mark.slow
def test_killed_at_random_moments(nine: Path, undisturbed: Path, tmp_path: Path) -> None:
    out, draw = tmp_path / "out", random.Random(time.time_ns())
    command = [sys.executable, "-m", "jigsawnet", "solve", str(nine), "-o", str(out), "--json"]
    killed_after = []
    for _ in range(4):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            killed_after.append(draw.uniform(0.5, 5.0))
            try:
                process.wait(killed_after[-1])
            except subprocess.TimeoutExpired:
                process.kill()
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert (done.returncode, done.stderr) == (0, ""), killed_after
    assert json.loads(done.stdout)["placed"] == 9
    assert result_of(out) == result_of(undisturbed), killed_after
    assert leftovers(out) == []


# --- stopped --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["read", "match", "compose", "refine"])
def test_stopped_in_a_stage_it_leaves_the_best_so_far_and_goes_on_later(
    stage: str, nine: Path, undisturbed: Path, tmp_path: Path
) -> None:
    stop = Stop()
    run = solve_run(Request((nine,)), tmp_path, context=stopped_at(stage, stop))
    assert stop.is_requested
    if run.cut_short and run.assembly.poses:
        assert "stopped before it was finished" in run.report.warnings[-1]
        opened = open_run(tmp_path)
        assert (opened.assembly, opened.cut_short) == (run.assembly, True)
        assert b'"warnings": [\n  "It was stopped' in (tmp_path / "report.json").read_bytes()
    again = solve_run(Request((nine,)), tmp_path)
    assert not again.cut_short
    assert again.report.warnings == ()
    assert result_of(tmp_path) == result_of(undisturbed)
    assert not open_run(tmp_path).cut_short
    assert not list((tmp_path / "stages").glob("draft-*"))


def test_stopped_while_composing_it_is_still_put_together(nine: Path, tmp_path: Path) -> None:
    run = solve_run(Request((nine,)), tmp_path, context=stopped_at("compose", Stop()))
    assert run.cut_short
    assert run.done == ("pieces", "match", "score")
    assert len(run.assembly.poses) == 9


def test_without_time_nothing_is_saved_as_finished(nine: Path, undisturbed: Path, tmp_path: Path) -> None:
    run = solve_run(Request((nine,)), tmp_path, context=Context(stop=Stop.after(0)))
    assert (run.cut_short, run.done, run.assembly.components) == (True, ("pieces",), ())
    assert (tmp_path / "assembly.json").is_file()
    solve_run(Request((nine,)), tmp_path)
    assert result_of(tmp_path) == result_of(undisturbed)


def test_a_draft_is_composed_again_from_its_own_candidates(nine: Path, undisturbed: Path, tmp_path: Path) -> None:
    stop = Stop()
    cut = solve_run(Request((nine,)), tmp_path, context=stopped_at("match", stop))
    assert (cut.cut_short, cut.is_draft) == (True, True)
    opened = open_run(tmp_path)
    assert (len(opened.candidates), opened.is_draft) == (len(cut.candidates), True)
    again = opened.solve_on(Constraints(aside=frozenset({0})))
    assert not {"match", "score"} & set(again.corridor.made)
    assert (again.is_draft, again.cut_short, again.done) == (True, True, ()), "candidates are still missing"
    assert open_run(tmp_path).assembly == again.assembly
    solve_run(Request((nine,)), tmp_path)
    assert result_of(tmp_path) == result_of(undisturbed)


def test_stopped_before_anything_is_placed_old_results_stay(nine: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(undisturbed, tmp_path / "out"))
    run = solve_run(
        Request((nine,), config=SolveConfig(scorer="fit", compose=ComposeConfig(min_score=1.0))),
        out,
        context=Context(stop=Stop.after(0)),
    )
    assert (run.cut_short, run.assembly.components) == (True, ())
    assert result_of(out) == result_of(undisturbed)
    assert len(open_run(out).assembly.poses) == 9


def test_stopped_with_many_pictures_to_be_read_nothing_is_left(
    nine: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_module, "_FEW_PICTURES", 3)
    out = tmp_path / "out"
    with pytest.raises(UnreadError, match=r"stopped when \d of 9 pictures were read, and nothing of that is kept"):
        solve_run(Request((nine,)), out, context=stopped_at("read", Stop()))
    assert not out.exists()
    assert main_code(["solve", str(nine), "-o", str(out), "--time-limit", "0"]) == 1
    assert "give it more time" in capsys.readouterr().err
    solve_run(Request((nine,)), out)
    assert result_of(out) == result_of(undisturbed)


def test_a_picture_that_is_too_large_is_a_preview_until_it_is_asked_for(
    nine: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "MAX_PIXELS", 30_000)
    out = tmp_path / "out"
    shutil.copytree(undisturbed, out)
    size = read_image(out / "assembly.png").shape
    (out / "assembly.png").unlink()
    solve_run(Request((nine,)), out)
    small = read_image(out / "assembly.png").shape
    assert small[0] * small[1] <= 30_000
    assert "times smaller; solving again with --full-picture draws all of it" in (out / "report.json").read_text()
    assert "times smaller" in (out / "report.html").read_text()
    assert main_code(["solve", str(nine), "-o", str(out), "--full-picture"]) == 0
    assert read_image(out / "assembly.png").shape == size
    assert "times smaller" not in (out / "report.json").read_text()


# --- full disk ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_keeps_what_was_there(
    nine: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full at the first write, at the second, and so on, until a run comes through."""
    request = Request((nine,), config=SolveConfig(compose=ComposeConfig(min_score=0.6)))
    real, left, sentences = os.fsync, 0, []

    def full(descriptor: int) -> None:
        nonlocal left
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            left -= 1
            if left == 0:
                raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    for moment in range(1, 100):
        out = Path(shutil.copytree(undisturbed, tmp_path / str(moment)))
        left = moment
        try:
            solve_run(request, out)
            break
        except OutputError as error:
            sentences.append(str(error))
        assert leftovers(out) == []
        assert len(open_run(out).assembly.poses) == 9
        if f"{out / 'run.json'}" not in sentences[-1]:
            assert result_of(out) == result_of(undisturbed), "unless all files can be replaced, none is"
        shutil.rmtree(out)
    assert len(sentences) > 8
    assert all(sentence.startswith("The disk is full and ") and ".jigsawnet-" not in sentence for sentence in sentences)


def test_a_key_press_in_any_write_leaves_nothing_half_written(
    nine: Path, tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(_: int) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", press)
    with pytest.raises(KeyboardInterrupt):
        solve_run(Request((nine,)), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    out = Path(shutil.copytree(undisturbed, tmp_path / "old"))
    with pytest.raises(KeyboardInterrupt):
        solve_run(Request((nine,), seed=5), out)
    assert result_of(out) == result_of(undisturbed)
    assert leftovers(out) == []
