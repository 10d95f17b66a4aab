"""Tables become structures; what is wrong in them is named with its place, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError, FormatError
from jigsawnet.io.json_files import convert, fill, load_object, plain, to_json
from jigsawnet.runs.request import Request, request_from_plain, request_to_plain


@dataclass(frozen=True, slots=True)
class Inner:
    size: float = 1.0
    kind: Literal["a", "b"] = "a"

    def __post_init__(self) -> None:
        if not self.size > 0:
            raise ConfigError("size must be positive.")


@dataclass(frozen=True, slots=True)
class Outer:
    name: str
    count: int = 0
    on: bool = False
    share: float | None = None
    paths: tuple[Path, ...] = ()
    inner: Inner = field(default_factory=Inner)
    several: tuple[Inner, ...] = ()
    any: Mapping[str, Any] = field(default_factory=dict)


def test_a_table_becomes_a_structure() -> None:
    data = {
        "name": "x\udc80",
        "share": 2,
        "paths": ["a"],
        "inner": {"size": 3},
        "several": [{"kind": "b"}],
        "any": {"z": [{}]},
    }
    expected = Outer("x\udc80", 0, False, 2.0, (Path("a"),), Inner(3.0), (Inner(1.0, "b"),), {"z": [{}]})
    assert fill(Outer, data, "t") == expected


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, 't lacks the key "name".'),
        ([], "t must be an object."),
        ({"name": 3}, "t: name must be a text."),
        ({"name": "x", "count": 1.5}, "t: count must be a whole number."),
        ({"name": "x", "count": True}, "t: count must be a whole number."),
        ({"name": "x", "on": 1}, "t: on must be true or false."),
        ({"name": "x", "share": "1"}, "t: share must be a number or null."),
        ({"name": "x", "share": 10**400}, "t: share holds a number that is too large."),
        ({"name": "x", "paths": "a"}, "t: paths must be a list."),
        ({"name": "x", "paths": ["a", 3]}, "t: paths[1] must be a text."),
        ({"name": "x", "inner": 3}, "t: inner must be an object."),
        ({"name": "x", "inner": {"size": 0}}, "t: size must be positive."),
        ({"name": "x", "inner": {"kind": "c"}}, "t: inner.kind must be one of a, b."),
        ({"name": "x", "several": [{}, {"kind": "c"}]}, "t: several[1].kind must be one of a, b."),
        ({"name": "", "n": 1}, 't has the unknown key "n"; it may have: name, count, on, share, paths, inner, several, any.'),
        ({"name": "x", "inner": {"szie": 1}}, 't: inner has the unknown key "szie"; it may have: size, kind.'),
        ({"name": "x", "several": [{"szie": 1}]}, 't: several has the unknown key "szie"; it may have: size, kind.'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(data: Any, sentence: str) -> None:
    with pytest.raises(FormatError) as caught:
        fill(Outer, data, "t")
    assert str(caught.value) == sentence


def test_programs_may_write_more_than_is_read() -> None:
    assert convert(Inner, {"size": 2.0, "more": {"any": "thing"}}, "t") == Inner(2.0)


def test_a_request_survives_being_written(tmp_path: Path) -> None:
    request = Request((tmp_path,), config=SolveConfig(matcher="zhang"), seed=7, alignments=tmp_path / "a.txt")
    assert request_from_plain(plain(request_to_plain(request)), "run.json") == request
    with pytest.raises(FormatError, match=r"run\.json: There is no matcher 'none'; there are dense, zhang, tsamoura"):
        request_from_plain({"inputs": [], "config": {"matcher": "none"}}, "run.json")
    with pytest.raises(FormatError, match=r'run\.json: config: match: dense has the unknown key "stride"'):
        request_from_plain({"inputs": [], "config": {"match": {"dense": {"stride": 1}}}}, "run.json")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"format": "f", "version": 1, "x": 1, "x": 2}', "the key 'x' occurs twice in one object"),
        ('{"format": "f", "version": 1, "x": NaN}', "NaN is not a JSON number"),
        ('{"x":' * 100_000, "nested too deeply"),
        ('{"format": "g", "version": 1}', 'its field "format" must be "f"'),
        ('{"format": "f", "version": true}', '"version" must be 1'),
    ],
)
def test_what_is_no_such_file_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(FormatError, match=sentence) as caught:
        load_object(tmp_path / "x.json", "f", 1)
    assert "x.json" in str(caught.value)


def test_any_options_become_json() -> None:
    value = {"a": np.float32(0.5), 3: (math.nan, np.arange(2)), "s": {"b", "a"}, "p": Path("x")}
    assert plain(value) == {"a": 0.5, "3": [None, [0, 1]], "s": ["a", "b"], "p": "x"}
    assert to_json({"ü": math.inf}) == '{\n "ü": null\n}\n'
