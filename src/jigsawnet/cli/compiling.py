"""The first solve after an installation: a second process compiles what later stages need while the first one matches.

``python -m jigsawnet.cli.compiling`` takes a tiny puzzle, whose candidates are given, through scoring, composing, refining and
painting; numba keeps the compiled loops on disk, where the solve finds them.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import numpy as np

from jigsawnet.candidates import FEATURES, Candidates
from jigsawnet.compose import SecondRoundConfig
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.geometry import pose_row
from jigsawnet.pipeline import Corridor
from jigsawnet.render.image import render_assembly
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.workers import LocalWorkers


def compile_beside() -> None:
    """Start the second process and leave it to itself; where none can be started, the solve compiles everything."""
    command = [sys.executable, "-m", "jigsawnet.cli.compiling"]
    nowhere = subprocess.DEVNULL
    with suppress(OSError):
        subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere)


def compile_later_stages() -> None:
    """Make every later stage run once."""
    picture = np.random.default_rng(0).integers(0, 255, (6, 8, 3), dtype=np.uint8).repeat(30, 0).repeat(30, 1)
    puzzle, truth = shred_images([picture], ShredConfig(pieces=4), np.random.default_rng(0))
    pairs = [(i, j) for i in range(len(puzzle)) for j in range(i + 1, len(puzzle))]
    pose = [pose_row(truth.poses[i].inverse() @ truth.poses[j]) for i, j in pairs]
    measured = np.ones((len(pairs), len(FEATURES)), np.float32)  # so that nothing is measured here: the solve compiles that
    i, j = np.transpose(pairs)
    given = Candidates.make(i, j, pose, measured, fit=1.0)
    walk = Corridor(puzzle, SolveConfig(scorer="seam"), Context(workers=LocalWorkers(1)), given=given)
    walk.get("scored")
    sure = SolveConfig(scorer="fit", second_round=SecondRoundConfig(enabled=False))  # noise scores low: these are composed
    render_assembly(puzzle, walk.changed(sure).get("assembly"))


if __name__ == "__main__":
    compile_later_stages()
