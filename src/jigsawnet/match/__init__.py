"""Stage 3: contours → candidate alignments, by the dense window matcher."""

from __future__ import annotations

from dataclasses import dataclass, field

from jigsawnet.errors import ConfigError
from jigsawnet.match.dense import DenseConfig, propose_dense
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Alignment, Progress, no_progress

__all__ = ["DenseConfig", "MatchConfig", "propose_alignments"]


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """How candidate joins are found."""

    per_piece: int = 40
    """Candidates kept per piece."""
    dense: DenseConfig = field(default_factory=DenseConfig)

    def __post_init__(self) -> None:
        if self.per_piece < 1:
            raise ConfigError("match.per-piece must be at least 1")


def propose_alignments(bank: ShapeBank, config: MatchConfig, progress: Progress = no_progress) -> tuple[Alignment, ...]:
    """Candidates between all pairs of pieces, best first, at most ``per_piece`` of each piece."""
    return propose_dense(bank, config.per_piece, config.dense, progress)
