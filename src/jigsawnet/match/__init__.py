"""Stage 3: contours → candidate alignments. Three matchers behind one door."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from jigsawnet.errors import ConfigError
from jigsawnet.match.dense import DenseConfig, choose_candidates, measure_pairs, propose_dense
from jigsawnet.match.measured import Known, Measured, Scales
from jigsawnet.match.tsamoura import TsamouraConfig, propose_tsamoura
from jigsawnet.match.zhang import ZhangConfig, propose_zhang
from jigsawnet.raster import ShapeBank
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Progress, no_progress
from jigsawnet.workers import Workers

__all__ = [
    "DenseConfig",
    "Known",
    "MatchConfig",
    "MatcherName",
    "Measured",
    "Proposed",
    "Scales",
    "TsamouraConfig",
    "ZhangConfig",
    "propose_alignments",
    "propose_with_known",
]

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


@dataclass(frozen=True, slots=True, eq=False)
class Proposed:
    """Candidates, and what to keep for when pieces are added: None from the baseline matchers, and after an early stop."""

    alignments: tuple[Alignment, ...]
    kept: Known | None
    new_pairs: int


def propose_with_known(
    bank: ShapeBank,
    contour_step_px: float,
    matcher: MatcherName,
    config: MatchConfig,
    known: Known | None,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> Proposed:
    """As `propose_alignments`; the dense matcher looks only at pairs with a piece that is not ``known``.

    The candidates are exactly those that all pairs give with the scales of what is known. What is known must come from the
    same options and the same pictures; it counts only with a bank of its own step (`build_bank`) and while the median
    perimeter stays within a tenth, else all pairs are matched again. The baseline matchers match all pairs again.
    """
    if matcher != "dense":
        found = propose_alignments(bank, matcher, config, progress, workers, stop)
        return Proposed(found, None, len(bank) * (len(bank) - 1) // 2)
    measured = measure_pairs(bank, contour_step_px, config.dense, known, progress, workers, stop)
    candidates = choose_candidates(bank, measured.rows, config.per_piece, config.dense)
    return Proposed(candidates, measured.kept, measured.new_pairs)
