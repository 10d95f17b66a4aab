"""``python -m jigsawnet_bench.side_by_side --base COMMIT PUZZLE...``: what a change costs and gains.

The whole command ``jigsawnet solve`` of another commit, checked out into a temporary folder, and that of the files as they are
now solve the same puzzles in turns. Seconds are those a person waits, CPU seconds and memory those of all its processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import tyro

from jigsawnet.cli.console import progress_bars, say, say_error
from jigsawnet.errors import ConfigError, FormatError, InputError, JigsawNetError
from jigsawnet.evaluation.metrics import evaluate
from jigsawnet.io.assembly_json import read_assembly
from jigsawnet.io.files import RESULT_FILE, make_folder, read_text, write_text
from jigsawnet.io.truth import read_truth
from jigsawnet.loading import load_puzzle
from jigsawnet.types import Progress, no_progress
from jigsawnet_bench.cases import puzzle_folders, suite_cases
from jigsawnet_bench.layouts import NEIGHBOR_PX, gap_of
from jigsawnet_bench.machine import CLONE, commit_of, describe_machine, git, resident_mb
from jigsawnet_bench.measure import over_own_pieces
from jigsawnet_bench.suite import load_suite
from jigsawnet_bench.tables import NOTHING, Table, figure, percent
from jigsawnet_bench.work import as_files

FORMAT, VERSION = "jigsawnet/side-by-side", 1
BASE, NOW = "base", "now"
_LAUNCH = """
import json, os, subprocess, sys, time
with open(sys.argv[1], "wb") as log:
    start = time.perf_counter()
    process = subprocess.Popen(sys.argv[2:], stdout=log, stderr=log)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
print(json.dumps([os.waitstatus_to_exitcode(status), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
"""
"""Starts the command from a small process: Linux counts the memory of the one that starts it."""
SHARES = {"pcr": "PCR, %", "pcr_tight": "tight, %", "acr_precision": "joins right, %", "acr_recall": "joins found, %"}
COSTS = {"seconds": "seconds", "cpu_seconds": "CPU seconds", "peak_mb": "peak MB", "stage_seconds": "sum of stages"}


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Solve puzzles by another commit and by the files as they are now, in turns, and compare time, memory and results."""

    puzzles: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PUZZLE")] = ()
    """Folders of pieces with truth.json or groundTruth.txt beside them, or folders of such folders."""
    base: Annotated[str, tyro.conf.arg(metavar="COMMIT")] = "HEAD"
    """What to compare with."""
    repeat: int = 1
    """How often each puzzle is solved by each; the least seconds and CPU seconds and the most memory count."""
    suite: tuple[str, ...] = ()
    """Also the puzzles of these suites of `jigsawnet bench`."""
    photos: Path | None = None
    """For suites that cut photographs: their folder."""
    folders: tuple[Path, ...] = ()
    """For suites that read puzzles: their folders."""
    seeds: int | None = None
    """At most this many puzzles of each group of the suite."""
    largest: int = 1000
    """Leave out groups of the suite with more pieces than this."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FILE")] = Path("benchmarks/runs/side-by-side.json")
    """JSON file for all that was measured."""

    def __post_init__(self) -> None:
        if self.repeat < 1:
            raise ConfigError(f"repeat is {self.repeat}; at least 1 is needed.")
        if not self.puzzles and not self.suite:
            raise ConfigError("Name at least one folder of pieces with their truth, or a suite.")

    def run(self) -> int:
        """Solve, compare, print and write; 1 when a solve failed."""
        with ExitStack() as stack:
            folders = [path for folder in self.puzzles for path in puzzle_folders(folder)]
            puzzles = {"/".join(path.absolute().parts[-2:]): (path, gap_of(path)) for path in folders}
            for suite in self.suite:
                for case in suite_cases(load_suite(suite), self.photos, self.folders, self.seeds, self.largest):
                    name = f"{case.group.kind.name}, {case.title}, seed {case.number}"
                    puzzles[name] = stack.enter_context(as_files(case)), case.gap_px
            base = stack.enter_context(checked_out(self.base))
            progress = stack.enter_context(progress_bars())
            rows = compare(puzzles, {BASE: base / "src", NOW: CLONE / "src"}, self.repeat, progress)
            commits = {BASE: commit_of(base), NOW: commit_of()}
        make_folder(self.out.absolute().parent)
        head = {"format": FORMAT, "version": VERSION, "commits": commits, "repeat": self.repeat, "machine": describe_machine()}
        write_text(self.out, json.dumps({**head, "summary": summary(rows), "rows": rows}, indent=1, allow_nan=False) + "\n")
        table = table_of_pairs(rows, commits)
        for line in [table.title, "", *table.markdown().splitlines()]:
            say(line)
        return 1 if any(row[side]["error"] for row in rows for side in (BASE, NOW)) else 0


@dataclass(frozen=True, slots=True)
class Solved:
    """One solve by the whole command: what it cost, what came out, or the sentence it ended with."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """User and system time of the command and the processes it waited for."""
    peak_mb: float = 0.0
    stage_seconds: float | None = None
    """Sum of the stages in report.json."""
    pcr: float | None = None
    pcr_tight: float | None = None
    acr_precision: float | None = None
    acr_recall: float | None = None
    poses: Mapping[str, tuple[float, float, float]] | None = None
    """By name of the piece, so that equal results can be told."""
    error: str | None = None


@contextmanager
def checked_out(commit: str, clone: Path = CLONE) -> Iterator[Path]:
    """The files of a commit in a temporary work tree of git."""
    with TemporaryDirectory() as name:
        tree = Path(name) / "base"
        try:
            git(clone, "worktree", "add", "--detach", "--quiet", str(tree), commit)
        except subprocess.CalledProcessError as error:
            raise InputError(f"The commit {commit!r} cannot be checked out: {error.stderr.strip().splitlines()[-1]}") from error
        try:
            yield tree
        finally:
            git(clone, "worktree", "remove", "--force", str(tree))


def compare(
    puzzles: Mapping[str, tuple[Path, float]], trees: Mapping[str, Path], repeat: int, progress: Progress = no_progress
) -> list[dict[str, Any]]:
    """Solve each puzzle by each tree in turns, the first of a turn changing; a first solve, uncounted, compiles the code.

    ``puzzles``: folders, and how close true neighbours come in px.
    """
    for tree in trees.values():
        check_tree(tree)
        solve_by(tree, *next(iter(puzzles.values())))
    rows: list[dict[str, Any]] = []
    for name, (folder, gap_px) in puzzles.items():
        runs: dict[str, list[Solved]] = {side: [] for side in trees}
        for turn in range(repeat):
            for side in list(trees)[:: -1 if turn % 2 else 1]:
                runs[side].append(solve_by(trees[side], folder, gap_px))
        best = {side: best_of(own) for side, own in runs.items()}
        same = best[BASE].poses == best[NOW].poses
        plain = {side: _without_poses(solved) for side, solved in best.items()}
        every = {side: [_without_poses(run) for run in own] for side, own in runs.items()}
        rows.append({"puzzle": name, **plain, "same_result": same, "runs": every})
        progress("side by side", len(rows), len(puzzles))
    return rows


def solve_by(tree: Path, folder: Path, gap_px: float = NEIGHBOR_PX) -> Solved:
    """One ``jigsawnet solve`` by the code of a tree, in a process of its own."""
    with TemporaryDirectory() as name:
        out, log = Path(name) / "out", Path(name) / "log"
        command = [sys.executable, "-m", "jigsawnet", "solve", str(folder.absolute()), "-o", str(out)]
        launcher = [sys.executable, "-S", "-c", _LAUNCH, str(log), *command]
        told = subprocess.run(launcher, cwd=name, env=_environment(tree), capture_output=True, text=True, check=True).stdout
        code, seconds, cpu_seconds, peak = json.loads(told)
        cost = round(seconds, 3), round(cpu_seconds, 3), resident_mb(peak)
        if code not in (0, 1) or not (out / RESULT_FILE).is_file():
            lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            return Solved(*cost, error=f"exit code {code}: {lines[-1] if lines else ''}")
        return Solved(*cost, **_outcome(folder, out, gap_px))


def check_tree(tree: Path) -> None:
    """Refuse to measure when Python takes the package from elsewhere."""
    command = [sys.executable, "-c", "import jigsawnet; print(jigsawnet.__file__)"]
    found = subprocess.run(command, env=_environment(tree), cwd="/", check=True, capture_output=True, text=True).stdout.strip()
    if not Path(found).resolve().is_relative_to(tree.resolve()):
        raise InputError(f"Python takes jigsawnet from {found} and not from {tree}; unset what leads it there.")


def best_of(runs: Sequence[Solved]) -> Solved:
    """The outcome of the first run, with the least time and the most memory of all."""
    failed = next((run for run in runs if run.error), None)
    if failed is not None:
        return failed
    stages = [run.stage_seconds for run in runs if run.stage_seconds is not None]
    first = asdict(runs[0]) | {
        "seconds": min(run.seconds for run in runs),
        "cpu_seconds": min(run.cpu_seconds for run in runs),
        "peak_mb": max(run.peak_mb for run in runs),
        "stage_seconds": min(stages, default=None),
    }
    return Solved(**first)


def table_of_pairs(rows: Sequence[Mapping[str, Any]], commits: Mapping[str, str]) -> Table:
    """Base → now (ratio) for each puzzle, and the sums of all; of memory the largest."""
    head = ("puzzle", *COSTS.values(), *SHARES.values(), "result")
    lines = [(row["puzzle"], *_cells(row[BASE], row[NOW]), "same" if row["same_result"] else "differs") for row in rows]
    both = [row for row in rows if not row[BASE]["error"] and not row[NOW]["error"]]
    if len(both) > 1:
        means = [_all([row[side] for row in both]) for side in (BASE, NOW)]
        equal = sum(row["same_result"] for row in both)
        lines.append((f"all {len(both)}", *_cells(means[0], means[1]), f"{equal} the same"))
    return Table(f"{commits[BASE][:9]} → {commits[NOW][:9]}{'+' * commits[NOW].endswith('+')}", head, tuple(lines))


def summary(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Means of what is now, and the ratio to the base, over puzzles of one kind: of one name before the first comma."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if not row[BASE]["error"] and not row[NOW]["error"]:
            kinds.setdefault(row["puzzle"].partition(",")[0], []).append(row)
    found = []
    for kind, own in kinds.items():
        base, now = (_all([row[side] for row in own]) for side in (BASE, NOW))
        costs = {name: now[name] if name == "peak_mb" else round(now[name] / len(own), 3) for name in COSTS}
        ratios = {f"{name}_ratio": round(now[name] / base[name], 3) for name in COSTS if base[name]}
        shares = {name: round(now[name], 4) for name in SHARES if now[name] is not None}
        found.append({"puzzle": kind, "puzzles": len(own), **shares, **costs, **ratios})
    return found


def _all(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums of times, largest memory, means of shares."""
    known = {name: [run[name] for run in runs if run[name] is not None] for name in (*COSTS, *SHARES)}
    sums = {name: max(known[name]) if name == "peak_mb" else sum(known[name]) for name in COSTS if known[name]}
    return {**dict.fromkeys(known), **sums, **{name: sum(known[name]) / len(known[name]) for name in SHARES if known[name]}}


def _cells(base: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    if base.get("error") or now.get("error"):
        return [f"{base.get('error') or 'solved'} → {now.get('error') or 'solved'}"] + [NOTHING] * (
            len(COSTS) + len(SHARES) - 1
        )
    costs = [(base[name], now[name]) for name in COSTS]
    cells = [f"{figure(a)} → {figure(b)}" + (f" ({b / a:.2f})" if a and b else "") for a, b in costs]
    shares = [(percent(base[name]), percent(now[name])) for name in SHARES]
    return cells + [a if a == b else f"{a} → {b}" for a, b in shares]


def _outcome(folder: Path, out: Path, gap_px: float) -> dict[str, Any]:
    """What the files of a result say, and how much of it is right."""
    puzzle = load_puzzle(folder)
    assembly, _ = read_assembly(out / RESULT_FILE, puzzle.names())
    poses = {puzzle.pieces[idx].name: (pose.theta, pose.x, pose.y) for idx, pose in assembly.poses.items()}
    try:
        stages = json.loads(read_text(out / "report.json"))["stages"]
        seconds = round(sum(float(stage["seconds"]) for stage in stages), 3)
    except (FormatError, InputError, ValueError, TypeError, KeyError) as error:
        raise FormatError(f"The report of the solve in {out} cannot be read: {error}") from error
    truth = read_truth(folder, puzzle)
    metrics = asdict(over_own_pieces(evaluate(puzzle, assembly, truth, gap_px), truth))
    shares = {name: None if metrics[name] is None else round(metrics[name], 4) for name in SHARES}
    return {"stage_seconds": seconds, "poses": poses, **shares}


def _without_poses(solved: Solved) -> dict[str, Any]:
    return {name: value for name, value in asdict(solved).items() if name != "poses"}


def _environment(tree: Path) -> dict[str, str]:
    """Modules are compiled once, as those of an installed program are, whatever holds for the program that measures."""
    return {**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": ""}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    try:
        return tyro.cli(SideBySide, prog="python -m jigsawnet_bench.side_by_side", args=arguments).run()
    except JigsawNetError as error:
        say_error(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main())
