"""``jigsawnet solve --edits`` and ``--view``: corrections taken up again, and a solve that is watched."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jigsawnet.cli import main_code
from jigsawnet.edits import Accept, Apart, NamePage, NotePiece, Pin, Reject, SetAside, Together
from jigsawnet.io.lock import hold_lock
from jigsawnet.io.pieces import write_pieces
from jigsawnet.runs import open_run
from jigsawnet.types import Assembly, Puzzle
from jigsawnet.viewer.session import Session

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi", reason="the workbench needs the extra web")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def solved(nine_pieces: tuple[Puzzle, Assembly], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pieces and a solved run; not to be changed."""
    folder = tmp_path_factory.mktemp("solved")
    write_pieces(folder / "pieces", nine_pieces[0])
    assert main_code(["solve", str(folder / "pieces"), "-o", str(folder / "out")]) == 0
    return folder


@pytest.fixture
def corrected(solved: Path, tmp_path: Path) -> Path:
    """The same, with a piece set aside, another pinned, a join accepted, and solved on."""
    shutil.copytree(solved, tmp_path / "corrected")
    session = Session(open_run(tmp_path / "corrected" / "out"))
    session.make(0, SetAside((7,)))
    session.make(1, Pin((0,)))
    session.make(2, Accept(*next(iter(session.arrangement.joins))))
    session.solve(3)
    session.wait()
    assert session.revision == 4
    session.close()
    return tmp_path / "corrected"


def test_replayed_into_another_folder_the_edits_give_the_same_bytes(corrected: Path, tmp_path: Path) -> None:
    again, edits = tmp_path / "again", corrected / "out" / "edits.json"
    assert main_code(["solve", str(corrected / "pieces"), "-o", str(again), "--edits", str(edits)]) == 1
    assert (again / "assembly.json").read_bytes() == (corrected / "out" / "assembly.json").read_bytes()
    assert (again / "edits.json").read_bytes() == edits.read_bytes()
    placed = {
        entry["name"]: entry["world_from_fragment"] for entry in json.loads((again / "assembly.json").read_text())["fragments"]
    }
    assert [name for name, pose in placed.items() if pose is None] == [open_run(again).puzzle.names()[7]]
    session = Session(open_run(again))
    assert session.arrangement.aside == {7}
    session.undo(0)  # the workbench goes on from there
    session.close()


def test_replayed_onto_itself_nothing_changes(corrected: Path) -> None:
    out = corrected / "out"
    before = {name: (out / name).read_bytes() for name in ("assembly.json", "edits.json")}
    assert main_code(["solve", str(corrected / "pieces"), "-o", str(out), "--edits", str(out / "edits.json")]) == 1
    assert {name: (out / name).read_bytes() for name in before} == before


def test_a_folder_with_other_edits_is_refused_and_edits_passed_over_are_told(
    corrected: Path, tmp_path: Path, capsys: Capture
) -> None:
    other = tmp_path / "other.json"
    shutil.copy(corrected / "out" / "edits.json", other)
    arguments = ["solve", str(corrected / "pieces"), "-o", str(corrected / "out")]
    assert main_code([*arguments, "--edits", str(other)]) == 2
    assert "edits of its own" in capsys.readouterr().err
    assert main_code([*arguments, "--without-edits"]) == 0
    assert "were passed over" in capsys.readouterr().err
    assert (corrected / "out" / "edits.json").read_bytes() == other.read_bytes()


def test_solving_again_keeps_edits_and_hints_also_when_pieces_are_added(
    nine_pieces: tuple[Puzzle, Assembly], tmp_path: Path, capsys: Capture
) -> None:
    """Eight of nine pieces are solved and corrected; the ninth is added, and all that was said still holds."""
    puzzle, _ = nine_pieces
    pieces, out = tmp_path / "pieces", tmp_path / "out"
    write_pieces(pieces, puzzle)
    late = sorted(pieces.glob("*.png"))[3]
    shutil.move(late, tmp_path / late.name)
    assert main_code(["solve", str(pieces), "-o", str(out)]) == 0
    session = Session(open_run(out))
    names = session.pieces.names
    alone = session.pieces.names[5]
    for revision, edit in enumerate(
        (NamePage(0, "A letter"), SetAside((5,)), NotePiece(0, "stained"), Together((0, 1)), Apart((2, 6), False))
    ):
        session.make(revision, edit)
    session.close()
    shutil.move(tmp_path / late.name, late)
    capsys.readouterr()
    assert main_code(["solve", str(pieces), "-o", str(out)]) == 1
    assert "The edits in" in capsys.readouterr().err
    session = Session(open_run(out))
    now = session.arrangement
    assert len(session.pieces) == 9
    assert session.pieces.names.index(late.name) in now.poses
    assert [session.pieces.names[idx] for idx in now.aside] == [alone]
    assert now.pages[0].name == "A letter"
    hinted = [[session.pieces.names[idx] for idx in hint.pieces] for hint in now.hints]
    assert hinted == [[names[0], names[1]], [names[2], names[6]]]
    assert "stained" in (out / "report.html").read_text(encoding="utf-8")
    shown = json.loads((out / "assembly.json").read_text())["fragments"]
    assert [entry["name"] for entry in shown if entry["world_from_fragment"] is None] == [alone]
    session.close()


def test_edits_of_pieces_that_are_gone_are_told_with_what_can_be_done(corrected: Path, capsys: Capture) -> None:
    names = open_run(corrected / "out").puzzle.names()
    (corrected / "pieces" / names[7]).unlink()
    arguments = ["solve", str(corrected / "pieces"), "-o", str(corrected / "out")]
    assert main_code(arguments) == 2
    error = capsys.readouterr().err
    assert f"names '{names[7]}', which is not among the pieces. Bring back what is missing, or give --without-edits" in error


def test_solving_again_waits_for_no_workbench(corrected: Path, capsys: Capture) -> None:
    with hold_lock(corrected / "out" / ".workbench.lock"):
        assert main_code(["solve", str(corrected / "pieces"), "-o", str(corrected / "out")]) == 2
    assert "workbench is open" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("fragment_0001.png", "elsewhere.png"), "not among the pieces"),
        (('"kind": "pin"', '"kind": "pine"'), "kind of edit"),
        (('"accept", "i": "fragment_0001.png"', '"accept", "i": "fragment_0008.png"'), "edits[2] cannot be done"),
        (("{", ""), "JSON"),
    ],
)
def test_edits_that_do_not_fit_are_told_before_the_work_starts(
    corrected: Path, tmp_path: Path, capsys: Capture, change: tuple[str, str], words: str
) -> None:
    text = (corrected / "out" / "edits.json").read_text()
    assert change[0] in text
    bad = tmp_path / "bad.json"
    bad.write_text(
        text.replace(change[0], change[1], 1).replace('"kind": "take_off", "pieces": [', '"kind": "unpin", "pieces": [5, ')
    )
    out = tmp_path / "new"
    assert main_code(["solve", str(corrected / "pieces"), "-o", str(out), "--edits", str(bad)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert not (out / "assembly.json").exists()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if "http://" in line:
            return line.split()[-1]
    raise AssertionError(f"no address was printed: {process.stderr.read() if process.stderr else ''}")


def _wait_until_solved(address: str) -> dict[str, Any]:
    with httpx.Client(follow_redirects=True, timeout=600) as client:
        client.base_url = client.get(address).url
        with client.stream("GET", "/api/events") as events:
            for line in events.iter_lines():
                if line.startswith("data: ") and (
                    json.loads(line[6:])["type"] == "solved" or not client.get("/api/state").json()["busy"]
                ):
                    break
        return dict(client.get("/api/state").json())


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_a_solve_is_watched_and_becomes_the_workbench(solved: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["solve", str(solved / "pieces"), "-o", str(out), "--view", "--no-browser"]
    command = [sys.executable, "-m", "jigsawnet", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        state = _wait_until_solved(_address(process))
        assert all(piece["pose"] for piece in state["pieces"])
        assert state["can_undo"] is False
        process.send_signal(signal.SIGINT)
        assert process.wait(600) == 0
    finally:
        process.kill()
        process.communicate()
    assert (out / "assembly.json").read_bytes() == (solved / "out" / "assembly.json").read_bytes()
    assert not (out / ".workbench.lock").exists()


def test_a_list_without_edits_begins_anew_from_the_run(solved: Path, tmp_path: Path) -> None:
    shutil.copytree(solved / "out", tmp_path / "out")
    session = Session(open_run(tmp_path / "out"))
    start = (tmp_path / "out" / "edits.json").read_bytes()
    session.make(0, Reject(*next(iter(session.arrangement.joins))))
    session.undo(1)
    session.close()
    kept = Session(open_run(tmp_path / "out"))
    assert len(kept.edits.undone) == 1
    kept.make(0, Pin((0,)))
    kept.undo(1)
    assert (tmp_path / "out" / "edits.json").read_bytes() == start
    kept.close()
