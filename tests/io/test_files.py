"""Files are read within bounds and written whole, and never through a link below the folder that was named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.geometry import SE2
from jigsawnet.io.files import make_folder, read_text, write_stream, write_text
from jigsawnet.io.result_files import write_report
from jigsawnet.types import BestGuess, GuessedPlace, OtherPlace, RunReport, StageReport


def tree(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() if p.is_file() else "" for p in sorted(folder.rglob("*"))}


def test_text_round_trip_keeps_line_ends_and_leaves_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "größe.txt"
    write_text(path, "old")
    write_text(path, "ä\nb\n")
    assert path.read_bytes() == "ä\nb\n".encode()
    assert read_text(path) == "ä\nb\n"
    assert list(tmp_path.iterdir()) == [path]


def test_read_text_drops_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfhello")
    assert read_text(tmp_path / "a.txt") == "hello"


def test_read_text_explains_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc\xff")
    with pytest.raises(FormatError, match=r"a\.txt is not a UTF-8 text file \(byte 3"):
        read_text(path)
    with pytest.raises(FormatError, match="too large"):
        read_text(path, max_bytes=3)
    for wrong in (tmp_path, tmp_path / "absent", path / "below", tmp_path / "nul\0"):
        with pytest.raises(InputError, match="is not a file"):
            read_text(wrong)


def test_write_text_below_a_file_or_onto_a_folder_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    before = tree(tmp_path)
    for wrong in (tmp_path / "file" / "a.txt", tmp_path / "folder", tmp_path / "absent" / "a.txt", tmp_path / "nul\0"):
        with pytest.raises(OutputError, match="cannot be written"):
            write_text(wrong, "text")
    assert tree(tmp_path) == before


def test_no_link_below_the_folder_named_is_written_through(tmp_path: Path) -> None:
    out, away = tmp_path / "out", tmp_path / "away"
    for folder in (out / "deep", away / "deep"):
        folder.mkdir(parents=True)
    _link(out / "sub", away)
    _link(out / ".jigsawnet-0", away)
    _link(tmp_path / "named", out)
    for deeper in ("sub", "sub/deep"):
        with pytest.raises(OutputError, match="nothing is written through links"):
            write_stream(out / deeper / "a.txt", lambda stream: stream.write(b"x"), out)
        with pytest.raises(OutputError, match="nothing is written through links"):
            make_folder(out / deeper / "new", out)
    with pytest.raises(OutputError, match="nothing is written through links"):
        write_text(out / ".jigsawnet-0" / "a.txt", "x")
    assert tree(away) == {"deep": ""}
    write_stream(tmp_path / "named" / "deep" / "a.txt", lambda stream: stream.write(b"x"), tmp_path / "named")
    assert (out / "deep" / "a.txt").read_text() == "x", "the folder that was named may be a link itself"


def _link(path: Path, target: Path) -> None:
    try:
        path.symlink_to(target, target_is_directory=True)
    except OSError:
        pytest.skip("the system has no links")


def test_report_is_plain_json(tmp_path: Path) -> None:
    stages = (StageReport("match", 1.25, {"candidates": 66}), StageReport("score", 0.5, {"mean": float("nan")}))
    config = {"path": tmp_path, "sizes": (np.int64(3), np.float64(0.5)), "inner": {"kinds": {"b", "a"}}, "none": None}
    other = OtherPlace((1, 2), 1, 0, SE2(0.5, 10.0, -2.0), 0.75, 0.8)
    guess = BestGuess(2, GuessedPlace(0, SE2(0.5, 1.0, 2.0), 0.4), GuessedPlace(1, SE2(0.0, 3.0, 4.0), 0.1))
    alone = BestGuess(1, GuessedPlace(2, SE2(0.0, 5.0, 6.0), 0.2), None)
    report = RunReport("1.2.3", "p\udc80", 7, stages, ("one piece is empty",), config, 2.5, (other,), (guess, alone))
    write_report(tmp_path / "report.json", report, ("a", "b", "c"))
    assert json.loads((tmp_path / "report.json").read_text()) == {
        "format": "jigsawnet/report",
        "version": 1,
        "jigsawnet": "1.2.3",
        "puzzle": "p\udc80",
        "seed": 7,
        "total_seconds": 2.5,
        "stages": [
            {"name": "match", "seconds": 1.25, "counts": {"candidates": 66}},
            {"name": "score", "seconds": 0.5, "counts": {"mean": None}},
        ],
        "warnings": ["one piece is empty"],
        "other_places": [
            {
                "fragments": ["b", "c"],
                "fragment": "b",
                "beside": "a",
                "beside_from_fragment": [0.5, 10.0, -2.0],
                "score": 0.75,
                "chosen_score": 0.8,
            }
        ],
        "best_guesses": [
            {
                "fragment": "c",
                "beside": "a",
                "beside_from_fragment": [0.5, 1.0, 2.0],
                "probability": 0.4,
                "runner_up": {"beside": "b", "beside_from_fragment": [0.0, 3.0, 4.0], "probability": 0.1},
            },
            {"fragment": "b", "beside": "c", "beside_from_fragment": [0.0, 5.0, 6.0], "probability": 0.2, "runner_up": None},
        ],
        "config": {"path": str(tmp_path), "sizes": [3, 0.5], "inner": {"kinds": ["a", "b"]}, "none": None},
    }
