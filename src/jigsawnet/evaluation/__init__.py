"""How good a result is, measured against the truth, which the solver never sees."""

from jigsawnet.evaluation.metrics import Metrics, candidate_recall, evaluate
from jigsawnet.evaluation.neighbors import CommonBorder, common_borders, true_neighbors

__all__ = ["CommonBorder", "Metrics", "candidate_recall", "common_borders", "evaluate", "true_neighbors"]
