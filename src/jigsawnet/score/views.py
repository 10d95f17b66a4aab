"""What the detectors look at: bands and pictures of candidates, drawn in blocks, by threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jigsawnet.pixels import PixelBank
from jigsawnet.raster import ShapeBank
from jigsawnet.score.pair_picture import PictureConfig, render_pairs
from jigsawnet.score.seam_band import render_bands
from jigsawnet.score.seam_path import trace_seams, unit_of
from jigsawnet.types import Alignment, BoolArray, Float32Array, UInt8Array


class SeamViews:
    """The seams of C candidates about their middles, or ``ahead_px (C,)`` of these; what is drawn is not kept."""

    def __init__(
        self, pixels: PixelBank, bank: ShapeBank, alignments: Sequence[Alignment], ahead_px: Float32Array | None = None
    ) -> None:
        self._unit_px = unit_of(bank)
        self._pixels = pixels
        self._i = np.array([a.i for a in alignments], dtype=np.int32)
        self._j = np.array([a.j for a in alignments], dtype=np.int32)
        poses = [(a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y) for a in alignments]
        self._pose = np.array(poses, dtype=np.float32).reshape(-1, 3)
        gap = np.array([a.seam.distance_px if a.seam else 0.0 for a in alignments], dtype=np.float32)
        self._path, self._span = trace_seams(bank, self._i, self._j, self._pose, gap, ahead_px)

    def __len__(self) -> int:
        return len(self._i)

    @property
    def met(self) -> BoolArray:
        """``(C,)``: candidates whose borders run together at all; the others have nothing to show."""
        return np.asarray(self._span[:, 0] > 0)

    @property
    def length_px(self) -> Float32Array:
        """``(C,)``: arc lengths of the seams."""
        return self._span[:, 0]

    def bands(self, rows: slice | np.ndarray[tuple[int], np.dtype[np.int64]]) -> UInt8Array:
        """Straightened seams, as `render_bands` gives them."""
        return render_bands(self._pixels, self._i[rows], self._j[rows], self._pose[rows], self._path[rows], self._unit_px)

    def pictures(
        self, rows: slice | np.ndarray[tuple[int], np.dtype[np.int64]], config: PictureConfig
    ) -> tuple[UInt8Array, Float32Array]:
        """Stitched pairs and the boxes of their seams, as `render_pairs` gives them."""
        return render_pairs(
            self._pixels, self._i[rows], self._j[rows], self._pose[rows], self._path[rows], self._span[rows],
            self._unit_px, config,
        )  # fmt: skip
