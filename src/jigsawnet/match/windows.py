"""Dense matcher, step 1: a descriptor for a window of border around every anchor.

A window is ``POINTS`` points spread over a stretch of contour, in the window's own frame: origin at their mean, x-axis along
their regression line in walking order. The partner of a window on the other side of a cut is the same curve walked backwards,
so the windows of piece i are described forwards ("front") and those of piece j backwards ("back"); then point meets point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders, Int64Array, njit
from jigsawnet.stopping import Stop
from jigsawnet.types import Float32Array, FloatArray

POINTS = 24
COLOR_POINTS = 8
_REFERENCE = 1000
_CLOSE_FRACTION = 0.01
_FLOOR = 0.05
_TWO, _HUGE = np.float32(2.0), np.float32(3e38)


@dataclass(frozen=True, slots=True, eq=False)
class WindowSet:
    """Windows of all pieces, those of piece p at ``first[p]:first[p + 1]``, every ``stride`` contour samples.

    ``descriptor (W, D)``: the squared distance of a front and a back one says how badly they fit. ``norm`` is its square.
    ``weight`` is high where a good fit is telling: it divides by what a good fit costs such a window by chance, which is
    little for plain windows. ``center (W, 2)`` and ``heading (W,)`` place the window in the piece's frame.
    """

    stride: int
    first: NDArray[np.int64]
    descriptor: Float32Array
    norm: Float32Array
    weight: Float32Array
    center: Float32Array
    heading: Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The same windows walked forwards and backwards."""

    front: WindowSet
    back: WindowSet


@dataclass(frozen=True, slots=True)
class WindowKind:
    """What a window takes in."""

    length_px: float
    """Arc length."""
    shape_px: float
    """Distance of points that counts as one unit of difference."""
    color_lab: float
    """Lab distance that counts as one unit of difference; 0 leaves colour out."""


def describe_windows(
    borders: Borders, kinds: Sequence[WindowKind], stride_front: int, stride_back: int, reference: Int64Array | None = None,
    stop: Stop | None = None,
) -> list[Windows]:  # fmt: skip
    """Describe the windows around every so many samples of every piece, for kinds of one length and shape unit.

    They are weighed by those of the pieces ``reference``, None all.

    Raises:
        StoppedError: the work is to end.
    """
    stop = stop or Stop()
    fronts = _describe(borders, kinds, stride_front, stop, backwards=False)
    backs = _describe(borders, kinds, stride_back, stop, backwards=True)
    pieces = np.arange(len(borders)) if reference is None else reference
    both = zip(fronts, backs, strict=True)
    return [Windows(_weighted(front, back, pieces, stop), _weighted(back, front, pieces, stop)) for front, back in both]


def _describe(borders: Borders, kinds: Sequence[WindowKind], stride: int, stop: Stop, *, backwards: bool) -> list[WindowSet]:
    counts = [_windows_of(int(size), borders.step_px, kinds[0].length_px, stride) for size in np.diff(borders.first)]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    total = int(first[-1])
    center, heading, norm = (
        np.empty((total, 2), np.float32),
        np.empty(total, np.float32),
        np.empty((len(kinds), total), np.float32),
    )
    described = [np.empty((total, 2 * POINTS + (3 * COLOR_POINTS if kind.color_lab else 0)), np.float32) for kind in kinds]
    for p in range(len(borders)):
        stop.check()
        own = slice(first[p], first[p + 1])
        descriptors, center[own], heading[own] = _piece_windows(borders, p, kinds, stride, backwards)
        for k, descriptor in enumerate(descriptors):
            described[k][own], norm[k, own] = descriptor, (descriptor**2).sum(1)
    return [
        WindowSet(stride, first, descriptor, norm[k], np.ones_like(norm[k]), center, heading)
        for k, descriptor in enumerate(described)
    ]


def _windows_of(samples: int, step_px: float, length_px: float, stride: int) -> int:
    """How many windows a border has; none when they would bite their own tail."""
    return 0 if samples * step_px < length_px else -(-samples // stride)


def _piece_windows(
    borders: Borders, piece: int, kinds: Sequence[WindowKind], stride: int, backwards: bool
) -> tuple[list[Float32Array], FloatArray, FloatArray]:
    """Descriptors of each kind, centres ``(W, 2)`` and headings ``(W,)`` of the windows of one piece."""
    own, length_px, shape_px = borders.samples(piece), kinds[0].length_px, kinds[0].shape_px
    n = own.stop - own.start
    at = np.arange(_windows_of(n, borders.step_px, length_px, stride)) * stride
    offsets = np.linspace(-0.5, 0.5, POINTS) * (length_px / borders.step_px)
    order = at[:, None] + (offsets[::-1] if backwards else offsets)
    points = _interpolate(borders.points[own], order).astype(np.float64)
    z = points[..., 0] + 1j * points[..., 1]
    center = z.sum(1) / POINTS
    z = z - center[:, None]
    heading = np.angle(z @ offsets)
    z = z * np.exp(-1j * heading)[:, None]
    shape = np.column_stack([z.real, z.imag]) / (shape_px * np.sqrt(POINTS))
    bins = _interpolate(borders.colors[own], order).reshape(len(at), COLOR_POINTS, POINTS // COLOR_POINTS, 3).mean(2)
    bins = bins.reshape(len(at), 3 * COLOR_POINTS)
    colored = ((shape, bins / (kind.color_lab * np.sqrt(COLOR_POINTS))) if kind.color_lab else (shape,) for kind in kinds)
    return (
        [np.column_stack(blocks).astype(np.float32) for blocks in colored],
        np.column_stack([center.real, center.imag]),
        heading,
    )


def _interpolate(values: Float32Array, at: NDArray[np.float64]) -> Float32Array:
    """Values of a closed sequence ``(N, C)`` at fractional indices."""
    low = np.floor(at).astype(np.int64)
    part = (at - low)[..., None].astype(np.float32)
    n = max(1, len(values))
    return np.asarray(values[low % n] * (1 - part) + values[(low + 1) % n] * part, dtype=np.float32)


def _weighted(own: WindowSet, others: WindowSet, pieces: Int64Array, stop: Stop) -> WindowSet:
    """Weigh each window by the cost of its close matches among an even sample of the others, those of some pieces."""
    parts = [np.arange(others.first[p], others.first[p + 1]) for p in pieces]
    usable = np.concatenate([np.zeros(0, np.int64), *parts])
    if not len(usable):
        return own
    sample = usable[:: max(1, len(usable) // _REFERENCE)]
    reference, norms = others.descriptor[sample], others.norm[sample]
    rank = min(len(reference) - 1, int(_CLOSE_FRACTION * len(reference)))
    chance = np.empty(len(own.norm), np.float32)
    for p in range(len(own.first) - 1):  # piece by piece: what one weighs does not depend on the others, to the bit
        stop.check()
        part = slice(own.first[p], own.first[p + 1])
        if part.start == part.stop:
            continue
        _ranked(own.descriptor[part] @ reference.T, norms, np.empty(rank + 1, np.float32), chance[part])
        chance[part] += own.norm[part]
    weight = 1.0 / np.sqrt(np.maximum(chance, 0) + _FLOOR)
    return WindowSet(own.stride, own.first, own.descriptor, own.norm, weight.astype(np.float32), own.center, own.heading)


@njit
def _ranked(product, norms, lowest, found):  # type: ignore[no-untyped-def]
    """Fill ``found`` with the last of as many of the lowest ``norms[c] - 2 product[r, c]`` of each row as ``lowest`` holds."""
    last = len(lowest) - 1
    for r in range(product.shape[0]):
        for k in range(len(lowest)):
            lowest[k] = _HUGE
        for c in range(product.shape[1]):
            value = norms[c] - _TWO * product[r, c]
            if value < lowest[last]:
                k = last
                while k > 0 and lowest[k - 1] > value:
                    lowest[k] = lowest[k - 1]
                    k -= 1
                lowest[k] = value
        found[r] = lowest[last]
