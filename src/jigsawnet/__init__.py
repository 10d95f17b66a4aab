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

from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError, FormatError, InputError, JigsawNetError, ModelError, OutputError
from jigsawnet.evaluation.metrics import Metrics, evaluate
from jigsawnet.geometry import SE2
from jigsawnet.loading import load_puzzle
from jigsawnet.pipeline import Solution, solve, solve_puzzle
from jigsawnet.render.image import render_assembly as render
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Alignment, Assembly, Edge, Fragment, Puzzle
from jigsawnet.version import __version__

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
