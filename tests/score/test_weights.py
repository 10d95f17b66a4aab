"""Networks on disk: what is missing, damaged or of another version is said in one sentence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jigsawnet.errors import ModelError
from jigsawnet.learned import NETWORK_VERSION, read_network

WriteEnsemble = Callable[..., Path]


def test_a_good_ensemble_is_read_and_runs(tmp_path: Path, write_ensemble: WriteEnsemble) -> None:
    write_ensemble(tmp_path, (0.0, 0.25), (2.0, 1.0))
    weights = read_network(tmp_path / "seam.json").load()
    band = np.full((3, 32, 128, 5), 51, np.uint8)
    assert weights.alphas == (2.0, 1.0)
    assert weights.sessions[1].run(None, {"band": band})[0] == pytest.approx(np.full(3, 0.45))


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"seam\.json is missing"):
        read_network(tmp_path / "seam.json").load()


def _damage(path: Path) -> None:
    network = path.parent / "seam-0.onnx"
    data = bytearray(network.read_bytes())
    data[len(data) // 2] ^= 0xFF
    network.write_bytes(bytes(data))


def _lose(path: Path) -> None:
    (path.parent / "seam-0.onnx").unlink()


def _garble(path: Path) -> None:
    network = path.parent / "seam-0.onnx"
    network.write_bytes(b"not a network")
    _edit(files=[{"name": network.name, "sha256": hashlib.sha256(b"not a network").hexdigest()}])(path)


def _edit(**values: Any) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return change


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (_damage, "is damaged"),
        (_lose, "is missing"),
        (_garble, "cannot be run"),
        (lambda path: path.write_text("{"), "cannot be read"),
        (lambda path: path.write_text("[]"), "cannot be read"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), "cannot be read"),
        (lambda path: path.write_text("[" * 100_000), "cannot be read"),
        (_edit(version=NETWORK_VERSION + 1), f"version {NETWORK_VERSION + 1}"),
        (_edit(format="something else"), "does not describe"),
        (_edit(files=[]), "does not list"),
        (_edit(files=[{"name": "../seam-0.onnx", "sha256": "0"}]), "outside its own folder"),
        (_edit(files=["seam-0.onnx"]), "with their checksums"),
        (_edit(files=[{"name": 5, "sha256": "0"}]), "outside its own folder"),
        (_edit(files=[{"name": "seam-0.onnx"}]), "with their checksums"),
        (_edit(alphas=[float("nan")]), "cannot be read"),
        (_edit(alphas=[-1.0]), "how much"),
        (_edit(alphas=["1"]), "how much"),
        (_edit(alphas=[10**400]), "how much"),
        (_edit(reject_below=10**400), "no probability"),
        (_edit(reject_below="low"), "no probability"),
        (_edit(alphas=[0.0]), "how much"),
        (_edit(alphas=[1.0, 1.0]), "does not list"),
    ],
)
def test_spoiled_weights_are_refused_in_one_sentence(
    tmp_path: Path, write_ensemble: WriteEnsemble, spoil: Callable[[Path], None], sentence: str
) -> None:
    spoil(write_ensemble(tmp_path, (0.0,), (1.0,)))
    with pytest.raises(ModelError, match=sentence) as refusal:
        read_network(tmp_path / "seam.json").load()
    assert str(refusal.value).count("\n") == 0
    assert "jigsawnet train" in str(refusal.value)
