"""Notes and the history on the workbench: what is done is on record, and results say what was noted."""

from __future__ import annotations

import csv
from pathlib import Path

import cv2
import httpx
import numpy as np

from jigsawnet.edits import BackOf, NoteCase, NoteJoin, NotePage, NotePiece, Pin
from jigsawnet.io.history import read_history
from jigsawnet.runs import open_run
from jigsawnet.viewer.session import Session


def test_edits_undos_and_solves_are_on_record(nine_session: Session, tmp_path: Path) -> None:
    name = nine_session.pieces.names[0]
    nine_session.make(0, Pin((0,)))
    nine_session.undo(1)
    nine_session.redo(2)
    nine_session.solve(3)
    nine_session.wait()
    found = [(entry["what"], entry.get("text")) for entry in read_history(tmp_path)][1:]
    text = f"Pinned {name}"
    assert found == [("edited", text), ("undid", text), ("did again", text), ("solved on", None)]
    assert read_history(tmp_path)[-1]["placed"] == 9


def test_the_operator_of_the_workbench_stands_in_its_lines(nine_session: Session, tmp_path: Path) -> None:
    nine_session.close()
    session = Session(open_run(tmp_path), operator="Ada")
    session.make(0, Pin((0,)))
    session.close()
    assert read_history(tmp_path)[-1]["who"] == "Ada"


def test_notes_are_in_the_report_and_in_the_table(nine_session: Session, tmp_path: Path) -> None:
    (i, j), *_ = nine_session.arrangement.joins
    for revision, edit in enumerate(
        (NoteCase("Found in the <attic>"), NotePage(0, "A letter"), NotePiece(4, "stained\ntwice"), NoteJoin(i, j, "glued"))
    ):
        nine_session.make(revision, edit)
    nine_session.scribe.wait()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for words in ("Found in the &lt;attic&gt;", "A letter", "stained<br>twice", "glued"):
        assert words in page
    with (tmp_path / "poses.csv").open(newline="", encoding="utf-8") as stream:
        notes = [row["note"] for row in csv.DictReader(stream)]
    assert notes[4] == "stained\\ntwice"
    assert not any(notes[:4] + notes[5:])
    nine_session.undo(4)
    nine_session.scribe.wait()
    assert "glued" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_page_gets_the_newest_lines_first(client: httpx.Client, nine_session: Session) -> None:
    for revision in range(2):
        nine_session.make(revision, NoteCase(str(revision)))
    answer = client.get("/api/history").json()
    assert [entry["text"] for entry in answer["entries"][:2]] == ["Noted of the case: 1", "Noted of the case: 0"]
    assert answer["more"] == 0
    state = client.get("/api/state").json()
    assert state["note"] == "1"
    case = client.get("/api/export/case.jigsaw")
    assert case.status_code == 200
    assert case.headers["content-disposition"].endswith('.jigsaw"')


def test_what_is_said_to_be_a_back_is_in_the_picture_of_the_back(nine_session: Session, tmp_path: Path) -> None:
    assert not (tmp_path / "assembly-back.png").exists()
    nine_session.make(0, BackOf(5, 3))
    nine_session.scribe.wait()
    picture = cv2.imread(str(tmp_path / "assembly-back.png"))
    back = nine_session.puzzle.pieces[5]
    colors = picture.reshape(-1, 3)
    shown = colors[(np.ptp(colors.astype(int), axis=1) > 0)]
    assert len(shown) > 0.5 * back.mask.sum(), "one piece in colour, the others grey"
    assert np.abs(shown.mean(0) - back.image[back.mask].mean(0)[::-1]).max() < 12
    nine_session.undo(1)
    nine_session.scribe.wait()
    assert not (tmp_path / "assembly-back.png").exists()
