"""Suite files: what is shipped, what curves become, and how a mistake is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from jigsawnet.errors import FormatError, InputError
from jigsawnet.shred import PRESETS
from jigsawnet_bench.methods import METHODS
from jigsawnet_bench.paper import FIGURES
from jigsawnet_bench.suite import Suite, builtin_suites, load_suite, parse_suite

GROUP = '[[group]]\nname = "four"\n'
SWEEP = 'title = "t"\n[[sweep]]\nname = "x"\naxis = "x"\nvalues = [1]\n'


def parse(text: str) -> Suite:
    return parse_suite("mine", text, "mine.toml", Path("folder"))


def test_what_is_shipped_can_be_read() -> None:
    sizes = {f"photos-{n}" for n in (9, 36, 100, 400, 1000)}
    stages = {"match", "compose", "detect", "precision", "solve"}
    assert set(builtin_suites()) == {
        "quick", "paper", "damage", "pages", "authors", "real", "strips", "photo-strips", "chads", "world", *stages,
        *sizes,
    }  # fmt: skip
    for name in builtin_suites():
        suite = load_suite(name)
        assert suite.name == name
        known = {figure.puzzles for figure in FIGURES}
        assert all(set(group.kind.paper) <= known for group in suite.groups)


def test_every_row_of_the_papers_tables_is_a_method() -> None:
    assert {figure.method for figure in FIGURES} | {"ours"} == set(METHODS["solve"])
    suite = load_suite("photos-9")
    assert suite.methods_of(suite.groups[0]) == tuple(METHODS["solve"])


def test_stages_are_suites_of_another_task() -> None:
    methods = {name: set(METHODS[name]) for name in ("match", "compose", "detect")}
    assert methods["match"] == methods["detect"] == {"dense", "zhang", "tsamoura"}
    assert methods["compose"] == {"best-first", "glc", "hlm", "default"}
    for name, wanted in methods.items():
        suite = load_suite(name)
        assert suite.head.task == name
        assert {method for group in suite.groups for method in suite.methods_of(group)} == wanted
    assert [group.kind.name for group in load_suite("detect").groups] == [
        "36 pieces", "100 pieces", "36 pieces, erosion 2 px", "36 pieces, straight cuts", "400 pieces",
    ]  # fmt: skip
    assert any(group.kind.source == "pages" for group in load_suite("match").groups)


def test_damage_has_every_curve_of_its_range() -> None:
    curves: dict[str, list[float]] = {}
    for group in load_suite("damage").groups:
        assert group.curve is not None
        curves.setdefault(group.curve.name, []).append(group.curve.at)
    assert curves["erosion"] == [0, 1, 2, 3, 4, 5, 6]
    assert curves["missing"] == [0, 0.1, 0.2, 0.3, 0.4]
    assert curves["mixed"] == [1, 2, 3, 4, 5]
    assert curves["straight cuts"] == [0, 0.01, 0.02, 0.04]
    assert {"noise", "JPEG", "colour shift", "strips"} < set(curves)


def test_quick_needs_no_photographs_of_ones_own() -> None:
    suite = load_suite("quick")
    assert suite.head.photos is not None
    assert (suite.base / suite.head.photos / "photo.jpg").is_file()


def test_a_sweep_becomes_a_group_for_each_value() -> None:
    suite = parse(
        'title = "t"\n[[sweep]]\nname = "mixed"\naxis = "pictures"\nvary = "mix"\nvalues = [1, 3]\nshred = {pieces = 9}'
    )
    assert [(group.kind.name, group.kind.mix, group.shred.pieces) for group in suite.groups] == [
        ("mixed 1", 1, 9),
        ("mixed 3", 3, 9),
    ]
    suite = parse('title = "t"\n[[sweep]]\nname = "noise"\naxis = "grey levels"\nvary = "noise"\nvalues = [0, 8]')
    assert [group.shred.noise for group in suite.groups] == [0, 8]


def test_the_world_is_every_preset_at_three_strengths() -> None:
    found: dict[str, list[float]] = {}
    for group in load_suite("world").groups:
        kind = group.kind
        assert group.curve is not None
        assert (group.curve.at, group.curve.name) == (kind.strength, kind.preset)
        assert (kind.source, group.shred.pieces) == ("pages" if kind.preset == "torn-page" else "photos", 36)
        assert kind.puzzles >= 4
        found.setdefault(kind.preset, []).append(kind.strength)
    assert found == {name: [0.25, 0.5, 1.0] for name in PRESETS if "-cut" not in name}, (
        "strips and chads have suites of their own"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('title = "t"\npeices = 3\n' + GROUP, 'unknown key "peices"; it may have: title, task, methods, photos'),
        ('title = "t"\n' + GROUP + "puzles = 2", 'group 1 has the unknown key "puzles"'),
        ('title = "t"\n' + GROUP + "shred = {piece = 2}", 'group 1, shred has the unknown key "piece"'),
        (SWEEP + 'vary = "tint"', 'sweep 1: vary has the unknown key "tint"'),
        (SWEEP + 'vary = "noise"\nvalue = 3', 'sweep 1 has the unknown key "value"'),
        (GROUP, 'mine.toml lacks the key "title"'),
        ('title = "t"\n[[group]]\npuzzles = 2', 'group 1 lacks the key "name"'),
        ('title = 3\n' + GROUP, "title must be a text"),
        ('title = "t"\n' + GROUP + "puzzles = true", "puzzles must be a whole number"),
        ('title = "t"\n' + GROUP + "puzzles = 0", "puzzles, cuts and mix must be 1 or more"),
        ('title = "t"\n' + GROUP + 'source = "films"', "source must be one of photos, pages, documents, generated, folders"),
        ('title = "t"\n' + GROUP + 'preset = "fire"', 'there is no preset "fire"; use one of fresco'),
        ('title = "t"\n' + GROUP + "strength = 1.5", "strength is 1.5; it must be between 0 and 1"),
        ('title = "t"\n' + GROUP + "shred = {missing = 2.0}", "missing is 2.0; it must be between 0 and 1"),
        ('title = "t"\n' + GROUP + "shred = 9", "shred must be a table"),
        ('title = "t"\nmethods = "ours"\n' + GROUP, "methods must be a list"),
        ('title = "t"\nmethods = ["BF"]\n' + GROUP, 'There is no method "BF"; there are Tsamoura'),
        ('title = "t"\n' + GROUP + 'methods = ["BF"]', 'There is no method "BF"; there are Tsamoura'),
        ('title = "t"\ntask = "match"\nmethods = ["ours"]\n' + GROUP, 'There is no method "ours"; there are dense, zhang'),
        ('title = "t"\ntask = "knit"\n' + GROUP, "task must be one of solve, match, compose, detect"),
        ('title = "t"\nmethods = []\n' + GROUP, "methods is empty"),
        ('title = "t"\ntime_limit = 0\n' + GROUP, "time_limit must be positive"),
        ('title = "t"\n' + GROUP + GROUP, 'two groups named "four"'),
        ('title = "t"', "describes no puzzles"),
        ('title = "t"\n[group]\nname = "x"', r"group must be written as \[\[group\]\]"),
        ("title = ", "is not valid TOML"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(text: str, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        parse(text)


@pytest.mark.parametrize("text", ["x = " + "[" * 3000, "x = " + "9" * 5000, "a." * 5000 + "a = 1"])
def test_what_no_parser_should_see_is_one_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(FormatError, match=r"mine\.toml is "):
        load_suite(str(tmp_path / "mine.toml"))


def test_a_suite_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no suite 'photos-7'; give the path of a \.toml file or one of authors"):
        load_suite("photos-7")
    with pytest.raises(InputError, match=r"mine\.toml is not a file"):
        load_suite(str(tmp_path / "mine.toml"))


def test_a_file_of_ones_own_is_a_suite(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('title = "t"\n' + GROUP, encoding="utf-8")
    suite = load_suite(str(tmp_path / "mine.toml"))
    assert (suite.name, suite.base) == ("mine", tmp_path)
