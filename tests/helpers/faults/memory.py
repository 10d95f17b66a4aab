"""No memory, at one place: the first call from one line of jigsawnet, or the first entry of a function, raises MemoryError."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from faults.disk import Point

SOURCE = str(Path("src", "jigsawnet")) + "/"


@dataclass
class Memory:
    """Where memory is asked for; there is none at ``target`` (None: places are counted)."""

    target: Point | None = None
    points: list[Point] = field(default_factory=list)
    struck: bool = False
    _seen: set[tuple[str, str]] = field(default_factory=set)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Until the end of the block, in this thread and in those that it starts."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "c_call"):
            return
        file = frame.f_code.co_filename
        at = file.find(SOURCE)
        if at < 0:
            return
        name = "enter" if event == "call" else str(getattr(argument, "__name__", argument))
        place = f"{file[at + len(SOURCE) :]}:{frame.f_code.co_firstlineno if event == 'call' else frame.f_lineno}"
        if (name, place) in self._seen:
            return
        self._seen.add((name, place))
        point = Point(name, place)
        if self.target is None:
            self.points.append(point)
        elif point == self.target and not self.struck:
            self.struck = True
            raise MemoryError
