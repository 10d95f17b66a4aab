"""File operations of this process, counted; one of them fails, or is the last before the process dies.

A point is an operation, the file it is done to, and how often that happened before: ``write out/run.json 0``. Names made of
chance are written ``*``. What C libraries write by themselves is not seen here; `limits` reaches it.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Mode = Literal["count", "fail", "kill"]
KILLED = 9
CHANCE = re.compile(r"[0-9a-f]{32}")
_CALLED = {
    "stat": "stat", "lstat": "stat", "listdir": "list", "scandir": "list", "mkdir": "mkdir", "rmdir": "rmdir",
    "unlink": "unlink", "remove": "unlink", "rename": "rename", "replace": "rename", "link": "link",
}  # fmt: skip
_NO_ROOM = {"create", "write", "mkdir", "link"}
"""These fail since the disk is full, all others since it is broken."""


@dataclass(frozen=True, order=True)
class Point:
    """One operation on one file, for the nth time from 0."""

    operation: str
    path: str
    nth: int = 0

    def __str__(self) -> str:
        return f"{self.operation} {self.path} {self.nth}"


@dataclass
class Disk:
    """What is done to files below ``root``: at ``target`` it fails, or the process ends as if it were killed."""

    root: Path
    mode: Mode = "count"
    target: Point | None = None
    points: list[Point] = field(default_factory=list)
    struck: bool = False
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _held: dict[int, str] = field(default_factory=dict)
    """Paths of open descriptors."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hit(self, operation: str, path: str | None, first: Callable[[], object] = lambda: None) -> None:
        """It is about to be done to a file; ``first`` does a part of it."""
        if path is None:
            return
        with self._lock:
            point = Point(operation, path, self._counts[operation, path])
            self._counts[operation, path] += 1
            if self.mode == "count":
                self.points.append(point)
            if point != self.target or self.struck:
                return
            self.struck = True
        first()
        if self.mode == "kill":
            os._exit(KILLED)
        number = errno.ENOSPC if operation in _NO_ROOM else errno.EIO
        raise OSError(number, os.strerror(number), path)

    def path_of(self, file: Any, dir_fd: int | None = None) -> str | None:
        """Where a file lies, from the root; None when it lies elsewhere."""
        if isinstance(file, int):
            return self._held.get(file)
        text = os.fsdecode(file)
        if dir_fd is not None:
            folder = self._held.get(dir_fd)
            return None if folder is None else CHANCE.sub("*", os.path.normpath(f"{folder}/{text}"))
        full, root = os.path.abspath(text), str(self.root)  # noqa: PTH100 - links are not looked at
        return CHANCE.sub("*", os.path.relpath(full, root)) if full == root or full.startswith(f"{root}/") else None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Until the end of the block, all of it is seen."""
        names = (*_CALLED, "open", "fdopen", "fsync", "ftruncate", "read", "write", "close")
        real = {name: getattr(os, name) for name in names}
        plain_open = io.open
        for name, operation in _CALLED.items():
            setattr(os, name, self._of_paths(real[name], operation))
        for name in ("fsync", "ftruncate", "read"):
            setattr(os, name, self._of_descriptors(real[name], name))
        os.open, os.close, os.write = self._opening(real["open"]), self._closing(real["close"]), self._writing(real["write"])
        io.open = builtins.open = os.fdopen = self._streams()  # type: ignore[assignment]
        try:
            yield
        finally:
            io.open = builtins.open = plain_open
            for name, function in real.items():
                setattr(os, name, function)

    def _of_paths(self, real: Callable[..., Any], operation: str) -> Callable[..., Any]:
        def call(path: Any = ".", *more: Any, **options: Any) -> Any:
            self.hit(operation, self.path_of(path, options.get("dir_fd", options.get("src_dir_fd"))))
            return real(path, *more, **options)

        return call

    def _of_descriptors(self, real: Callable[..., Any], operation: str) -> Callable[..., Any]:
        def call(descriptor: int, *more: Any) -> Any:
            self.hit(operation, self._held.get(descriptor))
            return real(descriptor, *more)

        return call

    def _opening(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            where = self.path_of(path, dir_fd)
            self.hit("create" if flags & (os.O_CREAT | os.O_TRUNC) else "open", where)
            descriptor = real(path, flags, mode, dir_fd=dir_fd)
            if where is not None:
                self._held[descriptor] = where
            return descriptor

        return call

    def _closing(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def call(descriptor: int) -> None:
            self._held.pop(descriptor, None)
            real(descriptor)

        return call

    def _writing(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(descriptor: int, data: Any) -> int:
            self.hit("write", self._held.get(descriptor), lambda: real(descriptor, bytes(data)[: len(data) // 2]))
            return real(descriptor, data)

        return call

    def _streams(self) -> Callable[..., Any]:
        disk = self

        class Raw(io.FileIO):
            """A file whose reads, writes and closing are seen."""

            where: str | None = None

            def readinto(self, buffer: Any) -> int:
                disk.hit("read", self.where)
                return super().readinto(buffer)  # type: ignore[return-value]

            def readall(self) -> bytes:
                disk.hit("read", self.where)
                return super().readall()

            def read(self, size: int | None = -1) -> bytes:
                disk.hit("read", self.where)
                return super().read(size)  # type: ignore[arg-type, return-value]

            def write(self, data: Any) -> int:
                disk.hit("write", self.where, lambda: super(Raw, self).write(memoryview(data)[: len(data) // 2]))
                return super().write(data)

            def close(self) -> None:
                was_open, descriptor = not self.closed, -1 if self.closed else self.fileno()
                super().close()
                if was_open:
                    disk._held.pop(descriptor, None)
                    if self.mode != "rb":
                        disk.hit("close", self.where)

        def open_stream(
            file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, errors: str | None = None,
            newline: str | None = None, closefd: bool = True, opener: Any = None,
        ) -> Any:  # fmt: skip
            where, plain = disk.path_of(file), mode.replace("b", "").replace("t", "").replace("U", "")
            if not isinstance(file, int):
                disk.hit("open" if plain == "r" else "create", where)
            raw = Raw(file, plain, closefd, opener)
            raw.where = where
            if where is not None:
                disk._held[raw.fileno()] = where
            if buffering == 0:
                return raw
            kind = io.BufferedRandom if "+" in plain else io.BufferedReader if plain == "r" else io.BufferedWriter
            stream = kind(raw, buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE)
            if "b" in mode:
                return stream
            text = io.TextIOWrapper(stream, encoding, errors, newline, buffering == 1)
            text.mode = mode  # type: ignore[misc]
            return text

        return open_stream
