"""Keys of stages: a hash of all that a stage depends on. The same key means the same result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, replace
from pathlib import Path
from typing import Any

from jigsawnet.config import SolveConfig
from jigsawnet.errors import InputError
from jigsawnet.io.files import file_digest
from jigsawnet.io.pieces import KEY_COLOR_FILE, list_pictures
from jigsawnet.io.plain_json import plain
from jigsawnet.runs.request import Request
from jigsawnet.types import Constraints, Fragment
from jigsawnet.version import __version__

FORMAT = 1
"""Of the saved stages; raised when what is saved changes its meaning."""


def make_key(stage: str, *parts: Any) -> str:
    """A key from plain values, and from the versions of the program and of what it saves."""
    text = json.dumps(plain([stage, FORMAT, __version__, *parts]), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def pieces_key(request: Request) -> str:
    """What the pieces depend on: names and bytes of the input files, and how scans are read."""
    files = [file for place in (*request.inputs, *request.scans.back) for file in _files(place)]
    return make_key("pieces", len(request.inputs), files, asdict(replace(request.scans, back=())))


def _files(place: Path) -> list[tuple[str, str]]:
    """Names and checksums of the files of an input; one that cannot be read is left to whoever reads it to complain about."""
    try:
        if place.is_dir():
            listed = [*list_pictures(place), *(path for path in (place / KEY_COLOR_FILE,) if path.is_file())]
            return [(place.resolve().name, ""), *((path.name, file_digest(path)) for path in listed)]
        return [(place.name, file_digest(place))]
    except (OSError, ValueError, InputError):
        return [(str(place), "")]


def piece_digest(fragment: Fragment) -> str:
    """What a piece is known by: its pixels, not its name."""
    digest = hashlib.sha256(repr(fragment.mask.shape).encode())
    digest.update(fragment.mask.tobytes())
    digest.update(fragment.image.tobytes())
    return digest.hexdigest()[:32]


def match_key(request: Request, digests: Sequence[str]) -> str:
    """What the candidates depend on."""
    config = request.config
    if request.alignments is not None:
        return make_key("given", list(digests), file_digest(request.alignments), asdict(config.contours))
    own = getattr(config.match, config.matcher)
    return make_key("match", list(digests), asdict(config.contours), config.matcher, config.match.per_piece, asdict(own))


def measured_key(request: Request) -> str:
    """What the measurements between two pieces depend on, beside these."""
    config = request.config
    return make_key("measured", asdict(config.contours), config.matcher, asdict(config.match.dense))


def graph_key(match: str, config: SolveConfig, weights: str) -> str:
    """What the scores depend on."""
    return make_key("graph", match, config.chosen_scorer, weights)


def assembly_key(graph: str, config: SolveConfig, seed: int, constraints: Constraints) -> str:
    """What the assembly depends on."""
    options = {name: value for name, value in asdict(config).items() if name not in ("contours", "match")}
    pinned = sorted((idx, astuple(pose)) for idx, pose in constraints.pinned.items())
    joins, forbidden = (
        [(a.i, a.j, astuple(a.i_from_j)) for a in group] for group in (constraints.joins, constraints.forbidden)
    )
    return make_key("assembly", graph, options, seed, joins, forbidden, pinned, sorted(constraints.aside))


def results_key(assembly: str, names: Sequence[str], dpi: float | None, request: Request) -> str:
    """What the result files depend on."""
    return make_key("results", assembly, list(names), dpi, request.authors_text, request.tiff)


def puzzle_key(digests: Sequence[str]) -> str:
    """Which pieces, in their order, whatever their names."""
    return make_key("puzzle", list(digests))
