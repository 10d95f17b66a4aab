"""Saved stages: what names them (a hash of all that went in), and their products as arrays, exact to the last bit.

A store keeps arrays under a stage's name and key: the run folder keeps the newest of each stage, the benchmark's folder all.
Damaged arrays give None, so that the stage is done again.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from jigsawnet.candidates import CONTACT, FEATURES, Candidates
from jigsawnet.geometry import SE2, pose_row
from jigsawnet.io.array_store import Arrays, Saved, read_text_array, text_array
from jigsawnet.io.json_files import plain
from jigsawnet.loading import Loaded
from jigsawnet.match import KnownPairs, Scales
from jigsawnet.types import Alignment, Assembly, Constraints, FloatArray, Join, Piece, Puzzle
from jigsawnet.version import __version__

FORMAT = 2
"""Of the saved stages; raised when what is saved changes its meaning."""
BAD = (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError)
"""What arrays that do not fit together raise."""


class Store(Protocol):
    """Keeps what stages gave."""

    def load(self, name: str, key: str | None = None) -> Saved | None:
        """What was saved under the key (None: the newest there is); None when there is nothing, or it is damaged."""

    def save(self, stages: Mapping[str, Saved]) -> None:
        """Keep stages that belong together."""


def make_key(stage: str, *parts: Any) -> str:
    """A key from plain values, and from the versions of the program and of what it saves."""
    return _hash([stage, FORMAT, __version__, *parts])


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(plain(value), sort_keys=True).encode("utf-8", "backslashreplace")).hexdigest()


def piece_digest(piece: Piece) -> str:
    """What a piece is known by: its pixels, not its name."""
    digest = hashlib.sha256(repr(piece.mask.shape).encode())
    digest.update(piece.mask.tobytes())
    digest.update(piece.image.tobytes())
    return digest.hexdigest()[:32]


def puzzle_key(digests: Sequence[str]) -> str:
    """Which pieces, in their order, whatever their names and whatever version made it."""
    return _hash(["puzzle", list(digests)])


def old_puzzle_key(digests: Sequence[str]) -> str:
    """The same as format 1 had it, which only version 0.1.0.dev0 wrote."""
    return _hash(["puzzle", 1, "0.1.0.dev0", list(digests)])


def constraints_key(constraints: Constraints) -> list[Any]:
    """Plain values that name what a person has decided."""
    joins, forbidden = (
        [(a.i, a.j, pose_row(a.i_from_j)) for a in joins] for joins in (constraints.joins, constraints.forbidden)
    )
    pinned = sorted((idx, pose_row(pose)) for idx, pose in constraints.pinned.items())
    decided = [joins, forbidden, pinned, sorted(constraints.aside)]
    return [*decided, [(h.kind, h.pieces, h.angle, h.firm) for h in constraints.hints]] if constraints.hints else decided


def pieces_to_arrays(pieces: Loaded) -> Arrays:
    """Pixels and masks of each piece, and of its back."""
    puzzle = pieces.puzzle
    backs = [(idx, back.name) for idx, back in pieces.backs.items()]
    meta = {"name": puzzle.name, "names": puzzle.names(), "warnings": puzzle.warnings, "dpi": pieces.dpi, "backs": backs}
    arrays: Arrays = {"meta": text_array(meta)}
    for prefix, sides in (("front", puzzle.pieces), ("back", pieces.backs.values())):
        for piece in sides:
            arrays[f"{prefix}-{piece.idx}-image"] = piece.image
            arrays[f"{prefix}-{piece.idx}-mask"] = piece.mask
    return arrays


def pieces_from_arrays(arrays: Arrays) -> Loaded | None:
    """What `pieces_to_arrays` was given."""
    try:
        meta = read_text_array(arrays["meta"])
        fronts = tuple(_piece_from(arrays, "front", idx, name) for idx, name in enumerate(meta["names"]))
        backs = {int(idx): _piece_from(arrays, "back", int(idx), name) for idx, name in meta["backs"]}
        dpi = None if meta["dpi"] is None else float(meta["dpi"])
        return Loaded(Puzzle(str(meta["name"]), fronts, tuple(map(str, meta["warnings"]))), backs, dpi)
    except BAD:
        return None


def _piece_from(arrays: Arrays, prefix: str, idx: int, name: str) -> Piece:
    return Piece(idx, str(name), arrays[f"{prefix}-{idx}-image"], arrays[f"{prefix}-{idx}-mask"])


def rows_to_arrays(rows: Candidates) -> Arrays:
    """The columns of a table of candidates."""
    return {name: getattr(rows, name) for name in Candidates.__slots__}


def rows_from_arrays(arrays: Arrays) -> Candidates:
    """What `rows_to_arrays` was given, or the rows of a run of format 1."""
    if "pair" in arrays:
        return _old_rows(arrays)
    n = len(arrays["i"])
    newer = {"contact": np.full((n, len(CONTACT)), np.nan, np.float32), "strokes": np.full(n, np.nan)}
    columns = newer | dict(arrays)
    rows = Candidates(*(columns[name] for name in Candidates.__slots__))
    shapes = ((n,), (n,), (n, 3), (n, len(FEATURES)), (n,), (n,), (n,), (n, len(CONTACT)), (n,))
    if tuple(getattr(rows, name).shape for name in Candidates.__slots__) != shapes:
        raise ValueError("columns of different lengths")
    if any(getattr(rows, name).dtype.kind != kind for name, kind in zip(Candidates.__slots__, "iifffffff", strict=True)):
        raise ValueError("columns of another kind")
    return _checked(rows)


def _old_rows(arrays: Arrays) -> Candidates:
    """Format 1: ``pair (C, 2)``, ``pose (C, 3)``, ``fit (C,)``, and ``seam (C, 7)`` where ``has_seam (C,)``."""
    columns = ("length", "residual", "gap", "overlap_depth", "color_step", "flatness")
    n = len(arrays["fit"])
    features = np.full((n, len(FEATURES)), np.nan, np.float32)
    seam = np.where(arrays["has_seam"][:, None], arrays["seam"].reshape(n, 7), np.nan)
    features[:, [FEATURES.index(name) for name in columns]] = seam[:, :6]
    gap_px = np.where(arrays["has_seam"], seam[:, 6], 0.0)
    i, j = arrays["pair"].reshape(n, 2).T
    if i.dtype.kind != "i":
        raise ValueError("not pairs of pieces")
    return _checked(
        Candidates.make(
            i, j, arrays["pose"].reshape(n, 3), features, gap_px, arrays["fit"].reshape(n), arrays.get("score", np.nan)
        )
    )


def _checked(rows: Candidates) -> Candidates:
    if not ((rows.i >= 0).all() and (rows.i < rows.j).all() and np.isfinite(rows.pose).all()):
        raise ValueError("not poses of pairs of pieces")
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class FoundCandidates:
    """Candidates, scored or not, what was noticed on the way, and the steps with which the same borders are traced again."""

    rows: Candidates
    notes: tuple[str, ...]
    steps: tuple[float, float] | None
    kept: KnownPairs | None = None
    """What the matcher measured, for when pieces are added; saved by itself."""

    def fits(self, n_pieces: int) -> bool:
        """True when it can be of so many pieces."""
        return int(self.rows.j.max(initial=-1)) < n_pieces


def found_to_arrays(found: FoundCandidates) -> Arrays:
    """Candidates in their order."""
    return {"meta": text_array({"notes": found.notes, "steps": found.steps}), **rows_to_arrays(found.rows)}


def found_from_arrays(arrays: Arrays) -> FoundCandidates | None:
    """What `found_to_arrays` was given, or the scored candidates of a run of format 1, best first."""
    try:
        meta = read_text_array(arrays["meta"])
        steps = None if meta["steps"] is None else (float(meta["steps"][0]), float(meta["steps"][1]))
        rows = rows_from_arrays(arrays)
        if "pair" in arrays and "score" in arrays:
            rows = rows.with_scores(np.asarray(arrays["score"], np.float64))
        return FoundCandidates(rows, tuple(map(str, meta["notes"])), steps)
    except BAD:
        return None


def assembly_to_arrays(assembly: Assembly) -> Arrays:
    """Poses and confidences in their order, components end to end, and the joins."""
    numbers = [(idx, *pose_row(pose)) for idx, pose in assembly.poses.items()]
    joins = Candidates.of([e.alignment for e in assembly.joins], np.array([e.score for e in assembly.joins]))
    return {
        "n_fragments": np.array(assembly.n_pieces),
        "poses": np.array(numbers, np.float64).reshape(-1, 4),
        "confidence": np.array(list(assembly.confidence.items()), np.float64).reshape(-1, 2),
        "members": np.array([idx for component in assembly.components for idx in component], np.int32),
        "sizes": np.array([len(component) for component in assembly.components], np.int32),
        "join_confidence": np.array([e.confidence for e in assembly.joins], np.float64),
        **({} if assembly.chosen is None else {"chosen": _chosen_array(assembly.chosen)}),
        **rows_to_arrays(joins),
    }


def _chosen_array(chosen: Sequence[Join]) -> FloatArray:
    """Rows ``(i, j, theta, x, y, fit, score)``."""
    rows = [(a.i, a.j, *pose_row(a.i_from_j), a.fit, e.score) for e in chosen for a in [e.alignment]]
    return np.array(rows, np.float64).reshape(-1, 7)


def assembly_from_arrays(arrays: Arrays) -> Assembly | None:
    """What `assembly_to_arrays` was given."""
    try:
        ends = np.cumsum(arrays["sizes"]).tolist()
        members: list[int] = arrays["members"].tolist()
        rows = rows_from_arrays(arrays)
        if rows.j.max(initial=-1) >= int(arrays["n_fragments"]):
            return None
        sure: list[float] = arrays.get("join_confidence", rows.score).tolist()
        return Assembly(
            int(arrays["n_fragments"]),
            {int(idx): SE2(*pose) for idx, *pose in arrays["poses"].tolist()},
            tuple(tuple(members[start:end]) for start, end in zip([0, *ends[:-1]], ends, strict=False)),
            tuple(Join(a, score, p) for a, score, p in zip(rows.alignments(), rows.score.tolist(), sure, strict=True)),
            {int(idx): value for idx, value in arrays["confidence"].tolist()},
            chosen=_chosen_from(arrays["chosen"]) if "chosen" in arrays else None,
        )
    except BAD:
        return None


def _chosen_from(rows: FloatArray) -> tuple[Join, ...]:
    return tuple(
        Join(Alignment(int(i), int(j), SE2(theta, x, y), fit), score) for i, j, theta, x, y, fit, score in rows.tolist()
    )


_SCALES = ("contour_step_px", "border_step_px", "perimeter_px")


def known_to_arrays(known: KnownPairs, digests: Sequence[str]) -> Arrays:
    """What the matcher measured, beside the digests of the pieces it names: pieces are known by their pixels."""
    scales, rows = known.scales, known.rows
    meta = {"digests": list(digests)} | {name: getattr(scales, name) for name in _SCALES}
    measured: Arrays = {"i": rows.i, "j": rows.j, "pose": rows.pose, "features": rows.features}
    if known.pairs is not None:
        measured["pairs"] = known.pairs
    return {"meta": text_array(meta), "pieces": known.pieces, "reference": scales.reference, **measured}


def known_from_arrays(arrays: Arrays, digests: Sequence[str]) -> KnownPairs | None:
    """What was measured of the pieces that are still there, in today's numbers; None when that cannot be used."""
    try:
        meta = read_text_array(arrays["meta"])
        contour_step_px, border_step_px, perimeter_px = (float(meta[name]) for name in _SCALES)
        rows = Candidates.make(arrays["i"], arrays["j"], arrays["pose"], arrays["features"])
        count, n_old = len(rows), len(meta["digests"])
        if rows.features.shape != (count, len(FEATURES)) or rows.j.shape != (count,):
            return None
        if rows.features.dtype != np.float32 or not (np.isfinite(rows.features).all() and np.isfinite(rows.pose).all()):
            return None
        pairs = None if "pairs" not in arrays else arrays["pairs"].reshape(-1, 2)
        if pairs is not None and (pairs.dtype.kind != "i" or (pairs[:, 0] >= pairs[:, 1]).any()):
            return None
        listed = [] if pairs is None else [pairs.ravel()]
        indices = np.concatenate([rows.i, rows.j, arrays["pieces"], arrays["reference"], *listed])
        if len(indices) and not 0 <= indices.min() <= indices.max() < n_old:
            return None
        scales = Scales(contour_step_px, border_step_px, perimeter_px, arrays["reference"])
        return KnownPairs(arrays["pieces"], rows, scales, pairs).renumbered(_today(meta["digests"], digests))
    except BAD:
        return None


def _today(old: Sequence[str], new: Sequence[str]) -> list[int | None]:
    """Where each old piece is now; of several with the same pixels the first becomes the first."""
    places: dict[str, list[int]] = defaultdict(list)
    for idx in reversed(range(len(new))):
        places[new[idx]].append(idx)
    return [places[digest].pop() if places[digest] else None for digest in old]
