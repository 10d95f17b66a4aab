"""What can be set about composition."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jigsawnet.compose.intersection import HAIR, Overlap
from jigsawnet.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ComposeConfig:
    """How joins are selected."""

    min_score: float = 0.5
    """Joins scored below this never place a piece alone: it is rather left out than put in a wrong place."""
    min_fit: float = 0.0
    """Candidates that the matcher itself rates below this are not used at all."""
    loop_share: float = 0.1
    """Joins scored down to this part of min-score still count in a closed loop whose joins reach min-score on average."""
    loop_px: float = 2.0
    """How far from closed a loop of k joins may be, in px at the middle of a piece, divided by the square root of k. Where
    the sure seams of a puzzle are rough, it is up to twice as much, in px and degrees."""
    loop_deg: float = 1.2
    """How far from closed a loop of k joins may be, in degrees, divided by the square root of k."""
    chords: bool = True
    """A closed loop of four whose opposite pieces a candidate joins, too, does not count: any candidate in the paper's
    hierarchical loop merging, in ours one that splits the loop into two closed triangles. Off: all closed loops count."""
    max_overlap: float = HAIR.share
    """Part of the smaller of two pieces that may lie on the other, deeper than overlap-px. The paper's authors allow 0.1 of its
    whole area, which is this at 0.1 with overlap-px at 0."""
    overlap_px: float = HAIR.free_px
    """Pieces that lie on each other less deep than this do not count as doing so. Where pieces are ragged and the sure seams
    of the puzzle rough, it is up to twice as much, and max-overlap up to four times."""
    max_merges: int = 500
    """Merges that hierarchical loop merging tries on each level (theta_M of the paper)."""
    glc_steps: int = 20_000
    """Steps of the search for loops of greedy loop closing (N of the paper)."""

    def __post_init__(self) -> None:
        for name in ("min_score", "min_fit", "loop_share", "max_overlap"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"compose.{name.replace('_', '-')} must lie between 0 and 1")
        for name in ("loop_px", "loop_deg"):
            if not 0 < getattr(self, name) < math.inf:
                raise ConfigError(f"compose.{name.replace('_', '-')} must be positive")
        for name in ("max_merges", "glc_steps", "overlap_px"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"compose.{name.replace('_', '-')} must not be negative")

    @property
    def overlap(self) -> Overlap:
        """How far one piece may lie on another."""
        return Overlap(self.overlap_px, self.max_overlap)


@dataclass(frozen=True, slots=True)
class SecondRoundConfig:
    """What happens after the first composition."""

    enabled: bool = True
    """Take a second look at left-over pieces, components and implied neighbours."""
    min_candidate: float = 0.005
    """Candidates scored below this are not tried."""
    most_candidates: int = 2000
    """Candidates tried at most, best first."""
    guess: float = 0.1
    """What is left over is placed where several borders meet and all fit closely; and where pieces are ragged, where these
    borders score this much together. Its confidence, often that of a guess, tells how sure that is. 1: neither."""

    def __post_init__(self) -> None:
        if not 0 <= self.min_candidate <= 1 or not 0 <= self.guess <= 1 or self.most_candidates < 0:
            raise ConfigError(
                "second-round.min-candidate and guess must lie between 0 and 1, and most-candidates must not be negative."
            )
