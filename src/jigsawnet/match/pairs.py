"""Pairs of pieces cut into blocks of work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jigsawnet.borders import Int64Array
from jigsawnet.workers import Workers

PairRow = tuple[int, Int64Array]
"""Piece i and the later pieces that it is laid against."""

_MOST_IN_ROW = 256
"""Later pieces taken at a time: what is held for them at once stays small."""
_FEWEST_PAIRS, _MOST_PAIRS, _MOST_SENT = 64, 256, 2048
"""Pairs of a block, at the least and, on this machine, at the most: what is begun is finished, also after a stop; times the
grain at the most when they are sent."""
_BLOCKS_PER_SLOT = 16
"""Blocks that each worker gets, so that all end at about the same time."""


def all_pairs(n_pieces: int) -> list[PairRow]:
    """Every piece with all later ones."""
    return [(i, np.arange(i + 1, n_pieces)) for i in range(n_pieces - 1)]


def rows_of(pairs: Int64Array) -> list[PairRow]:
    """Pairs ``(P, 2)``, in order, as each piece with its later ones."""
    own, first = np.unique(pairs[:, 0], return_index=True)
    return list(zip(own.tolist(), np.split(pairs[:, 1], first[1:]), strict=True)) if len(pairs) else []


def pairs_of(rows: Sequence[PairRow]) -> Int64Array:
    """Rows as pairs ``(P, 2)``."""
    parts = [np.column_stack([np.full(len(later), i), later]) for i, later in rows]
    return np.concatenate([np.zeros((0, 2), np.int64), *parts])


def cut_pairs(rows: Sequence[PairRow], workers: Workers) -> list[list[PairRow]]:
    """Rows in order, in blocks that are worth sending and many enough to keep all workers busy."""
    short = [(i, js[k : k + _MOST_IN_ROW]) for i, js in rows for k in range(0, len(js), _MOST_IN_ROW)]
    share = sum(len(js) for _, js in short) // (_BLOCKS_PER_SLOT * workers.slots)
    wanted = min(max(share, _FEWEST_PAIRS * workers.grain), _MOST_PAIRS if workers.grain == 1 else _MOST_SENT * workers.grain)
    blocks: list[list[PairRow]] = []
    room = 0
    for row in short:
        if room <= 0:
            blocks.append([])
            room = wanted
        blocks[-1].append(row)
        room -= len(row[1])
    return blocks
