"""``jigsawnet completion``: the scripts, asked by the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from jigsawnet.cli import main_code
from jigsawnet.cli.commands import COMMANDS
from jigsawnet.cli.completion import script

ASK_BASH = """
COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); source "$1"; _jigsawnet; printf '%s\\n' "${COMPREPLY[@]}"
"""
ASK_ZSH = """
compdef() { : }
_describe() { print -l -- ${(P)2} }
_files() { print FILES }
source $1; shift; words=("$@"); CURRENT=$#; PREFIX=$words[$#]; _jigsawnet
"""
ASKED = {
    ("exp",): ["export"],
    ("--v",): ["--version"],
    ("solve", "--work"): ["--workers"],
    ("solve", "--scan.no-s"): ["--scan.no-split"],
    ("export", "--paper", ""): ["fitting", "a4", "a3", "letter"],
    ("completion", ""): ["bash", "zsh"],
    ("solve", "--filled", "y"): ["yes"],
    ("solve", "pie"): [],
    ("view", "-o", "a"): [],
    ("no-such", "a"): [],
}


@pytest.fixture(scope="module", params=["bash", "zsh"])
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A shell that is here, and its script."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    path = tmp_path_factory.mktemp("completion") / "script"
    path.write_text(script(request.param), encoding="utf-8")
    return request.param, path


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_the_shell_offers_commands_options_and_values_and_else_files(shell: tuple[str, Path], words: tuple[str, ...]) -> None:
    name, path = shell
    command = ["bash", "-c", ASK_BASH, "ask"] if name == "bash" else ["zsh", "-f", "-c", ASK_ZSH, "ask"]
    done = subprocess.run([*command, path, "jigsawnet", *words], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    offered = [line.partition(":")[0] for line in done.stdout.split("\n") if line]
    if name == "zsh":  # it picks those that begin alike itself, and is told to offer files
        assert offered != ["FILES"] or ASKED[words] == []
        offered = [word for word in offered if word.startswith(words[-1]) and word != "FILES"]
    assert offered == ASKED[words]


def test_the_shell_takes_the_script(shell: tuple[str, Path]) -> None:
    name, path = shell
    assert subprocess.run([name, "-n", path], capture_output=True, text=True, check=True, timeout=60).stderr == ""


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_the_command_prints_every_command_and_its_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["completion", name, "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert printed == script(name)  # type: ignore[arg-type]
    assert all(f'"{command} -")' in printed for command in COMMANDS)
    assert "--match.dense.retrieval.above" in printed


def test_another_shell_is_refused() -> None:
    with pytest.raises(SystemExit) as end:
        main_code(["completion", "tcsh"])
    assert end.value.code == 2
