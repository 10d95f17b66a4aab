"""Stage 3: borders → candidate joins. Matchers by name; other packages can add theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jigsawnet.borders import Borders
from jigsawnet.context import Context
from jigsawnet.learned import Learned
from jigsawnet.match.chads import look_along_chads
from jigsawnet.match.config import (
    DenseConfig,
    MatchConfig,
    RaggedConfig,
    RetrievalConfig,
    TsamouraConfig,
    VerifyConfig,
    ZhangConfig,
)
from jigsawnet.match.dense import find_dense
from jigsawnet.match.known import KnownPairs, Matched, Scales
from jigsawnet.match.printed import add_printed
from jigsawnet.match.ragged import measure_contact
from jigsawnet.match.strips import find_block_joins, find_strip_joins
from jigsawnet.match.tsamoura import find_tsamoura
from jigsawnet.match.verify import measure, settle
from jigsawnet.match.zhang import find_zhang
from jigsawnet.registry import Registry

__all__ = [
    "DenseConfig", "KnownPairs", "MatchConfig", "Matched", "Matcher", "RaggedConfig", "RetrievalConfig", "Scales",
    "TsamouraConfig", "VerifyConfig", "ZhangConfig", "add_printed", "find_block_joins", "find_candidates", "find_strip_joins",
    "look_along_chads", "matchers", "measure", "measure_contact", "settle",
]  # fmt: skip

Find = Callable[[Borders, MatchConfig, Context, Learned, KnownPairs | None], Matched]
"""Finds candidates between all pairs of pieces, best first, at most ``per_piece`` of each piece, the same to the bit on all
workers. Of pairs that are known, nothing need be measured again. Stopped early, it gives those of the pairs looked at."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """A way to find candidates."""

    find: Find
    probable: bool = False
    """True when ``fit`` is the probability that a seam of these features is right, so that joins which come about later can be
    judged alike; False when it only ranks the candidates of one puzzle."""


matchers: Registry[Matcher] = Registry("matcher")
matchers.register("dense", Matcher(find_dense, probable=True))
matchers.register("zhang", Matcher(find_zhang))
matchers.register("tsamoura", Matcher(find_tsamoura))


def find_candidates(
    borders: Borders, matcher: str, config: MatchConfig, context: Context, learned: Learned, known: KnownPairs | None = None
) -> Matched:
    """Candidates by the matcher of this name, all of them measured.

    What is ``known`` must come from the same options and the same pictures; it counts only with borders of its own steps and
    while the median perimeter stays within a tenth.
    """
    return matchers[matcher].find(borders, config, context, learned, known)
