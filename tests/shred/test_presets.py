from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from damage_cases import damaged, ramp_picture
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from jigsawnet.cli.shred import PresetName
from jigsawnet.errors import ConfigError
from jigsawnet.shred import PRESETS, Damage, ShredConfig, preset, shred_images, with_preset

by_name = pytest.mark.parametrize("name", PRESETS)


@by_name
def test_no_strength_is_clean_and_more_strength_is_more_damage(name: str) -> None:
    assert preset(name, 0.0, np.random.default_rng(0), pieces=12) == ShredConfig(pieces=12)
    weak, strong = (preset(name, strength, np.random.default_rng(1)) for strength in (0.2, 1.0))
    assert strong.damage.halo_px > weak.damage.halo_px
    assert strong.noise > weak.noise
    assert strong.jpeg_quality is not None
    assert weak.jpeg_quality is not None
    assert strong.jpeg_quality < weak.jpeg_quality


@by_name
def test_same_seed_same_puzzle_and_another_seed_another(name: str) -> None:
    picture = np.kron(ramp_picture(), np.ones((2, 2, 1), np.uint8))

    def make(seed: int) -> list[np.ndarray]:
        config = replace(preset(name, 0.8, np.random.default_rng(seed), pieces=4))
        puzzle, truth = shred_images([picture], config, np.random.default_rng(seed))
        return [*(piece.image for piece in puzzle.pieces), *(truth.poses[k].matrix() for k in range(len(puzzle)))]

    first, again, other = make(3), make(3), make(4)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=False))


@given(seed=st.integers(0, 2**32 - 1), strength=st.floats(0.0, 1.0), name=st.sampled_from(sorted(PRESETS)))
@settings(max_examples=12, deadline=None)
def test_every_preset_gives_whole_pieces_with_a_truth(seed: int, strength: float, name: str) -> None:
    picture = np.kron(ramp_picture(), np.ones((2, 2, 1), np.uint8))
    config = preset(name, strength, np.random.default_rng(seed), pieces=6)
    puzzle, truth = shred_images([picture], config, np.random.default_rng(seed))
    assert truth.complete
    for piece in puzzle.pieces:
        assert ndimage.label(piece.mask)[1] == 1
        assert not piece.image[~piece.mask].any()
        assert not piece.mask[:5].any()


def test_own_options_override_those_of_a_preset() -> None:
    own = ShredConfig(pieces=9, missing=0.1, noise=11.0, damage=Damage(halo_px=2.5))
    mixed = with_preset(own, "fresco", 0.5, np.random.default_rng(0))
    assert (mixed.pieces, mixed.missing, mixed.noise, mixed.damage.halo_px) == (9, 0.1, 11.0, 2.5)
    assert mixed.damage.loss_px > 0


def test_unknown_presets_and_strengths_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"no preset 'frisco'; use one of fresco, torn-photo"):
        preset("frisco", 0.5, np.random.default_rng(0))
    with pytest.raises(ConfigError, match=r"strength is 1\.5"):
        preset("fresco", 1.5, np.random.default_rng(0))


def test_damage_leaves_cuts_and_turns_as_they_are() -> None:
    clean, truth = damaged(Damage(), 7)
    _, hurt_truth = damaged(Damage(halo_px=1.0, loss_px=5.0), 7)
    for idx in range(len(clean)):
        assert truth.poses[idx].theta == pytest.approx(hurt_truth.poses[idx].theta)


def test_plain_data_of_a_config_holds_damage_only_where_there_is_some() -> None:
    assert "damage" not in ShredConfig(pieces=9).record()
    assert ShredConfig(damage=Damage(halo_px=1.0)).record()["damage"] == {"halo_px": 1.0}


def test_the_command_offers_every_preset() -> None:
    assert get_args(PresetName) == tuple(PRESETS)
