"""What tests of suites need: methods without networks, a folder of small pictures, and jobs that run in this process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jigsawnet.config import SolveConfig
from jigsawnet.io.images import write_png
from jigsawnet.types import UInt8Array
from jigsawnet_bench import methods
from jigsawnet_bench.methods import OURS, Method
from jigsawnet_bench.runner import Launch
from jigsawnet_bench.tasks import run_job
from jigsawnet_bench.work import Job

WIDTH, HEIGHT = 64, 32
"""Pictures that the networks of `write_run` take."""


@pytest.fixture(autouse=True)
def without_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our method scores by the measured seam: these tests are not about weights."""
    monkeypatch.setitem(methods.METHODS["solve"], OURS, Method(OURS, SolveConfig(scorer="fit")))


@pytest.fixture
def photos(tmp_path: Path, picture: UInt8Array) -> Path:
    """A folder with three small pictures."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, image in {"a.png": picture, "b.png": picture[::-1], "c.png": picture[:, ::-1]}.items():
        write_png(folder / name, image.copy())
    return folder


@pytest.fixture
def at_once() -> Launch:
    """Runs jobs in this process, one after the other; the warm-up is left out."""

    def launch(queues: Sequence[Sequence[Job]], workers: int, time_limit: float, tell: Callable[[], None]) -> None:
        for job in (job for queue in queues for job in queue if job.folder.name != "warm-up"):
            run_job(job)
            tell()

    return launch


def brightness_network(bias: float, roi: bool) -> bytes:
    """ONNX of a network that finds joins right the surer, the brighter their picture is."""
    helper, tensor = pytest.importorskip("onnx.helper"), pytest.importorskip("onnx").TensorProto
    nodes = [
        helper.make_node("Cast", ["picture"], ["values"], to=tensor.FLOAT),
        helper.make_node("ReduceMean", ["values"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Mul", ["mean", "slope"], ["scaled"]),
        helper.make_node("Add", ["scaled", "bias"], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], ["probability"]),
    ]
    inputs = [helper.make_tensor_value_info("picture", tensor.UINT8, ["batch", HEIGHT, WIDTH, 3])]
    if roi:
        inputs.append(helper.make_tensor_value_info("roi", tensor.FLOAT, ["batch", 4]))
    output = helper.make_tensor_value_info("probability", tensor.FLOAT, ["batch"])
    numbers = [helper.make_tensor(name, tensor.FLOAT, [], [value]) for name, value in (("slope", 0.1), ("bias", bias))]
    graph = helper.make_graph(nodes, "brightness", inputs, [output], numbers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """``write_run(roi, biases, alphas)``: a folder as `jigsawnet train` leaves it."""

    def write(roi: bool, biases: Sequence[float] = (-12.5, -13.0, -15.0), alphas: Sequence[float] = (1.0, 0.7, 0.7)) -> Path:
        folder = tmp_path / f"run-{roi}-{len(biases)}"
        folder.mkdir()
        files = []
        for k, bias in enumerate(biases):
            data = brightness_network(bias, roi)
            (folder / f"{k}.onnx").write_bytes(data)
            files.append({"name": f"{k}.onnx", "sha256": hashlib.sha256(data).hexdigest()})
        manifest = {
            "format": "jigsawnet/weights", "version": 1, "network": "jigsawnet", "alphas": list(alphas), "files": files,
            "picture": {"width": WIDTH, "height": HEIGHT}, "training": {"options": {"steps": 400, "later_steps": 100}},
        }  # fmt: skip
        (folder / "jigsawnet.json").write_text(json.dumps(manifest), encoding="utf-8")
        history = [
            {"learner": k, "step": step, "loss": 40 / step + k, "recall": 0.5}
            for k in range(len(biases))
            for step in (100, 200)
        ]
        (folder / "history.json").write_text(json.dumps(history), encoding="utf-8")
        return folder

    return write
