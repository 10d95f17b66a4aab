"""``review.json``: what is written is read back, and nonsense is refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jigsawnet.edits.cutting import BrushOff, BrushOn, Discard, Merge, Split
from jigsawnet.errors import FormatError
from jigsawnet.io.review_json import load_review, parse_correction, save_review

ALL = (
    Discard("a.png", ((1.5, 2.0),)),
    Merge("scan.pdf page 3", ((1.0, 2.0), (3.0, 4.0))),
    Split("ü \udcff.png", ((0.0, 0.0), (9.0, 9.0))),
    BrushOn("a.png", ((0.0, 0.0),), 4.5, None),
    BrushOff("a.png", ((0.0, 0.0),), 4.5, (7.0, 8.0)),
)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    save_review(tmp_path / "review.json", ALL)
    assert load_review(tmp_path / "review.json") == ALL
    save_review(tmp_path / "review.json", ())
    assert load_review(tmp_path / "review.json") == ()


@pytest.mark.parametrize(
    "entry",
    [
        None, [], {}, {"kind": "explode"}, {"kind": ["discard"]}, {"kind": "discard", "scan": "a.png"},
        {"kind": "discard", "scan": "", "at": [[0, 0]]}, {"kind": "discard", "scan": 3, "at": [[0, 0]]},
        {"kind": "discard", "scan": "a", "at": []}, {"kind": "discard", "scan": "a", "at": [[0]]},
        {"kind": "discard", "scan": "a", "at": [0, 0]}, {"kind": "merge", "scan": "a", "at": [["x", 0]]},
        {"kind": "split", "scan": "a", "line": [[float("nan"), 0]]}, {"kind": "split", "scan": "a", "line": [[1e300, 0]]},
        {"kind": "split", "scan": "a", "line": [[0, 0]] * 6000}, {"kind": "brush-on", "scan": "a", "line": [[0, 0]]},
        {"kind": "brush-on", "scan": "a", "line": [[0, 0]], "radius": 0},
        {"kind": "brush-on", "scan": "a", "line": [[0, 0]], "radius": 1e6},
        {"kind": "brush-off", "scan": "a", "line": [[0, 0]], "radius": 2, "at": [1]},
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_a_sentence(entry: Any) -> None:
    with pytest.raises(FormatError, match=r"^here.*\.$"):
        parse_correction(entry, "here")


@pytest.mark.parametrize("corrections", [None, {}, "x", [[]]])
def test_a_file_without_a_list_is_refused(tmp_path: Path, corrections: Any) -> None:
    path = tmp_path / "review.json"
    path.write_text(json.dumps({"format": "jigsawnet/review", "version": 1, "corrections": corrections}))
    with pytest.raises(FormatError, match=r"review\.json"):
        load_review(path)
