"""What a person gives → `Puzzle`: joins `io` (files) and `fragments` (pixels).

`load_input` takes everything that ``solve`` takes: folders of pieces, scans of many pieces, their backs. `load_puzzle` reads
one folder of pieces, and `cut_scans` the pieces of scans one after the other.
"""

from __future__ import annotations

from jigsawnet.loading.inputs import Loaded, list_scans, load_input
from jigsawnet.loading.pieces import load_puzzle
from jigsawnet.loading.scans import CheckPicture, CutScan, ScanInput, cut_scans, find_scale, no_pieces

__all__ = [
    "CheckPicture",
    "CutScan",
    "Loaded",
    "ScanInput",
    "cut_scans",
    "find_scale",
    "list_scans",
    "load_input",
    "load_puzzle",
    "no_pieces",
]
