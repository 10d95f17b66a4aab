"""Checkpoints: whole or not at all, checked when read, refused when they belong to another run."""

from __future__ import annotations

import hashlib
import io
import pickle
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from jigsawnet.errors import ModelError
from jigsawnet.io.files import make_folder, write_bytes

_MAGIC = b"jigsawnet checkpoint 1\n"
_NAME = re.compile(r"checkpoint-(\d{8})\.pt")
_KEPT = 2

Stamp = Mapping[str, Any]
"""What a checkpoint belongs to: options by name, and the digest of the examples as ``data``."""


def save_state(path: Path, state: Mapping[str, Any], stamp: Stamp) -> None:
    """Write tensors and plain values with their stamp and a checksum."""
    buffer = io.BytesIO()
    torch.save({"stamp": dict(stamp), "state": dict(state)}, buffer)
    payload = buffer.getvalue()
    make_folder(path.parent)
    write_bytes(path, _MAGIC + hashlib.sha256(payload).digest() + payload)


def load_state(path: Path, stamp: Stamp) -> dict[str, Any]:
    """Read what `save_state` wrote.

    Raises:
        ModelError: the file is damaged, or belongs to other options or other examples.
    """
    saved = _read(path)
    if saved is None:
        raise ModelError(f"{path} is damaged or was written by another version; remove it to train this part anew.")
    _check_stamp(path, saved["stamp"], stamp)
    state: dict[str, Any] = saved["state"]
    return state


def save_checkpoint(folder: Path, step: int, state: Mapping[str, Any], stamp: Stamp) -> None:
    """Write the checkpoint of ``step`` and keep the one before it; older ones go."""
    save_state(folder / f"checkpoint-{step:08d}.pt", state, stamp)
    for path in _newest_first(folder)[_KEPT:]:
        with suppress(OSError):
            path.unlink()


def load_checkpoint(folder: Path, stamp: Stamp) -> dict[str, Any] | None:
    """The newest readable checkpoint, or None when there is none at all.

    Raises:
        ModelError: none of them can be read, or it belongs to other options or other examples.
    """
    paths = _newest_first(folder)
    for path in paths:
        saved = _read(path)
        if saved is not None:
            _check_stamp(path, saved["stamp"], stamp)
            state: dict[str, Any] = saved["state"]
            return state
    if paths:
        raise ModelError(f"No checkpoint in {folder} can be read; remove that folder to train this network anew.")
    return None


def remove_checkpoints(folder: Path) -> None:
    """Remove all checkpoints, and the folder when it is empty then."""
    for path in _newest_first(folder):
        with suppress(OSError):
            path.unlink()
    with suppress(OSError):
        folder.rmdir()


def _newest_first(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted((path for path in folder.iterdir() if _NAME.fullmatch(path.name)), reverse=True)


def _read(path: Path) -> dict[str, Any] | None:
    """Stamp and state, or None when the file is not whole."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}.") from error
    digest_end = len(_MAGIC) + hashlib.sha256().digest_size
    payload = data[digest_end:]
    if data[: len(_MAGIC)] != _MAGIC or data[len(_MAGIC) : digest_end] != hashlib.sha256(payload).digest():
        return None
    try:
        saved: dict[str, Any] = torch.load(io.BytesIO(payload), map_location="cpu", weights_only=True)
    except (RuntimeError, ValueError, EOFError, pickle.UnpicklingError):
        return None
    return saved


def _check_stamp(path: Path, found: Stamp, wanted: Stamp) -> None:
    for key in sorted({*found, *wanted}):
        if found.get(key) != wanted.get(key):
            said = "other examples" if key == "data" else f"{key} = {found.get(key)}, not {wanted.get(key)}"
            raise ModelError(f"{path} was trained with {said}; give the same options and photos, or another folder.")
