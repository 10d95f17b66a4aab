"""How much memory a run takes: estimated before the work, watched while it goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError, MemoryLimitError
from jigsawnet.types import Progress, Puzzle

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_BASE = 330 * 2**20
"""The program itself with its libraries and networks."""
_PER_PIXEL = 26
"""Bytes per pixel of the pieces: picture and mask, the copy that the networks look at, look-up grids, the results."""
_PER_PIECE = 750_000
"""Bytes per piece: contours, window descriptors, candidates."""
_PER_PIXEL_DRAWN, _MOST_DRAWN = 27, 1 << 24
"""Bytes per pixel while the picture is drawn, and the pixels that are drawn at once."""
_PER_PIXEL_READ, _PER_PIXEL_DECODED = 4, 8
"""Bytes per pixel of pictures that have been read, and more of the one that is being read."""
_PER_PAIR = 700
"""Bytes per pair of pieces that are compared closely: what was measured between them."""
_PER_DISTANCE = 6
"""Bytes per pair of all pieces where partners are retrieved: how unlikely it is."""


def read_size(text: str) -> int:
    """Bytes out of ``4GB``, ``512MB``, ``1.5G`` or ``800000``.

    Raises:
        ConfigError: it is no size.
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE)
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if size <= 0:
        raise ConfigError(f"memory-limit is {text[:40]!r}; give a size such as 4GB or 512MB.")
    return size


def show_size(size: float) -> str:
    """A size for a person."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.0f} MB"


def resident_bytes() -> int:
    """Memory that the process holds now."""
    import psutil  # noqa: PLC0415 - only a run with a limit needs it

    return int(psutil.Process().memory_info().rss)


def estimate_bytes(puzzle: Puzzle, config: SolveConfig | None = None) -> int:
    """About how much a solve of a puzzle takes at most."""
    config = config or SolveConfig()
    pixels, n = sum(piece.mask.size for piece in puzzle.pieces), len(puzzle)
    pairs, distances, retrieval = n * (n - 1) // 2, 0, config.match.dense.retrieval
    if config.matcher == "dense" and n > retrieval.above:
        pairs, distances = min(pairs, n * max(*retrieval.partners, retrieval.ragged_partners)), n * n
    drawing = _PER_PIXEL_DRAWN * min(pixels, _MOST_DRAWN)
    return _BASE + drawing + _PER_PIXEL * pixels + _PER_PIECE * n + _PER_PAIR * pairs + _PER_DISTANCE * distances


class MemoryGuard:
    """Refuses what would take more than ``limit`` bytes; None watches nothing."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit

    def check_estimate(self, puzzle: Puzzle, config: SolveConfig | None = None) -> None:
        """Refuse a puzzle before the work starts.

        Raises:
            MemoryLimitError: the estimate is larger than the limit.
        """
        estimate = estimate_bytes(puzzle, config)
        if self._limit is not None and estimate > self._limit:
            raise MemoryLimitError(
                f"The {len(puzzle)} pieces need about {show_size(estimate)} of memory, more than the limit of "
                f"{show_size(self._limit)}; raise --memory-limit, or give smaller pictures."
            )

    def check_file(self, path: Path, size: int) -> None:
        """Refuse to read a saved stage of so many bytes.

        Raises:
            MemoryLimitError: with what is held it is more than the limit.
        """
        if self._limit is not None and resident_bytes() + size > self._limit:
            raise MemoryLimitError(
                f"{path} takes {show_size(size)} of memory to be read, beyond the limit of {show_size(self._limit)}; "
                "raise --memory-limit."
            )

    def check_pictures(self, pixels: Sequence[int]) -> None:
        """Refuse pictures by the sizes that they declare, before they are read.

        Raises:
            MemoryLimitError: with what is held they are more than the limit.
        """
        if self._limit is None or not pixels:
            return
        needed = resident_bytes() + _PER_PIXEL_READ * sum(pixels) + _PER_PIXEL_DECODED * max(pixels)
        if needed > self._limit:
            raise MemoryLimitError(
                f"Reading the pictures ({sum(pixels) / 1e6:.0f} million pixels) takes about {show_size(needed)} of memory, "
                f"more than the limit of {show_size(self._limit)}; raise --memory-limit, or give smaller pictures."
            )

    def watch(self, progress: Progress) -> Progress:
        """The same progress, with a look at the memory each time."""
        limit = self._limit
        if limit is None:
            return progress

        def tell(stage: str, done: int, total: int) -> None:
            held = resident_bytes()
            if held > limit:
                raise MemoryLimitError(
                    f"The work on {stage!r} holds {show_size(held)} of memory, more than the limit of {show_size(limit)}; "
                    "raise --memory-limit and start again: finished stages are kept."
                )
            progress(stage, done, total)

        return tell
