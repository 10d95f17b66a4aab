"""The model card: what a network was trained on, how, for how long, and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from jigsawnet.evaluation.results import markdown_table
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.examples import Examples
from jigsawnet.training.measures import Scores
from jigsawnet.training.sampling import IntArray
from jigsawnet.types import BoolArray

_SEES = {
    "jigsawnet": "the picture of the stitched pair and the box of the abutting area",
    "seam": "the straightened band along the seam: colours and the masks of the two pieces",
}


def describe_examples(examples: Examples, rows: IntArray) -> dict[str, Any]:
    """Counts of the data; ``rows`` are those trained on, with repetition."""
    held = examples.held_out
    return {
        "photos": len(examples.photos),
        "puzzles": len(examples.case),
        **_counts("", examples.right[~held]),
        **_counts("held-out ", examples.right[held]),
        "examples in one round": len(rows),
        "right ones in one round": int(examples.right[rows].sum()),
        "digest": examples.digest(),
    }


def model_card(
    name: str,
    config: TrainConfig,
    data: Mapping[str, Any],
    learners: Sequence[tuple[float, float, Scores]],
    ensemble: Scores,
    seconds: float,
    held_out_cases: Sequence[str],
) -> str:
    """Markdown.

    Args:
        name: of the weights.
        config: of the training.
        data: as of `describe_examples`.
        learners: error, say in the vote, and scores of each network.
        ensemble: scores of all networks together.
        seconds: spent training.
        held_out_cases: kinds of the puzzles held out.
    """
    rows = [
        {"network": str(k + 1), "steps": str(config.steps_of(k)), "weighted error": error, "alpha": alpha, **_cells(scores)}
        for k, (error, alpha, scores) in enumerate(learners)
    ]
    rows.append({"network": "all", "steps": "", "weighted error": "", "alpha": "", **_cells(ensemble)})
    settings = [{"option": key, "value": str(value)} for key, value in config.identity().items()]
    kinds, counts = np.unique(np.array(held_out_cases, dtype=str), return_counts=True)
    puzzles = "; ".join(f"{count} × {kind}" for kind, count in zip(kinds, counts, strict=True))
    return "\n".join([
        f"# Model card: {name}",
        "",
        f"Decides whether two pieces of a torn picture belong together. It sees {_SEES[config.network]}.",
        f"{config.learners} network{'s' * (config.learners != 1)}, {seconds / 3600:.2f} hours of training.",
        "",
        "## Data",
        "",
        markdown_table([{"what": key, "number": str(value)} for key, value in data.items()]),
        "",
        "## Scores on held-out puzzles",
        "",
        markdown_table(rows),
        "",
        f"Precision and recall at probability 0.5. The puzzles: {puzzles}.",
        "",
        "## Settings",
        "",
        markdown_table(settings),
        "",
    ])  # fmt: skip


def _counts(prefix: str, right: BoolArray) -> dict[str, int]:
    return {f"{prefix}candidates": len(right), f"{prefix}right candidates": int(right.sum())}


def _cells(scores: Scores) -> dict[str, float]:
    return {key.replace("_", " "): value for key, value in asdict(scores).items()}
