"""Hints turn wrong assemblies into right ones, and what they exclude does not come about by any way."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig, Evidence, SecondRoundConfig, compose, second_round
from jigsawnet.compose.hints import UP_RAD, is_covered, points_beyond, scale_odds, unmet_hints, weigh
from jigsawnet.context import Context
from jigsawnet.errors import InputError
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Constraints, Hint

Tiles = Callable[[int], Borders]
TilePose = Callable[..., SE2]
Places = dict[int, tuple[float, float]]
COMPOSERS = ("best-first", "glc", "hlm", "paper-glc", "paper-hlm", "zhang")
every_composer = pytest.mark.parametrize("composer", COMPOSERS)
RIGHT, DOWN, LEFT, UP = 0.0, math.pi / 2, math.pi, -math.pi / 2


@pytest.fixture
def between(tile_pose: TilePose) -> Callable[..., Alignment]:
    """``between(i, place of i, j, place of j, score)``, places in tile widths, with quarter turns as a third number."""

    def make(i: int, at_i: tuple[float, ...], j: int, at_j: tuple[float, ...], score: float) -> Alignment:
        pose_i, pose_j = (tile_pose(at[0], at[1], *(int(turn) for turn in at[2:])) for at in (at_i, at_j))
        return Alignment(i, j, pose_i.inverse() @ pose_j, fit=score)

    return make


def solved(rows: list[Alignment], borders: Borders, composer: str, *hints: Hint, **decided: object) -> Assembly:
    table = Candidates.of(rows, [a.fit for a in rows]).best_first()
    constraints = Constraints(hints=hints, **decided)  # type: ignore[arg-type]
    return compose(table, borders, composer, ComposeConfig(), Context(), constraints=constraints)


def lies(assembly: Assembly, a: Alignment) -> bool:
    """The two pieces of a join lie as it says."""
    if a.i not in assembly.poses or not any({a.i, a.j} <= set(c) for c in assembly.components):
        return False
    angle, distance = (assembly.poses[a.i].inverse() @ assembly.poses[a.j]).distance(a.i_from_j, at=(35, 35))
    return angle < 0.01 and distance < 1.0


@every_composer
@pytest.mark.parametrize("firm", [True, False])
def test_belong_together_lets_a_doubtful_join_win(
    composer: str, firm: bool, square_tiles: Tiles, between: Callable[..., Alignment]
) -> None:
    """A false join lays 2 where 1 belongs; that 0 and 1 belong together makes the doubtful true one win."""
    false, true = between(0, (0, 0), 2, (1, 0), 0.9), between(0, (0, 0), 1, (1, 0), 0.4)
    assert lies(solved([false, true], square_tiles(3), composer), false)
    together = solved([false, true], square_tiles(3), composer, Hint("together", (0, 1), firm=firm))
    assert lies(together, true)
    assert not lies(together, false)


@every_composer
def test_of_one_page_connects_what_a_doubtful_join_connects(
    composer: str, square_tiles: Tiles, between: Callable[..., Alignment]
) -> None:
    rows = [between(0, (0, 0), 1, (1, 0), 0.9), between(2, (0, 0), 3, (1, 0), 0.9), between(1, (0, 0), 2, (1, 0), 0.2)]
    if composer != "paper-hlm":  # grows one patch alone
        assert [len(c) for c in solved(rows, square_tiles(4), composer).components] == [2, 2]
    assert [len(c) for c in solved(rows, square_tiles(4), composer, Hint("same_page", (1, 2))).components] == [4]


@every_composer
def test_not_together_holds_through_pieces_between(
    composer: str, square_tiles: Tiles, between: Callable[..., Alignment]
) -> None:
    """0-1 and 1-2 would bring 0 and 2 onto one page; the weaker one gives way."""
    rows = [between(0, (0, 0), 1, (1, 0), 0.95), between(1, (1, 0), 2, (2, 0), 0.9)]
    if composer != "paper-hlm":
        assert solved(rows, square_tiles(3), composer).complete
    apart = solved(rows, square_tiles(3), composer, Hint("apart", (0, 2)))
    assert not any({0, 2} <= set(c) for c in apart.components)
    assert lies(apart, rows[0])
    soft = [between(0, (0, 0), 2, (1, 0), 0.9)]
    assert solved(soft, square_tiles(3), composer, Hint("apart", (0, 2), firm=False)).components == ()


@every_composer
def test_nothing_lies_beyond_an_outer_side(composer: str, square_tiles: Tiles, between: Callable[..., Alignment]) -> None:
    """A false join lays 1 to the right of 0, which is an edge; the true one lays it below."""
    false, true = between(0, (0, 0), 1, (1, 0), 0.9), between(0, (0, 0), 1, (0, 1), 0.6)
    assert lies(solved([false, true], square_tiles(2), composer), false)
    assert lies(solved([false, true], square_tiles(2), composer, Hint("edge", (0,), RIGHT)), true)
    assert lies(solved([false, true], square_tiles(2), composer, Hint("edge", (0,), RIGHT, firm=False)), true)
    assert lies(solved([false, true], square_tiles(2), composer, Hint("edge", (0,), DOWN)), false)
    facing = Hint("edge", (1,), LEFT)
    assert lies(solved([false, true], square_tiles(2), composer, facing), true), "the side of the other piece, too"


@every_composer
def test_an_outer_side_is_not_covered_by_way_of_others(
    composer: str, square_tiles: Tiles, between: Callable[..., Alignment]
) -> None:
    """2 comes to lie right of 0 by a chain of joins of which none lies along that side."""
    rows = [between(0, (0, 0), 1, (0, 1), 0.95), between(1, (0, 1), 3, (1, 1), 0.94), between(2, (1, 0), 3, (1, 1), 0.93)]
    around = solved(rows, square_tiles(4), composer, Hint("edge", (0,), RIGHT))
    together = next((set(c) for c in around.components if 0 in c), set())
    assert not {0, 2} <= together
    if composer != "paper-hlm":
        assert solved(rows, square_tiles(4), composer).complete


@every_composer
def test_two_pieces_whose_ways_up_are_known_are_not_joined_upside_down(
    composer: str, square_tiles: Tiles, between: Callable[..., Alignment]
) -> None:
    false, true = between(0, (0, 0), 1, (1, 0, 2), 0.9), between(0, (0, 0), 1, (1, 0), 0.6)
    assert lies(solved([false, true], square_tiles(2), composer), false)
    ups = Hint("up", (0,), UP), Hint("up", (1,), UP + UP_RAD / 2)
    assert lies(solved([false, true], square_tiles(2), composer, *ups), true)
    assert lies(solved([false, true], square_tiles(2), composer, ups[0]), false), "one way up says nothing of the other"


@every_composer
def test_a_rejected_join_does_not_come_back_by_implication(
    composer: str, square_tiles: Tiles, between: Callable[..., Alignment]
) -> None:
    """Around the square the join of 1 and 3 is implied by the three others; after it was rejected it is not."""
    at: Places = {0: (0, 0), 1: (1, 0), 2: (0, 1), 3: (1, 1)}
    pairs = {(0, 1): 0.95, (0, 2): 0.94, (2, 3): 0.93, (1, 3): 0.92}
    rows = [between(i, at[i], j, at[j], score) for (i, j), score in pairs.items()]
    assert solved(rows, square_tiles(4), composer).complete
    rejected = solved(rows, square_tiles(4), composer, forbidden=(rows[-1],))
    assert not lies(rejected, rows[-1])
    assert not rejected.complete


def test_a_chain_of_strips_parts_where_it_must(square_tiles: Tiles, between: Callable[..., Alignment]) -> None:
    rows = [between(0, (0, 0), 1, (1, 0), 0.95), between(1, (1, 0), 2, (2, 0), 0.9)]
    apart = solved(rows, square_tiles(3), "chains", Hint("apart", (0, 2)))
    assert [len(c) for c in apart.components] == [2]


def test_chains_take_the_next_best_instead_of_what_is_excluded(square_tiles: Tiles, between: Callable[..., Alignment]) -> None:
    """0 and 2 both want the same side of 1: the chains choose as a whole, so what is excluded must not be among the choices."""
    rows = [between(0, (0, 0), 1, (1, 0), 0.95), between(1, (1, 0), 2, (0, 0), 0.6)]
    assert lies(solved(rows, square_tiles(3), "chains"), rows[0])
    assert lies(solved(rows, square_tiles(3), "chains", Hint("apart", (0, 1))), rows[1])


def evidence(score: float) -> Evidence:
    """Everything that meets fits as well as this."""

    def measure(rows: Candidates) -> Candidates:
        features = np.full_like(rows.features, 50.0)
        return Candidates.make(rows.i, rows.j, rows.pose, features, fit=score, score=score)

    return Evidence(measure, lambda rows: np.full(len(rows), score), lambda _: Candidates.none())


@pytest.mark.parametrize(("hints", "pages"), [((), 2), ((Hint("same_page", (0, 3)),), 1), ((Hint("apart", (0, 3)),), 2)])
def test_the_second_round_hears_hints(
    hints: tuple[Hint, ...], pages: int, square_tiles: Tiles, between: Callable[..., Alignment], tile_pose: TilePose
) -> None:
    """Two pairs that a weak candidate would join: too weak by itself, enough for what is said to be of one page."""
    rows = [between(0, (0, 0), 1, (1, 0), 0.9), between(2, (2, 0), 3, (3, 0), 0.9), between(1, (1, 0), 2, (2, 0), 0.3)]
    poses = {k: tile_pose(k, 0) for k in range(4)}
    assembly = Assembly(4, poses, ((0, 1), (2, 3)))
    table = Candidates.of(rows, [a.fit for a in rows]).best_first()
    result, _ = second_round(
        table, square_tiles(4), assembly, evidence(0.4), 0.5, SecondRoundConfig(), Constraints(hints=hints)
    )
    assert len(result.components) == pages


def test_the_second_round_keeps_apart_what_fits_well(
    square_tiles: Tiles, between: Callable[..., Alignment], tile_pose: TilePose
) -> None:
    rows = Candidates.of([between(1, (1, 0), 2, (2, 0), 0.9)], [0.9])
    assembly = Assembly(4, {k: tile_pose(k, 0) for k in range(4)}, ((0, 1), (2, 3)))
    for hints, pages in (((), 1), ((Hint("apart", (0, 3)),), 2)):
        result, _ = second_round(
            rows, square_tiles(4), assembly, evidence(0.9), 0.5, SecondRoundConfig(), Constraints(hints=hints)
        )
        assert len(result.components) == pages


def test_odds_are_multiplied() -> None:
    score = np.array([0.0, 0.01, 0.5, 1.0])
    assert scale_odds(score, 1.0) == pytest.approx(score)
    assert scale_odds(score, 99.0) == pytest.approx([0.0, 0.5, 0.99, 1.0])


def test_hints_speak_only_of_their_pieces(square_tiles: Tiles, between: Callable[..., Alignment]) -> None:
    rows = Candidates.of([between(0, (0, 0), 1, (1, 0), 0.3), between(1, (0, 0), 2, (1, 0), 0.2)], [0.3, 0.2])
    assert weigh(rows, (), square_tiles(3)) is rows
    seen = weigh(rows, [Hint("together", (1, 2), firm=False)], square_tiles(3))
    scores = {(int(i), int(j)): float(score) for i, j, score in zip(seen.i, seen.j, seen.score, strict=True)}
    assert scores[0, 1] == 0.3
    assert scores[1, 2] == pytest.approx(0.2 * 30 / (0.8 + 0.2 * 30))


def test_the_side_of_a_piece_is_what_is_seen_from_there(square_tiles: Tiles, tile_pose: TilePose) -> None:
    borders = square_tiles(2)
    for angle, place in ((RIGHT, (1, 0)), (DOWN, (0, 1)), (LEFT, (-1, 0)), (UP, (0, -1))):
        beyond = points_beyond(borders, 0, angle)
        for other in ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (1, -1), (3, 0)):
            pose = tile_pose(0, 0).inverse() @ tile_pose(*other)
            row = np.array([(1, pose.theta, pose.x, pose.y)])
            assert is_covered(borders, SE2.identity(), beyond, row) == (other == place), (angle, other)


def test_a_hint_about_a_piece_that_is_not_there_is_refused(square_tiles: Tiles) -> None:
    with pytest.raises(InputError, match="names piece 7"):
        solved([], square_tiles(2), "hlm", Hint("together", (0, 7)))


def test_what_could_not_be_followed_is_said() -> None:
    assembly = Assembly(4, dict.fromkeys(range(4), SE2.identity()), ((0, 1), (2, 3)))
    hints = [Hint("together", (0, 1)), Hint("together", (1, 2)), Hint("same_page", (0, 3)), Hint("apart", (0, 1), firm=False)]
    one, other, third = unmet_hints(hints, assembly, "abcd".__getitem__)
    assert one == "You said that b and c belong together, but no candidate that fits brings them together."
    assert "a and d are of one page" in other
    assert "a and b may not belong together" in third


def test_decisions_that_hold_together_what_may_not_be_together_are_named(
    square_tiles: Tiles, between: Callable[..., Alignment]
) -> None:
    join = between(0, (0, 0), 1, (1, 0), 1.0)
    with pytest.raises(InputError, match="pieces 0 and 1 are said not to belong together"):
        solved([], square_tiles(2), "hlm", Hint("apart", (0, 1)), joins=(join,))
