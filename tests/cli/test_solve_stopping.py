"""``solve`` and the keyboard: what the first and the second Ctrl-C do, and what the line of --json tells."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jigsawnet.cli import main_code
from jigsawnet.cli import solve as solve_command
from jigsawnet.cli.signals import stop_on_signals
from jigsawnet.io.pieces import write_pieces
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Progress, Puzzle

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def pieces(tiny_puzzle: tuple[Puzzle, Assembly], tmp_path: Path) -> Path:
    write_pieces(tmp_path / "pieces", tiny_puzzle[0])
    return tmp_path / "pieces"


def press_at(monkeypatch: pytest.MonkeyPatch, stage: str, times: int, number: signal.Signals = signal.SIGINT) -> None:
    """Press Ctrl-C once a stage is under way."""
    left = times

    @contextmanager
    def pressing() -> Iterator[Progress]:
        def tell(at: str, done: int, total: int) -> None:
            nonlocal left
            while at == stage and left > 0:
                left -= 1
                signal.raise_signal(number)

        yield tell

    monkeypatch.setattr(solve_command, "progress_bars", pressing)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_key_press_leaves_the_best_so_far(
    number: signal.Signals, pieces: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    handler = signal.getsignal(number)
    press_at(monkeypatch, "compose", 1, number)
    command = ["solve", str(pieces), "-o", str(out), "--json", "--composer", "best-first"]
    assert main_code(command) == 130
    assert signal.getsignal(number) is handler
    summary = json.loads(capsys.readouterr().out)
    assert summary["cut_short"] is True
    assert summary["placed"] == 4
    assert summary["stages"] == {"done": ["pieces", "match", "score"], "reused": []}
    assert (out / "assembly.png").is_file()
    monkeypatch.undo()
    assert main_code(command) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["stages"] == {"done": ["assembly"], "reused": ["pieces", "match", "score"]}
    assert (summary["cut_short"], summary["pairs_matched"], summary["warnings"]) == (False, 0, [])


def test_the_second_key_press_leaves_at_once(
    pieces: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    press_at(monkeypatch, "match", 2)
    assert main_code(["solve", str(pieces), "-o", str(out)]) == 130
    assert capsys.readouterr().err.splitlines() == ["jigsawnet: Stopped."]
    assert sorted(path.name for path in out.iterdir()) == ["inputs.json", "run.json", "stages"]
    monkeypatch.undo()
    assert main_code(["solve", str(pieces), "-o", str(out)]) == 0


def test_stopped_before_anything_is_placed_no_result_is_written(
    pieces: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    press_at(monkeypatch, "read", 1)
    assert main_code(["solve", str(pieces), "-o", str(out)]) == 130
    assert "0 of 4 pieces placed" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == ["history.jsonl", "inputs.json", "run.json", "stages"]


def test_no_time_at_all_says_so(pieces: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert main_code(["solve", str(pieces), "-o", str(out), "--time-limit", "0"]) == 1
    said = capsys.readouterr()
    assert "solving again goes on from here" in said.err
    assert main_code(["solve", str(pieces), "-o", str(out)]) == 0
    assert main_code(["solve", str(pieces), "-o", str(out)]) == 0
    assert "all of it was done already" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--memory-limit=lots", "--time-limit=-1", "--workers=0"])
def test_limits_that_are_none(option: str, pieces: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main_code(["solve", str(pieces), "-o", str(tmp_path / "out"), option]) == 2
    assert capsys.readouterr().err.startswith(f"jigsawnet: {option.split('=', maxsplit=1)[0].removeprefix('--')}")
    assert not (tmp_path / "out").exists()


def test_too_little_memory_is_one_sentence(pieces: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main_code(["solve", str(pieces), "-o", str(tmp_path / "out"), "--memory-limit", "1MB"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "memory" in said.err


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    handler = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with stop_on_signals(Stop()):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [handler]


def test_a_process_without_a_terminal_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    stop = Stop()
    with stop_on_signals(stop):
        os.kill(os.getpid(), signal.SIGINT) if hasattr(os, "fork") else signal.raise_signal(signal.SIGINT)
        assert stop.is_requested
