"""What is asked of a run, as the command line says it and ``run.json`` keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from jigsawnet.config import SolveConfig
from jigsawnet.errors import InputError
from jigsawnet.io.files import file_digest
from jigsawnet.io.json_files import fill
from jigsawnet.io.pieces import KEY_COLOR_FILE, list_pictures, list_unread
from jigsawnet.loading import ScanInput
from jigsawnet.pipeline import config_for_given
from jigsawnet.store import make_key


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
    full_picture: bool = False
    """Draw the picture as large as it is, however large that is."""
    weights: Path | None = None
    """Folder of a learned bundle, instead of the one that comes with the package."""

    @property
    def effective_config(self) -> SolveConfig:
        """The options as they are used."""
        return self.config if self.alignments is None else config_for_given(self.config)

    @property
    def scores_are_ranks(self) -> bool:
        """True when scores only rank the candidates of this puzzle, so that confidences are no probabilities."""
        config = self.effective_config
        return config.fits_are_ranks or (self.alignments is not None and config.chosen_scorer == "fit")


def request_to_plain(request: Request) -> dict[str, Any]:
    """A request as plain values, with absolute paths."""
    alignments, weights = (path and path.absolute() for path in (request.alignments, request.weights))
    scans = replace(request.scans, back=_absolute(request.scans.back))
    return asdict(replace(request, inputs=_absolute(request.inputs), scans=scans, alignments=alignments, weights=weights))


def request_from_plain(data: Mapping[str, Any], where: str) -> Request:
    """A request out of ``run.json``.

    Raises:
        FormatError: it is not one.
    """
    return fill(Request, data, where)


def _absolute(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(path.absolute() for path in paths)


def pieces_key(request: Request) -> str:
    """What the pieces depend on: names and bytes of the input files, and how scans are read."""
    files = [file for place in (*request.inputs, *request.scans.back) for file in _files(place)]
    return make_key("pieces", len(request.inputs), files, asdict(replace(request.scans, back=())))


def input_files(request: Request) -> list[Path]:
    """The pictures that will be read, as far as they can be listed."""
    found: list[Path] = []
    for place in (*request.inputs, *request.scans.back):
        with suppress(OSError, ValueError, InputError):
            found += list_pictures(place) if place.is_dir() else [place]
    return found


def _files(place: Path) -> list[tuple[str, str]]:
    """Names and checksums of the files of an input; one that cannot be read is skipped: reading the pieces reports it."""
    try:
        if place.is_dir():
            listed = [*list_pictures(place), *(path for path in (place / KEY_COLOR_FILE,) if path.is_file())]
            unread = ((name, "") for name in list_unread(place))
            return [(place.resolve().name, ""), *unread, *((path.name, file_digest(path)) for path in listed)]
        return [(place.name, file_digest(place))]
    except (OSError, ValueError, InputError):
        return [(str(place), "")]
