"""``jigsawnet.toml``: command line before file, file before defaults; what is wrong in it is one sentence with file and key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jigsawnet.cli import main_code
from jigsawnet.cli.commands import COMMANDS
from jigsawnet.cli.parsing import file_named, parse
from jigsawnet.cli.settings import read_settings
from jigsawnet.errors import FormatError, JigsawNetError
from jigsawnet.io.run_folder import RUN_FILE
from jigsawnet.shred import ShredConfig

Capture = pytest.CaptureFixture[str]
Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(here: Path) -> Write:
    """Writes a settings file into the working folder."""

    def put(text: str, name: str = "jigsawnet.toml") -> Path:
        path = here / name
        path.write_text(text, encoding="utf-8")
        return Path(name)

    return put


SOLVE = ("pieces", "-o", "out")


def test_the_command_line_counts_before_the_file_and_the_file_before_the_defaults(write: Write) -> None:
    write("[solve]\nseed = 5\nworkers = 2\nmatch.dense.retrieval.above = 40\nmin_confidence = 0.25\n[shred]\npieces = 4\n")
    command, notes = parse("solve", [*SOLVE, "--workers", "3"])
    assert (command.seed, command.workers, command.time_limit) == (5, 3, None)
    assert command.config.match.dense.retrieval.above == 40
    assert command.config.min_confidence == 0.25
    assert command.input == (Path("pieces"),)
    assert command.from_file.splitlines() == [
        f"jigsawnet.toml: {name}" for name in ("match.dense.retrieval.above", "min-confidence", "seed")
    ]
    assert notes == ["From jigsawnet.toml: match.dense.retrieval.above, min-confidence, seed."]
    usual = parse("shred", ["a.png", "-o", "out", "--config", str(write("", "empty.toml"))])[0]
    assert usual.config == ShredConfig()
    assert parse("shred", ["a.png", "-o", "out"])[0].config.pieces == 4


def test_what_the_file_turns_on_the_command_line_turns_off(write: Write) -> None:
    write("[solve]\ntiff = true\nlight = false\n")
    command, _ = parse("solve", [*SOLVE])
    assert (command.tiff, command.config.light) == (True, False)
    command, notes = parse("solve", [*SOLVE, "--no-tiff", "--light"])
    assert (command.tiff, command.config.light, command.from_file, notes) == (False, True, "", [])


def test_a_file_that_is_named_is_taken_instead_of_that_which_is_there(write: Write) -> None:
    write("[solve]\nseed = 5\nworkers = 2\n")
    write("[solve]\nseed = 6\n", "other.toml")
    for words in (["--config", "other.toml"], ["--config=other.toml"], ["--config", "none.toml", "--config", "other.toml"]):
        command, _ = parse("solve", [*SOLVE, *words])
        assert (command.seed, command.workers) == (6, None)
    assert file_named(["--", "--config", "a"]) is None
    assert file_named(["--config"]) is None


def test_paths_count_from_the_folder_of_the_file_and_lists_are_taken(here: Path, write: Write) -> None:
    (here / "below").mkdir()
    write('[solve]\nback = ["b1.png", "b2.png"]\nweights = "w"\nscale = [1, 0.5]\n', "below/mine.toml")
    command, _ = parse("solve", [*SOLVE, "--config", "below/mine.toml"])
    assert command.scans.back == (Path("below/b1.png"), Path("below/b2.png"))
    assert command.weights == Path("below/w")
    assert command.scans.scale == (1.0, 0.5)


BAD = {
    "solv.a = 1": "{file}: solv is no command; did you mean solve?",
    "solve = 1": "{file}: solve must be a table, written as [solve].",
    "[solve]\nworker = 1": "{file}: solve.worker is no option that can be set here; did you mean solve.workers?",
    "[solve]\nmatch.dense.retrieval.abov = 1": "{file}: solve.match.dense.retrieval.abov is no option that can be set here; "
    "did you mean solve.match.dense.retrieval.above?",
    "[solve]\nqqqq = 1": "{file}: solve.qqqq is no option that can be set here.",
    "[solve]\nout = 'a'": "{file}: solve.out is no option that can be set here.",
    "[solve]\ninput = ['a']": "{file}: solve.input is no option that can be set here.",
    "[solve]\nsettings = 'a'": "{file}: solve.settings is no option that can be set here.",
    "[solve]\nfrom-file = ['a']": "{file}: solve.from-file is no option that can be set here.",
    "[solve]\nworkers = 'a'": "{file}: solve.workers must be a whole number.",
    "[solve]\nworkers = true": "{file}: solve.workers must be a whole number.",
    "[solve]\nworkers = 1.5": "{file}: solve.workers must be a whole number.",
    "[solve]\ntiff = 1": "{file}: solve.tiff must be true or false.",
    "[solve]\ntiff = 2020-01-01": "{file}: solve.tiff must be true or false.",
    "[solve]\nback = 'a'": "{file}: solve.back must be a list.",
    "[solve]\nfilled = 'maybe'": "{file}: solve.filled must be one of auto, yes, no.",
    "[solve]\nmatch = 3": "{file}: solve.match is a group of options, so it must be a table.",
    "[solve]\nseed = -1": "{file}, solve: seed is -1; it must be 0 or more.",
    "[solve]\nmin-confidence = 3": "{file}, solve: min-confidence must lie between 0 and 1.",
    "[solve]\nscan.min-contrast = -3": "{file}, solve.scan: min_contrast is -3.0; it must lie between 0.5 and 255.",
    "[solve]\nmatcher = 'none'": "{file}, solve: There is no matcher 'none'; there are dense, zhang, tsamoura.",
    "[solve]\ntime-limit = nan": "{file}: solve.time-limit holds a number that is too large, or none.",
    "[solve]\ntime-limit = 1e999": "{file}: solve.time-limit holds a number that is too large, or none.",
    f"[solve]\nworkers = {10**30}": "{file}: solve.workers holds a number that is too large, or none.",
    '[solve]\noperator = "a\\u0000"': "{file}: solve.operator must be one line of text.",
    "[solve]\nmin_confidence = 0.5\nmin-confidence = 0.6": "{file}: min-confidence is there twice, with - and with _.",
    f"[solve]\n{'k' * 500} = 1": f"{{file}}: solve.{'k' * 60}... is no option that can be set here.",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_wrong_is_one_sentence_with_file_and_key(write: Write, capsys: Capture, text: str) -> None:
    file = write(text, "mine.toml")
    assert main_code(["solve", *SOLVE, "--config", str(file)]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"jigsawnet: {BAD[text].format(file=file)}\n")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "text",
    ["[" * 3000, "a = " + "[" * 1500 + "]" * 1500, "solve." + "a." * 900 + "b = 1", "[solve]\n" + "a" * 300_000, "x = \x00",
     f"[solve]\nworkers = {'9' * 1900}", "\ufffe", f"[solve]\nmatch = {'{a=' * 400}1{'}' * 400}"],
)  # fmt: skip
def test_hostile_files_are_refused_in_one_sentence(write: Write, capsys: Capture, text: str) -> None:
    write(text)
    assert main_code(["solve", *SOLVE]) == 2
    err = capsys.readouterr().err
    assert err.startswith("jigsawnet: jigsawnet.toml")
    assert err.count("\n") == 1
    assert len(err) < 400


def test_a_folder_a_missing_file_and_bytes_are_refused(here: Path, capsys: Capture) -> None:
    (here / "folder").mkdir()
    (here / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    for name, words in (("folder", "is not a file"), ("none.toml", "is not a file"), ("bytes.toml", "not a UTF-8")):
        assert main_code(["solve", *SOLVE, "--config", name]) == 2
        err = capsys.readouterr().err
        assert name in err
        assert words in err


@pytest.mark.parametrize(("command", "key"), [("solve", "scheduler"), ("solve", "weights"), ("train", "base")])
def test_a_file_that_was_found_cannot_say_whom_to_trust(write: Write, command: str, key: str) -> None:
    path = write(f"[{command}]\n{key} = 'tcp://elsewhere:1'\n")
    with pytest.raises(JigsawNetError, match=rf"^jigsawnet.toml: {command}.{key} is not taken from a file that was found; "):
        parse(command, list(SOLVE))
    assert key in parse(command, [*SOLVE, "--config", str(path)])[0].from_file


def test_the_words_are_at_fault_when_they_are_wrong_without_the_file(write: Write, capsys: Capture) -> None:
    write("[solve]\nseed = 4\n")
    assert main_code(["solve", *SOLVE, "--seed", "-2"]) == 2
    assert capsys.readouterr().err == "jigsawnet: seed is -2; it must be 0 or more.\n"


def test_the_benchmark_passes_over_a_file_that_it_finds_and_says_so(write: Write, capsys: Capture) -> None:
    path = write("[bench]\nseeds = 7\n")
    command, notes = parse("bench", ["quick"])
    assert command.seeds is None
    assert notes == [
        "jigsawnet.toml is not looked at by bench, whose figures would change; give --config jigsawnet.toml to use it."
    ]
    assert parse("bench", ["quick", "--config", str(path)])[0].seeds == 7
    assert main_code(["bench", "no-such-suite"]) == 2
    assert capsys.readouterr().err.startswith("note: jigsawnet.toml is not looked at by bench")


def test_every_option_with_a_default_can_be_set(write: Write) -> None:
    """The names of all commands, as the reference lists them, are names in the file; what it refuses is needed."""
    from jigsawnet.cli.reference import groups_of

    for name, entry in COMMANDS.items():
        cls, path = entry.load(), write("")
        for group in groups_of(cls):
            for option in group.options:
                key = option.written.split(", ")[0 if not option.written.startswith("-o") else 1].removeprefix("--")
                key = f'"{key}"' if option.positional else key
                write(f"[{name}]\n{key} = {{}}\n")
                with pytest.raises(FormatError, match=r"must be|holds" if can_be_set(option, key) else "is no option"):
                    read_settings(path, name, cls, trusted=True)


def can_be_set(option: object, key: str) -> bool:
    return not getattr(option, "positional") and getattr(option, "default") != "needed" and key != "config"  # noqa: B009


def test_the_run_keeps_on_record_what_came_from_the_file(write: Write, here: Path, capsys: Capture) -> None:
    made_from = Path(__file__).resolve().parents[2] / "examples" / "photo.jpg"
    assert main_code(["shred", str(made_from), "-o", "pieces", "--pieces", "4"]) == 0
    write("[solve]\nworkers = 1\nseed = 3\nquiet = true\n")
    capsys.readouterr()
    main_code(["solve", *SOLVE, "--seed", "4"])
    assert capsys.readouterr() == ("", "")
    wanted = ["jigsawnet.toml: quiet", "jigsawnet.toml: workers"]
    (line,) = (here / "out" / "history.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["from_file"] == wanted
    assert json.loads((here / "out" / RUN_FILE).read_text(encoding="utf-8"))["request"]["from_file"] == wanted


def test_the_doctor_looks_through_all_tables(write: Write, capsys: Capture) -> None:
    write("[solve]\nseed = 3\n[export]\nlabels = true\n")
    main_code(["doctor"])
    assert "ok    jigsawnet.toml: here, with options: solve seed, export labels" in capsys.readouterr().out.splitlines()
    write("[export]\nlabel = true\n")
    assert main_code(["doctor"]) == 1
    assert "bad   jigsawnet.toml: jigsawnet.toml: export.label is no option" in capsys.readouterr().out


def test_without_a_file_nothing_of_this_is_loaded(here: Path) -> None:
    code = (
        "import sys; from jigsawnet.cli import main_code; assert main_code(['sheet', '-o', 'a.pdf']) == 0;"
        "sys.exit(bool({'jigsawnet.cli.settings', 'tomllib', 'typeguard'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False, timeout=120).returncode == 0
