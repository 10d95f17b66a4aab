"""The first solve: what a second process compiles is what the solve looks for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from jigsawnet.cli import compiling

SAME_CODE = """
import numpy as np
from jigsawnet.cli.compiling import compile_later_stages
from jigsawnet.compose import intersection, loops, patches, supported
from jigsawnet.pipeline import solve_puzzle
from jigsawnet.refine import seam_sums
from jigsawnet.render import image
from jigsawnet.score import seam_band, seam_path
from jigsawnet.shred import ShredConfig, shred_images

kernels = [seam_path._trace_all, seam_band._render_all, intersection._intersect, loops._close, patches._compare,
           supported._sum_agreeing, seam_sums._sum_pairs, image._add, image._finish]
compile_later_stages()
before = [list(kernel.signatures) for kernel in kernels]
assert all(len(signatures) == 1 for signatures in before), before
rng = np.random.default_rng(5)
picture = rng.integers(0, 255, (9, 12, 3), dtype=np.uint8).repeat(30, 0).repeat(30, 1)
assert solve_puzzle(shred_images([picture], ShredConfig(pieces=9), rng)[0]).assembly.poses
assert [list(kernel.signatures) for kernel in kernels] == before
"""


@pytest.mark.slow
def test_a_solve_needs_no_other_code_than_was_compiled_beside_it() -> None:
    done = subprocess.run([sys.executable, "-c", SAME_CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_second_process_is_started_and_left_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(compiling.subprocess, "Popen", lambda command, **_: started.append(command))
    compiling.compile_beside()
    assert started == [[sys.executable, "-m", "jigsawnet.cli.compiling"]]


def test_where_no_process_can_be_started_the_solve_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("too many processes")

    monkeypatch.setattr(compiling.subprocess, "Popen", refuse)
    compiling.compile_beside()
