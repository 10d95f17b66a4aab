"""The tables of ``jigsawnet bench detect``: decisions, greedy selection, calibration and speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from jigsawnet.evaluation.detect_candidates import SCORERS, Candidates
from jigsawnet.evaluation.detect_metrics import (
    Reliability,
    average_precision,
    count_decisions,
    precision_at_recall,
    reliability,
    take_until_connected,
)
from jigsawnet.evaluation.detect_networks import NETWORKS, Ensemble
from jigsawnet.evaluation.results import Row, mean_rows
from jigsawnet.types import BoolArray, FloatArray

DETECTORS = (*NETWORKS, *SCORERS)
RECALLS = (0.97, 0.98)
_SPEED_PIECES = 100


def pool(sets: Sequence[Candidates], detector: str) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Scores, decisions and truth ``(C,)`` of all candidates together; each set must know the detector."""
    verdicts = [candidates.verdicts[detector] for candidates in sets]
    return (
        np.concatenate([np.zeros(0), *(v.score for v in verdicts)]),
        np.concatenate([np.zeros(0, dtype=bool), *(v.said_right for v in verdicts)]),
        np.concatenate([np.zeros(0, dtype=bool), *(candidates.right for candidates in sets)]),
    )


def decision_table(sets: Sequence[Candidates]) -> list[Row]:
    """The paper's Table I: each detector's decisions at its own threshold, over all puzzles of a kind and matcher together.

    Then what thresholds can do: the average precision, and the precision at the threshold that reaches a recall. Recall is of
    the right candidates that the matcher found.
    """
    return [row for group in _groups(sets) for row in _decisions(group)]


def decision_rows(sets: Sequence[Candidates]) -> list[Row]:
    """The same for each puzzle by itself."""
    return [{**row, "seed": each.seed, "picture": each.picture} for each in sets for row in _decisions([each])]


def greedy_rows(sets: Sequence[Candidates]) -> list[Row]:
    """Per puzzle and detector: precision and recall of the best-scored candidates, taken until all pieces are connected."""
    rows: list[Row] = []
    for candidates in sets:
        for detector in [name for name in DETECTORS if name in candidates.verdicts]:
            taken = np.zeros(len(candidates.right), dtype=bool)
            taken[take_until_connected(candidates.n_pieces, candidates.joins, candidates.verdicts[detector].score)] = True
            counts = count_decisions(taken, candidates.right)
            rows.append({
                "puzzle": candidates.kind.name, "matcher": candidates.matcher, "detector": detector,
                "seed": candidates.seed, "picture": candidates.picture, "taken": int(taken.sum()),
                "precision": round(counts.precision, 4), "recall": round(counts.recall, 4),
            })  # fmt: skip
    return rows


def greedy_table(rows: Sequence[Row]) -> list[Row]:
    """Means over the puzzles of a kind."""
    return mean_rows(rows, ("puzzle", "matcher", "detector"), ("taken", "precision", "recall"))


def calibrations(sets: Sequence[Candidates]) -> dict[str, Reliability]:
    """How far each scorer's numbers are probabilities, on the dense matcher's candidates of all kinds shown to the networks."""
    chosen = [candidates for candidates in sets if candidates.matcher == "dense" and candidates.kind.networks]
    return {scorer: reliability(score, right) for scorer in SCORERS for score, _, right in [pool(chosen, scorer)]}


def calibration_rows(scorers: dict[str, Reliability]) -> tuple[list[Row], list[Row]]:
    """The bins one by one, and the expected calibration error of each scorer."""
    bins: list[Row] = [
        {"scorer": scorer, "mean_score": round(float(mean), 4), "share_right": round(float(share), 4), "candidates": int(count)}
        for scorer, found in scorers.items()
        for mean, share, count in zip(found.mean_score, found.share_right, found.count, strict=True)
    ]
    errors: list[Row] = [
        {"scorer": scorer, "candidates": int(found.count.sum()), "calibration_error": round(found.error, 4)}
        for scorer, found in scorers.items()
    ]
    return bins, errors


def convergence_rows(ensembles: Sequence[Ensemble]) -> tuple[list[Row], list[Row]]:
    """The histories of all networks, and the first network's loss with and without RoI, step by step."""
    names = {True: "loss with RoI", False: "loss without RoI"}
    rows: list[Row] = [{"roi": ensemble.roi, **row} for ensemble in ensembles for row in ensemble.history]
    first = {(row["step"], row["roi"]): row["loss"] for row in rows if row["learner"] == 0}
    steps = sorted({step for step, _ in first})
    return rows, [{"step": step, **{names[roi]: first.get((step, roi), "") for roi in names}} for step in steps]


def speed_rows(sets: Sequence[Candidates]) -> tuple[list[Row], list[Row]]:
    """Candidates per second through each scorer but ``fit``, which the matcher has computed already; per puzzle, and means.

    Measured on the dense matcher's candidates of puzzles of 100 pieces, or the largest there are below that.
    """
    dense = [c for c in sets if c.matcher == "dense" and c.kind.plain and c.kind.shred.pieces <= _SPEED_PIECES]
    most = max((c.kind.shred.pieces for c in dense), default=0)
    rows: list[Row] = [
        {
            "puzzle": c.kind.name, "scorer": scorer, "seed": c.seed, "candidates": len(c.right),
            "seconds": round(c.verdicts[scorer].seconds, 3),
            "per_second": round(len(c.right) / max(1e-9, c.verdicts[scorer].seconds), 1),
        }
        for scorer in SCORERS if scorer != "fit" for c in dense if c.kind.shred.pieces == most
    ]  # fmt: skip
    return rows, mean_rows(rows, ("puzzle", "scorer"), ("candidates", "seconds", "per_second"))


def _decisions(group: Sequence[Candidates]) -> list[Row]:
    """A row for each detector, over some sets of one kind and matcher together."""
    rows: list[Row] = []
    for detector in [name for name in DETECTORS if name in group[0].verdicts]:
        score, said_right, right = pool(group, detector)
        counts, verdict = count_decisions(said_right, right), group[0].verdicts[detector]
        rows.append({
            "puzzle": group[0].kind.name, "matcher": group[0].matcher, "detector": detector,
            "learners": verdict.learners, "steps": verdict.steps, "puzzles": len(group), "candidates": len(right),
            **asdict(counts), "precision": round(counts.precision, 4), "recall": round(counts.recall, 4),
            "average_precision": round(average_precision(score, right), 4),
            **{f"precision at recall {100 * r:g} %": round(precision_at_recall(score, right, r), 4) for r in RECALLS},
        })  # fmt: skip
    return rows


def _groups(sets: Sequence[Candidates]) -> list[list[Candidates]]:
    """Sets of the same kind and matcher together, in order of appearance."""
    groups: dict[tuple[str, str], list[Candidates]] = {}
    for candidates in sets:
        groups.setdefault((candidates.matcher, candidates.kind.name), []).append(candidates)
    return list(groups.values())
