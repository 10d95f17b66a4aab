"""Stage 6: multigraph → Assembly."""

from __future__ import annotations

from dataclasses import dataclass

from jigsawnet.compose.best_first import compose_best_first
from jigsawnet.errors import ConfigError
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Assembly, MatchGraph, Progress, no_progress

__all__ = ["ComposeConfig", "compose"]


@dataclass(frozen=True, slots=True)
class ComposeConfig:
    """How joins are selected."""

    min_score: float = 0.5
    """Joins scored below this never place a piece: it is rather left out than put in a wrong place."""

    def __post_init__(self) -> None:
        if not 0 <= self.min_score <= 1:
            raise ConfigError("compose.min-score must lie between 0 and 1")


def compose(graph: MatchGraph, bank: ShapeBank, config: ComposeConfig, progress: Progress = no_progress) -> Assembly:
    """Select joins and place the pieces; several components and unplaced pieces are normal results."""
    return compose_best_first(graph, bank, config.min_score, progress)
