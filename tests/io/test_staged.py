"""A result folder appears complete or not at all, and nothing outside it is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from jigsawnet.errors import OutputError
from jigsawnet.io.staged import staged_folder


def tree(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() if p.is_file() else "" for p in sorted(folder.rglob("*"))}


def test_staged_folder_moves_everything_and_leaves_no_trace_of_itself(tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    with staged_folder(out) as stage:
        (stage / "assembly.json").write_text("{}")
        (stage / "pieces").mkdir()
        (stage / "pieces" / "1.txt").write_text("one")
        assert not (out / "assembly.json").exists()
    assert tree(out) == {"assembly.json": "{}", "pieces": "", "pieces/1.txt": "one"}
    assert list(out.parent.iterdir()) == [out]


def test_staged_folder_keeps_other_files_and_replaces_its_own(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "report.html").write_text("old")
    with staged_folder(tmp_path) as stage:
        (stage / "report.html").write_text("new")
    assert tree(tmp_path) == {"notes.txt": "mine", "report.html": "new"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_staged_folder_leaves_nothing_after_an_error(tmp_path: Path, error: type[BaseException]) -> None:
    def fail(out: Path) -> None:
        with staged_folder(out) as stage:
            (stage / "assembly.json").write_text("{}")
            raise error

    with pytest.raises(error):
        fail(tmp_path / "a" / "b" / "out")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(error):
        fail(tmp_path)
    assert tree(tmp_path) == {"notes.txt": "mine"}


def test_staged_folder_undoes_a_half_done_move(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "report.html" / "in the way").mkdir(parents=True)
    before = tree(tmp_path)

    def move() -> None:
        with staged_folder(tmp_path) as stage:
            (stage / "sub").mkdir()
            for name in ("a.txt", "b.txt", "report.html", "sub/c.txt", "assembly.json"):
                (stage / name).write_text("new")

    with pytest.raises(OutputError, match="cannot be moved into"):
        move()
    assert tree(tmp_path) == before


def test_staged_folder_refuses_before_the_work_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "assembly.json").write_text("{}")
    (tmp_path / "dangling").symlink_to(tmp_path / "absent" / "far")
    before = tree(tmp_path)
    for name, sentence in {
        "file": "is a file",
        "done": "already holds a result; give another folder or remove it",
        "file/below": "cannot be written",
        "dangling": "cannot be written",
        "nul\0": "cannot be written",
    }.items():
        with pytest.raises(OutputError, match=sentence), staged_folder(tmp_path / name):
            pytest.fail("the work must not start")
    assert tree(tmp_path) == before


def test_links_that_appear_while_the_work_goes_on_are_not_followed(tmp_path: Path) -> None:
    """The folder moved away and a link in its place: the result follows the folder, not the link."""
    out, away = tmp_path / "out", tmp_path / "away"
    away.mkdir()
    (away / "sub").mkdir()
    before = tree(away)
    try:
        (tmp_path / "try").symlink_to(away)
    except OSError:
        pytest.skip("the system has no links")
    with staged_folder(out) as stage:
        (stage / "assembly.json").write_text("{}")
        (stage / "sub").mkdir()
        (stage / "sub" / "a.txt").write_text("x")
        (out / "sub").mkdir()
        held = tmp_path / "held"
        out.rename(held)
        out.symlink_to(away)
        (away / stage.name).symlink_to(held / stage.name)
    (away / stage.name).unlink()
    assert tree(away) == before
    assert tree(held) == {"assembly.json": "{}", "sub": "", "sub/a.txt": "x"}


def test_a_file_that_is_a_link_is_replaced_and_comes_back_as_one(tmp_path: Path) -> None:
    out, victim = tmp_path / "out", tmp_path / "victim"
    (out / "b.txt" / "in the way").mkdir(parents=True)
    victim.write_text("precious")
    try:
        (out / "a.txt").symlink_to(victim)
    except OSError:
        pytest.skip("the system has no links")

    def move() -> None:
        with staged_folder(out) as stage:
            for name in ("a.txt", "b.txt"):
                (stage / name).write_text("new")

    with pytest.raises(OutputError, match="cannot be moved into"):
        move()
    assert (out / "a.txt").is_symlink()
    (out / "b.txt" / "in the way").rmdir()
    (out / "b.txt").rmdir()
    move()
    assert not (out / "a.txt").is_symlink()
    assert victim.read_text() == "precious"


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in (".jigsawnet-dead", ".mine", "check"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.png").write_text("x")
    with staged_folder(tmp_path) as stage:
        assert [path.name for path in tmp_path.glob(".jigsawnet-*")] == [stage.name]
        (stage / "assembly.json").write_text("{}")
    assert sorted(tree(tmp_path)) == [".mine", ".mine/a.png", "assembly.json", "check", "check/a.png"]


def test_two_commands_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with staged_folder(tmp_path) as stage:
        with pytest.raises(OutputError, match="Another command is writing into"), staged_folder(tmp_path):
            pytest.fail("the work must not start")
        assert stage.is_dir(), "what the other one holds is not taken for left over"
        (stage / "assembly.json").write_text("{}")
    assert tree(tmp_path) == {"assembly.json": "{}"}
