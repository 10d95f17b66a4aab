"""Coefficients of the combined score, written by ``benchmarks/fit_combined_score.py``; do not edit by hand."""

BIAS = 0.0
WEIGHTS = (0.0,)
