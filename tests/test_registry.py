"""Matchers, scorers and composers by name; those of another package solve a puzzle without a change here."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import ModuleType

import pytest

from jigsawnet import registry as module
from jigsawnet.compose import composers
from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError
from jigsawnet.evaluation.metrics import evaluate
from jigsawnet.match import matchers
from jigsawnet.pipeline import solve_puzzle
from jigsawnet.registry import GROUP, Registry
from jigsawnet.score import scorers
from jigsawnet.types import Assembly, Puzzle


@pytest.fixture
def colors() -> Registry[int]:
    made: Registry[int] = Registry("color")
    made.register("red", 1)
    made.register("green", 2)
    return made


@pytest.fixture
def own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone afterwards."""
    for registry in (matchers, scorers, composers):
        monkeypatch.setattr(registry, "_items", dict(registry._items))


@dataclass
class Point:
    """An entry point that counts how often it is loaded; ``load`` imports, which registers."""

    into: Registry[int]
    name: str
    loads: list[str] = field(default_factory=list)

    def load(self) -> None:
        self.loads.append(self.name)
        self.into.register(self.name, 7)


def offer(monkeypatch: pytest.MonkeyPatch, *points: Point) -> None:
    """Make the entry points those of the installed packages."""

    def entry_points(*, group: str) -> Iterator[Point]:
        assert group == GROUP
        return iter(points)

    monkeypatch.setattr(module, "entry_points", entry_points)


def test_what_was_registered_is_found_in_its_order(colors: Registry[int]) -> None:
    assert (colors["red"], colors["green"]) == (1, 2)
    assert list(colors) == ["red", "green"]
    assert "red" in colors
    assert "blue" not in colors


def test_an_unknown_name_is_refused_with_the_names_there_are(colors: Registry[int], monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch)
    with pytest.raises(ConfigError) as caught:
        colors["blue"]
    assert str(caught.value) == "There is no color 'blue'; there are red, green."
    with pytest.raises(ConfigError) as caught:
        colors["x" * 10_000]
    assert len(str(caught.value)) < 200


def test_a_name_is_given_once_but_the_same_thing_may_be_registered_again(colors: Registry[int]) -> None:
    with pytest.raises(ValueError, match="there is a color 'red' already"):
        colors.register("red", 3)
    assert colors["red"] == 1
    colors.register("red", 1)
    assert list(colors) == ["red", "green"]


def test_other_packages_are_asked_only_for_names_that_are_not_known(
    colors: Registry[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    point = Point(colors, "violet")
    offer(monkeypatch, point)
    assert colors["red"] == 1
    assert "violet" not in colors
    assert point.loads == []
    assert colors["violet"] == 7
    assert colors["violet"] == 7
    assert point.loads == ["violet"]


def test_a_package_that_does_not_bring_the_name_does_not_hide_that_there_is_none(
    colors: Registry[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, Point(colors, "violet"))
    with pytest.raises(ConfigError, match=r"There is no color 'blue'; there are red, green, violet\."):
        colors["blue"]


@pytest.mark.parametrize(("option", "names"), [
    ("matcher", "dense, zhang, tsamoura"), ("scorer", "fit, jigsawnet, seam, ragged, printed, combined"),
    ("composer", "best-first, chains, glc, hlm"),
])  # fmt: skip
def test_options_name_what_is_registered(option: str, names: str) -> None:
    with pytest.raises(ConfigError, match=f"There is no {option} 'magic'; there are {names}"):
        SolveConfig(**{option: "magic"})  # type: ignore[arg-type]


ANOTHER_PACKAGE = '''
"""A package of somebody else: candidates found by trying, scored by length, and put together in the order of score."""

import numpy as np

from jigsawnet.compose import Components, composers
from jigsawnet.match import Matched, Matcher, find_candidates, matchers
from jigsawnet.score import scorers

called = []


def find(borders, config, context, learned, known):
    called.append("find")
    rows = find_candidates(borders, "dense", config, context, learned).candidates
    return Matched(rows.take(np.argsort(-rows.feature("length"), kind="stable")))


def score(rows, scene, context):
    called.append("score")
    length = rows.feature("length").astype(float)
    return np.where(rows.fit > 0.5, 0.5 + 0.5 * length / length.max(initial=1.0), 0.1)


def put_together(problem, config, pace, rng):
    called.append("compose")
    components = problem.components.copy()
    rows = problem.rows.take(problem.rows.score >= config.min_score)
    for k, (i, j) in enumerate(zip(rows.i.tolist(), rows.j.tolist())):
        if not components.same(i, j):
            components.merge(i, j, rows.i_from_j(k))
    assert isinstance(components, Components)
    return components


matchers.register("theirs", Matcher(find))
scorers.register("theirs", score)
composers.register("theirs", put_together)
'''
THEIRS = "somebody_elses_jigsaw"


@pytest.fixture
def their_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_registries: None) -> Path:
    """A module that lies outside of the package and is not imported yet."""
    path = tmp_path / f"{THEIRS}.py"
    path.write_text(ANOTHER_PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, THEIRS, raising=False)
    return path


def imported() -> ModuleType:
    return importlib.import_module(THEIRS)


def test_a_puzzle_is_solved_by_what_another_package_registers(
    their_package: Path, tiny_puzzle: tuple[Puzzle, Assembly]
) -> None:
    puzzle, truth = tiny_puzzle
    theirs = imported()
    solution = solve_puzzle(puzzle, SolveConfig(matcher="theirs", scorer="theirs", composer="theirs"))
    assert theirs.called[:3] == ["find", "score", "compose"]
    assert evaluate(puzzle, solution.assembly, truth).pcr_tight == 1.0
    stages = ["halo", "contours", "match", "score", "compose", "refine", "confidence"]
    assert [stage.name for stage in solution.report.stages] == stages
    assert (solution.report.config["matcher"], solution.report.config["composer"]) == ("theirs", "theirs")
    assert solution.candidates.score.tolist() == sorted(solution.candidates.score.tolist(), reverse=True)


def test_an_installed_package_need_not_be_imported_first(
    their_package: Path, tiny_puzzle: tuple[Puzzle, Assembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point names the module; it is imported when its name is asked for, here by an option."""
    monkeypatch.setattr(module, "entry_points", _points_of(THEIRS))
    assert THEIRS not in sys.modules
    assert solve_puzzle(tiny_puzzle[0], SolveConfig(scorer="theirs")).assembly.complete
    assert sys.modules[THEIRS].called[0] == "score"
    monkeypatch.delitem(sys.modules, THEIRS)


def _points_of(name: str) -> Callable[..., EntryPoints]:
    return EntryPoints([EntryPoint("mine", name, GROUP), EntryPoint("not ours", "no_such_module", "others")]).select


def test_what_they_registered_is_gone() -> None:
    assert "theirs" not in matchers
    assert "theirs" not in scorers
    assert "theirs" not in composers


def test_the_example_of_contributing_works_as_it_stands(
    tiny_puzzle: tuple[Puzzle, Assembly], own_registries: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"
    (code,) = re.findall(r"```python\n(.*?)```", paper.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "entry_points", _points_of("mine"))
    solution = solve_puzzle(tiny_puzzle[0], SolveConfig(matcher="first", scorer="long", composer="pair"))
    assert len(solution.candidates) == len(tiny_puzzle[0]) - 1
    assert [len(component) for component in solution.assembly.components] == [2]
    monkeypatch.delitem(sys.modules, "mine")
