"""Saved stages ↔ arrays, exactly: what is read back is to the last bit what was saved. Damaged arrays give None."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.io.array_store import Arrays, read_text_array, text_array
from jigsawnet.types import Alignment, Assembly, Edge, FloatArray, Fragment, Puzzle, Seam

DRAFT = "draft-"
"""Stages that were cut short are saved under their name behind this: they can be looked at, but are done again."""
BAD = (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError)
"""What arrays that do not fit together raise."""

_SEAM_NUMBERS = len(dataclasses.fields(Seam))


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The first stage: the pieces, their backs, and the resolution of the scan."""

    puzzle: Puzzle
    backs: Mapping[int, Fragment]
    dpi: float | None


Steps = tuple[float, float]
"""The steps that contours were traced and gridded with, in px."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The second stage: candidate joins, what was said on the way, and the steps to trace the same borders again."""

    alignments: tuple[Alignment, ...]
    notes: tuple[str, ...]
    steps: Steps | None

    @property
    def n_fragments(self) -> int:
        """The least number of pieces it can belong to."""
        return max((a.j + 1 for a in self.alignments), default=0)


def pieces_to_arrays(pieces: Pieces) -> Arrays:
    """Pixels and masks of each piece, and of its back."""
    puzzle = pieces.puzzle
    backs = [(idx, back.name) for idx, back in pieces.backs.items()]
    meta = {"name": puzzle.name, "names": puzzle.names(), "warnings": puzzle.warnings, "dpi": pieces.dpi, "backs": backs}
    arrays: Arrays = {"meta": text_array(meta)}
    for prefix, fragments in (("front", puzzle.fragments), ("back", pieces.backs.values())):
        for fragment in fragments:
            arrays[f"{prefix}-{fragment.idx}-image"] = fragment.image
            arrays[f"{prefix}-{fragment.idx}-mask"] = fragment.mask
    return arrays


def pieces_from_arrays(arrays: Arrays) -> Pieces | None:
    """What `pieces_to_arrays` was given."""
    try:
        meta = read_text_array(arrays["meta"])
        fronts = tuple(_fragment(arrays, "front", idx, name) for idx, name in enumerate(meta["names"]))
        backs = {int(idx): _fragment(arrays, "back", int(idx), name) for idx, name in meta["backs"]}
        dpi = None if meta["dpi"] is None else float(meta["dpi"])
        return Pieces(Puzzle(str(meta["name"]), fronts, tuple(map(str, meta["warnings"]))), backs, dpi)
    except BAD:
        return None


def _fragment(arrays: Arrays, prefix: str, idx: int, name: str) -> Fragment:
    return Fragment(idx, str(name), arrays[f"{prefix}-{idx}-image"], arrays[f"{prefix}-{idx}-mask"])


def alignments_to_arrays(alignments: Sequence[Alignment]) -> Arrays:
    """``pair (C, 2)``, ``pose (C, 3)`` as theta, x, y, ``fit (C,)``, and ``seam (C, 7)`` where ``has_seam (C,)``."""
    return {
        "pair": np.array([(a.i, a.j) for a in alignments], np.int32).reshape(-1, 2),
        "pose": np.array([dataclasses.astuple(a.i_from_j) for a in alignments], np.float64).reshape(-1, 3),
        "fit": np.array([a.fit for a in alignments], np.float64),
        "has_seam": np.array([a.seam is not None for a in alignments], np.bool_),
        "seam": np.array([_seam_numbers(a.seam) for a in alignments], np.float64).reshape(-1, _SEAM_NUMBERS),
    }


def _seam_numbers(seam: Seam | None) -> tuple[float, ...]:
    return (0.0,) * _SEAM_NUMBERS if seam is None else dataclasses.astuple(seam)


def alignments_from_arrays(arrays: Arrays) -> tuple[Alignment, ...]:
    """What `alignments_to_arrays` was given."""
    columns = (arrays[name].tolist() for name in ("pair", "pose", "fit", "has_seam", "seam"))
    return tuple(
        Alignment(i, j, SE2(*pose), fit, Seam(*seam) if has_seam else None)
        for (i, j), pose, fit, has_seam, seam in zip(*columns, strict=True)
    )


def candidates_to_arrays(candidates: Candidates) -> Arrays:
    """Candidates in the matcher's order."""
    meta = {"notes": candidates.notes, "steps": candidates.steps}
    return {"meta": text_array(meta), **alignments_to_arrays(candidates.alignments)}


def candidates_from_arrays(arrays: Arrays) -> Candidates | None:
    """What `candidates_to_arrays` was given."""
    try:
        meta = read_text_array(arrays["meta"])
        return Candidates(alignments_from_arrays(arrays), tuple(map(str, meta["notes"])), _steps(meta["steps"]))
    except BAD:
        return None


def _steps(value: Any) -> Steps | None:
    return None if value is None else (float(value[0]), float(value[1]))


def scores_to_arrays(candidates: Candidates, scores: FloatArray) -> Arrays:
    """Candidates with their scores ``(C,)``."""
    return {"score": scores, **candidates_to_arrays(candidates)}


def scores_from_arrays(arrays: Arrays) -> tuple[Candidates, FloatArray] | None:
    """What `scores_to_arrays` was given."""
    candidates, scores = candidates_from_arrays(arrays), arrays.get("score")
    if candidates is None or scores is None or scores.shape != (len(candidates.alignments),):
        return None
    return candidates, np.asarray(scores, np.float64)


def assembly_to_arrays(assembly: Assembly) -> Arrays:
    """Poses and confidences in their order, components end to end, and the joins."""
    numbers = [(idx, *dataclasses.astuple(pose)) for idx, pose in assembly.poses.items()]
    edges = alignments_to_arrays([e.alignment for e in assembly.edges])
    return {
        "n_fragments": np.array(assembly.n_fragments),
        "poses": np.array(numbers, np.float64).reshape(-1, 4),
        "confidence": np.array(list(assembly.confidence.items()), np.float64).reshape(-1, 2),
        "members": np.array([idx for component in assembly.components for idx in component], np.int32),
        "sizes": np.array([len(component) for component in assembly.components], np.int32),
        "score": np.array([e.score for e in assembly.edges], np.float64),
        **edges,
    }


def assembly_from_arrays(arrays: Arrays) -> Assembly | None:
    """What `assembly_to_arrays` was given."""
    try:
        ends = np.cumsum(arrays["sizes"]).tolist()
        members: list[int] = arrays["members"].tolist()
        starts = [0, *ends[:-1]]
        scores: list[Any] = arrays["score"].tolist()
        edges = zip(alignments_from_arrays(arrays), scores, strict=True)
        return Assembly(
            int(arrays["n_fragments"]),
            {int(idx): SE2(*pose) for idx, *pose in arrays["poses"].tolist()},
            tuple(tuple(members[start:end]) for start, end in zip(starts, ends, strict=False)),
            tuple(Edge(alignment, score) for alignment, score in edges),
            {int(idx): value for idx, value in arrays["confidence"].tolist()},
        )
    except BAD:
        return None
