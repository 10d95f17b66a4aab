"""The fuzzing that ``make fuzz`` goes on with: some inputs for each reader, and that it would notice what is wrong."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import struct
import subprocess
import sys
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import NoReturn

import pytest

pytest.importorskip("resource", reason="limits of a process")

from fuzzing import run
from fuzzing.corpus import CORPUS
from fuzzing.mutate import png_changed, zip_changed
from fuzzing.targets import TARGETS, Target, seeds_of

every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
PLAIN = TARGETS["color"]
ROOT = Path(__file__).parents[2]


@every_target
def test_what_it_starts_from_can_be_read(target: Target, tmp_path: Path) -> None:
    if target.name == "bundle":
        pytest.skip("it starts from the weights of the package")
    read = target.prepare(tmp_path)
    for seed in seeds_of(target):
        read(seed)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs to know what it holds")
def test_changed_files_are_read_or_refused_in_words(tmp_path: Path) -> None:
    paths = os.pathsep.join([str(ROOT / "tests" / "helpers"), str(ROOT / "src")])
    command = [sys.executable, "-m", "fuzzing.run", "--inputs", "3000", "--round", "60", "--found", str(tmp_path / "found")]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if " inputs, " in line and " found" in line][:-1]
    assert [row[0] for row in rows] == [*TARGETS]
    for name, tried, _, read, _, refused, *_ in rows:
        assert int(tried) > 5
        assert int(refused) > 0 or name == "undone", name  # what was undone and cannot be read is forgotten
        assert int(read) > 0 or int(tried) < 30, f"{name}: whatever is refused at the door, what lies behind it is not tried"


def _fails(_: bytes) -> NoReturn:
    raise ZeroDivisionError


def _dies(_: bytes) -> NoReturn:
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


def _hangs(_: bytes) -> NoReturn:
    while True:
        pass


def _swells(_: bytes) -> None:
    bytearray(3 * 2**30)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs to know what it holds")
@pytest.mark.parametrize(
    ("read", "words"), [(_fails, "ZeroDivisionError"), (_dies, "SIGSEGV"), (_hangs, "more than 10 s"), (_swells, "MemoryError")]
)
def test_a_reader_that_breaks_its_promise_is_found(
    read: object, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MOST_SECONDS", 0.05)
    broken = dataclasses.replace(PLAIN, prepare=lambda _: read)  # type: ignore[arg-type, return-value]
    tally = run.fuzz(broken, 1, 0, 2, tmp_path, tmp_path / "found")
    assert tally.tried == 2
    assert len(tally.found) == 2
    assert words in (tmp_path / "found" / tally.found[0]).read_text()
    assert (tmp_path / "found" / tally.found[0]).with_suffix(".bin").read_bytes() == run.input_of(
        broken, seeds_of(broken), 1, 0
    )


def test_the_same_seed_gives_the_same_inputs() -> None:
    seeds = seeds_of(PLAIN)
    first, again, other = (
        [run.input_of(PLAIN, seeds, seed, number) for number in range(20)] for seed in (1, 1, 2)
    )  # fmt: skip
    assert first == again != other


def test_checksums_are_right_after_a_change() -> None:
    draw, right = random.Random(1), 0
    png = [path.read_bytes() for path in sorted((CORPUS / "png").iterdir())]
    stages = [path.read_bytes() for path in sorted((CORPUS / "stage").iterdir())]
    for _ in range(60):
        right += _has_right_sums(png_changed(png, draw))
        try:
            with zipfile.ZipFile(BytesIO(zip_changed(stages, draw))) as archive:
                right += archive.testzip() is None
        except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, RuntimeError):
            pass
    assert right > 60


def _has_right_sums(data: bytes) -> bool:
    at = 8
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if data[at + 8 + length : at + 12 + length] != struct.pack(">I", zlib.crc32(kind + body)):
            return False
        at += 12 + length
    return at == len(data)
