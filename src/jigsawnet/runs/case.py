"""A run as a case: packed into one file to hand over, and opened from one, on any path and system."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.io.case_file import CASE_SUFFIX, MANIFEST, Case, is_portable, read_case, unpack_case, write_case
from jigsawnet.io.edits_json import EDITS_FILE, UNDONE_FILE
from jigsawnet.io.files import can_write_in, file_digest
from jigsawnet.io.history import HISTORY_FILE
from jigsawnet.io.lock import LOCK_FILE, hold_lock
from jigsawnet.io.pieces import AUTHORS_FILES, list_pictures
from jigsawnet.io.run_folder import (
    RUN_FILE,
    STAGES_FOLDER,
    RunFolder,
    RunRecord,
    read_folder,
    read_record,
    record_to_json,
)
from jigsawnet.io.scans import CHECK_FOLDER
from jigsawnet.runs.history import INPUTS_FILE, History
from jigsawnet.runs.request import Request, pieces_key, request_from_plain, with_paths
from jigsawnet.version import __version__

INPUTS_FOLDER = "inputs"
OWN_WEIGHTS = (
    "It was solved with networks of its own (--weights), which are not in the case: solving on uses those of the program."
)


@dataclass(frozen=True, slots=True)
class Packed:
    """What was packed, and what a person should know of it."""

    files: int
    size_bytes: int
    sha256: str
    notes: tuple[str, ...] = ()


def pack_run(folder: Path, target: Path, *, with_inputs: bool = False) -> Packed:
    """Write a run as a case file; the same run gives the same bytes.

    Raises:
        InputError: there is no run, its input is gone, or one of its files cannot be packed.
        OutputError: the case file is there already or cannot be written, or somebody writes into the run.
    """
    if not (folder / RUN_FILE).is_file():
        raise InputError(f"{folder} holds no run of jigsawnet; give the folder that jigsawnet solve wrote with -o.")
    if target.exists():
        raise OutputError(f"{target} is there already; give another name or remove it.")
    with hold_lock(folder / LOCK_FILE) if can_write_in(folder) else nullcontext():
        run = read_folder(folder)
        request = request_from_plain(run.record.request, f"{folder / RUN_FILE}: request", folder)
        places = _places_of(request)
        files = {name: folder / name for name in _own_files(run)}
        for name, path in files.items():
            _refuse_elsewhere(path, folder, name)
        given = _input_files(request, places) if with_inputs else {}
        record = replace(run.record, request=_as_packed(request, places))
        head = Case(__version__, _name_of(request), {}, request.weights is not None, with_inputs)
        case = write_case(
            target, head, {**files, **given, RUN_FILE: record_to_json(record).encode("utf-8", "backslashreplace")}
        )
        notes = _notes(run.record, request, with_inputs)
    return Packed(len(case.files), target.stat().st_size, file_digest(target), notes)


def _own_files(run: RunFolder) -> list[str]:
    """What belongs to a run: saved stages, results, edits, history, pictures of what was seen on scans; nothing else."""
    record = run.record
    listed = [f"{STAGES_FOLDER}/{stage.file}" for stage in record.stages.values()]
    missing = [name for name in listed if not (run.path / name).is_file()]
    if missing:
        raise InputError(f"{run.path / missing[0]} is gone; run jigsawnet solve into {run.path} again, then pack it.")
    checks = sorted((run.path / CHECK_FOLDER).glob("*.png"))
    beside = [
        EDITS_FILE,
        UNDONE_FILE,
        HISTORY_FILE,
        INPUTS_FILE,
        *record.result_files,
        *(f"{CHECK_FOLDER}/{path.name}" for path in checks),
    ]
    return [*listed, *(name for name in dict.fromkeys(beside) if (run.path / name).is_file())]


def _refuse_elsewhere(path: Path, folder: Path, name: str) -> None:
    """A file that a link brings in from elsewhere would be given away with the case."""
    if path.resolve() != folder.resolve() / name:
        raise InputError(f"{path} is a link or lies behind one, and is not packed; put the file itself there.")


def _places_of(request: Request) -> dict[Path, PurePosixPath]:
    """Where each input lies in a case, whether or not it is in there."""
    inputs = (*request.inputs, *request.scans.back, *((request.alignments,) if request.alignments else ()))
    return {path: PurePosixPath(INPUTS_FOLDER, str(k), path.resolve().name or "input") for k, path in enumerate(inputs, 1)}


def _as_packed(request: Request, places: dict[Path, PurePosixPath]) -> dict[str, Any]:
    """The request as a case keeps it: with paths from its own folder."""
    return asdict(with_paths(replace(request, weights=None), lambda path: places[path]))


def _input_files(request: Request, places: dict[Path, PurePosixPath]) -> dict[str, Path]:
    """The pictures, and what beside them says how they are read."""
    found: dict[str, Path] = {}
    for path, place in places.items():
        if path.is_dir():
            beside = [path / name for name in AUTHORS_FILES if (path / name).is_file()]
            listed = [*list_pictures(path), *beside]
            for file in beside:
                _refuse_elsewhere(file, path, file.name)
            found |= {str(place / file.name): file for file in listed}
        elif path.is_file():
            found[str(place)] = path
        else:
            raise InputError(f"{path}, which the run was made from, is gone; pack without the inputs, or bring it back.")
    return found


def _name_of(request: Request) -> str:
    return request.inputs[0].resolve().name if request.inputs else "case"


def _notes(record: RunRecord, request: Request, with_inputs: bool) -> tuple[str, ...]:
    notes = [OWN_WEIGHTS] if request.weights is not None else []
    if with_inputs and (pieces := record.stages.get("pieces")) and pieces.key != pieces_key(request):
        notes.append("The inputs are not quite those that the run was made from: files were changed or added since.")
    return tuple(notes)


def unpack_run(path: Path, out: Path, operator: str = "") -> Case:
    """Open a case file into a folder that is new or empty; it is then a run folder like any other, and says so in its history.

    Raises:
        InputError, FormatError: it cannot be trusted, and nothing was written.
        OutputError: the folder is not empty or cannot be written.
    """
    case = unpack_case(path, out, _check_run)
    History(out, operator).add("unpacked", file=path.name, sha256=file_digest(path), jigsawnet=__version__)
    return case


def _check_run(folder: Path) -> None:
    """What ``run.json`` names lies in the case."""
    try:
        record = read_record(folder / RUN_FILE)
        request = request_from_plain(record.request, f"{RUN_FILE}: request")
    except FormatError as error:
        raise FormatError(f"The case cannot be opened: its {error}".replace(f"{folder}/", "")) from error
    named = (*request.inputs, *request.scans.back, *((request.alignments,) if request.alignments else ()))
    if request.weights is not None or not all(is_portable(path.as_posix()) for path in named):
        raise FormatError(f"The case cannot be opened: its {RUN_FILE} names files outside of it.")
    for stage in record.stages.values():
        if not (folder / STAGES_FOLDER / stage.file).is_file():
            raise FormatError(f"The case cannot be opened: its stage {stage.file} is missing.")


def folder_of(path: Path, into: Path | None = None, operator: str = "") -> tuple[Path, bool]:
    """The folder that a case file is opened in, and whether it was opened there before; without ``into`` it lies beside it.

    Raises:
        JigsawNetError: as `unpack_run`; or the folder is there and is not this case.
    """
    case, out = read_case(path), into or path.with_suffix("")
    if (out / MANIFEST).is_file() and (out / RUN_FILE).is_file():
        if (out / MANIFEST).read_bytes() == case.to_json().encode():
            return out, True
        raise OutputError(f"{out} holds another case; give a folder for this one with --into.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(f"{out} is there already and is not this case; give a folder for it with --into.")
    unpack_run(path, out, operator)
    return out, False


def is_case(path: Path) -> bool:
    """True for the name of a case file."""
    return path.suffix.lower() == CASE_SUFFIX and not path.is_dir()
