"""``edits.json``: what a person did to a run, one edit a line, pieces by name.

The file holds the edits in force and nothing else, so that it reads as the list of what holds. What was undone lies in
``edits_undone.json`` beside it, which counts only as long as it carries the checksum of the ``edits.json`` it belongs to.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from jigsawnet.edits import Accept, Cut, Edit, Edits, Move, Pin, Reject, SetAside, Solved, TakeBack, TakeOff, Unpin
from jigsawnet.errors import FormatError
from jigsawnet.geometry import SE2
from jigsawnet.io.files import read_text, write_text
from jigsawnet.io.json_fields import MAX_NUMBER, field, load_object, number, object_list, one_per_line
from jigsawnet.types import Alignment, Assembly, Edge, sort_components

EDITS_FILE = "edits.json"
UNDONE_FILE = "edits_undone.json"
FORMAT, UNDONE_FORMAT, VERSION = "jigsawnet/edits", "jigsawnet/edits-undone", 1
MAX_BYTES = 512 * 2**20
"""Each solve of a thousand pieces takes half a megabyte in the list."""

Find = Callable[[Any, str], int]
"""Gives the number of the piece that a value of JSON names; the text says where in the file."""

_OF_PIECES: dict[str, type[TakeOff | Pin | Unpin | SetAside | TakeBack]] = {
    "take_off": TakeOff, "pin": Pin, "unpin": Unpin, "set_aside": SetAside, "take_back": TakeBack,
}  # fmt: skip
_OF_JOINS: dict[str, type[Accept | Reject | Cut]] = {"accept": Accept, "reject": Reject, "cut": Cut}
_KIND = {kind: name for name, kind in (_OF_PIECES | _OF_JOINS).items()}


Memo = dict[int, tuple[Assembly, str]]
"""Texts of results that were written before, by the identity of the assembly: at a thousand pieces they are long."""


def edits_to_json(edits: Edits, names: Sequence[str], memo: Memo | None = None) -> str:
    """The text of ``edits.json``; the same edits in force give the same text."""
    return _to_text({"format": FORMAT, "version": VERSION}, edits.held, (edits.start,), names, memo)


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
                undone = _read_entries(data, names, str(path), first_result=0)[0]
    return Edits(edits.start, edits.entries + undone, edits.in_force)


def read_edits(path: Path, names: Sequence[str]) -> Edits:
    """Read a list of edits; pieces are numbered as in ``names``, of which some may be new since it was written.

    Raises:
        FormatError: the file breaks the format or names a piece that is not in ``names``.
    """
    data = load_object(path, FORMAT, VERSION, MAX_BYTES)
    entries, results = _read_entries(data, names, str(path), first_result=1)
    if not results:
        raise FormatError(f'{path}: the field "results" must begin with how the pieces lay at the start.')
    return Edits(results[0], entries, len(entries))


def has_edits(path: Path) -> bool:
    """True when a list holds anything that a person did; also when it cannot be read, for then nobody knows."""
    try:
        return bool(load_object(path, FORMAT, VERSION, MAX_BYTES).get("edits"))
    except FormatError:
        return True


def parse_edit(entry: Any, find: Find, where: str) -> Edit:
    """One edit of a person from JSON; what a solve gave is not among them."""
    kind = field(entry, "kind", where)
    if kind == "move":
        poses = field(entry, "poses", where)
        if not isinstance(poses, dict):
            raise FormatError(f"{where}.poses must be an object with a pose for each piece.")
        pairs = entry.get("joins", [])
        if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise FormatError(f"{where}.joins must be a list of pairs of pieces.")
        joins = tuple((find(a, f"{where}.joins"), find(b, f"{where}.joins")) for a, b in pairs)
        return Move({find(key, f"{where}.poses"): parse_pose(pose, f"{where}.poses") for key, pose in poses.items()}, joins)
    if isinstance(kind, str) and kind in _OF_JOINS:
        return _OF_JOINS[kind](find(field(entry, "i", where), f"{where}.i"), find(field(entry, "j", where), f"{where}.j"))
    if isinstance(kind, str) and kind in _OF_PIECES:
        pieces = object_list(entry, "pieces", where)
        return _OF_PIECES[kind](tuple(find(piece, f"{where}.pieces") for piece in pieces))
    raise FormatError(f"{where}.kind is not the name of a kind of edit.")


def parse_pose(value: Any, where: str) -> SE2:
    """A pose ``[theta, x, y]``."""
    if not isinstance(value, list) or len(value) != 3:
        raise FormatError(f"{where} must hold poses [theta, x, y].")
    theta, x, y = (number(part, where, -MAX_NUMBER, MAX_NUMBER) for part in value)
    return SE2(theta, x, y)


def pose_row(pose: SE2) -> list[float]:
    """``[theta, x, y]`` with all its digits, so that it reads back as the same pose."""
    return [float(pose.theta), float(pose.x), float(pose.y)]


def _to_text(
    head: Mapping[str, Any],
    entries: Sequence[Edit],
    states: Sequence[Assembly],
    names: Sequence[str],
    memo: Memo | None,
) -> str:
    results, lines = list(states), []
    for edit in entries:
        if isinstance(edit, Solved):
            lines.append({"kind": "solved", "result": len(results)})
            results.append(edit.assembly)
        else:
            lines.append(_entry(edit, names))
    fields = ", ".join(f'"{key}": {json.dumps(value)}' for key, value in head.items())
    memo = {} if memo is None else memo
    for state in results:
        if id(state) not in memo:
            memo[id(state)] = (state, _result(state, names))
    shown = ",\n".join(memo[id(state)][1] for state in results)
    return f'{{{fields},\n "edits": {one_per_line(lines)},\n "results": [{shown}]}}\n'


def _entry(edit: Edit, names: Sequence[str]) -> dict[str, Any]:
    match edit:
        case Move(poses, joins):
            entry: dict[str, Any] = {"kind": "move", "poses": {names[idx]: pose_row(pose) for idx, pose in poses.items()}}
            return entry | ({"joins": [[names[i], names[j]] for i, j in joins]} if joins else {})
        case Accept(i, j) | Reject(i, j) | Cut(i, j):
            return {"kind": _KIND[type(edit)], "i": names[i], "j": names[j]}
        case TakeOff(pieces) | Pin(pieces) | Unpin(pieces) | SetAside(pieces) | TakeBack(pieces):
            return {"kind": _KIND[type(edit)], "pieces": [names[idx] for idx in pieces]}
        case Solved():
            raise ValueError("a solve is written as a result")


def _result(assembly: Assembly, names: Sequence[str]) -> str:
    pieces = [
        {"name": names[idx], "pose": pose_row(assembly.poses[idx]), "component": k, "confidence": assembly.confidence.get(idx)}
        for k, component in enumerate(assembly.components)
        for idx in component
    ]
    joins = [
        {"i": names[a.i], "j": names[a.j], "i_from_j": pose_row(a.i_from_j), "score": float(edge.score)}
        for edge in assembly.edges
        for a in (edge.alignment,)
    ]
    return f'{{"pieces": {one_per_line(pieces)},\n "joins": {one_per_line(joins)}}}'


def _read_entries(data: Any, names: Sequence[str], where: str, first_result: int) -> tuple[tuple[Edit, ...], list[Assembly]]:
    index = {name: idx for idx, name in enumerate(names)}

    def find(value: Any, at: str) -> int:
        if not isinstance(value, str) or value not in index:
            raise FormatError(f"{at} names {value!r}, which is not among the pieces.")
        return index[value]

    listed = enumerate(object_list(data, "results", where))
    results = [_read_result(entry, find, len(names), f"{where}: results[{k}]") for k, entry in listed]
    entries: list[Edit] = []
    used = first_result
    for k, entry in enumerate(object_list(data, "edits", where)):
        at = f"{where}: edits[{k}]"
        if isinstance(entry, dict) and entry.get("kind") == "solved":
            if entry.get("result") != used or used >= len(results):
                raise FormatError(f"{at}.result must be {used}, the number of its entry in results.")
            entries.append(Solved(results[used]))
            used += 1
        else:
            entries.append(parse_edit(entry, find, at))
    return tuple(entries), results


def _read_result(entry: Any, find: Find, n_pieces: int, where: str) -> Assembly:
    poses: dict[int, SE2] = {}
    groups: dict[int, list[int]] = {}
    confidence: dict[int, float] = {}
    for k, piece in enumerate(object_list(entry, "pieces", where)):
        at = f"{where}.pieces[{k}]"
        idx = find(field(piece, "name", at), at)
        if idx in poses:
            raise FormatError(f"{at} names a piece for the second time.")
        poses[idx] = parse_pose(field(piece, "pose", at), f"{at}.pose")
        groups.setdefault(int(number(field(piece, "component", at), f"{at}.component", 0, MAX_NUMBER)), []).append(idx)
        if piece.get("confidence") is not None:
            confidence[idx] = number(piece["confidence"], f"{at}.confidence", 0.0, 1.0)
    edges = []
    for k, join in enumerate(object_list(entry, "joins", where)):
        at = f"{where}.joins[{k}]"
        i, j = (find(field(join, key, at), at) for key in ("i", "j"))
        if i == j:
            raise FormatError(f"{at} joins a piece to itself.")
        i_from_j = parse_pose(field(join, "i_from_j", at), f"{at}.i_from_j")
        score = number(field(join, "score", at), f"{at}.score", 0.0, 1.0)
        i, j, i_from_j = (i, j, i_from_j) if i < j else (j, i, i_from_j.inverse())
        edges.append(Edge(Alignment(i, j, i_from_j, score), score))
    return Assembly(n_pieces, poses, sort_components(groups.values()), tuple(edges), confidence)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="backslashreplace")).hexdigest()
