from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from jigsawnet.learned import NetworkName, read_network  # noqa: E402
from jigsawnet.training.config import TrainConfig  # noqa: E402
from jigsawnet.training.examples import Examples  # noqa: E402
from jigsawnet.training.export import network_to_onnx, write_weights  # noqa: E402
from jigsawnet.training.inputs import load_inputs  # noqa: E402
from jigsawnet.training.loop import predict  # noqa: E402
from jigsawnet.training.network import build_network  # noqa: E402

CASES: list[tuple[NetworkName, bool]] = [("jigsawnet", True), ("jigsawnet", False), ("seam", True)]


def _trained_like(config: TrainConfig, examples: Examples) -> torch.nn.Module:
    """A network with weights and batch statistics away from where they start, as training leaves them."""
    torch.manual_seed(1)
    network = build_network(config, examples)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.2)
            torch.nn.init.normal_(module.bias, std=0.1)
            torch.nn.init.normal_(module.running_mean, std=0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
    network.eval()
    with torch.no_grad():  # spread the answers over 0 to 1, where differences show
        logits = network(*load_inputs(examples, config.network, np.arange(len(examples))))
        margin = logits[:, 1] - logits[:, 0]
        network.head[-1].weight.div_(margin.std() / 2)
        network.head[-1].bias.sub_(torch.stack([torch.zeros(()), margin.mean() / (margin.std() / 2)]))
    return network


def _image_shape(network: NetworkName, examples: Examples) -> tuple[int, int, int]:
    _, height, width, channels = (examples.pictures if network == "jigsawnet" else examples.bands).shape
    return height, width, channels


@pytest.mark.parametrize(("name", "roi"), CASES)
def test_onnxruntime_says_what_torch_says(examples: Examples, name: NetworkName, roi: bool) -> None:
    config = TrainConfig(network=name, roi=roi)
    network = _trained_like(config, examples)
    data = network_to_onnx(network, _image_shape(name, examples), halve=False)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    given = {"picture": examples.pictures, "roi": examples.rois, "band": examples.bands}
    inputs = {node.name: given[node.name] for node in session.get_inputs()}
    assert set(inputs) == ({"band"} if name == "seam" else {"picture", "roi"} if roi else {"picture"})
    for rows in (slice(0, 1), slice(0, 17)):
        said = session.run(None, {key: value[rows] for key, value in inputs.items()})[0]
        wanted = predict(network, examples, np.arange(len(examples))[rows], config)
        assert said.shape == wanted.shape
        assert np.abs(said - wanted).max() < 1e-4
    assert np.ptp(wanted) > 0.5


def test_batch_normalisation_is_folded_and_constants_are_halved(examples: Examples) -> None:
    network = _trained_like(TrainConfig(network="seam"), examples)
    data = network_to_onnx(network, (32, 128, 5))
    graph = onnx.load_from_string(data).graph
    assert "BatchNormalization" not in {node.op_type for node in graph.node}
    numbers = sum(parameter.numel() for parameter in network.parameters())
    assert len(data) < 2.2 * numbers + 20_000


@pytest.mark.parametrize("roi", [True, False])
def test_a_byte_a_weight_moves_probabilities_a_little(examples: Examples, roi: bool) -> None:
    config = TrainConfig(roi=roi)
    network = _trained_like(config, examples)
    data = network_to_onnx(network, _image_shape("jigsawnet", examples), small=True)
    assert len(data) < 1.1 * sum(parameter.numel() for parameter in network.parameters()) + 40_000
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    given = {"picture": examples.pictures, "roi": examples.rois}
    said = session.run(None, {node.name: given[node.name] for node in session.get_inputs()})[0]
    wanted = predict(network, examples, np.arange(len(examples)), config)
    assert 0 < np.abs(said - wanted).mean() < 0.05, "weights drawn by chance are moved more than trained ones"


def test_the_manifest_is_one_that_the_detectors_load(examples: Examples, tmp_path: Path) -> None:
    networks = [_trained_like(TrainConfig(network="seam"), examples) for _ in range(2)]
    path = write_weights(tmp_path, "seam", networks, (0.0, 0.0), {"band": examples.bands[:8]}, {"network": "seam"})
    manifest = json.loads(path.read_text())
    assert manifest["network"] == "seam"
    assert manifest["image"] == [32, 128, 5]
    weights = read_network(tmp_path / "seam.json").load()
    assert len(weights.sessions) == 2
    assert weights.alphas == (1.0, 1.0)  # none had a say, so all have the same


@pytest.mark.parametrize("scale", [1e-3, 300.0])
def test_constants_are_halved_only_where_probabilities_stay(examples: Examples, tmp_path: Path, scale: float) -> None:
    network = _trained_like(TrainConfig(network="seam"), examples)
    with torch.no_grad():
        network.head[-1].weight.mul_(scale)
        network.head[-1].bias.mul_(scale)
    path = write_weights(tmp_path, "seam", [network], (1.0,), {"band": examples.bands}, {"network": "seam"})
    entry = json.loads(path.read_text())["files"][0]
    halved = (tmp_path / entry["name"]).stat().st_size < 2.5 * sum(p.numel() for p in network.parameters())
    assert halved is (scale < 1)
    assert entry["departure"] < 2e-3
