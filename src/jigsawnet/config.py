"""All stage options in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

from jigsawnet.compose import ComposeConfig, ComposerName
from jigsawnet.contours import ContourConfig
from jigsawnet.errors import ConfigError
from jigsawnet.match import MatchConfig, MatcherName
from jigsawnet.refine import RefineConfig
from jigsawnet.score import ScorerName
from jigsawnet.second_round import SecondRoundConfig


@dataclass(frozen=True, slots=True)
class SolveConfig:
    """Options of every stage of a solve."""

    matcher: MatcherName = "dense"
    """Who finds candidate joins. dense: ours; zhang: the JigsawNet paper's polygon matcher; tsamoura: border colours only."""
    scorer: ScorerName | None = None
    """Who says which candidates are right. fit: the matcher itself, from the measured seam; jigsawnet: the paper's boosted
    network, which looks at the stitched pair; seam: our network, which looks along the seam; combined: seam and fit together,
    as one calibrated probability. Left out, it is combined, and fit for the baseline matchers."""
    composer: ComposerName | None = None
    """Who puts pieces together. hlm and glc: the paper's two, by closed loops; best-first: best join first. Left out, it is
    hlm, and best-first for the baseline matchers."""
    min_confidence: float = 0.0
    """Pieces less sure than this are left out rather than put in a doubtful place."""
    contours: ContourConfig = field(default_factory=ContourConfig)
    match: MatchConfig = field(default_factory=MatchConfig)
    compose: ComposeConfig = field(default_factory=ComposeConfig)
    refine: RefineConfig = field(default_factory=RefineConfig)
    second_round: SecondRoundConfig = field(default_factory=SecondRoundConfig)

    def __post_init__(self) -> None:
        if not 0 <= self.min_confidence <= 1:
            raise ConfigError("min-confidence must lie between 0 and 1.")

    @property
    def chosen_scorer(self) -> ScorerName:
        """The scorer asked for, or the default of the matcher."""
        return self.scorer or ("combined" if self.matcher == "dense" else "fit")
