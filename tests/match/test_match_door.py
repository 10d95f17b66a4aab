"""The door to the matchers: the name chooses, options reach the one chosen, and the composer follows."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from jigsawnet import pipeline
from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.evaluation.metrics import candidate_recall
from jigsawnet.learned import load_learned
from jigsawnet.match import MatchConfig, Matched, Matcher, ZhangConfig, find_candidates, matchers
from jigsawnet.match.dense import find_dense
from jigsawnet.match.tsamoura import find_tsamoura
from jigsawnet.match.zhang import find_zhang
from jigsawnet.types import Alignment, Assembly, Puzzle

MATCHERS = ("dense", "zhang", "tsamoura")


def found_by(matcher: str, borders: Borders, config: MatchConfig, **context: Any) -> tuple[Alignment, ...]:
    return find_candidates(borders, matcher, config, Context(**context), load_learned()).candidates.alignments()


@pytest.fixture(scope="module")
def borders(tiny_puzzle: tuple[Puzzle, Assembly]) -> Borders:
    return build_borders(trace_contours(tiny_puzzle[0], ContourConfig()))


def test_the_name_chooses_the_matcher(borders: Borders) -> None:
    config = MatchConfig(per_piece=7)
    assert tuple(matchers) == MATCHERS
    finders = {"dense": find_dense, "zhang": find_zhang, "tsamoura": find_tsamoura}
    directly = {name: finder(borders, config, Context(), load_learned(), None) for name, finder in finders.items()}
    assert {name: found_by(name, borders, config) for name in MATCHERS} == {
        name: found.candidates.alignments() for name, found in directly.items()
    }
    assert len({found.candidates.alignments() for found in directly.values()}) == 3


@pytest.mark.parametrize("matcher", MATCHERS)
def test_every_matcher_keeps_the_contract(borders: Borders, tiny_puzzle: tuple[Puzzle, Assembly], matcher: str) -> None:
    found = found_by(matcher, borders, MatchConfig(per_piece=2))
    assert [a.fit for a in found] == sorted((a.fit for a in found), reverse=True)
    assert all(0 <= a.fit <= 1 for a in found)
    assert all(sum(idx in (a.i, a.j) for a in found) <= 2 for idx in range(4))
    plenty = found_by(matcher, borders, MatchConfig())
    assert candidate_recall(*_with(tiny_puzzle, plenty), gap_px=2.5) >= (1.0 if matcher == "dense" else 0.5)


def _with(puzzle_and_truth: tuple[Puzzle, Assembly], found: Any) -> tuple[Puzzle, Any, Assembly]:
    return puzzle_and_truth[0], found, puzzle_and_truth[1]


@pytest.mark.parametrize("matcher", MATCHERS)
def test_every_matcher_measures_what_it_gives(borders: Borders, matcher: str) -> None:
    rows = find_candidates(borders, matcher, MatchConfig(), Context(), load_learned()).candidates
    assert len(rows)
    assert rows.measured.all()
    assert np.isfinite(rows.features).all()
    assert np.isfinite(rows.pose).all()
    assert (rows.i < rows.j).all()
    assert np.isnan(rows.score).all()


def test_a_matcher_of_another_package_is_measured_and_solved(
    tiny_puzzle: tuple[Puzzle, Assembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives bare poses; seams are measured for it, and the default scorer of ranks is its fit."""

    def find(borders: Borders, config: MatchConfig, context: Context, learned: Any, known: Any) -> Matched:
        rows = find_dense(borders, config, context, learned, None).candidates
        return Matched(Candidates.make(rows.i, rows.j, rows.pose, fit=rows.fit), pairs=6)

    monkeypatch.setitem(matchers._items, "mine", Matcher(find))
    solution = pipeline.solve_puzzle(tiny_puzzle[0], SolveConfig(matcher="mine"))
    assert solution.candidates.measured.all()
    assert len(solution.assembly.poses) == 4


def test_progress_is_passed_on(borders: Borders) -> None:
    for matcher in MATCHERS:
        told: list[tuple[int, int]] = []
        found_by(matcher, borders, MatchConfig(), progress=lambda _, done, total, told=told: told.append((done, total)))
        assert told
        assert told[-1][0] == told[-1][1]


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="per-piece"):
        MatchConfig(per_piece=0)


@pytest.mark.parametrize(
    ("matcher", "asked", "chosen"),
    [
        ("dense", None, "hlm"),
        ("zhang", None, "best-first"),
        ("tsamoura", None, "best-first"),
        ("dense", "best-first", "best-first"),
        ("zhang", "glc", "glc"),
    ],
)
def test_the_composer_follows_the_matcher(
    tiny_puzzle: tuple[Puzzle, Assembly],
    monkeypatch: pytest.MonkeyPatch,
    matcher: str,
    asked: str | None,
    chosen: str,
) -> None:
    calls: list[tuple[Any, ...]] = []

    def record(rows: Any, borders: Any, composer: Any, config: Any, *_: Any, **__: Any) -> Assembly:
        calls.append((composer, config.min_score))
        return Assembly(len(borders), {}, ())

    monkeypatch.setattr(pipeline, "compose", record)
    monkeypatch.setattr(pipeline, "find_candidates", lambda *_: Matched(Candidates.none()))
    options = SolveConfig(matcher=matcher, composer=asked)
    report = pipeline.solve_puzzle(tiny_puzzle[0], options).report
    assert calls == [(chosen, options.compose.min_score if matcher == "dense" else 0.0)]
    assert report.config == dataclasses.asdict(options), "the report tells what was asked for"


def test_options_of_one_matcher_do_not_touch_another(borders: Borders) -> None:
    changed = MatchConfig(zhang=ZhangConfig(**{dataclasses.fields(ZhangConfig)[0].name: 6.0}))
    assert found_by("dense", borders, changed) == found_by("dense", borders, MatchConfig())
