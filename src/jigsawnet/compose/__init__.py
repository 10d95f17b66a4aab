"""Stage 6: multigraph → Assembly (Section V of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jigsawnet.compose.best_first import compose_best_first
from jigsawnet.compose.config import ComposeConfig, ComposerName
from jigsawnet.compose.constraints import prepare_problem
from jigsawnet.compose.greedy_loops import compose_greedy_loops
from jigsawnet.compose.hierarchical import compose_hierarchical
from jigsawnet.compose.problem import Clock, OnSnapshot, finish_assembly
from jigsawnet.raster import ShapeBank
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Constraints, MatchGraph, Progress, no_progress

__all__ = ["ComposeConfig", "ComposerName", "OnSnapshot", "compose"]


def compose(
    graph: MatchGraph,
    bank: ShapeBank,
    composer: ComposerName,
    config: ComposeConfig,
    *,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen and empty
    seed: int = 0,
    stop: Stop | None = None,
    progress: Progress = no_progress,
    on_snapshot: OnSnapshot | None = None,
    names: Sequence[str] | None = None,
) -> Assembly:
    """Select joins and place the pieces; several components and unplaced pieces are normal results.

    The result depends on the seed (`glc` only) and not on the order of the edges. When ``stop`` is over, the best
    assembly so far is returned. ``on_snapshot`` is shown the groups while they grow; ``names`` of the pieces are for errors.

    Raises:
        InputError: the constraints contradict each other.
    """
    problem = prepare_problem(graph, bank, constraints, names)
    clock = Clock(stop or Stop(), progress, on_snapshot)
    if composer == "best-first":
        groups = compose_best_first(problem, config, clock)
    elif composer == "glc":
        groups = compose_greedy_loops(problem, config, clock, np.random.default_rng(seed))
    elif composer == "hlm":
        groups = compose_hierarchical(problem, config, clock)
    else:
        raise ValueError(f"there is no composer {composer!r}")
    return finish_assembly(problem, groups)
