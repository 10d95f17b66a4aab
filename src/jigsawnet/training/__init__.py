"""Training: photographs → examples → boosted networks → weights in a file. The only package that imports PyTorch."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Read when PyTorch is loaded: threads that wait must not spin, or a busy machine slows training down several times."""
