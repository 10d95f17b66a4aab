"""Coefficients of join confidence, written by ``benchmarks/fit_confidence.py``; do not edit by hand."""

BIAS = 0.0
WEIGHTS = (0.6, 1.0, -1.0, 0.2)
