"""The history of a run: added to, never changed, bounded, and readable after a kill at any byte."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jigsawnet.errors import OutputError
from jigsawnet.io import history
from jigsawnet.io.history import HISTORY_FILE, add_to_history, read_history


def test_a_line_says_who_did_what_when(tmp_path: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    add_to_history(tmp_path, "edited", {"kind": "pin", "text": "Pinned a\nb"}, "Ada \N{SNOWMAN}")
    add_to_history(tmp_path, "solved", {"placed": 3})
    first, second = read_history(tmp_path)
    assert before <= datetime.fromisoformat(first.pop("when")) <= datetime.now(UTC)
    assert first == {"who": "Ada \N{SNOWMAN}", "what": "edited", "kind": "pin", "text": "Pinned a\nb"}
    assert (second["what"], second["placed"], "who" in second) == ("solved", 3, False)
    assert (tmp_path / HISTORY_FILE).read_bytes().count(b"\n") == 2


def test_what_is_there_is_not_touched_when_a_line_is_added(tmp_path: Path) -> None:
    for k in range(5):
        before = (tmp_path / HISTORY_FILE).read_bytes() if k else b""
        add_to_history(tmp_path, "edited", {"number": k})
        assert (tmp_path / HISTORY_FILE).read_bytes().startswith(before)


def test_a_line_cut_off_anywhere_spoils_no_other(tmp_path: Path) -> None:
    add_to_history(tmp_path, "one", {})
    whole = (tmp_path / HISTORY_FILE).read_bytes()
    add_to_history(tmp_path, "two", {"text": "é"})
    both = (tmp_path / HISTORY_FILE).read_bytes()
    for kept in range(len(whole), len(both)):
        (tmp_path / HISTORY_FILE).write_bytes(both[:kept])
        add_to_history(tmp_path, "three", {})
        found = [entry["what"] for entry in read_history(tmp_path)]
        assert [what for what in found if what != "two"] == ["one", "three"], kept


def test_lines_survive_a_kill(tmp_path: Path) -> None:
    """The process ends without closing anything, right after the lines were added."""
    script = (
        "import os, sys; from pathlib import Path; from jigsawnet.io.history import add_to_history\n"
        "for k in range(20): add_to_history(Path(sys.argv[1]), 'edited', {'number': k})\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert [entry["number"] for entry in read_history(tmp_path)] == list(range(20))


def test_it_does_not_grow_beyond_its_bound_and_says_what_was_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_BYTES", 4000)
    for k in range(400):
        add_to_history(tmp_path, "edited", {"number": k})
        assert (tmp_path / HISTORY_FILE).stat().st_size < 4300
    found = read_history(tmp_path)
    numbers = [entry["number"] for entry in found if entry["what"] == "edited"]
    assert numbers[:3] == [0, 1, 2], "how it began is kept"
    assert numbers[-3:] == [397, 398, 399]
    assert sum(entry["entries"] for entry in found if entry["what"] == "left_out") + len(numbers) == 400


def test_a_very_long_line_loses_its_details(tmp_path: Path) -> None:
    add_to_history(tmp_path, "solved", {"text": "x" * 100_000}, "Ada")
    (entry,) = read_history(tmp_path)
    assert set(entry) == {"when", "who", "what"}


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("precious")
    try:
        (tmp_path / HISTORY_FILE).symlink_to(tmp_path / "elsewhere")
    except OSError:
        pytest.skip("the system has no links")
    with pytest.raises(OutputError, match="cannot be written"):
        add_to_history(tmp_path, "edited", {})
    assert (tmp_path / "elsewhere").read_text() == "precious"
    assert read_history(tmp_path) == []


@pytest.mark.parametrize(
    "line", ["", "{", "[]", '{"what": 1, "when": ""}', '{"what": "x"}', "\0", '{"when": "x", "what": "y"}']
)
def test_lines_that_are_none_are_passed_over(tmp_path: Path, line: str) -> None:
    (tmp_path / HISTORY_FILE).write_text(line + "\n")
    add_to_history(tmp_path, "edited", {})
    assert [entry["what"] for entry in read_history(tmp_path)][-1] == "edited"
    assert all(isinstance(entry["when"], str) for entry in read_history(tmp_path))
