"""What is asked of a run, as the command line says it and ``run.json`` keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from jigsawnet.config import SolveConfig
from jigsawnet.io.table_fields import fill
from jigsawnet.loading import ScanInput
from jigsawnet.pipeline import config_for_given


@dataclass(frozen=True, slots=True)
class Request:
    """What to solve, and how; limits are not in it, for they do not change what is asked."""

    inputs: tuple[Path, ...]
    """Folders of pieces, or scans."""
    scans: ScanInput = field(default_factory=ScanInput)
    config: SolveConfig = field(default_factory=SolveConfig)
    seed: int = 0
    alignments: Path | None = None
    """Candidate joins of another program, instead of looking for them."""
    authors_text: bool = False
    """Also write the text files of the paper's authors."""
    tiff: bool = False
    """Also write the picture as TIFF."""


def effective_config(request: Request) -> SolveConfig:
    """The options as they are used."""
    return request.config if request.alignments is None else config_for_given(request.config)


def request_to_plain(request: Request) -> dict[str, Any]:
    """A request as plain values, with absolute paths."""
    alignments = None if request.alignments is None else request.alignments.absolute()
    scans = replace(request.scans, back=_absolute(request.scans.back))
    return asdict(replace(request, inputs=_absolute(request.inputs), scans=scans, alignments=alignments))


def request_from_plain(data: Mapping[str, Any], where: str) -> Request:
    """A request out of ``run.json``.

    Raises:
        FormatError: it is not one.
    """
    return fill(Request, data, where)


def _absolute(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(path.absolute() for path in paths)
