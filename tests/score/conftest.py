"""What the tests of the detectors share: small networks whose answers are known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jigsawnet.learned import NETWORK_FORMAT, NETWORK_VERSION

WriteEnsemble = Callable[..., Path]


@pytest.fixture
def write_ensemble() -> WriteEnsemble:
    """``write_ensemble(folder, biases, alphas, **more)`` writes networks and their manifest ``seam.json``."""
    pytest.importorskip("onnx")
    return _write_ensemble


def _write_ensemble(folder: Path, biases: tuple[float, ...], alphas: tuple[float, ...], **more: Any) -> Path:
    """Networks that answer the mean of the band's red, over 255, plus a bias; and their manifest ``seam.json``."""
    files = []
    for k, bias in enumerate(biases):
        path = folder / f"seam-{k}.onnx"
        path.write_bytes(_mean_red(bias))
        files.append({"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    manifest = {
        "format": NETWORK_FORMAT,
        "version": NETWORK_VERSION,
        "network": "seam",
        "alphas": list(alphas),
        "files": files,
        **more,
    }
    path = folder / "seam.json"
    path.write_text(json.dumps(manifest))
    return path


def _mean_red(bias: float) -> bytes:
    import onnx

    helper, kind = onnx.helper, onnx.TensorProto
    constants = [
        onnx.numpy_helper.from_array(np.array([0], np.int64), "first"),
        onnx.numpy_helper.from_array(np.array([1], np.int64), "second"),
        onnx.numpy_helper.from_array(np.array([3], np.int64), "channels"),
        onnx.numpy_helper.from_array(np.array([1, 2, 3], np.int64), "axes"),
        onnx.numpy_helper.from_array(np.array(255.0, np.float32), "white"),
        onnx.numpy_helper.from_array(np.array(bias, np.float32), "bias"),
    ]
    nodes = [
        helper.make_node("Slice", ["band", "first", "second", "channels"], ["red"]),
        helper.make_node("Cast", ["red"], ["floats"], to=kind.FLOAT),
        helper.make_node("ReduceMean", ["floats", "axes"], ["mean"], keepdims=0),
        helper.make_node("Div", ["mean", "white"], ["part"]),
        helper.make_node("Add", ["part", "bias"], ["probability"]),
    ]
    band = helper.make_tensor_value_info("band", kind.UINT8, ["batch", 32, 128, 5])
    out = helper.make_tensor_value_info("probability", kind.FLOAT, ["batch"])
    graph = helper.make_graph(nodes, "mean_red", [band], [out], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return bytes(model.SerializeToString())
