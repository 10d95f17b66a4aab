"""Files of scans: pictures with their resolution in, and a record of what was cut from where out."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from jigsawnet.io.decoding import is_of_the_machine, kind_of, silence
from jigsawnet.io.files import make_folder, write_text
from jigsawnet.io.images import MAX_PIXELS, read_image, write_png
from jigsawnet.io.pages import Page, as_page, file_errors, picture_of
from jigsawnet.io.pdf import page_dpi
from jigsawnet.types import UInt8Array

CUT_FILE = "cut.json"
"""A folder with this file holds the pieces cut from scans."""
CHECK_FOLDER = "check"
"""Where the pictures lie that show what was found on scans."""

_DPI_RANGE = (20.0, 20_000.0)


def read_scan(source: Path | Page) -> UInt8Array:
    """Read a scan as ``(H, W, 3)`` RGB, upright; what is transparent becomes white.

    Raises:
        InputError: as for `read_image`.
    """
    return on_white(read_image(source))


def on_white(pixels: UInt8Array) -> UInt8Array:
    """A picture ``(H, W, 3 | 4)`` as RGB; what is transparent becomes white."""
    if pixels.shape[2] == 3:
        return pixels
    alpha = pixels[..., 3:].astype(np.uint16)
    return ((pixels[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)


def read_dpi(source: Path | Page) -> float | None:
    """Dots per inch from a picture's tags or page; None when there are none that make sense, or the file is damaged.

    Raises:
        InputError: the disk or the memory failed.
    """
    page = as_page(source)
    try:
        with page.open() as stream, silence:
            across, down = _tagged_dpi(stream, page)
    except Exception as error:  # a damaged file is refused in words when its pixels are read
        if is_of_the_machine(error):
            with file_errors(page.name):
                raise
        return None
    usable = math.isfinite(across) and _DPI_RANGE[0] <= across <= _DPI_RANGE[1] and abs(across - down) < 0.01 * across
    return round(across, 1) if usable else None


def _tagged_dpi(stream: IO[bytes], page: Page) -> tuple[float, float]:
    if kind_of(stream) == "pdf":
        return page_dpi(page.path, page.name, page.number, MAX_PIXELS)
    with picture_of(stream, page) as picture:
        across, down = picture.info["dpi"]
        return float(across), float(down)


def piece_stems(scans: Sequence[Path | Page]) -> list[str]:
    """A name for the pieces of each scan, from its file name: plain on every system, and different for each scan."""
    stems: list[str] = []
    taken: set[str] = set()
    for scan in scans:
        plain = re.sub(r'[\x00-\x1f<>:"/\\|?*]', "_", scan.stem).lstrip(".").rstrip(" .") or "scan"
        stem, number = plain, 2
        while stem.casefold() in taken:
            stem, number = f"{plain}({number})", number + 1
        taken.add(stem.casefold())
        stems.append(stem)
    return stems


def write_cut_record(path: Path, scans: Sequence[Mapping[str, Any]], pieces: Sequence[Mapping[str, Any]]) -> None:
    """Write which piece came from which place of which scan, and what was noticed about the scans.

    Raises:
        OutputError: the file cannot be written.
    """
    record = {"format": "jigsawnet/cut", "version": 1, "scans": list(scans), "pieces": list(pieces)}
    write_text(path, json.dumps(record, indent=1) + "\n")


def write_checks(folder: Path, pictures: Mapping[str, UInt8Array]) -> None:
    """Write the pictures that show what was found on scans, under their names; the folder is made if need be, and is no link.

    Raises:
        OutputError: the folder cannot be written.
    """
    if pictures:
        make_folder(folder, folder.parent)
    for name, picture in pictures.items():
        write_png(folder / name, picture, below=folder.parent)
