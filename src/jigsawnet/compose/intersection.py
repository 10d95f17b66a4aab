"""Do placed pieces lie on top of each other?

A piece is a lattice of points inside it; it intersects another where many of them fall deep inside the other. A seam may
overlap by a few pixels (blade width, mask noise, pose noise), so points near the other's border do not count.
"""

from __future__ import annotations

import numpy as np

from jigsawnet.raster import ShapeBank, look_up, njit
from jigsawnet.types import FloatArray

FREE_DEPTH_PX = 4.0
"""Points less deep than this inside another piece do not count (nor, for thin pieces, less deep than half its depth)."""
MAX_OVERLAP = 0.02
"""Part of the smaller piece that may lie deep inside the other."""


def groups_intersect(bank: ShapeBank, fixed: FloatArray, moving: FloatArray) -> bool:
    """True when any piece of one group intersects any piece of the other.

    Both are ``(K, 4)`` rows ``(piece, theta, x, y)`` with poses in one common frame.
    """
    depth = FREE_DEPTH_PX * bank.unit_px
    return bool(_intersect(fixed, moving, np.float32(depth), MAX_OVERLAP, *bank.arrays()[4:]))


@njit
def _intersect(  # type: ignore[no-untyped-def]
    fixed,
    moving,
    free,
    most,
    grid_first,
    grid_size,
    grid_origin,
    nearest,
    depth,
    cell,
    core_first,
    core,
    center,
    radius,
    deepest,
):
    for a in range(len(fixed)):
        i = int(fixed[a, 0])
        cos_i, sin_i = np.cos(fixed[a, 1]), np.sin(fixed[a, 1])
        mid_x = cos_i * center[i, 0] - sin_i * center[i, 1] + fixed[a, 2]
        mid_y = sin_i * center[i, 0] + cos_i * center[i, 1] + fixed[a, 3]
        for b in range(len(moving)):
            j = int(moving[b, 0])
            cos_j, sin_j = np.cos(moving[b, 1]), np.sin(moving[b, 1])
            dx = cos_j * center[j, 0] - sin_j * center[j, 1] + moving[b, 2] - mid_x
            dy = sin_j * center[j, 0] + cos_j * center[j, 1] + moving[b, 3] - mid_y
            reach = radius[i] + radius[j]
            if dx * dx + dy * dy > reach * reach:
                continue
            # i_from_j = inverse(world_from_i) @ world_from_j
            cos, sin = cos_i * cos_j + sin_i * sin_j, cos_i * sin_j - sin_i * cos_j
            wx, wy = moving[b, 2] - fixed[a, 2], moving[b, 3] - fixed[a, 3]
            x, y = cos_i * wx + sin_i * wy, cos_i * wy - sin_i * wx
            grids = (grid_first, grid_size, grid_origin, depth, cell)
            j_in_i = _count_inside(i, j, cos, sin, x, y, min(free, 0.5 * deepest[i]), core_first, core, grids)
            back_x, back_y = -(cos * x + sin * y), sin * x - cos * y
            i_in_j = _count_inside(j, i, cos, -sin, back_x, back_y, min(free, 0.5 * deepest[j]), core_first, core, grids)
            smaller = min(core_first[i + 1] - core_first[i], core_first[j + 1] - core_first[j])
            if max(j_in_i, i_in_j) > most * smaller:
                return True
    return False


@njit
def _count_inside(i, j, cos, sin, x, y, free, core_first, core, grids):  # type: ignore[no-untyped-def]
    """How many core points of j lie deeper than ``free`` inside i."""
    grid_first, grid_size, grid_origin, depth, cell = grids
    inside = 0
    for q in range(core_first[j], core_first[j + 1]):
        u = cos * core[q, 0] - sin * core[q, 1] + x
        v = sin * core[q, 0] + cos * core[q, 1] + y
        at = look_up(i, u, v, grid_first, grid_size, grid_origin, cell)
        if at >= 0 and depth[at] > free:
            inside += 1
    return inside
