"""A small solved puzzle on the workbench, without a browser."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the workbench needs the extra web")

import httpx

from jigsawnet.config import SolveConfig
from jigsawnet.graph import build_graph
from jigsawnet.judging import Judge
from jigsawnet.pipeline import assemble, find_candidates
from jigsawnet.raster import ShapeBank
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Constraints, MatchGraph, Progress, Puzzle, no_progress
from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session


@dataclass(frozen=True)
class MemoryRun:
    """A run that writes nothing."""

    folder: Path
    puzzle: Puzzle
    bank: ShapeBank
    graph: MatchGraph
    assembly: Assembly

    def solve_on(
        self,
        constraints: Constraints,
        *,
        progress: Progress = no_progress,
        stop: Stop | None = None,
        on_snapshot: object = None,
    ) -> MemoryRun:
        assembly = assemble(
            self.puzzle, self.bank, self.graph, SolveConfig(), constraints=constraints, stop=stop, progress=progress
        )
        return dataclasses.replace(self, assembly=assembly)


def memory_run(puzzle: Puzzle) -> MemoryRun:
    """Solve in memory, joins scored by their fit."""
    config = SolveConfig()
    bank, alignments = find_candidates(puzzle, config)
    graph = build_graph(len(puzzle), alignments, Judge(puzzle, bank, "fit", alignments)(alignments).tolist())
    return MemoryRun(Path(), puzzle, bank, graph, assemble(puzzle, bank, graph, config))


@pytest.fixture(scope="session")
def solved_nine(nine_pieces: tuple[Puzzle, Assembly]) -> MemoryRun:
    """Nine pieces put together."""
    return memory_run(nine_pieces[0])


@pytest.fixture
def nine_session(solved_nine: MemoryRun, nine_pieces: tuple[Puzzle, Assembly], tmp_path: Path) -> Iterator[Session]:
    """A session of its own for each test, with the truth."""
    session = Session(dataclasses.replace(solved_nine, folder=tmp_path), nine_pieces[1])
    yield session
    session.close()


@contextmanager
def _served(session: Session) -> Iterator[httpx.Client]:
    bench = Workbench(session)
    bench.start()
    address = httpx.URL(bench.address)
    cookies = {f"jigsawnet-{address.port}": bench.token}
    with httpx.Client(base_url=f"http://127.0.0.1:{address.port}", cookies=cookies, timeout=600) as client:
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
