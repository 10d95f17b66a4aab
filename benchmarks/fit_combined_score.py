"""Fit the combined score on candidates of puzzles cut from training photographs; writes src/jigsawnet/score/combine_weights.py.

usage: python benchmarks/fit_combined_score.py PHOTOS_DIR

Every second puzzle trains, the rest checks; the weights written are fitted on all. Takes about ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

import numpy as np
from fit_seam_score import fit

from jigsawnet.config import SolveConfig
from jigsawnet.evaluation.detect_metrics import average_precision
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.evaluation.pages import make_page
from jigsawnet.io.images import read_image
from jigsawnet.match.rate import cuts_of, rate_alignments
from jigsawnet.pipeline import find_candidates
from jigsawnet.pixels import build_pixels
from jigsawnet.score.combine import combined_terms
from jigsawnet.score.detectors import load_detector
from jigsawnet.score.seam_path import unit_of
from jigsawnet.score.views import SeamViews
from jigsawnet.shred import ShredConfig, shred_images

TARGET = Path(__file__).resolve().parents[1] / "src" / "jigsawnet" / "score" / "combine_weights.py"
FIRST_SEED = 5000
"""Cuts that no network was trained on."""

CASES = (
    [ShredConfig(pieces=9)] * 2
    + [ShredConfig(pieces=36, perturbation=p) for p in (0.02, 0.03, 0.04, 0.06)] * 4
    + [ShredConfig(pieces=100, perturbation=p) for p in (0.02, 0.03, 0.04, 0.05)] * 2
    + [ShredConfig(pieces=400, perturbation=0.04)]
    + [ShredConfig(pieces=36, erosion_px=e) for e in (1.0, 2.0, 2.0, 3.0, 4.0)] * 2
    + [ShredConfig(pieces=100, erosion_px=e) for e in (1.0, 2.0)]
    + [ShredConfig(pieces=36, perturbation=0.0)] * 10
    + [ShredConfig(pieces=100, perturbation=0.0)] * 2
    + [ShredConfig(pieces=36, noise=8.0), ShredConfig(pieces=36, jpeg_quality=75), ShredConfig(pieces=36, color_shift=5.0)] * 2
)
PAGES = [ShredConfig(pieces=36, perturbation=p) for p in (0.03, 0.04, 0.0, 0.05)] * 2


def measure(picture: np.ndarray, config: ShredConfig, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms ``(C, T)``, labels ``(C,)`` and votes ``(C, 2)`` of the candidates of one puzzle."""
    puzzle, truth = shred_images([picture], config, np.random.default_rng(seed))
    bank, alignments = find_candidates(puzzle, SolveConfig())
    right = np.array(right_candidates(puzzle, alignments, truth, gap_px=2.5 + 2 * config.erosion_px))
    terms, seam_score = rate_alignments(bank, alignments, cuts_of(bank, alignments))
    views = SeamViews(build_pixels(puzzle, unit_of(bank)), bank, alignments)
    rows = np.flatnonzero(views.met)
    seen = load_detector("seam").score(views, rows)
    votes = np.column_stack([seam_score[rows], seen])
    return combined_terms(terms[rows], votes), right[rows], votes


def main() -> None:
    """Measure, fit, check, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photos", type=Path)
    photos = sorted(parser.parse_args().photos.glob("*.jpg"))
    jobs = [(read_image(photos[(11 * k + 3) % len(photos)])[..., :3], config) for k, config in enumerate(CASES)]
    jobs += [(make_page(np.random.default_rng(FIRST_SEED + k)), config) for k, config in enumerate(PAGES)]
    parts = []
    for k, (picture, config) in enumerate(jobs):
        parts.append(measure(picture, config, FIRST_SEED + k))
        print(f"{k + 1}/{len(jobs)} {config.pieces} pieces, {int(parts[-1][1].sum())} right", flush=True)
    weights, bias = _fit(parts[::2])
    for k in range(1, len(jobs), 2):
        config, (terms, right, votes) = jobs[k][1], parts[k]
        ranked = {"fit": votes[:, 0], "seam": votes[:, 1], "combined": terms @ weights + bias}
        figures = ", ".join(f"{name} {average_precision(score, right):.4f}" for name, score in ranked.items())
        print(f"{config.pieces} pieces, erosion {config.erosion_px}, perturbation {config.perturbation}: {figures}")
    weights, bias = _fit(parts)
    lines = textwrap.fill(", ".join(f"{w:.5g}" for w in weights), 110, initial_indent="    ", subsequent_indent="    ")
    head = '"""Coefficients of the combined score, written by ``benchmarks/fit_combined_score.py``; do not edit by hand."""\n\n'
    TARGET.write_text(f"{head}BIAS = {bias:.6g}\nWEIGHTS = (\n{lines},\n)  # fmt: skip\n")


def _fit(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[np.ndarray, float]:
    """Every puzzle counts with its root number of candidates, so that large ones do not drown the small."""
    terms, right = (np.concatenate([part[m] for part in parts]) for m in (0, 1))
    weight = np.concatenate([np.full(len(part[1]), 100.0 / np.sqrt(max(1, len(part[1])))) for part in parts])
    return fit(terms, right, weight)


if __name__ == "__main__":
    main()
