"""The run folder: ``run.json`` and the saved stages it names. A stage is trusted when it is there with its checksum."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from jigsawnet.errors import FormatError, OutputError
from jigsawnet.io.array_store import Saved, read_arrays, write_arrays
from jigsawnet.io.files import RESULT_FILE, TEMPORARY, make_folder, remove_empty, remove_unfinished, write_text
from jigsawnet.io.json_files import fill, load_object, to_json
from jigsawnet.io.lock import LOCK_FILE, hold_lock
from jigsawnet.io.places import hold_below
from jigsawnet.names import parts_below
from jigsawnet.types import StageReport

FORMAT = "jigsawnet/run"
VERSION = 1
RUN_FILE = "run.json"
STAGES_FOLDER = "stages"

_STAGE_FILE = re.compile(r"[a-z-]{1,20}-[0-9a-f]{16}\.npz")


@dataclass(frozen=True, slots=True)
class SavedStage:
    """One saved stage: what it was made from, and where it lies."""

    key: str
    """Hash of all that it depends on."""
    source: str
    """Key of what it was made from."""
    file: str
    sha256: str
    reports: tuple[StageReport, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What ``run.json`` holds."""

    jigsawnet: str
    request: Mapping[str, Any]
    stages: Mapping[str, SavedStage] = field(default_factory=dict)
    results: str = ""
    """Key of what the result files show; empty while they are not all there."""
    result_files: tuple[str, ...] = ()


class RunFolder:
    """A run folder that is being read, or written by whoever holds its lock."""

    def __init__(self, path: Path, record: RunRecord) -> None:
        self.path, self.record = path, record
        self._on_disk = record
        self.before_reading: Callable[[Path, int], None] = lambda path, size: None
        """Told which file is about to be read, and its bytes: it may refuse."""

    def load(self, name: str, key: str | None = None) -> Saved | None:
        """A saved stage with the key (None: any); None when there is none, or its file is damaged."""
        entry = self.record.stages.get(name)
        if entry is None or (key is not None and entry.key != key):
            return None
        path = self.path / STAGES_FOLDER / entry.file
        with suppress(OSError):
            self.before_reading(path, path.stat().st_size)
        arrays = read_arrays(path, entry.sha256)
        return None if arrays is None else Saved(entry.key, entry.source, arrays, entry.reports)

    def save(self, stages: Mapping[str, Saved]) -> None:
        """Write stages that belong together, then name them in ``run.json``; what they replace is removed last."""
        make_folder(self.path / STAGES_FOLDER, self.path)
        saved = dict(self.record.stages)
        for name, stage in stages.items():
            file = f"{name}-{stage.key[:16]}.npz"
            checksum = write_arrays(self.path / STAGES_FOLDER / file, stage.arrays, self.path)
            saved[name] = SavedStage(stage.key, stage.source, file, checksum, stage.reports)
        self.set(stages=saved)

    def drop(self, *names: str) -> None:
        """Forget stages."""
        if any(name in self.record.stages for name in names):
            self.set(stages={name: saved for name, saved in self.record.stages.items() if name not in names})

    def set(self, **changes: Any) -> None:
        """Change the record on disk and here, then remove stage files that it no longer names."""
        record = replace(self.record, **changes)
        write_text(self.path / RUN_FILE, record_to_json(record))
        self.record = self._on_disk = record
        self._remove_unnamed()

    @property
    def is_saved(self) -> bool:
        """False when the record was changed here and may differ from ``run.json``."""
        return self.record is self._on_disk

    def remove_result(self, name: str) -> None:
        """Remove a result file that ``run.json`` named, if it is there; links on the way to it stay, and what they lead to."""
        *folders, file = parts_below(name) or (name,)
        with suppress(OSError, OutputError), hold_below(self.path, folders) as place:
            place.unlink(file)

    def _remove_unnamed(self) -> None:
        named = {saved.file for saved in self.record.stages.values()}
        with suppress(OSError, OutputError), hold_below(self.path, (STAGES_FOLDER,)) as place:
            for name in place.names():
                if name.startswith(TEMPORARY) or (_STAGE_FILE.fullmatch(name) and name not in named):
                    place.remove(name)


@contextmanager
def lock_folder(out: Path, jigsawnet: str) -> Iterator[RunFolder]:
    """Hold a run folder, new or old, for writing; an error before anything is saved leaves no trace of a new one.

    Raises:
        OutputError: it cannot be written, somebody else writes into it, or it holds a result that no run made.
    """
    created = [folder for folder in (out, *out.parents) if not _exists(folder)]
    try:
        if _exists(out) and not out.is_dir():
            raise OutputError(f"{out} is a file; give a folder for the result.")
        make_folder(out)
        with hold_lock(out / LOCK_FILE):
            yield RunFolder(out, _open_record(out, jigsawnet))
    finally:
        remove_empty([out / STAGES_FOLDER, *created])


def read_folder(out: Path) -> RunFolder:
    """Open a run folder for reading.

    Raises:
        InputError, FormatError: there is no run, or its ``run.json`` cannot be read.
    """
    return RunFolder(out, read_record(out / RUN_FILE))


def record_to_json(record: RunRecord) -> str:
    """The text of ``run.json``."""
    return to_json({"format": FORMAT, "version": VERSION, **asdict(record)})


def read_record(path: Path) -> RunRecord:
    """Read ``run.json``."""
    data = {key: value for key, value in load_object(path, FORMAT, VERSION).items() if key not in ("format", "version")}
    stages, request = data.pop("stages", None), data.pop("request", None)
    if not isinstance(stages, dict) or not isinstance(request, dict):
        raise FormatError(f'{path}: the fields "stages" and "request" must be objects.')
    saved = {str(name): _stage(entry, f"{path}: stages.{name}") for name, entry in stages.items()}
    head = fill(_Head, data, str(path))
    if not all(parts_below(name) for name in head.result_files):
        raise FormatError(f"{path}: result_files names a file outside the folder.")
    return RunRecord(head.jigsawnet, request, saved, head.results, head.result_files)


@dataclass(frozen=True, slots=True)
class _Head:
    jigsawnet: str
    results: str
    result_files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    source: str
    file: str
    sha256: str


def _stage(entry: Any, where: str) -> SavedStage:
    if not isinstance(entry, dict) or not isinstance(entry.get("reports"), list):
        raise FormatError(f"{where} must be an object.")
    plain = fill(_Entry, {key: value for key, value in entry.items() if key != "reports"}, where)
    if not _STAGE_FILE.fullmatch(plain.file):
        raise FormatError(f"{where}.file is not the name of a saved stage.")
    return SavedStage(**asdict(plain), reports=tuple(_report(report, where) for report in entry["reports"]))


def _report(report: Any, where: str) -> StageReport:
    try:
        name, seconds, counts = str(report["name"]), float(report["seconds"]), dict(report["counts"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"{where}.reports is not a list of stages with seconds and counts.") from error
    if not all(isinstance(value, int | float) for value in counts.values()):
        raise FormatError(f"{where}.reports has counts that are no numbers.")
    return StageReport(name, seconds, counts)


def _open_record(out: Path, jigsawnet: str) -> RunRecord:
    """The record of an old run, or a new one; what a killed run left unfinished is removed."""
    path = out / RUN_FILE
    if not _exists(path):
        if _exists(out / RESULT_FILE):
            raise OutputError(f"{out} already holds a result that no run made; give another folder or remove it.")
        remove_unfinished(out)
        return RunRecord(jigsawnet, {})
    try:
        record = read_record(path)
    except FormatError as error:
        raise OutputError(f"{path} is damaged or of another version of jigsawnet; remove it or give another folder.") from error
    remove_unfinished(out)
    return record


def tidy_folder(out: Path) -> None:
    """Remove what a killed process left unfinished, unless somebody is writing into the folder."""
    with suppress(OutputError), hold_lock(out / LOCK_FILE):
        remove_unfinished(out)


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise OutputError(f"The folder {path} cannot be written: {reason}; give another one.") from error
    return True
