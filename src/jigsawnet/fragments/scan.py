"""A scan or photo of many pieces → separate pieces with clean masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.fragments import levels
from jigsawnet.fragments.background import Background, Box, fit_background
from jigsawnet.fragments.objects import (
    SUSPECT_NECK,
    drop_specks,
    fill_pinholes,
    is_foreign_rectangle,
    split_touching,
    usual_area,
)
from jigsawnet.fragments.paper import Contrast
from jigsawnet.nearest import nearest_pixels
from jigsawnet.types import BoolArray, UInt8Array

STEPS = levels.STEPS + 1
"""Parts of the work of finding the pieces of a scan."""
_MIN_AREA_PX = 64
_SUSPECT_AREA = 1.5
"""An object with a neck is suspected to be two pieces from this many times the usual area on."""
_LEAST_ALIKE, _ALIKE_SHARE = 5, 0.7
"""Pieces are of one size when there are so many, and this part of them differs by less than a third."""
_RIM_PX = 2.5
"""Depth from which on a pixel shows paper alone; the outermost pixels have a depth of one."""


@dataclass(frozen=True, slots=True)
class ScanConfig:
    """How pieces are told from the background of a scan."""

    min_contrast: float = 3.0
    """Least difference between paper and background, in grey levels; more is asked for where the background is noisy."""
    speck_share: float = 0.02
    """Objects smaller than this part of a usual piece's area are specks or labels, and are ignored."""
    split: bool = True
    """Cut touching pieces apart where their common neck is narrow."""
    drop_rectangles: bool = False
    """Leave out straight-edged rectangles much unlike the other objects, such as a ruler or a colour card."""
    margin_px: int = 10
    """Empty border around each piece, in px."""

    def __post_init__(self) -> None:
        if not 0.5 <= self.min_contrast <= 255:
            raise ConfigError(f"min_contrast is {self.min_contrast}; it must lie between 0.5 and 255.")
        if not 0 <= self.speck_share < 1:
            raise ConfigError(f"speck_share is {self.speck_share}; it must be 0 or more and below 1.")
        if not 1 <= self.margin_px <= 1000:
            raise ConfigError(f"margin_px is {self.margin_px}; it must lie between 1 and 1000.")


@dataclass(frozen=True, slots=True, eq=False)
class ScanPiece:
    """One piece of a scan: ``image (h, w, 3)`` RGB with what lies around it, ``mask (h, w)``, top-left pixel at ``corner``."""

    image: UInt8Array
    mask: BoolArray
    corner: tuple[int, int]
    """Position ``(x, y)`` in the scan; negative where the margin reaches beyond it."""
    cut_off: bool = False
    """True when the piece reaches the scan's border."""

    @property
    def box(self) -> Box:
        """Left, top, width and height of the paper in the scan."""
        x, y, width, height = cv2.boundingRect(self.mask.astype(np.uint8))
        return self.corner[0] + x, self.corner[1] + y, width, height

    @property
    def area_px(self) -> int:
        """Pixels of paper."""
        return int(np.count_nonzero(self.mask))


@dataclass(frozen=True, slots=True, eq=False)
class ScanResult:
    """The pieces of a scan from top to bottom and left to right, and what was noticed on the way."""

    pieces: tuple[ScanPiece, ...]
    background: Background
    contrast: Contrast
    """How colours were compared, and the difference from which on something counted as paper."""
    split: tuple[tuple[int, ...], ...] = ()
    """Groups of pieces that were cut apart at a narrow neck."""
    suspects: tuple[int, ...] = ()
    """Pieces that may be two that touch."""
    n_specks: int = 0
    """Objects ignored because they are small."""
    n_rectangles: int = 0
    """Objects left out because they are foreign rectangles."""
    n_edges: int = 0
    """Strips left out because they are the edge of the scan itself."""
    numbers: tuple[int, ...] = ()
    """Numbers of the pieces for people, where a person has corrected them; otherwise they are counted from 1."""

    def number(self, k: int) -> int:
        """The number of piece ``k`` for people."""
        return self.numbers[k] if self.numbers else k + 1


@dataclass(frozen=True, slots=True, eq=False)
class _Object:
    """A connected part of the paper mask: ``mask (h, w)`` at ``corner`` xy, the number of the object it was split from."""

    mask: BoolArray
    corner: tuple[int, int]
    origin: int
    suspect: bool = False


def find_pieces(
    picture: UInt8Array,
    config: ScanConfig | None = None,
    *,
    exclude: Sequence[Box] = (),
    step: Callable[[], None] = lambda: None,
) -> ScanResult:
    """Find the separate pieces on a page ``(H, W, 3)`` uint8 RGB; nothing is looked for in the boxes of ``exclude``.

    ``step`` is called `STEPS` times on the way.

    Raises:
        InputError: the picture is no RGB picture, or too small to hold a piece.
    """
    config = ScanConfig() if config is None else config
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or min(picture.shape[:2]) < 16:
        raise InputError(f"A scan must be an RGB picture of at least 16 x 16 px, not {picture.shape} {picture.dtype}.")
    background = fit_background(picture, exclude)
    step()
    trimmed, contrast = levels.find_mask(picture, background, config.min_contrast, step)
    paper = trimmed.mask.copy()
    for x, y, width, height in exclude:
        paper[max(0, y) : max(0, y + height), max(0, x) : max(0, x + width)] = False
    objects, n_specks = _find_objects(paper, config.speck_share)
    usual = usual_area([int(np.count_nonzero(o.mask)) for o in objects])
    kept = [o for o in objects if not (config.drop_rectangles and is_foreign_rectangle(o.mask, [p.mask for p in objects]))]
    parts = _suspect_large([part for o in kept for part in _split(o, usual, config.split)])
    order = _reading_order(parts)
    pieces = tuple(cut_out(picture, parts[k].mask, parts[k].corner, config.margin_px) for k in order)
    origins = [parts[k].origin for k in order]
    groups = [tuple(i for i, origin in enumerate(origins) if origin == one) for one in sorted(set(origins))]
    return ScanResult(
        pieces,
        background,
        contrast,
        tuple(group for group in groups if len(group) > 1),
        tuple(i for i, k in enumerate(order) if parts[k].suspect),
        n_specks + trimmed.n_phantoms,
        len(objects) - len(kept),
        trimmed.n_edges,
    )


def _find_objects(paper: BoolArray, speck_share: float) -> tuple[list[_Object], int]:
    """Connected parts of the mask that are no specks, and how many specks there are."""
    _, label, stats, _ = cv2.connectedComponentsWithStats(paper.astype(np.uint8), connectivity=4)
    areas = stats[:, cv2.CC_STAT_AREA].astype(np.int64)
    areas[0] = 0
    large = drop_specks(areas, speck_share, _MIN_AREA_PX)
    objects = []
    for k in large:
        x, y, width, height = (int(value) for value in stats[k, :4])
        objects.append(_Object(fill_pinholes(label[y : y + height, x : x + width] == k), (x, y), int(k)))
    return objects, int(np.count_nonzero(areas >= _MIN_AREA_PX)) - len(large)


def _split(one: _Object, usual: float, split: bool) -> list[_Object]:
    """Cut an object where pieces touch at a narrow neck, and suspect what is large and has a wider one."""
    masks = split_touching(one.mask, usual) if split else [one.mask]
    parts = []
    for mask in masks:
        is_large = np.count_nonzero(mask) > _SUSPECT_AREA * usual
        suspect = bool(is_large) and len(split_touching(mask, usual, SUSPECT_NECK)) > 1
        x, y, width, height = cv2.boundingRect(mask.astype(np.uint8))
        corner = one.corner[0] + x, one.corner[1] + y
        parts.append(_Object(mask[y : y + height, x : x + width], corner, one.origin, suspect))
    return parts


def _suspect_large(parts: list[_Object]) -> list[_Object]:
    """Where nearly all pieces are of one size, as strips are, one much larger is suspected to be several."""
    areas = np.array([np.count_nonzero(part.mask) for part in parts], np.float64)
    if len(parts) < _LEAST_ALIKE:
        return parts
    middle = np.median(areas)
    if np.mean(np.abs(areas - middle) < 0.3 * middle) < _ALIKE_SHARE:
        return parts
    return [replace(part, suspect=part.suspect or area > 1.6 * middle) for part, area in zip(parts, areas, strict=True)]


def _reading_order(parts: Sequence[_Object]) -> list[int]:
    """Top to bottom in rows about half a piece high, each from left to right."""
    if not parts:
        return []
    middles = np.array([(p.corner[0] + p.mask.shape[1] / 2, p.corner[1] + p.mask.shape[0] / 2) for p in parts])
    row_px = max(1.0, 0.5 * float(np.median([p.mask.shape[0] for p in parts])))
    rows, row, last = np.zeros(len(parts), int), 0, -np.inf
    for k in np.argsort(middles[:, 1], kind="stable"):
        row += int(middles[k, 1] - last > row_px)
        last = middles[k, 1]
        rows[k] = row
    return [int(k) for k in np.lexsort((middles[:, 0], rows))]


def cut_out(picture: UInt8Array, mask: BoolArray, corner: tuple[int, int], margin: int) -> ScanPiece:
    """The piece ``mask (h, w)`` at ``corner`` xy with a margin; beyond the scan the outermost pixels are repeated."""
    (height, width), (x, y) = mask.shape, corner
    page_height, page_width = picture.shape[:2]
    cut_off = x <= 0 or y <= 0 or x + width >= page_width or y + height >= page_height
    left, top = max(0, x - margin), max(0, y - margin)
    window = picture[top : y + height + margin, left : x + width + margin]
    before = (margin - (y - top), margin - (x - left))
    after = (height + 2 * margin - window.shape[0] - before[0], width + 2 * margin - window.shape[1] - before[1])
    image = np.pad(window, ((before[0], after[0]), (before[1], after[1]), (0, 0)), mode="edge")
    return ScanPiece(image, np.pad(mask, margin), (x - margin, y - margin), cut_off)


def clean_rim(image: UInt8Array, mask: BoolArray) -> UInt8Array:
    """Replace the colours of the outermost two pixels of a piece ``image (H, W, 3)``, ``mask (H, W)`` by those just inside.

    The scanner's blur and JPEG mix them with the background, which would show as a line along every seam. Parts too thin to
    have an inside stay as they are.
    """
    depth = cv2.distanceTransform(np.pad(mask, 1).astype(np.uint8), cv2.DIST_L2, 5)[1:-1, 1:-1]
    core = depth >= _RIM_PX
    if not core.any():
        return image
    nearest, away = nearest_pixels(core)
    rim = mask & ~core & (away < 2 * _RIM_PX)
    cleaned = image.copy()
    cleaned[rim] = image.reshape(-1, 3)[nearest[rim]]
    return cleaned


def rescale(image: UInt8Array, mask: BoolArray, factor: float) -> tuple[UInt8Array, BoolArray]:
    """A piece ``image (H, W, 3), mask (H, W)`` made ``factor`` times as large; no colour from outside the mask comes in."""
    if factor == 1.0:
        return image, mask
    size = max(1, round(mask.shape[1] * factor)), max(1, round(mask.shape[0] * factor))
    how = cv2.INTER_AREA if factor < 1.0 else cv2.INTER_LINEAR
    cover = cv2.resize(mask.astype(np.float32), size, interpolation=how)
    colors = cv2.resize(image.astype(np.float32) * mask[..., None], size, interpolation=how)
    scaled = np.clip(np.rint(colors / np.maximum(cover, 1e-3)[..., None]), 0, 255).astype(np.uint8)
    return scaled, np.asarray(cover > 0.5, np.bool_)
