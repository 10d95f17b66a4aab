"""How the pieces lie on the table after some edits, and what a person has decided about them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import scipy

from jigsawnet.edits.pages import Page, PageNote, pages_of
from jigsawnet.edits.remarks import Notes
from jigsawnet.errors import EditError
from jigsawnet.geometry import SE2, is_same_join
from jigsawnet.reliability import piece_reliability, strongest_tree
from jigsawnet.types import Alignment, Assembly, Constraints, Hint, Join, Puzzle, sort_components

Pair = tuple[int, int]
"""Two pieces, the smaller number first."""
NO_NOTES = Notes()


@dataclass(frozen=True, slots=True)
class PieceSizes:
    """What the edits need to know of a puzzle: ``names`` and ``sizes`` (width, height) in px, in order of idx."""

    names: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]

    @staticmethod
    def of(puzzle: Puzzle) -> PieceSizes:
        """Names and sizes of the pieces of a puzzle."""
        return PieceSizes(puzzle.names(), tuple((f.mask.shape[1], f.mask.shape[0]) for f in puzzle.pieces))

    def __len__(self) -> int:
        return len(self.names)

    def middle(self, idx: int) -> tuple[float, float]:
        """The middle of the piece's picture, in its own frame."""
        width, height = self.sizes[idx]
        return (width - 1) / 2, (height - 1) / 2

    def is_same_join(self, j: int, one: SE2, other: SE2) -> bool:
        """True when two ``i_from_j`` are the same join to a person."""
        return is_same_join(one, other, self.middle(j))

    def known(self, chosen: Collection[int]) -> frozenset[int]:
        """The pieces chosen.

        Raises:
            EditError: there are none, or one of them does not exist.
        """
        if not chosen:
            raise EditError("An edit must name at least one piece.")
        for idx in chosen:
            if not 0 <= idx < len(self):
                raise EditError(f"There is no piece number {idx}: the pieces are numbered from 0 to {len(self) - 1}.")
        return frozenset(chosen)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """``poses`` of the pieces on the table; ``components`` and ``joins`` as in `Assembly`, one join for a pair, sorted by pair.

    ``by_hand`` are the pieces that a person has put where they lie, ``notes`` what was said of pages, in their order,
    and ``remarks`` what was said of all else; ``hints`` are what the solver is told.
    """

    poses: Mapping[int, SE2]
    components: tuple[tuple[int, ...], ...]
    joins: Mapping[Pair, Join]
    confidence: Mapping[int, float]
    accepted: frozenset[Pair] = frozenset()
    rejected: tuple[Alignment, ...] = ()
    pinned: frozenset[int] = frozenset()
    aside: frozenset[int] = frozenset()
    by_hand: frozenset[int] = frozenset()
    notes: tuple[PageNote, ...] = ()
    remarks: Notes = NO_NOTES
    hints: tuple[Hint, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "poses", MappingProxyType(dict(self.poses)))
        object.__setattr__(self, "joins", MappingProxyType(dict(sorted(self.joins.items()))))
        object.__setattr__(self, "confidence", MappingProxyType(dict(self.confidence)))
        object.__setattr__(self, "components", sort_components(self.components))

    @staticmethod
    def of(assembly: Assembly) -> Arrangement:
        """How a solve left the pieces; all components must be in one frame. Of several joins of a pair the first counts."""
        component = {idx: k for k, members in enumerate(assembly.components) for idx in members}
        joins: dict[Pair, Join] = {}
        for join in assembly.joins:
            i, j = join.alignment.i, join.alignment.j
            if i in component and component[i] == component.get(j):
                joins.setdefault((i, j), join)
        return Arrangement(assembly.poses, assembly.components, joins, assembly.confidence)

    def to_assembly(self, n_pieces: int) -> Assembly:
        """The same as the rest of the package knows it."""
        return Assembly(n_pieces, self.poses, self.components, tuple(self.joins.values()), self.confidence)

    @property
    def backs(self) -> frozenset[int]:
        """Pieces that show the back of another, and are not placed."""
        return frozenset(hint.pieces[0] for hint in self.hints if hint.kind == "back")

    @property
    def all_notes(self) -> Notes:
        """What was said of the case, pages, pieces and joins."""
        texts = {page.pieces: page.text for page in self.pages if page.text}
        return replace(self.remarks, pages={k: texts[own] for k, own in enumerate(self.components) if own in texts})

    @property
    def pages(self) -> tuple[Page, ...]:
        """The components as pages, in order."""
        return pages_of(self.components, self.notes)

    def constraints(self) -> Constraints:
        """What the solver has to keep. Fixed joins hold as the pieces lie, so that they cannot contradict each other."""
        return Constraints(
            joins=tuple(Alignment(i, j, self.relation(i, j), 1.0) for i, j in self.fixed_joins()),
            forbidden=self.rejected,
            pinned={idx: self.poses[idx] for idx in sorted(self.pinned)},
            aside=self.aside | self.backs,
            hints=self.hints,
        )

    def fixed_joins(self) -> list[Pair]:
        """Accepted joins, and those inside of what a person has moved as it was."""
        return [pair for pair in self.joins if pair in self.accepted or self.by_hand.issuperset(pair)]

    def relation(self, i: int, j: int) -> SE2:
        """i_from_j as the two pieces lie."""
        return self.poses[i].inverse() @ self.poses[j]

    def component_of(self, idx: int) -> tuple[int, ...]:
        """The component of a piece that is placed."""
        return next(component for component in self.components if idx in component)

    def with_joins(self, joins: Mapping[Pair, Join]) -> Arrangement:
        """Other joins; where joins changed, the pieces of a component are as sure as the joins that it has now make them."""
        changed = {idx for pair in {*joins, *self.joins} if joins.get(pair) != self.joins.get(pair) for idx in pair}
        touched = [component for component in self.components if not changed.isdisjoint(component)]
        gone = changed.union(*touched)
        confidence = {idx: value for idx, value in self.confidence.items() if idx in self.poses and idx not in gone}
        sure = np.array([join.confidence for join in joins.values()])
        tree = strongest_tree(max(self.poses, default=-1) + 1, list(joins), sure)
        held = {idx for pair in joins for idx in pair}
        found = piece_reliability(tree, sure[list(tree.edges)], touched)
        confidence |= {idx: value for idx, value in found.items() if idx in held}
        return replace(self, joins=joins, accepted=self.accepted.intersection(joins), confidence=confidence)

    def with_accepted(self, pieces: PieceSizes, pairs: Collection[Pair]) -> Arrangement:
        """Joins as the pieces lie become certain and connect their components; rejections of them no longer hold."""
        joins = dict(self.joins)
        for i, j in pairs:
            old, now = joins.get((i, j)), self.relation(i, j)
            same = old is not None and pieces.is_same_join(j, old.alignment.i_from_j, now)
            joins[i, j] = Join(old.alignment if old is not None and same else Alignment(i, j, now, 1.0), 1.0)
        rejected = tuple(
            a
            for a in self.rejected
            if (a.i, a.j) not in pairs or not pieces.is_same_join(a.j, a.i_from_j, self.relation(a.i, a.j))
        )
        components = sort_components(merged(self.components, pairs))
        accepted = self.accepted.union(pairs)
        return replace(self, components=components, rejected=rejected, accepted=accepted).with_joins(joins)

    def without(self, gone: Collection[int]) -> Arrangement:
        """Pieces leave the table; what only they held together falls apart."""
        off = frozenset(gone)
        joins = {pair: join for pair, join in self.joins.items() if off.isdisjoint(pair)}
        parts: list[Collection[int]] = []
        for component in self.components:
            untouched = off.isdisjoint(component)
            parts += [component] if untouched else split(component, set(component) - off, self.joins, joins)
        poses = {idx: pose for idx, pose in self.poses.items() if idx not in off}
        left = replace(
            self, poses=poses, components=sort_components(parts), pinned=self.pinned - off, by_hand=self.by_hand - off
        )
        return left.with_joins(joins)


def connected(members: Iterable[int], pairs: Iterable[Pair]) -> list[set[int]]:
    """The parts into which ``pairs`` connect ``members``, by smallest member; pairs that lead elsewhere do not count."""
    number = {idx: k for k, idx in enumerate(sorted(members))}
    inside = np.array([(number[i], number[j]) for i, j in pairs if i in number and j in number], np.int64).reshape(-1, 2)
    graph = scipy.sparse.csr_array((np.ones(len(inside), bool), inside.T), shape=(len(number), len(number)))
    parts: dict[int, set[int]] = {}
    labels = scipy.sparse.csgraph.connected_components(graph, directed=False)[1].tolist() if number else ()
    for idx, label in zip(number, labels, strict=True):
        parts.setdefault(label, set()).add(idx)
    return list(parts.values())


def merged(parts: Iterable[Iterable[int]], pairs: Iterable[Pair]) -> list[set[int]]:
    """Parts that a pair connects become one."""
    whole = [set(part) for part in parts]
    part_of = {idx: k for k, part in enumerate(whole) for idx in part}
    links = [(part_of[i], part_of[j]) for i, j in pairs if i in part_of and j in part_of]
    return [set().union(*(whole[k] for k in chain)) for chain in connected(range(len(whole)), links)]


def split(
    component: Collection[int], left: Collection[int], before: Collection[Pair], after: Collection[Pair]
) -> list[set[int]]:
    """What the pieces ``left`` of a component become when only the joins ``after`` remain of those ``before``.

    Pieces that were together without joins, such as pinned ones, still are; the largest part of each stays with them.
    """
    main: set[int] = set()
    parts: list[set[int]] = []
    for old in connected(component, before):
        now = sorted(connected(old.intersection(left), after), key=lambda part: (-len(part), min(part)))
        main |= now[0] if now else set()
        parts += now[1:]
    return [main, *parts] if main else parts
