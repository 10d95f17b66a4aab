"""A result folder that appears complete or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from uuid import uuid4

from jigsawnet.errors import OutputError
from jigsawnet.io.files import RESULT_FILE, TEMPORARY, reason_of, remove_empty, remove_unfinished
from jigsawnet.io.lock import LOCK_FILE, hold_lock
from jigsawnet.io.places import Place, hold_place

_BUSY = "Another command is writing into {folder}{holder}; wait for it, stop it, or give another folder."


@contextmanager
def staged_folder(out: Path, result_file: str = RESULT_FILE, *, replace: bool = False) -> Iterator[Path]:
    """Give a hidden folder to write a result in; on success its files appear in ``out``, on any error nothing changes.

    Whether ``out`` can be written is found out before the work starts. The hidden folder lies inside ``out``: there it is on
    the same file system and as writable as ``out`` itself, even when ``out`` is a mount point or the current folder.
    Other files in ``out`` stay.

    ``result_file`` marks a finished result; it is moved into place last. With ``replace`` it may be there already, and the
    caller holds the folder's lock; else it is held here, and what a killed process left is removed.

    Raises:
        OutputError: ``out`` is a file, holds a result already, has a link where a folder belongs, or cannot be written.
    """
    name, created = f"{TEMPORARY}{uuid4().hex}", _make_out(out, result_file, replace)
    done = False
    try:
        with _open_stage(out, name) as (place, stage):
            try:
                with nullcontext() if replace else hold_lock(out / LOCK_FILE, _BUSY):
                    if not replace:
                        _refuse_result(out, result_file)
                        remove_unfinished(out, name)
                    yield stage.path
                    _move_into_place(stage, place, result_file)
                    done = True
            finally:
                place.remove(name)
    finally:
        if not done:
            remove_empty(created)


def _make_out(out: Path, result_file: str, replace: bool) -> list[Path]:
    """Make ``out``; gives the folders that did not exist before, deepest first."""
    created: list[Path] = []
    try:
        if out.exists() and not out.is_dir():
            raise OutputError(f"{out} is a file; give a folder for the result.")
        if not replace:
            _refuse_result(out, result_file)
        created = [folder for folder in (out, *out.parents) if not folder.exists()]
        out.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        remove_empty(created)
        raise _not_written(out, error) from error
    return created


def _refuse_result(out: Path, result_file: str) -> None:
    if os.path.lexists(out / result_file):
        raise OutputError(f"{out} already holds a result; give another folder or remove it.")


@contextmanager
def _open_stage(out: Path, name: str) -> Iterator[tuple[Place, Place]]:
    """``out`` and the hidden folder in it, both held."""
    with ExitStack() as held:
        try:
            place = held.enter_context(hold_place(out))
            place.mkdir(name)
            stage = held.enter_context(place.enter(name))
        except OSError as error:
            raise _not_written(out, error) from error
        yield place, stage


def _not_written(out: Path, error: Exception) -> OutputError:
    return OutputError(f"The folder {out} cannot be written: {reason_of(error)}; give another one.")


def _move_into_place(stage: Place, out: Place, result_file: str) -> None:
    """Move every file below ``stage`` to ``out``, the result file last; undo all of it when one cannot be moved."""
    replaced = uuid4().hex
    with ExitStack() as held, ExitStack() as undo:
        ways = _Ways(held, undo)
        try:
            files = sorted(p.relative_to(stage.path) for p in stage.path.rglob("*") if p.is_file())
            files.sort(key=lambda name: name == Path(result_file))
            for *parts, name in (path.parts for path in files):
                source, target = ways.to(stage, parts), ways.to(out, parts)
                if (old := target.stat(name)) is not None and not stat.S_ISDIR(old.st_mode):
                    backup = ways.to(stage, [replaced, *parts])
                    target.keep_copy(name, backup, name)
                    undo.callback(backup.move, name, target, name)
                source.move(name, target, name)
                undo.callback(target.unlink, name)
        except OSError as error:
            raise OutputError(f"The result cannot be moved into {out.path}: {reason_of(error)}.") from error
        undo.pop_all()


class _Ways:
    """Folders below others, each entered once and made if need be; ``undo`` removes those that were made."""

    def __init__(self, held: ExitStack, undo: ExitStack) -> None:
        self._held, self._undo = held, undo
        self._known: dict[tuple[int, tuple[str, ...]], Place] = {}

    def to(self, place: Place, parts: Sequence[str]) -> Place:
        """The folder at the end of the way."""
        if not parts:
            return place
        key = (id(place), tuple(parts))
        if key not in self._known:
            outer, name = self.to(place, parts[:-1]), parts[-1]
            if outer.stat(name) is None:
                outer.mkdir(name)
                self._undo.callback(outer.rmdir, name)
            self._known[key] = self._held.enter_context(outer.enter(name))
        return self._known[key]
