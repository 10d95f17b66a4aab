"""What tests of suites need: methods without networks, a folder of small pictures, and jobs that run in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jigsawnet.config import SolveConfig
from jigsawnet.evaluation.suites import methods
from jigsawnet.evaluation.suites.methods import OURS, Method
from jigsawnet.evaluation.suites.runner import Launch
from jigsawnet.evaluation.suites.work import Job, run_job
from jigsawnet.io.images import write_png
from jigsawnet.types import UInt8Array


@pytest.fixture(autouse=True)
def without_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our method scores by the measured seam: these tests are not about weights."""
    monkeypatch.setitem(methods.METHODS, OURS, Method(OURS, SolveConfig(scorer="fit")))  # type: ignore[misc]


@pytest.fixture
def photos(tmp_path: Path, picture: UInt8Array) -> Path:
    """A folder with three small pictures."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, image in {"a.png": picture, "b.png": picture[::-1], "c.png": picture[:, ::-1]}.items():
        write_png(folder / name, image.copy())
    return folder


@pytest.fixture
def at_once() -> Launch:
    """Runs jobs in this process, one after the other; the warm-up is left out."""

    def launch(queues: Sequence[Sequence[Job]], workers: int, time_limit: float, tell: Callable[[], None]) -> None:
        for job in (job for queue in queues for job in queue if job.folder.name != "warm-up"):
            run_job(job)
            tell()

    return launch
