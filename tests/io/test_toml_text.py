"""TOML within bounds: what is too large, too deep or no TOML is refused in a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.errors import FormatError
from jigsawnet.io.toml_text import MAX_LINE, parse_toml


def test_a_file_that_a_person_wrote() -> None:
    text = 'name = "a"\n[[group]]\nsize = 9\n[group.shred]\ncuts = [1, [2, 3]]\n'
    assert parse_toml(text, "f") == {"name": "a", "group": [{"size": 9, "shred": {"cuts": [1, [2, 3]]}}]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = " + "\n".join("[" * 1000 for _ in range(3)), "nested too deeply"),
        ("x = " + "[" * 30 + "]" * 30, "nested too deeply"),
        ("a." * 900 + "a = 1", "nested too deeply"),
        ("[" + "a." * 900 + "a]", "nested too deeply"),
        ("x = " + "{a = " * 300 + "1" + "}" * 300, "nested too deeply"),
        ("x = " + "9" * 5000, "too large"),
        ("a." * MAX_LINE + "a = 1", "too large"),
        ("x = 1\n" * 2**17, "too large"),
        ("x = ", "not valid TOML"),
    ],
)
def test_what_is_beyond_the_bounds_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(FormatError, match=words) as caught:
        parse_toml(text, "mine.toml")
    assert str(caught.value).startswith("mine.toml")
    assert len(str(caught.value)) < 300


@settings(deadline=None)
@given(text=st.text(max_size=60) | st.text("[]{}=.\"'\n_a0123456789-+:TZeE#", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_toml(text, "f")
    except FormatError as error:
        assert str(error).startswith("f ")  # noqa: PT017
