"""Coefficients of join confidence, written by ``benchmarks/fit_confidence.py``; do not edit by hand."""

BIAS = 3.78611
WEIGHTS = (0.298348, -0.159841, -2.79723, 0.275298)
