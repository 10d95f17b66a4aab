"""The whole training: examples → sampling → boosted networks, each kept when it is done → weights, curves, model card."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from jigsawnet.errors import InputError
from jigsawnet.training import boosting
from jigsawnet.training.boosting import IntArray, Scores, measure, sample_rows
from jigsawnet.training.checkpoints import Stamp, load_state, remove_checkpoints, save_state
from jigsawnet.training.config import TrainConfig, UpdateRule
from jigsawnet.training.examples import Examples
from jigsawnet.training.loop import History, Task, fresh_seed, predict, prepare_torch, train_learner
from jigsawnet.training.network import build_network
from jigsawnet.types import BoolArray, FloatArray, Progress, no_progress

_SAMPLING, _VALIDATION, _WEIGHING = range(100, 103)


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """K networks, their errors ``E_k`` and say ``alpha_k``, the history of their training, and scores on held-out puzzles.

    ``scores[k]`` is that of network k; ``ensemble`` that of all with their weighted vote. What the
    first network finds less likely than ``reject_below`` need not be shown to the others.
    """

    networks: tuple[nn.Module, ...]
    errors: tuple[float, ...]
    alphas: tuple[float, ...]
    history: History
    scores: tuple[Scores, ...]
    ensemble: Scores
    reject_below: float
    seconds: float
    rows: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What all learners share: rows drawn, with repetition; the distinct ones and their counts; which are weighed; held out."""

    rows: IntArray
    distinct: IntArray
    counts: IntArray
    weighed: IntArray
    validation: IntArray


def train(examples: Examples, config: TrainConfig, folder: Path, progress: Progress = no_progress) -> Trained:
    """Train ``config.learners`` networks; what an earlier, interrupted run left in ``folder`` is used, to the same result.

    Raises:
        InputError: the examples lack right joins, wrong joins or held-out puzzles.
        ModelError: ``folder`` holds networks of other options or other examples.
        OutputError: the folder cannot be written, or the disk is full.
    """
    prepare_torch(config.threads)
    plan = _make_plan(examples, config)
    digest = examples.digest()
    weights = boosting.start_weights(plan.counts)
    networks: list[nn.Module] = []
    errors, alphas, history = [], [], History()
    for learner in range(config.learners):
        stamp = {**config.identity(), "data": digest, "learner": learner, "weights": _digest(weights)}
        before = networks[-1] if networks else None
        network, rows_history, probability = _learn(examples, plan, weights, config, learner, before, folder, stamp, progress)
        right = examples.right[plan.distinct[plan.weighed]]
        said_right = boosting.decide(probability)
        error = boosting.weighted_error(weights[plan.weighed], right, said_right)
        alpha = 1.0 if config.rule == "none" else boosting.learner_weight(error)
        weights = _reweigh(weights, plan.weighed, right, said_right, alpha, config.rule)
        networks.append(network)
        errors.append(error)
        alphas.append(alpha)
        history += rows_history
    return _summary(examples, config, plan, networks, errors, alphas, history)


def _make_plan(examples: Examples, config: TrainConfig) -> _Plan:
    usable = np.flatnonzero(~examples.held_out)
    held = np.flatnonzero(examples.held_out)
    if not len(held):
        raise InputError("None of the puzzles is held out for validation; give more photos or more puzzles.")
    rows = usable[sample_rows(examples.right[usable], config.sampling, np.random.default_rng([config.seed, _SAMPLING]))]
    distinct, counts = np.unique(rows, return_counts=True)
    weighed = np.arange(len(distinct))
    if 0 < config.weigh_at_most < len(distinct):
        chosen = np.random.default_rng([config.seed, _WEIGHING]).choice(weighed, config.weigh_at_most, replace=False)
        weighed = np.sort(chosen)
    if len(held) > config.validate_at_most:
        chosen = np.random.default_rng([config.seed, _VALIDATION]).choice(held, config.validate_at_most, replace=False)
        held = np.sort(chosen)
    return _Plan(rows, distinct, counts, weighed, held)


def _learn(
    examples: Examples, plan: _Plan, weights: FloatArray, config: TrainConfig, learner: int, before: nn.Module | None,
    folder: Path, stamp: Stamp, progress: Progress,
) -> tuple[nn.Module, History, FloatArray]:  # fmt: skip
    """One network, its history, its probabilities for the weighed examples; from ``network-K.pt`` when that is there."""
    torch.manual_seed(fresh_seed(config, learner))
    network = build_network(config, examples)
    path = folder / f"network-{learner + 1}.pt"
    if path.exists():
        state = load_state(path, stamp)
        network.load_state_dict(state["model"])
        return network, state["history"], state["probability"].numpy()
    if config.warm_start and before is not None:
        network.load_state_dict(before.state_dict())
    position = np.searchsorted(plan.distinct, plan.rows)
    each = (weights / plan.counts * len(plan.rows)).astype(np.float32)
    task = Task(examples, plan.rows, each[position], plan.validation, learner)
    checkpoints = folder / f"network-{learner + 1}"
    history = train_learner(network, task, config, checkpoints, stamp, progress)
    probability = predict(network, examples, plan.distinct[plan.weighed], config, progress)
    network.cpu()
    done = {"model": network.state_dict(), "history": history, "probability": torch.from_numpy(probability)}
    save_state(path, done, stamp)
    remove_checkpoints(checkpoints)
    return network, history, probability


def _reweigh(
    weights: FloatArray, weighed: IntArray, right: BoolArray, said_right: BoolArray, alpha: float, rule: UpdateRule
) -> FloatArray:
    """New weights ``(M,)`` with those of the weighed examples updated; their sum stays, so the others keep their part."""
    updated = weights.copy()
    updated[weighed] = boosting.update_weights(weights[weighed], right, said_right, alpha, rule)
    return updated


def _digest(weights: FloatArray) -> str:
    """Ties a later network to what the earlier ones got wrong."""
    return hashlib.sha256(weights.astype(np.float32).tobytes()).hexdigest()[:16]


def _summary(
    examples: Examples, config: TrainConfig, plan: _Plan, networks: list[nn.Module], errors: list[float],
    alphas: list[float], history: History,
) -> Trained:  # fmt: skip
    right = examples.right[plan.validation]
    probabilities = np.stack([predict(network, examples, plan.validation, config) for network in networks])
    return Trained(
        networks=tuple(networks),
        errors=tuple(errors),
        alphas=tuple(alphas),
        history=history,
        scores=tuple(measure(probability, right) for probability in probabilities),
        ensemble=measure(boosting.ensemble_probability(alphas, probabilities), right),
        reject_below=boosting.rejection_threshold(alphas, probabilities) if len(networks) > 1 else 0.0,
        seconds=sum(rows[-1]["seconds"] for rows in _by_learner(history)),
        rows=plan.rows,
    )


def _by_learner(history: History) -> list[History]:
    learners = sorted({row["learner"] for row in history})
    return [[row for row in history if row["learner"] == learner] for learner in learners]
