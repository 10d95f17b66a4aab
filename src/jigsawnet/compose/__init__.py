"""Stage 5: scored candidates → Assembly (Section V of the paper). Composers by name; other packages can add theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.baselines import compose_tsamoura, compose_zhang
from jigsawnet.compose.best_first import compose_best_first
from jigsawnet.compose.blocks import join_blocks
from jigsawnet.compose.chads import compose_chads
from jigsawnet.compose.chains import compose_chains
from jigsawnet.compose.components import Components
from jigsawnet.compose.config import ComposeConfig, SecondRoundConfig
from jigsawnet.compose.constraints import prepare_problem
from jigsawnet.compose.greedy_loops import compose_greedy_loops
from jigsawnet.compose.grid import GridScores
from jigsawnet.compose.hierarchical import compose_hierarchical
from jigsawnet.compose.intersection import allowed_overlap, placements_intersect
from jigsawnet.compose.loops import Tolerance
from jigsawnet.compose.paper_glc import compose_paper_glc
from jigsawnet.compose.paper_hlm import compose_paper_hlm
from jigsawnet.compose.problem import Pace, Problem, finish_assembly
from jigsawnet.compose.second_round import Evidence, SecondRoundStats, second_round
from jigsawnet.context import Context
from jigsawnet.registry import Registry
from jigsawnet.types import Assembly, Constraints, FloatArray

__all__ = [
    "Components",
    "ComposeConfig",
    "Evidence",
    "GridScores",
    "Pace",
    "Problem",
    "SecondRoundConfig",
    "SecondRoundStats",
    "Tolerance",
    "compose",
    "compose_chads",
    "composers",
    "free_places",
    "join_blocks",
    "second_round",
]  # fmt: skip

Composer = Callable[[Problem, ComposeConfig, Pace, np.random.Generator], Components]
"""Selects joins and places the pieces; when the pace is over, it gives what it has."""

composers: Registry[Composer] = Registry("composer")
composers.register("best-first", compose_best_first)
composers.register("chains", compose_chains)
composers.register("glc", compose_greedy_loops)
composers.register("hlm", compose_hierarchical)
composers.register("paper-glc", compose_paper_glc)
composers.register("paper-hlm", compose_paper_hlm)
composers.register("zhang", compose_zhang)
composers.register("tsamoura", compose_tsamoura)


def compose(
    rows: Candidates,
    borders: Borders,
    composer: str,
    config: ComposeConfig,
    context: Context,
    *,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen and empty
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> Assembly:
    """Select joins and place the pieces; several components and unplaced pieces are normal results.

    ``rows`` are scored, best first. The result depends on the seed with `glc`, `paper-glc` and `paper-hlm` only. When the stop
    is over, the best assembly so far is returned. ``names`` of the pieces are for errors.

    Raises:
        InputError: the constraints contradict each other.
    """
    rows = rows.take(rows.fit >= config.min_fit) if config.min_fit > 0 else rows
    overlap = allowed_overlap(config.overlap, rows, borders)
    config = replace(config, overlap_px=overlap.free_px, max_overlap=overlap.share)
    problem = prepare_problem(rows, borders, constraints, names, overlap)
    return finish_assembly(problem, composers[composer](problem, config, Pace(context), np.random.default_rng(seed)))


def free_places(
    rows: Candidates, borders: Borders, constraints: Constraints, config: ComposeConfig
) -> tuple[Candidates, Callable[[FloatArray, FloatArray], bool]]:
    """What a person leaves of scored candidates, and whether pieces may lie beside others as rows ``(K, 4)`` in one frame."""
    said = Constraints(forbidden=constraints.forbidden, aside=constraints.aside, hints=constraints.hints)
    problem = prepare_problem(rows, borders, said, overlap=allowed_overlap(config.overlap, rows, borders))

    def is_free(fixed: FloatArray, moving: FloatArray) -> bool:
        return not placements_intersect(borders, fixed, moving, problem.overlap)

    return problem.rows, is_free
