from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from jigsawnet.training.network import BINS, SAMPLES, JigsawNet, ResidualBlock, roi_align  # noqa: E402

fractions = st.floats(0, 1, width=32)


def test_the_tower_has_the_papers_29_convolutions() -> None:
    convolutions = [m for m in JigsawNet().modules() if isinstance(m, torch.nn.Conv2d)]
    assert len(convolutions) == 29
    assert {m.kernel_size for m in convolutions} == {(3, 3)}
    assert [m.out_channels for m in convolutions][-1] == 128


def test_the_twelve_residual_blocks_have_the_papers_depths_and_places() -> None:
    """Read off the tower itself: ``(r, h)`` of each block, and None where a max pooling halves the picture."""
    layers = [
        None if isinstance(layer, torch.nn.MaxPool2d) else (layer.residual[0].in_channels, layer.residual[0].out_channels)
        for layer in JigsawNet().tower
        if isinstance(layer, torch.nn.MaxPool2d | ResidualBlock)
    ]
    assert layers == [
        None, (8, 8), (8, 8), (8, 16), (16, 16), (16, 16), (16, 32),
        None, (32, 32), (32, 32), (32, 64),
        None, (64, 64), (64, 64), (64, 128),
    ]  # fmt: skip
    assert [layer.out_features for layer in JigsawNet().head if isinstance(layer, torch.nn.Linear)] == [64, 2]


def test_the_tower_starts_as_its_skips() -> None:
    blocks = [layer for layer in JigsawNet().eval().tower if isinstance(layer, ResidualBlock)]
    for block in blocks:
        features = torch.randn(1, block.residual[0].in_channels, 5, 5, generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            assert torch.equal(block(features), torch.relu(block.skip(features)))
    assert len(blocks) == 12


def test_the_abutting_area_is_pooled_to_four_by_four() -> None:
    """The paper's size, as a number: features that grow along x and y show which cell is which."""
    box = torch.tensor([[0.25, 0.375, 0.75, 0.875]])
    ramp = torch.arange(16.0).expand(1, 1, 16, 16)
    assert torch.allclose(roi_align(ramp, box)[0, 0], torch.tensor([4.5, 6.5, 8.5, 10.5]).expand(4, 4))
    assert torch.allclose(roi_align(ramp.mT, box)[0, 0], torch.tensor([6.5, 8.5, 10.5, 12.5]).expand(4, 4).mT)
    assert JigsawNet(160, 160).head[0].in_features == 128 * 4 * 4


@pytest.mark.parametrize("roi", [True, False])
@pytest.mark.parametrize(("height", "width"), [(32, 32), (40, 72)])
def test_logits_for_any_size_and_both_poolings(roi: bool, height: int, width: int) -> None:
    network = JigsawNet(height, width, roi).eval()
    pictures = torch.rand(3, 3, height, width)
    boxes = torch.tensor([[0.1, 0.2, 0.6, 0.9]] * 3)
    with torch.no_grad():
        assert network(pictures, boxes).shape == (3, 2)


def test_only_the_network_with_roi_looks_at_the_box() -> None:
    pictures = torch.rand(1, 3, 32, 32)
    near, far = torch.tensor([[0.0, 0.0, 0.4, 0.4]]), torch.tensor([[0.6, 0.6, 1.0, 1.0]])
    for roi in (True, False):
        network = JigsawNet(32, 32, roi).eval()
        with torch.no_grad():
            assert torch.equal(network(pictures, near), network(pictures, far)) is not roi


@settings(deadline=None, max_examples=30)
@given(fractions, fractions, fractions, fractions)
def test_roi_align_is_the_mean_of_bilinear_samples(x0: float, x1: float, y0: float, y1: float) -> None:
    features = torch.rand(1, 2, 5, 9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    box = torch.tensor([[min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)]], dtype=torch.float64)
    steps = (torch.arange(BINS * SAMPLES, dtype=torch.float64) + 0.5) / (BINS * SAMPLES)
    xs, ys = box[0, 0] + (box[0, 2] - box[0, 0]) * steps, box[0, 1] + (box[0, 3] - box[0, 1]) * steps
    grid = torch.stack(torch.broadcast_tensors(xs[None, :], ys[:, None]), dim=-1)[None] * 2 - 1
    sampled = torch.nn.functional.grid_sample(features, grid, padding_mode="border", align_corners=False)
    expected = torch.nn.functional.avg_pool2d(sampled, SAMPLES)
    assert torch.allclose(roi_align(features, box), expected, atol=1e-9)


def test_an_empty_box_gives_the_value_at_its_point() -> None:
    ramp = torch.arange(8.0).expand(1, 1, 8, 8)
    point = torch.tensor([[0.5, 0.5, 0.5, 0.5]])
    assert torch.allclose(roi_align(ramp, point), torch.full((1, 1, BINS, BINS), 3.5))


def test_every_weight_gets_a_gradient_once_residuals_have_left_zero() -> None:
    network = JigsawNet(32, 32)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    network(torch.rand(4, 3, 32, 32), torch.tensor([[0.1, 0.1, 0.9, 0.9]] * 4)).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in network.parameters())
