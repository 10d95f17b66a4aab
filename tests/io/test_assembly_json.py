"""``assembly.json`` keeps what it is given, and refuses what breaks the contract with one sentence."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.errors import FormatError, JigsawNetError
from jigsawnet.geometry import SE2
from jigsawnet.io.assembly_json import assembly_to_json, read_assembly, write_assembly
from jigsawnet.types import Alignment, Assembly, Join

UNIT = st.floats(0, 1)
SHIFT = st.floats(-1e5, 1e5)
POSE = st.builds(SE2, st.floats(-math.pi, math.pi), SHIFT, SHIFT)
NAMES = ("a.png", "b.png", 'ç "d".png', "e.png")


@st.composite
def assemblies(draw: st.DrawFn) -> Assembly:
    groups: dict[int, list[int]] = {}
    for idx in range(len(NAMES)):
        groups.setdefault(draw(st.integers(0, 3)), []).append(idx)
    groups.pop(3, None)
    components = tuple(tuple(g) for g in sorted(groups.values(), key=len, reverse=True))
    placed = [idx for group in components for idx in group]
    pairs = draw(st.lists(st.sampled_from([(i, j) for j in range(4) for i in range(j)]), max_size=3))
    joins = tuple(Join(Alignment(i, j, draw(POSE), fit=5.0), draw(UNIT)) for i, j in pairs)
    confidence = {idx: draw(UNIT) for idx in placed if draw(st.booleans())}
    return Assembly(len(NAMES), {idx: draw(POSE) for idx in placed}, components, joins, confidence)


def assert_same_pose(a: SE2, b: SE2) -> None:
    angle, distance = a.distance(b)
    assert angle < 1e-9
    assert distance < 1e-9


@settings(deadline=None, max_examples=50)
@given(assemblies())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, assembly: Assembly) -> None:
    path = tmp_path_factory.mktemp("round") / "assembly.json"
    write_assembly(path, assembly, NAMES)
    again, names = read_assembly(path)
    assert names == NAMES
    assert again.components == assembly.components
    assert again.confidence == pytest.approx(dict(assembly.confidence), abs=1e-9)
    assert set(again.poses) == set(assembly.poses)
    for idx, pose in assembly.poses.items():
        assert_same_pose(again.poses[idx], pose)
    for a, b in zip(again.joins, assembly.joins, strict=True):
        assert (a.alignment.i, a.alignment.j) == (b.alignment.i, b.alignment.j)
        assert a.score == pytest.approx(b.score, abs=1e-9)
        assert_same_pose(a.alignment.i_from_j, b.alignment.i_from_j)


SMALL = Assembly(
    3,
    {0: SE2.identity(), 1: SE2(0.5, 10.0, -0.25)},
    ((0, 1),),
    (Join(Alignment(0, 1, SE2(0.5, 10.0, -0.25), fit=1.0), 0.75),),
    {0: 1.0},
)


def small_json() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(assembly_to_json(SMALL, ("x", "y", "z")))
    return data


def write_json(tmp_path: Path, data: object) -> Path:
    path = tmp_path / "assembly.json"
    path.write_text(json.dumps(data))
    return path


def test_the_text_is_the_contract_of_the_design() -> None:
    rows = [[0.87758256189, -0.479425538604, 10.0], [0.479425538604, 0.87758256189, -0.25], [0.0, 0.0, 1.0]]
    identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert small_json() == {
        "format": "jigsawnet/assembly",
        "version": 1,
        "fragments": [
            {"name": "x", "world_from_fragment": identity, "component": 0, "confidence": 1.0},
            {"name": "y", "world_from_fragment": rows, "component": 0, "confidence": None},
            {"name": "z", "world_from_fragment": None, "component": None, "confidence": None},
        ],
        "alignments": [{"i": "x", "j": "y", "i_from_j": rows, "score": 0.75, "seam_score": 0.75}],
    }
    text = assembly_to_json(SMALL, ("x", "y", "z"))
    assert [line.count('"name"') for line in text.splitlines()].count(1) == 3


def test_given_names_set_the_numbers_and_turn_joins_round(tmp_path: Path) -> None:
    path = write_json(tmp_path, small_json())
    assembly, names = read_assembly(path, ["z", "y", "x"])
    assert names == ("z", "y", "x")
    assert assembly.unplaced == (0,)
    assert_same_pose(assembly.poses[1], SMALL.poses[1])
    alignment = assembly.joins[0].alignment
    assert (alignment.i, alignment.j) == (1, 2)
    assert_same_pose(alignment.i_from_j, SMALL.joins[0].alignment.i_from_j.inverse())


def test_names_must_be_those_of_the_puzzle(tmp_path: Path) -> None:
    path = write_json(tmp_path, small_json())
    with pytest.raises(FormatError, match="lacks the piece 'w'"):
        read_assembly(path, ["w", "x", "y", "z"])
    with pytest.raises(FormatError, match="not in the puzzle, 'z'"):
        read_assembly(path, ["x", "y"])


def test_unknown_fields_are_ignored_and_components_sorted_by_size(tmp_path: Path) -> None:
    data = small_json()
    data["more"] = data["fragments"][0]["more"] = data["alignments"][0]["more"] = {"any": ["thing"]}
    data["fragments"].append({**data["fragments"][0], "name": "w", "component": 7})
    data["fragments"][0]["component"] = data["fragments"][1]["component"] = 9
    assembly, _ = read_assembly(write_json(tmp_path, data))
    assert assembly.components == ((0, 1), (3,))


def test_names_that_are_no_unicode_survive(tmp_path: Path) -> None:
    names = ("a\udc80.png", "b\n\u2028.png", "日本.png")
    write_assembly(tmp_path / "assembly.json", SMALL, names)
    assert read_assembly(tmp_path / "assembly.json")[1] == names
    assert "日本" in (tmp_path / "assembly.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, -0.1])
def test_scores_out_of_range_are_a_mistake_of_the_caller(value: float) -> None:
    assembly = Assembly(2, {}, (), (Join(Alignment(0, 1, SE2.identity(), 1.0), value),))
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        assembly_to_json(assembly, ("x", "y"))


def test_poses_that_are_not_finite_and_wrong_names_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="not finite"):
        assembly_to_json(Assembly(1, {0: SE2(0.0, math.nan, 0.0)}, ((0,),)), ("x",))
    for names in (("x", "y"), ("x", "y", "y")):
        with pytest.raises(ValueError, match="name of its own"):
            assembly_to_json(SMALL, names)


Change = Callable[[dict[str, Any]], object]
FIRST: Callable[[dict[str, Any]], dict[str, Any]] = lambda d: d["fragments"][0]  # noqa: E731
JOIN: Callable[[dict[str, Any]], dict[str, Any]] = lambda d: d["alignments"][0]  # noqa: E731
BROKEN: dict[str, tuple[Change, str]] = {
    "other format": (lambda d: d.update(format="svg"), '"format" must be'),
    "other version": (lambda d: d.update(version=2), '"version" must be 1'),
    "no fragments": (lambda d: d.pop("fragments"), '"fragments"'),
    "fragments no list": (lambda d: d.update(fragments={}), r"assembly\.json: fragments must be a list\."),
    "fragment no object": (lambda d: d["fragments"].append(3), r"fragments\[3\] must be an object"),
    "no alignments": (lambda d: d.pop("alignments"), '"alignments"'),
    "name a number": (lambda d: FIRST(d).update(name=1), r"fragments\[0\]\.name"),
    "name too long": (lambda d: FIRST(d).update(name="x" * 2000), r"fragments\[0\]\.name must be a text of at most 1000 char"),
    "name empty": (lambda d: FIRST(d).update(name=""), r"fragments\[0\]\.name must be a text of at least 1 char"),
    "name not Unicode": (lambda d: FIRST(d).update(confidence="\ud800"), "no valid Unicode"),
    "name twice": (lambda d: FIRST(d).update(name="y"), "'y' more than once"),
    "pose missing": (lambda d: FIRST(d).pop("world_from_fragment"), '"world_from_fragment"'),
    "pose 2x3": (lambda d: FIRST(d)["world_from_fragment"].pop(), r"fragments\[0\]\.world_from_fragment must be a 3x3"),
    "pose ragged": (lambda d: FIRST(d)["world_from_fragment"][1].pop(), "must be a 3x3"),
    "pose scaled": (lambda d: FIRST(d).update(world_from_fragment=[[2, 0, 0], [0, 2, 0], [0, 0, 1]]), "not a rotation"),
    "pose mirrored": (lambda d: FIRST(d).update(world_from_fragment=[[1, 0, 0], [0, -1, 0], [0, 0, 1]]), "not a rotation"),
    "pose perspective": (lambda d: FIRST(d).update(world_from_fragment=[[1, 0, 0], [0, 1, 0], [0, 1, 1]]), "not a rotation"),
    "number as text": (lambda d: FIRST(d)["world_from_fragment"][0].__setitem__(2, "3"), "must hold numbers"),
    "number true": (lambda d: FIRST(d)["world_from_fragment"][0].__setitem__(0, True), "must hold numbers"),
    "number infinite": (lambda d: FIRST(d)["world_from_fragment"][0].__setitem__(2, math.inf), "not valid JSON: Infinity"),
    "number huge": (lambda d: FIRST(d)["world_from_fragment"][0].__setitem__(2, 10**400), "must hold numbers"),
    "component missing": (lambda d: FIRST(d).pop("component"), r'fragments\[0\] is placed, so its "component"'),
    "component huge": (lambda d: FIRST(d).update(component=10**400), r"fragments\[0\]\.component"),
    "component true": (lambda d: FIRST(d).update(component=True), r"component must be a whole number"),
    "component negative": (lambda d: FIRST(d).update(component=-1), r"fragments\[0\]\.component"),
    "component a list": (lambda d: FIRST(d).update(component=[]), r"fragments\[0\]\.component"),
    "confidence 2": (lambda d: FIRST(d).update(confidence=2), r"fragments\[0\]\.confidence must be a number of at most 1"),
    "join unknown": (lambda d: JOIN(d).update(j="w"), r"alignments\[0\] names 'w'"),
    "join itself": (lambda d: JOIN(d).update(j="x"), "to itself"),
    "join list": (lambda d: JOIN(d).update(i=["x"]), r"alignments\[0\]\.i must be a text"),
    "join no matrix": (lambda d: JOIN(d).update(i_from_j=None), r"alignments\[0\]\.i_from_j must be a 3x3"),
    "confidence a text": (lambda d: FIRST(d).update(confidence="1"), r"fragments\[0\]\.confidence must be a number or null\."),
    "confidence huge": (
        lambda d: FIRST(d).update(confidence=10**400),
        r"fragments\[0\]\.confidence holds a number that is too",
    ),
    "score missing": (lambda d: JOIN(d).pop("score"), '"score"'),
    "score nan": (lambda d: JOIN(d).update(score=math.nan), "NaN"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_fields_are_named(tmp_path: Path, kind: str) -> None:
    change, sentence = BROKEN[kind]
    data = small_json()
    change(data)
    with pytest.raises(FormatError, match=sentence) as caught:
        read_assembly(write_json(tmp_path, data))
    assert "assembly.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        '"format"',
        "[" * 200_000,
        '{"format": "jigsawnet/assembly", "version": ' + "9" * 5000 + "}",
        "\0",
        "1e999",
        '{"format": "jigsawnet/assembly", "version": 1, "fragments": [], "alignments": [], "fragments": []}',
    ],
)
def test_text_that_is_no_assembly(tmp_path: Path, text: str) -> None:
    (tmp_path / "assembly.json").write_text(text)
    with pytest.raises(FormatError, match=r"assembly\.json"):
        read_assembly(tmp_path / "assembly.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), value=JSON)
def test_any_value_anywhere_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, value: object
) -> None:
    root: Any = copy.deepcopy(small_json())
    node, key = root, None
    while isinstance(node, dict | list) and node and (key is None or data.draw(st.booleans())):
        parent, key = node, data.draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        node = parent[key]
    parent[key] = value
    with suppress(JigsawNetError):
        read_assembly(write_json(tmp_path_factory.mktemp("any"), root))
