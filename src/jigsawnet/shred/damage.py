"""Options of the shredder: what paper, plaster and film suffer, and what camera, scanner and cutting out add to it."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from jigsawnet.errors import ConfigError

_LARGEST = {
    "loss_share": 1.0, "bend": 0.1, "curl": 0.1, "scale": 0.2, "keystone": 0.5, "lens": 0.2, "light": 255.0, "shade": 255.0,
    "yellow": 1.0, "stains": 1.0, "shadow": 1.0, "sharpen": 2.0, "halo_px": 20.0, "blur_px": 20.0, "whiskers": 20.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Damage:
    """What happens to the pieces beyond cuts, erosion and noise; all of it is off by default, and the truth stays exact."""

    loss_px: float = 0.0
    """Deepest bite that is missing along parts of a seam, in px; each side of a seam has bites of its own."""
    loss_share: float = 0.3
    """Part of a piece's outline that has bites; it is tight in between."""
    rough_px: float = 0.0
    """Roughness of the outline at the scale of a pixel, in px."""
    crumble_px: float = 0.0
    """Largest depth of a crumbled corner, in px."""
    fray_px: float = 0.0
    """Deepest loss of print at the very edge of a piece, where bare fibre shows, pixel by pixel, in px."""
    tear_px: float = 0.0
    """Largest width of the bare paper that one side of a tear keeps, which belongs under the other side, in px."""
    curl: float = 0.0
    """How far the middle of a piece bows out sideways from the line between its ends, at most, as a part of its length."""
    bend: float = 0.0
    """Largest shift of a smooth warp of each piece, as a part of its size."""
    scale: float = 0.0
    """Largest difference of a piece's scale from 1."""
    keystone: float = 0.0
    """How much larger things are at the bottom of a photograph of all pieces than at its top, as a part."""
    lens: float = 0.0
    """Shift by the lens at the edge of such a photograph, as a part of the distance from its middle."""
    light: float = 0.0
    """Standard deviation of brightness and tint per piece, in grey levels."""
    shade: float = 0.0
    """Largest change of brightness from the middle of a piece to its edge, in grey levels."""
    yellow: float = 0.0
    """How far the picture has turned yellow and pale, 0 to 1."""
    stains: float = 0.0
    """How much of the picture stains cover, and how dark they are, 0 to 1."""
    folds: int = 0
    """Fold lines across the picture."""
    piece_px: int | None = None
    """Pictures are scaled down until a piece measures so many px; the truth is in px of the smaller picture."""
    backdrop: tuple[int, int, int] = (255, 255, 255)
    """Colour that the pieces lie on when they are scanned, 0 to 255 each."""
    halo_px: float = 0.0
    """How far inside its outline a piece is mixed with the backdrop's colour, in px."""
    blur_px: float = 0.0
    """Blur of the scan, standard deviation in px."""
    sharpen: float = 0.0
    """How much the scanner sharpens, which leaves a seam of the opposite colour beside the halo; 0 to 2."""
    shadow: float = 0.0
    """Darkness of the shadow that pieces throw to one side, 0 to 1."""
    mask_px: float = 0.0
    """How far outside the true outline pieces were cut out, in px; negative: inside."""
    whiskers: float = 0.0
    """Mean number of hairs and scraps of background that were cut out with a piece."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float | int) and field.name not in ("mask_px", "piece_px"):
                check_range(field.name, value, _LARGEST.get(field.name, math.inf))
        if not abs(self.mask_px) <= 20:
            raise ConfigError(f"mask_px is {self.mask_px}; it must be between -20 and 20.")
        if self.piece_px is not None and self.piece_px < 20:
            raise ConfigError(f"piece_px is {self.piece_px}; it must be at least 20.")
        if not all(0 <= level <= 255 for level in self.backdrop):
            raise ConfigError("backdrop must be three whole numbers from 0 to 255.")

    @property
    def warps(self) -> bool:
        """Whether pieces are bent, so that no rigid pose is exact and the truth is the best one."""
        return max(self.curl, self.bend, self.scale, self.keystone, self.lens) > 0

    def changed(self) -> dict[str, Any]:
        """The options that are not at their defaults."""
        values = {field.name: (getattr(self, field.name), field.default) for field in dataclasses.fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}


def check_range(name: str, value: float, largest: float) -> None:
    """Refuse a value outside of 0 to ``largest``."""
    if not (0.0 <= value <= largest and math.isfinite(value)):
        limit = f"between 0 and {largest:g}" if math.isfinite(largest) else "0 or more"
        raise ConfigError(f"{name} is {value}; it must be {limit}.")
