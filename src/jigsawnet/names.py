"""Ground floor: the one check of names and paths that come out of a file, before anything is read or written by them."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath


def parts_below(name: object) -> tuple[str, ...] | None:
    """The parts of a path that stays below the folder it is taken from, on every system; None for any other."""
    if not isinstance(name, str) or "\0" in name or "\\" in name or PureWindowsPath(name).anchor or PureWindowsPath(name).drive:
        return None
    parts = PurePosixPath(name).parts
    return parts if parts and "/".join(parts) == name and ".." not in parts else None


def is_plain_name(name: object) -> bool:
    """True for the name of a file that lies in the folder itself, on every system."""
    parts = parts_below(name)
    return parts is not None and len(parts) == 1
