"""What the matcher measured, kept for when pieces are added: pieces are known by their pixels, whatever their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from jigsawnet.io.array_store import Arrays, read_text_array, text_array
from jigsawnet.match import Known, Measured, Scales
from jigsawnet.match.verify import FEATURES
from jigsawnet.runs.stages import BAD

_SCALES = ("contour_step_px", "bank_step_px", "perimeter_px")


def measured_to_arrays(known: Known, digests: Sequence[str]) -> Arrays:
    """The measured rows beside the digests of the pieces they name."""
    scales = known.scales
    meta = {"digests": list(digests)} | {name: getattr(scales, name) for name in _SCALES}
    rows = known.rows
    return {
        "meta": text_array(meta),
        "pieces": known.pieces,
        "reference": scales.reference,
        "i": rows.i,
        "j": rows.j,
        "pose": rows.pose,
        "features": rows.features,
    }


def known_from_arrays(arrays: Arrays, digests: Sequence[str]) -> Known | None:
    """What was measured of the pieces that are still there, in today's numbers; None when that cannot be used."""
    try:
        meta = read_text_array(arrays["meta"])
        contour_step_px, bank_step_px, perimeter_px = (float(meta[name]) for name in _SCALES)
        rows = Measured(*(arrays[name] for name in ("i", "j", "pose", "features")))
        count, n_old = len(rows), len(meta["digests"])
        if rows.pose.shape != (count, 3) or rows.features.shape != (count, len(FEATURES)) or rows.j.shape != (count,):
            return None
        indices = np.concatenate([rows.i, rows.j, arrays["pieces"], arrays["reference"]])
        if len(indices) and not 0 <= indices.min() <= indices.max() < n_old:
            return None
        scales = Scales(contour_step_px, bank_step_px, perimeter_px, arrays["reference"])
        return Known(arrays["pieces"], rows, scales).renumbered(_today(meta["digests"], digests))
    except BAD:
        return None


def _today(old: Sequence[str], new: Sequence[str]) -> list[int | None]:
    """Where each old piece is now; of several with the same pixels the first becomes the first."""
    places: dict[str, list[int]] = defaultdict(list)
    for idx in reversed(range(len(new))):
        places[new[idx]].append(idx)
    return [places[digest].pop() if places[digest] else None for digest in old]
