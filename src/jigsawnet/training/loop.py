"""Training of one network, to the same weights whether it is interrupted or not."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from jigsawnet.training.boosting import IntArray, measure
from jigsawnet.training.checkpoints import Stamp, load_checkpoint, save_checkpoint
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.examples import Examples
from jigsawnet.training.inputs import Inputs, load_inputs
from jigsawnet.types import Float32Array, FloatArray, Progress, no_progress

History = list[dict[str, float]]
"""One row per validation: learner, step, mean training loss since the row before, scores, learning rate, seconds so far."""

_ORDER, _CHANGES, _CHANCE = range(3)
"""What a random stream is for."""
_PREDICT_BATCH = 256


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What one network is trained on.

    ``rows`` into the examples, with repetition, and their loss weights ``(n,)`` with mean 1; ``validation`` rows are held out.
    """

    examples: Examples
    rows: IntArray
    weights: Float32Array
    validation: IntArray
    learner: int


def train_learner(
    network: nn.Module, task: Task, config: TrainConfig, folder: Path, stamp: Stamp, progress: Progress = no_progress
) -> History:
    """Train ``network`` in place; goes on from the newest checkpoint in ``folder`` if there is one.

    Which examples a step sees, and all chance in it, depends only on (seed, learner, step), so a checkpoint needs no random
    state: weights, optimiser, step and history are all there is.
    """
    device = prepare_torch(config.threads)
    network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = _make_optimizer(network, config)
    steps = config.steps_of(task.learner)
    first, history, losses, spent = _resume(network, optimizer, folder, stamp)
    started = time.monotonic() - spent
    stage = f"network {task.learner + 1}"
    progress(stage, first, steps)
    for step, (inputs, right, weights) in enumerate(_batches(task, config, first, steps), start=first):
        rate = learning_rate(config, step, steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        torch.manual_seed(_seed(config.seed, task.learner, step, _CHANCE))
        with torch.autocast(device.type, torch.bfloat16, enabled=config.precision == "bfloat16"):
            loss = _loss(network, inputs, right, weights, device)
        losses.append(_step(optimizer, loss))
        done = step + 1
        if done % config.validate_every == 0 or done == steps:
            seconds = time.monotonic() - started
            history.append(_validate(network, task, config, done, losses) | {"learning_rate": rate, "seconds": seconds})
            losses = []
        if done % config.checkpoint_every == 0 or done == steps:
            state = {"model": network.state_dict(), "optimizer": optimizer.state_dict(), "step": done, "history": history}
            save_checkpoint(folder, done, state | {"losses": losses, "seconds": time.monotonic() - started}, stamp)
        progress(stage, done, steps)
    return history


def prepare_torch(threads: int) -> torch.device:
    """Settle what repeatable results need; gives the graphics processor if there is one."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_num_threads(threads)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def predict(
    network: nn.Module, examples: Examples, rows: IntArray, config: TrainConfig, progress: Progress = no_progress
) -> FloatArray:
    """Probability of a right join for each of ``rows``, as the network stands."""
    device = next(network.parameters()).device
    was_training = network.training
    network.eval()
    blocks = []
    with torch.inference_mode():
        for start in range(0, len(rows), _PREDICT_BATCH):
            inputs = load_inputs(examples, config.network, rows[start : start + _PREDICT_BATCH])
            logits = network(*(tensor.to(device) for tensor in inputs))
            blocks.append(torch.softmax(logits.double(), 1)[:, 1].cpu().numpy())
            progress("weighing", min(start + _PREDICT_BATCH, len(rows)), len(rows))
    network.train(was_training)
    return np.concatenate(blocks) if blocks else np.zeros(0)


def learning_rate(config: TrainConfig, step: int, steps: int) -> float:
    """Step size of Adam at ``step`` of ``steps``."""
    if config.schedule == "constant":
        return config.learning_rate
    warm_up = min(config.warm_up, steps // 2)
    if step < warm_up:
        return config.learning_rate * (step + 1) / warm_up
    return config.learning_rate * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))


def fresh_seed(config: TrainConfig, learner: int) -> int:
    """Seed of a network's first weights."""
    return _seed(config.seed, learner, 0, _ORDER)


def _seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)


def _make_optimizer(network: nn.Module, config: TrainConfig) -> torch.optim.Adam:
    """Adam; weight decay acts on the weights of convolutions and layers, not on biases and batch normalisation."""
    groups: list[dict[str, Any]] = [
        {"params": [p for p in network.parameters() if p.ndim > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in network.parameters() if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.Adam(groups, lr=config.learning_rate)


def _resume(
    network: nn.Module, optimizer: torch.optim.Adam, folder: Path, stamp: Stamp
) -> tuple[int, History, list[float], float]:
    saved = load_checkpoint(folder, stamp)
    if saved is None:
        return 0, [], [], 0.0
    network.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["step"], saved["history"], saved["losses"], saved["seconds"]


def _batches(task: Task, config: TrainConfig, first: int, steps: int) -> Iterator[tuple[Inputs, Tensor, Tensor]]:
    """Inputs, labels and weights of each step; the next batch is read while one is in use."""
    with ThreadPoolExecutor(1) as reader:
        coming = None
        for positions, step in _draws(task, config, first, steps):
            following = reader.submit(_load, task, config, positions, step)
            if coming is not None:
                yield coming.result()
            coming = following
        if coming is not None:
            yield coming.result()


def _draws(task: Task, config: TrainConfig, first: int, steps: int) -> Iterator[tuple[IntArray, int]]:
    """Positions in ``task.rows`` for each step: all rows in random order, then all again in another order."""
    per_round = max(1, len(task.rows) // config.batch)
    order, current = np.zeros(0, dtype=np.int64), -1
    for step in range(first, steps):
        if step // per_round != current:
            current = step // per_round
            order = np.random.default_rng([config.seed, task.learner, current, _ORDER]).permutation(len(task.rows))
        start = step % per_round * config.batch
        yield np.sort(order[start : start + config.batch]), step


def _load(task: Task, config: TrainConfig, positions: IntArray, step: int) -> tuple[Inputs, Tensor, Tensor]:
    rows = task.rows[positions]
    rng = np.random.default_rng([config.seed, task.learner, step, _CHANGES])
    inputs = load_inputs(task.examples, config.network, rows, config.augment, rng)
    right = torch.from_numpy(task.examples.right[rows].astype(np.int64))
    return inputs, right, torch.from_numpy(task.weights[positions])


def _loss(network: nn.Module, inputs: Inputs, right: Tensor, weights: Tensor, device: torch.device) -> Tensor:
    """Weighted mean cross entropy, in float32 whatever the precision of the network's layers."""
    network.train()
    logits = network(*(tensor.to(device) for tensor in inputs)).float()
    each = nn.functional.cross_entropy(logits, right.to(device), reduction="none")
    return (each * weights.to(device)).mean()


def _step(optimizer: torch.optim.Adam, loss: Tensor) -> float:
    """One step down the gradient of ``loss``; gives its value."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


def _validate(network: nn.Module, task: Task, config: TrainConfig, step: int, losses: list[float]) -> dict[str, float]:
    probability = predict(network, task.examples, task.validation, config)
    scores = asdict(measure(probability, task.examples.right[task.validation]))
    named = {("validation_loss" if key == "loss" else key): value for key, value in scores.items()}
    return {"learner": task.learner, "step": step, "loss": float(np.mean(losses)), **named}
