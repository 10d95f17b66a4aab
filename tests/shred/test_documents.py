"""Documents that are made up: the same from the same seed, full of print, with the fonts that there are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jigsawnet.errors import InputError
from jigsawnet.shred.documents import A4_INCH, Typefaces, make_document

NO_FONTS = Typefaces({})


def test_a_page_has_the_size_of_the_paper() -> None:
    page = make_document(np.random.default_rng(0), NO_FONTS, 100.0)
    assert page.shape == (round(A4_INCH[1] * 100), round(A4_INCH[0] * 100), 3)
    assert page.dtype == np.uint8


def test_the_same_seed_gives_the_same_page() -> None:
    one, same, other = (make_document(np.random.default_rng(seed), NO_FONTS, 60.0) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("seed", range(6))
def test_pages_are_printed_on_pale_paper(seed: int) -> None:
    page = make_document(np.random.default_rng(seed), NO_FONTS, 80.0).mean(axis=2)
    assert np.median(page) > 215
    assert 0.01 < (page < np.median(page) - 40).mean() < 0.5


def test_pictures_are_shown_now_and_then() -> None:
    red = np.zeros((60, 90, 3), np.uint8)
    red[..., 0] = 255
    pages = [make_document(np.random.default_rng(seed), NO_FONTS, 50.0, [red]) for seed in range(12)]
    shown = [bool(((page[..., 0] > 200) & (page[..., 1] < 80)).mean() > 0.01) for page in pages]
    assert any(shown)
    assert not all(shown)


def test_what_is_no_font_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"no font at all")
    assert not Typefaces.find([tmp_path]).files


def test_a_folder_of_fonts_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no folder of fonts .*missing"):
        Typefaces.find([tmp_path / "missing"])
