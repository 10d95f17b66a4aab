"""A boosted series that can stop after any network: each is kept as one small file, and the next goes on from these files.

NAME-K.onnx, NAME-K.json    network K as it decides from now on, and what it was trained with
SERIES.json                 the finished networks of a series with their say, as a detector loads them

What later networks need of earlier ones, the weights of the examples, is not kept: the finished networks are run over the
examples again. The first network is the same in all series of one kind, for it sees all examples with the same weight.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch

from jigsawnet.errors import ModelError
from jigsawnet.io.files import make_folder, read_text, write_bytes, write_text
from jigsawnet.io.lock import hold_lock
from jigsawnet.learned import NETWORK_FORMAT, NETWORK_VERSION
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet.training import boosting
from jigsawnet.training.boosting import IntArray
from jigsawnet.training.checkpoints import remove_checkpoints
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.export import network_to_onnx
from jigsawnet.training.imbalance import Drawn
from jigsawnet.training.loop import History, Task, fresh_seed, prepare_torch, train_learner
from jigsawnet.training.network import build_network
from jigsawnet.types import FloatArray, Progress, no_progress
from jigsawnet.version import __version__

FORMAT, VERSION = "jigsawnet/learner", 1
_LOT = 64
_MOST_CHANGED = 0.01
"""Examples may differ in number by this part, as when they are made again on another processor."""

_TAKEN = "Another process trains the same network in {folder}{holder}; wait for it, or train another series."

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """A finished network: its file, its bytes, and the record of its training."""

    name: str
    model: bytes
    record: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """Checksum of the file."""
        return hashlib.sha256(self.model).hexdigest()

    @property
    def history(self) -> History:
        """One row per validation."""
        history: History = self.record["history"]
        return history

    def session(self) -> onnxruntime.InferenceSession:
        """The network, ready to run on one thread."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(self.model, options, providers=["CPUExecutionProvider"])


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The finished networks of a series, their weighted errors and their say."""

    learners: tuple[Learner, ...]
    errors: tuple[float, ...]
    alphas: tuple[float, ...]


def series_name(config: TrainConfig) -> str:
    """Such as ``roi-paper``; ``pool``: without RoI; ``plain``: without boosting."""
    return f"{'roi' if config.roi else 'pool'}-{'plain' if config.rule == 'none' else config.rule}"


def learner_name(config: TrainConfig, number: int) -> str:
    """Network ``number``, counted from 0; the first is that of the series without boosting."""
    return f"{series_name(config if number else replace(config, rule='none'))}-{number + 1}"


def go_on(
    folder: Path, drawn: Drawn, picture: PictureConfig, config: TrainConfig, work: Path, progress: Progress = no_progress,
    say: Say = lambda text: None,
) -> Series:  # fmt: skip
    """Train the networks of a series that ``folder`` does not hold yet; checkpoints and answers are kept under ``work``.

    Raises:
        ModelError: ``folder`` holds a network of other options, of other examples, or that followed other networks.
        OutputError: another process trains the same network, a folder cannot be written, or the disk is full.
    """
    make_folder(folder)
    used = np.flatnonzero(drawn.counts)
    right = drawn.examples.right[used]
    weights = boosting.start_weights(drawn.counts[used])
    series = Series((), (), ())
    for number in range(config.learners):
        learner = read_learner(folder, config, number, drawn, series)
        if learner is None:
            make_folder(work)
            with hold_lock(work / f"{learner_name(config, number)}.lock", _TAKEN):
                learner = _train(folder, drawn, weights, config, number, series, work, progress)
        error, alpha = 0.0, 1.0
        if config.rule != "none":
            said_right = boosting.decide(answers(learner, drawn, used, work, progress))
            error = boosting.weighted_error(weights, right, said_right)
            alpha = boosting.learner_weight(error)
            weights = boosting.update_weights(weights, right, said_right, alpha, config.rule)
        series = Series((*series.learners, learner), (*series.errors, error), (*series.alphas, alpha))
        write_series(folder, series, picture, config)
        say(f"{learner.name} is done: weighted error {error:.4f}, alpha {alpha:.3f}; {_last(learner)}")
    able = "can" if boosting.can_overrule(series.alphas) else "cannot"
    say(f"{series_name(config)}: the later networks together {able} overrule the first")
    return series


def read_learner(folder: Path, config: TrainConfig, number: int, drawn: Drawn, before: Series) -> Learner | None:
    """A finished network, or None when there is none.

    Raises:
        ModelError: it is damaged, or belongs to another experiment.
    """
    name = learner_name(config, number)
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    try:
        record = json.loads(read_text(path))
        learner = Learner(name, (folder / f"{name}.onnx").read_bytes(), record)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} or its network is damaged; remove both, and it is trained again.") from error
    if record.get("sha256") != learner.digest:
        raise ModelError(f"{folder / name}.onnx is damaged; remove it and {path.name}, and it is trained again.")
    wanted = _stamp(config, number, drawn, before)
    for key, value in record["options"].items():  # an option that came later was not there to be chosen
        if wanted["options"].get(key) != value:
            raise ModelError(f"{path} was trained with {key} = {value}, not {wanted['options'].get(key)}; give another folder.")
    if record["after"] != wanted["after"]:
        raise ModelError(f"{path} was trained after other networks than those there now; remove it and its network.")
    for key, count in wanted["data"].items():
        if abs(record["data"][key] - count) > _MOST_CHANGED * count:
            raise ModelError(f"{path} was trained with {record['data'][key]} {key}, not {count}; give the same photographs.")
    return learner


def answers(learner: Learner, drawn: Drawn, rows: IntArray, work: Path, progress: Progress = no_progress) -> FloatArray:
    """Probability of each of ``rows`` according to the network in its file; kept under ``work``, for it takes minutes."""
    key = hashlib.sha256(f"{learner.digest} {drawn.examples.digest()} {len(rows)} {rows.sum()}".encode()).hexdigest()[:16]
    path = work / f"answers-{key}.npy"
    if path.is_file():
        return np.asarray(np.load(path), np.float64)
    session = learner.session()
    names = {node.name for node in session.get_inputs()}
    found = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), _LOT):
        lot = rows[start : start + _LOT]
        inputs = {"picture": np.ascontiguousarray(drawn.examples.pictures[lot]), "roi": drawn.examples.rois[lot]}
        found[start : start + _LOT] = session.run(None, {name: inputs[name] for name in names})[0].reshape(-1)
        progress("weighing", min(start + _LOT, len(rows)), len(rows))
    buffer = BytesIO()
    np.save(buffer, found)
    make_folder(work)
    write_bytes(path, buffer.getvalue())
    return np.asarray(found, np.float64)


def write_series(folder: Path, series: Series, picture: PictureConfig, config: TrainConfig) -> Path:
    """The manifest with which a detector loads the finished networks of a series."""
    first = series.learners[0].record
    manifest = {
        "format": NETWORK_FORMAT,
        "version": NETWORK_VERSION,
        "jigsawnet": __version__,
        "network": "jigsawnet",
        "reject_below": 0.0,
        "training": {"options": asdict(config), "data": first["data"], "errors": list(series.errors)},
        "picture": asdict(picture),
        "image": first["image"],
        "alphas": list(series.alphas) if sum(series.alphas) > 0 else [1.0] * len(series.alphas),
        "files": [{"name": f"{each.name}.onnx", "sha256": each.digest} for each in series.learners],
    }
    path = folder / f"{series_name(config)}.json"
    write_text(path, json.dumps(manifest, indent=1) + "\n")
    return path


def _train(
    folder: Path, drawn: Drawn, weights: FloatArray, config: TrainConfig, number: int, before: Series, work: Path,
    progress: Progress,
) -> Learner:  # fmt: skip
    """Train network ``number`` with ``weights`` of the distinct examples, and keep it; goes on from a checkpoint."""
    prepare_torch(config.threads)
    examples, name = drawn.examples, learner_name(config, number)
    torch.manual_seed(fresh_seed(config, number))
    network = build_network(config, examples)
    rows, counts = drawn.rows, drawn.counts[drawn.counts > 0]
    each = (weights / counts * len(rows)).astype(np.float32)
    task = Task(examples, rows, np.repeat(each, counts), np.flatnonzero(examples.held_out), number)
    stamp = _stamp(config, number, drawn, before)
    history = train_learner(network, task, config, work / name, {**stamp, "data": examples.digest()}, progress)
    height, width, depth = examples.pictures.shape[1:]
    model = network_to_onnx(network, (height, width, depth), small=True)
    record = {
        "format": FORMAT, "version": VERSION, "jigsawnet": __version__, "sha256": hashlib.sha256(model).hexdigest(),
        "image": [height, width, depth], **stamp, "history": history,
    }  # fmt: skip
    write_bytes(folder / f"{name}.onnx", model)
    write_text(folder / f"{name}.json", json.dumps(record, indent=1) + "\n")
    remove_checkpoints(work / name)
    return Learner(name, model, record)


def _stamp(config: TrainConfig, number: int, drawn: Drawn, before: Series) -> dict[str, Any]:
    """What a network is the result of: options, its number, the networks before it where they matter, the examples."""
    own = config if number else replace(config, rule="none")
    after = [each.digest for each in before.learners] if own.rule != "none" else []
    data = {
        "candidates": drawn.candidates,
        "right": drawn.right,
        "examples": len(drawn.counts),
        "rows": int(drawn.counts.sum()),
    }
    return {"options": own.identity(), "learner": number, "after": after, "data": data}


def _last(learner: Learner) -> str:
    row = learner.history[-1]
    return f"held out: average precision {row['average_precision']:.4f}, after {row['seconds'] / 3600:.2f} h"
