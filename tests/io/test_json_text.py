"""JSON within bounds: too many values, too deep, a key twice, numbers that are none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.io import json_text
from jigsawnet.io.json_text import parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=3), part, max_size=4),
)


@settings(deadline=None)
@given(value=VALUES)
def test_what_json_holds_is_read(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


@settings(deadline=None)
@given(text=st.text(max_size=40) | st.text('[]{}",:0123456789.eE-NaIfty', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_json(text)
    except ValueError as error:
        assert str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"), ('{"a":' * 100_000, "nested too deeply"), ("9" * 5000, "digits"),
        ("NaN", "NaN is not a JSON number"), ('{"b": 1, "a": 1, "a": 2}', "the key 'a' occurs twice"),
    ],
)  # fmt: skip
def test_what_is_beyond_the_bounds_is_named(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_json(text)


@pytest.mark.parametrize("text", ["[" + "{}," * 40 + "{}]", "[" + "[]," * 40 + "[]]", "[" + "0," * 40 + "0]"])
def test_what_would_swell_is_refused_before_it_is_parsed(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(parse_json(text)) == 41
    monkeypatch.setattr(json_text, "MAX_PARSED_BYTES", 2000)
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("it was parsed"))
    with pytest.raises(ValueError, match="too many values"):
        parse_json(text)


def test_what_is_reckoned_is_at_least_what_is_taken() -> None:
    import tracemalloc

    for part in ("{}", '{"ab":1}', "[]", "[1.5]", "1.25", '"abc"'):
        text = "[" + ",".join([part] * 20_000) + "]"
        reckoned = 232 * text.count("{") + 88 * text.count("[") + 60 * text.count(",")
        tracemalloc.start()
        value = parse_json(text)
        taken = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(value) == 20_000
        assert taken < 1.5 * reckoned, part


def test_a_key_that_comes_twice_at_the_end_of_many_is_found_in_one_pass() -> None:
    keys = [f'"{k}":0' for k in range(200_000)]
    with pytest.raises(ValueError, match="'199999' occurs twice"):
        parse_json("{" + ",".join([*keys, keys[-1]]) + "}")
