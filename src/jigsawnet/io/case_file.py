"""A case file, ``name.jigsaw``: a run folder in one zip, to hand over; looked through before anything of it is written.

Nothing in it is compressed: the same folder gives the same bytes on every system, and what comes out is never larger than the
file. ``case.json`` comes first and names every other file with its size and checksum.
"""

from __future__ import annotations

import errno
import hashlib
import json
import re
import shutil
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.io.array_store import DAMAGED, check_directory, check_entries
from jigsawnet.io.files import file_digest, reason_of, write_stream
from jigsawnet.io.json_files import convert, one_per_line
from jigsawnet.io.json_text import parse_json
from jigsawnet.io.run_folder import RUN_FILE
from jigsawnet.io.staged import staged_folder
from jigsawnet.names import parts_below

CASE_SUFFIX = ".jigsaw"
MANIFEST = "case.json"
FORMAT, VERSION = "jigsawnet/case", 1
MOST_FILES = 50_000

_MOST_MANIFEST_BYTES = 32 * 2**20
_LONGEST_NAME, _LONGEST_PART = 1000, 200
_CHUNK = 2**20
_EPOCH = (1980, 1, 1, 0, 0, 0)
_REFUSED = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_ROOM_BYTES = 16 * 2**20
"""Left free on a disk that a case is unpacked to."""


class _File(msgspec.Struct):
    path: Annotated[str, msgspec.Meta(min_length=1, max_length=_LONGEST_NAME)]
    bytes: Annotated[int, msgspec.Meta(ge=0)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class _Head(msgspec.Struct):
    jigsawnet: str
    name: str
    files: list[_File]
    own_weights: bool = False
    inputs: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """What a case file says of itself."""

    jigsawnet: str
    """Version of the program that packed it."""
    name: str
    """Of the puzzle."""
    files: Mapping[str, tuple[int, str]]
    """Bytes and checksum of each file, by its path with slashes."""
    own_weights: bool = False
    """The run was solved with networks of its own, which are not in the case."""
    inputs: bool = False
    """The pictures that the run was made from are in it."""

    def to_json(self) -> str:
        """The text of ``case.json``."""
        listed = [{"path": path, "bytes": size, "sha256": sha} for path, (size, sha) in sorted(self.files.items())]
        head = {
            "format": FORMAT, "version": VERSION, "jigsawnet": self.jigsawnet, "name": self.name,
            "own_weights": self.own_weights, "inputs": self.inputs,
        }  # fmt: skip
        opening = ",\n ".join(f'"{key}": {json.dumps(value)}' for key, value in head.items())
        return f'{{{opening},\n "files": {one_per_line(listed)}}}\n'


def write_case(path: Path, head: Case, files: Mapping[str, Path | bytes]) -> Case:
    """Write a case file, whole or not at all; ``head`` comes back with its files. The same files give the same bytes.

    Raises:
        InputError: a file cannot be read, changed meanwhile, or has a name that other systems cannot hold.
        OutputError: the disk is full or the folder cannot be written.
    """
    if len(files) > MOST_FILES:
        raise InputError(f"There are {len(files)} files, and a case holds at most {MOST_FILES}; pack it without its inputs.")
    for name in files:
        if not is_portable(name):
            raise InputError(f"{name[:80]!r} is a name that other systems cannot hold; rename it, or pack without the inputs.")
    _refuse_alike(sorted(files), InputError, "rename one, or pack without the inputs")
    known = {name: _size_and_digest(source) for name, source in files.items()}
    case = Case(head.jigsawnet, head.name, known, head.own_weights, head.inputs)

    def write(stream: IO[bytes]) -> None:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_entry(MANIFEST), case.to_json().encode())
            for name in sorted(files):
                _add(archive, name, files[name], known[name])

    write_stream(path, write)
    return case


def _size_and_digest(source: Path | bytes) -> tuple[int, str]:
    if isinstance(source, bytes):
        return len(source), hashlib.sha256(source).hexdigest()
    try:
        return source.stat().st_size, file_digest(source)
    except OSError as error:
        raise InputError(f"{source} cannot be read: {reason_of(error)}.") from error


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16  # the same on every system
    return info


def _add(archive: zipfile.ZipFile, name: str, source: Path | bytes, known: tuple[int, str]) -> None:
    info = _entry(name)
    info.file_size = known[0]
    digest = hashlib.sha256()
    with archive.open(info, "w") as entry:
        for chunk in [source] if isinstance(source, bytes) else _chunks_of(source):
            digest.update(chunk)
            entry.write(chunk)
    if digest.hexdigest() != known[1]:
        raise InputError(f"{source!s} changed while it was packed; pack again.")


def _chunks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def is_portable(name: object) -> bool:
    """True for a path below a folder, with slashes, that every system can hold and that is not hidden."""
    parts = parts_below(name)
    if parts is None or len(str(name)) > _LONGEST_NAME:
        return False
    return all(
        not part.startswith(".") and not part.endswith((" ", ".")) and not _REFUSED.search(part)
        and not _DEVICE.fullmatch(part) and len(part.encode("utf-8", "surrogatepass")) <= _LONGEST_PART
        and not any(unicodedata.category(c) == "Cs" for c in part)
        for part in parts
    )  # fmt: skip


def _refuse_alike(names: list[str], error: type[Exception], advice: str) -> None:
    """Refuse names that are one on some systems, and files that others take for folders."""
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        if key in seen:
            raise error(f"{name[:80]!r} and {seen[key][:80]!r} are one name on some systems; {advice}.")
        seen[key] = name
    folders = {key.rsplit("/", count)[0] for key in seen for count in range(1, key.count("/") + 1)}
    if both := sorted(folders & seen.keys()):
        raise error(f"{seen[both[0]][:80]!r} is a file and a folder at once; {advice}.")


def read_case(path: Path) -> Case:
    """What is in a case file, as far as it can be told without reading all of it.

    Raises:
        InputError: there is no such file.
        FormatError: it is none, was cut short or altered, is of a newer version, or would write elsewhere.
    """
    with _opened(path) as (_, case):
        return case


@contextmanager
def _opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, Case]]:
    """The archive, with every entry as the manifest says, and the manifest."""
    if not path.is_file():
        raise InputError(f"{path} is not a file; check the path.")
    try:
        with path.open("rb") as stream:
            check_directory(stream)
            with zipfile.ZipFile(stream) as archive:
                infos = archive.infolist()
                if len(infos) > MOST_FILES + 1:
                    raise FormatError(f"{path} holds more than {MOST_FILES} files, too many for a case.")
                for info in infos:
                    _check_entry(path, info)
                check_entries(archive)
                case = _manifest(path, archive)
                _check_listed(path, case, {info.filename: info.file_size for info in infos[1:]})
                yield archive, case
    except DAMAGED as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # of a place before its beginning
            raise InputError(f"{path} cannot be read: {reason_of(error)}.") from error
        raise FormatError(f"{path} is no case file, or was cut short or altered; ask for it again.") from error


def _check_entry(path: Path, info: zipfile.ZipInfo) -> None:
    """Refuse what no case holds, before the entries are looked at as a whole: the sentence says what it is."""
    name, kind = info.filename, stat.S_IFMT(info.external_attr >> 16)
    if not is_portable(name):
        raise FormatError(f"{path} is not opened: it would write to {name[:80]!r}, which is no place within a case.")
    if kind not in (0, stat.S_IFREG) or info.is_dir():
        raise FormatError(f"{path} is not opened: {name[:80]!r} in it is a link or a device, and a case holds files only.")
    if info.flag_bits & 1:
        raise FormatError(f"{path} is locked with a password; a case has none.")
    if info.compress_type != zipfile.ZIP_STORED:
        raise FormatError(f"{path} is compressed, and a case is not: it was packed again by another program.")


def _manifest(path: Path, archive: zipfile.ZipFile) -> Case:
    infos = archive.infolist()
    if not infos or infos[0].filename != MANIFEST or infos[0].file_size > _MOST_MANIFEST_BYTES:
        raise FormatError(f"{path} is no case file: it does not begin with {MANIFEST}.")
    data: Any = parse_json(archive.read(infos[0]).decode("utf-8"))
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormatError(f'{path} is no case file: the field "format" of its {MANIFEST} must be "{FORMAT}".')
    version = data.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise FormatError(
            f"{path} is a case of version {str(version)[:9]}, and this program reads {VERSION}; install a newer one."
        )
    if isinstance(version, bool) or version != VERSION:
        raise FormatError(f'{path}: {MANIFEST}: the field "version" must be {VERSION}.')
    head = convert(_Head, data, f"{path}: {MANIFEST}")
    files = {file.path: (file.bytes, file.sha256) for file in head.files}
    if len(files) != len(head.files):
        raise FormatError(f"{path}: {MANIFEST} names a file twice.")
    return Case(head.jigsawnet[:200], head.name[:1000], files, head.own_weights, head.inputs)


def _check_listed(path: Path, case: Case, there: Mapping[str, int]) -> None:
    """What is there is what is listed, once each, and a run is among it."""
    if len(there) != len(case.files) or there != {name: size for name, (size, _) in case.files.items()}:
        raise FormatError(f"{path} does not hold what its {MANIFEST} lists; it was altered, ask for it again.")
    if RUN_FILE not in there:
        raise FormatError(f"{path} holds no run: there is no {RUN_FILE} in it.")
    _refuse_alike([MANIFEST, *there], FormatError, f"{path} is not opened")


def unpack_case(path: Path, out: Path, check: Callable[[Path], None]) -> Case:
    """Write what is in a case file into a folder that is new or empty: all of it, or nothing.

    ``check`` is given the folder with the files before they get to their place, and may refuse them.

    Raises:
        InputError, FormatError: as for `read_case`; or a file in it is not what was packed.
        OutputError: the folder holds something already, or there is no room.
    """
    with _opened(path) as (archive, case):
        if out.is_dir() and any(out.iterdir()):
            raise OutputError(f"{out} holds something already; give a new folder for the case.")
        need, free = sum(size for size, _ in case.files.values()), _free_bytes(out)
        if free is not None and need + _ROOM_BYTES > free:
            raise OutputError(
                f"{path} takes {need / 1e9:.1f} GB, and {out} has room for {free / 1e9:.1f} GB; give another folder."
            )
        with staged_folder(out, RUN_FILE) as stage:
            for name, (size, sha256) in case.files.items():
                _unpack(path, archive, name, size, sha256, stage)
            (stage / MANIFEST).write_text(case.to_json(), encoding="utf-8", newline="\n")
            check(stage)
    return case


def _unpack(path: Path, archive: zipfile.ZipFile, name: str, size: int, sha256: str, stage: Path) -> None:
    digest, left = hashlib.sha256(), size
    target = stage.joinpath(*name.split("/"))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as entry, target.open("xb") as stream:
            while left and (chunk := entry.read(min(_CHUNK, left))):
                digest.update(chunk)
                stream.write(chunk)
                left -= len(chunk)
    except OSError as error:
        raise OutputError(f"{path} cannot be unpacked: {reason_of(error)}.") from error
    except DAMAGED:  # the checksum of the zip itself
        left = 1
    if left or digest.hexdigest() != sha256:
        raise FormatError(
            f"{path}: {name} is not what was packed; the file was altered or damaged on its way, ask for it again."
        )


def _free_bytes(out: Path) -> int | None:
    """What is free where a folder is or will be; None when the system does not say."""
    there = next((folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists()), None)
    try:
        return None if there is None else shutil.disk_usage(there).free
    except OSError:
        return None
