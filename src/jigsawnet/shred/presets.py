"""Named mixtures of damage, at random strength, for training, for suites and for trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from jigsawnet.errors import ConfigError
from jigsawnet.shred.config import ShredConfig
from jigsawnet.shred.damage import Damage

_SPREAD = 0.35
"""A single damage is stronger or weaker than asked for by up to this part."""

Draw = Callable[[float, float], float]
"""From no damage to full damage, at the strength asked for, more or less."""


def preset(name: str, strength: float, rng: np.random.Generator, pieces: int = 36, **options: Any) -> ShredConfig:
    """Options of a damaged puzzle as the world makes them.

    Args:
        name: one of `PRESETS`.
        strength: 0 (clean) to 1 (as bad as it gets); the single damages are drawn around it.
        rng: where they are drawn from.
        pieces: pieces per picture.
        **options: further options of `ShredConfig`, such as ``missing``; they override the preset's own.

    Raises:
        ConfigError: there is no such preset, or the strength is not between 0 and 1.
    """
    if name not in PRESETS:
        raise ConfigError(f"There is no preset {name!r}; use one of {', '.join(PRESETS)}.")
    if not 0.0 <= strength <= 1.0:
        raise ConfigError(f"strength is {strength}; it must be between 0 and 1.")
    if strength == 0.0:
        return ShredConfig(**({"pieces": pieces} | options))

    def draw(clean: float, full: float) -> float:
        share = min(1.0, strength * rng.uniform(1.0 - _SPREAD, 1.0 + _SPREAD))
        return round(clean + share * (full - clean), 3)

    return ShredConfig(**({"pieces": pieces} | PRESETS[name](draw, rng) | options))


def with_preset(config: ShredConfig, name: str, strength: float, rng: np.random.Generator) -> ShredConfig:
    """The preset, with every option of ``config`` that is not at its default instead of the preset's own."""
    default = ShredConfig()
    own = {name: value for name, value in config.record().items() if name != "damage" and value != getattr(default, name)}
    mixed = preset(name, strength, rng, **own)
    return replace(mixed, damage=replace(mixed.damage, **config.damage.changed()))


def _backdrop(rng: np.random.Generator, *colors: tuple[int, int, int]) -> tuple[int, int, int]:
    red, green, blue = np.clip(np.array(colors[int(rng.integers(len(colors)))]) + rng.integers(-4, 5, 3), 0, 255).tolist()
    return red, green, blue


def _either(rng: np.random.Generator, first: float, second: float) -> float:
    return first if rng.random() < 0.5 else second


_STACKED = 0.5
"""Part of the pages that are torn in a stack."""
_WHITE, _BLACK, _GREY, _DESK, _CARD = (255, 255, 255), (8, 8, 8), (128, 128, 128), (150, 115, 80), (252, 200, 50)


def _fresco(draw: Draw, rng: np.random.Generator) -> dict[str, Any]:
    """Broken plaster: bites and crumbled corners, tight in between, a white halo, faded and stained."""
    damage = Damage(
        loss_px=draw(0, 22), loss_share=draw(0.1, 0.25), rough_px=draw(0, 0.8), crumble_px=draw(0, 22),
        halo_px=draw(0.4, 1.4), blur_px=draw(0, 0.5), sharpen=draw(0, 0.6), mask_px=round(rng.uniform(-0.3, 0.9), 2),
        light=draw(0, 5), shade=draw(0, 8), stains=draw(0, 0.5), yellow=draw(0, 0.3), whiskers=draw(0, 0.6),
        backdrop=_backdrop(rng, _WHITE, _WHITE, _WHITE, _BLACK), piece_px=int(rng.integers(120, 260)),
    )  # fmt: skip
    return {"perturbation": 0.09, "tilt_deg": 20.0, "noise": draw(0, 3), "jpeg_quality": int(draw(98, 70)), "damage": damage}


def _torn_photo(draw: Draw, rng: np.random.Generator) -> dict[str, Any]:
    """A photograph torn by hand and scanned: a white rim under the neighbour, a little bent."""
    damage = Damage(
        tear_px=draw(0, 8), rough_px=draw(0, 0.6), crumble_px=draw(0, 4), halo_px=draw(0.4, 1.5), blur_px=draw(0, 0.8),
        bend=draw(0, 0.004), scale=draw(0, 0.004), mask_px=_either(rng, draw(0, 1), draw(0, -1)),
        light=draw(0, 3), shade=draw(0, 5), folds=int(rng.integers(0, 3)), shadow=draw(0, 0.3),
        backdrop=_backdrop(rng, _WHITE, _BLACK, _GREY), piece_px=int(rng.integers(140, 300)),
    )  # fmt: skip
    return {"perturbation": 0.07, "tilt_deg": 20.0, "noise": draw(0, 3), "jpeg_quality": int(draw(98, 70)), "damage": damage}


def _torn_page(draw: Draw, rng: np.random.Generator) -> dict[str, Any]:
    """A printed page torn by hand, at times in a stack: broad rims, yellow paper, a soft scan."""
    damage = Damage(
        tear_px=draw(0, 20), rough_px=draw(0, 0.6), crumble_px=draw(0, 5), halo_px=draw(0.4, 1.5), blur_px=draw(0, 1),
        bend=draw(0, 0.005), mask_px=_either(rng, draw(0, 1.5), draw(0, -1)), yellow=draw(0, 0.8), stains=draw(0, 0.3),
        light=draw(0, 4), shade=draw(0, 8), folds=int(rng.integers(0, 4)), shadow=draw(0, 0.4), whiskers=draw(0, 1),
        backdrop=_backdrop(rng, _BLACK, _GREY, _DESK, (0, 250, 10)), piece_px=int(rng.integers(160, 320)),
    )  # fmt: skip
    return {
        "perturbation": 0.08, "tilt_deg": 20.0, "noise": draw(0, 4), "jpeg_quality": int(draw(98, 65)), "damage": damage,
        "stacked": bool(rng.random() < _STACKED),
    }  # fmt: skip


def _phone(draw: Draw, rng: np.random.Generator) -> dict[str, Any]:
    """Pieces on a table, photographed by hand and cut out by a program."""
    damage = Damage(
        bend=draw(0, 0.01), scale=draw(0, 0.02), keystone=draw(0, 0.04), lens=draw(0, 0.015), rough_px=draw(0, 0.5),
        light=draw(0, 8), shade=draw(0, 14), shadow=draw(0, 0.7), halo_px=draw(0.4, 2), blur_px=draw(0, 1.2),
        mask_px=_either(rng, draw(0, 3), draw(0, -3)), whiskers=draw(0, 3),
        backdrop=_backdrop(rng, _WHITE, _BLACK, _GREY, _DESK), piece_px=int(rng.integers(100, 300)),
    )  # fmt: skip
    return {"noise": draw(0, 7), "jpeg_quality": int(draw(98, 55)), "damage": damage}


def _old_print(draw: Draw, rng: np.random.Generator) -> dict[str, Any]:
    """An old print: yellow, stained, folded, worn at the edges, scanned small."""
    damage = Damage(
        loss_px=draw(0, 6), loss_share=draw(0.1, 0.5), rough_px=draw(0, 0.8), crumble_px=draw(0, 8),
        yellow=draw(0, 1), stains=draw(0, 0.8), folds=int(rng.integers(1, 5)), light=draw(0, 5), shade=draw(0, 6),
        halo_px=draw(0.4, 1.2), blur_px=draw(0, 0.9), mask_px=_either(rng, draw(0, 1), draw(0, -1)),
        backdrop=_backdrop(rng, _WHITE, _BLACK, _GREY), piece_px=int(draw(180, 60)),
    )  # fmt: skip
    worn = {"erosion_px": draw(0, 1.5), "noise": draw(0, 5), "jpeg_quality": int(draw(98, 60))}
    return {"perturbation": 0.06, "damage": damage} | worn


def _strip_cut(draw: Draw, rng: np.random.Generator) -> dict[str, Any]:
    """What comes out of an office shredder: strips with ragged sides, not quite straight, some paper lost at each cut."""
    damage = Damage(
        loss_px=draw(0, 5), loss_share=draw(0.1, 0.5), rough_px=draw(0, 1.2), fray_px=draw(0, 4), curl=draw(0, 0.01),
        bend=draw(0, 0.0005), light=draw(0, 4), shade=draw(0, 6), halo_px=draw(0.3, 1.6), blur_px=draw(0, 1.0),
        sharpen=draw(0, 0.5), mask_px=_either(rng, draw(0, 1.2), draw(0, -1)), shadow=draw(0, 0.3),
        backdrop=_backdrop(rng, _WHITE, _BLACK, _BLACK, _GREY, _CARD),
    )  # fmt: skip
    worn = {"erosion_px": draw(0, 1.0), "noise": draw(0, 5), "jpeg_quality": int(draw(98, 65))}
    return {"strips": True, "tilt_deg": 1.0, "perturbation": draw(0, 0.05), "damage": damage} | worn


def _cross_cut(draw: Draw, rng: np.random.Generator) -> dict[str, Any]:
    """What comes out of a cross-cut shredder: chads, cut as strips are, and across."""
    return _strip_cut(draw, rng) | {"strips": False, "chads": float(rng.uniform(5.5, 10.0)), "tilt_deg": 0.3}


PRESETS: dict[str, Callable[[Draw, np.random.Generator], dict[str, Any]]] = {
    "fresco": _fresco, "torn-photo": _torn_photo, "torn-page": _torn_page, "phone": _phone, "old-print": _old_print,
    "strip-cut": _strip_cut, "cross-cut": _cross_cut,
}  # fmt: skip
"""Mixtures of damage by name."""
