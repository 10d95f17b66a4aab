"""Give readers changed files for a given time, or so many of them, and say what was found.

    PYTHONPATH=tests/helpers python -m fuzzing.run --minutes 60
    PYTHONPATH=tests/helpers python -m fuzzing.run --inputs 200000 --seed 7 --readers png npz

Each input follows from the seed, the reader and its number alone. A reader must give a result or refuse in one sentence, within
10 seconds of computing and 2 GB; what breaks this is written into ``--found``. Another ``--seed`` goes on with other inputs.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzzing.targets import TARGETS, Target, seeds_of
from jigsawnet.errors import JigsawNetError

MOST_SECONDS, MOST_BYTES = 10, 2 * 2**30
_STATE = struct.Struct("<4Q")
"""Number of the input under way, and how many were read, refused and found wanting so far."""


@dataclass
class Tally:
    """What became of the inputs of one reader."""

    read: int = 0
    refused: int = 0
    found: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """All of them."""
        return self.read + self.refused + len(self.found)


def input_of(target: Target, seeds: Sequence[bytes], seed: int, number: int) -> bytes:
    """The changed file."""
    return target.mutate(seeds, random.Random(f"{seed} {target.name} {number}"))


def fuzz(target: Target, seed: int, first: int, count: int, room: Path, found: Path) -> Tally:
    """Try so many inputs, in a process that is replaced when it dies."""
    tally, seeds, state, end = Tally(), seeds_of(target), room / "state", first + count
    while first < end:
        state.write_bytes(_STATE.pack(first, 0, 0, 0))
        before = _seconds()
        sys.stdout.flush()
        with warnings.catch_warnings(action="ignore"):  # of threads, of which the copy needs none
            child = os.fork()
        if child == 0:
            _read_all(target, seeds, seed, first, end, room, state, found)
        status = os.waitpid(child, 0)[1]
        tally.seconds += _seconds() - before
        first, read, refused, wrong = _STATE.unpack(state.read_bytes())
        tally.read, tally.refused = tally.read + read, tally.refused + refused
        tally.found += [path.name for path in sorted(found.glob(f"{target.name}-*.txt")) if path.name not in tally.found][
            :wrong
        ]
        if status:
            number = -os.waitstatus_to_exitcode(status)
            words = signal.Signals(number).name if number > 0 else f"exit code {-number}"
            words = "more than 10 s of computing" if number in (signal.SIGXCPU, signal.SIGPROF) else words
            if target.may_die and words != "more than 10 s of computing":
                tally.refused += 1
            else:
                tally.found.append(_keep(found, target, input_of(target, seeds, seed, first), first, words))
            first += 1
    return tally


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _keep(found: Path, target: Target, data: bytes, number: int, words: str) -> str:
    found.mkdir(parents=True, exist_ok=True)
    name = f"{target.name}-{number}"
    (found / f"{name}.bin").write_bytes(data)
    (found / f"{name}.txt").write_text(words)
    return f"{name}.txt"


def _read_all(
    target: Target, seeds: Sequence[bytes], seed: int, first: int, end: int, room: Path, state: Path, found: Path
) -> None:
    """In a process of its own, with limits."""
    code = 1
    try:
        faulthandler.disable()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)  # libraries written in C have lines of their own
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + MOST_BYTES,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.fsync = lambda _: None  # type: ignore[assignment]
        read = target.prepare(room)
        counts = [0, 0, 0]
        with state.open("r+b", buffering=0) as note:
            for number in range(first, end):
                os.pwrite(note.fileno(), _STATE.pack(number, *counts), 0)
                data = input_of(target, seeds, seed, number)
                signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
                try:
                    read(data)
                    counts[0] += 1
                except JigsawNetError as error:
                    counts[1] += 1
                    if not 0 < len(str(error).strip()) < 10_000:
                        raise AssertionError("an error without words, or that repeats its whole file") from error
                except Exception:
                    counts[2] += 1
                    _keep(found, target, data, number, traceback.format_exc())
                signal.setitimer(signal.ITIMER_PROF, 0)
            os.pwrite(note.fileno(), _STATE.pack(end, *counts), 0)
        code = 0
    finally:
        os._exit(code)


def main(words: Sequence[str] | None = None) -> int:
    """Fuzz in rounds, so that all readers get their share whenever it ends."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing.run", description="Give readers changed files.")
    parser.add_argument("--readers", nargs="+", default=[*TARGETS], choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=0.0, help="go on for so long")
    parser.add_argument("--inputs", type=int, default=0, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0, help="another number gives other inputs")
    parser.add_argument("--round", type=int, default=400, help="inputs of one reader before the next one has its turn")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for what is found")
    given = parser.parse_args(words)
    if not given.minutes and not given.inputs:
        parser.error("say how long, with --minutes or --inputs")
    tallies = {name: Tally() for name in given.readers}
    end = time.monotonic() + 60 * given.minutes if given.minutes else float("inf")
    most = given.inputs or sys.maxsize
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as room:
        for name in given.readers:
            Path(room, name).mkdir()
        number = 0
        while number < most and time.monotonic() < end:
            for name in given.readers:
                done, share = tallies[name].tried, max(1, round(TARGETS[name].share * given.round))
                share = min(share, most - number)
                if share <= 0 or time.monotonic() > end:
                    break
                one = fuzz(TARGETS[name], given.seed, done, share, Path(room, name), given.found)
                both = tallies[name]
                both.read, both.refused, both.seconds = (
                    both.read + one.read,
                    both.refused + one.refused,
                    both.seconds + one.seconds,
                )
                both.found += one.found
                number += share
    for name, one in tallies.items():
        counts = f"{one.tried:8d} inputs, {one.read:8d} read, {one.refused:8d} refused"
        print(f"{name:<12} {counts}, {one.seconds:7.1f} CPU s, {len(one.found)} found")
        for file in one.found[:10]:
            with contextlib.suppress(OSError):
                print(f"  {file}: {(given.found / file).read_text().strip().splitlines()[-1][:200]}")
    print(f"{sum(one.tried for one in tallies.values())} inputs, {sum(len(one.found) for one in tallies.values())} found")
    return 1 if any(one.found for one in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
