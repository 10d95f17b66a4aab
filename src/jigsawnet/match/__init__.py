"""Stage 3: contours → candidate alignments. Three matchers behind one door."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from jigsawnet.errors import ConfigError
from jigsawnet.match.dense import DenseConfig, propose_dense
from jigsawnet.match.tsamoura import TsamouraConfig, propose_tsamoura
from jigsawnet.match.zhang import ZhangConfig, propose_zhang
from jigsawnet.raster import ShapeBank
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Progress, no_progress
from jigsawnet.workers import Workers

__all__ = ["DenseConfig", "MatchConfig", "MatcherName", "TsamouraConfig", "ZhangConfig", "propose_alignments"]

MatcherName = Literal["dense", "zhang", "tsamoura"]


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """How candidate joins are found."""

    per_piece: int = 40
    """Candidates kept per piece."""
    dense: DenseConfig = field(default_factory=DenseConfig)
    zhang: ZhangConfig = field(default_factory=ZhangConfig)
    tsamoura: TsamouraConfig = field(default_factory=TsamouraConfig)

    def __post_init__(self) -> None:
        if self.per_piece < 1:
            raise ConfigError("match.per-piece must be at least 1")


def propose_alignments(
    bank: ShapeBank,
    matcher: MatcherName,
    config: MatchConfig,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> tuple[Alignment, ...]:
    """Candidates between all pairs of pieces, best first, at most ``per_piece`` of each piece.

    The same on all ``workers``, to the bit; None are the cores of this machine. Stopped early, those of the pairs looked at.
    """
    match matcher:
        case "dense":
            return propose_dense(bank, config.per_piece, config.dense, progress, workers, stop)
        case "zhang":
            return propose_zhang(bank, config.per_piece, config.zhang, progress, workers, stop)
        case "tsamoura":
            return propose_tsamoura(bank, config.per_piece, config.tsamoura, progress, workers, stop)
