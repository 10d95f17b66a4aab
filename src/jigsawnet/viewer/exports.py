"""The table as files to take away: a picture, a drawing, places and joins, or all pages for archives."""

from __future__ import annotations

import dataclasses
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast, get_args

from fastapi import HTTPException

from jigsawnet.errors import ConfigError
from jigsawnet.io.assembly_json import assembly_to_json
from jigsawnet.render.image import render_assembly
from jigsawnet.render.svg import assembly_svg
from jigsawnet.runs.export import FORMATS, ExportConfig, Paper, export_pages
from jigsawnet.viewer.pictures import encode_png
from jigsawnet.viewer.session import Session

ARCHIVE = "pages.zip"
_CHUNK = 1 << 20


def table_file(session: Session, name: str) -> tuple[bytes, str]:
    """The arrangement as it lies on the table, as a file of this name, and its type."""
    with session.lock:
        assembly = session.arrangement.to_assembly(len(session.pieces))
    if name == "assembly.json":
        text = assembly_to_json(assembly, session.pieces.names)
        return text.encode("utf-8", errors="backslashreplace"), "application/json"
    placed = tuple(sorted(assembly.poses))
    table = dataclasses.replace(assembly, components=(placed,) if placed else ())
    if name == "assembly.png":
        return encode_png(render_assembly(session.puzzle, table)), "image/png"
    if name == "assembly.svg":
        return assembly_svg(session.puzzle, table).encode("utf-8", errors="backslashreplace"), "image/svg+xml"
    raise HTTPException(404)


def config_of(formats: str, pages: str, paper: str, dpi: float | None, drawn: str) -> ExportConfig:
    """What the page asks for; lists are divided by commas.

    Raises:
        ConfigError: one of them is not known.
    """
    chosen, over = (tuple(word for word in text.split(",") if word) for text in (formats, drawn))
    if unknown := [word for word in chosen if word not in FORMATS]:
        raise ConfigError(f"There is no format {unknown[0][:20]!r}: the formats are {', '.join(FORMATS)}.")
    if paper not in get_args(Paper):
        raise ConfigError(f"There is no paper {paper[:20]!r}.")
    numbers = pages.split(",") if pages else []
    if not all(word.isascii() and word.isdigit() and len(word) <= 6 for word in numbers):
        raise ConfigError("pages must be numbers divided by commas.")
    return ExportConfig(
        formats=tuple(word for word in FORMATS if word in chosen), pages=tuple(map(int, numbers)), dpi=dpi,
        paper=cast("Paper", paper), outlines="outlines" in over, labels="labels" in over, scale_bar="scale_bar" in over,
    )  # fmt: skip


def pages_archive(session: Session, config: ExportConfig) -> Iterator[bytes]:
    """All pages as a zip, piece by piece; what can be refused is refused before the first."""
    with session.lock:
        run, table = session.run, session.arrangement
    archive = tempfile.TemporaryFile()  # noqa: SIM115 - read while it is sent
    try:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "pages"
            done = export_pages(run, out, config, table)
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as files:
                for name in done.files:
                    files.write(out / name, name)
    except BaseException:
        archive.close()
        raise
    return chunks_of(archive)


def chunks_of(archive: IO[bytes]) -> Iterator[bytes]:
    """A file from its beginning; closed at its end."""
    with archive:
        archive.seek(0)
        while chunk := archive.read(_CHUNK):
            yield chunk
