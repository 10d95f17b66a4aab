"""``jigsawnet bench SUITE`` from the suite file to tables, contact sheet and page, and what a person is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jigsawnet.cli import main_code
from jigsawnet.errors import ConfigError, FormatError
from jigsawnet.io.images import read_image
from jigsawnet_bench.bench import SuiteOptions, bench_suite
from jigsawnet_bench.runner import Launch

SUITE = """title = "Four pieces"
methods = ["Zhang", "ours"]

[[group]]
name = "four"
puzzles = 2
shred = {pieces = 4}
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(SUITE, encoding="utf-8")
    return str(path)


def test_a_suite_becomes_tables_sheet_and_page(suite: str, photos: Path, tmp_path: Path, at_once: Launch) -> None:
    (photos / "b.png").write_bytes(b"no picture")  # the second puzzle can not be cut
    out, options = tmp_path / "out", SuiteOptions(photos)
    tables, failed = bench_suite(suite, out, tmp_path / "work", options, "the command", launch=at_once)
    assert [row[:2] for row in tables[0].rows] == [("Zhang", "2"), ("ours", "2")]
    assert [note.split(";")[0] for note in failed] == ["Zhang failed on 1 of 2 puzzles", "ours failed on 1 of 2 puzzles"]
    data = json.loads((out / "mine.json").read_text(encoding="utf-8"))
    assert (data["command"], data["title"], len(data["rows"])) == ("the command", "Four pieces", 4)
    assert data["machine"]["cores"] >= 1
    ours = next(row for row in data["summary"] if row["method"] == "ours")
    assert (ours["pcr"], ours["failed"], ours["candidate_recall"]) == (0.5, 1, 1.0)
    assert set(ours["stages"]) >= {"contours", "match", "score", "compose", "refine"}
    assert "b.png" in (out / "index.html").read_text(encoding="utf-8")
    assert "| ours | 2 | 50.0 |" in (out / "mine.md").read_text(encoding="utf-8")
    assert read_image(out / "mine-contact.jpg").shape[0] > 250

    def nothing_left(*_: object) -> None:
        raise AssertionError("a finished puzzle was solved again")

    options = SuiteOptions(photos, most=1)
    tables, failed = bench_suite(suite, out, tmp_path / "work", options, "again", launch=nothing_left)
    assert not failed
    assert tables[0].rows[1][:3] == ("ours", "1", "100.0")


def test_results_of_another_version_beside_it_are_named(suite: str, photos: Path, tmp_path: Path, at_once: Launch) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "old.json").write_text(
        '{"format": "jigsawnet/suite", "version": 0, "command": "jigsawnet bench old"}', encoding="utf-8"
    )
    options = SuiteOptions(photos, methods=("ours",), most=1)
    with pytest.raises(FormatError, match=r"The suite is done and written, but .*old\.json is of version 0"):
        bench_suite(suite, out, tmp_path / "work", options, "the command", launch=at_once)
    assert (out / "mine.json").exists()


def test_an_unknown_method_is_named(suite: str, photos: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='There is no method "BF"'):
        bench_suite(suite, tmp_path, tmp_path, SuiteOptions(photos, methods=("BF",)), "the command")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["photos-7"], "There is no suite 'photos-7'"),
        (["photos-9"], "give their folder with --photos"),
        (["match"], "bench match cuts photographs; give their folder with --photos"),
        (["cost"], "bench cost cuts photographs; give their folder with --photos"),
        (["photos-9", "--seeds", "0"], "seeds is 0"),
        (["docs", "--out", "nowhere"], "holds no results of suites"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["bench", *arguments]) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.err.count("\n") == 1


def test_without_its_libraries_one_sentence_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("jigsawnet_bench.cli.find_spec", lambda name: None)
    assert main_code(["bench", "quick"]) == 2
    assert "pip install 'jigsawnet[bench]'" in capsys.readouterr().err


def test_the_command_loads_no_library_of_the_extra_before_it_runs() -> None:
    code = "import sys, jigsawnet_bench.cli; print([name for name in ('pandas', 'matplotlib', 'cv2') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_worker_process_loads_neither_plots_nor_tables() -> None:
    code = "import sys, jigsawnet_bench.runner; print([name for name in ('pandas', 'matplotlib') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", "its memory is measured"
