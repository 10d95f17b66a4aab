"""What a figure depends on beside the puzzle: the machine, the commit, and memory that was used."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import psutil

CLONE = Path(__file__).resolve().parents[2]
"""Folder of the repository when the package is used from a clone; pictures of built-in suites lie below it."""


def describe_machine() -> dict[str, Any]:
    """Processor, cores, memory, system and the versions of the numeric libraries."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def commit_of(folder: Path = CLONE) -> str:
    """The commit of a clone, with ``+`` when files differ from it; empty outside of one."""
    if not (folder / ".git").exists():
        return ""
    try:
        commit = git(folder, "rev-parse", "HEAD")
        return commit + ("+" if git(folder, "status", "--porcelain", "--untracked-files=no", "--", "src") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def git(folder: Path, *words: str) -> str:
    """What a git command prints."""
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout.strip()


def peak_mb() -> float | None:
    """Largest resident memory of this process so far; None where the system does not tell."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - not on Windows

    return resident_mb(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def resident_mb(maxrss: int) -> float:
    """``ru_maxrss`` in MB: it counts bytes on macOS and kilobytes elsewhere."""
    return round(maxrss * (1 if sys.platform == "darwin" else 1024) / 2**20, 1)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        if names:
            return names[0]
    return platform.processor() or "unknown"
