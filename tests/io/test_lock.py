"""The lock: held by one process at a time, and never longer than that lives."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jigsawnet.errors import OutputError
from jigsawnet.io.lock import hold_lock

HOLDER = """
import sys
from pathlib import Path
from jigsawnet.io.lock import hold_lock
with hold_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with hold_lock(path):
        with pytest.raises(OutputError), hold_lock(path):
            pass
        assert path.exists()
    assert not path.exists()
    with hold_lock(path):
        pass


def test_another_process_is_named_and_its_death_frees_the_lock(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(OutputError, match=rf"\(process {holder.pid}, since \d{{4}}-\d\d-\d\d"), hold_lock(path):
            pass
        holder.kill()
        holder.wait()
    assert path.exists(), "it was not tidied up"
    with hold_lock(path):
        pass
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"pid": "x"}', '{"pid": 1, "since": "yesterday"}'])
def test_a_lock_file_with_any_text_in_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    path.write_text(text)
    with hold_lock(path):
        path.write_text(text)
        with pytest.raises(OutputError, match="Another solve is writing into"), hold_lock(path):
            pass


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"), hold_lock(tmp_path / "missing" / ".lock"):
        pass


def test_what_only_looks_like_a_lock_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    strange = {"folder": tmp_path / "folder"}
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "victim").write_text("precious")
        (tmp_path / "link").symlink_to(tmp_path / "victim")
        (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
        strange |= {name: tmp_path / name for name in ("pipe", "link", "nowhere")}
    for path in strange.values():
        with (
            pytest.raises(OutputError, match="cannot be written: it is a link, a folder or a pipe; remove it"),
            hold_lock(path),
        ):
            pass
        assert os.path.lexists(path)
    assert not (tmp_path / "missing").exists()
    if "link" in strange:
        assert (tmp_path / "victim").read_text() == "precious"


def test_a_second_name_of_a_file_elsewhere_is_refused_and_the_file_kept(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    try:
        os.link(tmp_path / "victim", tmp_path / ".lock")
    except OSError:
        pytest.skip("the system has no second names")
    with pytest.raises(OutputError, match="second name of another file; remove it"), hold_lock(tmp_path / ".lock"):
        pass
    assert (tmp_path / "victim").read_text() == "precious"
    (tmp_path / ".lock").unlink()
    with hold_lock(tmp_path / ".lock"):
        pass


def test_a_file_system_without_locks_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with hold_lock(tmp_path / ".lock"):
        pass
    assert not (tmp_path / ".lock").exists()


def test_who_comes_while_the_holder_ends_gets_a_file_of_its_own(tmp_path: Path) -> None:
    """The file that a contender opened may be removed before it is locked: two must never hold the same path."""
    path = tmp_path / ".lock"
    script = f"""
import sys
from pathlib import Path
from jigsawnet.errors import OutputError
from jigsawnet.io.lock import hold_lock
path, mark, done = Path({str(path)!r}), Path({str(tmp_path / "mark")!r}), 0
while done < 60:
    try:
        with hold_lock(path):
            mark.touch(exist_ok=False)
            mark.unlink()
            done += 1
    except OutputError:
        pass
"""
    runs = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
    assert [run.wait(120) for run in runs] == [0, 0]


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be held there")
def test_a_lock_is_removed_where_it_was_made(tmp_path: Path) -> None:
    """The folder moved away and a link in its place: a file of the same name elsewhere stays."""
    for name in ("out", "away"):
        (tmp_path / name).mkdir()
    (tmp_path / "away" / ".lock").write_text("of somebody else")
    with hold_lock(tmp_path / "out" / ".lock"):
        (tmp_path / "out").rename(tmp_path / "moved")
        (tmp_path / "out").symlink_to(tmp_path / "away")
    assert (tmp_path / "away" / ".lock").read_text() == "of somebody else"
    assert list((tmp_path / "moved").iterdir()) == []
