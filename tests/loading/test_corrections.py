"""Scans cut out as a person has corrected them: by the file alone, from what was found before, and as other stages see it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jigsawnet.cli import main_code
from jigsawnet.edits.cutting import BrushOn, Correction, Discard, Merge, Split
from jigsawnet.errors import FormatError
from jigsawnet.io.review_json import save_review
from jigsawnet.loading import Loaded, Memory, ScanInput, load_input
from jigsawnet.runs import Request
from jigsawnet.runs.request import pieces_key, request_from_plain, request_to_plain
from jigsawnet.types import Assembly, Puzzle
from jigsawnet_bench.scans.lay import SheetConfig, make_scans

NAME = "box.png"


@pytest.fixture(scope="module")
def scan(nine_pieces: tuple[Puzzle, Assembly], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pieces on one scan."""
    config = SheetConfig(width=560, height=460, color=(40, 60, 120))
    (page,), _ = make_scans(nine_pieces[0].pieces[:4], config, np.random.default_rng(1))
    path = tmp_path_factory.mktemp("scan") / NAME
    Image.fromarray(page).save(path)
    return path


@pytest.fixture(scope="module")
def seen(scan: Path) -> tuple[Loaded, Memory]:
    """What is found on it, and kept."""
    memory = Memory()
    return load_input([scan], memory=memory), memory


def middles(memory: Memory) -> list[tuple[float, float]]:
    """A point in each piece."""
    points = []
    for piece in memory.scans[0].front.result.pieces:
        rows, columns = np.nonzero(piece.mask)
        k = len(rows) // 2
        points.append((float(piece.corner[0] + columns[k]), float(piece.corner[1] + rows[k])))
    return points


def corrected(folder: Path, corrections: list[Correction]) -> ScanInput:
    save_review(folder / "review.json", corrections)
    return ScanInput(corrections=folder / "review.json")


def test_corrections_are_replayed_and_numbers_stay(scan: Path, seen: tuple[Loaded, Memory], tmp_path: Path) -> None:
    points = middles(seen[1])
    options = corrected(tmp_path, [Discard(NAME, (points[1],)), Discard("another.png", (points[2],))])
    loaded = load_input([scan], options)
    assert loaded.puzzle.names() == ("box-001.png", "box-003.png", "box-004.png")
    before = seen[0].puzzle.pieces
    for piece, old in zip(loaded.puzzle.pieces, (before[0], before[2], before[3]), strict=True):
        assert np.array_equal(piece.image, old.image)
        assert np.array_equal(piece.mask, old.mask)


def test_what_was_found_before_gives_the_same_pieces(scan: Path, seen: tuple[Loaded, Memory], tmp_path: Path) -> None:
    x, y = middles(seen[1])[0]
    options = corrected(tmp_path, [Split(NAME, ((x - 200, y), (x + 200, y))), BrushOn(NAME, ((x, y), (x + 90, y)), 5)])
    anew, kept = load_input([scan], options), load_input([scan], options, memory=seen[1])
    seen[1].scans[0] = seen[1].scans[0].let_go()
    read_again = load_input([scan], options, memory=seen[1])
    assert len(anew.puzzle) > 4
    for other in (kept, read_again):
        assert other.puzzle.names() == anew.puzzle.names()
        for piece, twin in zip(anew.puzzle.pieces, other.puzzle.pieces, strict=True):
            assert np.array_equal(piece.mask, twin.mask)
            assert np.array_equal(piece.image, twin.image)
        assert np.array_equal(other.checks[0].picture, anew.checks[0].picture)


def test_a_correction_that_finds_nothing_is_passed_over_and_said(scan: Path, tmp_path: Path) -> None:
    options = corrected(tmp_path, [Discard(NAME, ((1.0, 1.0),)), Merge(NAME, ((1.0, 1.0), (2.0, 2.0)))])
    loaded = load_input([scan], options)
    assert len(loaded.puzzle) == 4
    assert sum("was passed over: No piece lies at (1, 1)" in sentence for sentence in loaded.puzzle.warnings) == 2


def test_what_the_pieces_are_saved_under_follows_the_corrections(scan: Path, tmp_path: Path) -> None:
    plain = Request((scan,))
    options = corrected(tmp_path, [])
    first = pieces_key(Request((scan,), options))
    corrected(tmp_path, [Discard(NAME, ((1.0, 1.0),))])
    assert len({pieces_key(plain), first, pieces_key(Request((scan,), options))}) == 3
    request = Request((scan,), options)
    assert request_from_plain(json.loads(json.dumps(request_to_plain(request), default=str)), "here") == request


def test_cut_takes_corrections_and_refuses_a_damaged_file(
    scan: Path, seen: tuple[Loaded, Memory], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corrected(tmp_path, [Discard(NAME, (middles(seen[1])[0],))])
    assert main_code(["cut", str(scan), "-o", str(tmp_path / "out"), "--corrections", str(tmp_path / "review.json")]) == 0
    names = [piece["name"] for piece in json.loads((tmp_path / "out" / "cut.json").read_text())["pieces"]]
    assert names == ["box-002.png", "box-003.png", "box-004.png"]
    (tmp_path / "review.json").write_text("{}")
    with pytest.raises(FormatError, match="of another kind"):
        load_input([scan], ScanInput(corrections=tmp_path / "review.json"))
