"""A held folder: what is done in it is done there, whatever its path leads to meanwhile."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from jigsawnet.errors import OutputError
from jigsawnet.io import places
from jigsawnet.io.places import hold_below, hold_place

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be held there")


@pytest.fixture
def swapped(tmp_path: Path) -> tuple[Path, Path]:
    """A folder with a folder in it, and another one that looks alike."""
    for name in ("out", "away"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "file").write_text(name)
    return tmp_path / "out", tmp_path / "away"


@posix_only
def test_a_link_put_in_the_place_of_a_held_folder_changes_nothing(swapped: tuple[Path, Path]) -> None:
    out, away = swapped
    with hold_below(out, ("sub",)) as place:
        (out / "sub").rename(out / "moved")
        (out / "sub").symlink_to(away / "sub")
        with place.create("new") as stream:
            stream.write(b"x")
        place.move("new", place, "newer")
        place.mkdir("folder")
        place.rmdir("folder")
        place.unlink("file")
    assert [path.name for path in (out / "moved").iterdir()] == ["newer"]
    assert {path.name: path.read_text() for path in (away / "sub").iterdir()} == {"file": "away"}


@pytest.mark.parametrize("can_hold", [True, False])
def test_a_link_on_the_way_is_refused(swapped: tuple[Path, Path], can_hold: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    out, away = swapped
    monkeypatch.setattr(places, "_CAN_HOLD", can_hold and places._CAN_HOLD)
    try:
        (out / "link").symlink_to(away, target_is_directory=True)
    except OSError:
        pytest.skip("the system has no links")
    for way in (("link",), ("link", "sub")):
        with pytest.raises(OutputError, match="nothing is written through links"), hold_below(out, way, make=True):
            pass
    assert [path.name for path in away.iterdir()] == ["sub"]


@posix_only
def test_a_link_that_appears_after_the_look_is_refused(swapped: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    out, away = swapped

    def swap(place: places.Place, name: str) -> bool:
        (out / name).rename(out / "moved")
        (out / name).symlink_to(away / name)
        return False

    monkeypatch.setattr(places.Place, "_is_link", swap)
    with pytest.raises((OutputError, NotADirectoryError)), hold_below(out, ("sub",)):
        pass


@pytest.mark.parametrize("can_hold", [True, False])
def test_trees_are_removed_and_links_in_them_are_not_followed(
    swapped: tuple[Path, Path], can_hold: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, away = swapped
    monkeypatch.setattr(places, "_CAN_HOLD", can_hold and places._CAN_HOLD)
    try:
        (out / "sub" / "link").symlink_to(away, target_is_directory=True)
        (out / "other").symlink_to(away, target_is_directory=True)
    except OSError:
        pytest.skip("the system has no links")
    with hold_place(out) as place:
        place.remove("sub")
        place.remove("other")
        place.remove("nothing")
        assert place.names() == []
    assert (away / "sub" / "file").read_text() == "away"


@pytest.mark.parametrize("has_links", [True, False])
def test_a_copy_is_kept_while_the_first_stays(tmp_path: Path, has_links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "kept").mkdir()
    if not has_links:

        def no_links(*_: object, **__: object) -> None:
            raise OSError

        monkeypatch.setattr(os, "link", no_links)
    with hold_place(tmp_path) as place, place.enter("kept") as kept:
        place.keep_copy("a", kept, "b")
    assert (tmp_path / "a").read_text() == (tmp_path / "kept" / "b").read_text() == "old"
