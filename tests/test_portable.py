"""Calls that only some systems have: the way from a photograph to a handed-over case is walked without them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_POSIX = """
import importlib.abc, os, signal, subprocess, sys, tempfile
import numpy, scipy.optimize, scipy.spatial, cv2, numba, onnxruntime, psutil, PIL.Image, filelock
import pypdfium2  # like those before, it has code for each system
ABSENT = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"}
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT:
            raise ImportError(f"there is no {name} here", name=name)
sys.meta_path.insert(0, Absent())
for name in ABSENT:
    sys.modules.pop(name, None)
for name in (
    "fork forkpty O_NOFOLLOW O_DIRECTORY O_CLOEXEC getuid geteuid getgid getegid fchmod fchown chown wait3 wait4 "
    "nice uname getloadavg mkfifo killpg setsid sched_getaffinity sched_setaffinity getpgid posix_fallocate"
).split():
    if hasattr(os, name):
        delattr(os, name)
for name in "SIGALRM alarm setitimer SIGKILL SIGHUP SIGUSR1 SIGCHLD pause".split():
    if hasattr(signal, name):
        delattr(signal, name)
os.supports_dir_fd = set()
if sys.argv[1] == "probe":
    try:
        import fcntl
    except ImportError:
        sys.exit(0 if not hasattr(os, "O_NOFOLLOW") else 3)
    sys.exit(4)
from jigsawnet.cli import main_code
from jigsawnet.io import places
assert not places._CAN_HOLD
for words in "\\n".join(sys.argv[1:]).split("\\nthen\\n"):
    code = main_code(words.split("\\n"))
    if code:
        sys.exit(f"{words}: {code}")
"""


def run(*commands: list[str], script: str = WITHOUT_POSIX) -> subprocess.CompletedProcess[str]:
    words = [word for command in commands for word in ("then", *command)][1:]
    return subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.skipif(os.name != "posix", reason="there is nothing to take away")
def test_what_is_taken_away_is_gone() -> None:
    assert run(["probe"]).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is nothing to take away")
def test_from_a_photograph_to_a_case_without_the_calls_of_posix(tmp_path: Path) -> None:
    def way(folder: Path) -> list[list[str]]:
        return [
            ["shred", str(ROOT / "examples" / "photo.jpg"), "-o", str(folder / "pieces"), "--pieces", "4", "--seed", "1"],
            ["solve", str(folder / "pieces"), "-o", str(folder / "out"), "--memory-limit", "8GB"],
            ["solve", str(folder / "pieces"), "-o", str(folder / "out"), "--tiff"],
            ["eval", str(folder / "out"), "--truth", str(folder / "pieces")],
            ["export", str(folder / "out"), "-o", str(folder / "pages"), "--formats", "pdf", "png"],
            ["pack", str(folder / "out"), "-o", str(folder / "case.jigsaw"), "--inputs"],
            ["unpack", str(folder / "case.jigsaw"), "-o", str(folder / "again")],
            ["sheet", "-o", str(folder / "sheet.pdf")],
        ]

    here, there = tmp_path / "without", tmp_path / "with"
    done = run(*way(here))
    assert done.returncode == 0, done.stderr
    plain = "import sys; from jigsawnet.cli import main_code\n" + WITHOUT_POSIX[WITHOUT_POSIX.index("for words in") :]
    done = run(*way(there)[:2], script=plain)
    assert done.returncode == 0, done.stderr
    both = [json.loads((folder / "out" / "assembly.json").read_text(encoding="utf-8")) for folder in (here, there)]
    assert both[0] == both[1]
    assert (here / "again" / "run.json").is_file()
