"""The page of cases, asked directly: files come in bounds, cases lie apart, one thing at a time, nothing leads out."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import httpx
import pytest

from jigsawnet.edits import Pin
from jigsawnet.errors import OutputError
from jigsawnet.io.edits_json import EDITS_FILE, save_edits
from jigsawnet.io.replay import Replay
from jigsawnet.runs import open_run
from jigsawnet.runs.table import edits_of
from jigsawnet.types import Constraints, Puzzle
from jigsawnet.viewer.home.cases import Cases, own_folder
from jigsawnet.viewer.home.intake import IntakeLimits
from jigsawnet.viewer.home.serve import Home
from jigsawnet.viewer.home.table import OLD_EDITS, decide


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(Cases(tmp_path / "cases"), lambda _: nullcontext(), intake=IntakeLimits(file_bytes=100_000, files=3))
    home.start()
    yield home
    home.stop()


@pytest.fixture
def client(home: Home, let_in: Callable[[str], httpx.Client]) -> Iterator[httpx.Client]:
    with let_in(home.address) as client:
        yield client


def begin(client: httpx.Client, name: str, size: int, **more: str) -> httpx.Response:
    return client.post("/api/files", json={"name": name, "size": size, **more})


def put(client: httpx.Client, name: str, data: bytes, **more: str) -> httpx.Response:
    """A whole file in two pieces."""
    begun = begin(client, name, len(data), **more)
    if begun.status_code != 201:
        return begun
    way, half = f"/api/files/{begun.json()['case']}/{begun.json()['ticket']}", len(data) // 2
    client.post(f"{way}?at=0", content=data[:half])
    return client.post(f"{way}?at={half}", content=data[half:])


@pytest.fixture
def png(solved_nine: Path) -> bytes:
    return next((solved_nine.parent / "pieces").glob("*.png")).read_bytes()


def test_a_stranger_gets_nothing(home: Home) -> None:
    base = f"http://127.0.0.1:{httpx.URL(home.address).port}"
    for path in ("/", "/api/cases", "/case/a/", "/static/home.js"):
        assert httpx.get(base + path, timeout=600).status_code == 401
    assert httpx.post(base + "/api/files", json={"name": "a.png", "size": 3}, timeout=600).status_code == 401


def test_another_page_cannot_ask_for_anything(client: httpx.Client) -> None:
    assert client.post("/api/end", headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.get("/api/cases", headers={"Host": "evil.example"}).status_code == 421


def test_files_come_in_pieces_under_clean_names(client: httpx.Client, png: bytes, tmp_path: Path) -> None:
    assert put(client, "../../a.png", png).json() == {"name": "_.._a.png"}
    (case,) = client.get("/api/cases").json()
    assert put(client, "_.._a.png", png, case=case["name"]).json() == {"name": "_.._a (2).png"}
    assert put(client, "bg_color.txt", b"0 0 0\n", case=case["name"], folder="../x").status_code == 200
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    inside = f"cases/{case['name']}/scans"
    assert files == sorted([f"{inside}/_.._a (2).png", f"{inside}/_.._a.png", f"{inside}/_x/bg_color.txt"])
    answer = begin(client, "b.png", 5, case=case["name"])
    assert answer.status_code == 422
    assert "at most 3 files" in answer.json()["error"]


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [
        ("a.txt", 5, "another kind"),
        ("bg_color.txt", 5, "another kind"),
        ("a.png", 0, "empty"),
        ("a.png", 100_001, "larger than"),
    ],
)
def test_what_cannot_be_used_is_refused_before_it_comes(
    client: httpx.Client, tmp_path: Path, name: str, size: int, words: str
) -> None:
    answer = begin(client, name, size)
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert not (tmp_path / "cases").exists()


def test_what_is_no_picture_or_does_not_come_whole_leaves_nothing(client: httpx.Client, png: bytes, tmp_path: Path) -> None:
    for data in (b"text, not a picture", png[:12]):
        assert put(client, "a.png", data).status_code == 422
    begun = begin(client, "a.png", 10).json()
    way = f"/api/files/{begun['case']}/{begun['ticket']}"
    assert client.post(f"{way}?at=3", content=b"abc").status_code == 422
    assert client.post(f"{way}?at=0", content=b"abc").status_code == 422, "it was given up"
    begun = begin(client, "a.png", 10).json()
    assert client.post(f"/api/files/{begun['case']}/{begun['ticket']}?at=0", content=b"x" * 11).status_code == 422
    assert client.post(f"/api/files/{begun['case']}/{begun['ticket']}?at=0", content=b"x" * 2**21).status_code == 413
    assert list((tmp_path / "cases").iterdir()) == []


@pytest.mark.parametrize("name", ["%2e%2e", "..%2f..", "nothing", "a%00b", "%5c..", ".hidden", "x" * 5000])
def test_no_name_leads_out(client: httpx.Client, name: str) -> None:
    for path in (f"/case/{name}/", f"/case/{name}/api/state", f"/api/cases/{name}/thumb.jpg"):
        assert client.get(path).status_code in (400, 404, 410)
    for path in (f"/api/cases/{name}/look", f"/api/cases/{name}/open"):
        assert client.post(path).status_code in (400, 404, 405)


def test_there_is_nothing_to_solve_or_to_correct_before_something_was_found(client: httpx.Client) -> None:
    assert client.post("/api/solve").status_code == 422
    assert client.get("/api/review").status_code == 404
    assert client.post("/api/review/undo", json={"revision": 0}).status_code == 422


def test_one_case_at_a_time_lies_on_the_workbench(client: httpx.Client, home: Home, solved_nine: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "cases" / name / "scans").mkdir(parents=True)
        shutil.copytree(solved_nine, tmp_path / "cases" / name / "run")
        shutil.copy(next((solved_nine.parent / "pieces").glob("*.png")), tmp_path / "cases" / name / "scans")
    assert {(case["name"], case["solved"]) for case in client.get("/api/cases").json()} == {("one", True), ("two", True)}
    assert client.get("/api/cases/one/thumb.jpg").content.startswith(b"\xff\xd8")
    assert client.post("/api/cases/one/open").json()["case"] == "one"
    assert len(client.get("/case/one/api/state").json()["pieces"]) == 9
    assert "Workbench" in client.get("/case/one/").text
    assert client.post("/api/cases/two/open").status_code == 200
    assert client.get("/case/one/api/state").status_code == 410
    assert client.get("/case/two/api/state").status_code == 200
    home.desk.table.session._stop = object()  # type: ignore[union-attr,assignment] - as if it were solving
    assert client.post("/api/cases/one/open").status_code == 409
    assert client.post("/api/leave").status_code == 409
    home.desk.table.session._stop = None  # type: ignore[union-attr]
    assert client.post("/api/leave").json()["phase"] == "empty"


def test_cases_lie_in_a_folder_of_the_person(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert own_folder() == tmp_path / "jigsawnet" / "cases"
    monkeypatch.setattr("sys.platform", "win32")
    assert own_folder() == tmp_path / "jigsawnet" / "cases"


def _dropped(cases: Path, name: str, solved_nine: Path) -> Path:
    """A case with the nine pieces as a folder, not solved."""
    shutil.copytree(solved_nine.parent / "pieces", cases / name / "scans" / "nine")
    return cases / name


def test_reading_is_stopped_between_two_steps(
    client: httpx.Client, home: Home, solved_nine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_for_ever(inputs: object, options: object, progress: Callable[[str, int, int], None], memory: object) -> None:
        while True:
            progress("cut", 1, 2)

    monkeypatch.setattr("jigsawnet.viewer.home.desk.load_input", read_for_ever)
    _dropped(tmp_path / "cases", "one", solved_nine)
    assert client.post("/api/cases/one/look").json()["phase"] == "reading"
    assert client.post("/api/cases/one/look").status_code == 409
    assert client.post("/api/stop").status_code == 202
    home.desk.wait()
    state = client.get("/api/desk").json()
    assert (state["phase"], state["error"]) == ("empty", "Stopped.")


def test_a_run_that_another_workbench_has_is_not_solved(
    solved_nine: Path, tmp_path: Path, let_in: Callable[[str], httpx.Client]
) -> None:
    def taken(_: Path) -> AbstractContextManager[None]:
        raise OutputError("The workbench is open already.")

    home = Home(Cases(tmp_path / "cases"), taken)
    home.start()
    _dropped(tmp_path / "cases", "one", solved_nine)
    with let_in(home.address) as client:
        client.post("/api/cases/one/look")
        home.desk.wait()
        assert client.get("/api/review").json()["n_pieces"] == 9
        assert client.get("/api/review/pieces/8.png").content.startswith(b"\x89PNG")
        assert client.get("/api/review/pieces/9.png").status_code == 404
        assert client.post("/api/solve").status_code == 202
        home.desk.wait()
        state = client.get("/api/desk").json()
    assert (state["phase"], state["error"], state["open"]) == ("found", "The workbench is open already.", False)
    home.stop()


def test_edits_of_pieces_that_are_gone_are_laid_aside(solved_nine: Path, tmp_path: Path) -> None:
    folder = _dropped(tmp_path / "cases", "one", solved_nine)
    shutil.copytree(solved_nine, folder / "run")
    run = open_run(folder / "run")
    start, names = edits_of(run), run.puzzle.names()
    save_edits(run.folder, start.added(Pin((3,))), names)
    case = Cases(tmp_path / "cases").find("one")
    assert case is not None
    kept = Puzzle("all", run.puzzle.pieces)
    assert decide(case, Replay(folder / "run" / EDITS_FILE), kept).pinned
    fewer = Puzzle("fewer", tuple(dataclasses.replace(piece, idx=k) for k, piece in enumerate(run.puzzle.pieces[4:])))
    assert decide(case, Replay(folder / "run" / EDITS_FILE), fewer) == Constraints()
    assert not (folder / "run" / EDITS_FILE).exists()
    assert (folder / "run" / OLD_EDITS).exists()
