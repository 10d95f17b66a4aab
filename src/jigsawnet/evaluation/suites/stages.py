"""Saved stages: candidates and their scores, found once and used by every method that shares them."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jigsawnet.errors import FormatError, InputError
from jigsawnet.io.alignments_json import read_candidates, write_candidates
from jigsawnet.io.files import write_text
from jigsawnet.io.json_fields import load_object, object_list
from jigsawnet.types import Alignment, Seam

FORMAT = "jigsawnet/suite-stage"
VERSION = 1


@dataclass(frozen=True, slots=True)
class SavedStage:
    """Candidates, and what it cost to find them. Saved scores are candidates whose ``fit`` is the score."""

    alignments: tuple[Alignment, ...]
    seconds: float
    peak_mb: float | None
    """Largest memory of the process that found them, None where it is not known."""


def save_stage(folder: Path, key: str, names: Sequence[str], stage: SavedStage) -> None:
    """Write a stage under its key; ``names`` are those of the pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    write_candidates(folder / f"{key}.alignments.json", stage.alignments, names)
    seams = [None if a.seam is None else dataclasses.astuple(a.seam) for a in stage.alignments]
    head = {"format": FORMAT, "version": VERSION, "seconds": stage.seconds, "peak_mb": stage.peak_mb}
    write_text(folder / f"{key}.json", json.dumps({**head, "seams": seams}) + "\n")


def load_stage(folder: Path, key: str, names: Sequence[str]) -> SavedStage | None:
    """Read a stage; None when it was not saved or can not be read, and has to be done again."""
    path = folder / f"{key}.json"
    try:
        data = load_object(path, FORMAT, VERSION)
        alignments = read_candidates(folder / f"{key}.alignments.json", names)
        seams = object_list(data, "seams", str(path))
        if len(seams) != len(alignments) or not isinstance(data.get("seconds"), float):
            return None
        found = tuple(replace(a, seam=_seam(values)) for a, values in zip(alignments, seams, strict=True))
        return SavedStage(found, data["seconds"], data.get("peak_mb"))
    except (FormatError, InputError, TypeError):
        return None


def known(megabytes: float) -> float | None:
    """None for a figure that the system does not give."""
    return megabytes if math.isfinite(megabytes) else None


def _seam(values: Any) -> Seam | None:
    return None if values is None else Seam(*values)
