"""The networks that look along strips: what they are trained by, and that an interrupted training goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from jigsawnet.learned import read_network
from jigsawnet.match.strips import ROW_PX
from jigsawnet.shred.documents import Typefaces
from jigsawnet.strips import INSIDE_PX, OUTSIDE_PX
from jigsawnet.training import strokes
from jigsawnet.training.cuts import cut_example, draw_shredding, pack
from jigsawnet.training.strokes_config import StrokesConfig
from jigsawnet.training.strokes_network import VECTOR, SideNetwork, SidePair, contrast
from jigsawnet.types import UInt8Array

WIDTH = OUTSIDE_PX + INSIDE_PX


class Given(nn.Module):
    """A network that says what it is given."""

    def forward(self, vectors: Tensor) -> Tensor:
        return vectors


def pair_of_given() -> SidePair:
    pair = SidePair()
    pair.right, pair.left = Given(), Given()  # type: ignore[assignment]
    with torch.no_grad():
        pair.log_scale.zero_()
    return pair


def vectors(cuts: int, rows: int = 24) -> Tensor:
    return torch.randn(cuts, rows, 16, generator=torch.Generator().manual_seed(0))


def test_right_neighbours_cost_less_than_wrong_ones() -> None:
    right = vectors(5)
    good = contrast(pair_of_given(), right, right, [0, 3], 24)
    bad = contrast(pair_of_given(), right, right.roll(1, 0), [0, 3], 24)
    assert bad > 10 * good


def test_a_slide_is_wrong_too() -> None:
    right = vectors(5)
    slid = contrast(pair_of_given(), right, right.roll(3, 1), [0, 3], 24)
    assert slid > 5, "the neighbour itself, three rows off, must not win"


def test_evidence_of_nothing_costs_what_ignorance_costs() -> None:
    nothing = torch.zeros(4, 24, 16)
    loss = contrast(pair_of_given(), nothing, nothing, [0, 3], 24)
    assert loss.item() == pytest.approx(np.log(8) + 2 * np.log(2), rel=1e-5)


def test_evidence_is_summed_over_segments() -> None:
    right = 0.1 * vectors(4, 48)
    whole, half = (contrast(pair_of_given(), right, right, [0], segment) for segment in (48, 24))
    assert whole < half


@pytest.mark.parametrize("rows", [101, 64])
def test_a_vector_stands_for_two_rows(rows: int) -> None:
    found = SideNetwork().eval()(torch.zeros(2, 2, rows, WIDTH))
    assert found.shape == (2, (rows + 1) // ROW_PX, VECTOR)


def fake_page(seed: int) -> UInt8Array:
    """Both sides of six cuts, the same noise on both."""
    ink = np.random.default_rng(seed).random((6, 300, 1)).astype(np.float32) * np.ones(WIDTH, np.float32)
    side = np.stack([ink, np.ones_like(ink)], axis=1)
    return pack(np.stack([side, side]))


@pytest.fixture
def pages(tmp_path: Path) -> tuple[list[Path], list[Path]]:
    """Grey pages, and shredded ones."""
    printed, shredded = ([tmp_path / f"{k}.{suffix}" for k in range(3)] for suffix in ("png", "npy"))
    for k in range(3):
        cv2.imwrite(str(printed[k]), np.random.default_rng(k).integers(0, 256, (400, 300), np.uint8))
        np.save(shredded[k], fake_page(k))
    return printed, shredded


def train(
    pages: tuple[list[Path], list[Path]], folder: Path, steps: int, progress: Callable[[str, int, int], None] = lambda *_: None
) -> SidePair:
    config = StrokesConfig(steps=steps, checkpoint_every=2, threads=1)
    return strokes._train(*pages, config, folder, progress)[0]


def test_an_interrupted_training_goes_on_to_the_same_weights(pages: tuple[list[Path], list[Path]], tmp_path: Path) -> None:
    class BrokenOffError(Exception):
        pass

    def interrupt(stage: str, done: int, total: int) -> None:
        if done == 3:
            raise BrokenOffError

    whole = train(pages, tmp_path / "whole", 5)
    with pytest.raises(BrokenOffError):
        train(pages, tmp_path / "parts", 5, interrupt)
    again = train(pages, tmp_path / "parts", 5)
    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


def test_bytes_hold_what_a_band_shows() -> None:
    band = np.zeros((1, 2, 3, WIDTH), np.float32)
    band[0, 0, 0], band[0, 1, :2] = 1.5, 1.0
    seen = strokes.unpack(pack(band)).numpy()
    assert seen == pytest.approx(band, abs=0.01)


def test_print_is_lost_at_the_outer_edge_only() -> None:
    band = torch.ones(40, 2, 50, WIDTH)
    for outer_last in (True, False):
        ink = strokes._varied(band, outer_last, True, np.random.default_rng(0))[:, 0]
        outer, inner = (ink[..., -3:], ink[..., :-6]) if outer_last else (ink[..., :3], ink[..., 6:])
        assert (outer == 0).any()
        assert (inner > 0).all()


def test_what_is_written_can_be_read_and_says_the_same(tmp_path: Path) -> None:
    torch.manual_seed(0)
    pair = SidePair().eval()
    band = torch.rand(1, 2, 61, WIDTH)
    with torch.inference_mode():
        wanted = torch.einsum("byd,byd->by", pair.right(band), pair.left(band)) * pair.log_scale.exp()
    strokes._write(tmp_path, pair, {})
    right, left = (s.run(None, {"band": band.numpy()})[0] for s in read_network(tmp_path / "strokes.json").load().sessions)
    assert (right * left).sum(-1) == pytest.approx(wanted.numpy(), abs=1e-4)


def test_both_sides_of_a_cut_are_in_line() -> None:
    page = cut_example([], Typefaces({}), np.random.default_rng([0, 5]))
    right, left = (strokes.unpack(side).numpy()[:, 0] for side in page)
    near, far = right[..., INSIDE_PX - 8 : INSIDE_PX].max(-1), left[..., OUTSIDE_PX : OUTSIDE_PX + 8].max(-1)
    here = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(near, far, strict=True)])
    slid = np.mean([np.corrcoef(a[9:], b[:-9])[0, 1] for a, b in zip(near, far, strict=True)])
    assert here > slid + 0.05


@pytest.mark.parametrize("seed", range(8))
def test_shreddings_are_within_what_shredders_do(seed: int) -> None:
    plan = draw_shredding(np.random.default_rng(seed), 20)
    assert 3 <= plan.width_mm <= 8
    assert 120 <= plan.dpi <= 300
    assert plan.config.strips
    assert plan.config.pieces == 20
