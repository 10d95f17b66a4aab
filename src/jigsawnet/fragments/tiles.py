"""Large pictures in pieces of bounded size: windows that cover a page, each with a rim of what lies around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

TILE_PX = 1536
"""Side of a window without its rim: about 200 MB of working memory."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A window of a page: ``outer`` with its rim and ``inner`` without, as slices of the page; ``core``: inner within outer."""

    outer: tuple[slice, slice]
    inner: tuple[slice, slice]
    core: tuple[slice, slice]

    @property
    def corner(self) -> tuple[int, int]:
        """Page position ``(x, y)`` of the outer window's top-left pixel."""
        return int(self.outer[1].start), int(self.outer[0].start)


def tiles(height: int, width: int, rim_px: int, side_px: int = TILE_PX) -> Iterator[Tile]:
    """Windows whose inner parts cover a page of the given size exactly once."""
    for top in range(0, height, side_px):
        for left in range(0, width, side_px):
            rows, outer_rows, core_rows = _spans(top, height, rim_px, side_px)
            cols, outer_cols, core_cols = _spans(left, width, rim_px, side_px)
            yield Tile((outer_rows, outer_cols), (rows, cols), (core_rows, core_cols))


def _spans(start: int, length: int, rim_px: int, side_px: int) -> tuple[slice, slice, slice]:
    stop = min(start + side_px, length)
    first, last = max(0, start - rim_px), min(length, stop + rim_px)
    return slice(start, stop), slice(first, last), slice(start - first, stop - first)
