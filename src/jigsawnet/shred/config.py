"""Options of the shredder."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from jigsawnet.errors import ConfigError
from jigsawnet.shred.damage import Damage, check_range


@dataclass(frozen=True, slots=True)
class ShredConfig:
    """How pictures are cut, and what the pieces suffer afterwards."""

    pieces: int = 36
    """Pieces per picture; the nearest number that a grid of well-shaped cells can give."""
    cuts: int | None = None
    """Instead of a grid: this many cuts through the picture, each in any direction."""
    strips: bool = False
    """Cut along the longer side only, into long strips, as a paper shredder does."""
    chads: float | None = None
    """Cut into upright pieces this many times longer than wide, as a cross-cut shredder does."""
    stacked: bool = False
    """Torn in a stack: rows of the grid lie on each other while they are parted, so the cuts of one are those of all."""
    tilt_deg: float = 10.0
    """Largest random tilt of a grid cut, in degrees; less where neighbouring cuts would meet."""
    perturbation: float = 0.04
    """Standard deviation of the wiggle along a cut, as a part of a piece's shorter side; 0 gives straight cuts."""
    rotate: bool = True
    """Turn every piece by a random angle."""
    missing: float = 0.0
    """Part of all pieces that is lost; two always remain."""
    erosion_px: float = 0.0
    """Paper lost all around each piece, in px."""
    rim_px: float = 0.0
    """Largest width of the torn white rim on one side of each cut, in px."""
    color_shift: float = 0.0
    """Standard deviation of a change of brightness and tint per piece, in grey levels."""
    noise: float = 0.0
    """Standard deviation of the sensor noise, in grey levels."""
    jpeg_quality: int | None = None
    """Quality, 1 to 100, at which each piece was once stored as JPEG."""
    damage: Damage = dataclasses.field(default_factory=Damage)
    """What else happens to the pieces, and what the scan and cutting out add."""

    def __post_init__(self) -> None:
        if self.pieces < 2:
            raise ConfigError(f"pieces is {self.pieces}; a puzzle needs at least 2.")
        if self.cuts is not None and self.cuts < 1:
            raise ConfigError(f"cuts is {self.cuts}; at least 1 is needed.")
        if self.cuts is not None and self.strips:
            raise ConfigError("cuts and strips exclude each other; for strips, give the number of pieces.")
        if self.chads is not None and (self.cuts is not None or self.strips or not 1.0 <= self.chads <= 50.0):
            raise ConfigError("chads are 1 to 50 times longer than wide, and exclude cuts and strips.")
        if self.stacked and (self.cuts is not None or self.strips):
            raise ConfigError("stacked tears the rows of a grid; it excludes cuts and strips.")
        if self.jpeg_quality is not None and not 1 <= self.jpeg_quality <= 100:
            raise ConfigError(f"jpeg_quality is {self.jpeg_quality}; it must lie between 1 and 100.")
        check_range("tilt_deg", self.tilt_deg, 45.0)
        check_range("perturbation", self.perturbation, 0.5)
        check_range("missing", self.missing, 1.0)
        check_range("erosion_px", self.erosion_px, math.inf)
        check_range("rim_px", self.rim_px, math.inf)
        check_range("color_shift", self.color_shift, 255.0)
        check_range("noise", self.noise, 255.0)

    @property
    def gap_px(self) -> float:
        """How far apart two pieces lie in the truth where their seam is tight, in px."""
        return 2.0 * (self.erosion_px + max(0.0, -self.damage.mask_px))

    def record(self) -> dict[str, Any]:
        """The options as plain data, for keys and files; chads, stacked and damage only where not at their defaults."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "damage"}
        for name, default in (("chads", None), ("stacked", False)):
            if values[name] == default:
                del values[name]
        changed = self.damage.changed()
        return values | ({"damage": changed} if changed else {})
