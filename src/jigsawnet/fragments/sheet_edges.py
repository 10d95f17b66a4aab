"""A plain sheet on a table, without markers: its four edges, and how it is seen by them.

Perspective is where the edges meet; the lens is what bends them. The sheet's proportions are not known: they follow from the
view when the focal length is a usual one, and are those of a paper in use when they come near to one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import scipy

from jigsawnet.fragments.view import USUAL_FOCAL, Lens, Size, View
from jigsawnet.types import BoolArray, Float32Array, FloatArray, UInt8Array

_LOOK_PX, _PREVIEW_PX = 800, 600
"""Sheets are looked for in a copy of at most the one width and height, and what lies on them in one of the other."""
_LEAST_PX = 64
_LEAST_SHARE = 0.3
"""Part of the picture that a sheet takes at least."""
_RECTANGLE = 0.85
"""Part of the rectangle around it that a sheet fills at least."""
_FILLED, _ONLY = 0.95, 0.9
"""The quadrilateral is filled to this part; and this part of all that is no table lies in it."""
_UNLIKE_LAB, _SAME_PX = 6.0, 4.0
"""A sheet is more unlike the table than that is unlike itself, by so many levels; corners this near are the same."""
_CORNER_DEG = (60.0, 120.0)
_MAX_ASPECT = 3.0
_PROFILES = 120
_ENDS = 0.05
"""Part of a side at each end that is not looked at."""
_REACH, _NEAR = 0.012, 0.004
"""How far beside the side its edge is looked for, first and then, as a part of the picture's diagonal."""
_STEP_LEVELS = 12.0
"""Least step of brightness or colour at an edge, in levels."""
_OFF_PX = 1.0
"""Points further from the edge than this, or than 0.0006 of the diagonal, are not on it."""
_CLEAR = 0.6
"""Part of each side that must be seen clearly."""
_MAX_K = 0.2
_BETTER, _MUCH_BETTER = 0.9, 0.6
"""A lens is believed when with it the edges are straighter by this factor; a second term, by the other."""
_BENT_PX = 0.15
"""A second term is tried when with one the edges are further from straight than this, in the mean."""
_BAND = (0.015, 0.035)
"""Where along its edges a sheet is plain: between these parts of its shorter side."""
_PLAIN_LAB, _PLAIN_SHARE = 9.0, 0.75
_OBJECT_SHARE = 0.001
"""Part of the sheet that a piece takes at least."""
_INSET = 0.006
"""Part of the sheet's shorter side that is cut away along its edges, where the table shows through."""
_RATIOS = (math.sqrt(2.0), 279.4 / 215.9, 355.6 / 215.9, 1.5, 4.0 / 3.0, 1.25, 1.0)
"""Long over short side of papers, prints and cards in use."""
_RATIO_OFF = 0.004
_SQUARE_PX, _SQUARE_PART = 0.75, 0.0008
"""A sheet whose corners are nearer than this to an upright rectangle is only cut out."""


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The corners ``(4, 2)`` of a sheet, clockwise from the top-left one, in a picture without lens errors, and the lens."""

    corners: FloatArray
    lens: Lens
    error_px: float
    """How far points on the edges are from straight, in the mean."""
    clear: float
    """Part of the least clear side that is seen clearly."""


def may_be_sheet(mask: BoolArray) -> bool:
    """Whether the one thing ``mask (H, W)`` in a picture is so large and nearly a rectangle that it may be a sheet."""
    if np.count_nonzero(mask) < _LEAST_SHARE * mask.size / 2:
        return False
    outlines, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    hull = cv2.convexHull(max(outlines, key=cv2.contourArea))
    _, (width, height), _ = cv2.minAreaRect(hull)
    return bool(cv2.contourArea(hull) > _RECTANGLE * width * height) and max(width, height) < _MAX_ASPECT * min(width, height)


def find_sheet(picture: UInt8Array) -> tuple[View | None, bool]:
    """How a plain sheet with pieces on it lies in a picture ``(H, W, 3)``; and whether there may be one that is not clear.

    All four edges must be seen against what is around, the sheet must be plain along them, and several things lie on it.
    """
    height, width = picture.shape[:2]
    scale = min(1.0, _LOOK_PX / max(height, width))
    if min(height, width) * scale < _LEAST_PX:
        return None, False
    small = np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    doubtful = False
    for rough in _quadrilaterals(small):
        edges = _fit_edges(picture, (rough + 0.5) / scale - 0.5)
        if edges is None:
            continue
        view = _view_of_edges(edges, (width, height))
        if not _holds_pieces(_preview(small, scale, view)):
            continue
        if edges.clear >= _CLEAR:
            return view, False
        doubtful = True
    return None, doubtful


def _quadrilaterals(small: UInt8Array) -> Iterator[FloatArray]:
    """Corners ``(4, 2)`` of what may be a sheet: the table is what the picture's rim shows."""
    lab = cv2.cvtColor(cv2.medianBlur(small, 5), cv2.COLOR_RGB2LAB).astype(np.float32)
    rim = np.concatenate(
        [lab[:3].reshape(-1, 3), lab[-3:].reshape(-1, 3), lab[:, :3].reshape(-1, 3), lab[:, -3:].reshape(-1, 3)]
    )
    table = np.median(rim, axis=0)
    unlike = cv2.GaussianBlur(np.linalg.norm(lab - table, axis=2), (0, 0), 1.0)
    level = float(np.percentile(np.linalg.norm(rim - table, axis=1), 98)) + _UNLIKE_LAB
    masks = [unlike > level]
    for field in (unlike, lab[..., 0], 255.0 - lab[..., 0], np.hypot(lab[..., 1] - 128.0, lab[..., 2] - 128.0)):
        levels = np.clip(field, 0, 255).astype(np.uint8)
        masks.append(cv2.threshold(levels, 0, 1, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1] > 0)
    seen: list[FloatArray] = []
    for mask in masks:
        corners = _quadrilateral(np.asarray(mask, np.bool_))
        if corners is not None and not any(np.abs(corners - other).max() < _SAME_PX for other in seen):
            seen.append(corners)
            yield corners


def _quadrilateral(mask: BoolArray) -> FloatArray | None:
    """The corners of what is true in a mask ``(h, w)``, when that is one quadrilateral away from the picture's border."""
    opened = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    outlines, _ = cv2.findContours(opened, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    if not outlines:
        return None
    areas = [cv2.contourArea(outline) for outline in outlines]
    outline = outlines[int(np.argmax(areas))]
    height, width = mask.shape
    x, y, w, h = cv2.boundingRect(outline)
    inside = x > 0 and y > 0 and x + w < width and y + h < height
    if not inside or max(areas) < _LEAST_SHARE * width * height or max(areas) < _ONLY * sum(areas):
        return None
    hull = cv2.convexHull(outline)
    corners = cv2.approxPolyN(hull, 4, ensure_convex=True).reshape(-1, 2).astype(np.float64)
    if len(corners) != 4 or max(areas) < _FILLED * cv2.contourArea(corners.astype(np.float32)):
        return None
    return _in_order(corners) if _is_sheet_like(corners) else None


def _in_order(corners: FloatArray) -> FloatArray:
    """Clockwise in the picture from the one nearest to the top left."""
    away = corners - corners.mean(axis=0)
    ring = corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]
    return np.roll(ring, -int(np.argmin(ring.sum(axis=1))), axis=0)


def _is_sheet_like(corners: FloatArray) -> bool:
    before, after = np.roll(corners, 1, axis=0) - corners, np.roll(corners, -1, axis=0) - corners
    lengths = np.linalg.norm(after, axis=1)
    cosine = (before * after).sum(axis=1) / np.maximum(np.linalg.norm(before, axis=1) * lengths, 1e-9)
    angles = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    right = bool((angles > _CORNER_DEG[0]).all() and (angles < _CORNER_DEG[1]).all())
    return right and float(lengths.max()) < _MAX_ASPECT * float(lengths.min())


def _fit_edges(picture: UInt8Array, rough: FloatArray) -> Edges | None:
    """The edges to a part of a pixel, from corners ``(4, 2)`` known to about a hundredth of the picture."""
    size = picture.shape[1], picture.shape[0]
    diagonal = math.hypot(*size)
    lens, corners, clear = Lens.of(size), rough, 0.0
    for reach in (_REACH, _NEAR, _NEAR):
        sides = [_edge_points(picture, corners, k, lens, reach * diagonal) for k in range(4)]
        if min(len(points) for points in sides) < _PROFILES // 4:
            return None
        lens = _fit_lens(sides, size)
        lines = [_fit_line(lens.correct(points)) for points in sides]
        corners = np.array([_meet(lines[k - 1], lines[k]) for k in range(4)])
        if not np.isfinite(corners).all() or not _is_sheet_like(corners):
            return None
    off = [np.abs(lens.correct(points) @ line[:2] + line[2]) for points, line in zip(sides, lines, strict=True)]
    near = max(_OFF_PX, 0.0006 * diagonal)
    clear = min(np.count_nonzero(one < near) / _PROFILES for one in off)
    kept = np.concatenate([one[one < near] for one in off])
    return Edges(corners, lens, float(np.sqrt(np.mean(kept**2))) if len(kept) else near, clear)


def _edge_points(picture: UInt8Array, corners: FloatArray, side: int, lens: Lens, reach_px: float) -> FloatArray:
    """Where the picture steps from sheet to table across a side: points ``(N, 2)`` of the picture, at most `_PROFILES`."""
    start, end = corners[side], corners[(side + 1) % 4]
    along = end - start
    outward = np.array([along[1], -along[0]]) / np.linalg.norm(along)
    places = start + np.linspace(_ENDS, 1 - _ENDS, _PROFILES)[:, None] * along
    offsets = np.arange(-math.ceil(reach_px), math.ceil(reach_px) + 1, dtype=np.float64)
    points = lens.distort((places[:, None] + offsets[:, None] * outward).reshape(-1, 2)).astype(np.float32)
    x, y = (points[:, k].reshape(_PROFILES, -1) for k in (0, 1))
    colors = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE).astype(np.float64)
    third = max(1, len(offsets) // 4)
    inner, outer = np.median(colors[:, :third], axis=(0, 1)), np.median(colors[:, -third:], axis=(0, 1))
    contrast = float(np.linalg.norm(inner - outer))
    if contrast < _STEP_LEVELS:
        return np.empty((0, 2))
    levels = scipy.ndimage.gaussian_filter1d(colors @ (inner - outer) / contrast, 1.0, axis=1)
    fall = levels[:, :-2] - levels[:, 2:]
    best = fall[:, 1:-1].argmax(axis=1) + 1
    rows = np.arange(_PROFILES)
    before, here, after = fall[rows, best - 1], fall[rows, best], fall[rows, best + 1]
    bend = before - 2 * here + after
    part = np.where(bend < -1e-9, 0.5 * (before - after) / np.where(bend < -1e-9, bend, -1.0), 0.0)
    steep = here > 0.15 * contrast
    at = offsets[best + 1] + np.clip(part, -0.5, 0.5)
    return np.asarray(lens.distort(places + at[:, None] * outward)[steep], np.float64)


def _fit_line(points: FloatArray) -> FloatArray:
    """``(a, b, c)`` with ``a x + b y + c = 0``, unit normal, through most of the points ``(N, 2)``, by reweighting."""
    weight = np.ones(len(points))
    line = np.zeros(3)
    for _ in range(12):
        middle = (weight[:, None] * points).sum(axis=0) / weight.sum()
        away = (points - middle) * np.sqrt(weight)[:, None]
        normal = np.linalg.eigh(away.T @ away)[1][:, 0]
        line = np.array([*normal, -normal @ middle])
        off = np.abs(points @ normal + line[2])
        usual = max(0.15, 1.48 * float(np.median(off)))
        weight = 1.0 / (1.0 + (off / (2.0 * usual)) ** 2) ** 2
    return line


def _fit_lens(sides: list[FloatArray], size: Size) -> Lens:
    """The lens that makes the four edges straight, with as few terms as do."""

    def bent(k1: float, k2: float = 0.0) -> float:
        lens = Lens.of(size, k1, k2)
        return sum(_spread(lens.correct(points)) for points in sides)

    limits = (-_MAX_K, _MAX_K)
    one = scipy.optimize.minimize_scalar(bent, bounds=limits, method="bounded", options={"xatol": 1e-5})
    best, k1, k2 = min((bent(0.0) * _BETTER, 0.0, 0.0), (float(one.fun), float(one.x), 0.0))
    if best > 4 * _BENT_PX**2:
        start = k1

        def bent_twice(steps: FloatArray) -> float:  # the simplex begins with steps of one
            first, second = start + 0.02 * (float(steps[0]) - 20), 0.02 * (float(steps[1]) - 20)
            return bent(*np.clip([first, second], *limits))

        both = scipy.optimize.minimize(bent_twice, np.array([20.0, 20.0]), method="Nelder-Mead", options={"maxfev": 80})
        if both.fun < _MUCH_BETTER * best:
            k1, k2 = (float(k) for k in np.clip([start + 0.02 * (both.x[0] - 20), 0.02 * (both.x[1] - 20)], *limits))
    return Lens.of(size, k1, k2)


def _spread(points: FloatArray) -> float:
    """How far points lie from their line, in the mean, those far away counted less."""
    line = _fit_line(points)
    off = points @ line[:2] + line[2]
    return float(np.mean(off**2 / (1.0 + off**2 / 4.0)))


def _meet(first: FloatArray, second: FloatArray) -> FloatArray:
    x, y, w = np.cross(first, second)
    return np.array([x / w, y / w]) if abs(w) > 1e-9 else np.full(2, np.nan)


def _view_of_edges(edges: Edges, picture_size: Size) -> View:
    """The inside of the sheet at the resolution that the photograph has, but for a narrow rim."""
    corners = edges.corners
    sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    width, height = (sides[0] + sides[2]) / 2, (sides[1] + sides[3]) / 2
    if edges.lens.k1 == edges.lens.k2 == 0 and _is_upright(corners):
        return _only_cut(edges, picture_size)
    ratio = _aspect(corners, picture_size)
    side = math.sqrt(width * height)
    width, height = side * math.sqrt(ratio), side / math.sqrt(ratio)
    flat = np.array([(0, 0), (width, 0), (width, height), (0, height)])
    matrix = cv2.getPerspectiveTransform(flat.astype(np.float32), corners.astype(np.float32)).astype(np.float64)
    inset = math.ceil(max(3.0, _INSET * min(width, height)))
    outline = _outline(corners, edges.lens)
    view = View("sheet", matrix, edges.lens, (round(width), round(height)), edges.error_px, None, outline)
    return view.cut((inset, inset), (round(width) - 2 * inset, round(height) - 2 * inset))


def _outline(corners: FloatArray, lens: Lens) -> FloatArray:
    steps = np.linspace(0.0, 1.0, 33)[:, None]
    return lens.distort(np.concatenate([corners[k] + steps * (corners[(k + 1) % 4] - corners[k]) for k in range(4)]))[None]


def _is_upright(corners: FloatArray) -> bool:
    low, high = corners.min(axis=0), corners.max(axis=0)
    box = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
    return bool(np.abs(corners - box).max() < max(_SQUARE_PX, _SQUARE_PART * float((high - low).max())))


def _only_cut(edges: Edges, picture_size: Size) -> View:
    """An upright sheet, cut out at whole pixels."""
    low, high = edges.corners.min(axis=0), edges.corners.max(axis=0)
    inset = math.ceil(max(3.0, _INSET * float((high - low).min())))
    x, y = (math.ceil(value) + inset for value in low)
    size = math.floor(high[0]) - inset - x, math.floor(high[1]) - inset - y
    view = View(
        "sheet", np.eye(3), Lens.of(picture_size), picture_size, edges.error_px, None, _outline(edges.corners, edges.lens)
    )
    return view.cut((x, y), size)


def _aspect(corners: FloatArray, picture_size: Size) -> float:
    """Width over height of a rectangle seen as these corners, with the usual focal length; that of a paper if it is near.

    With ``H`` from the unit square to the corners, about the picture's centre, and ``K = diag(f, f, 1)``, it is
    ``|K^-1 h1| / |K^-1 h2|`` (Zhang and He, Whiteboard scanning and image enhancement, 2007).
    """
    center = (np.array(picture_size) - 1) / 2
    unit = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32)
    matrix = cv2.getPerspectiveTransform(unit, (corners - center).astype(np.float32)).astype(np.float64)
    focal = USUAL_FOCAL * math.hypot(*picture_size)
    across, down = matrix[:, 0] * (1, 1, focal), matrix[:, 1] * (1, 1, focal)
    ratio = float(np.linalg.norm(across) / np.linalg.norm(down))
    normal = np.cross(across, down)
    foreshortened = 1 - abs(float(normal[2])) / float(np.linalg.norm(normal))
    papers = np.array([*_RATIOS, *(1 / paper for paper in _RATIOS)])
    nearest = float(papers[np.abs(np.log(papers / ratio)).argmin()])
    return nearest if abs(math.log(nearest / ratio)) < _RATIO_OFF + foreshortened else ratio


def _preview(small: UInt8Array, small_scale: float, view: View) -> UInt8Array:
    """The straightened sheet in small, from a copy of the picture reduced by a factor."""
    scale = min(1.0, _PREVIEW_PX / max(view.size))
    width, height = max(1, round(view.size[0] * scale)), max(1, round(view.size[1] * scale))
    ys, xs = np.mgrid[:height, :width]
    at = (view.to_picture(np.column_stack([xs.ravel(), ys.ravel()]) / scale) + 0.5) * small_scale - 0.5
    places = at.astype(np.float32).reshape(height, width, 2)
    x, y = places[..., 0], places[..., 1]
    return np.asarray(cv2.remap(small, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def _holds_pieces(flat: UInt8Array) -> bool:
    """Whether a sheet ``(h, w, 3)`` is plain along its edges, and at least two things lie on it."""
    lab = cv2.cvtColor(flat, cv2.COLOR_RGB2LAB).astype(np.float32)
    height, width = flat.shape[:2]
    low, high = (max(k, round(part * min(height, width))) for k, part in zip((1, 3), _BAND, strict=True))
    if min(height, width) < 4 * high:
        return False
    band = np.zeros((height, width), np.bool_)
    band[low : height - low, low : width - low] = True
    band[high : height - high, high : width - high] = False
    ground = _ground(lab, band)
    unlike = np.linalg.norm(lab - ground, axis=2)
    if np.mean(unlike[band] < _PLAIN_LAB) < _PLAIN_SHARE:
        return False
    objects = (unlike > 2 * _PLAIN_LAB).astype(np.uint8)
    objects = cv2.morphologyEx(objects, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(objects, connectivity=4)
    return int(np.count_nonzero(stats[1:, cv2.CC_STAT_AREA] > _OBJECT_SHARE * height * width)) >= 2


def _ground(lab: Float32Array, band: BoolArray) -> Float32Array:
    """The sheet's own colour, a surface of second order in x and y for each channel, by what is alike in the band."""
    ys, xs = np.mgrid[: lab.shape[0], : lab.shape[1]].astype(np.float32)
    x, y = 2 * xs / lab.shape[1] - 1, 2 * ys / lab.shape[0] - 1
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)
    values, weight = lab[band].astype(np.float64), np.ones(int(np.count_nonzero(band)))
    surface: FloatArray = np.zeros((6, 3))
    for _ in range(8):
        solved = np.linalg.lstsq(terms[band] * weight[:, None], values * weight[:, None], rcond=None)[0]
        surface = np.asarray(solved, np.float64)
        off = np.linalg.norm(values - terms[band] @ surface, axis=1)
        weight = 1.0 / (1.0 + (off / _PLAIN_LAB) ** 2)
    return np.asarray(terms @ surface.astype(np.float32), np.float32)
