"""Only the pipeline says which stage follows which, and options reach every place where a stage is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jigsawnet
from jigsawnet import pipeline
from jigsawnet.compose import ComposeConfig, SecondRoundConfig
from jigsawnet.config import SolveConfig
from jigsawnet.contours import ContourConfig
from jigsawnet.geometry import SE2
from jigsawnet.match import DenseConfig, MatchConfig, VerifyConfig
from jigsawnet.pipeline import STAGES, Corridor
from jigsawnet.refine import RefineConfig
from jigsawnet.types import Assembly, Puzzle

STAGE_OF = {
    "find_halo": "halo", "without_halo": "halo", "trace_contours": "contours", "trace_again": "contours",
    "find_candidates": "match", "score_candidates": "score",
    "compose": "compose", "second_round": "second round", "refine_poses": "refine", "judge_assembly": "confidence",
}  # fmt: skip
"""The functions that do the work of a stage."""
ALSO_OPTIONS = {"compose", "second_round"}
"""Names that fields of options have too: as attributes they count only where they are called."""
KNOWN_EXCEPTIONS: frozenset[str] = frozenset()
"""Modules that may use two stages besides the pipeline; there are none."""
ROOTS = {"puzzle", "learned", "constraints", "seed", "given", "known", "rated", "steps"}
"""What a corridor is given, or finds in its store."""
SOURCE = Path(jigsawnet.__file__).parent.parent
MODULES = sorted(path for name in ("jigsawnet", "jigsawnet_bench") for path in (SOURCE / name).rglob("*.py"))


def names_used(tree: ast.AST) -> Iterator[str]:
    """Functions of stages that are imported from our packages, called, or taken from a module; definitions do not count."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and ((node.module or "").startswith("jigsawnet.") or node.level):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and (id(node) in called or node.attr not in ALSO_OPTIONS):
            yield node.attr
        elif isinstance(node, ast.Name) and id(node) in called:
            yield node.id


def stages_used(source: str) -> set[str]:
    return {STAGE_OF[name] for name in names_used(ast.parse(source)) if name in STAGE_OF}


def private_names_of_the_pipeline(source: str) -> set[str]:
    tree = ast.parse(source)
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "jigsawnet.pipeline")
    taken = {alias.name for node in imports for alias in node.names}
    taken |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "pipeline"
    }
    return {name for name in taken if name.startswith("_")}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def test_all_stages_are_used_by_the_pipeline() -> None:
    """Else the names above are out of date, and the check below finds nothing."""
    assert stages_used(Path(pipeline.__file__).read_text(encoding="utf-8")) == set(STAGE_OF.values())
    assert set(STAGE_OF.values()) <= {stage.name for stage in STAGES}


def test_no_module_but_the_pipeline_uses_two_stages() -> None:
    assert len(MODULES) > 50
    used = {module_name(path): stages_used(path.read_text(encoding="utf-8")) for path in MODULES}
    several = {name: sorted(stages) for name, stages in used.items() if len(stages) > 1}
    assert set(several) == {"jigsawnet.pipeline", *KNOWN_EXCEPTIONS}, several


def test_nobody_reaches_behind_the_pipeline() -> None:
    taken = {module_name(path): private_names_of_the_pipeline(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {name: names for name, names in taken.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "stages"),
    [
        ("from jigsawnet.match import find_candidates\nfrom jigsawnet.compose import compose\n", {"match", "compose"}),
        ("from jigsawnet.match import find_candidates as f\nfrom jigsawnet.refine import refine_poses as r\n",
         {"match", "refine"}),
        ("from jigsawnet import match, score\nmatch.find_candidates()\nscore.score_candidates()\n", {"match", "score"}),
        ("import jigsawnet.compose as c\nc.compose(1)\nc.second_round(2)\n", {"compose", "second round"}),
        ("def f(borders):\n    from jigsawnet.contours import trace_again\n    return judge_assembly(trace_again(borders))\n",
         {"contours", "confidence"}),
        ("from jigsawnet import match, contours\nwork = [match.find_candidates, contours.trace_contours]\n",
         {"match", "contours"}),
        ("from .match import find_candidates\n", {"match"}),
        ("from jigsawnet.contours import trace_again, trace_contours\n", {"contours"}),
        ("def compose(rows): ...\ndef find_candidates(borders): ...\n", set()),
        ("print(config.compose.min_score, config.second_round.enabled)\n", set()),
        ("from jigsawnet import compose, second_round\n", set()),
        ("from jigsawnet.pipeline import Corridor\nCorridor(puzzle).get('scored')\n", set()),
    ],
)  # fmt: skip
def test_the_check_sees_what_it_is_to_see(source: str, stages: set[str]) -> None:
    assert stages_used(source) == stages


def test_the_check_sees_private_names_of_the_pipeline() -> None:
    assert private_names_of_the_pipeline("from jigsawnet.pipeline import Corridor, _match\n") == {"_match"}
    assert private_names_of_the_pipeline("from jigsawnet import pipeline\npipeline._find(borders)\npipeline.solve(p)\n") == {
        "_find"
    }


def test_every_stage_needs_only_what_is_there_before_it() -> None:
    there = set(ROOTS)
    for stage in STAGES:
        assert set(stage.needs) <= there, stage.name
        assert len(set(stage.needs)) == len(stage.needs), stage.name
        assert stage.gives not in there, stage.name
        there.add(stage.gives)
    assert {name for stage in STAGES for name in stage.needs} >= ROOTS


def test_names_of_stages_are_unique_and_what_is_saved_can_be_read() -> None:
    assert len({stage.name for stage in STAGES}) == len(STAGES)
    assert all((stage.to_arrays is None) == (stage.from_arrays is None) for stage in STAGES)
    assert {stage.gives for stage in STAGES if stage.to_arrays} == {"candidates", "scored", "assembly"}


def test_every_root_is_there_from_the_start(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    walk = Corridor(tiny_puzzle[0])
    assert {name: walk.get(name) for name in ("puzzle", "seed", "given", "known", "steps")} == {
        "puzzle": tiny_puzzle[0], "seed": 0, "given": None, "known": None, "steps": None,
    }  # fmt: skip
    assert walk.get("learned") is walk.get("learned")
    assert walk.get("constraints").joins == ()
    assert walk.made == []


def test_a_product_makes_only_the_stages_before_it(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    walk = Corridor(tiny_puzzle[0], SolveConfig(scorer="fit"))
    walk.get("borders")
    assert walk.made == ["halo", "contours"]
    walk.get("scored")
    assert walk.made == ["halo", "contours", "match", "scene", "score"]
    walk.get("scored")
    walk.get("assembly")
    assert walk.made == [stage.name for stage in STAGES], "each of them once"


OWN = SolveConfig(
    scorer="fit",
    contours=ContourConfig(samples=200, smooth_px=1.25),
    match=MatchConfig(per_piece=25, dense=DenseConfig(seeds_per_pair=5, verify=VerifyConfig(loose_px=2.25))),
    compose=ComposeConfig(min_score=0.45),
    refine=RefineConfig(inlier_px=4.5),
    second_round=SecondRoundConfig(min_candidate=0.01, most_candidates=0),
)
"""Options that nobody takes for the defaults; no old candidate is tried, so the second round looks for new ones."""


class Spies:
    """Whatever the pipeline hands to the functions of its stages."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        self.calls: dict[str, list[tuple[Any, ...]]] = {name: [] for name in names}
        for name in names:
            monkeypatch.setattr(pipeline, name, self._spy(name, getattr(pipeline, name)))

    def _spy(self, name: str, real: Any) -> Any:
        def spy(*args: Any, **options: Any) -> Any:
            self.calls[name].append((*args, *options.values()))
            return real(*args, **options)

        return spy

    def forget(self) -> None:
        for calls in self.calls.values():
            calls.clear()

    def assert_handed(self, name: str, option: object) -> None:
        """It was called, and each time with these very options."""
        assert self.calls[name], name
        assert all(any(arg is option for arg in call) for call in self.calls[name]), name


def split_in_two(truth: Assembly) -> Assembly:
    """Two components of true poses, each in a frame of its own."""
    components, away = ((0, 1, 2, 3), (4, 5, 6, 7, 8)), SE2(0.7, 500.0, -80.0)
    poses = {idx: truth.poses[idx] if idx < 4 else away @ truth.poses[idx] for idx in range(9)}
    return Assembly(9, poses, components[::-1])


def test_options_reach_the_second_round_as_they_reach_the_first(
    nine_pieces: tuple[Puzzle, Assembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle, truth = nine_pieces
    spies = Spies(monkeypatch, "trace_again", "find_candidates", "measure", "score_candidates", "second_round", "refine_poses")
    walk = Corridor(puzzle, OWN)
    walk.get("scored")
    spies.assert_handed("trace_again", OWN.contours)
    spies.assert_handed("find_candidates", OWN.match)
    spies.assert_handed("score_candidates", "fit")
    spies.forget()

    walk.put("refined", split_in_two(truth), key="two groups")
    placed = walk.get("placed")
    assert len(placed.components) == 1, "the second round has matched the groups and put them together"
    spies.assert_handed("trace_again", OWN.contours)
    spies.assert_handed("find_candidates", OWN.match)
    spies.assert_handed("measure", OWN.match.dense.verify)
    spies.assert_handed("score_candidates", "fit")
    spies.assert_handed("second_round", OWN.second_round)
    spies.assert_handed("refine_poses", OWN.refine)
    traced, *_ = spies.calls["trace_again"][0]
    assert len(traced) == 2, "the groups, each drawn as one piece"
    (learned,) = (arg for arg in spies.calls["find_candidates"][0] if arg is walk.get("learned"))
    assert learned.fit is walk.get("scene").learned.fit
    assert OWN.compose.min_score in spies.calls["second_round"][0]


def test_options_reach_the_seams_of_given_candidates(
    nine_pieces: tuple[Puzzle, Assembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle, _ = nine_pieces
    bare = Corridor(puzzle, OWN).get("candidates").rows.alignments()
    given = pipeline.Candidates.of([type(a)(a.i, a.j, a.i_from_j, a.fit) for a in bare])
    spies = Spies(monkeypatch, "measure", "find_candidates")
    rows = Corridor(puzzle, OWN, given=given).get("candidates").rows
    spies.assert_handed("measure", OWN.match.dense.verify)
    assert spies.calls["find_candidates"] == []
    assert rows.measured.all()
