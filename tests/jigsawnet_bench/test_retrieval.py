"""How many right joins retrieval keeps, measured by itself."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from jigsawnet.errors import ConfigError, InputError
from jigsawnet_bench.retrieval import Retrieval, join_photos, measure_kind


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for k in range(3):
        coarse = np.random.default_rng(k).integers(0, 256, (12, 16, 3)).astype(np.uint8)
        cv2.imwrite(str(tmp_path / f"{k}.png"), cv2.resize(coarse, (320, 240), interpolation=cv2.INTER_NEAREST))
    return tmp_path


def test_photographs_are_joined_to_a_picture_for_so_many_pieces(photos: Path) -> None:
    picture = join_photos(photos, 16, np.random.default_rng(0))
    assert picture.shape == (4 * 128, 4 * 200, 3)


def test_with_few_pieces_all_right_joins_are_kept(photos: Path) -> None:
    row = measure_kind(join_photos(photos, 9, np.random.default_rng(0)), "clean", 9, 1)
    assert row["right joins"] >= 10
    assert row["kept, %"] == 100.0
    assert row["among the first 40, %"] == 100.0
    assert row["pairs per piece"] == 4.0


def test_bad_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no kind 'burnt'"):
        Retrieval(tmp_path, kinds=("burnt",))
    with pytest.raises(ConfigError, match="starts above 150"):
        Retrieval(tmp_path, pieces=100)
    with pytest.raises(InputError, match="holds no pictures"):
        join_photos(tmp_path, 200, np.random.default_rng(0))
