"""Two trees side by side: what a solve costs is measured from outside, and what came out of it is compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.io.assembly_json import write_assembly
from jigsawnet.io.pieces import write_pieces
from jigsawnet.io.truth import TRUTH_FILE
from jigsawnet.types import Assembly, Puzzle
from jigsawnet_bench import side_by_side as module
from jigsawnet_bench.machine import commit_of, git
from jigsawnet_bench.side_by_side import (
    SideBySide,
    Solved,
    best_of,
    check_tree,
    checked_out,
    compare,
    main,
    solve_by,
    table_of_pairs,
)

PRETEND = """
import shutil, sys, time
from pathlib import Path
folder, out = Path(sys.argv[2]), Path(sys.argv[4])
out.mkdir()
block = bytearray(50_000_000)
end = time.process_time() + {cpu}
while time.process_time() < end:
    pass
shutil.copy(folder / "{result}", out / "assembly.json")
(out / "report.json").write_text('{{"stages": [{{"seconds": 0.25}}, {{"seconds": 0.5}}]}}')
sys.exit({code})
"""
"""Stands for the command: takes its time and gives what lies in the folder as its result."""


@pytest.fixture
def folder(tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly]) -> Path:
    """Four pieces with their truth, and a result that has placed two of them."""
    path = tmp_path / "pieces"
    path.mkdir()
    puzzle, truth = tiny_puzzle
    write_pieces(path, puzzle)
    write_assembly(path / TRUTH_FILE, truth, puzzle.names())
    half = Assembly(4, {idx: truth.poses[idx] for idx in (0, 1)}, ((0, 1),))
    write_assembly(path / "half.json", half, puzzle.names())
    return path


def tree(tmp_path: Path, name: str, cpu: float = 0.05, code: int = 0, result: str = TRUTH_FILE) -> Path:
    """A folder that Python takes ``jigsawnet`` from."""
    package = tmp_path / name / "jigsawnet"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "__main__.py").write_text(PRETEND.format(cpu=cpu, code=code, result=result), encoding="utf-8")
    return package.parent


def test_a_solve_is_measured_from_outside(tmp_path: Path, folder: Path) -> None:
    solved = solve_by(tree(tmp_path, "some", cpu=0.4), folder)
    assert solved.seconds >= solved.cpu_seconds * 0.5
    assert 0.4 <= solved.cpu_seconds < 5
    assert 45 < solved.peak_mb < 400, "not that of the process that starts it"
    assert solved.stage_seconds == 0.75
    assert (solved.pcr, solved.pcr_tight, solved.error) == (1.0, 1.0, None)


def test_a_command_that_fails_is_told_with_its_sentence(tmp_path: Path, folder: Path) -> None:
    broken = tree(tmp_path, "broken", result="missing.json")
    assert "missing.json" in (solve_by(broken, folder).error or "")  # Python ends with 1, as a part solved does
    assert "exit code 2" in (solve_by(tree(tmp_path, "two", code=2), folder).error or "")


def test_trees_take_turns_and_results_are_compared(tmp_path: Path, folder: Path) -> None:
    trees = {"base": tree(tmp_path, "a", cpu=0.3), "now": tree(tmp_path, "b", result="half.json")}
    told: list[tuple[str, int, int]] = []
    (row,) = compare({"four": (folder, 5.0)}, trees, 2, lambda *step: told.append(step))
    assert told == [("side by side", 1, 1)]
    assert [len(row["runs"][side]) for side in trees] == [2, 2]
    assert (row["base"]["pcr"], row["now"]["pcr"], row["same_result"]) == (1.0, 0.5, False)
    assert row["base"]["cpu_seconds"] > row["now"]["cpu_seconds"]
    table = table_of_pairs([row, row], {"base": "a" * 40, "now": "b" * 40 + "+"})
    assert table.title == "aaaaaaaaa → bbbbbbbbb+"
    cells = dict(zip(table.head, table.rows[0], strict=True))
    assert cells["PCR, %"] == "100.0 → 50.0"
    assert cells["sum of stages"] == "0.75 → 0.75 (1.00)"
    whole = dict(zip(table.head, table.rows[-1], strict=True))
    assert (whole["puzzle"], whole["sum of stages"], whole["result"]) == ("all 2", "1.50 → 1.50 (1.00)", "0 the same")


def test_the_least_time_and_the_most_memory_count() -> None:
    runs = [Solved(3.0, 2.0, 100.0, 1.0, pcr=1.0), Solved(2.0, 2.5, 120.0, 0.5, pcr=1.0)]
    best = best_of(runs)
    assert (best.seconds, best.cpu_seconds, best.peak_mb, best.stage_seconds, best.pcr) == (2.0, 2.0, 120.0, 0.5, 1.0)
    assert best_of([*runs, Solved(error="exit code 2: no")]).error == "exit code 2: no"


def test_a_package_from_elsewhere_is_noticed(tmp_path: Path) -> None:
    check_tree(tree(tmp_path, "some"))
    with pytest.raises(InputError, match="Python takes jigsawnet from"):
        check_tree(tmp_path / "nothing")


def test_a_commit_is_checked_out_and_put_away(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    git(clone, "init", "-q")
    (clone / "a.txt").write_text("one", encoding="utf-8")
    git(clone, "add", ".")
    git(clone, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-qm", "one")
    (clone / "a.txt").write_text("two", encoding="utf-8")
    with checked_out("HEAD", clone) as base:
        assert (base / "a.txt").read_text(encoding="utf-8") == "one"
        assert commit_of(base) == git(clone, "rev-parse", "HEAD")
    assert not base.exists()
    assert len(git(clone, "worktree", "list").splitlines()) == 1
    with pytest.raises(InputError, match="The commit 'nowhere' cannot be checked out"), checked_out("nowhere", clone):
        pass


def test_the_command_writes_both_commits_and_the_machine(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    solved = Solved(2.0, 1.5, 100.0, 1.0, 1.0, 1.0, 1.0, 1.0, {}, None)
    monkeypatch.setattr(module, "solve_by", lambda *_: solved)
    monkeypatch.setattr(module, "check_tree", lambda _: None)
    monkeypatch.setattr(module, "commit_of", lambda *_: "c" * 40)
    monkeypatch.setattr(module, "checked_out", lambda _: _Folder(tmp_path))
    out = tmp_path / "new" / "side.json"
    assert main([str(folder), "--base", "HEAD", "-o", str(out)]) == 0
    data = json.loads(out.read_text(encoding="utf-8"))
    assert data["commits"] == {"base": "c" * 40, "now": "c" * 40}
    assert data["machine"]["cores"] >= 1
    assert [row["puzzle"] for row in data["rows"]] == [f"{tmp_path.name}/pieces"]
    assert "2.00 → 2.00 (1.00)" in capsys.readouterr().out


class _Folder:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        pass


def test_what_is_lacking_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="Name at least one folder"):
        SideBySide()
    with pytest.raises(ConfigError, match="repeat is 0"):
        SideBySide((tmp_path,), repeat=0)
    assert main([str(tmp_path), "--base", "HEAD"]) == 2
    assert "holds no puzzle" in capsys.readouterr().err


def test_means_are_taken_over_puzzles_of_one_kind() -> None:
    def row(name: str, base: float, now: float, error: str | None = None) -> dict[str, object]:
        sides = {
            "base": Solved(base, base, 100.0, base, 1.0, 1.0),
            "now": Solved(now, now, 50.0 * now, now, 0.5, 1.0, error=error),
        }
        return {"puzzle": name, **{side: module._without_poses(solved) for side, solved in sides.items()}}

    rows = [row("9 pieces, a, seed 0", 4.0, 2.0), row("9 pieces, b, seed 1", 4.0, 4.0), row("36 pieces, c, seed 0", 8.0, 2.0)]
    nine, more = module.summary([*rows, row("9 pieces, d, seed 2", 1.0, 1.0, error="it failed")])
    assert (nine["puzzle"], nine["puzzles"], nine["seconds"], nine["seconds_ratio"]) == ("9 pieces", 2, 3.0, 0.75)
    assert (nine["peak_mb"], nine["pcr"]) == (200.0, 0.5)
    assert (more["puzzle"], more["cpu_seconds_ratio"]) == ("36 pieces", 0.25)
    assert "acr_recall" not in more
