"""What can be set about matching."""

from __future__ import annotations

from dataclasses import dataclass

from jigsawnet.errors import ConfigError
from jigsawnet.options import group


@dataclass(frozen=True, slots=True)
class VerifyConfig:
    """How seeds are refined and seams are measured."""

    radii_px: tuple[float, ...] = (8.0, 6.0, 4.0, 3.0, 2.5, 2.5)
    """Reach of the nearest-border search in each ICP step."""
    tight_px: float = 1.0
    """Borders this close run together tightly."""
    loose_px: float = 2.5
    """Borders this close still belong to the seam."""
    free_overlap_px: float = 2.5
    """Penetration up to this depth is normal along a seam."""


@dataclass(frozen=True, slots=True)
class RaggedConfig:
    """How the dense matcher looks at puzzles whose borders agree only in part."""

    enabled: bool = True
    """Look again, more closely, when too few pieces have a seam that fits without doubt."""
    windows: tuple[float, ...] = (0.22, 0.14, 0.08, 0.05)
    """Window lengths, as parts of the median perimeter."""
    seeds_per_pair: int = 10
    """Rough poses verified for a pair of pieces, in each pass."""
    per_pair: int = 6
    """Candidates kept for a pair of pieces."""

    def __post_init__(self) -> None:
        if not self.windows or min(self.windows) <= 0 or max(self.windows) >= 1:
            raise ConfigError("match.dense.ragged.windows must lie between 0 and 1")
        if self.seeds_per_pair < 1 or self.per_pair < 1:
            raise ConfigError("match.dense.ragged options must be positive")


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """With which others a piece is compared closely where there are many pieces."""

    above: int = 150
    """Pieces of a puzzle up to which all pairs are compared."""
    partners: tuple[int, ...] = (12, 40, 160)
    """Likeliest partners that each piece is compared with; the later numbers are for pieces that are not explained by then."""
    explained: tuple[float, ...] = (0.85, 0.6)
    """Parts of its border that seams without doubt must take for a piece to be explained, before each later number."""
    ragged_partners: int = 120
    """Likeliest partners of each piece in a ragged puzzle."""

    def __post_init__(self) -> None:
        if self.above < 2 or not self.partners or min(self.partners) < 1 or self.ragged_partners < 1:
            raise ConfigError("match.dense.retrieval options must be positive, and above at least 2")
        if len(self.explained) != len(self.partners) - 1 or not all(0 <= share <= 1 for share in self.explained):
            raise ConfigError(
                "match.dense.retrieval.explained must have a part between 0 and 1 for each later number of partners"
            )


@dataclass(frozen=True, slots=True)
class DenseConfig:
    """How the dense matcher looks at borders."""

    windows: tuple[float, ...] = (0.22, 0.14, 0.08)
    """Window lengths, as parts of the median perimeter."""
    color_lab: tuple[float, ...] = (0.0, 8.0)
    """Lab distance that counts as much as a pixel; one pass for each, 0 is a pass without colour."""
    seeds_per_pair: int = 6
    """Rough poses verified for a pair of pieces, in each pass."""
    per_pair: int = 4
    """Candidates kept for a pair of pieces."""
    retrieval: RetrievalConfig = group(RetrievalConfig)
    ragged: RaggedConfig = group(RaggedConfig)
    verify: VerifyConfig = group(VerifyConfig)

    def __post_init__(self) -> None:
        if not self.windows or min(self.windows) <= 0 or max(self.windows) >= 1:
            raise ConfigError("match.dense.windows must lie between 0 and 1")
        if not self.color_lab or min(self.color_lab) < 0 or self.seeds_per_pair < 1 or self.per_pair < 1:
            raise ConfigError("match.dense options must be positive")


@dataclass(frozen=True, slots=True)
class ZhangConfig:
    """How the polygon matcher works; pixel lengths grow with the contour step when that is above 3 px."""

    tolerance_px: float = 2.0
    """Step 1: a border is split where it leaves its polygon by more than this."""
    split_lab: float = 20.0
    """Step 1: a segment is split where the mean Lab colours before and after differ by more than this."""
    shortest_px: float = 12.0
    """Step 1: a colour split leaves at least this much border on each side. Step 2: shorter segments are not matched."""
    length_ratio: float = 0.5
    """Step 2: segments are matched only when the shorter has at least this part of the longer one's length."""
    segment_lab: float = 25.0
    """Step 2: segments are matched only when their mean Lab colours differ by less than this."""
    matches_per_pair: int = 12
    """Step 2: good segment matches of a pair of pieces that are refined."""
    rough_px: float = 6.0
    """Step 2: borders this close count as aligned before the refinement."""
    aligned_px: float = 1.5
    """Step 4: borders this close are well aligned."""
    aligned_lab: float = 8.0
    """Steps 2 and 4: Lab distance up to which pixels across the seam have similar colour."""
    max_overlap: float = 0.03
    """A candidate is dropped when more than this part of the smaller piece lies inside the other."""
    verify: VerifyConfig = group(VerifyConfig)

    def __post_init__(self) -> None:
        positive = (self.tolerance_px, self.split_lab, self.shortest_px, self.segment_lab, self.rough_px, self.aligned_px)
        if min(positive) <= 0 or self.aligned_lab <= 0 or self.matches_per_pair < 1:
            raise ConfigError("match.zhang options must be positive")
        if not 0 < self.length_ratio <= 1 or not 0 <= self.max_overlap <= 1:
            raise ConfigError("match.zhang.length-ratio and match.zhang.max-overlap must lie between 0 and 1")


@dataclass(frozen=True, slots=True)
class TsamouraConfig:
    """How the colour matcher compares borders."""

    palette: int = 32
    """Colours that borders are reduced to."""
    retrieved: float = 0.5
    """Part of the other pieces that a piece is compared with, those most alike in border colours; at least 8 pieces."""
    alike_lab: float = 4.0
    """Lab distance of two palette colours from which on they count against a match."""
    gap: float = 2.0
    """Cost of leaving out one border sample; a match of two samples of one colour earns 1 on average."""
    runs_per_pair: int = 6
    """Common subsequences kept for a pair of pieces."""
    min_matches: int = 6
    """Border samples that a common subsequence must pair."""
    max_overlap_px: float = 6.0
    """Deepest penetration of one piece into the other that is still accepted."""
    verify: VerifyConfig = group(VerifyConfig)

    def __post_init__(self) -> None:
        if not 1 <= self.palette <= 256:
            raise ConfigError("match.tsamoura.palette must lie between 1 and 256")
        if not 0 <= self.retrieved <= 1:
            raise ConfigError("match.tsamoura.retrieved must lie between 0 and 1")
        if self.alike_lab <= 0 or self.gap < 0 or self.runs_per_pair < 1 or self.min_matches < 2 or self.max_overlap_px <= 0:
            raise ConfigError("match.tsamoura options must be positive, and min-matches at least 2")


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """How candidate joins are found."""

    per_piece: int = 40
    """Candidates kept per piece."""
    strips: bool = True
    """Where pieces are long and narrow, as a shredder leaves them, match their long sides by what is printed along them; for
    the dense matcher."""
    printed: bool = True
    """Where ragged pieces show lines of print, try the shifts at which the lines run on; for the dense matcher."""
    dense: DenseConfig = group(DenseConfig)
    zhang: ZhangConfig = group(ZhangConfig)
    tsamoura: TsamouraConfig = group(TsamouraConfig)

    def __post_init__(self) -> None:
        if self.per_piece < 1:
            raise ConfigError("match.per-piece must be at least 1")
