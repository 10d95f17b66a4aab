"""A small solved puzzle on the workbench, without a browser."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the workbench needs the extra web")

import httpx

from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.io.pieces import write_pieces
from jigsawnet.pipeline import NOTHING_DECIDED
from jigsawnet.runs import Request, Run, open_run, solve_run
from jigsawnet.types import Assembly, Puzzle, sort_components
from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session


@pytest.fixture(scope="session")
def solved_nine(nine_pieces: tuple[Puzzle, Assembly], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of nine pieces put together; not to be changed."""
    folder = tmp_path_factory.mktemp("nine")
    write_pieces(folder / "pieces", nine_pieces[0])
    solve_run(Request(inputs=(folder / "pieces",)), folder / "out")
    return folder / "out"


@pytest.fixture(scope="session")
def nine_in(solved_nine: Path) -> Callable[[Path], Run]:
    """``nine_in(folder)``: the nine pieces put together, in a folder of their own."""

    def copy(folder: Path) -> Run:
        shutil.copytree(solved_nine, folder, dirs_exist_ok=True)
        return open_run(folder)

    return copy


def _solved_from(run: Run, candidates: Candidates) -> Run:
    corridor = run.corridor.changed(run.config, Context(), NOTHING_DECIDED)
    corridor.put("scored", dataclasses.replace(corridor.get("scored"), rows=candidates.best_first()), "other candidates")
    return dataclasses.replace(run, corridor=corridor).solve_on()


@pytest.fixture(scope="session")
def solved_from() -> Callable[[Run, Candidates], Run]:
    """``solved_from(run, candidates)``: the run as it would be if these were its scored candidates."""
    return _solved_from


@pytest.fixture
def nine_session(nine_in: Callable[[Path], Run], nine_pieces: tuple[Puzzle, Assembly], tmp_path: Path) -> Iterator[Session]:
    """A session of its own for each test, with the truth."""
    session = Session(nine_in(tmp_path), nine_pieces[1])
    yield session
    session.close()


@pytest.fixture
def three_pages(nine_in: Callable[[Path], Run], nine_pieces: tuple[Puzzle, Assembly], tmp_path: Path) -> Iterator[Session]:
    """The nine pieces as three pages of three, as a pile of three sheets would come out."""
    run, truth = nine_in(tmp_path), nine_pieces[1]
    across = sorted(range(9), key=lambda idx: float((truth.poses[idx] @ run.borders.center[idx].astype(float))[0]))
    parts = sort_components(across[k : k + 3] for k in (0, 3, 6))
    page_of = {idx: k for k, part in enumerate(parts) for idx in part}
    joins = tuple(join for join in run.assembly.joins if page_of[join.alignment.i] == page_of[join.alignment.j])
    session = Session(dataclasses.replace(run, assembly=Assembly(9, truth.poses, parts, joins, run.assembly.confidence)), truth)
    yield session
    session.close()


def let_in(address: str) -> httpx.Client:
    """A browser that has used the token up: it has the cookie, and is in the room."""
    answer = httpx.get(address, timeout=600)
    assert answer.status_code == 303
    room = httpx.URL(address).copy_with(query=None, path=answer.headers["location"])
    return httpx.Client(base_url=room, cookies=dict(answer.cookies), timeout=600)


@pytest.fixture(scope="session", name="let_in")
def _let_in() -> Callable[[str], httpx.Client]:
    return let_in


@contextmanager
def _served(session: Session) -> Iterator[httpx.Client]:
    bench = Workbench(session)
    bench.start()
    with let_in(bench.address) as client:
        yield client
    bench.stop()


@pytest.fixture
def client(nine_session: Session) -> Iterator[httpx.Client]:
    """A browser that has the cookie."""
    with _served(nine_session) as client:
        yield client


@pytest.fixture
def served() -> Callable[[Session], AbstractContextManager[httpx.Client]]:
    """``with served(session) as client``: a browser that has the cookie."""
    return _served
