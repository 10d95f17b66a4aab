"""Dense matcher, step 1: a descriptor for a window of border around every anchor.

A window is ``POINTS`` points spread over a stretch of contour, in the window's own frame: origin at their mean, x-axis along
their regression line in walking order. The partner of a window on the other side of a cut is the same curve walked backwards,
so a reversed window gets its points in reverse order and can then be compared point by point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.raster import ShapeBank
from jigsawnet.types import Float32Array

POINTS = 24
COLOR_POINTS = 8
_REFERENCE = 3000
_CLOSE_FRACTION = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Windows of all pieces: ``anchor (W,)`` flat sample index, ``first (n + 1,)`` by piece.

    ``forward`` and ``backward`` are ``(W, D)`` unit-free descriptors; ``|forward - backward|^2`` small means "fits". ``scale``
    is what a close match costs such a window by chance: plain windows have a small one, so dividing by it tells how telling
    a match is. ``center (W, 2)`` and ``heading (W,)`` place the forward window in the piece's frame.
    """

    anchor: NDArray[np.int64]
    first: NDArray[np.int64]
    forward: Float32Array
    backward: Float32Array
    forward_scale: Float32Array
    backward_scale: Float32Array
    center: Float32Array
    heading: Float32Array
    stride: int


def describe_windows(bank: ShapeBank, window_px: float, stride: int, shape_px: float, color_lab: float | None) -> Windows:
    """Describe a window of ``window_px`` around every ``stride``-th sample.

    Args:
        bank: the pieces.
        window_px: arc length of a window.
        stride: samples between anchors.
        shape_px: distance of points that counts as one unit.
        color_lab: Lab distance that counts as one unit; None leaves colour out.
    """
    parts = [_piece_windows(bank, p, window_px, stride, shape_px, color_lab) for p in range(len(bank))]
    anchor, forward, backward, center, heading = (np.concatenate([part[k] for part in parts]) for k in range(5))
    first = np.concatenate([[0], np.cumsum([len(part[0]) for part in parts])]).astype(np.int64)
    return Windows(
        anchor=anchor,
        first=first,
        forward=forward,
        backward=backward,
        forward_scale=_chance_cost(forward, backward),
        backward_scale=_chance_cost(backward, forward),
        center=center.astype(np.float32),
        heading=heading.astype(np.float32),
        stride=stride,
    )


def _piece_windows(
    bank: ShapeBank, piece: int, window_px: float, stride: int, shape_px: float, color_lab: float | None
) -> tuple[NDArray[np.int64], Float32Array, Float32Array, Float32Array, Float32Array]:
    own = bank.samples(piece)
    n = own.stop - own.start
    at = np.arange(0, n, stride)
    if n * bank.step_px < window_px:  # the window would bite its own tail
        at = at[:0]
    offsets = np.linspace(-0.5, 0.5, POINTS) * (window_px / bank.step_px)
    points = _interpolate(bank.points[own], at[:, None] + offsets)
    z = points[..., 0].astype(np.float64) + 1j * points[..., 1]
    center = z.mean(1, keepdims=True) if len(at) else z[:, :1]
    z = z - center
    heading = np.angle(z @ offsets)
    z = z * np.exp(-1j * heading)[:, None]
    shape = np.stack([z.real, z.imag], -1) / (shape_px * np.sqrt(POINTS))
    blocks_forward, blocks_backward = [shape], [-shape[:, ::-1]]
    if color_lab is not None:
        bins = _interpolate(bank.colors[own], at[:, None] + offsets).reshape(len(at), COLOR_POINTS, -1, 3).mean(2)
        color = bins / (color_lab * np.sqrt(COLOR_POINTS))
        blocks_forward.append(color)
        blocks_backward.append(color[:, ::-1])
    forward, backward = (
        np.concatenate([b.reshape(len(at), b.shape[1] * b.shape[2]) for b in blocks], 1).astype(np.float32)
        for blocks in (blocks_forward, blocks_backward)
    )
    middle = np.column_stack([center[:, 0].real, center[:, 0].imag]).astype(np.float32)
    return at + own.start, forward, backward, middle, heading.astype(np.float32)


def _interpolate(values: Float32Array, at: NDArray[np.float64]) -> Float32Array:
    """Values of a closed sequence ``(N, C)`` at fractional indices."""
    low = np.floor(at).astype(np.int64)
    part = (at - low)[..., None].astype(np.float32)
    n = max(1, len(values))
    return np.asarray(values[low % n] * (1 - part) + values[(low + 1) % n] * part, dtype=np.float32)


def _chance_cost(a: Float32Array, b: Float32Array) -> Float32Array:
    """For each row of a: the cost of a close match among an even sample of all rows of b."""
    if not len(b):
        return np.ones(len(a), np.float32)
    reference = b[:: max(1, len(b) // _REFERENCE)]
    rank = max(1, int(_CLOSE_FRACTION * len(reference)))
    norms = (reference**2).sum(1)
    out = np.empty(len(a), np.float32)
    for start in range(0, len(a), 4096):
        block = a[start : start + 4096]
        cost = norms - 2 * (block @ reference.T)
        kth = np.partition(cost, min(rank, cost.shape[1] - 1), axis=1)[:, min(rank, cost.shape[1] - 1)]
        out[start : start + 4096] = np.maximum(kth + (block**2).sum(1), 0)
    return out
