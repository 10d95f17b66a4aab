"""Disturb runs at every point, and see what is left.

    PYTHONPATH=tests/helpers python -m faults.run                 # all points of all runs
    PYTHONPATH=tests/helpers python -m faults.run --every 40 --scenarios solve cut --kinds fail kill

All libraries are loaded and compiled once; each point is a copy of this process, so it costs little more than the run itself.
Needs Linux. The last line is the number of faults found, which is also the exit code (at most 100).
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"  # a copy of a process has none of its threads

from faults.disk import CHANCE, KILLED, Disk, Point  # noqa: E402 - after the number of threads is set
from faults.memory import Memory  # noqa: E402 - after the number of threads is set
from faults.scenarios import SCENARIOS, Files, Scenario, all_files, edits_in, stop_clocks  # noqa: E402 - after the number of threads is set

KINDS = ("fail", "kill", "memory", "space", "room")
PATIENCE_S = 900.0
"""Far longer than any of these runs takes on a busy machine."""
_HUNG = -999
_STEPS = 24
_SENTENCE = re.compile(r"jigsawnet: \S.*[.?]")
_CHANGING = {"create", "write", "fsync", "ftruncate", "rename", "link", "unlink", "mkdir", "rmdir", "close"}
"""Between two of these a kill always leaves the same."""


@dataclass(frozen=True)
class Left:
    """What a disturbed run left: its exit code, what it said, and all files."""

    code: int
    said: str
    files: Files


@dataclass(frozen=True)
class Found:
    """A promise that was broken."""

    scenario: str
    kind: str
    point: str
    what: str

    def __str__(self) -> str:
        return f"{self.scenario}, {self.kind} at {self.point}: {self.what}"


def in_copy(work: Callable[[], int | None], said: Path) -> tuple[int, str]:
    """Exit code and stderr of ``work``, done in a copy of this process."""
    child = os.fork()
    if child == 0:
        _be_a_command(work, said)
    end = time.monotonic() + PATIENCE_S
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return _HUNG, ""
        time.sleep(0.002)
    text = said.read_text(errors="replace") if said.exists() else ""
    said.unlink(missing_ok=True)
    return os.waitstatus_to_exitcode(status), text


def _be_a_command(work: Callable[[], int | None], said: Path) -> None:
    code = 99
    try:
        for descriptor, path in ((1, os.devnull), (2, said)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), descriptor)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        logging.basicConfig(format="note: %(message)s", stream=sys.stderr, force=True)  # what spoils nothing is logged
        code = work() or 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stderr.flush()
        os._exit(code)


class Trial:
    """One scenario: what it leaves when nothing disturbs it, and what it leaves when something does."""

    def __init__(self, name: str, scenario: Scenario, room: Path) -> None:
        self.name, self.scenario, self.room = name, scenario, room
        self.before, self.place = room / f"{name}-before", room / name
        self.before.mkdir()
        code, said = in_copy(lambda: scenario.prepare(self.before), room / "said")
        if code:
            raise RuntimeError(f"{name} cannot be prepared: {said}")
        self.old = all_files(self.before)
        self.new = self.do(lambda: scenario.run(self.place))
        if self.new.code not in (0, 1):
            raise RuntimeError(f"{name} does not run: {self.new}")
        others, between = ([self.do(partial(way, self.place)) for way in ways] for ways in (scenario.others, scenario.between))
        self.right = [scenario.results(left.files) for left in (self.new, *others)]
        self.whole = [scenario.results(self.old), *self.right, *(scenario.results(left.files) for left in between)]
        self._known: dict[tuple[tuple[str, str], ...], list[str]] = {}

    def do(self, work: Callable[[], int], *, again: bool = False) -> Left:
        """What ``work`` leaves; ``again`` goes on with what is there."""
        if not again:
            shutil.rmtree(self.place, ignore_errors=True)
            Path(f"{self.place}.told").unlink(missing_ok=True)
            shutil.copytree(self.before, self.place, symlinks=True)
        code, said = in_copy(work, self.room / "said")
        return Left(code, said, all_files(self.place))

    def _listed(self, watcher: Disk | Memory) -> list[Point]:
        list_of_points = self.room / "points"

        def work() -> int:
            with watcher.watched():
                code = self.scenario.run(self.place)
            list_of_points.write_text("".join(f"{p.operation}\t{p.path}\t{p.nth}\n" for p in watcher.points))
            return code

        left = self.do(work)
        if left.code != self.new.code:
            raise RuntimeError(f"{self.name} behaves differently when it is watched: {left}")
        rows = (line.split("\t") for line in list_of_points.read_text().splitlines())
        return [Point(operation, path, int(nth)) for operation, path, nth in rows]

    def points(self, kind: str) -> list[Point]:
        """Where it can be disturbed in this way, in order."""
        if kind in ("fail", "kill"):
            points = self._listed(Disk(self.place))
            return points if kind == "fail" else [point for point in points if point.operation in _CHANGING]
        if kind == "memory":
            return self._listed(Memory())
        if kind == "space":
            return [Point(kind, f"{2 * step * step} MB beyond what is held") for step in range(_STEPS)]
        sizes = sorted({path.stat().st_size for path in self.place.rglob("*") if path.is_file()})
        return [Point(kind, f"{at} bytes in a file") for size in sizes for at in (size // 2, size - 1) if at > 0]

    def disturb(self, kind: str, point: Point) -> Left:
        """Run with one fault."""
        return self.do(lambda: self._disturbed(kind, point))

    def _disturbed(self, kind: str, point: Point) -> int:
        if kind in ("fail", "kill"):
            disk = Disk(self.place, kind, point)  # type: ignore[arg-type]
            with disk.watched():
                return self.scenario.run(self.place)
        if kind == "memory":
            with Memory(point).watched():
                return self.scenario.run(self.place)
        amount = int(point.path.split()[0])
        if kind == "space":
            held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (held + amount * 2**20,) * 2)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (amount, amount))
        return self.scenario.run(self.place)

    def faults(self, kind: str, point: Point, left: Left) -> Iterator[str]:
        """What is not as promised after a fault, and after the next run."""
        now = self.scenario.results(left.files)
        if left.code == _HUNG:
            yield "it hangs"
        elif kind == "kill":
            if left.code not in (KILLED, self.new.code):
                yield f"exit code {left.code}: {left.said[-300:]}"
            yield from (
                f"{name} is neither old nor new" for name in now if now[name] not in [each.get(name) for each in self.whole]
            )
        else:
            yield from self._said(left, point)
            if now not in self.whole:
                yield f"neither the old nor the new result: {_differences(now, *self.whole[:2])}"
            if left.code == self.new.code and now not in self.right:
                yield "success was said, and the result is not there"
        told, listed = Path(f"{self.place}.told"), edits_in(self.place)
        if told.exists() and (acknowledged := int(told.read_text())) > listed:
            yield f"{acknowledged} edits were acknowledged, and {listed} are there"
        state = tuple(sorted((CHANCE.sub("*", name), value) for name, value in left.files.items()))
        if state not in self._known:
            self._known[state] = list(self._after())
        yield from self._known[state]

    def _said(self, left: Left, point: Point) -> Iterator[str]:
        lines = [line for line in left.said.splitlines() if line and not line.startswith("note: ")]
        if left.code == self.new.code:
            if lines:
                yield f"it succeeded, and said {lines[-1][:200]!r}"
        elif left.code != 2:
            yield f"exit code {left.code}: {left.said[-600:]}"
        elif len(lines) != 1 or not _SENTENCE.fullmatch(lines[0]):
            yield f"not one sentence: {left.said[-600:]}"

    def _after(self) -> Iterator[str]:
        """The next run gives the same as if nothing had happened."""
        finished = self.scenario.finished
        now = self.scenario.results(all_files(self.place))
        if finished and (self.place / finished).exists() and now in self.right:
            return  # there is the whole result, and the same again would be refused
        left = self.do(lambda: self.scenario.run(self.place), again=True)
        if left.code != self.new.code:
            yield f"the next run ends with {left.code}: {left.said[-300:]}"
        elif (then := self.scenario.results(left.files)) not in self.right:
            yield f"the next run gives something else: {_differences(then, {}, self.right[0])}"
        elif hidden := [name for name in left.files if "/." in name and name not in self.new.files]:
            yield f"the next run leaves {hidden[:3]}"


def _differences(now: Files, old: Files, new: Files) -> str:
    kinds = {name: "old" if now.get(name) == old.get(name) else "new" if now.get(name) == new.get(name) else "other"
             for name in {*now, *old, *new} if not now.get(name) == old.get(name) == new.get(name)}  # fmt: skip
    return ", ".join(f"{name} {kind}" for name, kind in sorted(kinds.items())[:12])


def main(words: Sequence[str] | None = None) -> int:
    """Try, and say what was found."""
    parser = argparse.ArgumentParser(prog="python -m faults.run", description="Disturb runs at every point.")
    parser.add_argument("--scenarios", nargs="+", default=[*SCENARIOS], choices=SCENARIOS)
    parser.add_argument("--kinds", nargs="+", default=[*KINDS], choices=KINDS)
    parser.add_argument("--every", type=int, default=1, help="try each so-manieth point only")
    parser.add_argument("--at", default="", help="try only points that hold these words")
    given = parser.parse_args(words)
    _load_all(given.scenarios)
    found: list[Found] = []
    with tempfile.TemporaryDirectory() as room:
        for name in given.scenarios:
            trial = Trial(name, SCENARIOS[name], Path(os.path.realpath(room)))
            for kind in given.kinds:
                found += _try_all(trial, kind, given.every, given.at)
    seconds = sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
                  for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))  # fmt: skip
    print(f"{seconds:.0f} CPU seconds; faults found: {len(found)}")
    return min(len(found), 100)


def _try_all(trial: Trial, kind: str, every: int, at: str) -> list[Found]:
    points = [point for point in trial.points(kind) if at in str(point)]
    found, codes = [], Counter[int]()
    for point in points[min(every // 2, len(points) // 4) :: every]:
        left = trial.disturb(kind, point)
        codes[left.code] += 1
        for what in trial.faults(kind, point, left):
            found.append(Found(trial.name, kind, str(point), what))
            print(found[-1], flush=True)
    tried = sum(codes.values())
    print(f"{trial.name:<10} {kind:<6} {tried:5d} of {len(points):5d} points, exit codes {dict(codes)}", flush=True)
    return found


def _load_all(names: Sequence[str]) -> None:
    """Load and compile what the runs need, in this process, so that its copies have it."""
    import cv2

    cv2.setNumThreads(0)
    stop_clocks()
    with tempfile.TemporaryDirectory() as room, open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # noqa: PTH123
        for name in names:
            folder = Path(room, name)
            folder.mkdir()
            SCENARIOS[name].prepare(folder)
            SCENARIOS[name].run(folder)


if __name__ == "__main__":
    sys.exit(main())
