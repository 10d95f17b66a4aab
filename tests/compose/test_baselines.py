"""The composers of the two baselines: by what most agrees, not by the best single match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.context import Context
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly

Tiles = Callable[[int], Borders]
TilePose = Callable[..., SE2]
RANKS = ComposeConfig(min_score=0.0)


def run(joins: Sequence[Alignment], borders: Borders, composer: str, config: ComposeConfig = RANKS) -> Assembly:
    rows = Candidates.of(joins)
    return compose(rows.with_scores(rows.fit), borders, composer, config, Context())


def lies_at(assembly: Assembly, places: Mapping[int, SE2]) -> list[bool]:
    """Which pieces lie as they should, seen from piece 0."""
    move = places[0] @ assembly.poses[0].inverse()
    return [(move @ assembly.poses[k]).distance(pose, at=(35, 35))[1] < 5 for k, pose in sorted(places.items())]


def two_rows(tile_pose: TilePose) -> tuple[dict[int, SE2], list[Alignment]]:
    """Two rows of three; two poor matches lay one row on the other rightly, and a better one, of the middles, does not."""
    at = {k: tile_pose(k % 3, k // 3) for k in range(6)}
    pairs = {(0, 1): 0.9, (1, 2): 0.9, (3, 4): 0.9, (4, 5): 0.9, (0, 3): 0.4, (2, 5): 0.4}
    return at, [Alignment(i, j, at[i].inverse() @ at[j], score) for (i, j), score in pairs.items()]


def test_zhang_takes_the_edges_whose_compatible_set_is_the_heaviest(square_tiles: Tiles, tile_pose: TilePose) -> None:
    at, joins = two_rows(tile_pose)
    joins.append(Alignment(1, 4, at[1].inverse() @ tile_pose(1, -1), 0.6))
    assert all(lies_at(run(joins, square_tiles(6), "zhang"), at))
    assert not all(lies_at(run(joins, square_tiles(6), "best-first"), at))


def test_zhang_selects_every_compatible_edge_and_no_other(square_tiles: Tiles, tile_pose: TilePose) -> None:
    at, joins = two_rows(tile_pose)
    joins.append(Alignment(1, 4, at[1].inverse() @ tile_pose(1, -1), 0.6))
    chosen = run(joins, square_tiles(6), "zhang").chosen or ()
    assert {(e.alignment.i, e.alignment.j) for e in chosen} == {(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (2, 5)}


def test_zhang_selects_no_edge_below_the_threshold_though_it_is_compatible(square_tiles: Tiles, tile_pose: TilePose) -> None:
    _, joins = two_rows(tile_pose)
    joins[4] = Alignment(0, 3, joins[4].i_from_j, 0.8)
    chosen = run(joins, square_tiles(6), "zhang", ComposeConfig(min_score=0.5)).chosen or ()
    assert {(e.alignment.i, e.alignment.j) for e in chosen} == {(0, 1), (1, 2), (3, 4), (4, 5), (0, 3)}


def test_tsamoura_takes_the_turn_on_which_most_matches_agree(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """The better match turns the row by a quarter. Where a match of the right turn puts it does not count for its support."""
    at, joins = two_rows(tile_pose)
    joins.append(Alignment(1, 4, at[1].inverse() @ tile_pose(1, 3, 1), 0.6))
    assert all(lies_at(run(joins, square_tiles(6), "tsamoura"), at))
    assert not all(lies_at(run(joins, square_tiles(6), "best-first"), at))
    shifted = [*joins[:4], joins[4], Alignment(2, 5, at[2].inverse() @ tile_pose(5, 4), 0.3), joins[-1]]
    assert all(lies_at(run(shifted, square_tiles(6), "tsamoura"), at)), "0.4 and 0.3 turn alike, against 0.6"


def test_no_piece_comes_to_lie_on_another(square_tiles: Tiles, tile_pose: TilePose) -> None:
    here, right = tile_pose(0, 0), tile_pose(1, 0)
    joins = [Alignment(0, 1, here.inverse() @ right, 0.9), Alignment(0, 2, here.inverse() @ tile_pose(1.1, 0.1), 0.8)]
    for composer in ("zhang", "tsamoura"):
        assert run(joins, square_tiles(3), composer).unplaced == (2,)
