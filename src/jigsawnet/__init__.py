"""Put torn, shredded or cut pictures and pages together again.

>>> import numpy as np
>>> import jigsawnet as jn
>>> picture = np.random.default_rng(0).integers(0, 255, (12, 16, 3), dtype=np.uint8).repeat(20, 0).repeat(20, 1)
>>> puzzle, truth = jn.shred_images([picture], jn.ShredConfig(pieces=4), np.random.default_rng(1))
>>> assembly = jn.solve(puzzle)
>>> assembly.complete, assembly.unplaced
(True, ())
>>> jn.render(puzzle, assembly).shape[2]
4
>>> jn.evaluate(puzzle, assembly, truth).pcr
1.0

Pieces on disk come in by ``jn.load_puzzle("pieces/")``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from jigsawnet.version import __version__

if TYPE_CHECKING:  # at run time each of these is imported when it is first asked for
    from jigsawnet.candidates import Candidates
    from jigsawnet.config import SolveConfig
    from jigsawnet.context import Context
    from jigsawnet.errors import ConfigError, FormatError, InputError, JigsawNetError, ModelError, OutputError
    from jigsawnet.evaluation.metrics import Metrics, evaluate
    from jigsawnet.geometry import SE2
    from jigsawnet.learned import Learned, load_learned
    from jigsawnet.loading import Loaded, ScanInput, load_input, load_puzzle
    from jigsawnet.pipeline import Solution, solve, solve_puzzle
    from jigsawnet.render.image import render_assembly as render
    from jigsawnet.runs import Request, Run, open_run, solve_run
    from jigsawnet.runs.case import pack_run, unpack_run
    from jigsawnet.runs.export import ExportConfig, Exported, export_pages
    from jigsawnet.shred import ShredConfig, shred_images
    from jigsawnet.stopping import Stop
    from jigsawnet.types import Alignment, Assembly, Constraints, Hint, Join, Piece, Puzzle, RunReport

__all__ = [
    "SE2",
    "Alignment",
    "Assembly",
    "Candidates",
    "ConfigError",
    "Constraints",
    "Context",
    "ExportConfig",
    "Exported",
    "FormatError",
    "Hint",
    "InputError",
    "JigsawNetError",
    "Join",
    "Learned",
    "Loaded",
    "Metrics",
    "ModelError",
    "OutputError",
    "Piece",
    "Puzzle",
    "Request",
    "Run",
    "RunReport",
    "ScanInput",
    "ShredConfig",
    "Solution",
    "SolveConfig",
    "Stop",
    "__version__",
    "evaluate",
    "export_pages",
    "load_input",
    "load_learned",
    "load_puzzle",
    "open_run",
    "pack_run",
    "render",
    "shred_images",
    "solve",
    "solve_puzzle",
    "solve_run",
    "unpack_run",
]

_HOME = {
    "candidates": "Candidates",
    "config": "SolveConfig",
    "context": "Context",
    "errors": "ConfigError FormatError InputError JigsawNetError ModelError OutputError",
    "evaluation.metrics": "Metrics evaluate",
    "geometry": "SE2",
    "learned": "Learned load_learned",
    "loading": "Loaded ScanInput load_input load_puzzle",
    "pipeline": "Solution solve solve_puzzle",
    "render.image": "render",
    "runs": "Request Run open_run solve_run",
    "runs.case": "pack_run unpack_run",
    "runs.export": "ExportConfig Exported export_pages",
    "shred": "ShredConfig shred_images",
    "stopping": "Stop",
    "types": "Alignment Assembly Constraints Hint Join Piece Puzzle RunReport",
}
_MODULE_OF = {name: f"jigsawnet.{module}" for module, names in _HOME.items() for name in names.split()}
_NAME_THERE = {"render": "render_assembly"}


class _Package(ModuleType):
    """The package ``jigsawnet.render`` is not to hide the function `render` when it is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _MODULE_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), _NAME_THERE.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
