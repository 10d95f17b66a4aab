"""Who works on puzzles, for each task: every row of the paper's Tables II to VI and ours; the matchers; the composers.

The paper's rows use its composers as it writes them, with its authors' tolerance of overlap, and end with composition. The
baselines have composers of their own; Zhang's ends with the optimisation of the graph, as it does there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from jigsawnet.compose import ComposeConfig, SecondRoundConfig
from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError
from jigsawnet.refine import RefineConfig

Task = Literal["solve", "match", "compose", "detect", "precision", "real"]
"""What is done to a puzzle; see `tasks`."""

OURS = "ours"
KEPT_WITHOUT_DETECTOR = 0.2
"""Without the detector, candidates of less than this part of the puzzle's best matching score are pruned."""
AUTHORS_OVERLAP = ComposeConfig(max_overlap=0.1, overlap_px=0.0)
"""The paper's authors let a tenth of the smaller piece's area lie on another."""
MATCHERS = ("dense", "zhang", "tsamoura")
COMPOSERS = ("best-first", "glc", "hlm")


@dataclass(frozen=True, slots=True)
class Method:
    """A way to solve: the options of all stages."""

    name: str
    config: SolveConfig


def _methods() -> dict[Task, dict[str, Method]]:
    """The options of every method; ours refines, and looks again."""
    bare = SolveConfig(refine=RefineConfig(pose_graph=False, seams=False), second_round=SecondRoundConfig(enabled=False))
    paper = replace(bare, matcher="zhang", compose=AUTHORS_OVERLAP)
    cnn = replace(paper, scorer="jigsawnet")
    pruned = replace(paper, scorer="fit", compose=replace(AUTHORS_OVERLAP, min_fit=KEPT_WITHOUT_DETECTOR))
    optimised = replace(paper, scorer="fit", refine=RefineConfig(pose_graph=True, seams=False))
    solvers = [
        Method("Tsamoura", replace(paper, matcher="tsamoura", scorer="fit", composer="tsamoura")),
        Method("Zhang", replace(optimised, composer="zhang")),
        Method("CNN+BF", replace(cnn, composer="best-first")),
        Method("CNN+GLC", replace(cnn, composer="paper-glc")),
        Method("CNN+HLM", replace(cnn, composer="paper-hlm")),
        Method("only GLC", replace(pruned, composer="paper-glc")),
        Method("only HLM", replace(pruned, composer="paper-hlm")),
        Method(OURS, SolveConfig()),
    ]
    composers = [Method(name, replace(bare, scorer="fit", composer=name)) for name in COMPOSERS]
    composers.append(Method("default", SolveConfig(scorer="fit")))
    matchers = [Method(name, SolveConfig(matcher=name)) for name in MATCHERS]
    of_task: dict[Task, list[Method]] = {
        "solve": solvers, "match": matchers, "compose": composers, "detect": matchers, "precision": matchers, "real": solvers,
    }  # fmt: skip
    return {task: {method.name: method for method in methods} for task, methods in of_task.items()}


METHODS: Mapping[Task, dict[str, Method]] = _methods()
"""By task and name; those that solve in the order of the paper's tables."""


def check_methods(names: Iterable[str], task: Task) -> None:
    """Refuse names that are no methods."""
    for name in names:
        if name not in METHODS[task]:
            raise ConfigError(f'There is no method "{name}"; there are {", ".join(METHODS[task])}.')
