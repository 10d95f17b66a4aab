"""What the detectors look at: bands and pictures of candidates, drawn in blocks, by threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.pixels import Pixels
from jigsawnet.score.pair_picture import PictureConfig, render_pairs
from jigsawnet.score.seam_band import BAND_CHANNELS, render_bands
from jigsawnet.score.seam_path import RAGGED_REACH_UNITS, REACH_UNITS, trace_seams, unit_of
from jigsawnet.types import BoolArray, Float32Array, UInt8Array

Which = slice | np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class Seams:
    """Where C candidates meet, as `trace_seams` gives it, without the pieces: all that is sent to be looked at elsewhere."""

    i: NDArray[np.int32]
    j: NDArray[np.int32]
    pose: Float32Array
    path: Float32Array
    span: Float32Array

    def __len__(self) -> int:
        return len(self.i)

    def take(self, rows: Which) -> Seams:
        """Some of them."""
        return Seams(self.i[rows], self.j[rows], self.pose[rows], self.path[rows], self.span[rows])

    def bands(self, pixels: Pixels, unit_px: float, channels: int = BAND_CHANNELS) -> UInt8Array:
        """Straightened seams, as `render_bands` gives them."""
        return render_bands(pixels, self.i, self.j, self.pose, self.path, unit_px, channels)

    def pictures(self, pixels: Pixels, unit_px: float, config: PictureConfig) -> tuple[UInt8Array, Float32Array]:
        """Stitched pairs and the boxes of their seams, as `render_pairs` gives them."""
        return render_pairs(pixels, self.i, self.j, self.pose, self.path, self.span, unit_px, config)


class SeamViews:
    """The seams of C candidates about their middles, or ``ahead_px (C,)`` of these; what is drawn is not kept."""

    def __init__(self, pixels: Pixels, borders: Borders, rows: Candidates, ahead_px: Float32Array | None = None) -> None:
        self.unit_px = unit_of(borders)
        self.pixels = pixels
        pose, gap = rows.pose.astype(np.float32), rows.gap_px.astype(np.float32)
        reach = np.where(rows.ragged, RAGGED_REACH_UNITS, REACH_UNITS).astype(np.float32)
        self.seams = Seams(rows.i, rows.j, pose, *trace_seams(borders, rows.i, rows.j, pose, gap, reach, ahead_px))

    def __len__(self) -> int:
        return len(self.seams)

    @property
    def met(self) -> BoolArray:
        """``(C,)``: candidates whose borders run together at all; the others have nothing to show."""
        return np.asarray(self.length_px > 0)

    @property
    def length_px(self) -> Float32Array:
        """``(C,)``: arc lengths of the seams."""
        return self.seams.span[:, 0]

    def bands(self, rows: Which, channels: int = BAND_CHANNELS) -> UInt8Array:
        """Straightened seams of some candidates."""
        return self.seams.take(rows).bands(self.pixels, self.unit_px, channels)

    def pictures(self, rows: Which, config: PictureConfig) -> tuple[UInt8Array, Float32Array]:
        """Stitched pairs of some candidates and the boxes of their seams."""
        return self.seams.take(rows).pictures(self.pixels, self.unit_px, config)
