"""A sample of all points at which a run can be disturbed; ``make faults`` tries every one.

The points are drawn evenly from lists that are the same each time, so that a sample is the same, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults.disk import Disk, Point
from faults.memory import Memory

KINDS = ("fail", "kill", "memory", "space", "room")
ROOT = Path(__file__).parents[2]
TIMEOUT_S = 3000
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="runs are disturbed in copies of a process, with limits")


def _disturb(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "faults.run", *words]
    paths = os.pathsep.join([str(ROOT / "tests" / "helpers"), str(ROOT / "src")])
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


@linux_only
def test_whatever_fails_the_old_or_the_new_result_is_there_and_one_sentence_was_said() -> None:
    names = ("shred", "export", "edits", "solve")
    done = _disturb("--scenarios", *names, "--every", "200")
    assert done.returncode == 0, done.stdout + done.stderr
    tried = [line.split() for line in done.stdout.splitlines() if " points, " in line]
    assert {(name, kind) for name, kind, *_ in tried} == {(name, kind) for name in names for kind in KINDS}
    assert sum(int(count) for _, _, count, *_ in tried) > 30


def _write(folder: Path) -> None:
    descriptor = os.open(folder / "a", os.O_CREAT | os.O_WRONLY)
    os.write(descriptor, b"1234")
    os.fsync(descriptor)
    os.close(descriptor)
    with (folder / "b").open("w") as stream:
        stream.write("5678")
    (folder / "b").rename(folder / "c")
    assert (folder / "c").read_text() == "5678"


def test_every_operation_is_seen_and_fails_when_asked(tmp_path: Path) -> None:
    counted = Disk(tmp_path)
    with counted.watched():
        _write(tmp_path)
    assert [point.operation for point in counted.points if point.path in "ab"] == [
        "create", "write", "fsync", "create", "write", "close", "rename",
    ]  # fmt: skip
    assert {point.operation for point in counted.points if point.path == "c"} >= {"open", "read"}
    for point in counted.points:
        disk = Disk(tmp_path, "fail", point)
        with disk.watched(), pytest.raises(OSError, match=point.path):
            _write(tmp_path)
        assert disk.struck
    (tmp_path / "a").unlink()
    with Disk(tmp_path, "fail", Point("write", "a")).watched(), pytest.raises(OSError, match="No space left"):
        _write(tmp_path)
    assert (tmp_path / "a").read_text() == "12", "half of it was written"


def test_other_files_are_not_disturbed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    disk = Disk(tmp_path / "in")
    with disk.watched():
        _write(tmp_path)
    assert disk.points == []


def test_memory_is_asked_for_in_calls_of_the_product() -> None:
    from jigsawnet.names import parts_below

    counted = Memory()
    with counted.watched():
        assert parts_below("a/b") == ("a", "b")
    places = [point.operation for point in counted.points]
    assert places[0] == "enter"
    assert {"isinstance", "join"} <= set(places)
    for point in counted.points:
        with pytest.raises(MemoryError), Memory(point).watched():
            parts_below("a/b")
