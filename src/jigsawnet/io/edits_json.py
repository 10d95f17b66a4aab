"""``edits.json``: what a person did to a run, one edit a line, pieces by name.

The file holds the edits in force and nothing else, so that it reads as the list of what holds. What was undone lies in
``edits_undone.json`` beside it, which counts only as long as it carries the checksum of the ``edits.json`` it belongs to.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec

from jigsawnet.edits import KINDS, Edit, Edits, Solved
from jigsawnet.errors import FormatError
from jigsawnet.geometry import SE2
from jigsawnet.io.files import read_text, write_text
from jigsawnet.io.json_files import MAX_NUMBER, Share, convert, load_object, one_per_line
from jigsawnet.types import Alignment, Assembly, Join, sort_components

EDITS_FILE = "edits.json"
UNDONE_FILE = "edits_undone.json"
FORMAT, UNDONE_FORMAT, VERSION = "jigsawnet/edits", "jigsawnet/edits-undone", 1
MAX_BYTES = 512 * 2**20
"""Each solve of a thousand pieces takes half a megabyte in the list."""

Find = Callable[[Any, str], int]
"""Gives the number of the piece that a value of JSON names; the text says where in the file."""
Memo = dict[int, tuple[Assembly, str]]
"""Texts of results that were written before, by the identity of the assembly: at a thousand pieces they are long."""

_Number = Annotated[float, msgspec.Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
_Pose = tuple[_Number, _Number, _Number]
"""``[theta, x, y]``."""

_AS_THEY_ARE: dict[str, Any] = {
    "name": str,
    "place": int,
    "angle": _Number,
    "room": bool,
    "text": str,
    "firm": bool,
    "number": int,
}
"""Fields of edits that hold plain values, not pieces."""


class _Piece(msgspec.Struct):
    name: Any
    pose: _Pose
    component: Annotated[int, msgspec.Meta(ge=0)]
    confidence: Share | None = None


class _Join(msgspec.Struct):
    i: Any
    j: Any
    i_from_j: _Pose
    score: Share


class _Result(msgspec.Struct):
    pieces: list[_Piece]
    joins: list[_Join]


class _Lists(msgspec.Struct):
    edits: list[dict[str, Any]]
    results: list[_Result]


def edits_to_json(edits: Edits, names: Sequence[str], memo: Memo | None = None) -> str:
    """The text of ``edits.json``; the same edits in force give the same text."""
    return _to_text({"format": FORMAT, "version": VERSION}, edits.done, (edits.start,), names, memo)


def save_edits(folder: Path, edits: Edits, names: Sequence[str], memo: Memo | None = None) -> None:
    """Write both files so that a crash between them loses at most what could be redone."""
    text = edits_to_json(edits, names, memo)
    if not edits.undone:
        write_text(folder / EDITS_FILE, text)
        with suppress(OSError):
            (folder / UNDONE_FILE).unlink(missing_ok=True)
        return
    head = {"format": UNDONE_FORMAT, "version": VERSION, "after": _checksum(text)}
    write_text(folder / UNDONE_FILE, _to_text(head, edits.undone, (), names, memo))
    write_text(folder / EDITS_FILE, text)


def load_edits(folder: Path, names: Sequence[str]) -> Edits:
    """Read both files of a run folder.

    Raises:
        FormatError: ``edits.json`` breaks the format or names a piece that is not in ``names``.
    """
    edits = read_edits(folder / EDITS_FILE, names)
    undone: tuple[Edit, ...] = ()
    path = folder / UNDONE_FILE
    if path.is_file():
        with suppress(FormatError):
            data = load_object(path, UNDONE_FORMAT, VERSION, MAX_BYTES)
            if data.get("after") == _checksum(read_text(folder / EDITS_FILE, MAX_BYTES)):
                undone = _read_entries(data, names, path, first_result=0)[0]
    return Edits(edits.start, edits.entries + undone, edits.in_force)


def read_edits(path: Path, names: Sequence[str]) -> Edits:
    """Read a list of edits; pieces are numbered as in ``names``, of which some may be new since it was written.

    Raises:
        FormatError: the file breaks the format or names a piece that is not in ``names``.
    """
    data = load_object(path, FORMAT, VERSION, MAX_BYTES)
    entries, results = _read_entries(data, names, path, first_result=1)
    if not results:
        raise FormatError(f'{path}: the field "results" must begin with how the pieces lay at the start.')
    return Edits(results[0], entries, len(entries))


def has_edits(path: Path) -> bool:
    """True when a list holds anything that a person did, or cannot be read, so that it might."""
    try:
        return bool(load_object(path, FORMAT, VERSION, MAX_BYTES).get("edits"))
    except FormatError:
        return True


def parse_edit(entry: Any, find: Find, where: str) -> Edit:
    """One edit of a person from JSON; what a solve gave is not among them."""
    given = convert(dict[str, Any], entry, where)
    name = given.get("kind")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None or kind is Solved:
        raise FormatError(f"{where}.kind is not the name of a kind of edit.")
    values = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if field.name in given:
            values[field.name] = _read_field(field.name, given[field.name], find, f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING:
            raise FormatError(f'{where} must be an object with the field "{field.name}".')
    return kind(**values)


def parse_pose(value: Any, where: str) -> SE2:
    """A pose ``[theta, x, y]``."""
    return SE2(*convert(_Pose, value, where))  # type: ignore[arg-type]


def _read_field(name: str, value: Any, find: Find, where: str) -> Any:
    """One field of an edit; a field of this name holds the same in every kind."""
    if name in _AS_THEY_ARE:
        return convert(_AS_THEY_ARE[name], value, where)
    match name:
        case "pieces":
            return tuple(find(piece, where) for piece in convert(list[Any], value, where))
        case "joins":
            return tuple((find(a, where), find(b, where)) for a, b in convert(list[tuple[Any, Any]], value, where))
        case "poses":
            return {find(key, where): SE2(*pose) for key, pose in convert(dict[str, _Pose], value, where).items()}
        case _:
            return find(value, where)


def _plain(value: Any, names: Sequence[str]) -> Any:
    """A field of an edit as JSON holds it; every whole number in it is a piece, unless the field holds plain values."""
    match value:
        case int():
            return names[value]
        case SE2():
            return _pose_row(value)
        case Mapping():
            return {names[idx]: _plain(item, names) for idx, item in value.items()}
        case _:
            return [_plain(item, names) for item in value]


def _to_text(
    head: Mapping[str, Any], entries: Sequence[Edit], states: Sequence[Assembly], names: Sequence[str], memo: Memo | None
) -> str:
    results, lines = list(states), []
    for edit in entries:
        line: dict[str, Any] = {"kind": edit.kind}
        if isinstance(edit, Solved):
            line["result"] = len(results)
            results.append(edit.assembly)
        else:
            fields = [(field, getattr(edit, field.name)) for field in dataclasses.fields(edit)]  # type: ignore[arg-type]
            line |= {
                field.name: value if field.name in _AS_THEY_ARE else _plain(value, names)
                for field, value in fields
                if value != field.default
            }
        lines.append(line)
    memo = {} if memo is None else memo
    for state in results:
        if id(state) not in memo:
            memo[id(state)] = (state, _result_text(state, names))
    opening = ", ".join(f'"{key}": {json.dumps(value)}' for key, value in head.items())
    shown = ",\n".join(memo[id(state)][1] for state in results)
    return f'{{{opening},\n "edits": {one_per_line(lines)},\n "results": [{shown}]}}\n'


def _result_text(assembly: Assembly, names: Sequence[str]) -> str:
    pieces = [
        {"name": names[idx], "pose": _pose_row(assembly.poses[idx]), "component": k, "confidence": assembly.confidence.get(idx)}
        for k, component in enumerate(assembly.components)
        for idx in component
    ]
    joins = [
        {"i": names[a.i], "j": names[a.j], "i_from_j": _pose_row(a.i_from_j), "score": float(join.confidence)}
        for join in assembly.joins
        for a in (join.alignment,)
    ]
    return f'{{"pieces": {one_per_line(pieces)},\n "joins": {one_per_line(joins)}}}'


def _pose_row(pose: SE2) -> list[float]:
    """With all its digits, so that it reads back as the same pose."""
    return [float(pose.theta), float(pose.x), float(pose.y)]


def _read_entries(data: Any, names: Sequence[str], path: Path, first_result: int) -> tuple[tuple[Edit, ...], list[Assembly]]:
    index = {name: idx for idx, name in enumerate(names)}

    def find(value: Any, where: str) -> int:
        if not isinstance(value, str) or value not in index:
            raise FormatError(f"{where} names {value!r}, which is not among the pieces.")
        return index[value]

    lists = convert(_Lists, data, str(path))
    results = [_to_assembly(result, find, len(names), f"{path}: results[{k}]") for k, result in enumerate(lists.results)]
    entries: list[Edit] = []
    used = first_result
    for k, entry in enumerate(lists.edits):
        where = f"{path}: edits[{k}]"
        if entry.get("kind") == Solved.kind:
            if entry.get("result") != used or used >= len(results):
                raise FormatError(f"{where}.result must be {used}, the number of its entry in results.")
            entries.append(Solved(results[used]))
            used += 1
        else:
            entries.append(parse_edit(entry, find, where))
    return tuple(entries), results


def _to_assembly(result: _Result, find: Find, n_pieces: int, where: str) -> Assembly:
    poses: dict[int, SE2] = {}
    components: dict[int, list[int]] = {}
    confidence: dict[int, float] = {}
    for k, piece in enumerate(result.pieces):
        idx = find(piece.name, f"{where}.pieces[{k}]")
        if idx in poses:
            raise FormatError(f"{where}.pieces[{k}] names a piece for the second time.")
        poses[idx] = SE2(*piece.pose)
        components.setdefault(piece.component, []).append(idx)
        if piece.confidence is not None:
            confidence[idx] = piece.confidence
    joins = []
    for k, join in enumerate(result.joins):
        i, j = (find(name, f"{where}.joins[{k}]") for name in (join.i, join.j))
        if i == j:
            raise FormatError(f"{where}.joins[{k}] joins a piece to itself.")
        i_from_j = SE2(*join.i_from_j)
        i, j, i_from_j = (i, j, i_from_j) if i < j else (j, i, i_from_j.inverse())
        joins.append(Join(Alignment(i, j, i_from_j, join.score), join.score))
    return Assembly(n_pieces, poses, sort_components(components.values()), tuple(joins), confidence)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="backslashreplace")).hexdigest()
