"""The interface of the workbench, as the page uses it."""

from __future__ import annotations

import dataclasses
import io
import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from jigsawnet.geometry import SE2
from jigsawnet.io.edits_json import EDITS_FILE
from jigsawnet.runs import Run
from jigsawnet.viewer.session import Session

Served = Callable[[Session], AbstractContextManager[httpx.Client]]


def _edit(client: httpx.Client, revision: int, **edit: object) -> dict:  # type: ignore[type-arg]
    answer = client.post("/api/edits", json={"revision": revision, "edit": edit})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_the_state_has_all_that_the_page_shows(client: httpx.Client) -> None:
    state = client.get("/api/state").json()
    assert len(state["pieces"]) == 9
    assert state["components"] == [{"id": 0, "pieces": list(range(9))}]
    assert {"idx", "name", "width", "height", "outline", "pose", "component", "confidence", "pinned"} <= set(state["pieces"][0])
    assert all(8 <= len(piece["outline"]) <= 60 for piece in state["pieces"])
    assert all(len(join["seam"]) >= 2 and join["status"] == "found" for join in state["joins"])
    assert all(set(join) == {"i", "j", "confidence", "seam", "status"} for join in state["joins"])
    assert state["in_force"] == 0
    assert state["busy"] is False
    assert len(client.get("/api/state").content) < 1200 * len(state["pieces"])  # a thousand pieces: about a megabyte at most
    assert set(state["start"]) == {str(k) for k in range(9)}


def test_seams_lie_between_the_pieces_that_they_join(client: httpx.Client) -> None:
    state = client.get("/api/state").json()
    middle = {}
    for piece in state["pieces"]:
        theta, x, y = piece["pose"]
        u, v = np.mean(piece["outline"], axis=0)
        middle[piece["idx"]] = np.array([np.cos(theta) * u - np.sin(theta) * v + x, np.sin(theta) * u + np.cos(theta) * v + y])
    for join in state["joins"]:
        i, j, at = middle[join["i"]], middle[join["j"]], np.mean(join["seam"], axis=0)
        along = (at - i) @ (j - i) / ((j - i) @ (j - i))
        assert 0.0 < along < 1.0
        told = client.get(f"/api/joins/{join['i']}/{join['j']}").json()
        assert np.dot(told["normal"], j - i) > 0
        assert np.hypot(*told["normal"]) == pytest.approx(1.0, abs=1e-4)
        assert told["length_px"] > 4
        assert told["confidence"] == join["confidence"]


@pytest.mark.parametrize("size", [16, 64, 100])
def test_pictures_come_in_powers_of_two(client: httpx.Client, size: int) -> None:
    answer = client.get(f"/api/pieces/0.png?size={size}")
    picture = Image.open(io.BytesIO(answer.content))
    assert picture.mode == "RGBA"
    assert max(picture.size) == {16: 16, 64: 64, 100: 64}[size]
    again = client.get(f"/api/pieces/0.png?size={size}", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_a_picture_at_full_size_is_the_piece(client: httpx.Client, nine_session: Session) -> None:
    pixels = np.asarray(Image.open(io.BytesIO(client.get("/api/pieces/3.png").content)))
    piece = nine_session.puzzle.pieces[3]
    assert (pixels[..., :3][piece.mask] == piece.image[piece.mask]).all()
    assert ((pixels[..., 3] > 0) == piece.mask).all()


def test_a_piece_says_why_it_lies_there(client: httpx.Client) -> None:
    told = client.get("/api/pieces/4").json()
    assert any("neighbour" in line for line in told["why"])
    assert any("loop" in line for line in told["why"])
    assert told["joins"][0]["confidence"] >= told["joins"][-1]["confidence"]
    assert any(join["loops"] > 0 for join in told["joins"])


def test_joins_are_as_sure_as_the_assembly_makes_them(client: httpx.Client, nine_session: Session) -> None:
    sure = {pair: join.confidence for pair, join in nine_session.arrangement.joins.items()}
    told = {(join["i"], join["j"]): join["confidence"] for join in client.get("/api/state").json()["joins"]}
    assert told == pytest.approx(sure, abs=1e-4)


def test_a_piece_taken_off_finds_its_place_again(client: httpx.Client, nine_session: Session) -> None:
    home = nine_session.arrangement.poses[4]
    state = _edit(client, 0, kind="take_off", pieces=[4])
    assert state["pieces"][4]["pose"] is None
    places = client.get("/api/pieces/4/places").json()["places"]
    assert 1 <= len(places) <= 3
    assert [p["score"] for p in places] == sorted((p["score"] for p in places), reverse=True)
    theta, x, y = places[0]["pose"]
    assert (x, y) == pytest.approx((home.x, home.y), abs=6)
    assert len(places[0]["joins"]) >= 2
    near = [theta + 0.05, x + 9, y - 7]
    snapped = client.post("/api/snap", json={"pieces": [4], "pose": near}).json()
    assert snapped["pose"][1:] == pytest.approx([x, y], abs=8)
    state = _edit(client, 1, kind="move", poses={"4": snapped["pose"]}, joins=snapped["joins"])
    assert state["pieces"][4]["component"] == 0
    assert state["pieces"][4]["fixed_by_person"]
    assert {(j["i"], j["j"]) for j in state["joins"] if j["status"] == "accepted"} == {tuple(p) for p in snapped["joins"]}


def test_the_best_guess_of_a_piece_without_a_place_can_be_taken(client: httpx.Client, nine_session: Session) -> None:
    assert client.get("/api/guesses").json() == {"guesses": []}
    home = nine_session.arrangement.poses[4]
    _edit(client, 0, kind="take_off", pieces=[4])
    (guess,) = client.get("/api/guesses").json()["guesses"]
    assert guess["idx"] == 4
    assert guess["pose"] == guess["poses"]["4"]
    assert guess["pose"][1:] == pytest.approx([home.x, home.y], abs=6)
    assert set(guess["poses"]) == {"4"}
    assert 0.1 <= guess["probability"] <= 1
    state = _edit(client, 1, kind="move", poses=guess["poses"], joins=guess["joins"])
    assert state["pieces"][4]["component"] == 0
    assert client.get("/api/guesses").json() == {"guesses": []}


def test_a_guess_beside_a_piece_that_has_no_place_either_takes_both(client: httpx.Client, nine_session: Session) -> None:
    truth = nine_session.truth
    assert truth is not None
    _edit(client, 0, kind="take_off", pieces=list(range(9)))
    guesses = client.get("/api/guesses").json()["guesses"]
    assert len(guesses) == 9
    likely = [guess["probability"] for guess in guesses]
    assert likely == sorted(likely, reverse=True)
    best = guesses[0]
    assert set(best["poses"]) == {str(best["idx"]), str(best["beside"])}
    state = _edit(client, 1, kind="move", poses=best["poses"], joins=best["joins"])
    assert [len(component["pieces"]) for component in state["components"]] == [2]
    lie = nine_session.arrangement.relation(best["idx"], best["beside"])
    true = truth.poses[best["idx"]].inverse() @ truth.poses[best["beside"]]
    angle, distance = lie.distance(true, at=(60.0, 60.0))
    assert angle < 0.08
    assert distance < 10


def test_pieces_set_aside_and_rejected_joins_are_not_guessed(client: httpx.Client, nine_session: Session) -> None:
    _edit(client, 0, kind="take_off", pieces=[4])
    (guess,) = client.get("/api/guesses").json()["guesses"]
    client.post("/api/undo", json={"revision": 1})
    _edit(client, 2, kind="reject", i=min(4, guess["beside"]), j=max(4, guess["beside"]))
    if 4 in nine_session.arrangement.poses:
        _edit(client, 3, kind="take_off", pieces=[4])
    poses = nine_session.arrangement.poses
    wrong = SE2(*guess["ground"]).inverse() @ SE2(*guess["pose"])
    for other in client.get("/api/guesses").json()["guesses"]:
        if other["idx"] == 4 and guess["beside"] in poses:
            angle, distance = (poses[guess["beside"]].inverse() @ SE2(*other["pose"])).distance(wrong, at=(60.0, 60.0))
            assert angle > 0.08 or distance > 10, "not even by way of another piece"
    _edit(client, nine_session.revision, kind="set_aside", pieces=[4])
    assert client.get("/api/guesses").json() == {"guesses": []}


def test_far_from_everything_nothing_snaps(client: httpx.Client) -> None:
    assert client.post("/api/snap", json={"pieces": [4], "pose": [0, 9000, 9000]}).json()["pose"] is None


def test_a_piece_laid_where_its_border_runs_along_others_is_joined_to_them(client: httpx.Client, nine_session: Session) -> None:
    home = nine_session.arrangement.poses[4]
    _edit(client, 0, kind="take_off", pieces=[4])
    state = _edit(client, 1, kind="move", poses={"4": [home.theta, home.x, home.y]})
    assert state["pieces"][4]["component"] == 0


def test_an_edit_on_an_old_state_is_refused_with_the_new_revision(client: httpx.Client) -> None:
    _edit(client, 0, kind="pin", pieces=[1])
    answer = client.post("/api/edits", json={"revision": 0, "edit": {"kind": "pin", "pieces": [2]}})
    assert answer.status_code == 409
    assert answer.json()["revision"] == 1
    assert client.get("/api/state").json()["in_force"] == 1


def test_every_edit_is_on_the_disk_when_the_answer_comes_and_undone_without_a_trace(
    client: httpx.Client, nine_session: Session
) -> None:
    path = nine_session.run.folder / EDITS_FILE
    start = path.read_bytes()
    before = client.get("/api/state").json()
    _edit(client, 0, kind="reject", i=0, j=before["joins"][0]["j"])
    assert len(json.loads(path.read_text())["edits"]) == 1
    _edit(client, 1, kind="set_aside", pieces=[8])
    _edit(client, 2, kind="move", poses={"5": [1.0, 500.0, 500.0]})
    again = Session(nine_session.run)  # as after a crash
    assert again.arrangement == nine_session.arrangement
    for revision in (3, 4, 5):
        state = client.post("/api/undo", json={"revision": revision}).json()
    assert state["can_undo"] is False
    assert path.read_bytes() == start
    assert state["pieces"] == before["pieces"]
    for revision in (6, 7, 8):
        state = client.post("/api/redo", json={"revision": revision}).json()
    assert state["can_redo"] is False
    assert nine_session.arrangement == again.arrangement
    assert client.post("/api/redo", json={"revision": 9}).status_code == 422


def test_the_truth_says_what_is_right(client: httpx.Client, nine_session: Session) -> None:
    truth = client.get("/api/truth").json()
    assert all(truth["right"].values())
    for idx, pose in nine_session.arrangement.poses.items():
        assert truth["poses"][str(idx)][1:] == pytest.approx([pose.x, pose.y], abs=6)
    nine_session.truth = None
    assert client.get("/api/truth").status_code == 404


def test_exports_show_the_table_as_it_is(client: httpx.Client, nine_session: Session) -> None:
    _edit(client, 0, kind="take_off", pieces=[0])
    data = json.loads(client.get("/api/export/assembly.json").text)
    assert data["fragments"][0]["world_from_fragment"] is None
    assert "attachment" in client.get("/api/export/assembly.json").headers["content-disposition"]
    picture = Image.open(io.BytesIO(client.get("/api/export/assembly.png").content))
    assert picture.mode == "RGBA"
    svg = client.get("/api/export/assembly.svg").text
    assert svg.count("<image") == 9
    assert client.get("/api/export/edits.json").status_code == 404


def test_what_the_disk_refuses_is_not_taken(client: httpx.Client, nine_session: Session, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    nine_session.run = dataclasses.replace(nine_session.run, folder=gone)
    answer = client.post("/api/edits", json={"revision": 0, "edit": {"kind": "pin", "pieces": [2]}})
    assert answer.status_code == 500
    assert answer.json()["error"]
    assert nine_session.revision == 0
    assert nine_session.arrangement.pinned == frozenset()


def test_a_run_that_may_only_be_read_is_shown_and_not_changed(
    nine_in: Callable[[Path], Run], served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = nine_in(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK))
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with served(Session(run)) as client:
        state = client.get("/api/state").json()
        assert state["read_only"] is True
        assert len(state["pieces"]) == 9
        for path, body in (("edits", {"edit": {"kind": "pin", "pieces": [1]}}), ("undo", {}), ("solve", {})):
            answer = client.post(f"/api/{path}", json={"revision": 0, **body})
            assert answer.status_code == 422
            assert "may only be read" in answer.json()["error"]
        assert client.get("/api/export/assembly.png").status_code == 200
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
