"""The pieces found on the scans of a case, and what a person corrects about them; saved before it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from jigsawnet.edits.cutting import Correction
from jigsawnet.edits.parts import Part
from jigsawnet.errors import EditError
from jigsawnet.fragments.corrected import correct_parts, parts_of
from jigsawnet.io.review_json import load_review, parse_correction, save_review
from jigsawnet.loading import FoundScan, Loaded, Memory
from jigsawnet.types import UInt8Array
from jigsawnet.viewer.home.cases import small_jpeg
from jigsawnet.viewer.pictures import PiecePictures

SHOWN_PX = 2400
_OUTLINE_PX = 0.6
MOST_SHOWN_PIECES = 2000


class Review:
    """What was found; ``loaded`` is what was read of pictures of one piece each, where nothing is cut out."""

    def __init__(self, memory: Memory, loaded: Loaded | None, path: Path, notes: Sequence[str] = ()) -> None:
        """``path`` is where corrections are kept."""
        self.memory, self.loaded, self.path, self.notes = memory, loaded, path, list(notes)
        self.revision = 0
        self.pictures = None if memory.is_whole or loaded is None else PiecePictures(loaded.puzzle)
        self.jpegs = [small_jpeg(_picture(scan), SHOWN_PX) for scan in memory.scans]
        self._entries: tuple[Correction, ...] = load_review(path) if path.is_file() else ()
        self._in_force = len(self._entries)
        self._start = {scan.front.page.name: parts_of(scan.front.result) for scan in memory.scans}
        self._now = dict(self._start)
        self._replay(self.done)

    @property
    def done(self) -> tuple[Correction, ...]:
        """The corrections in force."""
        return self._entries[: self._in_force]

    @property
    def n_pieces(self) -> int:
        """Pieces as they are now."""
        if self.pictures is not None and self.loaded is not None:
            return len(self.loaded.puzzle)
        return sum(len(parts.parts) for parts in self._now.values())

    def make(self, entry: Any) -> None:
        """One more correction, as the page sends it: pieces by their numbers.

        Raises:
            FormatError: it is none.
            EditError: it makes no sense with these pieces.
            OutputError: it could not be saved, and so was not taken.
        """
        correction = self._read(entry)
        parts = correction.apply(self._now[correction.scan])
        entries = (*self.done, correction)
        save_review(self.path, entries)
        self._entries, self._in_force = entries, len(entries)
        self._now[correction.scan] = parts
        self.revision += 1

    def step(self, by: int) -> None:
        """Undo (-1) or redo (1) one correction.

        Raises:
            EditError: there is none.
        """
        count = self._in_force + by
        if not 0 <= count <= len(self._entries):
            raise EditError("There is nothing to undo." if by < 0 else "There is nothing to redo.")
        save_review(self.path, self._entries[:count])
        self._in_force = count
        self._replay(self.done)
        self.revision += 1

    def to_plain(self) -> dict[str, Any]:
        """All that the page shows."""
        return {
            "revision": self.revision, "notes": self.notes, "n_pieces": self.n_pieces,
            "scans": [self._scan_json(k, scan) for k, scan in enumerate(self.memory.scans)],
            "pieces": self._single_pieces(),
            "edits": [one.describe() for one in self.done],
            "can_undo": self._in_force > 0, "can_redo": self._in_force < len(self._entries),
        }  # fmt: skip

    def _single_pieces(self) -> list[str]:
        """Names of the pieces, where each picture is one."""
        is_single = self.pictures is not None and self.loaded is not None
        return list(self.loaded.puzzle.names())[:MOST_SHOWN_PIECES] if is_single and self.loaded else []

    def _scan_json(self, k: int, scan: FoundScan) -> dict[str, Any]:
        parts = self._now[scan.front.page.name]
        width, height = parts.size
        return {
            "name": scan.front.page.name, "width": width, "height": height, "picture": f"/api/review/{k}.jpg",
            "pieces": [{"number": part.number, "outline": outline(part)} for part in parts.parts],
        }  # fmt: skip

    def _read(self, entry: Any) -> Correction:
        """A correction of the page as one of the file: pieces become points inside them."""
        if not isinstance(entry, dict):
            raise EditError("A correction must be an object.")
        name, numbers = entry.get("scan"), entry.get("pieces", [])
        if not isinstance(name, str) or name not in self._now or not isinstance(numbers, list):
            raise EditError("A correction must name a scan.")
        known = {part.number: part for part in self._now[name].parts}
        if not all(isinstance(number, int) and number in known for number in numbers):
            raise EditError("This piece is not there any more; look at the newest state.")
        points = [known[number].inner_point() for number in dict.fromkeys(numbers)]
        given = {key: value for key, value in entry.items() if key != "pieces"}
        if entry.get("kind") in ("discard", "merge"):
            if not points:
                raise EditError("Choose a piece first.")
            given["at"] = points
        elif points:
            given["at"] = points[0]
        return parse_correction(given, "correction")

    def _replay(self, corrections: Sequence[Correction]) -> None:
        self._now = {}
        for name, parts in self._start.items():
            self._now[name], _ = correct_parts(parts, [one for one in corrections if one.scan == name])


def outline(part: Part) -> list[list[list[float]]]:
    """The borders of a piece, outer and inner ones, in px of the scan."""
    mask = np.pad(part.mask, 1).astype(np.uint8)
    found, _ = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE, offset=(part.corner[0] - 1, part.corner[1] - 1))
    rings = (cv2.approxPolyDP(ring, _OUTLINE_PX, True)[:, 0].tolist() for ring in found)
    return [ring for ring in rings if len(ring) > 2]


def _picture(scan: FoundScan) -> UInt8Array:
    return scan.front.read()[1]
