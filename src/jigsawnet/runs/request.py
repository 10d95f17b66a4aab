"""What is asked of a run, as the command line says it and ``run.json`` keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePath, PurePosixPath
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
    from_file: tuple[str, ...] = ()
    """Which options came from a settings file, for the record: ``jigsawnet.toml: workers``."""

    @property
    def effective_config(self) -> SolveConfig:
        """The options as they are used."""
        return self.config if self.alignments is None else config_for_given(self.config)

    @property
    def scores_are_ranks(self) -> bool:
        """True when scores only rank the candidates of this puzzle, so that confidences are no probabilities."""
        config = self.effective_config
        return config.fits_are_ranks or (self.alignments is not None and config.chosen_scorer == "fit")


def request_to_plain(request: Request, folder: Path | None = None) -> dict[str, Any]:
    """A request as plain values, with absolute paths; what lies in the run's ``folder`` is named from there, as it may move."""
    return asdict(with_paths(request, lambda path: _from(folder, path.absolute())))


def request_from_plain(data: Mapping[str, Any], where: str, folder: Path | None = None) -> Request:
    """A request out of ``run.json`` in ``folder``.

    Raises:
        FormatError: it is not one.
    """
    request = fill(Request, data, where)
    return request if folder is None else with_paths(request, lambda path: folder / path)


def with_paths(request: Request, change: Callable[[Path], Any]) -> Request:
    """The same request with other paths."""
    inputs, back = (tuple(map(change, paths)) for paths in (request.inputs, request.scans.back))
    alignments, weights, corrections = (
        path and change(path) for path in (request.alignments, request.weights, request.scans.corrections)
    )
    scans = replace(request.scans, back=back, corrections=corrections)
    return replace(request, inputs=inputs, scans=scans, alignments=alignments, weights=weights)


def _from(folder: Path | None, path: Path) -> PurePath:
    """A path from the folder, with slashes on every system, if it lies in there."""
    if folder is None or not path.is_relative_to(folder.absolute()):
        return path
    return PurePosixPath(path.relative_to(folder.absolute()).as_posix())


def pieces_key(request: Request) -> str:
    """What the pieces depend on: names and bytes of the input files, and how scans are read."""
    files = [file for place in (*request.inputs, *request.scans.back) for file in _files(place)]
    corrected = request.scans.corrections
    options = asdict(replace(request.scans, back=(), corrections=None))
    options.pop("corrections")
    return make_key("pieces", len(request.inputs), files, options, *([] if corrected is None else [file_digest(corrected)]))


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
