"""Ground floor: the one check of names and paths that come out of a file, before anything is read or written by them."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_MOST_BYTES = 120
_LONGEST_ENDING = 10


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


def clean_name(text: str, otherwise: str = "scan") -> str:
    """A name that can be that of a file on every system, as near as possible to ``text``; its ending stays.

    It has no part of a path and no character that some system refuses, does not begin with a dot, and is of bounded length.
    """
    plain = _NOT_IN_NAMES.sub("_", unicodedata.normalize("NFC", text[-20_000:])).strip(" .") or otherwise
    dot = plain.rfind(".")
    stem, ending = (plain[:dot], plain[dot:]) if dot > 0 and len(plain) - dot <= _LONGEST_ENDING else (plain, "")
    room = _MOST_BYTES - len(ending.encode())
    stem = stem.encode()[:room].decode("utf-8", "ignore").rstrip(" .") or otherwise
    return f"_{stem}{ending}" if _RESERVED.fullmatch(stem + ending) else stem + ending
