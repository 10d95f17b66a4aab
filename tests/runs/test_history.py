"""What a run keeps of how it came about: inputs by their checksums, solves with version and options, who did what."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from jigsawnet.cli import main_code
from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError
from jigsawnet.io.history import read_history
from jigsawnet.runs import Request, solve_run
from jigsawnet.runs.case import pack_run, unpack_run
from jigsawnet.runs.history import changed_options, check_operator
from jigsawnet.version import __version__


def test_a_solve_is_on_record_with_its_inputs(undisturbed: Path, nine: Path) -> None:
    (entry,) = read_history(undisturbed)
    assert (entry["what"], entry["jigsawnet"], entry["seed"], entry["options"]) == ("solved", __version__, 0, {})
    assert (entry["pieces"], entry["placed"], entry["components"]) == (9, 9, 1)
    listed = json.loads((undisturbed / "inputs.json").read_text())["files"]
    pictures = sorted(nine.glob("*.png"))
    assert [(file["name"], file["bytes"], file["sha256"]) for file in listed] == [
        (path.name, path.stat().st_size, sha256(path.read_bytes()).hexdigest()) for path in pictures
    ]
    assert entry["inputs"]["sha256"] == sha256((undisturbed / "inputs.json").read_bytes()).hexdigest()


def test_changed_options_are_named_as_on_the_command_line() -> None:
    request = Request((), config=SolveConfig(composer="glc"), weights=Path("elsewhere/mine"))
    assert changed_options(request) == {"composer": "glc", "weights": "mine"}, "without the path"


def test_the_operator_stands_there_and_the_history_travels_with_the_case(undisturbed: Path, nine: Path, tmp_path: Path) -> None:
    shutil.copytree(undisturbed, tmp_path / "out")
    solve_run(Request((nine,)), tmp_path / "out", operator="Ada")
    pack_run(tmp_path / "out", tmp_path / "a.jigsaw")
    unpack_run(tmp_path / "a.jigsaw", tmp_path / "there", "Grace")
    entries = read_history(tmp_path / "there")
    assert [(entry.get("who"), entry["what"]) for entry in entries] == [
        (None, "solved"),
        ("Ada", "solved"),
        ("Grace", "unpacked"),
    ]
    assert entries[2]["sha256"] == sha256((tmp_path / "a.jigsaw").read_bytes()).hexdigest()
    assert (tmp_path / "there" / "inputs.json").is_file()


@pytest.mark.parametrize("name", ["x" * 201, "a\nb", "\x1b[31m", "\ud800"])
def test_an_operator_is_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="operator must be one line"):
        check_operator(name)
    if name.isprintable():
        assert main_code(["solve", str(tmp_path), "-o", str(tmp_path / "out"), "--operator", name]) == 2
        assert capsys.readouterr().err.count("\n") == 1
