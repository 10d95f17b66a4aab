"""The baseline matcher of the paper: Zhang & Li 2014, as used in JigsawNet Section III.

Step 1: a revised Ramer-Douglas-Peucker polygon whose segments each have one colour (`zhang_polygon`). Step 2: every segment of
one piece is laid on every segment of the other. Step 3: the good ones are refined by ICP (the one of `verify`). Step 4: the
score is the number of well aligned pixels: alike in colour, opposite in normal, close in space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jigsawnet.errors import ConfigError
from jigsawnet.match.pairs import PairRow, all_pairs, cut_pairs
from jigsawnet.match.select import select_candidates, to_alignment
from jigsawnet.match.verify import FEATURES, VerifyConfig, verify
from jigsawnet.match.zhang_polygon import Segments, split_contours
from jigsawnet.raster import ShapeBank, look_up, njit
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Float32Array, FloatArray, Progress, no_progress
from jigsawnet.workers import LocalWorkers, Shared, Workers


@dataclass(frozen=True, slots=True)
class ZhangConfig:
    """How the polygon matcher works; pixel lengths grow with the contour step when that is above 3 px."""

    tolerance_px: float = 2.0
    """Step 1: a border is split where it leaves its polygon by more than this."""
    split_lab: float = 20.0
    """Step 1: a segment is split where the mean Lab colours before and after differ by more than this."""
    shortest_px: float = 12.0
    """Step 1: a colour split leaves at least this much border on each side. Step 2: shorter segments are not matched."""
    length_ratio: float = 0.5
    """Step 2: segments are matched only when the shorter has at least this part of the longer one's length."""
    segment_lab: float = 25.0
    """Step 2: segments are matched only when their mean Lab colours differ by less than this."""
    matches_per_pair: int = 12
    """Step 2: good segment matches of a pair of pieces that are refined."""
    rough_px: float = 6.0
    """Step 2: borders this close count as aligned before the refinement."""
    aligned_px: float = 1.5
    """Step 4: borders this close are well aligned."""
    aligned_lab: float = 8.0
    """Steps 2 and 4: Lab distance up to which pixels across the seam have similar colour."""
    max_overlap: float = 0.03
    """A candidate is dropped when more than this part of the smaller piece lies inside the other."""
    verify: VerifyConfig = field(default_factory=VerifyConfig)

    def __post_init__(self) -> None:
        positive = (self.tolerance_px, self.split_lab, self.shortest_px, self.segment_lab, self.rough_px, self.aligned_px)
        if min(positive) <= 0 or self.aligned_lab <= 0 or self.matches_per_pair < 1:
            raise ConfigError("match.zhang options must be positive")
        if not 0 < self.length_ratio <= 1 or not 0 <= self.max_overlap <= 1:
            raise ConfigError("match.zhang.length-ratio and match.zhang.max-overlap must lie between 0 and 1")


_OPPOSITE = -0.7
"""Inward normals of the two sides oppose each other when their dot product is below this (about 135 degrees)."""
_ROUGH_STRIDE = 2
"""Step 2 looks at every second border sample."""
_SAME_PX, _SAME_RAD = 6.0, 0.1
"""Segment matches this close are one: the better is kept."""
_NOTHING = (
    np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 3), np.float32), np.zeros((0, len(FEATURES)), np.float32),
    np.zeros(0),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Material:
    """What all pairs look at; ``scale`` is how much pixel lengths have grown."""

    bank: ShapeBank
    segments: Segments
    config: ZhangConfig
    scale: float


_Found = tuple[NDArray[np.int32], NDArray[np.int32], Float32Array, Float32Array, FloatArray]


def propose_zhang(
    bank: ShapeBank,
    per_piece: int,
    config: ZhangConfig,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> tuple[Alignment, ...]:
    """Find candidates between all pairs of pieces, best first, at most ``per_piece`` of each piece.

    ``fit`` is the paper's score, the number of well aligned border pixels, divided by the largest of the puzzle: the best
    candidate has 1. So it ranks the candidates of one puzzle and says nothing across puzzles.
    """
    scale = bank.unit_px
    segments = split_contours(bank, config.tolerance_px * scale, config.split_lab, config.shortest_px * scale)
    workers = workers or LocalWorkers()
    material = Shared(_Material(bank, segments, config, scale))
    blocks = cut_pairs(all_pairs(len(bank)), workers)
    parts = workers.run(_candidates_of_block, material, blocks, lambda done, total: progress("match", done, total), stop)
    i, j, pose, features, pixels = (np.concatenate(column) for column in zip(_NOTHING, *parts, strict=True))
    pixels = np.where(features[:, FEATURES.index("length")] > 0, pixels, 0.0)
    fit = pixels / max(float(pixels.max(initial=0.0)), 1.0)
    keep = select_candidates(i, j, pose, features, fit, per_piece, len(bank))
    return tuple(to_alignment(int(i[k]), int(j[k]), pose[k], float(fit[k]), features[k]) for k in keep)


def _candidates_of_block(material: _Material, block: Sequence[PairRow]) -> _Found:
    found = zip(*(_candidates_of_row(material, row) for row in block), strict=True)
    i, j, pose, features, pixels = (np.concatenate(column) for column in found)
    return i, j, pose, features, pixels


def _candidates_of_row(material: _Material, row: PairRow) -> _Found:
    """Steps 2 to 4 between a piece and later ones: i, j, poses ``(C, 3)``, seam features, well aligned pixels."""
    bank, segments, config, scale = material.bank, material.segments, material.config, material.scale
    i, later = row[0], row[1].astype(np.int32)
    shapes = (np.float32(bank.step_px), *bank.arrays())
    rough_px, aligned_px = config.rough_px * scale, config.aligned_px * scale
    pruning = (config.shortest_px * scale, float(config.length_ratio), float(config.segment_lab))
    overlap = (config.verify.free_overlap_px * scale, float(config.max_overlap))
    lab = float(config.aligned_lab)
    found = np.zeros((len(later), config.matches_per_pair, 4), np.float32)
    _match_pairs(i, later, segments, pruning, rough_px, lab, overlap, shapes, found)
    at, slot = np.nonzero(found[..., 0] > 0)
    j, piece = later[at], np.full(len(at), i, np.int32)
    pose, features = verify(bank, piece, j, found[at, slot, 1:], config.verify)
    pixels = np.zeros(len(j))
    _score_all(i, j, pose, aligned_px, lab, overlap, shapes, pixels)
    return piece, j, pose, features, pixels


@njit
def _match_pairs(i, later, segments, pruning, rough_px, lab, overlap, shapes, found):  # type: ignore[no-untyped-def]
    """Step 2 for piece i with each of ``later``; ``found[row]`` is filled with (rough pixels, theta, x, y), zeros if unused."""
    for row in range(len(later)):
        _match_pair(i, later[row], segments, pruning, rough_px, lab, overlap, shapes, found[row])


@njit
def _match_pair(i, j, segments, pruning, rough_px, lab, overlap, shapes, found):  # type: ignore[no-untyped-def]
    """Lay every segment of j on every segment of i, in opposite direction, and keep the matches that align most pixels.

    Middle on middle; where the lengths differ, also end on end at both ends.
    """
    step = shapes[0]
    for a in range(segments.first[i], segments.first[i + 1]):
        along_x, along_y = np.cos(segments.heading[a]), np.sin(segments.heading[a])
        for b in range(segments.first[j], segments.first[j + 1]):
            if not _may_match(a, b, segments, pruning):
                continue
            theta = segments.heading[a] - segments.heading[b] + np.float32(np.pi)
            cos, sin = np.cos(theta), np.sin(theta)
            slack = 0.5 * (segments.length[a] - segments.length[b])
            base_x = segments.center[a, 0] - (cos * segments.center[b, 0] - sin * segments.center[b, 1])
            base_y = segments.center[a, 1] - (sin * segments.center[b, 0] + cos * segments.center[b, 1])
            for lay in range(1 if abs(slack) < step else 3):
                shift = slack * ((lay + 1) % 3 - 1)  # 0, slack, -slack
                pose = (theta, base_x + shift * along_x, base_y + shift * along_y)
                pixels = _aligned_pixels(i, j, pose, rough_px, lab, _ROUGH_STRIDE, shapes)
                if pixels > found[:, 0].min() and not _overlaps(i, j, pose, overlap, shapes):
                    _keep(found, pixels, pose, segments.center[b])


@njit
def _may_match(a, b, segments, pruning):  # type: ignore[no-untyped-def]
    """Prune segments that are too short, too different in length, or too different in mean colour."""
    shortest_px, length_ratio, lab = pruning
    low, high = min(segments.length[a], segments.length[b]), max(segments.length[a], segments.length[b])
    if low < shortest_px or low < length_ratio * high:
        return False
    difference = 0.0
    for ch in range(3):
        difference += (segments.color[a, ch] - segments.color[b, ch]) ** 2
    return difference < lab * lab


@njit
def _keep(found, pixels, pose, at):  # type: ignore[no-untyped-def]
    """Put a match in place of its near-copy if there is one (and it is worse), else of the worst of the list."""
    slot = found[:, 0].argmin()
    x, y = _carry(pose, at)
    for k in range(len(found)):
        turn = found[k, 1] - pose[0]
        if found[k, 0] > 0 and abs(turn - 2 * np.pi * np.rint(turn / (2 * np.pi))) < _SAME_RAD:
            other_x, other_y = _carry((found[k, 1], found[k, 2], found[k, 3]), at)
            if np.hypot(x - other_x, y - other_y) < _SAME_PX:
                slot = k
    if pixels > found[slot, 0]:
        found[slot, 0], found[slot, 1], found[slot, 2], found[slot, 3] = pixels, pose[0], pose[1], pose[2]


@njit
def _carry(pose, point):  # type: ignore[no-untyped-def]
    """The point of j's frame in i's frame."""
    cos, sin = np.cos(pose[0]), np.sin(pose[0])
    return cos * point[0] - sin * point[1] + pose[1], sin * point[0] + cos * point[1] + pose[2]


@njit
def _score_all(i, later, poses, reach, lab, overlap, shapes, pixels):  # type: ignore[no-untyped-def]
    """Step 4: the well aligned pixels of each refined pose; 0 where the pieces overlap noticeably."""
    for c in range(len(later)):
        pose = (poses[c, 0], poses[c, 1], poses[c, 2])
        if not _overlaps(i, later[c], pose, overlap, shapes):
            pixels[c] = _aligned_pixels(i, later[c], pose, reach, lab, 1, shapes)


@njit
def _aligned_pixels(i, j, pose, reach, lab, stride, shapes):  # type: ignore[no-untyped-def]
    """Border pixels of j that have a partner on i: similar colour, opposite normal, small distance.

    The partner is a sample, so the distance along the border may be half a step more.
    """
    step, first, points, normals, colors, grid_first, grid_size, grid_origin, nearest, _, cell = shapes[:11]
    cos, sin = np.cos(pose[0]), np.sin(pose[0])
    limit = reach * reach + 0.25 * step * step
    count = 0
    for q in range(first[j], first[j + 1], stride):
        x = cos * points[q, 0] - sin * points[q, 1] + pose[1]
        y = sin * points[q, 0] + cos * points[q, 1] + pose[2]
        at = look_up(i, x, y, grid_first, grid_size, grid_origin, cell)
        if at < 0:
            continue
        k = first[i] + nearest[at]
        if (x - points[k, 0]) ** 2 + (y - points[k, 1]) ** 2 > limit:
            continue
        normal_x, normal_y = cos * normals[q, 0] - sin * normals[q, 1], sin * normals[q, 0] + cos * normals[q, 1]
        if normals[k, 0] * normal_x + normals[k, 1] * normal_y > _OPPOSITE:
            continue
        difference = 0.0
        for ch in range(3):
            difference += (colors[k, ch] - colors[q, ch]) ** 2
        count += difference < lab * lab
    return count * stride * step


@njit
def _overlaps(i, j, pose, overlap, shapes):  # type: ignore[no-untyped-def]
    """True when more than a small part of the smaller piece lies in the other, deeper than a seam's normal roughness."""
    free_px, max_share = overlap
    core_first = shapes[11]
    allowed = max_share * min(core_first[i + 1] - core_first[i], core_first[j + 1] - core_first[j])
    if _overlaps_one_way(i, j, pose, free_px, allowed, shapes):
        return True
    x, y = _carry((-pose[0], 0.0, 0.0), (-pose[1], -pose[2]))
    return _overlaps_one_way(j, i, (-pose[0], x, y), free_px, allowed, shapes)


@njit
def _overlaps_one_way(i, j, pose, free_px, allowed, shapes):  # type: ignore[no-untyped-def]
    """True when more than ``allowed`` core points of j lie inside i."""
    grid_first, grid_size, grid_origin, _, depth, cell, core_first, core = shapes[5:13]
    inside = 0
    for c in range(core_first[j], core_first[j + 1]):
        x, y = _carry(pose, core[c])
        at = look_up(i, x, y, grid_first, grid_size, grid_origin, cell)
        if at >= 0 and depth[at] > free_px:
            inside += 1
            if inside > allowed:
                return True
    return False
