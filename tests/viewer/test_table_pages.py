"""Pages on the table: turned, laid out, found again; and the files in the folder, which show what the table shows."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import pytest

from jigsawnet.edits import LayOutPages, Move, NamePage, Reject, TakeOff, TurnPage
from jigsawnet.errors import EditError
from jigsawnet.geometry import SE2
from jigsawnet.runs import open_run
from jigsawnet.viewer.session import Session


def _box(session: Session, page: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    borders, poses = session.borders, session.arrangement.poses
    points = np.concatenate([poses[idx] @ borders.points[borders.samples(idx)].astype(float) for idx in page])
    return points.min(0), points.max(0)


def _apart(session: Session) -> bool:
    boxes = [_box(session, page.pieces) for page in session.arrangement.pages]
    return all(
        bool(((boxes[b][0] > boxes[a][1]) | (boxes[a][0] > boxes[b][1])).any()) for a in range(len(boxes)) for b in range(a)
    )


def test_pages_begin_apart_and_a_page_that_is_turned_stays_apart(three_pages: Session) -> None:
    assert _apart(three_pages)
    page = three_pages.arrangement.pages[1].pieces
    for revision in range(3):
        three_pages.make(revision, TurnPage(page[0], math.pi / 2))
        assert _apart(three_pages)
        assert len(three_pages.arrangement.pages) == 3


def test_a_page_laid_against_another_is_joined_to_it_only_when_asked(three_pages: Session) -> None:
    truth, now = three_pages.truth, three_pages.arrangement
    assert truth is not None
    left, middle = sorted((page.pieces for page in now.pages), key=lambda page: float(_box(three_pages, page)[0][0]))[:2]
    move = now.poses[left[0]] @ truth.poses[left[0]].inverse()
    poses = {idx: move @ truth.poses[idx] for idx in middle}
    three_pages.make(0, Move(poses))
    assert len(three_pages.arrangement.pages) == 3, "nobody asked for it"
    three_pages.make(1, Move(poses), join=True)
    assert len(three_pages.arrangement.pages) == 2
    assert set(left) | set(middle) in [set(page.pieces) for page in three_pages.arrangement.pages]


def test_what_meets_nothing_is_not_joined(three_pages: Session) -> None:
    page = three_pages.arrangement.pages[0].pieces
    poses = {idx: SE2(0.0, 9000.0, 0.0) @ three_pages.arrangement.poses[idx] for idx in page}
    with pytest.raises(EditError, match="nothing to join"):
        three_pages.make(0, Move(poses), join=True)


def test_another_page_makes_room_for_a_piece(three_pages: Session) -> None:
    now = three_pages.arrangement
    first, second = now.pages[0].pieces, now.pages[1].pieces
    piece = first[0]
    three_pages.make(0, TakeOff((piece,)))
    places = three_pages.places.places(three_pages.arrangement, piece)
    place = next(place for place in places if place.beside in first)
    assert all(place.score >= 0.01 for place in places)
    shift = place.pose @ now.poses[second[0]].inverse()  # another page lies where the piece belongs
    three_pages.make(1, Move({idx: shift @ now.poses[idx] for idx in second}))
    place = next(place for place in three_pages.places.places(three_pages.arrangement, piece) if place.beside in first)
    three_pages.make(2, Move({piece: place.pose}, place.joins))
    assert piece in three_pages.arrangement.component_of(first[1])
    assert not set(second) & set(three_pages.arrangement.component_of(piece))
    assert _apart(three_pages)


def test_places_that_nothing_speaks_for_are_not_offered(three_pages: Session) -> None:
    import dataclasses

    from jigsawnet.viewer.places import PlaceFinder

    piece = three_pages.arrangement.pages[0].pieces[0]
    three_pages.make(0, TakeOff((piece,)))
    rows = three_pages.run.candidates
    poor = dataclasses.replace(rows, score=np.minimum(rows.score, 0.004))
    finder = PlaceFinder(poor, three_pages.borders, three_pages.pieces)
    assert finder.places(three_pages.arrangement, piece) == []
    assert finder.alternatives(three_pages.arrangement, piece) == []


def test_a_name_outlives_a_cut_and_a_solve(nine_session: Session) -> None:
    nine_session.make(0, NamePage(0, "  Letter "))
    weakest = min(nine_session.arrangement.joins, key=lambda pair: nine_session.arrangement.joins[pair].confidence)
    nine_session.make(1, Reject(*weakest))
    pages = nine_session.arrangement.pages
    assert [page.title for page in pages if len(page.pieces) == max(len(p.pieces) for p in pages)] == ["Letter"]
    nine_session.solve(2)
    nine_session.wait()
    assert "Letter" in [page.name for page in nine_session.arrangement.pages]


@pytest.mark.parametrize("name", ["x" * 10_000, "two\nlines", "a\0b"])
def test_a_bad_name_is_refused(three_pages: Session, name: str) -> None:
    with pytest.raises(EditError, match="one line of at most 200"):
        three_pages.make(0, NamePage(0, name))


def test_pages_in_rows_do_not_meet_and_pinned_ones_stay(three_pages: Session) -> None:
    now = three_pages.arrangement
    onto = {idx: now.poses[now.pages[0].pieces[0]] @ now.poses[now.pages[1].pieces[0]].inverse() @ now.poses[idx]
            for idx in now.pages[1].pieces}  # fmt: skip
    three_pages.make(0, Move(onto))
    assert not _apart(three_pages)
    three_pages.make(1, LayOutPages())
    assert _apart(three_pages)


def _shown(folder: Path) -> tuple[int, int, int]:
    """Pieces placed and components of ``assembly.json``, and the joins of ``report.html``."""
    data = json.loads((folder / "assembly.json").read_text())
    parts = [piece["component"] for piece in data["fragments"] if piece["component"] is not None]
    return len(parts), len(set(parts)), len(data["alignments"])


def test_files_show_what_the_table_shows_after_solve_on_and_back(nine_session: Session, tmp_path: Path) -> None:
    before = {name: (tmp_path / name).read_bytes() for name in ("assembly.json", "assembly.png", "poses.csv")}
    nine_session.make(0, TakeOff((4,)))
    nine_session.scribe.wait()
    now = nine_session.arrangement
    assert _shown(tmp_path) == (8, len(now.components), len(now.joins))
    report = json.loads((tmp_path / "report.json").read_text())
    assert any("corrected by hand" in sentence for sentence in report["warnings"])
    nine_session.solve(1)
    nine_session.wait()
    nine_session.scribe.wait()
    assert _shown(tmp_path)[0] == len(nine_session.arrangement.poses)
    nine_session.undo(2)
    nine_session.scribe.wait()
    assert _shown(tmp_path) == (8, len(now.components), len(now.joins))
    nine_session.undo(3)
    nine_session.scribe.wait()
    after = json.loads((tmp_path / "assembly.json").read_text())
    assert _shown(tmp_path)[:2] == (9, 1)
    for old, new in zip(json.loads(before["assembly.json"])["fragments"], after["fragments"], strict=True):
        assert np.allclose(old["world_from_fragment"], new["world_from_fragment"], atol=0.01)
    old, new = (cv2.imdecode(np.frombuffer(data, np.uint8), -1) for data in
                (before["assembly.png"], (tmp_path / "assembly.png").read_bytes()))  # fmt: skip
    assert old.shape == new.shape
    assert np.abs(old.astype(int) - new).mean() < 0.5


def test_files_that_are_older_than_the_edits_are_written_when_the_run_is_opened(nine_session: Session, tmp_path: Path) -> None:
    old = (tmp_path / "assembly.json").read_bytes()
    nine_session.make(0, TakeOff((4,)))
    nine_session.scribe.wait()
    (tmp_path / "assembly.json").write_bytes(old)
    (tmp_path / "report.json").unlink()  # as a killed program would leave it
    again = Session(open_run(tmp_path))
    again.scribe.wait()
    assert _shown(tmp_path)[0] == 8
    again.close()


def test_a_page_has_a_small_picture(client: httpx.Client, nine_session: Session) -> None:
    png = client.get("/api/pages/0.png").content
    picture = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)
    assert 60 < max(picture.shape[:2]) <= 168
    assert (picture[..., 3] > 200).mean() > 0.8, "the nine pieces fill their page"
    nine_session.make(0, TakeOff((0,)))
    assert client.get("/api/pages/0.png").status_code == 404
    assert client.get("/api/pages/99.png").status_code == 404
