"""Names and paths out of files: below the folder they are taken from on every system, or refused."""

from __future__ import annotations

import pytest

from jigsawnet.names import clean_name, is_plain_name, parts_below


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


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("scan 1.png", "scan 1.png"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("C:\\scans\\a.tif", "C__scans_a.tif"),
        (".hidden.png", "hidden.png"),
        ("con.png", "_con.png"),
        ("a\0b<>.png", "a_b__.png"),
        ("  ", "scan"),
        ("...", "scan"),
        ("", "scan"),
        ("\udcff.png", "_.png"),
        ("u\u0308.png", "\u00fc.png"),
    ],
)
def test_names_are_cleaned(given: str, cleaned: str) -> None:
    assert clean_name(given) == cleaned


def test_a_name_of_any_length_becomes_one_that_every_disk_takes() -> None:
    for letter in ("x", "\u00fc", "\U0001f9e9", "."):
        name = clean_name(letter * 10_000 + ".jpeg")
        assert is_plain_name(name)
        assert name.endswith("jpeg")
        assert len(name.encode()) <= 125
