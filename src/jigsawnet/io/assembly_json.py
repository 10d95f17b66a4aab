"""``assembly.json``: where the pieces lie and which joins hold them. Other programs read it, so its fields are fixed.

The file is one object with ``format``, ``version``, ``fragments`` and ``alignments``; poses are 3x3 matrices in (x, y) pixels.
``component`` and ``confidence`` are null where there is nothing to say. Fields that are not known are ignored.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jigsawnet.errors import FormatError
from jigsawnet.geometry import SE2
from jigsawnet.io.files import write_text
from jigsawnet.io.json_fields import (
    DIGITS,
    MAX_NUMBER,
    field,
    load_object,
    matrix_rows,
    name_field,
    named_join,
    number,
    object_list,
    one_per_line,
    pose_field,
)  # fmt: skip
from jigsawnet.types import Assembly, Edge

FORMAT = "jigsawnet/assembly"
VERSION = 1


def assembly_to_json(assembly: Assembly, names: Sequence[str]) -> str:
    """The text of ``assembly.json``, one fragment and one alignment per line; the same assembly gives the same text."""
    if len(names) != assembly.n_fragments or len(set(names)) != len(names):
        raise ValueError("every fragment needs a name of its own")
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
            "i": names[edge.alignment.i],
            "j": names[edge.alignment.j],
            "i_from_j": matrix_rows(edge.alignment.i_from_j),
            "score": _share(edge.score),
        }
        for edge in assembly.edges
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
    data = load_object(path, FORMAT, VERSION)
    entries = object_list(data, "fragments", str(path))
    in_file = tuple(name_field(entry, "name", f"{path}: fragments[{k}]") for k, entry in enumerate(entries))
    order = in_file if names is None else tuple(names)
    _check_names(path, in_file, order)
    index = {name: idx for idx, name in enumerate(order)}
    poses: dict[int, SE2] = {}
    confidence: dict[int, float] = {}
    groups: dict[int, list[int]] = {}
    for k, (name, entry) in enumerate(zip(in_file, entries, strict=True)):
        where, idx = f"{path}: fragments[{k}]", index[name]
        if field(entry, "world_from_fragment", where) is None:
            continue
        poses[idx] = pose_field(entry, "world_from_fragment", where)
        groups.setdefault(_component(entry, where), []).append(idx)
        if entry.get("confidence") is not None:
            confidence[idx] = number(entry["confidence"], f"{where}.confidence", 0.0, 1.0)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    components = tuple(tuple(sorted(members)) for _, members in ordered)
    joins = enumerate(object_list(data, "alignments", str(path)))
    edges = tuple(_edge(entry, index, f"{path}: alignments[{k}]") for k, entry in joins)
    return Assembly(len(order), poses, components, edges, confidence), order


def _edge(entry: Any, index: Mapping[str, int], where: str) -> Edge:
    alignment = named_join(entry, index, "score", where)
    return Edge(alignment, alignment.fit)


def _check_names(path: Path, in_file: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    if len(set(in_file)) != len(in_file):
        twice = Counter(in_file).most_common(1)[0][0]
        raise FormatError(f"{path}: fragments names the piece {twice!r} more than once.")
    for name in sorted(set(in_file) ^ set(wanted))[:1]:
        problem = "lacks the piece" if name in set(wanted) else "names a piece that is not in the puzzle,"
        raise FormatError(f"{path}: fragments {problem} {name!r}.")


def _component(entry: Any, where: str) -> int:
    value = field(entry, "component", where)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
        raise FormatError(f"{where}.component must be a whole number from 0 for a piece that is placed.")
    return value


def _share(value: float) -> float:
    """A number in [0, 1]; rounding errors beyond the ends are cut off."""
    if not math.isfinite(value) or not -1e-6 <= value <= 1 + 1e-6:
        raise ValueError(f"scores and confidences lie in [0, 1], not {value}")
    return round(min(max(float(value), 0.0), 1.0), DIGITS)
