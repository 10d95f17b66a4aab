"""What the tests of the matchers share: candidates of a borders, one by one."""

from __future__ import annotations

from typing import Any

from jigsawnet.borders import Borders
from jigsawnet.context import Context
from jigsawnet.learned import load_learned
from jigsawnet.match import DenseConfig, MatchConfig, TsamouraConfig, ZhangConfig, find_candidates
from jigsawnet.types import Alignment

_MATCHERS = {DenseConfig: "dense", ZhangConfig: "zhang", TsamouraConfig: "tsamoura"}


def find(
    borders: Borders, per_piece: int, options: DenseConfig | ZhangConfig | TsamouraConfig, **context: Any
) -> tuple[Alignment, ...]:
    """Candidates by the matcher whose options these are."""
    matcher = _MATCHERS[type(options)]
    config = MatchConfig(per_piece=per_piece, **{matcher: options})  # type: ignore[arg-type]
    return find_candidates(borders, matcher, config, Context(**context), load_learned()).candidates.alignments()
