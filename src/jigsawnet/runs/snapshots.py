"""What a composer has so far, for the page that shows it: components side by side in one frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.context import OnSnapshot
from jigsawnet.geometry import SE2

OnPoses = Callable[[Mapping[int, SE2]], None]
"""Called with the poses of all pieces that are in a component so far."""


def show_poses(borders: Callable[[], Borders], pinned: Collection[int], on_poses: OnPoses | None) -> OnSnapshot | None:
    """Passes snapshots on as poses in one frame; components with a pinned piece stay where they are."""
    if on_poses is None:
        return None
    return lambda components: on_poses(spread_components(borders(), components, pinned))


def spread_components(
    borders: Borders, components: Sequence[Mapping[int, SE2]], pinned: Collection[int] = ()
) -> dict[int, SE2]:
    """Lay components beside each other in rows, the largest first, by translation only."""
    poses: dict[int, SE2] = {}
    free = []
    for component in components:
        if any(idx in pinned for idx in component):
            poses |= component
        else:
            free.append((component, *_box(borders, component)))
    x = y = height = 0.0
    if poses:
        y = float(_box(borders, poses)[1][1])
    row_width = 1.4 * math.sqrt(sum(float(np.prod(high - low)) for _, low, high in free))
    for component, low, high in sorted(free, key=lambda item: (-len(item[0]), min(item[0]))):
        if x > 0 and x + float(high[0] - low[0]) > row_width:
            x, y, height = 0.0, y + height, 0.0
        poses |= {idx: SE2(p.theta, p.x + x - float(low[0]), p.y + y - float(low[1])) for idx, p in component.items()}
        x, height = x + float(high[0] - low[0]), max(height, float(high[1] - low[1]))
    return poses


def _box(borders: Borders, component: Mapping[int, SE2]) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a box around the pieces of a component."""
    middles = np.array([pose @ borders.center[idx].astype(np.float64) for idx, pose in component.items()])
    radii = borders.radius[list(component)].astype(np.float64)[:, None]
    return (middles - radii).min(axis=0), (middles + radii).max(axis=0)
