"""What is measured of one solved puzzle, beyond the paper's ratios: the rest when pieces are missing, each picture, causes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy

from jigsawnet.candidates import Candidates
from jigsawnet.evaluation.metrics import Metrics, evaluate, right_candidates, right_pieces
from jigsawnet.evaluation.neighbors import true_neighbors
from jigsawnet.types import Assembly, BoolArray, FloatArray, Puzzle, sort_components
from jigsawnet_bench.layouts import NEIGHBOR_PX

SCORE_EDGES: FloatArray = 1.0 / (1.0 + np.exp(-np.linspace(-10.0, 10.0, 101)))
"""Inner edges of the bins in which scores are counted: fine near 0 and near 1, where detectors put most."""

Pairs = frozenset[tuple[int, int]]


def measure(
    puzzle: Puzzle,
    truth: Assembly,
    assembly: Assembly,
    rows: Candidates,
    min_score: float,
    gap_px: float = NEIGHBOR_PX,
    offered: Candidates | None = None,
) -> dict[str, Any]:
    """Everything that is known about one result, as plain values.

    ``min_score`` is what the composer asks of a join, ``gap_px`` how close true neighbours come, ``offered`` the candidates
    that the composer could choose from.
    """
    metrics = over_own_pieces(evaluate(puzzle, assembly, truth, gap_px, offered), truth)
    neighbors = true_neighbors(puzzle, truth, gap_px)
    right = right_candidates(puzzle, rows, truth, gap_px=gap_px)
    hits = right_pieces(puzzle, assembly, truth)
    return {
        **{key: _rounded(value) for key, value in dataclasses.asdict(metrics).items()},
        **_pairs(rows, right, min_score, neighbors),
        "wrong_joins": round(len(assembly.joins) * (1.0 - (metrics.acr_precision or 0.0))) if assembly.joins else 0,
        **_rest(puzzle, truth, assembly, neighbors),
        "pcr_pictures": [round(len(hits.intersection(own)) / len(own), 4) for own in truth.components],
        "separated": is_separated(assembly, truth),
        "foreign": len(truth.unplaced),
        "foreign_placed": len(set(truth.unplaced).intersection(assembly.poses)),
        "candidates": len(rows),
        "right_scores": count_scores(rows.score[right]),
        "wrong_scores": count_scores(rows.score[~right]),
    }


def over_own_pieces(metrics: Metrics, truth: Assembly) -> Metrics:
    """The shares of pieces taken over those that have a true place; foreign ones have none."""
    factor = truth.n_pieces / max(1, len(truth.poses))
    return dataclasses.replace(
        metrics, pcr=metrics.pcr * factor, pcr_tight=metrics.pcr_tight * factor, lcr=min(1.0, metrics.lcr * factor)
    )


def count_scores(scores: FloatArray) -> list[int]:
    """How many scores ``(C,)`` lie in each bin of `SCORE_EDGES`."""
    bins = np.searchsorted(SCORE_EDGES, scores, side="right")
    return [int(count) for count in np.bincount(bins, minlength=len(SCORE_EDGES) + 1)]


def truth_in_parts(truth: Assembly, neighbors: Pairs) -> Assembly:
    """The truth, its pictures split into the parts that remaining neighbours still connect."""
    n = truth.n_pieces
    i, j = np.array(sorted(neighbors), dtype=np.intp).reshape(-1, 2).T
    joined = scipy.sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    _, labels = scipy.sparse.csgraph.connected_components(joined, directed=False)
    parts: dict[int, list[int]] = {}
    for idx in sorted(truth.poses):
        parts.setdefault(int(labels[idx]), []).append(idx)
    return dataclasses.replace(truth, components=sort_components(parts.values()))


def is_separated(assembly: Assembly, truth: Assembly) -> bool:
    """True when no part of the result holds pieces of two pictures."""
    picture = {idx: number for number, own in enumerate(truth.components) for idx in own}
    return all(len({picture[idx] for idx in part if idx in picture}) <= 1 for part in assembly.components)


def _rest(puzzle: Puzzle, truth: Assembly, assembly: Assembly, neighbors: Pairs) -> dict[str, Any]:
    """PCR over the pieces that still have a neighbour, each part that neighbours connect in a frame of its own."""
    parts = truth_in_parts(truth, neighbors)
    joinable = frozenset(idx for part in parts.components if len(part) > 1 for idx in part)
    right = right_pieces(puzzle, assembly, parts) & joinable
    return {"pcr_rest": round(len(right) / len(joinable), 4) if joinable else None, "true_parts": len(parts.components)}


def _pairs(rows: Candidates, right: BoolArray, min_score: float, neighbors: Pairs) -> dict[str, Any]:
    """How many true neighbours have a right candidate, and how many of these are believed."""
    best: dict[tuple[int, int], float] = {}
    for i, j, score in zip(*(column[right].tolist() for column in (rows.i, rows.j, rows.score)), strict=True):
        best[i, j] = max(best.get((i, j), 0.0), score)
    return {
        "neighbors": len(neighbors),
        "candidate_recall": round(len(best) / max(1, len(neighbors)), 4),
        "missed_pairs": len(neighbors) - len(best),
        "doubted_pairs": sum(score < min_score for score in best.values()),
        "believed_wrong": int((rows.score[~right] >= min_score).sum()),
    }


def _rounded(value: float | None) -> float | None:
    return round(value, 4) if isinstance(value, float) else value
