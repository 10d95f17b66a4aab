"""Networks on disk: a manifest and its ONNX files, checked before they are used."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jigsawnet.errors import ModelError

if TYPE_CHECKING:
    import onnxruntime

FORMAT = "jigsawnet/weights"
VERSION = 1
PACKAGED = Path(__file__).parent / "weights"
"""The weights that come with the package."""
_MOST_LEARNERS = 64
_ADVICE = "install jigsawnet again, or train new weights with `jigsawnet train`"


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """An ensemble of networks: one session per learner, how much each counts, and the manifest they came with.

    A session cannot be sent to another process, so what is pickled are the ``models`` that it was made of.
    """

    sessions: tuple[onnxruntime.InferenceSession, ...]
    alphas: tuple[float, ...]
    manifest: Mapping[str, Any]
    models: tuple[bytes, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return _weights_of, (self.models, self.alphas, dict(self.manifest))


def load_weights(name: str, folder: Path | None = None) -> Weights:
    """Read ``NAME.json`` and the networks it lists from ``folder``, or from the package.

    Each network runs on one thread, so that its answers do not depend on how many workers there are.

    Raises:
        ModelError: a file is missing, damaged, or of another version.
    """
    folder = folder or PACKAGED
    path = folder / f"{name}.json"
    manifest = _read_manifest(path)
    alphas = manifest.get("alphas")
    files = manifest.get("files")
    if not (isinstance(files, list) and isinstance(alphas, list) and 0 < len(files) == len(alphas) <= _MOST_LEARNERS):
        raise ModelError(f"{path} does not list its networks; {_ADVICE}.")
    if not all(isinstance(a, int | float) and math.isfinite(a) and a >= 0 for a in alphas) or not sum(alphas) > 0:
        raise ModelError(f"{path} does not say how much each network counts; {_ADVICE}.")
    models = tuple(_read_model(path, entry) for entry in files)
    return _weights_of(models, tuple(map(float, alphas)), manifest)


def _weights_of(models: tuple[bytes, ...], alphas: tuple[float, ...], manifest: dict[str, Any]) -> Weights:
    names = [entry["name"] for entry in manifest["files"]]
    sessions = tuple(_session(model, name) for model, name in zip(models, names, strict=True))
    return Weights(sessions, alphas, manifest, models)


def weights_digest(name: str) -> str:
    """Changes when the weights do, for their manifest holds the checksums of the networks.

    Raises:
        ModelError: the manifest is missing or cannot be read.
    """
    return hashlib.sha256(json.dumps(_read_manifest(PACKAGED / f"{name}.json"), sort_keys=True).encode()).hexdigest()


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"The network weights {path} are missing; {_ADVICE}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"The network weights {path} cannot be read; {_ADVICE}.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelError(f"{path} does not describe network weights; {_ADVICE}.")
    if manifest.get("version") != VERSION:
        found = str(manifest.get("version"))[:20]
        raise ModelError(f"{path} has version {found} of the weights format, and this jigsawnet reads {VERSION}; {_ADVICE}.")
    return manifest


def _read_model(manifest: Path, entry: object) -> bytes:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or Path(name).name != name:
        raise ModelError(f"{manifest} names a network outside its own folder; {_ADVICE}.")
    path = manifest.parent / name
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelError(f"The network {path} is missing; {_ADVICE}.") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"The network {path} cannot be read; {_ADVICE}.") from error
    if hashlib.sha256(data).hexdigest() != entry.get("sha256"):  # type: ignore[attr-defined]
        raise ModelError(f"The network {path} is damaged (its checksum differs); {_ADVICE}.")
    return data


def _session(model: bytes, name: str) -> onnxruntime.InferenceSession:
    import onnxruntime  # noqa: PLC0415 - takes a while to load, and only the networks need it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises its own kinds, which share no base
        raise ModelError(f"The network {name} cannot be run by onnxruntime {onnxruntime.__version__}; {_ADVICE}.") from error
