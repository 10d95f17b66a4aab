"""Runs that one can rely on: each finished stage is saved, a run goes on where it was stopped, and can be opened later."""

from __future__ import annotations

from jigsawnet.runs.memory import read_size
from jigsawnet.runs.opening import open_run
from jigsawnet.runs.request import Request
from jigsawnet.runs.results import write_results
from jigsawnet.runs.run import Run
from jigsawnet.runs.solve import solve_run

__all__ = ["Request", "Run", "open_run", "read_size", "solve_run", "write_results"]
