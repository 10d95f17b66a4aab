"""How well scores tell right candidates from wrong ones: the tables of ``jigsawnet bench detect``; of nothing, 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from jigsawnet.evaluation.detect_metrics import average_precision, count_decisions, precision_recall
from jigsawnet.shred import ShredConfig
from jigsawnet.types import BoolArray, FloatArray
from jigsawnet_bench.networks import NETWORKS, Ensemble, Verdict
from jigsawnet_bench.results import Row
from jigsawnet_bench.suite import Group
from jigsawnet_bench.tables import mean_rows
from jigsawnet_bench.tasks import MOST_FOR_NETWORKS, SCORERS

IntArray = NDArray[np.int64]
DETECTORS = (*NETWORKS, *SCORERS)
RECALLS = (0.97, 0.98)
PRECISION = 0.97


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """C candidates of one matcher for one puzzle: the pieces they join ``(C, 2)``, which are ``right (C,)``, who says what."""

    group: Group
    matcher: str
    seed: int
    picture: str
    n_pieces: int
    joins: IntArray
    right: BoolArray
    verdicts: Mapping[str, Verdict]

    @property
    def small(self) -> bool:
        """True for puzzles that all networks are shown; these count in the calibration."""
        return self.group.shred.pieces <= MOST_FOR_NETWORKS

    @property
    def plain(self) -> bool:
        """True for puzzles without damage; these count in the curves of precision over recall."""
        return self.small and self.group.shred == ShredConfig(pieces=self.group.shred.pieces)


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """Scores against how often they hold: ``mean_score``, ``share_right``, ``count`` of the B bins not empty, ``(B,)`` each."""

    mean_score: FloatArray
    share_right: FloatArray
    count: IntArray

    @property
    def error(self) -> float:
        """Expected calibration error: how far scores lie from shares of right ones, mean over the candidates."""
        return float(np.abs(self.mean_score - self.share_right) @ self.count / max(1, self.count.sum()))


def precision_at_recall(score: FloatArray, right: BoolArray, recall: float) -> float:
    """The best precision among the thresholds that reach at least ``recall``."""
    precision, reached = precision_recall(score, right)
    return float(precision[reached >= recall - 1e-12].max(initial=0.0))


def recall_at_precision(score: FloatArray, right: BoolArray, precision: float) -> float:
    """The best recall among the thresholds whose precision is at least ``precision``."""
    held, reached = precision_recall(score, right)
    return float(reached[held >= precision - 1e-12].max(initial=0.0))


def reliability(score: FloatArray, right: BoolArray, bins: int = 10) -> Reliability:
    """Sort scores ``(C,)`` in [0, 1] into ``bins`` of equal width and see how many of each are right."""
    at = np.minimum((score * bins).astype(np.int64), bins - 1)
    count = np.bincount(at, minlength=bins)
    used = count > 0
    sums = (np.bincount(at, weights, minlength=bins)[used] for weights in (score, right.astype(np.float64)))
    mean_score, share_right = (total / count[used] for total in sums)
    return Reliability(mean_score, share_right, count[used])


def take_until_connected(n_pieces: int, joins: IntArray, score: FloatArray) -> IntArray:
    """The best-scored candidates, none skipped, down to the one that connects all pieces; rows of ``joins (C, 2)``, best first.

    That is the paper's second comparison of scores: a candidate is taken whether or not its pieces are connected already, and
    whether or not it contradicts earlier ones. Of equal scores the earlier row goes first. Where the candidates do not connect
    all pieces, all are taken.
    """
    order = np.argsort(-score, kind="stable")
    ranked = joins[order]
    _, first = np.unique(ranked[:, 0] * n_pieces + ranked[:, 1], return_index=True)
    i, j = ranked[first].T
    ranks = coo_array((first + 1.0, (i, j)), shape=(n_pieces, n_pieces)).tocsr()
    tree = minimum_spanning_tree(ranks)  # its longest link is the first rank down to which all is connected
    connected = tree.nnz == n_pieces - 1
    return order[: int(tree.data.max(initial=0.0))] if connected else order


def pool(sets: Sequence[Judged], detector: str) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Scores, decisions and truth ``(C,)`` of all candidates together; each set must know the detector."""
    verdicts = [candidates.verdicts[detector] for candidates in sets]
    return (
        np.concatenate([np.zeros(0), *(v.score for v in verdicts)]),
        np.concatenate([np.zeros(0, dtype=bool), *(v.said_right for v in verdicts)]),
        np.concatenate([np.zeros(0, dtype=bool), *(candidates.right for candidates in sets)]),
    )


def decision_rows(sets: Sequence[Judged]) -> tuple[list[Row], list[Row]]:
    """The paper's Table I: each detector's decisions at its own threshold; for each puzzle, and all of a kind together.

    Then what thresholds can do: the average precision, and the precision at the threshold that reaches a recall. Recall is of
    the right candidates that the matcher found.
    """
    rows = [{**row, "seed": each.seed, "picture": each.picture} for each in sets for row in _decisions([each])]
    groups: dict[tuple[str, str], list[Judged]] = {}
    for candidates in sets:
        groups.setdefault((candidates.matcher, candidates.group.kind.name), []).append(candidates)
    return [*rows], [row for group in groups.values() for row in _decisions(group)]


def precision_rows(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Candidate recall over true neighbours, and what scores tell of the candidates found; per puzzle, and per kind.

    ``AP``: average precision; ``R97``: share of the right candidates that a threshold with precision 0.97 reaches.
    """
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        kinds.setdefault((row["puzzle"], row["matcher"]), []).append(row)
    single = [{**_precisions([row]), "seed": row["seed"], "picture": row["picture"]} for row in rows]
    return [*single], [_precisions(kind) for kind in kinds.values()]


def _precisions(rows: Sequence[Row]) -> dict[str, Any]:
    right = np.concatenate([np.array(row["right"], bool) for row in rows])
    neighbors, found = (sum(row[key] for row in rows) for key in ("neighbors", "found"))
    figures: dict[str, Any] = {
        "puzzle": rows[0]["puzzle"], "matcher": rows[0]["matcher"], "puzzles": len(rows), "neighbors": neighbors,
        "candidate_recall": round(found / max(1, neighbors), 4), "candidates": len(right), "right": int(right.sum()),
    }  # fmt: skip
    scores = {scorer: np.concatenate([np.array(row["scores"][scorer], np.float64) for row in rows]) for scorer in SCORERS}
    figures |= {f"AP {scorer}": round(average_precision(score, right), 4) for scorer, score in scores.items()}
    return figures | {
        f"R97 {scorer}": round(recall_at_precision(score, right, PRECISION), 4) for scorer, score in scores.items()
    }


def greedy_rows(sets: Sequence[Judged]) -> tuple[list[Row], list[Row]]:
    """Precision and recall of the best-scored candidates, taken until all pieces are connected; per puzzle, and means."""
    rows: list[Row] = []
    for each in sets:
        for detector in [name for name in DETECTORS if name in each.verdicts]:
            taken = np.zeros(len(each.right), dtype=bool)
            taken[take_until_connected(each.n_pieces, each.joins, each.verdicts[detector].score)] = True
            counts = count_decisions(taken, each.right)
            rows.append({
                "puzzle": each.group.kind.name, "matcher": each.matcher, "detector": detector, "seed": each.seed,
                "picture": each.picture, "taken": int(taken.sum()),
                "precision": round(counts.precision, 4), "recall": round(counts.recall, 4),
            })  # fmt: skip
    return rows, mean_rows(rows, ("puzzle", "matcher", "detector"), ("taken", "precision", "recall"))


def calibrations(sets: Sequence[Judged]) -> dict[str, Reliability]:
    """How far each scorer's numbers are probabilities, on the dense matcher's candidates of small puzzles."""
    chosen = [candidates for candidates in sets if candidates.matcher == "dense" and candidates.small]
    return {scorer: reliability(score, right) for scorer in SCORERS for score, _, right in [pool(chosen, scorer)]}


def calibration_rows(scorers: Mapping[str, Reliability]) -> tuple[list[Row], list[Row]]:
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


def speed_rows(sets: Sequence[Judged]) -> tuple[list[Row], list[Row]]:
    """Candidates per second through each scorer but ``fit``, which the matcher has computed already; per puzzle, and means.

    Measured on the dense matcher's candidates of the largest plain puzzles.
    """
    dense = [c for c in sets if c.matcher == "dense" and c.plain]
    most = max((c.group.shred.pieces for c in dense), default=0)
    rows: list[Row] = [
        {
            "puzzle": c.group.kind.name, "scorer": scorer, "seed": c.seed, "candidates": len(c.right),
            "seconds": round(c.verdicts[scorer].seconds, 3),
            "per_second": round(len(c.right) / max(1e-9, c.verdicts[scorer].seconds), 1),
        }
        for scorer in SCORERS if scorer != "fit" for c in dense if c.group.shred.pieces == most
    ]  # fmt: skip
    return rows, mean_rows(rows, ("puzzle", "scorer"), ("candidates", "seconds", "per_second"))


def _decisions(group: Sequence[Judged]) -> list[dict[str, Any]]:
    """A row for each detector, over some sets of one kind and matcher together."""
    rows = []
    for detector in [name for name in DETECTORS if name in group[0].verdicts]:
        score, said_right, right = pool(group, detector)
        counts, verdict = count_decisions(said_right, right), group[0].verdicts[detector]
        rows.append({
            "puzzle": group[0].group.kind.name, "matcher": group[0].matcher, "detector": detector,
            "learners": verdict.learners, "steps": verdict.steps, "puzzles": len(group), "candidates": len(right),
            **asdict(counts), "precision": round(counts.precision, 4), "recall": round(counts.recall, 4),
            "average_precision": round(average_precision(score, right), 4),
            **{f"precision at recall {100 * r:g} %": round(precision_at_recall(score, right, r), 4) for r in RECALLS},
        })  # fmt: skip
    return rows
