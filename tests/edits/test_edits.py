"""Lists of edits: deterministic, undone without a trace, and never worse than one sentence."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from jigsawnet.edits import (
    KINDS,
    Accept,
    Apart,
    Arrangement,
    BackOf,
    Cut,
    DropHint,
    EdgeSide,
    Edit,
    Edits,
    LayOutPages,
    Move,
    NamePage,
    NoteCase,
    NoteJoin,
    NotePage,
    NotePiece,
    OrderPage,
    PieceSizes,
    Pin,
    Reject,
    SamePage,
    SetAside,
    Solved,
    TakeBack,
    TakeOff,
    Together,
    TurnPage,
    Unpin,
    UpSide,
)  # fmt: skip
from jigsawnet.errors import EditError, FormatError, JigsawNetError
from jigsawnet.geometry import SE2
from jigsawnet.io.edits_json import edits_to_json, load_edits, parse_edit, read_edits, save_edits
from jigsawnet.types import Alignment, Assembly, Join

SIDE = 60
PIECES = PieceSizes(tuple(f"piece {k}.png" for k in range(8)), ((SIDE, SIDE),) * 8)


def _join(poses: dict[int, SE2], i: int, j: int, score: float = 0.9) -> Join:
    return Join(Alignment(i, j, poses[i].inverse() @ poses[j], score), score)


def _start() -> Assembly:
    """A square of four tiles (0 1 / 2 3) with all four joins, a pair (4 5) to its right, and 6 and 7 in the tray."""
    poses = {k: SE2(0.0, SIDE * (k % 2), SIDE * (k // 2)) for k in range(4)}
    poses |= {4: SE2(0.5, 400.0, 0.0), 5: SE2(0.5, 400.0, 0.0) @ SE2(0.0, SIDE, 0.0)}
    pairs = {(0, 1): 0.9, (0, 2): 0.8, (1, 3): 0.7, (2, 3): 0.6, (4, 5): 0.5}
    joins = tuple(_join(poses, i, j, score) for (i, j), score in pairs.items())
    return Assembly(8, poses, ((0, 1, 2, 3), (4, 5)), joins, dict.fromkeys(range(6), 0.9))


START = _start()
piece = st.integers(-1, 8)
some = st.lists(piece, max_size=3).map(tuple)
number = st.one_of(st.floats(-2000, 2000), st.sampled_from([math.nan, math.inf, 1e9, 0.0]))
pose = st.builds(SE2, number, number, number)
pairs = st.lists(st.tuples(piece, piece), max_size=2).map(tuple)


@st.composite
def solved(draw: st.DrawFn) -> Solved:
    """An arrangement as a solver may give it: a line of some pieces."""
    chosen = draw(st.lists(st.integers(0, 7), unique=True, min_size=2, max_size=6))
    poses = {idx: SE2(0.0, SIDE * float(k), 900.0) for k, idx in enumerate(chosen)}
    joins = tuple(_join(poses, min(a, b), max(a, b)) for a, b in pairwise(chosen))
    return Solved(Assembly(8, poses, (tuple(sorted(chosen)),), joins, dict.fromkeys(chosen, 0.5)))


edit = st.one_of(
    st.builds(Move, st.dictionaries(piece, pose, max_size=4), pairs, st.booleans()),
    st.builds(NamePage, piece, st.text(max_size=3)),
    st.builds(OrderPage, piece, st.integers(-1, 4)),
    st.builds(TurnPage, piece, number),
    st.just(LayOutPages()),
    *(st.builds(kind, some, st.booleans()) for kind in (Together, SamePage, Apart)),
    *(st.builds(kind, piece, number, st.booleans()) for kind in (EdgeSide, UpSide)),
    st.builds(BackOf, piece, piece),
    st.builds(DropHint, st.integers(-1, 3)),
    st.builds(NoteCase, st.text(max_size=3)),
    st.builds(NotePage, piece, st.text(max_size=3)),
    st.builds(NotePiece, piece, st.text(max_size=3)),
    st.builds(NoteJoin, piece, piece, st.text(max_size=3)),
    st.builds(Accept, piece, piece),
    st.builds(Reject, piece, piece),
    st.builds(Cut, piece, piece),
    *(st.builds(kind, some) for kind in (TakeOff, Pin, Unpin, SetAside, TakeBack)),
    solved(),
)


def _sensible(wanted: list[Edit]) -> Edits:
    """The edits that can be made one after the other, as the workbench would take them."""
    edits, now = Edits(START), Arrangement.of(START)
    for one in wanted:
        try:
            now = one.apply(PIECES, now)
        except EditError:
            continue
        edits = edits.added(one)
    return edits


def _applied(edits: Edits) -> Arrangement:
    now = Arrangement.of(edits.start)
    for one in edits.done:
        now = one.apply(PIECES, now)
    return now


@settings(deadline=None, max_examples=60)
@given(st.lists(edit, max_size=12))
def test_any_edit_is_taken_or_refused_in_a_sentence_and_leaves_a_whole_arrangement(wanted: list[Edit]) -> None:
    now = Arrangement.of(START)
    for one in wanted:
        try:
            now = one.apply(PIECES, now)
        except JigsawNetError:
            continue
        assembly = now.to_assembly(8)  # checks that every placed piece is in one component
        component = {idx: k for k, members in enumerate(now.components) for idx in members}
        assert all(component[i] == component[j] for i, j in now.joins)
        assert now.accepted <= set(now.joins)
        assert now.pinned <= set(now.poses)
        assert now.by_hand <= set(now.poses)
        assert now.aside.isdisjoint(now.poses)
        assert set(assembly.confidence) <= set(now.poses)
        assert one.describe(PIECES.names)
        constraints = now.constraints()
        assert set(constraints.pinned) == now.pinned


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(edit, max_size=10))
def test_undone_to_the_start_nothing_is_left_and_redone_all_is_back(tmp_path: Path, wanted: list[Edit]) -> None:
    first = edits_to_json(Edits(START), PIECES.names)
    edits = _sensible(wanted)
    done, text = _applied(edits), edits_to_json(edits, PIECES.names)
    back = edits
    while back.in_force:
        back = back.back()
    assert edits_to_json(back, PIECES.names) == first
    assert _applied(back) == Arrangement.of(START)
    save_edits(tmp_path, back, PIECES.names)
    again = load_edits(tmp_path, PIECES.names)
    assert again == back
    while again.undone:
        again = again.forward()
    assert edits_to_json(again, PIECES.names) == text
    assert _applied(again) == done


@settings(deadline=None, max_examples=60)
@given(st.lists(edit, max_size=10))
def test_the_same_list_gives_the_same_arrangement(wanted: list[Edit]) -> None:
    edits = _sensible(wanted)
    assert _applied(edits) == _applied(edits)


def test_a_piece_moved_away_leaves_its_group_and_its_joins() -> None:
    now = Move({1: SE2(0.3, 1000.0, 0.0)}).apply(PIECES, Arrangement.of(START))
    assert set(now.joins) == {(0, 2), (2, 3), (4, 5)}
    assert now.components == ((0, 2, 3), (4, 5), (1,))
    assert now.by_hand == {1}
    assert 1 not in now.confidence
    assert now.confidence[3] == pytest.approx(0.6)


def test_what_hung_together_only_by_the_piece_moved_falls_apart() -> None:
    line = Cut(2, 3).apply(PIECES, Arrangement.of(START))
    line = Move({0: SE2(0.0, 0.0, 2000.0)}).apply(PIECES, line)
    assert (2,) in line.components


def test_a_group_moved_as_a_whole_keeps_its_joins_and_they_are_fixed() -> None:
    shift = SE2(0.4, 50.0, -700.0)
    now = Move({k: shift @ START.poses[k] for k in range(4)}).apply(PIECES, Arrangement.of(START))
    assert now.components == Arrangement.of(START).components
    assert len(now.joins) == 5
    fixed = now.constraints().joins
    assert {(a.i, a.j) for a in fixed} == {(0, 1), (0, 2), (1, 3), (2, 3)}
    assert all(angle < 1e-9 and px < 1e-6 for a in fixed for angle, px in [a.i_from_j.distance(now.relation(a.i, a.j))])


def test_a_nudge_within_a_group_keeps_the_join() -> None:
    now = Move({1: SE2(0.01, SIDE + 2.0, 1.0)}).apply(PIECES, Arrangement.of(START))
    assert now.components == Arrangement.of(START).components


def test_a_move_onto_a_candidate_accepts_it() -> None:
    now = Move({6: SE2(0.0, 2.0 * SIDE, 0.0)}, ((6, 1),)).apply(PIECES, Arrangement.of(START))
    assert now.accepted == {(1, 6)}
    assert now.component_of(6) == (0, 1, 2, 3, 6)
    assert now.joins[1, 6].score == 1.0
    assert now.confidence[6] == 1.0


def test_rejecting_a_join_parts_the_group_at_its_weakest_and_forbids_it() -> None:
    now = Reject(1, 3).apply(PIECES, Arrangement.of(START))
    assert [(a.i, a.j) for a in now.rejected] == [(1, 3)]
    assert set(now.joins) == {(0, 1), (0, 2), (4, 5)}  # 2-3 is the weakest of the way round
    assert now.components == ((0, 1, 2), (4, 5), (3,))
    assert now.constraints().forbidden == now.rejected
    x, y = now.poses[3].x, now.poses[3].y
    assert max(abs(x - SIDE), abs(y - SIDE)) >= SIDE / 4  # laid beside, on nothing
    boxes = [(p.x, p.y) for idx, p in now.poses.items() if idx < 3]
    assert all(abs(x - a) >= SIDE or abs(y - b) >= SIDE for a, b in boxes)


def test_a_cut_is_not_forbidden_and_pinned_pieces_stay() -> None:
    pinned = Pin((3,)).apply(PIECES, Arrangement.of(START))
    now = Cut(1, 3).apply(PIECES, pinned)
    assert now.rejected == ()
    assert now.poses[3] == START.poses[3]
    assert now.poses[1] != START.poses[1]


def test_accepting_what_was_rejected_takes_the_rejection_back() -> None:
    now = Reject(4, 5).apply(PIECES, Arrangement.of(START))
    now = Move({5: START.poses[5], 4: START.poses[4]}, ((4, 5),)).apply(PIECES, now)
    assert now.rejected == ()
    assert (4, 5) in now.accepted


def test_a_piece_set_aside_is_not_placed_until_it_is_taken_back() -> None:
    now = SetAside((3,)).apply(PIECES, Arrangement.of(START))
    assert 3 not in now.poses
    assert now.constraints().aside == {3}
    with pytest.raises(EditError, match="set aside"):
        Move({3: SE2.identity()}).apply(PIECES, now)
    back = TakeBack((3,)).apply(PIECES, now)
    assert Move({3: SE2.identity()}).apply(PIECES, back).poses[3] == SE2.identity()


def test_after_a_solve_what_was_fixed_is_still_decided() -> None:
    now = Accept(0, 1).apply(PIECES, Arrangement.of(START))
    now = Move({6: SE2(0.0, 3000.0, 0.0)}).apply(PIECES, now)
    now = Solved(START).apply(PIECES, now)
    assert now.accepted == {(0, 1)}
    assert now.poses[6] == SE2(0.0, 3000.0, 0.0)  # laid down by hand, and not placed by the solver
    assert now.by_hand == {6}


@pytest.mark.parametrize(
    "bad",
    [
        Move({}), Move({0: SE2(math.nan, 0, 0)}), Move({0: SE2(0, 1e8, 0)}), Move({0: SE2.identity()}, ((0, 7),)),
        Move({0: SE2.identity()}, ((0, 0),)), Accept(0, 3), Cut(6, 7), Pin((6,)), TakeOff((7,)), Unpin((99,)), Reject(0, 0),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(bad: Edit) -> None:
    with pytest.raises(EditError, match=r"\.$"):
        bad.apply(PIECES, Arrangement.of(START))


def test_the_file_reads_as_a_list(tmp_path: Path) -> None:
    edits = Edits(START).added(Reject(1, 3)).added(Pin((0, 2))).added(Solved(START))
    save_edits(tmp_path, edits, PIECES.names)
    lines = (tmp_path / "edits.json").read_text().splitlines()
    assert lines[0] == '{"format": "jigsawnet/edits", "version": 1,'
    assert lines[2].strip() == '{"kind": "reject", "i": "piece 1.png", "j": "piece 3.png"},'
    assert lines[4].strip() == '{"kind": "solved", "result": 1}'
    assert read_edits(tmp_path / "edits.json", PIECES.names) == edits


EVERY_KIND = (
    Move({6: SE2(0.5, 900.0, -3.25)}, ((1, 6),)), TakeOff((4,)), Accept(0, 1), Reject(1, 3), Cut(0, 2), Pin((0, 2)),
    Unpin((0,)), SetAside((3,)), TakeBack((3,)), NamePage(4, "Letter"), OrderPage(4, 1), TurnPage(4, 1.5), LayOutPages(),
    NoteCase("Found in\nthe attic"), NotePage(4, "An envelope"), NotePiece(7, "stained"), NoteJoin(5, 4, "glued once"),
    Together((0, 1)), SamePage((0, 4), False), Apart((4, 6)), EdgeSide(3, 1.5), UpSide(3, -0.5, False), BackOf(7, 6),
    DropHint(2),
    Solved(START),
)  # fmt: skip


def test_every_kind_is_written_read_described_and_documented(tmp_path: Path) -> None:
    assert [type(one) for one in EVERY_KIND] == list(KINDS.values())
    table = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    for one in EVERY_KIND:
        edits = Edits(START).added(one)
        save_edits(tmp_path, edits, PIECES.names)
        assert read_edits(tmp_path / "edits.json", PIECES.names) == edits
        assert json.loads((tmp_path / "edits.json").read_text())["edits"][0]["kind"] == one.kind
        assert re.search(rf"^\|.*`{one.kind}`.*\|$", table, re.MULTILINE)
        assert len(one.describe(PIECES.names)) > len(one.kind)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"kind": "pine", "pieces": []}, "edits[0].kind is not the name of a kind of edit"),
        ({"kind": "pin"}, 'edits[0] must be an object with the field "pieces"'),
        ({"kind": "pin", "pieces": "piece 1.png"}, "edits[0].pieces must be a list"),
        (
            {"kind": "accept", "i": "piece 1.png", "j": "other.png"},
            "edits[0].j names 'other.png', which is not among the pieces",
        ),
        ({"kind": "move", "poses": {"piece 1.png": [0, 1]}}, "edits[0].poses: [...] must be a list of 3"),
        ({"kind": "move", "poses": {}, "joins": [["piece 1.png"]]}, "edits[0].joins: [0] must be a list of 2"),
        (7, "edits[0] must be an object"),
    ],
)
def test_a_damaged_edit_is_named_by_file_and_place(tmp_path: Path, entry: object, words: str) -> None:
    path = tmp_path / "edits.json"
    path.write_text(json.dumps(json.loads(edits_to_json(Edits(START), PIECES.names)) | {"edits": [entry]}))
    with pytest.raises(FormatError) as caught:
        read_edits(path, PIECES.names)
    assert str(caught.value) == f"{path}: {words}."


def test_undone_edits_of_another_list_are_not_taken(tmp_path: Path) -> None:
    edits = Edits(START).added(Reject(1, 3)).added(Pin((0,))).back()
    save_edits(tmp_path, edits, PIECES.names)
    kept = (tmp_path / "edits_undone.json").read_bytes()
    save_edits(tmp_path, edits.added(Pin((2,))), PIECES.names)
    assert not (tmp_path / "edits_undone.json").exists()
    (tmp_path / "edits_undone.json").write_bytes(kept)  # as after a crash between the two writes
    assert load_edits(tmp_path, PIECES.names).undone == ()


@pytest.mark.parametrize(
    "change",
    [
        ('"reject"', '"solve"'), ("piece 1.png", "other.png"), ('"results"', '"result"'), ('"component": 0', '"component": -1'),
        ('"pose": [0.0', '"pose": ["0"'), ('"version": 1', '"version": 2'), ('"kind": "reject"', '"kind": ["reject"]'),
        ('"result": 1', '"result": 7'),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_in_a_sentence(tmp_path: Path, change: tuple[str, str]) -> None:
    text = edits_to_json(Edits(START).added(Reject(1, 3)).added(Solved(START)), PIECES.names)
    assert change[0] in text
    (tmp_path / "edits.json").write_text(text.replace(*change, 1))
    with pytest.raises(FormatError):
        read_edits(tmp_path / "edits.json", PIECES.names)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from([*PIECES.names, "move", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PIECES.names, "x"]), inner, max_size=3),
    max_leaves=8,
)
kinds = st.sampled_from(["move", "accept", "reject", "cut", "pin", "unpin", "set_aside", "take_off", "take_back", "solved", 1])


@settings(deadline=None, max_examples=150)
@given(
    st.fixed_dictionaries(
        {"kind": kinds}, optional=dict.fromkeys(("poses", "joins", "pieces", "i", "j", "result"), json_values)
    )
)
def test_whatever_stands_in_a_list_it_is_read_or_refused(entry: dict[str, object]) -> None:
    index = {name: idx for idx, name in enumerate(PIECES.names)}

    def find(value: object, where: str) -> int:
        if not isinstance(value, str) or value not in index:
            raise FormatError(f"{where} names no piece.")
        return index[value]

    try:
        one = parse_edit(entry, find, "edit")
        one.apply(PIECES, Arrangement.of(START))
    except JigsawNetError as error:
        event(type(error).__name__)
    else:
        event("taken")


def _titles(now: Arrangement) -> list[str]:
    return [page.title for page in now.pages]


def test_pages_are_named_ordered_and_found_again() -> None:
    now = Arrangement.of(START)
    assert _titles(now) == ["Page 1", "Page 2"]
    now = NamePage(5, "Envelope").apply(PIECES, now)
    assert _titles(now) == ["Page 1", "Envelope"]
    now = OrderPage(4, 1).apply(PIECES, now)
    assert _titles(now) == ["Envelope", "Page 2"]
    parted = Reject(4, 5).apply(PIECES, now)
    assert _titles(parted)[0] == "Envelope", "one of the two halves keeps the name"
    assert len(parted.pages) == 3
    joined = Move({4: SE2(0.0, 2.0 * SIDE, 0.0), 5: SE2(0.0, 3.0 * SIDE, 0.0)}, ((1, 4),)).apply(PIECES, now)
    assert len(joined.pages) == 1
    back = Cut(1, 4).apply(PIECES, joined)
    assert sorted(_titles(back)) == ["Envelope", "Page 2"], "a name comes back with its pieces"
    with pytest.raises(EditError, match="no page number 9"):
        OrderPage(4, 9).apply(PIECES, now)
    with pytest.raises(EditError, match="on no page"):
        NamePage(7, "x").apply(PIECES, now)


def test_a_page_is_turned_about_its_middle_as_it_is() -> None:
    now = Arrangement.of(START)
    turned = TurnPage(0, math.pi / 2).apply(PIECES, now)
    assert turned.joins == now.joins
    for i, j in now.joins:
        angle, distance = turned.relation(i, j).distance(now.relation(i, j))
        assert angle < 1e-9
        assert distance < 1e-6
    middle = (SIDE - 0.5, SIDE - 0.5)
    corner = turned.poses[0] @ [SIDE - 0.5, SIDE - 0.5]
    assert corner == pytest.approx(middle)
    assert turned.poses[0].theta == pytest.approx(math.pi / 2)
    with pytest.raises(EditError, match="unpin it"):
        TurnPage(0, 1.0).apply(PIECES, Pin((2,)).apply(PIECES, now))


def test_notes_move_nothing_and_outlive_cuts_and_solves() -> None:
    now = Arrangement.of(START)
    for edit in (
        NoteCase("Found in the attic"), NotePage(4, "An envelope"), NotePiece(7, " stained\n"), NoteJoin(3, 1, "glued"),
        Cut(1, 3), Solved(START),
    ):  # fmt: skip
        now = edit.apply(PIECES, now)
    notes = now.all_notes
    assert (notes.case, dict(notes.pages), dict(notes.pieces)) == ("Found in the attic", {1: "An envelope"}, {7: "stained"})
    assert dict(notes.joins) == {(1, 3): "glued"}, "whichever way the pair is named"
    assert now.pages[1].name == ""
    assert {**now.poses} == {**START.poses}
    for edit in (NoteCase(""), NotePage(5, ""), NotePiece(7, " "), NoteJoin(1, 3, "")):
        now = edit.apply(PIECES, now)
    assert not now.all_notes


@pytest.mark.parametrize("text", ["x" * 2001, "a\0b", "\x1b[31m", "\ud800"])
def test_notes_are_text_of_bounded_length(text: str) -> None:
    for edit in (NoteCase(text), NotePage(0, text), NotePiece(0, text), NoteJoin(0, 1, text)):
        with pytest.raises(EditError, match="2,000 characters"):
            edit.apply(PIECES, Arrangement.of(START))


def test_notes_of_what_is_not_there_are_refused() -> None:
    for edit in (NotePage(7, "in the tray"), NotePiece(9, "x"), NoteJoin(1, 1, "x"), NoteJoin(0, 9, "x")):
        with pytest.raises(EditError):
            edit.apply(PIECES, Arrangement.of(START))


def _after(*edits: Edit) -> Arrangement:
    now = Arrangement.of(START)
    for edit in edits:
        now = edit.apply(PIECES, now)
    return now


def test_hints_move_nothing_reach_the_solver_and_outlive_solves() -> None:
    now = _after(Together((1, 0)), SamePage((0, 4), False), EdgeSide(3, 7.0), Solved(START))
    assert {**now.poses} == {**START.poses}
    hints = now.constraints().hints
    assert [(hint.kind, hint.pieces, hint.firm) for hint in hints] == [
        ("together", (0, 1), True), ("same_page", (0, 4), False), ("edge", (3,), True),
    ]  # fmt: skip
    assert hints[2].angle == pytest.approx(7.0 - 2 * math.pi)
    assert [hint.kind for hint in _after(Together((0, 1)), Apart((4, 6)), DropHint(1)).hints] == ["apart"]


def test_what_is_said_anew_takes_the_place_of_what_was_said() -> None:
    now = _after(Together((0, 1)), Together((1, 0), False), UpSide(6, 0.0), UpSide(6, 1.0), EdgeSide(6, 0.0), EdgeSide(6, 1.6))
    assert [(hint.kind, hint.firm, hint.angle) for hint in now.hints] == [
        ("together", False, 0.0), ("up", True, 1.0), ("edge", True, 0.0), ("edge", True, 1.6),
    ]  # fmt: skip


def test_the_page_of_a_piece_is_turned_so_that_its_upper_side_is_up() -> None:
    now = _after(UpSide(4, 0.0))
    assert math.remainder(now.poses[4].theta, 2 * math.pi) == pytest.approx(-math.pi / 2)
    assert {*now.joins} == {*Arrangement.of(START).joins}, "as a whole"
    pinned = _after(Pin((5,)), UpSide(4, 0.0))
    assert pinned.poses[4] == START.poses[4]
    assert len(pinned.hints) == 1


def test_a_back_is_no_piece_of_its_own() -> None:
    now = _after(BackOf(3, 6))
    assert 3 not in now.poses
    assert now.constraints().aside == {3}
    with pytest.raises(EditError, match="is the back of another"):
        Move({3: SE2.identity()}).apply(PIECES, now)
    assert DropHint(1).apply(PIECES, now).constraints().aside == frozenset()


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ((Together((1,)),), "two pieces and more"),
        ((Apart((1, 1)),), "two pieces and more"),
        ((Together((0, 1)), Apart((1, 0))), "piece 0.png and piece 1.png belong together. Take that back first"),
        ((Apart((0, 1, 2)), SamePage((1, 2, 5))), "do not belong together. Take that back first"),
        ((EdgeSide(0, math.inf),), "must be a number"),
        ((BackOf(2, 2),), "not the back of itself"),
        ((BackOf(2, 3), BackOf(3, 4)), "is the back of piece 3.png. Take that back first"),
        ((DropHint(1),), "no hint number 1"),
    ],
)
def test_hints_that_make_no_sense_are_refused_in_a_sentence(edits: tuple[Edit, ...], words: str) -> None:
    with pytest.raises(EditError, match=re.escape(words)):
        _after(*edits)
