"""All stage options in one place."""

from __future__ import annotations

from dataclasses import dataclass

from jigsawnet.compose import ComposeConfig, SecondRoundConfig, composers
from jigsawnet.contours import ContourConfig
from jigsawnet.errors import ConfigError
from jigsawnet.match import MatchConfig, matchers
from jigsawnet.options import group
from jigsawnet.refine import RefineConfig
from jigsawnet.score import scorers


@dataclass(frozen=True, slots=True)
class SolveConfig:
    """Options of every stage of a solve."""

    matcher: str = "dense"
    """Who finds candidate joins. dense: ours; zhang: the JigsawNet paper's polygon matcher; tsamoura: border colours only."""
    scorer: str | None = None
    """Who says which candidates are right. fit: the matcher itself, from the measured seam; jigsawnet: the paper's boosted
    network, which looks at the stitched pair; seam: our network, which looks along the seam; ragged: the same for seams that
    touch only in parts; combined: networks and fit together, as one calibrated probability. Left out, it is
    combined, and fit for the baseline matchers."""
    composer: str | None = None
    """Who puts pieces together. hlm and glc: by closed loops, after the paper; best-first: best join first; paper-hlm and
    paper-glc: the paper's two exactly as it writes them; zhang and tsamoura: those of the baselines. Left out, it is hlm, and
    best-first for the baseline matchers."""
    min_confidence: float = 0.0
    """Pieces less sure than this are left out rather than put in a doubtful place."""
    halo: bool = True
    """Take the background's colour out of the outermost pixels of all pieces, where scanning has left it there."""
    light: bool = True
    """On pages, take out that the paper is darker in some places than in others; the result shows the pictures as they were."""
    contours: ContourConfig = group(ContourConfig)
    match: MatchConfig = group(MatchConfig)
    compose: ComposeConfig = group(ComposeConfig)
    refine: RefineConfig = group(RefineConfig)
    second_round: SecondRoundConfig = group(SecondRoundConfig)

    def __post_init__(self) -> None:
        if not 0 <= self.min_confidence <= 1:
            raise ConfigError("min-confidence must lie between 0 and 1.")

        for name, registry in ((self.matcher, matchers), (self.scorer, scorers), (self.composer, composers)):
            if name is not None:
                registry[name]  # raises in words when there is none

    @property
    def fits_are_ranks(self) -> bool:
        """True when candidates are scored by the fits of a matcher that only rank the candidates of one puzzle."""
        return self.chosen_scorer == "fit" and not matchers[self.matcher].probable

    @property
    def chosen_scorer(self) -> str:
        """The scorer asked for, or the default of the matcher."""
        return self.scorer or ("combined" if matchers[self.matcher].probable else "fit")

    @property
    def chosen_composer(self) -> str:
        """The composer asked for, or the default: ranks are composed greedily."""
        return self.composer or ("best-first" if self.fits_are_ranks else "hlm")

    @property
    def min_score(self) -> float:
        """What the composer asks of a join; of ranks nothing, down to the last candidate."""
        return 0.0 if self.fits_are_ranks else self.compose.min_score
