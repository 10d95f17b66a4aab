"""Coefficients of join confidence, written by ``benchmarks/fit_confidence.py``; do not edit by hand."""

BIAS = 4.2109
WEIGHTS = (0.0125254, 0.350356, -1.90495, 0.288542)
