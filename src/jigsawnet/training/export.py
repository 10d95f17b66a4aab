"""Trained networks → ONNX files and the manifest that lists them."""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from jigsawnet.io.files import write_bytes
from jigsawnet.learned import NETWORK_FORMAT, NETWORK_VERSION
from jigsawnet.training.network import JigsawNet
from jigsawnet.version import __version__

_OPSET = 17
_HALVED_FROM = 64
"""Constants with fewer values than this stay float32."""
_LARGEST_DEPARTURE = 2e-3
"""How much float16 constants may move a probability."""


class FromBytes(nn.Module):
    """A network that takes 8-bit images ``(B, H, W, C)``, as they are drawn, and gives the probability ``(B,)`` of right."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, image: Tensor, *others: Tensor) -> Tensor:
        """Probability of a right join."""
        logits: Tensor = self.network(image.permute(0, 3, 1, 2).float() / 255.0, *others)
        return torch.softmax(logits, 1)[:, 1]


def network_to_onnx(network: nn.Module, image_shape: tuple[int, int, int], halve: bool = True, small: bool = False) -> bytes:
    """An ONNX model with any batch size, batch normalisation folded into the convolutions.

    Inputs are ``picture (B, H, W, 3)`` uint8 and, where it is used, ``roi (B, 4)`` float32; or ``band (B, H, W, 5)`` uint8.
    The output ``probability (B,)`` is float32, as is all arithmetic; with ``halve`` large constants are stored as float16 and
    widened when the model is loaded; with ``small`` kernels are stored as a byte a weight, which moves probabilities a little.
    """
    network = network.cpu().eval()
    images = torch.zeros((2, *image_shape), dtype=torch.uint8)
    if isinstance(network, JigsawNet):
        names = ["picture", "roi"]
        inputs: tuple[Tensor, ...] = (images, torch.tensor([[0.2, 0.2, 0.8, 0.8]] * 2))
    else:
        names, inputs = ["band"], (images,)
    buffer: Any = io.BytesIO()  # taken by this exporter, though its signature names paths only
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            FromBytes(network).eval(), inputs, buffer, input_names=names, output_names=["probability"], opset_version=_OPSET,
            dynamic_axes={name: {0: "batch"} for name in (*names, "probability")}, dynamo=False,
        )  # fmt: skip
    model = onnx.load_from_string(buffer.getvalue())
    if small:
        _store_as_bytes(model.graph)
    if halve:
        _halve_constants(model.graph)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _halve_constants(graph: onnx.GraphProto) -> None:
    """Store large float32 constants as float16, each widened by a Cast; onnxruntime does that once, on loading."""
    casts = []
    for constant in list(graph.initializer):
        values = numpy_helper.to_array(constant)
        if values.dtype != np.float32 or values.size < _HALVED_FROM or np.abs(values).max() > np.finfo(np.float16).max:
            continue
        graph.initializer.remove(constant)
        stored = f"{constant.name}.half"
        graph.initializer.append(numpy_helper.from_array(values.astype(np.float16), stored))
        casts.append(helper.make_node("Cast", [stored], [constant.name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def _store_as_bytes(graph: onnx.GraphProto) -> None:
    """Store kernels as int8 times the largest weight of their output channel / 127; multiplied out once, on loading."""
    nodes: list[onnx.NodeProto] = []
    for constant in list(graph.initializer):
        values = numpy_helper.to_array(constant)
        if values.dtype != np.float32 or values.ndim < 2 or values.size < _HALVED_FROM:
            continue
        axes = tuple(range(1, values.ndim))
        scale = np.maximum(np.abs(values).max(axis=axes, keepdims=True) / 127, np.finfo(np.float32).tiny)
        graph.initializer.remove(constant)
        stored, wide, unit = (f"{constant.name}.{part}" for part in ("bytes", "wide", "unit"))
        graph.initializer.append(numpy_helper.from_array(np.rint(values / scale).astype(np.int8), stored))
        graph.initializer.append(numpy_helper.from_array(scale.astype(np.float32), unit))
        nodes.append(helper.make_node("Cast", [stored], [wide], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Mul", [wide, unit], [constant.name]))
    nodes += graph.node
    del graph.node[:]
    graph.node.extend(nodes)


def _smallest_faithful(network: nn.Module, samples: Mapping[str, NDArray[Any]]) -> tuple[bytes, float]:
    """The model with halved constants, or with full ones where it must be, and its largest departure in probability."""
    images, *others = samples.values()
    rows, columns, channels = images.shape[1:]
    with torch.inference_mode():
        wanted = FromBytes(network.cpu().eval())(torch.from_numpy(images), *map(torch.from_numpy, others)).numpy()
    for halve in (True, False):
        data = network_to_onnx(network, (rows, columns, channels), halve)
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        said = session.run(None, {node.name: samples[node.name] for node in session.get_inputs()})[0]
        departure = float(np.abs(said - wanted).max())
        if departure < _LARGEST_DEPARTURE:
            break
    return data, departure


def write_weights(
    folder: Path,
    name: str,
    networks: Sequence[nn.Module],
    alphas: Sequence[float],
    samples: Mapping[str, NDArray[Any]],
    about: Mapping[str, Any],
) -> Path:
    """Write ``NAME-1.onnx`` ... and, last, the manifest ``NAME.json`` that the detectors load; gives the manifest's path.

    Constants are stored as float16 unless that moves a probability by 0.002 or more on the samples.

    Args:
        folder: where to.
        name: of the weights.
        networks: the learners in order.
        alphas: their say in the vote; equal when none has any.
        samples: inputs by name, the images first, to compare with what the network says in PyTorch.
        about: further fields of the manifest: ``network``, ``picture``, the training record.
    """
    files = []
    for number, network in enumerate(networks, start=1):
        data, departure = _smallest_faithful(network, samples)
        file = f"{name}-{number}.onnx"
        write_bytes(folder / file, data)
        files.append({"name": file, "sha256": hashlib.sha256(data).hexdigest(), "departure": departure})
    manifest = {
        "format": NETWORK_FORMAT,
        "version": NETWORK_VERSION,
        "jigsawnet": __version__,
        **about,
        "image": list(next(iter(samples.values())).shape[1:]),
        "alphas": list(alphas) if sum(alphas) > 0 else [1.0] * len(alphas),
        "files": files,
    }
    path = folder / f"{name}.json"
    write_bytes(path, (json.dumps(manifest, indent=1) + "\n").encode())
    return path
