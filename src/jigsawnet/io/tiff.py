"""``assembly.tif``: the picture for archives and image editors, without loss, with transparency and resolution."""

from __future__ import annotations

from pathlib import Path

from jigsawnet.io.images import save_picture
from jigsawnet.types import UInt8Array

_PREDICTOR = 317
_HORIZONTAL = 2
_CLASSIC_BYTES = 3_900_000_000
"""A plain TIFF counts its bytes in 32 bits; what may not fit becomes a BigTIFF."""


def write_tiff(path: Path, image: UInt8Array, dpi: float | None = None) -> None:
    """Write ``(H, W, 3)`` RGB or ``(H, W, 4)`` RGBA (alpha not multiplied in), whole or not at all.

    It is compressed by deflate with differences of neighbouring pixels; a BigTIFF is not compressed.

    Raises:
        OutputError: the file cannot be written.
    """
    if image.nbytes > _CLASSIC_BYTES:
        save_picture(path, image, "TIFF", dpi, big_tiff=True)
    else:
        save_picture(path, image, "TIFF", dpi, compression="tiff_adobe_deflate", tiffinfo={_PREDICTOR: _HORIZONTAL})
