"""``assembly.json``: where the pieces lie and which joins hold them. Other programs read it, so its fields are fixed.

The file is one object with ``format``, ``version``, ``fragments`` (the pieces) and ``alignments`` (the joins); poses are 3x3
matrices in (x, y) pixels. ``component`` and ``confidence`` are null where there is nothing to say. Fields that are not known
are ignored.

``alignments.json`` beside it holds in the same way the candidate joins that a solve chose from; ``choice`` says of each whether
the composer could choose it (``offered``) and did (``chosen``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from jigsawnet.errors import FormatError
from jigsawnet.geometry import SE2
from jigsawnet.io.files import write_text
from jigsawnet.io.json_files import DIGITS, Name, RigidMatrix, Share, convert, load_object, matrix_rows, one_per_line
from jigsawnet.types import Alignment, Assembly, Join

FORMAT, CANDIDATES_FORMAT, VERSION = "jigsawnet/assembly", "jigsawnet/alignments", 1
CANDIDATES_FILE = "alignments.json"


class _PieceEntry(msgspec.Struct, frozen=True):
    name: Name
    world_from_piece: RigidMatrix | None = msgspec.field(name="world_from_fragment")
    component: Annotated[int, msgspec.Meta(ge=0, le=10**9)] | None = None
    confidence: Share | None = None


class _Join(msgspec.Struct, frozen=True):
    i: Name
    j: Name
    i_from_j: RigidMatrix


class _Selected(_Join, frozen=True):
    """The file calls the confidence of a join its ``score``, as it did before there were two."""

    score: Share
    seam_score: Share | None = None


Choice = Literal["offered", "chosen"]


class _Candidate(_Join, frozen=True):
    fit: Share
    choice: Choice | None = None


class _AssemblyFile(msgspec.Struct, frozen=True):
    fragments: tuple[_PieceEntry, ...]
    alignments: tuple[_Selected, ...]


class _CandidatesFile(msgspec.Struct, frozen=True):
    alignments: tuple[_Candidate, ...]


def assembly_to_json(assembly: Assembly, names: Sequence[str]) -> str:
    """The text of ``assembly.json``, one piece and one alignment per line; the same assembly gives the same text."""
    if len(names) != assembly.n_pieces or len(set(names)) != len(names):
        raise ValueError("every piece needs a name of its own")
    component = {idx: k for k, members in enumerate(assembly.components) for idx in members}
    fragments = [
        {
            "name": name,
            "world_from_fragment": matrix_rows(assembly.poses[idx]) if idx in assembly.poses else None,
            "component": component.get(idx),
            "confidence": _share(assembly.confidence[idx]) if idx in assembly.confidence else None,
        }
        for idx, name in enumerate(names)
    ]
    alignments = [
        {
            "i": names[join.alignment.i],
            "j": names[join.alignment.j],
            "i_from_j": matrix_rows(join.alignment.i_from_j),
            "score": _share(join.confidence),
            "seam_score": _share(join.score),
        }
        for join in assembly.joins
    ]
    head = f'{{"format": "{FORMAT}", "version": {VERSION},\n'
    return f'{head} "fragments": {one_per_line(fragments)},\n "alignments": {one_per_line(alignments)}}}\n'


def write_assembly(path: Path, assembly: Assembly, names: Sequence[str]) -> None:
    """Write ``assembly.json``; ``names`` in order of idx."""
    write_text(path, assembly_to_json(assembly, names))


def read_assembly(path: Path, names: Sequence[str] | None = None) -> tuple[Assembly, tuple[str, ...]]:
    """Read ``assembly.json``; gives the assembly and the names in order of idx.

    Pieces are numbered as in ``names``, or in the order of the file. A join's ``fit`` is its score.

    Raises:
        FormatError: the file breaks the format, or does not hold exactly the pieces in ``names``.
    """
    data = convert(_AssemblyFile, load_object(path, FORMAT, VERSION), str(path))
    in_file = tuple(piece.name for piece in data.fragments)
    order = in_file if names is None else tuple(names)
    _check_names(path, in_file, order)
    index = {name: idx for idx, name in enumerate(order)}
    poses: dict[int, SE2] = {}
    confidence: dict[int, float] = {}
    members: dict[int, list[int]] = {}
    for k, piece in enumerate(data.fragments):
        if piece.world_from_piece is None:
            continue
        if piece.component is None:
            raise FormatError(f'{path}: fragments[{k}] is placed, so its "component" must be a whole number.')
        idx = index[piece.name]
        poses[idx] = piece.world_from_piece.pose
        members.setdefault(piece.component, []).append(idx)
        if piece.confidence is not None:
            confidence[idx] = piece.confidence
    ordered = sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
    components = tuple(tuple(sorted(component)) for _, component in ordered)
    joins = []
    for k, join in enumerate(data.alignments):
        alignment = _alignment(join, join.score, index, f"{path}: alignments[{k}]")
        joins.append(Join(alignment, join.score if join.seam_score is None else join.seam_score, join.score))
    return Assembly(len(order), poses, components, tuple(joins), confidence), order


def write_candidates(
    path: Path, alignments: Sequence[Alignment], names: Sequence[str], choices: Sequence[Choice | None] | None = None
) -> None:
    """Write ``alignments.json``, one candidate per line; ``names`` in order of idx."""
    entries = [
        {"i": names[a.i], "j": names[a.j], "i_from_j": matrix_rows(a.i_from_j), "fit": round(float(a.fit), 9)}
        | ({"choice": choice} if choice else {})
        for a, choice in zip(alignments, choices or [None] * len(alignments), strict=True)
    ]
    head = f'{{"format": "{CANDIDATES_FORMAT}", "version": {VERSION},\n'
    write_text(path, f'{head} "alignments": {one_per_line(entries)}}}\n')


def read_candidates(path: Path, names: Sequence[str]) -> tuple[Alignment, ...]:
    """Read ``alignments.json``; pieces are numbered as in ``names``.

    Raises:
        FormatError: the file breaks the format or names a piece that is not in ``names``.
    """
    return tuple(alignment for alignment, _ in read_choices(path, names))


def read_choices(path: Path, names: Sequence[str]) -> tuple[tuple[Alignment, Choice | None], ...]:
    """The same, each with what the composer made of it; None where it could not choose it, or nobody wrote that down."""
    data = convert(_CandidatesFile, load_object(path, CANDIDATES_FORMAT, VERSION), str(path))
    index = {name: idx for idx, name in enumerate(names)}
    if len(index) != len(names):
        raise FormatError(f"{path}: every piece needs a name of its own.")
    return tuple(
        (_alignment(join, join.fit, index, f"{path}: alignments[{k}]"), join.choice) for k, join in enumerate(data.alignments)
    )


def _alignment(join: _Join, fit: float, index: Mapping[str, int], where: str) -> Alignment:
    """A join between two named pieces; i < j whatever the order in the file."""
    for name in (join.i, join.j):
        if name not in index:
            raise FormatError(f"{where} names {name!r}, which is not among the fragments.")
    i, j, i_from_j = index[join.i], index[join.j], join.i_from_j.pose
    if i == j:
        raise FormatError(f"{where} joins the piece {join.i!r} to itself.")
    return Alignment(i, j, i_from_j, fit) if i < j else Alignment(j, i, i_from_j.inverse(), fit)


def _check_names(path: Path, in_file: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    if len(set(in_file)) != len(in_file):
        twice = Counter(in_file).most_common(1)[0][0]
        raise FormatError(f"{path}: fragments names the piece {twice!r} more than once.")
    for name in sorted(set(in_file) ^ set(wanted))[:1]:
        problem = "lacks the piece" if name in set(wanted) else "names a piece that is not in the puzzle,"
        raise FormatError(f"{path}: fragments {problem} {name!r}.")


def _share(value: float) -> float:
    """A number in [0, 1]; rounding errors beyond the ends are cut off."""
    if not math.isfinite(value) or not -1e-6 <= value <= 1 + 1e-6:
        raise ValueError(f"scores and confidences lie in [0, 1], not {value}")
    return round(min(max(float(value), 0.0), 1.0), DIGITS)
