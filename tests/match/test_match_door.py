"""The door to the matchers: the name chooses, options reach the one chosen, and the composer follows."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import pytest

from jigsawnet import pipeline
from jigsawnet.compose import ComposerName
from jigsawnet.config import SolveConfig
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.evaluation.metrics import candidate_recall
from jigsawnet.match import MatchConfig, MatcherName, Proposed, ZhangConfig, propose_alignments
from jigsawnet.match.dense import propose_dense
from jigsawnet.match.tsamoura import propose_tsamoura
from jigsawnet.match.zhang import propose_zhang
from jigsawnet.raster import ShapeBank, build_bank
from jigsawnet.types import Assembly, Puzzle

MATCHERS: tuple[MatcherName, ...] = get_args(MatcherName)


@pytest.fixture(scope="module")
def bank(tiny_puzzle: tuple[Puzzle, Assembly]) -> ShapeBank:
    return build_bank(trace_contours(tiny_puzzle[0], ContourConfig()))


def test_the_name_chooses_the_matcher(bank: ShapeBank) -> None:
    config = MatchConfig(per_piece=7)
    assert propose_alignments(bank, "dense", config) == propose_dense(bank, 7, config.dense)
    assert propose_alignments(bank, "zhang", config) == propose_zhang(bank, 7, config.zhang)
    assert propose_alignments(bank, "tsamoura", config) == propose_tsamoura(bank, 7, config.tsamoura)


@pytest.mark.parametrize("matcher", MATCHERS)
def test_every_matcher_keeps_the_contract(bank: ShapeBank, tiny_puzzle: tuple[Puzzle, Assembly], matcher: MatcherName) -> None:
    found = propose_alignments(bank, matcher, MatchConfig(per_piece=2))
    assert [a.fit for a in found] == sorted((a.fit for a in found), reverse=True)
    assert all(0 <= a.fit <= 1 for a in found)
    assert all(sum(idx in (a.i, a.j) for a in found) <= 2 for idx in range(4))
    plenty = propose_alignments(bank, matcher, MatchConfig())
    assert candidate_recall(*_with(tiny_puzzle, plenty), gap_px=2.5) >= (1.0 if matcher == "dense" else 0.5)


def _with(puzzle_and_truth: tuple[Puzzle, Assembly], found: Any) -> tuple[Puzzle, Any, Assembly]:
    return puzzle_and_truth[0], found, puzzle_and_truth[1]


def test_progress_is_passed_on(bank: ShapeBank) -> None:
    for matcher in MATCHERS:
        told: list[tuple[int, int]] = []
        propose_alignments(bank, matcher, MatchConfig(), lambda _, done, total, told=told: told.append((done, total)))
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
    matcher: MatcherName,
    asked: ComposerName | None,
    chosen: ComposerName,
) -> None:
    calls: list[tuple[Any, ...]] = []

    def record(graph: Any, bank: Any, composer: Any, config: Any, **_: Any) -> Assembly:
        calls.append((composer, config.min_score))
        return Assembly(graph.n_fragments, {}, ())

    monkeypatch.setattr(pipeline, "compose", record)
    monkeypatch.setattr(pipeline, "propose_with_known", lambda *_: Proposed((), None, 0))
    options = SolveConfig(matcher=matcher, composer=asked)
    report = pipeline.solve_puzzle(tiny_puzzle[0], options).report
    assert calls == [(chosen, options.compose.min_score if matcher == "dense" else 0.0)]
    assert report.config == dataclasses.asdict(options), "the report tells what was asked for"


def test_options_of_one_matcher_do_not_touch_another(bank: ShapeBank) -> None:
    changed = MatchConfig(zhang=ZhangConfig(**{dataclasses.fields(ZhangConfig)[0].name: 6.0}))
    assert propose_alignments(bank, "dense", changed) == propose_alignments(bank, "dense", MatchConfig())
