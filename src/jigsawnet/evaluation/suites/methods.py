"""Who puts puzzles together: every row of the paper's Tables II to VI, and ours as shipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError
from jigsawnet.refine import RefineConfig
from jigsawnet.second_round import SecondRoundConfig

OURS = "ours"
KEPT_WITHOUT_DETECTOR = 0.2
"""Without the detector, candidates of less than this part of the puzzle's best matching score are pruned."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to solve: options of all stages, and how the matcher's own score prunes candidates before composition."""

    name: str
    config: SolveConfig
    min_fit: float = 0.0


def _methods() -> dict[str, Method]:
    bare = SolveConfig(refine=RefineConfig(pose_graph=False, seams=False), second_round=SecondRoundConfig(enabled=False))
    zhang = replace(bare, matcher="zhang", scorer="fit")
    cnn = replace(bare, matcher="zhang", scorer="jigsawnet")
    rows = [
        Method("Tsamoura", replace(bare, matcher="tsamoura", scorer="fit", composer="best-first")),
        Method("Zhang", replace(zhang, composer="best-first")),
        Method("CNN+BF", replace(cnn, composer="best-first")),
        Method("CNN+GLC", replace(cnn, composer="glc")),
        Method("CNN+HLM", replace(cnn, composer="hlm")),
        Method("only GLC", replace(zhang, composer="glc"), KEPT_WITHOUT_DETECTOR),
        Method("only HLM", replace(zhang, composer="hlm"), KEPT_WITHOUT_DETECTOR),
        Method(OURS, SolveConfig()),
    ]
    return {row.name: row for row in rows}


METHODS: Mapping[str, Method] = _methods()
"""By name, in the order of the paper's tables. The paper's methods end with composition; ours refines, and looks again."""


def check_methods(names: Iterable[str]) -> None:
    """Refuse names that are no methods."""
    for name in names:
        if name not in METHODS:
            raise ConfigError(f'There is no method "{name}"; there are {", ".join(METHODS)}.')
