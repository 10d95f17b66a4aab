"""The printed sheet: where its markers are, and how it is seen in a photograph that shows them.

Markers (ArUco, 5 x 5 cells) stand around the rim of the page. Each paper has numbers of its own, so one marker tells the paper
and its place on it. Frames: ``mm`` on the page, from its top-left corner; see `view` for the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

import cv2
import numpy as np
import scipy
from numpy.typing import NDArray

from jigsawnet.fragments.background import Box
from jigsawnet.fragments.view import Lens, Size, View, project
from jigsawnet.types import BoolArray, FloatArray, UInt8Array

IntArray = NDArray[np.int64]
PaperName = Literal["a4", "letter", "a3"]

MARGIN_MM = 7.0
"""From the paper's edge to the markers: no printer needs more."""
MARKER_MM = 12.0
QUIET_MM = 3.0
"""White around the markers; then the inside begins."""
CELLS = 7
"""Cells of a marker along a side: 5 and its black border."""
_APART_MM = 65.0
"""About so far are markers from each other."""
_INSET_MM = 1.0
"""So far inside its line the inside is cut out."""
_LOOK_PX = 2400
"""Markers are looked for in a copy of at most this width and height."""
_LEAST = 3
"""Markers that must agree."""
_LEAST_SPREAD = 0.2
"""Part of the sheet's area that the markers seen must span."""
_FAR = 0.15
"""A marker whose corners are further off than this part of its side is not where the sheet has it."""
_LENS_MARKERS, _BOTH_MARKERS = 6, 10
"""From so many markers on one term, and both terms of the lens are fitted."""
_LEAST_PX = 32
_MAX_K = 0.5
_MM_PER_INCH = 25.4


@dataclass(frozen=True, slots=True)
class Paper:
    """A printed page: its size in mm, and the number of its first marker."""

    name: str
    width: float
    height: float
    first: int

    def corners(self) -> FloatArray:
        """Top-left corners ``(N, 2)`` of the markers in mm, clockwise from the page's top-left corner."""
        far_x, far_y = self.width - MARGIN_MM - MARKER_MM, self.height - MARGIN_MM - MARKER_MM
        across, down = (np.linspace(MARGIN_MM, far, round((far - MARGIN_MM) / _APART_MM) + 1) for far in (far_x, far_y))
        return np.array(
            [(x, MARGIN_MM) for x in across]
            + [(far_x, y) for y in down[1:]]
            + [(x, far_y) for x in across[-2::-1]]
            + [(MARGIN_MM, y) for y in down[-2:0:-1]]
        )

    @property
    def inside(self) -> tuple[float, float, float, float]:
        """Left, top, width and height in mm of where pieces are laid."""
        rim = MARGIN_MM + MARKER_MM + QUIET_MM
        return rim, rim, self.width - 2 * rim, self.height - 2 * rim


PAPERS = {
    "a4": Paper("A4", 210.0, 297.0, 0),
    "letter": Paper("Letter", 215.9, 279.4, 14),
    "a3": Paper("A3", 297.0, 420.0, 28),
}


@dataclass(frozen=True, slots=True, eq=False)
class Markers:
    """What is seen of a printed sheet: places ``(N,)`` of its markers in `Paper.corners`, their corners ``(N, 4, 2)`` in px."""

    paper: Paper
    places: IntArray
    seen: FloatArray
    two_sheets: bool = False
    """There are markers of another sheet, too."""

    def boxes(self) -> tuple[Box, ...]:
        """The boxes around the markers, in px."""
        low, high = np.floor(self.seen.min(axis=1)).astype(int) - 2, np.ceil(self.seen.max(axis=1)).astype(int) + 3
        low = np.maximum(low, 0)
        return tuple((int(x), int(y), int(w), int(h)) for (x, y), (w, h) in zip(low, high - low, strict=True))

    def on_paper(self) -> FloatArray:
        """The true corners ``(N, 4, 2)`` in mm, clockwise from the top-left one as they are seen."""
        square = MARKER_MM * np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float64)
        return np.asarray(self.paper.corners()[self.places][:, None] + square, np.float64)


def marker_cells(number: int) -> BoolArray:
    """The cells ``(7, 7)`` of a marker, true where it is black."""
    cells = np.asarray(_detector().getDictionary().generateImageMarker(number, CELLS))
    return np.asarray(cells < 128, np.bool_)


def find_markers(picture: UInt8Array) -> Markers | None:
    """The markers of a printed sheet in a picture ``(H, W, 3)``; None when there is none."""
    height, width = picture.shape[:2]
    scale = min(1.0, _LOOK_PX / max(height, width))
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.uint8, copy=False)
    small = grey if scale == 1.0 else cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    if min(small.shape) < _LEAST_PX:
        return None
    found, numbers, _ = _detector().detectMarkers(small)
    if numbers is None or not len(numbers):
        return None
    ids, seen = np.asarray(numbers, np.int64).reshape(-1), np.array(found, np.float64).reshape(-1, 4, 2)
    paper, two_sheets = _paper_of(ids)
    ours = (ids >= paper.first) & (ids < paper.first + len(paper.corners()))
    ids, seen = ids[ours], seen[ours]
    if not len(ids):
        return None
    order = np.lexsort((seen[:, 0, 0], ids))
    refined = _refine(grey, (seen[order] + 0.5) / scale - 0.5, 1.0 / scale)
    return Markers(paper, ids[order] - paper.first, refined, two_sheets)


def _paper_of(ids: IntArray) -> tuple[Paper, bool]:
    """The paper that most markers belong to, and whether there is a second sheet: a single marker may be a mistake."""
    counts = [int(np.count_nonzero((ids >= p.first) & (ids < p.first + len(p.corners())))) for p in PAPERS.values()]
    repeated = len(ids) - len(np.unique(ids))
    return list(PAPERS.values())[int(np.argmax(counts))], repeated > 1 or sorted(counts)[-2] > 1


@cache
def _detector() -> cv2.aruco.ArucoDetector:
    parameters = cv2.aruco.DetectorParameters()
    parameters.minMarkerPerimeterRate = 0.01
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_50), parameters)


def _refine(grey: UInt8Array, seen: FloatArray, coarse_px: float) -> FloatArray:
    """Corners ``(N, 4, 2)`` in px, which are known to about ``coarse_px``, to a part of a pixel."""
    refined = np.empty_like(seen)
    rule = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 40, 0.005)
    for k, corners in enumerate(seen):
        side = float(np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1).min())
        reach = max(2, round(min(max(2.0 * coarse_px, side / CELLS), side / 4)))
        start = np.ascontiguousarray(corners.reshape(-1, 1, 2), np.float32)
        refined[k] = cv2.cornerSubPix(grey, start, (reach, reach), (-1, -1), rule).reshape(4, 2)
    return refined


def view_of_markers(markers: Markers, picture_size: Size) -> View | None:
    """How the sheet lies in a picture of this width and height, by its markers; None when too few agree."""
    true, seen = markers.on_paper(), markers.seen
    if len(true) < _LEAST:
        return None
    found, _ = cv2.findHomography(true.reshape(-1, 2), seen.reshape(-1, 2), cv2.RANSAC, _FAR * _median_side(seen))
    matrix = np.asarray(found, np.float64)
    if matrix.shape != (3, 3):  # there is none
        return None
    lens = Lens.of(picture_size)
    for _ in range(3):  # what the lens moves far may come back once the lens is known
        errors = np.linalg.norm(lens.distort(project(matrix, true.reshape(-1, 2))) - seen.reshape(-1, 2), axis=1).reshape(-1, 4)
        kept = errors.max(axis=1) < _FAR * _median_side(seen)
        if np.count_nonzero(kept) < _LEAST or _spread(true[kept], markers.paper) < _LEAST_SPREAD:
            return None
        matrix, lens = _fit(true[kept].reshape(-1, 2), seen[kept].reshape(-1, 2), matrix, lens)
    left = np.linalg.norm(lens.distort(project(matrix, true[kept].reshape(-1, 2))) - seen[kept].reshape(-1, 2), axis=1)
    return _inside(matrix, lens, markers, float(np.sqrt(np.mean(left**2))))


def _median_side(seen: FloatArray) -> float:
    return float(np.median(np.linalg.norm(np.roll(seen, -1, axis=1) - seen, axis=2)))


def _spread(true: FloatArray, paper: Paper) -> float:
    hull = cv2.convexHull(true.reshape(-1, 1, 2).astype(np.float32))
    return float(cv2.contourArea(hull)) / (paper.width * paper.height)


def _fit(true: FloatArray, seen: FloatArray, matrix: FloatArray, lens: Lens) -> tuple[FloatArray, Lens]:
    """Homography and lens by least squares on the points ``(N, 2)``; the lens has as many terms as there are markers for."""
    n_terms = sum(len(true) >= 4 * least for least in (_LENS_MARKERS, _BOTH_MARKERS))
    middle, spread = true.mean(axis=0), float(true.std())
    to_unit = np.array([[1.0, 0.0, -middle[0]], [0.0, 1.0, -middle[1]], [0.0, 0.0, spread]]) / spread
    start = matrix @ np.linalg.inv(to_unit)
    start = start / start[2, 2]
    unit = project(to_unit, true)

    def parts(values: FloatArray) -> tuple[FloatArray, Lens]:
        k1, k2 = (*values[8:], 0.0, 0.0)[:2]
        return np.append(values[:8], 1.0).reshape(3, 3), Lens(lens.center, lens.radius_px, float(k1), float(k2))

    def errors(values: FloatArray) -> FloatArray:
        homography, bent = parts(values)
        return (bent.distort(project(homography, unit)) - seen).reshape(-1)

    values = np.concatenate([start.reshape(-1)[:8], np.array([lens.k1, lens.k2])[:n_terms]])
    bounds = np.concatenate([np.full(8, np.inf), np.full(n_terms, _MAX_K)])
    values[8:] = np.clip(values[8:], -0.9 * _MAX_K, 0.9 * _MAX_K)
    found = scipy.optimize.least_squares(errors, values, bounds=(-bounds, bounds), loss="soft_l1", x_scale="jac", max_nfev=200)
    homography, bent = parts(found.x)
    return homography @ to_unit, bent


def _inside(matrix: FloatArray, lens: Lens, markers: Markers, error_px: float) -> View:
    """The view of the inside, at the resolution that the photograph has in its middle."""
    left, top, width, height = markers.paper.inside
    left, top, width, height = left + _INSET_MM, top + _INSET_MM, width - 2 * _INSET_MM, height - 2 * _INSET_MM
    in_mm = View("markers", matrix, lens, (round(width), round(height)), error_px)
    px_per_mm = float(in_mm.scales(np.array([[left + width / 2, top + height / 2]]))[0])
    px_per_mm = round(px_per_mm * _MM_PER_INCH, 1) / _MM_PER_INCH
    scale = np.array([[1 / px_per_mm, 0.0, left], [0.0, 1 / px_per_mm, top], [0.0, 0.0, 1.0]])
    size = max(1, math.floor(width * px_per_mm)), max(1, math.floor(height * px_per_mm))
    dpi = round(px_per_mm * _MM_PER_INCH, 1)
    return View("markers", matrix @ scale, lens, size, error_px, dpi, markers.seen)
