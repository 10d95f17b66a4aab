"""``jigsawnet doctor``."""

from __future__ import annotations

import json
import os
import platform
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from jigsawnet.cli.commands import COMMANDS
from jigsawnet.cli.console import Command, Flag, answer
from jigsawnet.cli.parsing import SETTINGS_FILE
from jigsawnet.errors import JigsawNetError
from jigsawnet.version import __version__

LIBRARIES = ("numpy", "scipy", "opencv-python-headless", "numba", "onnxruntime", "pillow", "pillow-heif", "pypdfium2")
EXTRAS = {"web": ("fastapi", "uvicorn"), "train": ("torch", "onnx"), "cluster": ("distributed",)}
LITTLE_BYTES = 2 * 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: ``state`` is ok, note (it works without) or bad."""

    what: str
    state: str
    words: str


@dataclass(frozen=True, slots=True)
class Doctor(Command):
    """Look whether all that is needed is here: versions, weights, memory, browser.

    Exit code 0: all is well; 1: something is missing, and a line says what to do.
    """

    json: Flag = False
    """Print what was found as one JSON line, for programs."""

    def run(self) -> int:
        """Look and tell."""
        found = [*_look()]
        if self.json:
            answer(json.dumps([asdict(finding) for finding in found]))
        else:
            for finding in found:
                answer(f"{finding.state:<4}  {finding.what}: {finding.words}")
        return 1 if any(finding.state == "bad" for finding in found) else 0


def _look() -> Iterator[Finding]:
    yield Finding("jigsawnet", "ok", f"{__version__} on Python {platform.python_version()}, {platform.platform(terse=True)}")
    for name in LIBRARIES:
        yield _library(name)
    yield _weights()
    yield _compiled()
    yield from _settings()
    yield _memory()
    for extra, names in EXTRAS.items():
        missing = [name for name in names if find_spec(name) is None]
        words = f"is not installed; pip install 'jigsawnet[{extra}]' if you need it" if missing else "is installed"
        yield Finding(f"extra {extra}", "note" if missing else "ok", words)
    yield _browser()


def _library(name: str) -> Finding:
    try:
        return Finding(name, "ok", version(name))
    except PackageNotFoundError:
        return Finding(name, "bad", "is missing; install jigsawnet again with pip")


def _weights() -> Finding:
    from jigsawnet.learned import load_learned  # noqa: PLC0415 - takes a while to load

    try:
        digest = load_learned(None).digest_of("fit", "seam", "confidence")
    except (JigsawNetError, OSError) as error:
        return Finding("weights", "bad", f"{error} Install jigsawnet again with pip.")
    return Finding("weights", "ok", f"those of the package, {str(digest)[:12]}")


def _compiled() -> Finding:
    from jigsawnet.borders import is_compiled  # noqa: PLC0415

    words = "is there" if is_compiled() else "is prepared by the first solve, which takes longer"
    return Finding("compiled code", "ok" if is_compiled() else "note", words)


def _settings() -> Iterator[Finding]:
    """The options for all commands in the jigsawnet.toml of the working folder, if there is one."""
    from jigsawnet.cli.settings import read_settings  # noqa: PLC0415

    path = Path(SETTINGS_FILE)
    if not path.is_file():
        return
    try:
        names = [f"{name} {key}" for name, entry in COMMANDS.items() for key in read_settings(path, name, entry.load()).names]
        yield Finding(SETTINGS_FILE, "ok", f"here, with options: {', '.join(names) or 'none'}")
    except JigsawNetError as error:
        yield Finding(SETTINGS_FILE, "bad", str(error))


def _memory() -> Finding:
    import psutil  # noqa: PLC0415

    memory = psutil.virtual_memory()
    words = f"{memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GB free, {os.cpu_count() or 1} cores"
    little = memory.available < LITTLE_BYTES
    return Finding("memory", "note" if little else "ok", words + ("; large puzzles may not fit" if little else ""))


def _browser(get: Callable[[], object] = webbrowser.get) -> Finding:
    try:
        get()
    except webbrowser.Error:
        return Finding("browser", "note", "none was found; open the address that jigsawnet view prints yourself")
    return Finding("browser", "ok", "is there")
