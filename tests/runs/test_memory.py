"""Memory: sizes as people write them, the estimate, and the limit."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.errors import ConfigError, MemoryLimitError
from jigsawnet.io import run_folder
from jigsawnet.match import MatchConfig, RetrievalConfig
from jigsawnet.runs import Request, memory, read_size, solve_run
from jigsawnet.runs.memory import estimate_bytes, show_size
from jigsawnet.types import Assembly, Puzzle


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4 * 2**30), ("512 mb", 2**29), ("1.5G", 3 * 2**29), ("800000", 800_000), ("2GiB", 2**31), ("64k", 2**16)],
)
def test_sizes_as_people_write_them(text: str, size: int) -> None:
    assert read_size(text) == size


@settings(deadline=None, max_examples=50)
@given(st.text(alphabet="0123456789.eEgGmMbBiI- x\n", max_size=12))
def test_any_text_is_a_size_or_a_sentence(text: str) -> None:
    try:
        assert read_size(text) > 0
    except ConfigError as error:
        assert "4GB or 512MB" in str(error)  # noqa: PT017


def test_sizes_are_shown_for_people() -> None:
    assert [show_size(size) for size in (300 * 2**20, 3 * 2**29)] == ["300 MB", "1.5 GB"]


def test_the_process_knows_what_it_holds() -> None:
    """Asked of a fresh process: in this one, memory that was given back may be taken again without a trace."""
    code = (
        "import numpy as np; from jigsawnet.runs.memory import resident_bytes; before = resident_bytes();"
        "taken = np.ones(256 * 2**20, np.uint8); print(before, resident_bytes() - before)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    before, grown = map(int, told.split())
    assert before > 10 * 2**20
    assert grown > 0.5 * 256 * 2**20


def test_a_puzzle_that_needs_more_is_refused_before_the_work(
    nine: Path, nine_pieces: tuple[Puzzle, Assembly], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "resident_bytes", lambda: 0)
    limit = estimate_bytes(nine_pieces[0]) - 1
    told: list[str] = []
    with pytest.raises(MemoryLimitError, match=r"The 9 pieces need about \d+ MB of memory, more than the limit of \d+ MB; "):
        solve_run(Request((nine,)), tmp_path, memory_limit=limit, context=Context(lambda stage, *_: told.append(stage)))
    assert set(told) == {"read"}
    assert [path.name.split("-")[0] for path in (tmp_path / "stages").iterdir()] == ["pieces"]
    assert solve_run(Request((nine,)), tmp_path, memory_limit=limit + 1).reused == ("pieces",)


def test_a_run_that_grows_too_large_ends_and_keeps_what_is_finished(
    nine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = 0
    monkeypatch.setattr(memory, "resident_bytes", lambda: held)

    def grow(stage: str, done: int, total: int) -> None:
        nonlocal held
        held = 2**40 if stage == "compose" else 0

    with pytest.raises(MemoryLimitError, match=r"holds 1024\.0 GB of memory, more than the limit of 2\.0 GB"):
        solve_run(Request((nine,)), tmp_path, memory_limit=2**31, context=Context(grow))
    assert not (tmp_path / "assembly.json").exists()
    monkeypatch.undo()
    assert solve_run(Request((nine,)), tmp_path).reused == ("pieces", "match", "score")


def test_pictures_are_refused_by_the_sizes_they_declare_before_they_are_read(
    nine: Path, nine_pieces: tuple[Puzzle, Assembly], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [piece.mask.size for piece in nine_pieces[0].pieces]
    needed = 10**6 + 4 * sum(sizes) + 8 * max(sizes)
    monkeypatch.setattr(memory, "resident_bytes", lambda: 10**6)
    monkeypatch.setattr(Image.Image, "load", lambda _: pytest.fail("a picture was read"))
    with pytest.raises(
        MemoryLimitError, match=r"Reading the pictures \(\d+ million pixels\) takes about .* raise --memory-limit"
    ):
        solve_run(Request((nine,)), tmp_path / "out", memory_limit=needed - 1)
    assert not (tmp_path / "out").exists()
    memory.MemoryGuard(needed).check_pictures(sizes)
    memory.MemoryGuard(None).check_pictures([10**12])


def test_a_saved_stage_is_refused_by_its_size_before_it_is_read(
    nine: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(undisturbed, tmp_path / "out")
    size = max(path.stat().st_size for path in (tmp_path / "out" / "stages").glob("pieces-*"))
    monkeypatch.setattr(memory, "resident_bytes", lambda: 1000)
    monkeypatch.setattr(run_folder, "read_arrays", lambda *_: pytest.fail("it was read"))
    with pytest.raises(MemoryLimitError, match=r"pieces-\w+\.npz takes \d+ MB of memory to be read, beyond the limit of"):
        solve_run(Request((nine,)), tmp_path / "out", memory_limit=size + 999)
    memory.MemoryGuard(size + 1000).check_file(tmp_path, size)


def test_the_estimate_counts_the_pairs_that_are_compared(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    piece = nine_pieces[0].pieces[0]
    many = Puzzle("many", tuple(replace(piece, idx=k, name=str(k)) for k in range(4000)))
    every = SolveConfig(match=MatchConfig(dense=replace(MatchConfig().dense, retrieval=RetrievalConfig(above=4000))))
    assert estimate_bytes(many, every) > 700 * 4000 * 3999 // 2
    assert estimate_bytes(many) < 0.75 * estimate_bytes(many, every)
    assert estimate_bytes(many, SolveConfig(matcher="zhang")) == estimate_bytes(many, every)
