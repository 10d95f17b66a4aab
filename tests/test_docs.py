"""The papers say what the program does: commands, options, links, names and examples are checked against the code."""

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import jigsawnet
from jigsawnet.cli import main_code
from jigsawnet.cli.commands import COMMANDS
from jigsawnet.cli.reference import groups_of, reference
from jigsawnet.io.assembly_json import read_assembly, read_candidates
from jigsawnet.io.edits_json import read_edits
from jigsawnet.io.result_files import write_report
from jigsawnet.learned import FORMAT, NETWORK_FORMAT
from jigsawnet.types import RunReport

ROOT = Path(__file__).resolve().parents[1]
PAPERS = sorted([*(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")), *ROOT.glob("docs/**/*.md")])
README = ROOT / "README.md"
FORMATS = ROOT / "docs" / "formats.md"

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w.-]*")
KNOWN_OPTIONS: dict[str, set[str]] = {}
"""Options of the sub-commands asked for so far."""
OptionsOf = Callable[[str], set[str]]
by_name = pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.name)


def blocks(paper: Path, language: str) -> list[str]:
    """Code blocks of one language."""
    return [text for kind, text in FENCE.findall(paper.read_text(encoding="utf-8")) if kind == language]


def prose(paper: Path) -> str:
    """Everything outside code blocks."""
    return FENCE.sub("", paper.read_text(encoding="utf-8"))


def commands(paper: Path) -> list[str]:
    """Calls of the program in code blocks and in code spans."""
    lines = [line for block in blocks(paper, "sh") for line in block.splitlines()]
    return [text for text in (*lines, *re.findall(r"`([^`\n]+)`", prose(paper))) if text.startswith("jigsawnet ")]


@pytest.fixture
def options_of(capsys: pytest.CaptureFixture[str]) -> OptionsOf:
    """Names of a sub-command's options, as its help lists them."""

    def read(sub_command: str) -> set[str]:
        if sub_command in KNOWN_OPTIONS:
            return KNOWN_OPTIONS[sub_command]
        with pytest.raises(SystemExit) as stop:
            main_code([sub_command, "--help"])
        assert stop.value.code == 0, f"there is no sub-command {sub_command}"
        KNOWN_OPTIONS[sub_command] = set(OPTION.findall(capsys.readouterr().out))
        return KNOWN_OPTIONS[sub_command]

    return read


@by_name
def test_every_command_shown_exists_with_its_options(paper: Path, options_of: OptionsOf) -> None:
    for command in commands(paper):
        sub_command, *words = shlex.split(command, comments=True)[1:]
        if sub_command in ("--help", "--version", "COMMAND"):
            continue
        unknown = {word for word in words if word.startswith("-")} - options_of(sub_command)
        assert not unknown, f"{command!r} names options that do not exist"


@by_name
def test_every_option_named_in_the_text_exists(paper: Path, options_of: OptionsOf) -> None:
    named = set(re.findall(r"`(?:solve |shred |eval )?(--[a-z][\w.-]*)", prose(paper)))
    known = set().union(*(options_of(name) for name in COMMANDS), {"--help", "--version"})
    assert named <= known


def test_every_sub_command_is_shown_somewhere() -> None:
    shown = {command.split()[1] for paper in PAPERS if paper.name != "commands.md" for command in commands(paper)}
    assert shown >= set(COMMANDS)


def test_the_list_of_commands_is_made_from_the_code() -> None:
    written = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert written == reference(), "the options have changed: run `make docs`"


def test_the_reference_names_every_option_that_there_is(options_of: OptionsOf) -> None:
    for name, entry in COMMANDS.items():
        listed = {
            word for group in groups_of(entry.load()) for option in group.options for word in OPTION.findall(option.written)
        }
        assert listed == options_of(name) - {"-h", "--help"}, name


def test_the_site_begins_as_the_readme_does() -> None:
    first, _, _ = README.read_text(encoding="utf-8").partition("## The three most common tasks")
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert index.startswith(first.replace("docs/images/", "images/"))


@by_name
def test_every_relative_link_leads_somewhere(paper: Path) -> None:
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", prose(paper)) if "://" not in target]
    missing = [target for target in targets if target and not (paper.parent / target).exists()]
    assert not missing


@by_name
def test_no_path_of_somebodys_machine(paper: Path) -> None:
    assert not re.search(r"(?<![\w.:/])/(?:home|work|tmp|root|Users)/", paper.read_text(encoding="utf-8"))


@by_name
def test_every_make_target_shown_exists(paper: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make (\w+)", paper.read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"


def test_the_docs_are_made_without_what_only_training_and_tests_need() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (needs,) = re.findall(r"^docs: (.+)$", makefile, re.MULTILINE)
    (installed,) = re.findall(rf"^{re.escape(needs)}:.*\n(?:\t.*\n)*?\t.*'(\.\[\w+\])'", makefile, re.MULTILINE)
    assert installed == ".[docs]"
    code = (
        "import sys\n"
        "for name in ('torch', 'onnx', 'pandas', 'matplotlib', 'fastapi', 'uvicorn', 'distributed'):\n"
        "    sys.modules[name] = None\n"
        "from jigsawnet.cli.reference import reference\n"
        "assert 'jigsawnet train' in reference()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@by_name
def test_every_file_of_the_package_named_exists(paper: Path) -> None:
    paths = re.findall(r"`((?:src/jigsawnet|tests|match|compose)/[\w/]+\.py)`", prose(paper))
    for path in paths:
        assert (ROOT / path).exists() or (ROOT / "src" / "jigsawnet" / path).exists(), path


def test_python_in_the_readme_uses_public_names_only() -> None:
    (code,) = blocks(README, "python")
    used = {
        node.attr
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "jn"
    }
    assert used
    assert used <= set(jigsawnet.__all__)


def test_examples_in_formats_can_be_read(tmp_path: Path) -> None:
    texts = {json.loads(text)["format"].removeprefix("jigsawnet/"): text for text in blocks(FORMATS, "json")}
    for name in ("assembly", "alignments", "edits"):
        (tmp_path / f"{name}.json").write_text(texts[name], encoding="utf-8")
    assembly, names = read_assembly(tmp_path / "assembly.json")
    (candidate,) = read_candidates(tmp_path / "alignments.json", names)
    assert {name.removeprefix("jigsawnet/") for name in (FORMAT, NETWORK_FORMAT)} <= set(texts)
    assert len(read_edits(tmp_path / "edits.json", [f"fragment_{k:04d}.png" for k in range(1, 8)]).entries) == 4
    assert assembly.unplaced == (2,)
    assert candidate.i_from_j == assembly.joins[0].alignment.i_from_j
    angle, distance = candidate.i_from_j.distance(assembly.poses[0].inverse() @ assembly.poses[1])
    assert (angle, distance) == pytest.approx((0.0, 0.0), abs=1e-9), "the example's join should agree with its poses"


def test_formats_names_every_field_of_our_files(tmp_path: Path) -> None:
    write_report(tmp_path / "report.json", RunReport("0", "pieces", 0, (), (), {}))
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assembly = json.loads(blocks(FORMATS, "json")[0])
    text = prose(FORMATS)
    nested = {key for entry in (*assembly["fragments"], *assembly["alignments"]) for key in entry}
    for field in {*report, *assembly, *nested}:
        assert re.search(rf"`[\w\[\].]*\b{field}`|`\.{field}`", text), field
