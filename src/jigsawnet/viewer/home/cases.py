"""Cases in a folder: what was dropped on the page, the corrections of the cut-out, and the run."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from jigsawnet.errors import InputError, OutputError
from jigsawnet.io.files import RESULT_FILE, TEMPORARY, make_folder, reason_of, write_bytes
from jigsawnet.io.images import read_image
from jigsawnet.io.review_json import REVIEW_FILE
from jigsawnet.io.run_folder import RUN_FILE
from jigsawnet.io.scans import on_white
from jigsawnet.names import clean_name, is_plain_name
from jigsawnet.types import UInt8Array

INPUT_FOLDER, RUN_FOLDER, THUMB_FILE = "scans", "run", "thumb.jpg"
MOST_LISTED = 200
_THUMB_PX = 400


def own_folder() -> Path:
    """Where programs of this person keep such things on this system, in a folder of ours."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "jigsawnet" / "cases"


@dataclass(frozen=True, slots=True)
class Case:
    """One case: where its scans, its run and its corrections lie."""

    name: str
    folder: Path
    given: tuple[Path, ...] = ()
    """Scans and folders that lie elsewhere; none: those that were dropped on the page."""
    run: Path | None = None

    @property
    def inputs(self) -> tuple[Path, ...]:
        """Scans and folders of pieces."""
        if self.given:
            return self.given
        with suppress(OSError):
            listed = sorted(path for path in (self.folder / INPUT_FOLDER).iterdir() if not path.name.startswith("."))
            return tuple(path for path in listed if path.is_file() or any(path.iterdir()))
        return ()

    @property
    def run_folder(self) -> Path:
        """Where it is solved."""
        return self.run or self.folder / RUN_FOLDER

    @property
    def review_file(self) -> Path:
        """Where the corrections of the cut-out are kept."""
        return self.folder / REVIEW_FILE

    @property
    def is_solved(self) -> bool:
        """True when there is something to see on the workbench."""
        return (self.run_folder / RUN_FILE).is_file() and (self.run_folder / RESULT_FILE).is_file()

    def thumb(self) -> bytes | None:
        """A small picture of the case as JPEG: its result, or what was cut out; None before there is any."""
        small, picture = self.folder / THUMB_FILE, self.run_folder / "assembly.png"
        with suppress(OSError, InputError, OutputError):
            if picture.is_file() and (not small.is_file() or small.stat().st_mtime < picture.stat().st_mtime):
                self.keep_thumb(on_white(read_image(picture)))
            return small.read_bytes()
        return None

    def keep_thumb(self, picture: UInt8Array) -> None:
        """Keep a small copy of ``picture (H, W, 3)``, beside what was dropped on the page."""
        if self.given:
            return
        write_bytes(self.folder / THUMB_FILE, small_jpeg(picture, _THUMB_PX))


class Cases:
    """All cases of a person; each is a folder in ``folder``."""

    def __init__(self, folder: Path, opened: Case | None = None) -> None:
        """``opened`` is a case that lies elsewhere."""
        self.folder, self._opened = folder, opened

    def find(self, name: str) -> Case | None:
        """The case of this name."""
        if self._opened is not None and name == self._opened.name:
            return self._opened
        if not is_plain_name(name) or name.startswith("."):
            return None
        case = Case(name, self.folder / name)
        with suppress(OSError, ValueError):
            return case if (case.folder / INPUT_FOLDER).is_dir() else None
        return None

    def make(self, wish: str) -> Case:
        """A new case, named after what was dropped.

        Raises:
            OutputError: the folder cannot be written.
        """
        plain = clean_name(Path(clean_name(wish, "case")).stem, "case")
        make_folder(self.folder)
        for number in range(1, 10_000):
            case = Case(
                plain if number == 1 else f"{plain} ({number})", self.folder / (f"{plain} ({number})" if number > 1 else plain)
            )
            if case.name == (self._opened and self._opened.name):
                continue
            try:
                case.folder.mkdir()
                (case.folder / INPUT_FOLDER).mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                raise OutputError(f"{case.folder} cannot be written: {reason_of(error)}.") from error
            return case
        raise OutputError(f"There are too many cases called {plain}; give the scan another name.")

    def recent(self) -> list[dict[str, Any]]:
        """The cases as plain values, the one that was worked on last first."""
        with suppress(OSError):
            found = [case for path in self.folder.iterdir() if (case := self.find(path.name)) is not None and case.inputs]
            dated = sorted(((_changed(case), case) for case in found), key=lambda pair: (-pair[0], pair[1].name))
            return [
                {
                    "name": case.name, "solved": case.is_solved, "version": str(int(1000 * when)),
                    "when": datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds"),
                }
                for when, case in dated[:MOST_LISTED]
            ]  # fmt: skip
        return []

    def remove_if_empty(self, case: Case) -> None:
        """Forget a case into which nothing came."""
        if case is self._opened or case.inputs or case.run_folder.exists():
            return
        shutil.rmtree(case.folder, ignore_errors=True)

    def tidy(self) -> None:
        """Remove what uploads that never ended have left, and cases into which nothing came."""
        with suppress(OSError):
            for path in self.folder.glob(f"*/{INPUT_FOLDER}/**/{TEMPORARY}*.tmp"):
                path.unlink()
            for path in list(self.folder.iterdir()):
                if (case := self.find(path.name)) is not None:
                    self.remove_if_empty(case)


def _changed(case: Case) -> float:
    """When a case was worked on last."""
    times = [0.0]
    for path in (case.run_folder / RUN_FILE, case.run_folder / "edits.json", case.review_file, case.folder / INPUT_FOLDER):
        with suppress(OSError):
            times.append(path.stat().st_mtime)
    return max(times)


def small_jpeg(picture: UInt8Array, side_px: int) -> bytes:
    """A picture ``(H, W, 3)`` as JPEG, its longest side at most ``side_px``."""
    scale = min(1.0, side_px / max(picture.shape[:2]))
    size = max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale))
    small = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
    done, data = cv2.imencode(".jpg", np.ascontiguousarray(small[..., ::-1]), (cv2.IMWRITE_JPEG_QUALITY, 85))
    if not done:
        raise ValueError("a picture could not be encoded")
    return data.tobytes()
