"""What a saved result depends on: the package's own files, stage by stage, so that a change makes old results void."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

PACKAGE = Path(__file__).resolve().parents[2]

Stage = Literal["match", "score", "solve"]

_NEVER = (
    "cli",
    "viewer",
    "training",
    "evaluation/suites/report",
    "evaluation/suites/builtin",
    "evaluation/suites/thumbnail.py",
)
"""Parts of the package that no figure depends on."""
_AFTER_SCORE = ("graph.py", "compose", "refine", "confidence.py", "confidence_weights.py", "second_round.py", "render",
                "config.py", "evaluation/metrics.py", "evaluation/suites/measure.py")  # fmt: skip
_VOID_FOR: dict[Stage, tuple[str, ...]] = {
    "match": (*_NEVER, *_AFTER_SCORE, "score"),
    "score": (*_NEVER, *_AFTER_SCORE),
    "solve": _NEVER,
}
"""Parts that the candidates, their scores, and the whole result do not depend on."""


@cache
def source_digest(stage: Stage) -> str:
    """Names the state of all files that the result of a stage depends on, network weights included."""
    digest = hashlib.sha256()
    for name, path in _files(PACKAGE, _VOID_FOR[stage]):
        digest.update(f"{name}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]


def _files(root: Path, without: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Files below ``root`` with their names relative to it, apart from caches and those ``without``."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and "__pycache__" not in name and not any(name == p or name.startswith(f"{p}/") for p in without):
            yield name, path
