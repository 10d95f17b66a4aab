"""The baseline matcher of the paper: Zhang & Li 2014, as used in JigsawNet Section III.

Step 1: a revised Ramer-Douglas-Peucker polygon whose segments each have one colour (`zhang_polygon`). Step 2: every segment of
one piece is laid on every segment of the other. Step 3: the good ones are refined by ICP (the one of `verify`). Step 4: the
score is the number of well aligned pixels: alike in colour, opposite in normal, close in space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jigsawnet.borders import Borders, facing, lies_inside, njit, njit_part
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.learned import Learned
from jigsawnet.match.config import MatchConfig, ZhangConfig
from jigsawnet.match.known import KnownPairs, Matched
from jigsawnet.match.pairs import PairRow, all_pairs, cut_pairs
from jigsawnet.match.select import chosen
from jigsawnet.match.verify import verify
from jigsawnet.match.zhang_polygon import Segments, split_contours
from jigsawnet.workers import Shared

_OPPOSITE = -0.7
"""Inward normals of the two sides oppose each other when their dot product is below this (about 135 degrees)."""
_ROUGH_STRIDE = 2
"""Step 2 looks at every second border sample."""
_SAME_PX, _SAME_RAD = 6.0, 0.1
"""Segment matches this close are one: the better is kept."""


@dataclass(frozen=True, slots=True, eq=False)
class _Material:
    """What all pairs look at; ``scale`` is how much pixel lengths have grown."""

    borders: Borders
    segments: Segments
    config: ZhangConfig
    scale: float


def find_zhang(borders: Borders, config: MatchConfig, context: Context, learned: Learned, known: KnownPairs | None) -> Matched:
    """Find candidates between all pairs of pieces, best first.

    ``fit`` is the paper's score, the number of well aligned border pixels, divided by the largest of the puzzle: the best
    candidate has 1. So it ranks the candidates of one puzzle and says nothing across puzzles.
    """
    scale, own = borders.unit_px, config.zhang
    segments = split_contours(borders, own.tolerance_px * scale, own.split_lab, own.shortest_px * scale)
    blocks = cut_pairs(all_pairs(len(borders)), context.workers)
    found = context.run("match", _candidates_of_block, Shared(_Material(borders, segments, own, scale)), blocks)
    rows = Candidates.concat(found)
    pixels = np.where(rows.feature("length") > 0, rows.fit, 0.0)
    rows = replace(rows, fit=pixels / max(float(pixels.max(initial=0.0)), 1.0))
    return Matched(chosen(rows, config.per_piece, len(borders)), pairs=len(borders) * (len(borders) - 1) // 2)


def _candidates_of_block(material: _Material, block: Sequence[PairRow]) -> Candidates:
    return Candidates.concat([_candidates_of_row(material, row) for row in block])


def _candidates_of_row(material: _Material, row: PairRow) -> Candidates:
    """Steps 2 to 4 between a piece and later ones; ``fit`` is the number of well aligned pixels."""
    borders, segments, config, scale = material.borders, material.segments, material.config, material.scale
    i, later = row[0], row[1].astype(np.int32)
    rough_px, aligned_px = config.rough_px * scale, config.aligned_px * scale
    pruning = (config.shortest_px * scale, float(config.length_ratio), float(config.segment_lab))
    overlap = (config.verify.free_overlap_px * scale, float(config.max_overlap))
    lab = float(config.aligned_lab)
    found = np.zeros((len(later), config.matches_per_pair, 4), np.float32)
    _match_pairs(borders.kernel, i, later, segments, pruning, rough_px, lab, overlap, found)
    at, slot = np.nonzero(found[..., 0] > 0)
    j, piece = later[at], np.full(len(at), i, np.int32)
    pose, features = verify(borders, piece, j, found[at, slot, 1:], config.verify)
    pixels = np.zeros(len(j))
    _score_all(borders.kernel, i, j, pose, aligned_px, lab, overlap, pixels)
    return Candidates.make(piece, j, pose, features, fit=pixels)


@njit
def _match_pairs(borders, i, later, segments, pruning, rough_px, lab, overlap, found):  # type: ignore[no-untyped-def]
    """Step 2 for piece i with each of ``later``; ``found[row]`` is filled with (rough pixels, theta, x, y), zeros if unused."""
    for row in range(len(later)):
        _match_pair(borders, i, later[row], segments, pruning, rough_px, lab, overlap, found[row])


@njit_part
def _match_pair(borders, i, j, segments, pruning, rough_px, lab, overlap, found):  # type: ignore[no-untyped-def]
    """Put every segment of j on every segment of i, in opposite direction, and keep the matches that align most pixels.

    Middle on middle; where the lengths differ, also end on end at both ends.
    """
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
            for place in range(1 if abs(slack) < borders.step_px else 3):
                shift = slack * ((place + 1) % 3 - 1)  # 0, slack, -slack
                pose = (theta, base_x + shift * along_x, base_y + shift * along_y)
                pixels = _aligned_pixels(borders, i, j, pose, rough_px, lab, _ROUGH_STRIDE)
                if pixels > found[:, 0].min() and not _overlaps(borders, i, j, pose, overlap):
                    _keep(found, pixels, pose, segments.center[b])


@njit_part
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


@njit_part
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


@njit_part
def _carry(pose, point):  # type: ignore[no-untyped-def]
    """The point of j's frame in i's frame."""
    cos, sin = np.cos(pose[0]), np.sin(pose[0])
    return cos * point[0] - sin * point[1] + pose[1], sin * point[0] + cos * point[1] + pose[2]


@njit
def _score_all(borders, i, later, poses, reach, lab, overlap, pixels):  # type: ignore[no-untyped-def]
    """Step 4: the well aligned pixels of each refined pose; 0 where the pieces overlap noticeably."""
    for c in range(len(later)):
        pose = (poses[c, 0], poses[c, 1], poses[c, 2])
        if not _overlaps(borders, i, later[c], pose, overlap):
            pixels[c] = _aligned_pixels(borders, i, later[c], pose, reach, lab, 1)


@njit_part
def _aligned_pixels(borders, i, j, pose, reach, lab, stride):  # type: ignore[no-untyped-def]
    """Border pixels of j that have a partner on i: similar colour, opposite normal, small distance.

    The partner is a sample, so the distance along the border may be half a step more: ``distance^2 <= reach^2 + step^2 / 4``.
    """
    step, colors, points = borders.step_px, borders.colors, borders.points
    move = (np.cos(pose[0]), np.sin(pose[0]), pose[1], pose[2])
    limit = reach * reach + 0.25 * step * step
    count = 0
    for q in range(borders.first[j], borders.first[j + 1], stride):
        k, x, y, _, _, _, _ = facing(borders, i, q, move, _OPPOSITE)
        if k < 0 or (x - points[k, 0]) ** 2 + (y - points[k, 1]) ** 2 > limit:
            continue
        difference = 0.0
        for ch in range(3):
            difference += (colors[k, ch] - colors[q, ch]) ** 2
        count += difference < lab * lab
    return count * stride * step


@njit_part
def _overlaps(borders, i, j, pose, overlap):  # type: ignore[no-untyped-def]
    """True when more than a small part of the smaller piece lies in the other, deeper than a seam's normal roughness."""
    free_px, max_share = overlap
    core_first = borders.core_first
    allowed = max_share * min(core_first[i + 1] - core_first[i], core_first[j + 1] - core_first[j])
    cos, sin, x, y = np.cos(pose[0]), np.sin(pose[0]), pose[1], pose[2]
    if lies_inside(borders, i, j, (cos, sin, x, y), free_px, allowed):
        return True
    back_x, back_y = np.float64(-(cos * x + sin * y)), np.float64(sin * x - cos * y)
    return lies_inside(borders, j, i, (cos, -sin, back_x, back_y), free_px, allowed)
