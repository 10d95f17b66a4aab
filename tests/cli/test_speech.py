"""What is printed with ``--quiet``: errors and answers alone."""

from __future__ import annotations

import inspect
import json
from contextlib import suppress
from pathlib import Path

import pytest

from jigsawnet.cli import main_code
from jigsawnet.cli.commands import COMMANDS
from jigsawnet.cli.console import Command, progress_bars
from jigsawnet.cli.speech import answer, hushed, is_hushed, say, say_error, say_notes
from jigsawnet.types import no_progress

Capture = pytest.CaptureFixture[str]
PHOTO = Path(__file__).resolve().parents[2] / "examples" / "photo.jpg"


def test_in_a_quiet_block_only_errors_and_answers_are_printed(capsys: Capture) -> None:
    with suppress(KeyError), hushed():
        with hushed(False):
            say("a")
        say_notes(["b"])
        answer("c")
        say_error("d")
        with progress_bars() as progress:
            assert progress is no_progress
        raise KeyError
    assert capsys.readouterr() == ("c\n", "jigsawnet: d.\n")
    assert not is_hushed()
    say("e")
    assert capsys.readouterr().out == "e\n"


def test_every_command_takes_quiet_and_config() -> None:
    for entry in COMMANDS.values():
        assert issubclass(entry.load(), Command)


def test_commands_print_through_these_alone() -> None:
    """A print elsewhere would not be quiet."""
    for entry in COMMANDS.values():
        source = inspect.getsource(inspect.getmodule(entry.load()))
        assert "print(" not in source
        assert "stdout.write" not in source


def test_a_whole_way_is_walked_without_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (
        ["shred", str(PHOTO), "-o", "pieces", "--pieces", "4"], ["solve", "pieces", "-o", "out"],
        ["export", "out", "-o", "pages", "--formats", "png"], ["pack", "out", "-o", "out.jigsaw"],
        ["unpack", "out.jigsaw", "-o", "again"], ["sheet", "-o", "sheet.pdf"],
    ):  # fmt: skip
        assert main_code([*words, "--quiet"]) == 0, words
        assert capsys.readouterr() == ("", ""), words
    assert main_code(["solve", "pieces", "-o", "out", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["placed"] == 4
    assert main_code(["eval", "out", "--truth", "pieces", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert (out.startswith("PCR 100.0 %"), err) == (True, "")
    assert main_code(["export", "out", "-o", "pages", "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
