"""Coefficients of join confidence, written by ``benchmarks/fit_confidence.py``; do not edit by hand."""

BIAS = 4.57138
WEIGHTS = (0.32262, -0.256598, -2.85079, 0.221946)
