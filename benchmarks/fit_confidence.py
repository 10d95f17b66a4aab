"""Fit join confidence on solved training puzzles, hard ones included; writes src/jigsawnet/confidence_weights.py.

usage: python benchmarks/fit_confidence.py PHOTOS_DIR

Half of the puzzles train, the rest checks the calibration of joins and of pieces. Takes about five minutes on two cores.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from jigsawnet import confidence
from jigsawnet.compose import ComposeConfig
from jigsawnet.config import SolveConfig
from jigsawnet.evaluation.detector import simulate_scores
from jigsawnet.evaluation.metrics import right_candidates, right_joins, right_pieces
from jigsawnet.graph import build_graph
from jigsawnet.io.images import read_image
from jigsawnet.judging import Judge
from jigsawnet.pipeline import find_candidates, lay_pieces
from jigsawnet.stage_clock import StageClock
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import MatchGraph

TARGET = Path(__file__).resolve().parents[1] / "src" / "jigsawnet" / "confidence_weights.py"
PENALTY = 1e-3

CASES = (
    [ShredConfig(pieces=36, perturbation=0.0)] * 16
    + [ShredConfig(pieces=64, perturbation=0.005)] * 8
    + [ShredConfig(pieces=100, perturbation=0.01)] * 6
    + [ShredConfig(pieces=36, perturbation=0.0, missing=0.3)] * 6
    + [ShredConfig(pieces=36), ShredConfig(pieces=100), ShredConfig(pieces=36, erosion_px=3.0)] * 2
)


def solved(
    pictures: list[np.ndarray], config: ShredConfig, seed: int
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Join features, which joins are right, which pieces are; by the default scorer, and by a simulated detector."""
    rng = np.random.default_rng(seed)
    puzzle, truth = shred_images(pictures, config, rng)
    options = SolveConfig(compose=ComposeConfig(min_score=0.02))  # low, so that there are wrong joins to learn from
    bank, alignments = find_candidates(puzzle, options)
    judge = Judge(puzzle, bank, options.chosen_scorer, alignments)
    scored = build_graph(len(puzzle), alignments, judge(alignments).tolist())
    graphs: list[MatchGraph] = [scored]
    if config.perturbation >= 0.03:
        right = right_candidates(puzzle, alignments, truth, gap_px=2.5 + 2 * config.erosion_px)
        graphs = [build_graph(len(puzzle), alignments, simulate_scores(right, 0.5, 0.9, rng).tolist()), scored]
    rows = []
    for graph in graphs:
        assembly = lay_pieces(puzzle, bank, graph, options, StageClock(), judge)
        features = confidence.join_features(assembly, graph)
        good = np.array(right_joins(puzzle, assembly, truth))
        judged = confidence.judge_assembly(assembly, graph)
        placed = np.array([judged.confidence[idx] for idx in judged.poses])
        rows.append((features, good, placed, np.array([idx in right_pieces(puzzle, assembly, truth) for idx in judged.poses])))
    return rows


def fit(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Lightly penalised logistic regression."""
    mean, scale = x.mean(0), x.std(0) + 1e-9
    z = (x - mean) / scale

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        logit = z @ b[1:] + b[0]
        error = 1 / (1 + np.exp(-logit)) - y
        value = (np.logaddexp(0, logit) - y * logit).mean() + PENALTY * (b[1:] ** 2).sum()
        return value, np.r_[error.mean(), z.T @ error / len(y)] + np.r_[0, 2 * PENALTY * b[1:]]

    b = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return b[1:] / scale, float(b[0] - (b[1:] / scale) @ mean)


def reliability(probability: np.ndarray, good: np.ndarray, name: str) -> None:
    """Print said against seen."""
    for low, high in ((0.0, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 0.99), (0.99, 1.01)):
        inside = (probability >= low) & (probability < high)
        if inside.any():
            print(
                f"{name} {low:.2f}-{min(high, 1.0):.2f}: said {probability[inside].mean():.3f}, seen {good[inside].mean():.3f}, "
                f"{inside.sum()} of them"
            )


def main() -> None:
    """Solve, fit, check, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photos", type=Path)
    photos = sorted(parser.parse_args().photos.glob("*.jpg"))
    parts = []
    for k, config in enumerate(CASES):
        chosen = [
            photos[(11 * k + 3 + 29 * m) % len(photos)] for m in range(1 + k % 2)
        ]  # every second puzzle mixes two pictures
        rows = solved([read_image(path)[..., :3] for path in chosen], config, seed=1000 + k)
        parts.append([np.concatenate([row[m] for row in rows]) for m in range(4)])
        print(
            f"{k + 1}/{len(CASES)} {config.pieces} pieces, {int((~parts[-1][1]).sum())} of {len(parts[-1][1])} joins wrong",
            flush=True,
        )
    train, check = [part for k, part in enumerate(parts) if k % 4 < 2], [part for k, part in enumerate(parts) if k % 4 >= 2]
    weights, bias = fit(*(np.concatenate([part[m] for part in train]) for m in (0, 1)))
    held = [np.concatenate([part[m] for part in check]) for m in range(4)]
    reliability(1 / (1 + np.exp(-(held[0] @ weights + bias))), held[1], "joins held out")
    reliability(held[2], held[3], "pieces, by the weights in force before")
    weights, bias = fit(*(np.concatenate([part[m] for part in parts]) for m in (0, 1)))
    head = '"""Coefficients of join confidence, written by ``benchmarks/fit_confidence.py``; do not edit by hand."""\n\n'
    TARGET.write_text(f"{head}BIAS = {bias:.6g}\nWEIGHTS = ({', '.join(f'{w:.6g}' for w in weights)})\n")


if __name__ == "__main__":
    main()
