"""A run handed over: packed, opened on another path with its edits, solved on there, and refused when it was tampered with."""

from __future__ import annotations

import json
import shutil
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from jigsawnet.cli import main_code
from jigsawnet.edits import Edits, NamePage, Pin
from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.io.case_file import MANIFEST, Case, write_case
from jigsawnet.io.edits_json import save_edits
from jigsawnet.io.lock import hold_lock
from jigsawnet.runs import Request, open_run, solve_run
from jigsawnet.runs.case import folder_of, pack_run, unpack_run
from jigsawnet.runs.table import start_of, table_of


@pytest.fixture
def edited(undisturbed: Path, tmp_path: Path) -> Path:
    """A solved run with edits, and things in its folder that are none of a case's business."""
    out = tmp_path / "sender" / "out"
    shutil.copytree(undisturbed, out)
    run = open_run(out)
    edits = Edits(start_of(run)).added(NamePage(0, "A letter")).added(Pin((0,)))
    save_edits(out, edits, run.puzzle.names())
    (out / ".workbench.lock").write_text("x")
    (out / "my diary.txt").write_text("private")
    return out


def contents(case: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(case) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(case: Path, **changes: bytes) -> Path:
    """The case with other files in it, and a manifest that is true of them."""
    files = {name: data for name, data in contents(case).items() if name != MANIFEST} | changes
    case.unlink()
    write_case(case, Case("1.0", "x", {}), files)
    return case


def test_a_case_shows_the_same_elsewhere_with_its_edits(edited: Path, tmp_path: Path) -> None:
    case = tmp_path / "letter.jigsaw"
    done = pack_run(edited, case)
    assert done.sha256 == sha256(case.read_bytes()).hexdigest()
    before = table_of(open_run(edited))
    shutil.rmtree(tmp_path / "sender")
    unpack_run(case, tmp_path / "receiver" / "deep" / "there")
    there = open_run(tmp_path / "receiver" / "deep" / "there")
    now = table_of(there)
    assert (now.poses, now.joins, now.pages, now.pinned) == (before.poses, before.joins, before.pages, before.pinned)
    assert now.pages[0].name == "A letter"
    assert (there.folder / "report.html").is_file()


def test_the_same_run_gives_the_same_bytes_wherever_it_lies(edited: Path, tmp_path: Path) -> None:
    pack_run(edited, tmp_path / "a.jigsaw")
    shutil.move(edited, tmp_path / "elsewhere")
    pack_run(tmp_path / "elsewhere", tmp_path / "b.jigsaw")
    assert (tmp_path / "a.jigsaw").read_bytes() == (tmp_path / "b.jigsaw").read_bytes()


def test_nothing_of_this_machine_is_in_a_case(edited: Path, nine: Path, tmp_path: Path) -> None:
    pack_run(edited, tmp_path / "a.jigsaw")
    found = contents(tmp_path / "a.jigsaw")
    assert not [name for name in found if "diary" in name or "lock" in name or name.startswith("inputs/")]
    for name, data in found.items():
        assert str(nine.parent).encode() not in data, name
        assert str(tmp_path).encode() not in data, name


def test_a_case_is_solved_on_and_again_from_its_own_inputs(edited: Path, nine: Path, tmp_path: Path) -> None:
    pack_run(edited, tmp_path / "a.jigsaw", with_inputs=True)
    out = tmp_path / "there"
    unpack_run(tmp_path / "a.jigsaw", out)
    run = open_run(out)
    assert run.request.inputs == (out / "inputs" / "1" / nine.name,)
    on = run.solve_on(table_of(run).constraints())
    assert len(on.assembly.poses) == 9
    again = solve_run(Request(run.request.inputs), out)
    assert "pieces" in again.reused
    assert again.pairs_matched == 0
    assert json.loads((out / "run.json").read_text())["request"]["inputs"] == [f"inputs/1/{nine.name}"]


def test_changed_inputs_are_told_and_lost_ones_refused(edited: Path, nine: Path, tmp_path: Path) -> None:
    moved = tmp_path / "pieces"
    shutil.copytree(nine, moved)
    solve_run(Request((moved,)), edited)
    assert pack_run(edited, tmp_path / "a.jigsaw", with_inputs=True).notes == ()
    first = next(moved.glob("*.png"))
    shutil.copy(first, moved / "one more.png")
    (note,) = pack_run(edited, tmp_path / "b.jigsaw", with_inputs=True).notes
    assert "not quite those" in note
    shutil.rmtree(moved)
    with pytest.raises(InputError, match=r"is gone; pack without"):
        pack_run(edited, tmp_path / "c.jigsaw", with_inputs=True)
    pack_run(edited, tmp_path / "c.jigsaw")


def test_what_cannot_be_packed_is_refused_and_leaves_nothing(edited: Path, tmp_path: Path) -> None:
    case = tmp_path / "a.jigsaw"
    with pytest.raises(InputError, match="holds no run"):
        pack_run(tmp_path, case)
    with hold_lock(edited / ".lock"), pytest.raises(OutputError, match="Another solve"):
        pack_run(edited, case)
    (edited / "report.html").unlink()
    try:
        (edited / "report.html").symlink_to(edited / "my diary.txt")
    except OSError:
        pytest.skip("the system has no links")
    with pytest.raises(InputError, match="is a link"):
        pack_run(edited, case)
    assert not case.exists()
    case.write_text("precious")
    (edited / "report.html").unlink()
    with pytest.raises(OutputError, match="is there already"):
        pack_run(edited, case)
    assert case.read_text() == "precious"


@pytest.mark.parametrize("path", ["/etc", "../../pieces", "C:\\x", ""])
@pytest.mark.parametrize("field", ["inputs", "weights"])
def test_a_case_that_names_files_outside_is_refused(edited: Path, tmp_path: Path, path: str, field: str) -> None:
    pack_run(edited, tmp_path / "a.jigsaw")
    record = json.loads(contents(tmp_path / "a.jigsaw")["run.json"])
    record["request"][field] = [path] if field == "inputs" else path
    case = rewritten(tmp_path / "a.jigsaw", **{"run.json": json.dumps(record).encode()})
    with pytest.raises(FormatError, match="names files outside"):
        unpack_run(case, tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_a_case_without_its_stages_or_with_a_broken_record_is_refused(edited: Path, tmp_path: Path) -> None:
    pack_run(edited, tmp_path / "a.jigsaw")
    shutil.copy(tmp_path / "a.jigsaw", tmp_path / "b.jigsaw")
    case = rewritten(tmp_path / "a.jigsaw", **{"run.json": b"{}"})
    with pytest.raises(FormatError, match=r"cannot be opened: its run\.json"):
        unpack_run(case, tmp_path / "there")
    files = {name: data for name, data in contents(tmp_path / "b.jigsaw").items() if not name.startswith(("stages", "case"))}
    write_case(tmp_path / "c.jigsaw", Case("1.0", "x", {}), files)
    with pytest.raises(FormatError, match="is missing"):
        unpack_run(tmp_path / "c.jigsaw", tmp_path / "there")


def test_a_case_is_opened_beside_itself_once_and_gone_on_with(edited: Path, tmp_path: Path) -> None:
    pack_run(edited, tmp_path / "a.jigsaw")
    assert folder_of(tmp_path / "a.jigsaw") == (tmp_path / "a", False)
    run = open_run(tmp_path / "a")
    save_edits(tmp_path / "a", Edits(start_of(run)).added(NamePage(0, "Mine")), run.puzzle.names())
    assert folder_of(tmp_path / "a.jigsaw") == (tmp_path / "a", True)
    assert table_of(open_run(tmp_path / "a")).pages[0].name == "Mine"
    (edited / "edits.json").unlink()
    (tmp_path / "a.jigsaw").unlink()
    pack_run(edited, tmp_path / "a.jigsaw")
    with pytest.raises(OutputError, match="another case"):
        folder_of(tmp_path / "a.jigsaw")
    assert folder_of(tmp_path / "a.jigsaw", tmp_path / "b") == (tmp_path / "b", False)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "file").write_text("precious")
    with pytest.raises(OutputError, match="is not this case"):
        folder_of(tmp_path / "a.jigsaw", tmp_path / "c")


def test_on_the_command_line(edited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case, out = str(tmp_path / "a.jigsaw"), str(tmp_path / "out")
    assert main_code(["pack", str(edited), "-o", str(tmp_path / "a")]) == 2
    assert "ends in .jigsaw: give -o a.jigsaw" in capsys.readouterr().err
    assert main_code(["pack", str(edited), "-o", case]) == 0
    assert sha256(Path(case).read_bytes()).hexdigest() in capsys.readouterr().out
    assert main_code(["export", case, "-o", out]) == 2
    assert "is a case file; open it" in capsys.readouterr().err
    assert main_code(["unpack", case, "-o", out]) == 0
    assert main_code(["unpack", case, "-o", out]) == 2
    assert "holds something already" in capsys.readouterr().err
    Path(case).write_bytes(Path(case).read_bytes()[:-1])
    assert main_code(["view", case]) == 2
    error = capsys.readouterr().err
    assert "cut short" in error
    assert error.count("\n") == 1
    assert main_code(["view", str(edited), "--into", out]) == 2
    assert "into is for a case file" in capsys.readouterr().err
