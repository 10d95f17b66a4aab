"""Names and paths out of files: below the folder they are taken from on every system, or refused."""

from __future__ import annotations

import pytest

from jigsawnet.names import is_plain_name, parts_below


@pytest.mark.parametrize("name", ["a.png", "..png.png", "ü <i>.png", ".hidden", "a b", "\udcff.png"])
def test_plain_names(name: str) -> None:
    assert parts_below(name) == (name,)
    assert is_plain_name(name)


def test_paths_below() -> None:
    assert parts_below("check/a.png") == ("check", "a.png")
    assert not is_plain_name("check/a.png")


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../a",
        "a/../b",
        "a/..",
        "/a",
        "//a/b",
        "a/",
        "a//b",
        "./a",
        "\\a",
        "a\\..\\b",
        "C:a",
        "C:/a",
        "a\0b",
        3,
        None,
        ["a"],
    ],
)
def test_what_may_lead_out_is_refused(name: object) -> None:
    assert parts_below(name) is None
    assert not is_plain_name(name)
