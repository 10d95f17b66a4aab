"""``jigsawnet view`` as a person starts it: an address on the screen, one workbench for a run, Ctrl-C ends it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jigsawnet.cli import main_code
from jigsawnet.io.lock import hold_lock
from jigsawnet.io.pieces import write_pieces
from jigsawnet.types import Assembly, Puzzle

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi", reason="the workbench needs the extra web")


@pytest.fixture(scope="module")
def solved(tiny_puzzle: tuple[Puzzle, Assembly], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pieces and a solved run."""
    folder = tmp_path_factory.mktemp("solved")
    write_pieces(folder / "pieces", tiny_puzzle[0])
    assert main_code(["solve", str(folder / "pieces"), "-o", str(folder / "out")]) == 0
    return folder


@contextmanager
def _viewing(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running ``jigsawnet`` command and the address that it has printed."""
    command = [sys.executable, "-m", "jigsawnet", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "http://" in line:
                yield process, line.split()[-1]
                return
        raise AssertionError(f"no address was printed: {process.stderr.read() if process.stderr else ''}")
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_sigterm_ends_it_like_ctrl_c(solved: Path) -> None:
    with _viewing("view", solved / "out", "--no-browser") as (process, _):
        process.send_signal(signal.SIGTERM)
        assert process.wait(600) == 0
    assert not (solved / "out" / ".workbench.lock").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_a_run_is_shown_until_ctrl_c_and_a_second_workbench_is_told(solved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with _viewing("view", solved / "out", "--no-browser") as (process, address):
        with httpx.Client(follow_redirects=True, timeout=600) as browser:
            page = browser.get(address)
            assert page.status_code == 200
            state = browser.get(page.url.join("api/state")).json()
        assert len(state["pieces"]) == 4
        assert state["truth"] is False
        capsys.readouterr()
        assert main_code(["view", str(solved / "out"), "--no-browser"]) == 2
        assert "is open on" in capsys.readouterr().err
        process.send_signal(signal.SIGINT)
        assert process.wait(600) == 0
    assert not (solved / "out" / ".workbench.lock").exists()


def _look(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run ``view`` until its address is printed."""

    def end(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("jigsawnet.viewer.serve.Workbench.wait", end)
    assert main_code(["view", str(folder), "--no-browser"]) == 0


def test_what_a_killed_workbench_left_is_removed(solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    shutil.copytree(solved / "out", out)
    (out / ".jigsawnet-0123.tmp").write_text("half an edit")
    with hold_lock(out / ".lock"):
        _look(out, monkeypatch)
        assert (out / ".jigsawnet-0123.tmp").exists(), "it may be of the solve that is writing"
    _look(out, monkeypatch)
    assert not list(out.glob(".*"))


def test_a_run_that_may_only_be_read_can_be_seen(
    solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    shutil.copytree(solved / "out", out)
    before = {path: path.stat().st_mtime_ns for path in (out, *out.rglob("*"))}
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK))
    out.chmod(0o555)
    try:
        _look(out, monkeypatch)
    finally:
        out.chmod(0o755)
    told = capsys.readouterr()
    assert "http://" in told.out
    assert "may only be read, so nothing can be changed" in told.err
    assert {path: path.stat().st_mtime_ns for path in (out, *out.rglob("*"))} == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{out}/nothing"], "no folder"),
        (["{pieces}"], "holds no run of jigsawnet; give the folder"),
        (["{out}", "--port", "99999"], "between 0 and 65535"),
        (["{out}", "--truth", "{out}"], "nothing to compare"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(
    solved: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [word.format(out=solved / "out", pieces=solved / "pieces") for word in arguments]
    assert main_code(["view", *filled, "--no-browser"]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_without_the_extra_it_is_said_what_to_install(
    solved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert main_code(["view", str(solved / "out")]) == 2
    assert "jigsawnet[web]" in capsys.readouterr().err


def test_solve_without_view_loads_nothing_of_the_workbench() -> None:
    code = (
        "import sys; from jigsawnet.cli.commands import COMMANDS; COMMANDS['solve'].load(); "
        "print([m for m in sys.modules if m.startswith(('fastapi', 'starlette', 'uvicorn', 'jigsawnet.viewer'))])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
