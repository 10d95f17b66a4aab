"""Ground floor: everything that was learned, as one folder that is checked before it is used.

bundle.json                   format, version, and the checksum of every file below
fit.json                      coefficients of the seam fit: measured seam → probability
seam.json, seam-1.onnx        our network, its threshold and how much it counts
ragged.json, ragged-1.onnx    the same for seams that touch only in parts
jigsawnet.json, *-1.onnx ...  the paper's ensemble
combined.json                 coefficients of the combined score: measured seam and our network → probability
strokes.json, strokes-1.onnx, strokes-2.onnx   the networks that look along the right and the left sides of strips
strips.json                   coefficients of the fit of strips: what is printed along two sides → probability
contact.json                  coefficients of the contact fit: a seam that touches only in parts → probability
touching.json                 coefficients of the combined score of such seams: contact and network → probability
confidence.json               coefficients of the confidence of a join
model-card.md                 what all of it was learned from, and its figures on held-out puzzles
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from jigsawnet.errors import ModelError
from jigsawnet.names import is_plain_name

if TYPE_CHECKING:
    import onnxruntime

FORMAT, VERSION = "jigsawnet/learned", 4
NETWORK_FORMAT, NETWORK_VERSION = "jigsawnet/weights", 1
MANIFEST, CARD = "bundle.json", "model-card.md"
PACKAGED = Path(__file__).parent / "weights"
"""The bundle that comes with the package."""

NetworkName = Literal["jigsawnet", "seam", "ragged", "printed", "strokes"]
PartName = Literal[
    "fit",
    "contact",
    "seam",
    "ragged",
    "printed",
    "jigsawnet",
    "strokes",
    "strips",
    "combined",
    "touching",
    "lines",
    "confidence",
]
NETWORKS: tuple[NetworkName, ...] = ("seam", "ragged", "printed", "jigsawnet", "strokes")
COEFFICIENTS = {"fit": 77, "contact": 350, "combined": 104, "touching": 58, "lines": 61, "confidence": 5, "strips": 3}
"""How many weights each regression has."""
PARTS: tuple[PartName, ...] = ("fit", "contact", *NETWORKS, "strips", "combined", "touching", "lines", "confidence")

_MOST_LEARNERS, _LARGEST_ALPHA = 64, 1e6
_LARGEST_TEXT, _LARGEST_NETWORK = 2**20, 2**29
"""Bytes of a JSON file and of a network; what is larger is not read."""
_ADVICE = "give a folder that `jigsawnet train` has finished, or install jigsawnet again"
_OTHER_VERSION = "train again with the `jigsawnet train` of this version, or leave the folder out and use what comes with it"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression: the probability is ``1 / (1 + exp(-(terms @ weights + bias)))``."""

    bias: float
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Combined(Logistic):
    """The combined score; candidates whose seam fit is below ``hopeless`` are not shown to the network."""

    hopeless: float


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
        return _weights_of, (self.models, dict(self.manifest))


@dataclass(frozen=True, slots=True)
class NetworkFiles:
    """Networks on disk: the folder, and what their ``NAME.json`` says; the ONNX files are not read before `load`."""

    folder: Path
    manifest: Mapping[str, Any]

    def load(self) -> Weights:
        """Read the networks and make them ready, each on one thread, so that answers do not depend on the number of workers.

        Raises:
            ModelError: a network is missing, damaged, or cannot be run.
        """
        return _weights_of(tuple(self.read(entry["name"]) for entry in self.manifest["files"]), dict(self.manifest))

    def read(self, name: str) -> bytes:
        """The bytes of one of the ONNX files, checked."""
        checksums = {entry["name"]: entry["sha256"] for entry in self.manifest["files"]}
        return _read(self.folder / name, _LARGEST_NETWORK, checksums[name])


@dataclass(frozen=True, slots=True)
class Learned:
    """Everything learned: the coefficients, and where the networks lie. ``made_with`` is the version of jigsawnet."""

    folder: Path
    made_with: str
    fit: Logistic
    contact: Logistic
    combined: Combined
    touching: Combined
    lines: Combined
    confidence: Logistic
    strips: Logistic
    networks: Mapping[NetworkName, NetworkFiles]
    card: str = ""

    def __repr__(self) -> str:
        return f"Learned({str(self.folder)!r}, {len(self.networks)} networks, made with {self.made_with})"

    def network(self, name: NetworkName) -> Weights:
        """The ensemble ``seam`` or ``jigsawnet``, read now.

        Raises:
            ModelError: a network is missing, damaged, or cannot be run.
        """
        return self.networks[name].load()

    def digest_of(self, *parts: PartName) -> str:
        """Changes when something does that these parts answer by; not with the record of how they were trained."""
        said = [[part, self._content(part)] for part in parts]
        return hashlib.sha256(msgspec.json.encode(said, order="sorted")).hexdigest()

    @property
    def digest(self) -> str:
        """Changes when anything learned does."""
        return self.digest_of(*PARTS)

    def _content(self, part: PartName) -> object:
        if part == "seam" or part == "ragged" or part == "printed" or part == "jigsawnet" or part == "strokes":  # noqa: PLR1714 - narrows the type
            manifest = self.networks[part].manifest
            files = [entry["sha256"] for entry in manifest["files"]]
            return [files, *(manifest.get(key) for key in ("network", "alphas", "reject_below", "picture"))]
        return getattr(self, part)


def load_learned(folder: Path | None = None) -> Learned:
    """The bundle in ``folder``, or the one of the package; networks are read when they are asked for.

    Raises:
        ModelError: something is missing, damaged, of a newer version, or not what a bundle holds.
    """
    folder = PACKAGED if folder is None else folder
    path = folder / MANIFEST
    if not path.is_file():
        raise ModelError(f"The weights in {folder} are missing, for there is no {MANIFEST}; {_ADVICE}.")
    manifest = _decode(path, _read(path, _LARGEST_TEXT), dict[str, Any])
    _check_version(path, manifest, FORMAT, VERSION)
    checksums = manifest.get("files")
    if not isinstance(checksums, dict) or not all(isinstance(value, str) for value in checksums.values()):
        raise ModelError(f"{path} does not list its files with their checksums; {_ADVICE}.")
    for name in checksums:
        _check_name(path, name)
        if not (folder / name).is_file():
            raise ModelError(f"{folder / name} is missing; {_ADVICE}.")

    def read(name: str, kind: type[_T]) -> _T:
        if name not in checksums:
            raise ModelError(f"{path} does not list {name}; {_ADVICE}.")
        return _decode(folder / name, _read(folder / name, _LARGEST_TEXT, checksums[name]), kind)

    networks = {}
    for network in NETWORKS:
        networks[network] = _network_of(folder / f"{network}.json", read(f"{network}.json", dict[str, Any]))
        for entry in networks[network].manifest["files"]:
            if checksums.get(entry["name"]) != entry["sha256"]:
                raise ModelError(f"{path} and {network}.json disagree about {entry['name']}; {_ADVICE}.")
    learned = Learned(
        folder=folder,
        made_with=str(manifest.get("jigsawnet"))[:40],
        fit=read("fit.json", Logistic),
        contact=read("contact.json", Logistic),
        combined=read("combined.json", Combined),
        touching=read("touching.json", Combined),
        lines=read("lines.json", Combined),
        confidence=read("confidence.json", Logistic),
        strips=read("strips.json", Logistic),
        networks=networks,
        card=_read(folder / CARD, _LARGEST_TEXT, checksums.get(CARD, "")).decode("utf-8", "replace"),
    )
    for name, count in COEFFICIENTS.items():
        found = len(getattr(learned, name).weights)
        if found != count:
            raise ModelError(f"{folder / name}.json has {found} weights where {count} belong; {_ADVICE}.")
    return learned


def read_network(path: Path) -> NetworkFiles:
    """Networks by their ``NAME.json`` alone, as an unfinished or older training leaves them.

    Raises:
        ModelError: the file is missing, damaged, or of another version.
    """
    return _network_of(path, _decode(path, _read(path, _LARGEST_TEXT), dict[str, Any]))


def _network_of(path: Path, manifest: dict[str, Any]) -> NetworkFiles:
    _check_version(path, manifest, NETWORK_FORMAT, NETWORK_VERSION)
    files, alphas = manifest.get("files"), manifest.get("alphas")
    if not (isinstance(files, list) and isinstance(alphas, list) and 0 < len(files) == len(alphas) <= _MOST_LEARNERS):
        raise ModelError(f"{path} does not list its networks; {_ADVICE}.")
    if not all(_is_number(a, _LARGEST_ALPHA) for a in alphas) or not sum(alphas) > 0:
        raise ModelError(f"{path} does not say how much each network counts; {_ADVICE}.")
    if not _is_number(manifest.get("reject_below", 0.0), 1.0):
        raise ModelError(f"{path} has a threshold reject_below that is no probability; {_ADVICE}.")
    for entry in files:
        if not isinstance(entry, dict) or not isinstance(entry.get("sha256"), str):
            raise ModelError(f"{path} does not list its networks with their checksums; {_ADVICE}.")
        _check_name(path, entry.get("name"))
    return NetworkFiles(path.parent, manifest)


def _weights_of(models: tuple[bytes, ...], manifest: dict[str, Any]) -> Weights:
    names = [entry["name"] for entry in manifest["files"]]
    sessions = tuple(_session(model, name) for model, name in zip(models, names, strict=True))
    return Weights(sessions, tuple(map(float, manifest["alphas"])), manifest, models)


def _session(model: bytes, name: str) -> onnxruntime.InferenceSession:
    import onnxruntime  # noqa: PLC0415 - takes a while to load, and only the networks need it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"], enable_fallback=0)
    except Exception as error:  # onnxruntime raises its own kinds, which share no base
        raise ModelError(f"The network {name} cannot be run by onnxruntime {onnxruntime.__version__}; {_ADVICE}.") from error


def _is_number(value: object, largest: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= largest


def _check_version(path: Path, manifest: Mapping[str, Any], wanted: str, newest: int) -> None:
    if manifest.get("format") != wanted:
        raise ModelError(f"{path} does not describe {wanted.removeprefix('jigsawnet/')}; {_ADVICE}.")
    if manifest.get("version") != newest:
        found = str(manifest.get("version"))[:20]
        raise ModelError(f"{path} has version {found} of its format, and this jigsawnet reads {newest}; {_OTHER_VERSION}.")


def _check_name(manifest: Path, name: object) -> None:
    if not is_plain_name(name):
        raise ModelError(f"{manifest} names a file outside its own folder; {_ADVICE}.")


def _decode(path: Path, data: bytes, kind: type[_T]) -> _T:
    """JSON of a stated type; numbers that are not finite are refused."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error).splitlines()[0][:200] if isinstance(error, msgspec.DecodeError) else "it is no JSON"
        raise ModelError(f"{path} cannot be read ({reason}); {_ADVICE}.") from error


def _read(path: Path, most: int, sha256: str | None = None) -> bytes:
    try:
        if not path.is_file():
            raise ModelError(f"{path} is missing; {_ADVICE}.")
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read; {_ADVICE}.") from error
    if len(data) > most:
        raise ModelError(f"{path} is larger than {most >> 20} MiB, too large for a file of its kind; {_ADVICE}.")
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise ModelError(f"{path} is damaged (its checksum differs); {_ADVICE}.")
    return data
