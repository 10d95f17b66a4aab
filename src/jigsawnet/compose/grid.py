"""Chads: pieces that lie in rows and columns, put together by all sides that meet at once.

A chad upright is number 2 n, turned by half a turn 2 n + 1. Components are small grids of such numbers. Two of them are laid
beside each other in every way there is, either way up; the evidence of all sides that then meet decides: the end of a chad says
little, a row of forty says which row is below it. The best placement of all comes first. Then chads whose neighbours speak
against them are taken out, and what is left is placed anew, ever less strictly, since sides that have found their neighbours
rival no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import njit
from jigsawnet.stopping import Stop
from jigsawnet.types import Float32Array, FloatArray

Cell = tuple[int, int]
Grid = dict[Cell, int]
"""Row and column → number of the chad that lies there."""

_LEAST = 5.0
"""Evidence that a placement needs besides that for which there are so many placements to choose from."""
_STEPNESS, _STRICT = 4.0, (5.0, 4.0, 4.0, 4.0)
"""A long side that stands out by the second, round by round, speaks neither for nor against; evidence for each unit more."""
_BESIDE, _BELOW = (-10.0, 25.0), (-3.5, 5.0)
"""Limits of the evidence of a long side, and of the score of an end."""
_LEAST_SEEN, _MOST_SEEN = 0.5, 2.0
_REPAIRS = 4
"""So often chads at odds with their neighbours are taken out, in each round."""
_NEVER, _USED = -1e9, -9.0


@dataclass(frozen=True, slots=True, eq=False)
class GridScores:
    """How far b stands out right of a (``beside[a, b]``) and below it (``below[a, b]``), ``(2 N, 2 N)``, in spreads."""

    beside: Float32Array
    below: Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """Grids, the largest first, and by how much evidence each two pieces that meet in them came to do so."""

    grids: list[Grid]
    odds: Mapping[frozenset[int], float]


@dataclass(slots=True, eq=False)
class _Round:
    beside: Float32Array
    below: Float32Array
    stop: Stop
    odds: dict[frozenset[int], float] = field(default_factory=dict)


def grow_grids(scores: GridScores, chads: Iterable[int], stop: Stop | None = None) -> Grown:
    """Merge chads (numbers of pieces) into grids, best placement first, as long as the evidence suffices."""
    grids: list[Grid] = [{(0, 0): 2 * idx} for idx in chads]
    below = np.clip(scores.below, *_BELOW)
    odds: dict[frozenset[int], float] = {}
    for strict in _STRICT:
        clear = scores.beside + _standing_out(scores.beside, grids)
        beside = np.clip(_STEPNESS * (clear - strict), *_BESIDE).astype(np.float32)
        now = _Round(beside, below, stop or Stop(), odds)
        grids = _grown(grids, now)
        for _ in range(_REPAIRS):
            kept, out = _without_doubtful(grids, now)
            if not out or now.stop.is_over():
                break
            again = _grown([*kept, *({(0, 0): number} for number in out)], now)
            same = {frozenset(grid.items()) for grid in again} == {frozenset(grid.items()) for grid in grids}
            grids = again
            if same:
                break
    return Grown(sorted(grids, key=lambda grid: (-len(grid), min(grid.values()))), odds)


def _standing_out(score: Float32Array, grids: Sequence[Grid]) -> Float32Array:
    """By how much each two sides lead before all others that either could meet: those that have no neighbour yet."""
    right, left = np.zeros((2, len(score)), bool)
    for grid in grids:
        for (row, column), number in grid.items():
            if (row, column + 1) in grid:
                right[number], left[number ^ 1] = True, True
            if (row, column - 1) in grid:
                left[number], right[number ^ 1] = True, True
    taken = right[:, None] | left
    return np.where(taken, _lead(score), _lead(np.where(taken, np.float32(_USED), score)))


def _lead(score: Float32Array) -> Float32Array:
    best = np.full(score.shape, -np.inf, np.float32)
    for axis in (0, 1):
        second, first = np.split(np.partition(score, -2, axis=axis).take([-2, -1], axis), 2, axis)
        best = np.maximum(best, np.where(score >= first, second, first))
    return np.asarray(score - best, np.float32)


def _grown(grids: Sequence[Grid], now: _Round) -> list[Grid]:
    active: list[Grid | None] = [_at_origin(grid) for grid in grids]
    count = len(active)
    best = np.full((count, count), _NEVER)
    how = np.zeros((count, count, 3), np.int64)
    for k in range(count - 1):
        _look(active, k, range(k + 1, count), now, best, how)
    while count and not now.stop.is_over():
        k, other = divmod(int(best.argmax()), count)
        if best[k, other] < _LEAST:
            break
        first, second = active[k], active[other]
        assert first is not None
        assert second is not None
        down, right, turned = how[k, other].tolist()
        moved = turned_half(second) if turned else second
        moved = {(row + down, column + right): number for (row, column), number in moved.items()}
        for cell, neighbour, _ in meetings(first | moved):
            if (cell in first) != (neighbour in first):
                pair = frozenset(((first | moved)[cell] // 2, (first | moved)[neighbour] // 2))
                now.odds[pair] = float(best[k, other])
        active[k], active[other] = _at_origin(first | moved), None
        best[[k, other]] = _NEVER
        best[:, [k, other]] = _NEVER
        _look(active, k, [n for n, grid in enumerate(active) if grid is not None and n != k], now, best, how)
    return [grid for grid in active if grid is not None]


def meetings(grid: Grid) -> list[tuple[Cell, Cell, bool]]:
    """Cells that meet: the left or upper one first, and whether the second is below the first."""
    return [
        (cell, other, is_below)
        for cell in sorted(grid)
        for other, is_below in (((cell[0], cell[1] + 1), False), ((cell[0] + 1, cell[1]), True))
        if other in grid
    ]


def _look(
    active: Sequence[Grid | None], k: int, others: Sequence[int], now: _Round, best: FloatArray, how: NDArray[np.int64]
) -> None:
    """The best placement of each of ``others`` beside grid k, into row k of the tables."""
    first = active[k]
    if first is None or not others:
        return
    table = np.full((max(r for r, _ in first) + 1, max(c for _, c in first) + 1), -1, np.int32)
    for cell, number in first.items():
        table[cell] = number
    cells = [[(r, c, number) for (r, c), number in (active[n] or {}).items()] for n in others]
    starts = np.cumsum([0, *map(len, cells)])
    flat = np.array([cell for own in cells for cell in own], np.int32).reshape(-1, 3)
    found = _placements(table, flat, starts, now.beside, now.below)
    best[k, list(others)], how[k, list(others)] = found[:, 0], found[:, 1:].astype(np.int64)


@njit
def _of_ends(seen, meeting):  # type: ignore[no-untyped-def]
    """The log odds of so many ends that meet, ``seen`` in all: how much each says is not known, but alike for all of them.

    With a mean of m it is ``m seen - m^2 n / 2``, for the likeliest m from `_LEAST_SEEN` to `_MOST_SEEN`.
    """
    if meeting == 0:
        return 0.0
    mean = min(max(seen / meeting, _LEAST_SEEN), _MOST_SEEN)
    return mean * seen - mean * mean * meeting / 2.0


@njit
def _placements(table, cells, starts, beside, below):  # type: ignore[no-untyped-def]
    """For every grid of ``cells (K, 3)`` (row, column, number) its best place on ``table (H, W)``: score, down, right, turned.

    The score is the evidence of all sides that meet, less the log of how many places need no larger box around both.
    """
    count = len(starts) - 1
    found = np.zeros((count, 4))
    high, wide = table.shape
    for n in range(count):
        own = cells[starts[n] : starts[n + 1]]
        tall, broad = own[:, 0].max() + 1, own[:, 1].max() + 1
        places = np.empty((2 * (tall + high + 1) * (broad + wide + 1), 5))
        crowd = np.zeros((high + tall + 1) * (wide + broad + 1) + 1)
        ways = 0
        for turned in range(2):
            for down in range(-tall, high + 1):
                for right in range(-broad, wide + 1):
                    total, seen, meeting, free = 0.0, 0.0, 0, True
                    across = 0
                    for k in range(len(own)):
                        number = own[k, 2] ^ turned
                        row = (tall - 1 - own[k, 0] if turned else own[k, 0]) + down
                        column = (broad - 1 - own[k, 1] if turned else own[k, 1]) + right
                        in_row, in_column = 0 <= row < high, 0 <= column < wide
                        if in_row and in_column and table[row, column] >= 0:
                            free = False
                            break
                        if in_row and 0 < column <= wide and table[row, column - 1] >= 0:
                            total += beside[table[row, column - 1], number]
                            across += 1
                        if in_row and -1 <= column < wide - 1 and table[row, column + 1] >= 0:
                            total += beside[number, table[row, column + 1]]
                            across += 1
                        if in_column and 0 < row <= high and table[row - 1, column] >= 0:
                            seen += below[table[row - 1, column], number]
                            meeting += 1
                        if in_column and -1 <= row < high - 1 and table[row + 1, column] >= 0:
                            seen += below[number, table[row + 1, column]]
                            meeting += 1
                    if free and meeting + across > 0:
                        area = (max(high, down + tall) - min(0, down)) * (max(wide, right + broad) - min(0, right))
                        places[ways, 0], places[ways, 1] = total + _of_ends(seen, meeting), down
                        places[ways, 2], places[ways, 3], places[ways, 4] = right, turned, area
                        crowd[area] += 1.0
                        ways += 1
        crowd = np.cumsum(crowd)
        found[n, 0] = -1e9
        for k in range(ways):
            score = places[k, 0] - np.log(crowd[int(places[k, 4])])
            if score > found[n, 0]:
                found[n, 0], found[n, 1:] = score, places[k, 1:4]
    return found


def _without_doubtful(grids: Sequence[Grid], now: _Round) -> tuple[list[Grid], list[int]]:
    """Grids less chads that their neighbours speak against, parted where nothing holds them; and those chads."""
    kept, out = list[Grid](), list[int]()
    for grid in grids:
        support = dict.fromkeys(grid, 0.0)
        for cell, other, is_below in meetings(grid):
            table = now.below if is_below else now.beside
            for end in (cell, other):
                support[end] += float(table[grid[cell], grid[other]])
        bad = {cell for cell in grid if support[cell] < 0.0}
        out += [grid[cell] for cell in sorted(bad)]
        kept += _parts({cell: number for cell, number in grid.items() if cell not in bad})
    return kept, out


def _parts(grid: Grid) -> list[Grid]:
    """Cells that hang together by their sides."""
    left, parts = set(grid), list[Grid]()
    for first in sorted(grid):
        if first not in left:
            continue
        left.discard(first)
        part, waiting = {first: grid[first]}, [first]
        while waiting:
            row, column = waiting.pop()
            for cell in ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column)):
                if cell in left:
                    left.discard(cell)
                    part[cell] = grid[cell]
                    waiting.append(cell)
        parts.append(part)
    return parts


def turned_half(grid: Grid) -> Grid:
    """The same upside down."""
    return _at_origin({(-row, -column): number ^ 1 for (row, column), number in grid.items()})


def _at_origin(grid: Grid) -> Grid:
    top, left = min(row for row, _ in grid), min(column for _, column in grid)
    return {(row - top, column - left): number for (row, column), number in grid.items()}
