"""All stage options in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

from jigsawnet.compose import ComposeConfig
from jigsawnet.contours import ContourConfig
from jigsawnet.match import MatchConfig, MatcherName
from jigsawnet.refine import RefineConfig


@dataclass(frozen=True, slots=True)
class SolveConfig:
    """Options of every stage of a solve."""

    matcher: MatcherName = "dense"
    """Who finds candidate joins. dense: ours; zhang: the JigsawNet paper's polygon matcher; tsamoura: border colours only."""
    contours: ContourConfig = field(default_factory=ContourConfig)
    match: MatchConfig = field(default_factory=MatchConfig)
    compose: ComposeConfig = field(default_factory=ComposeConfig)
    refine: RefineConfig = field(default_factory=RefineConfig)
