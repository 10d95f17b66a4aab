"""``alignments.json`` keeps the candidates it is given, and refuses what breaks its format with one sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.geometry import SE2
from jigsawnet.io.assembly_json import read_candidates, read_choices, write_candidates
from jigsawnet.types import Alignment, Seam

NAMES = ("a.png", 'b "c".png', "日本.png", "d\udc80.png")
SHIFT = st.floats(-1e5, 1e5)
POSES = st.builds(SE2, st.floats(-math.pi, math.pi), SHIFT, SHIFT)
PAIRS = st.sampled_from([(i, j) for j in range(4) for i in range(j)])
CANDIDATES = st.lists(
    st.builds(lambda pair, pose, fit: Alignment(pair[0], pair[1], pose, fit), PAIRS, POSES, st.floats(0, 1)), max_size=4
)
ONE = Alignment(0, 1, SE2(0.5, 10.0, -0.25), 0.75, Seam(40.0, 0.5, 1.0, 0.2, 3.0))


def assert_same_pose(a: SE2, b: SE2) -> None:
    angle, distance = a.distance(b)
    assert angle < 1e-9
    assert distance < 1e-9


@settings(deadline=None, max_examples=25)
@given(CANDIDATES)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, candidates: list[Alignment]) -> None:
    path = tmp_path_factory.mktemp("round") / "alignments.json"
    write_candidates(path, candidates, NAMES)
    again = read_candidates(path, NAMES)
    assert [(a.i, a.j) for a in again] == [(a.i, a.j) for a in candidates]
    for a, b in zip(again, candidates, strict=True):
        assert a.fit == pytest.approx(b.fit, abs=1e-8)
        assert_same_pose(a.i_from_j, b.i_from_j)


def test_the_text_names_pieces_and_gives_one_line_to_each_join(tmp_path: Path) -> None:
    path = tmp_path / "alignments.json"
    write_candidates(path, [ONE, ONE], ("x", "y"))
    rows = [[0.87758256189, -0.479425538604, 10.0], [0.479425538604, 0.87758256189, -0.25], [0.0, 0.0, 1.0]]
    entry = {"i": "x", "j": "y", "i_from_j": rows, "fit": 0.75}
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == {"format": "jigsawnet/alignments", "version": 1, "alignments": [entry, entry]}
    assert [line.count('"fit"') for line in text.splitlines()].count(1) == 2


def test_what_the_composer_made_of_a_candidate_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "alignments.json"
    write_candidates(path, [ONE, ONE, ONE], ("x", "y"), ["chosen", None, "offered"])
    assert [choice for _, choice in read_choices(path, ("x", "y"))] == ["chosen", None, "offered"]
    assert len(read_candidates(path, ("x", "y"))) == 3
    path.write_text(path.read_text().replace("offered", "maybe"))
    with pytest.raises(FormatError, match="choice must be one of offered, chosen"):
        read_choices(path, ("x", "y"))


def test_other_numbers_turn_joins_round(tmp_path: Path) -> None:
    path = tmp_path / "alignments.json"
    write_candidates(path, [ONE], ("x", "y"))
    (again,) = read_candidates(path, ("z", "y", "x"))
    assert (again.i, again.j) == (1, 2)
    assert_same_pose(again.i_from_j, ONE.i_from_j.inverse())


def test_names_must_differ(tmp_path: Path) -> None:
    path = tmp_path / "alignments.json"
    write_candidates(path, [], ("x", "y"))
    assert read_candidates(path, ("x", "y")) == ()
    with pytest.raises(FormatError, match="name of its own"):
        read_candidates(path, ("x", "x"))


@pytest.mark.parametrize("pose", [SE2(0.0, math.nan, 0.0), SE2(0.0, 0.0, math.inf)])
def test_a_pose_that_is_not_finite_is_a_mistake_of_the_caller(tmp_path: Path, pose: SE2) -> None:
    path = tmp_path / "alignments.json"
    with pytest.raises(ValueError, match="not finite"):
        write_candidates(path, [Alignment(0, 1, pose, 0.5)], ("x", "y"))
    assert not path.exists()


def test_a_place_that_cannot_be_written_or_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "alignments.json"
    with pytest.raises(OutputError, match="missing"):
        write_candidates(path, [], ())
    with pytest.raises(InputError, match="missing"):
        read_candidates(path, ())


def good_json() -> dict[str, Any]:
    entry = {"i": "x", "j": "y", "i_from_j": [[1, 0, 5], [0, 1, 6], [0, 0, 1]], "fit": 0.5}
    return {"format": "jigsawnet/alignments", "version": 1, "alignments": [entry]}


def at_top(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.update({key: value})


def in_entry(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data["alignments"][0].update({key: value})


HOSTILE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no format": lambda data: data.pop("format"),
    "format of another file": at_top("format", "jigsawnet/assembly"),
    "later version": at_top("version", 2),
    "version as a truth value": at_top("version", True),
    "no list": lambda data: data.pop("alignments"),
    "list is an object": at_top("alignments", {"0": 1}),
    "entry is a number": at_top("alignments", [7]),
    "entry is null": at_top("alignments", [None]),
    "no name": lambda data: data["alignments"][0].pop("i"),
    "name is a number": in_entry("i", 0),
    "name is empty": in_entry("j", ""),
    "name is endless": in_entry("j", "y" * 10_000),
    "unknown piece": in_entry("j", "z"),
    "joined to itself": in_entry("j", "x"),
    "no pose": lambda data: data["alignments"][0].pop("i_from_j"),
    "pose is null": in_entry("i_from_j", None),
    "pose is ragged": in_entry("i_from_j", [[1, 0, 0], [0, 1], [0, 0, 1]]),
    "pose is 2x3": in_entry("i_from_j", [[1, 0, 0], [0, 1, 0]]),
    "pose holds text": in_entry("i_from_j", [["1", 0, 0], [0, 1, 0], [0, 0, 1]]),
    "pose is mirrored": in_entry("i_from_j", [[-1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "pose is scaled": in_entry("i_from_j", [[2, 0, 0], [0, 2, 0], [0, 0, 1]]),
    "pose is in perspective": in_entry("i_from_j", [[1, 0, 0], [0, 1, 0], [0.5, 0, 1]]),
    "pose is huge": in_entry("i_from_j", [[1, 0, 10**300], [0, 1, 0], [0, 0, 1]]),
    "no fit": lambda data: data["alignments"][0].pop("fit"),
    "fit above 1": in_entry("fit", 1.5),
    "fit below 0": in_entry("fit", -0.1),
    "fit is a truth value": in_entry("fit", True),
    "fit is text": in_entry("fit", "0.5"),
}


@pytest.mark.parametrize("spoil", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_breaks_the_format_is_refused_in_a_sentence_that_names_the_file(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], Any]
) -> None:
    path = tmp_path / "alignments.json"
    data = good_json()
    path.write_text(json.dumps(data))
    assert len(read_candidates(path, ("x", "y"))) == 1
    spoil(data)
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError, match=r"alignments\.json.*\.$"):
        read_candidates(path, ("x", "y"))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"null", b"[]", b"{", b'{"format": "jigsawnet/alignments"', b"\xff\xfe\x00", b"[" * 100_000,
        json.dumps(good_json()).replace("0.5", "NaN").encode(), json.dumps(good_json()).replace("0.5", "1e999").encode(),
        json.dumps(good_json()).replace("0.5", "9" * 5000).encode(),
    ],
    ids=["empty", "null", "list", "open", "cut off", "no UTF-8", "deep", "NaN", "infinite", "endless number"],
)  # fmt: skip
def test_what_is_no_such_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "alignments.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"alignments\.json"):
        read_candidates(path, ("x", "y"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["x", "y", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["i", "j", "i_from_j", "fit"]), inner),
    max_leaves=8,
)


@settings(deadline=None, max_examples=50)
@given(JSON)
def test_any_json_is_read_or_refused_but_never_crashes(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.mktemp("any") / "alignments.json"
    path.write_text(json.dumps({**good_json(), "alignments": value}))
    if value == []:
        assert read_candidates(path, ("x", "y")) == ()
    else:
        with pytest.raises(FormatError):
            read_candidates(path, ("x", "y"))
