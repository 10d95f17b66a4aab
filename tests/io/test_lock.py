"""The lock: held by one process at a time, and never longer than that lives."""

from __future__ import annotations

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
