"""One calibrated probability from what the seam measures and what the detectors see.

Logistic regressions, fitted on candidates of puzzles cut from training photographs: one for seams that run together all along,
one for those that touch only in parts.
"""

from __future__ import annotations

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.learned import Logistic
from jigsawnet.seam_fit import PLAIN_TERMS, contact_terms
from jigsawnet.types import FloatArray

_EDGE = 1e-5
LOWEST = float(np.log(_EDGE / (1.0 - _EDGE)))
"""Log odds of what is as good as impossible."""
_TURN, _MOST_TURN = 0.1, 5.0
"""Lines of print that turn by so many radians count 1, and no more than the second number."""
_FARTHEST = 8.0
"""A lead before rivals counts up to this much."""


def logit(probability: FloatArray) -> FloatArray:
    """Log odds, kept finite."""
    p = np.clip(probability, _EDGE, 1.0 - _EDGE)
    return np.asarray(np.log(p / (1.0 - p)))


def combine(terms: FloatArray, weights: Logistic) -> FloatArray:
    """Probability ``(C,)`` from terms."""
    z = terms @ np.array(weights.weights) + weights.bias
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(z, -30, 30))))


def combined_terms(terms: FloatArray, votes: FloatArray) -> FloatArray:
    """The terms, the log odds of the votes, their products, and their products with the first 11 terms.

    ``terms (C, 77)`` as of `seam_terms`; ``votes (C, V)``: the seam fit, then each detector's probability.
    """
    odds = logit(votes)
    a, b = np.triu_indices(odds.shape[1])
    crossed = (odds[:, :, None] * terms[:, None, :PLAIN_TERMS]).reshape(len(terms), odds.shape[1] * PLAIN_TERMS)
    return np.column_stack([terms, odds, odds[:, a] * odds[:, b], crossed])


def ragged_terms(rows: Candidates, step_px: float, votes: FloatArray, rivals: FloatArray) -> FloatArray:
    """What is known of candidates that touch in parts: ``(C, 58)``.

    The contact terms, the log odds of ``votes (C, 2)``, the contact fit and the network, their products, the network's with
    each contact term, and how far the fit leads before the log odds of the best ``rivals (C, 2)`` on both borders.
    """
    plain = contact_terms(rows, step_px)
    own, net = logit(votes).T
    lead = np.clip(own[:, None] - rivals, -_FARTHEST, _FARTHEST)
    both = np.column_stack([lead.min(1), lead.max(1), np.minimum(lead.min(1), 0.0) * net])
    return np.column_stack([plain, own, net, own * net, net * net, own * own, net[:, None] * plain, both])


def printed_terms(
    rows: Candidates, step_px: float, votes: FloatArray, rivals: FloatArray, print_turn: FloatArray
) -> FloatArray:
    """The same on a page, ``(C, 61)``: the `ragged_terms`, and by how much lines of print turn at the seam.

    ``print_turn (C,)`` is in radians, NaN where lines are not clear on both sides.
    """
    clear = np.isfinite(print_turn)
    turn = np.where(clear, np.minimum(np.abs(np.nan_to_num(print_turn)) / _TURN, _MOST_TURN), 0.0)
    return np.column_stack([ragged_terms(rows, step_px, votes, rivals), clear, turn, clear * logit(votes[:, 1])])
