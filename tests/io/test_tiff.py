from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.TiffImagePlugin import TiffImageFile

from jigsawnet.errors import OutputError
from jigsawnet.io import images
from jigsawnet.io.images import read_image, write_png, write_tiff
from jigsawnet.io.scans import read_dpi

EXTRA_SAMPLES, NOT_MULTIPLIED = 338, (2,)
PICTURE = np.random.default_rng(0).integers(0, 256, (40, 60, 4), dtype=np.uint8)


@pytest.mark.parametrize("channels", [3, 4])
def test_every_pixel_comes_back(tmp_path: Path, channels: int) -> None:
    image = PICTURE[..., :channels]
    write_tiff(tmp_path / "a.tif", image)
    assert (read_image(tmp_path / "a.tif") == image).all()
    assert [path.name for path in tmp_path.iterdir()] == ["a.tif"]


def test_alpha_is_said_not_to_be_multiplied_in(tmp_path: Path) -> None:
    write_tiff(tmp_path / "a.tif", PICTURE)
    with Image.open(tmp_path / "a.tif") as picture:
        assert isinstance(picture, TiffImageFile)
        assert picture.tag_v2[EXTRA_SAMPLES] == NOT_MULTIPLIED


def test_it_is_compressed(tmp_path: Path) -> None:
    plain = np.full((500, 500, 4), 90, np.uint8)
    write_tiff(tmp_path / "a.tif", plain)
    assert (tmp_path / "a.tif").stat().st_size < plain.nbytes / 50


@pytest.mark.parametrize("dpi", [72.0, 300.0, 600.0, 1234.5])
@pytest.mark.parametrize("write", [write_tiff, write_png])
def test_the_resolution_is_kept(tmp_path: Path, dpi: float, write) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / ("a.tif" if write is write_tiff else "a.png")
    write(path, PICTURE, dpi)
    assert read_dpi(path) == pytest.approx(dpi, abs=0.05)
    write(path, PICTURE)
    assert read_dpi(path) is None


def test_what_is_too_large_for_a_tiff_becomes_a_bigtiff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tiff(tmp_path / "small.tif", PICTURE, 300.0)
    monkeypatch.setattr(images, "_CLASSIC_TIFF_BYTES", PICTURE.nbytes - 1)
    write_tiff(tmp_path / "big.tif", PICTURE, 300.0)
    assert [(tmp_path / name).read_bytes()[2] for name in ("small.tif", "big.tif")] == [42, 43]
    assert (read_image(tmp_path / "big.tif") == PICTURE).all()
    assert read_dpi(tmp_path / "big.tif") == 300.0


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"a\.tif cannot be written"):
        write_tiff(tmp_path / "no" / "a.tif", PICTURE)
