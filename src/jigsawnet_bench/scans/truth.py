"""The truth of pieces that were cut from scans we made: which piece it is, and where it belongs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.loading import CutScan
from jigsawnet.types import Assembly, BoolArray, FloatArray
from jigsawnet_bench.scans.lay import LaidPiece

_NEAR = 0.35
"""Centres of one piece agree within this part of its size."""


def true_assembly(cuts: Sequence[CutScan], laid: Sequence[Sequence[LaidPiece]], truth: Assembly, scale: float) -> Assembly:
    """Where the pieces of all scans, numbered in order, belong.

    Args:
        cuts: what was cut from each scan.
        laid: what lies on each scan; ``idx`` numbers the pieces of ``truth``.
        truth: the puzzle's own truth.
        scale: resolution of the pieces that were laid times that of the scan times its factor; the same for all scans. The
            frame of the result is that of ``truth``, enlarged by it.

    A piece that was not laid, such as a speck, has no pose.
    """
    poses: dict[int, SE2] = {}
    components: dict[int, list[int]] = {}
    component_of = {idx: k for k, component in enumerate(truth.components) for idx in component}
    n = 0
    for cut, here in zip(cuts, laid, strict=True):
        centers = np.array([_center(piece.mask) + piece.corner for piece in here]).reshape(-1, 2)
        for fragment, corner in zip(cut.pieces, cut.corners, strict=True):
            center = (_center(fragment.mask) + 0.5) / cut.factor - 0.5 + corner
            piece = _nearest(here, centers, center)
            if piece is not None:
                poses[n] = _carry(truth.poses[piece.idx], piece.page_from_piece, corner, cut.factor, scale)
                components.setdefault(component_of[piece.idx], []).append(n)
            n += 1
    return Assembly(n, poses, tuple(sorted((tuple(c) for c in components.values()), key=lambda c: (-len(c), c))))


def _center(mask: BoolArray) -> FloatArray:
    y, x = np.nonzero(mask)
    return np.array([x.mean(), y.mean()])


def _nearest(here: Sequence[LaidPiece], centers: FloatArray, center: FloatArray) -> LaidPiece | None:
    if not len(centers):
        return None
    away = np.linalg.norm(centers - center, axis=1)
    piece = here[int(away.argmin())]
    return piece if away.min() < _NEAR * np.sqrt(np.count_nonzero(piece.mask)) else None


def _carry(world_from_piece: SE2, page_from_piece: SE2, corner: tuple[int, int], factor: float, scale: float) -> SE2:
    """Pose of a cut piece: its pixels go to the page, from there to the piece that was laid, from there to where it belongs."""
    page_scale = scale / factor
    origin = np.array(corner) + 0.5 / factor - 0.5
    at = scale * (world_from_piece @ ((page_from_piece.inverse() @ origin) / page_scale))
    turn = world_from_piece @ page_from_piece.inverse()
    return SE2(turn.theta, float(at[0]), float(at[1]))
