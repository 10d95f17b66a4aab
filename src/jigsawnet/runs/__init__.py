"""Runs in a folder: each finished stage is saved, a run goes on where it was stopped, and can be opened later."""

from __future__ import annotations

from jigsawnet.runs.memory import read_size
from jigsawnet.runs.request import Request
from jigsawnet.runs.results import write_results
from jigsawnet.runs.run import Run, open_run, solve_run

__all__ = ["Request", "Run", "open_run", "read_size", "solve_run", "write_results"]
