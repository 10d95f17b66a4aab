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
    from jigsawnet.config import SolveConfig
    from jigsawnet.errors import ConfigError, FormatError, InputError, JigsawNetError, ModelError, OutputError
    from jigsawnet.evaluation.metrics import Metrics, evaluate
    from jigsawnet.geometry import SE2
    from jigsawnet.loading import load_puzzle
    from jigsawnet.pipeline import Solution, solve, solve_puzzle
    from jigsawnet.render.image import render_assembly as render
    from jigsawnet.shred import ShredConfig, shred_images
    from jigsawnet.types import Alignment, Assembly, Edge, Fragment, Puzzle

__all__ = [
    "SE2",
    "Alignment",
    "Assembly",
    "ConfigError",
    "Edge",
    "FormatError",
    "Fragment",
    "InputError",
    "JigsawNetError",
    "Metrics",
    "ModelError",
    "OutputError",
    "Puzzle",
    "ShredConfig",
    "Solution",
    "SolveConfig",
    "__version__",
    "evaluate",
    "load_puzzle",
    "render",
    "shred_images",
    "solve",
    "solve_puzzle",
]

_HOME = {
    "jigsawnet.config": ("SolveConfig",),
    "jigsawnet.errors": (
        "ConfigError",
        "FormatError",
        "InputError",
        "JigsawNetError",
        "ModelError",
        "OutputError",
    ),
    "jigsawnet.evaluation.metrics": (
        "Metrics",
        "evaluate",
    ),
    "jigsawnet.geometry": ("SE2",),
    "jigsawnet.loading": ("load_puzzle",),
    "jigsawnet.pipeline": (
        "Solution",
        "solve",
        "solve_puzzle",
    ),
    "jigsawnet.render.image": ("render",),
    "jigsawnet.shred": (
        "ShredConfig",
        "shred_images",
    ),
    "jigsawnet.types": (
        "Alignment",
        "Assembly",
        "Edge",
        "Fragment",
        "Puzzle",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
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
