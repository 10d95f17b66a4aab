"""The history of a run: which files it was made from, and who did what when."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jigsawnet.errors import ConfigError, JigsawNetError
from jigsawnet.io.files import file_digest, write_text
from jigsawnet.io.history import add_to_history
from jigsawnet.io.json_files import one_per_line, plain
from jigsawnet.runs.request import Request, input_files
from jigsawnet.version import __version__

if TYPE_CHECKING:
    from jigsawnet.runs.run import Run

INPUTS_FILE = "inputs.json"
LONGEST_OPERATOR = 200
_LONGEST_TEXT = 500

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class History:
    """Adds lines to the history of one run folder, in the name of ``operator``, where one is given."""

    folder: Path
    operator: str = ""

    def add(self, what: str, **details: Any) -> None:
        """Add a line; that it cannot be written spoils nothing else, and is logged."""
        short = {key: value[:_LONGEST_TEXT] if isinstance(value, str) else value for key, value in details.items()}
        try:
            add_to_history(self.folder, what, plain(short), self.operator)
        except JigsawNetError as error:
            log.warning("%s", error)

    def solved(self, run: Run, what: str = "solved") -> None:
        """A solve is done: with which version and options, from what, and what came of it."""
        assembly, request = run.assembly, run.request
        from_file = {"from_file": list(request.from_file)} if request.from_file else {}
        self.add(
            what, jigsawnet=__version__, seed=request.seed, options=changed_options(request), **from_file,
            inputs=_inputs_digest(self.folder), pieces=assembly.n_pieces, placed=len(assembly.poses),
            components=len(assembly.components), seconds=round(run.seconds, 1), cut_short=run.cut_short,
            stages=list(run.done),
        )  # fmt: skip


def check_operator(name: str) -> str:
    """The name of an operator, as it will stand in the history.

    Raises:
        ConfigError: it is no line of text, or too long.
    """
    if len(name) > LONGEST_OPERATOR or any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        raise ConfigError(f"operator must be one line of at most {LONGEST_OPERATOR} characters.")
    return name.strip()


def changed_options(request: Request) -> dict[str, Any]:
    """The options that are not as nobody changed them, by their names on the command line."""
    now, usual = dict(_flat(plain(_options(request)))), dict(_flat(plain(_options(Request(())))))
    return {name: value for name, value in now.items() if usual.get(name) != value}


def _options(request: Request) -> dict[str, Any]:
    scans = {name: value for name, value in asdict(request.scans).items() if name != "back"}
    own = {"alignments": request.alignments and request.alignments.name, "weights": request.weights and request.weights.name}
    return {**asdict(request.config), **scans, **own}


def _flat(options: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}".replace("_", "-"), value


def write_inputs(folder: Path, request: Request) -> None:
    """Write ``inputs.json``: name, size and checksum of each file that the pieces were read from."""
    listed = []
    for path in input_files(request):
        try:
            listed.append({"name": path.name, "bytes": path.stat().st_size, "sha256": file_digest(path)})
        except (OSError, JigsawNetError) as error:
            log.warning("%s", error)
    text = f'{{"format": "jigsawnet/inputs", "version": 1,\n "files": {one_per_line(listed)}}}\n'
    write_text(folder / INPUTS_FILE, text)


def _inputs_digest(folder: Path) -> dict[str, str]:
    """The list of inputs and its checksum, so that a line of the history names them all."""
    path = folder / INPUTS_FILE
    return {"list": INPUTS_FILE, "sha256": file_digest(path)} if path.is_file() and not path.is_symlink() else {}
