"""``alignments.json``: the candidate joins a solve chose from, so that a result can be examined and judged later."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from jigsawnet.errors import FormatError
from jigsawnet.io.files import write_text
from jigsawnet.io.json_fields import load_object, matrix_rows, named_join, object_list, one_per_line
from jigsawnet.types import Alignment

FORMAT = "jigsawnet/alignments"
VERSION = 1
CANDIDATES_FILE = "alignments.json"


def write_candidates(path: Path, alignments: Sequence[Alignment], names: Sequence[str]) -> None:
    """Write candidates, one per line; ``names`` in order of idx."""
    entries = [
        {"i": names[a.i], "j": names[a.j], "i_from_j": matrix_rows(a.i_from_j), "fit": round(float(a.fit), 9)}
        for a in alignments
    ]
    head = f'{{"format": {json.dumps(FORMAT)}, "version": {VERSION},\n'
    write_text(path, f'{head} "alignments": {one_per_line(entries)}}}\n')


def read_candidates(path: Path, names: Sequence[str]) -> tuple[Alignment, ...]:
    """Read candidates; pieces are numbered as in ``names``.

    Raises:
        FormatError: the file breaks the format or names a piece that is not in ``names``.
    """
    data = load_object(path, FORMAT, VERSION)
    index = {name: idx for idx, name in enumerate(names)}
    if len(index) != len(names):
        raise FormatError(f"{path}: every piece needs a name of its own.")
    entries = enumerate(object_list(data, "alignments", str(path)))
    return tuple(named_join(entry, index, "fit", f"{path}: alignments[{k}]") for k, entry in entries)
