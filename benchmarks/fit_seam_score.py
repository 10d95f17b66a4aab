"""Fit the dense matcher's seam score on puzzles cut from training photographs; writes src/jigsawnet/match/fit_weights.py.

usage: python benchmarks/fit_seam_score.py PHOTOS_DIR

Every second photo trains, the rest checks; the weights written are fitted on all. Takes about ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.evaluation.detect_metrics import average_precision
from jigsawnet.evaluation.neighbors import common_borders
from jigsawnet.evaluation.pages import make_page
from jigsawnet.geometry import SE2
from jigsawnet.io.images import read_image
from jigsawnet.match.dense import DenseConfig, measure_row, prepare_material, scales_of
from jigsawnet.match.fit import seam_fit, seam_terms
from jigsawnet.match.gap import estimate_gap, lay_apart
from jigsawnet.match.measured import Measured
from jigsawnet.match.pairs import all_pairs
from jigsawnet.raster import build_bank
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.workers import LocalWorkers, Shared

TARGET = Path(__file__).resolve().parents[1] / "src" / "jigsawnet" / "match" / "fit_weights.py"
RIGHT_RAD, RIGHT_PX = np.radians(3.0), 8.0
POSITIVE_WEIGHT = 5.0
NEGATIVES_PER_PUZZLE = 40_000
PENALTY = 1e-5

CASES = (
    [ShredConfig(pieces=9, perturbation=p) for p in (0.03, 0.06)] * 2
    + [ShredConfig(pieces=36, perturbation=p) for p in (0.02, 0.03, 0.04, 0.06)] * 4
    + [ShredConfig(pieces=100, perturbation=p) for p in (0.02, 0.03, 0.04, 0.05)] * 2
    + [ShredConfig(pieces=400, perturbation=0.04)]
    + [ShredConfig(pieces=36, erosion_px=e) for e in (1.0, 2.0, 2.0, 3.0, 4.0)] * 2
    + [ShredConfig(pieces=100, erosion_px=e) for e in (1.0, 2.0)]
    + [ShredConfig(pieces=36, perturbation=0.0)] * 8
    + [ShredConfig(pieces=36, noise=8.0), ShredConfig(pieces=36, jpeg_quality=75)] * 2
)
PAGES = [ShredConfig(pieces=36, perturbation=p) for p in (0.03, 0.04, 0.05)] * 2


def measure(picture: np.ndarray, config: ShredConfig, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms, labels and sample weights of all verified seeds of one puzzle."""
    rng = np.random.default_rng(seed)
    puzzle, truth = shred_images([picture], config, rng)
    bank = build_bank(trace_contours(puzzle, ContourConfig()))
    dense = DenseConfig()
    workers = LocalWorkers()
    material = prepare_material(bank, dense, scales_of(bank, bank.step_px), workers)
    rows = Measured.join(workers.run(measure_row, Shared(material), all_pairs(len(bank))))
    i, j, pose, features = rows.i, rows.j, rows.pose, rows.features
    gap_px = estimate_gap(bank, i, j, pose, seam_fit(features, bank.step_px), dense.verify)
    if gap_px:
        pose, features = lay_apart(bank, i, j, pose, dense.verify, gap_px)
    borders = {(b.i, b.j): b for b in common_borders(puzzle, truth, gap_px=2.5 + 2 * config.erosion_px, min_share=0.0)}
    right = np.zeros(len(i), bool)
    for k in range(len(i)):
        border = borders.get((int(i[k]), int(j[k])))
        if border is not None:
            true_pose = truth.poses[border.i].inverse() @ truth.poses[border.j]
            angle, distance = SE2(*map(float, pose[k])).distance(true_pose, at=border.middle_in_j)
            right[k] = angle < RIGHT_RAD and distance < RIGHT_PX
    wrong = np.flatnonzero(~right)
    kept = rng.choice(wrong, min(len(wrong), NEGATIVES_PER_PUZZLE), replace=False)
    use = np.concatenate([np.flatnonzero(right), kept])
    weight = np.where(right[use], POSITIVE_WEIGHT, len(wrong) / max(1, len(kept)))
    return seam_terms(features[use], bank.step_px), right[use], weight


def fit(terms: np.ndarray, right: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
    """Weighted, lightly penalised logistic regression: coefficients and bias for raw terms."""
    mean, scale = terms.mean(0), terms.std(0) + 1e-9
    z = (terms - mean) / scale

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        logit = z @ b[1:] + b[0]
        error = weight * (1 / (1 + np.exp(-logit)) - right)
        value = (weight * (np.logaddexp(0, logit) - right * logit)).sum() / weight.sum() + PENALTY * (b[1:] ** 2).sum()
        return value, np.r_[error.sum(), z.T @ error] / weight.sum() + np.r_[0, 2 * PENALTY * b[1:]]

    b = minimize(loss, np.zeros(z.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 800}).x
    return b[1:] / scale, float(b[0] - (b[1:] / scale) @ mean)


def main() -> None:
    """Measure, fit, check, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photos", type=Path)
    photos = sorted(parser.parse_args().photos.glob("*.jpg"))
    jobs = [(read_image(photos[(7 * k) % len(photos)])[..., :3], config) for k, config in enumerate(CASES)]
    jobs += [(make_page(np.random.default_rng(k)), config) for k, config in enumerate(PAGES)]
    parts = []
    for k, (picture, config) in enumerate(jobs):
        parts.append(measure(picture, config, seed=k))
        print(f"{k + 1}/{len(jobs)} {config.pieces} pieces, {int(parts[-1][1].sum())} right", flush=True)
    half = [np.concatenate([part[m] for part in parts[::2]]) for m in range(3)]
    weights, bias = fit(*half)
    for k in range(1, len(jobs), 2):
        config = jobs[k][1]
        print(
            f"{config.pieces} pieces, erosion {config.erosion_px}, perturbation {config.perturbation}: "
            f"average precision {average_precision(parts[k][0] @ weights + bias, parts[k][1]):.4f}"
        )
    weights, bias = fit(*(np.concatenate([part[m] for part in parts]) for m in range(3)))
    lines = textwrap.fill(", ".join(f"{w:.5g}" for w in weights), 110, initial_indent="    ", subsequent_indent="    ")
    head = '"""Coefficients of the seam score, written by ``benchmarks/fit_seam_score.py``; do not edit by hand."""\n\n'
    TARGET.write_text(f"{head}BIAS = {bias:.6g}\nWEIGHTS = (\n{lines},\n)  # fmt: skip\n")


if __name__ == "__main__":
    main()
