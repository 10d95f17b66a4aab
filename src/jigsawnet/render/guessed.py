"""Where best guesses are drawn: over the picture where they lead to a placed piece, else in groups of their own below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.render.layout import Layout, outline, pack
from jigsawnet.types import BestGuess, GuessedPlace, Puzzle


@dataclass(frozen=True, slots=True)
class DrawnGuesses:
    """``canvas_from_piece`` of pieces with a best guess, and of those unplaced ones beside which they are guessed to lie.

    ``box``: left, top, width and height in px of what has to be seen, the canvas included.
    """

    canvas_from_piece: Mapping[int, SE2]
    box: tuple[int, int, int, int]


def lay_out_guesses(puzzle: Puzzle, layout: Layout, guesses: Iterable[BestGuess], margin_px: int) -> DrawnGuesses:
    """Follow each guess to its neighbour, and on to where that is guessed to lie, as far as the guesses lead."""
    best = {guess.piece: guess.best for guess in guesses if guess.piece in layout.tray}
    ends = _ends_of_rings(best)
    drawn: dict[int, SE2] = {}
    groups: dict[int, dict[int, SE2]] = {}
    for start in sorted(best):
        end, end_from_start = start, SE2.identity()
        while end in best and end not in ends:
            end, end_from_start = best[end].beside, best[end].beside_from_piece @ end_from_start
        if end not in layout.tray and end in layout.canvas_from_piece:
            drawn[start] = layout.canvas_from_piece[end] @ end_from_start
        else:
            groups.setdefault(end, {end: SE2.identity()})[start] = end_from_start
    below, _, _ = pack(puzzle, groups.values(), margin_px, row_width=layout.width)
    drawn |= {idx: replace(pose, y=pose.y + layout.height + margin_px) for idx, pose in below.items()}
    corners = [np.array([(-0.5, -0.5), (layout.width - 0.5, layout.height - 0.5)])]
    corners += [pose @ outline(puzzle.pieces[idx]) for idx, pose in drawn.items()]
    left, top = np.floor(np.concatenate(corners).min(axis=0) + 0.5).astype(int).tolist()
    right, bottom = np.ceil(np.concatenate(corners).max(axis=0) + 0.5).astype(int).tolist()
    return DrawnGuesses(drawn, (left, top, right - left, bottom - top))


def _ends_of_rings(best: Mapping[int, GuessedPlace]) -> set[int]:
    """Of pieces each of which is guessed to lie beside the next, all around: the first."""
    ends, seen = set[int](), set[int]()
    for start in sorted(best):
        way: dict[int, None] = {}
        idx = start
        while idx in best and idx not in seen:
            seen.add(idx)
            way[idx] = None
            idx = best[idx].beside
        if idx in way:
            ring = list(way)
            ends.add(min(ring[ring.index(idx) :]))
    return ends
