"""All components in one frame: the table on which a person sees and moves them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from jigsawnet.edits import Arrangement, Pieces
from jigsawnet.edits.parting import beside
from jigsawnet.geometry import SE2
from jigsawnet.render.layout import lay_out
from jigsawnet.types import Alignment, Assembly, Edge, Puzzle


def pieces_of(puzzle: Puzzle) -> Pieces:
    """Names and sizes, all that edits need to know."""
    sizes = tuple((fragment.mask.shape[1], fragment.mask.shape[0]) for fragment in puzzle.fragments)
    return Pieces(puzzle.names(), sizes)


def lay_on_table(puzzle: Puzzle, assembly: Assembly) -> Assembly:
    """Components side by side, as in ``assembly.png``; joins with all that edits keep of them."""
    poses = lay_out(puzzle, assembly).canvas_from_fragment
    return _short(dataclasses.replace(assembly, poses=poses))


def lay_back(pieces: Pieces, before: Arrangement, assembly: Assembly) -> Assembly:
    """What a solve gave, with every component where most of it lay before, and beside the others where it would meet them.

    Components with pinned pieces are already in the frame of the table and stay.
    """
    poses: dict[int, SE2] = {}
    pinned = [c for c in assembly.components if before.pinned.intersection(c)]
    free = [c for c in assembly.components if not before.pinned.intersection(c)]
    for component in pinned:
        poses |= {idx: assembly.poses[idx] for idx in component}
    for component in free:
        move = _move_back(before, assembly.poses, component)
        poses |= {idx: move @ assembly.poses[idx] for idx in component}
        poses |= beside(pieces, poses, set(component))
    return _short(dataclasses.replace(assembly, poses=poses))


def _move_back(before: Arrangement, poses: Mapping[int, SE2], component: Iterable[int]) -> SE2:
    """The motion that puts the pieces of the group from which most came where they lay."""
    members = set(component)
    shared = [sorted(members.intersection(group)) for group in before.groups]
    most = max(shared, key=len, default=[])
    if not most:
        return SE2.identity()
    anchor = most[len(most) // 2]
    return before.poses[anchor] @ poses[anchor].inverse()


def _short(assembly: Assembly) -> Assembly:
    """The same to a millionth of a pixel, without what is measured anew anyway: as it reads back from ``edits.json``."""
    edges = (
        Edge(Alignment(a.i, a.j, _rounded(a.i_from_j), score), score)
        for edge in assembly.edges
        for a, score in [(edge.alignment, _share(edge.score))]
    )
    return dataclasses.replace(
        assembly,
        poses={idx: _rounded(pose) for idx, pose in assembly.poses.items()},
        edges=tuple(edges),
        confidence={idx: _share(value) for idx, value in assembly.confidence.items()},
    )


def _rounded(pose: SE2) -> SE2:
    return SE2(round(float(pose.theta), 10), round(float(pose.x), 6), round(float(pose.y), 6))


def _share(value: float) -> float:
    return round(min(max(float(value), 0.0), 1.0), 6)
