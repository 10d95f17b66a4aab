"""How well scores tell right candidates from wrong ones: counts, precision over recall, calibration; of nothing, 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from jigsawnet.types import BoolArray, FloatArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Confusion:
    """Decisions against the truth."""

    tp: int
    """Right and said to be right."""
    tn: int
    """Wrong and said to be wrong."""
    fp: int
    """Wrong but said to be right."""
    fn: int
    """Right but said to be wrong."""

    @property
    def precision(self) -> float:
        """Share of right ones among those said to be right."""
        return self.tp / max(1, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of the right ones that are said to be right."""
        return self.tp / max(1, self.tp + self.fn)


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


def count_decisions(said_right: BoolArray, right: BoolArray) -> Confusion:
    """Count decisions ``(C,)`` against the truth ``(C,)``."""
    tp, said, real = int((said_right & right).sum()), int(said_right.sum()), int(right.sum())
    return Confusion(tp, len(right) - said - real + tp, said - tp, real - tp)


def precision_recall(score: FloatArray, right: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Precision and recall, each ``(T,)``, at every distinct score as threshold, the highest first."""
    order = np.argsort(-score, kind="stable")
    last_of_tie = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)[: len(order)]
    hits = np.cumsum(right[order])[last_of_tie]
    return hits / (last_of_tie + 1.0), hits / max(1.0, float(right.sum()))


def average_precision(score: FloatArray, right: BoolArray) -> float:
    """Area under precision over recall, as steps: the mean of the precision at which each right candidate is reached."""
    precision, recall = precision_recall(score, right)
    return float(precision @ np.diff(recall, prepend=0.0))


def precision_at_recall(score: FloatArray, right: BoolArray, recall: float) -> float:
    """The best precision among the thresholds that reach at least ``recall``."""
    precision, reached = precision_recall(score, right)
    return float(precision[reached >= recall - 1e-12].max(initial=0.0))


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
    tree = minimum_spanning_tree(ranks)  # its longest edge is the first rank down to which all is connected
    connected = tree.nnz == n_pieces - 1
    return order[: int(tree.data.max(initial=0.0))] if connected else order
