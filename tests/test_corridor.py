"""The corridor: the same with any store, each stage done when what it depends on has changed, and nothing unfinished kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jigsawnet import pipeline
from jigsawnet.candidates import Candidates
from jigsawnet.compose import SecondRoundConfig
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig
from jigsawnet.errors import ModelError
from jigsawnet.geometry import SE2
from jigsawnet.io.array_store import FolderStore, Saved
from jigsawnet.io.run_folder import lock_folder
from jigsawnet.learned import Learned, load_learned
from jigsawnet.match import DenseConfig, MatchConfig, RaggedConfig, TsamouraConfig, VerifyConfig, ZhangConfig
from jigsawnet.pipeline import STAGES, Corridor, Stage, assemble_in_time, solve_puzzle
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Assembly, Constraints, Puzzle

SAVED = ["match", "score", "assembly"]
NAMES = [stage.name for stage in STAGES]
CONFIG = SolveConfig()
MATCH, COMPOSE, REFINE, SECOND = CONFIG.match, CONFIG.compose, CONFIG.refine, CONFIG.second_round


class MemoryStore:
    """The smallest store: what was saved, and what was asked for."""

    def __init__(self) -> None:
        self.saved: dict[tuple[str, str], Saved] = {}
        self.asked: list[tuple[str, str | None]] = []

    def load(self, name: str, key: str | None = None) -> Saved | None:
        self.asked.append((name, key))
        return self.saved.get((name, key or ""))

    def save(self, stages: Mapping[str, Saved]) -> None:
        self.saved |= {(name, saved.key): saved for name, saved in stages.items()}

    @property
    def names(self) -> list[str]:
        return sorted(name for name, _ in self.saved)


@pytest.fixture(scope="module")
def puzzle(tiny_puzzle: tuple[Puzzle, Assembly]) -> Puzzle:
    return tiny_puzzle[0]


@pytest.fixture(scope="module")
def walked(puzzle: Puzzle) -> tuple[Assembly, MemoryStore]:
    """The assembly of four pieces, and a store with all that was saved on the way; not to be changed."""
    store = MemoryStore()
    return Corridor(puzzle, store=store).get("assembly"), store


def copy_of(store: MemoryStore, other: MemoryStore | None = None) -> MemoryStore:
    other = other or MemoryStore()
    other.saved = dict(store.saved)
    return other


def assert_same_rows(one: Candidates, two: Candidates) -> None:
    for name in Candidates.__slots__:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


# --- stages and stores ----------------------------------------------------------------------------------------------


def test_each_stage_needs_what_stages_before_it_give() -> None:
    there = {"puzzle", "learned", "constraints", "seed", "given", "known", "rated", "steps"}
    for stage in STAGES:
        assert set(stage.needs) <= there, stage.name
        there.add(stage.gives)


def test_nothing_is_done_before_it_is_asked_for(puzzle: Puzzle) -> None:
    walk = Corridor(puzzle)
    assert (walk.made, walk.done, walk.reused, walk.stages) == ([], [], [], ())
    assert walk.find("scored") is None
    assert walk.find("assembly") is None
    assert walk.made == []
    borders = walk.get("borders")
    assert walk.made == ["halo", "contours"]
    assert walk.get("borders") is borders, "it is made once"
    walk.get("scored")
    assert walk.made == ["halo", "contours", "match", "scene", "score"]
    assert [stage.name for stage in walk.stages] == ["halo", "contours", "match", "score"]
    walk.get("assembly")
    assert walk.made == NAMES
    assert (walk.done, walk.reused) == ([], []), "there is no store"


@contextmanager
def open_store(kind: str, folder: Path) -> Iterator[Any]:
    if kind == "run folder":
        with lock_folder(folder, "1.0") as run:
            yield run
    else:
        yield {"none": lambda: None, "memory": MemoryStore, "folder": lambda: FolderStore(folder)}[kind]()


@pytest.mark.parametrize("kind", ["none", "memory", "folder", "run folder"])
def test_every_store_gives_the_same(kind: str, puzzle: Puzzle, walked: tuple[Assembly, MemoryStore], tmp_path: Path) -> None:
    with open_store(kind, tmp_path) as store:
        first = Corridor(puzzle, store=store)
        assert first.get("assembly") == walked[0]
        assert (first.made, first.done, first.reused) == (NAMES, [] if kind == "none" else SAVED, [])
    if kind in ("folder", "run folder"):
        with open_store(kind, tmp_path) as store:
            again = Corridor(puzzle, store=store)
            assert again.get("assembly") == walked[0]
            assert (again.made, again.done, again.reused) == ([], [], ["assembly"])
            assert_same_rows(again.get("candidates").rows, first.get("candidates").rows)
            assert_same_rows(again.get("scored").rows, first.get("scored").rows)
            assert (again.made, again.reused) == ([], ["assembly", "match", "score"])
            assert again.stages == first.stages, "seconds and counts are those of when it was done"


def test_borders_are_traced_again_as_they_were(puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]) -> None:
    again, fresh = Corridor(puzzle, store=walked[1]), Corridor(puzzle)
    np.testing.assert_array_equal(again.get("borders").points, fresh.get("borders").points)
    np.testing.assert_array_equal(again.get("borders").nearest, fresh.get("borders").nearest)


def test_a_product_is_saved_under_the_key_of_all_that_went_in(puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]) -> None:
    walk, store = Corridor(puzzle), walked[1]
    assert store.names == ["assembly", "match", "measured", "score"]
    for product, name in (("candidates", "match"), ("scored", "score"), ("assembly", "assembly")):
        assert (name, walk.key(product)) in store.saved
    sources = {name: saved.source for (name, _), saved in store.saved.items()}
    assert sources["assembly"] == walk.key("scored")
    assert sources["match"] == sources["score"] == walk.key("puzzle")
    assert walk.made == [], "a key needs no work"
    keys = {walk.key(stage.gives) for stage in STAGES}
    assert len(keys) == len(STAGES)


def test_names_of_pieces_are_no_part_of_a_key_and_pixels_are(puzzle: Puzzle) -> None:
    key = Corridor(puzzle).key("assembly")
    renamed = Puzzle("other", tuple(replace(f, name=f"x{f.idx}") for f in puzzle.pieces))
    assert Corridor(renamed).key("assembly") == key
    image = puzzle.pieces[0].image.copy()
    image[0, 0, 0] ^= 1
    changed = Puzzle("other", (replace(puzzle.pieces[0], image=image), *puzzle.pieces[1:]))
    assert Corridor(changed).key("candidates") != Corridor(puzzle).key("candidates")


# --- what depends on what -------------------------------------------------------------------------------------------

ALL, FROM_SCORE, ONLY_ASSEMBLY, NOTHING = SAVED, SAVED[1:], SAVED[2:], []
OTHER_CONFIG: dict[str, tuple[SolveConfig, list[str]]] = {
    "halo": (SolveConfig(halo=False), ALL),
    "contours": (SolveConfig(contours=ContourConfig(samples=200)), ALL),
    "matcher": (SolveConfig(matcher="zhang"), ALL),
    "match": (SolveConfig(match=replace(MATCH, per_piece=7)), ALL),
    "match, own options": (SolveConfig(match=replace(MATCH, dense=DenseConfig(seeds_per_pair=5))), ALL),
    "match, ragged": (SolveConfig(match=replace(MATCH, dense=DenseConfig(ragged=RaggedConfig(enabled=False)))), ALL),
    "match, how seams are measured": (
        SolveConfig(match=replace(MATCH, dense=DenseConfig(verify=VerifyConfig(loose_px=3.0)))), ALL,
    ),
    "scorer": (SolveConfig(scorer="seam"), FROM_SCORE),
    "scorer, the default by name": (SolveConfig(scorer="combined"), NOTHING),
    "compose": (SolveConfig(compose=replace(COMPOSE, min_score=0.6)), ONLY_ASSEMBLY),
    "composer": (SolveConfig(composer="best-first"), ONLY_ASSEMBLY),
    "composer, the default by name": (SolveConfig(composer="hlm"), NOTHING),
    "refine": (SolveConfig(refine=replace(REFINE, inlier_px=6.0)), ONLY_ASSEMBLY),
    "second round": (SolveConfig(second_round=SecondRoundConfig(enabled=False)), ONLY_ASSEMBLY),
    "min confidence": (SolveConfig(min_confidence=0.5), ONLY_ASSEMBLY),
}  # fmt: skip


def expect(walk: Corridor, done: list[str]) -> None:
    """Exactly these are done; the last one before them is taken from the store."""
    walk.get("assembly")
    assert walk.done == done
    taken = [name for name in SAVED if name not in done]
    assert set(walk.reused) <= set(taken)
    assert not taken or taken[-1] in walk.reused
    assert ("match" in walk.made) == ("match" in done)
    assert ("score" in walk.made) == ("score" in done)
    assert ("compose" in walk.made) == ("assembly" in done)


@pytest.mark.parametrize("option", OTHER_CONFIG)
def test_an_option_invalidates_exactly_what_depends_on_it(
    option: str, puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]
) -> None:
    config, done = OTHER_CONFIG[option]
    expect(Corridor(puzzle, config, store=copy_of(walked[1])), done)


OTHER_INPUT: dict[str, dict[str, Any]] = {
    "seed": {"seed": 1},
    "set aside": {"constraints": Constraints(aside=frozenset({0}))},
    "pinned": {"constraints": Constraints(pinned={0: SE2(0.0, 5.0, 5.0)})},
    "forbidden": {"constraints": Constraints(forbidden=(Alignment(0, 1, SE2(0.0, 1.0, 2.0), 0.0),))},
    "joined": {"constraints": Constraints(joins=(Alignment(0, 1, SE2(0.0, 300.0, 2.0), 1.0),))},
}


@pytest.mark.parametrize("what", OTHER_INPUT)
def test_seed_and_decisions_of_a_person_change_the_assembly_alone(
    what: str, puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]
) -> None:
    expect(Corridor(puzzle, store=copy_of(walked[1]), **OTHER_INPUT[what]), ONLY_ASSEMBLY)


def test_options_of_matchers_that_are_not_used_invalidate_no_candidates(puzzle: Puzzle) -> None:
    """The second round looks at all of them, by the letter."""
    key = Corridor(puzzle).key
    other = MatchConfig(zhang=ZhangConfig(rough_px=7.0), tsamoura=TsamouraConfig(palette=16))
    assert Corridor(puzzle, SolveConfig(match=other)).key("scored") == key("scored")


@pytest.mark.parametrize(
    ("part", "scorer", "done"),
    [
        ("fit", "combined", ALL), ("combined", "combined", FROM_SCORE), ("seam", "combined", FROM_SCORE),
        ("combined", "seam", NOTHING), ("seam", "seam", FROM_SCORE), ("jigsawnet", "seam", NOTHING),
        ("confidence", "combined", ONLY_ASSEMBLY), ("jigsawnet", "combined", NOTHING),
    ],
)  # fmt: skip
def test_what_was_learned_anew_invalidates_exactly_what_looks_with_it(
    part: str, scorer: str, done: list[str], puzzle: Puzzle, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned, config = load_learned(), SolveConfig(scorer=scorer)
    before = Corridor(puzzle, config, learned=learned)
    keys = [before.key(product) for product in ("candidates", "scored", "assembly")]
    digest_of = Learned.digest_of
    monkeypatch.setattr(
        Learned, "digest_of", lambda self, *parts: digest_of(self, *parts) + ("-again" if part in parts else "")
    )
    after = Corridor(puzzle, config, learned=learned)
    changed = [name for name, product, key in zip(SAVED, ("candidates", "scored", "assembly"), keys, strict=True)
               if after.key(product) != key]  # fmt: skip
    assert changed == done


def test_a_bundle_is_read_when_it_is_needed(puzzle: Puzzle, tmp_path: Path) -> None:
    walk = Corridor(puzzle, learned=tmp_path / "gone")
    assert len(walk.get("borders")) == 4


def test_methods_that_share_candidates_match_once(puzzle: Puzzle, tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    first = Corridor(puzzle, SolveConfig(scorer="fit"), store=store)
    first.get("assembly")
    assert "match" in first.made
    second = Corridor(puzzle, SolveConfig(scorer="seam", composer="glc"), store=store)
    second.get("assembly")
    assert "match" not in second.made
    assert (second.done, second.reused) == (["score", "assembly"], ["match"])
    for method in (SolveConfig(scorer="fit"), SolveConfig(scorer="seam", composer="glc")):
        walk = Corridor(puzzle, method, store=store)
        walk.get("assembly")
        assert walk.made == [], "both are kept side by side"


def test_puzzles_share_a_folder_without_mixing(puzzle: Puzzle, tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    three = Puzzle("three", puzzle.pieces[:3])
    config = SolveConfig(scorer="fit")
    whole, part = (Corridor(p, config, store=store).get("assembly") for p in (puzzle, three))
    assert (whole.n_pieces, part.n_pieces) == (4, 3)
    assert Corridor(puzzle, config, store=store).get("assembly") == whole
    assert Corridor(three, config, store=store).get("assembly") == part


# --- damage ---------------------------------------------------------------------------------------------------------

SPOIL: dict[str, Callable[[Path], object]] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "garbled": lambda path: path.write_bytes(b"PK" * 999),
    "empty": lambda path: path.write_bytes(b""),
    "lost": lambda path: path.unlink(),
    "one bit": lambda path: path.write_bytes(_flipped(path.read_bytes())),
}


def _flipped(data: bytes) -> bytes:
    middle = data.index(b"fit.npy") + 100
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("spoil", SPOIL)
@pytest.mark.parametrize("name", SAVED)
def test_damaged_files_are_done_again(
    name: str, spoil: str, puzzle: Puzzle, walked: tuple[Assembly, MemoryStore], tmp_path: Path
) -> None:
    store = FolderStore(tmp_path)
    for (stage, _), saved in walked[1].saved.items():
        store.save({stage: saved})
    SPOIL[spoil](next(tmp_path.glob(f"{name}-*.npz")))
    walk = Corridor(puzzle, store=store)
    assert walk.get("assembly") == walked[0]
    walk.get("scored")
    walk.get("candidates")
    assert walk.done == [name]
    whole = Corridor(puzzle, store=store)
    whole.get("assembly")
    assert whole.made == []


@pytest.mark.parametrize("name", SAVED)
def test_arrays_of_another_puzzle_are_not_taken(name: str, puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]) -> None:
    """Under the right key, with a right checksum, but of more pieces than there are."""
    store = copy_of(walked[1])
    ((key, saved),) = [(key, saved) for key, saved in store.saved.items() if key[0] == name]
    wrong = {"n_fragments": np.array(9)} if name == "assembly" else {"j": saved.arrays["j"] + np.int32(5)}
    store.saved[key] = replace(saved, arrays={**saved.arrays, **wrong})
    walk = Corridor(puzzle, store=store)
    assert walk.get("assembly") == walked[0]
    walk.get("scored")
    walk.get("candidates")
    assert walk.done == [name]


# --- pieces are added -----------------------------------------------------------------------------------------------


class NewestStore(MemoryStore):
    """As the run folder: what was measured is given whatever its key."""

    def load(self, name: str, key: str | None = None) -> Saved | None:
        if key is not None:
            return super().load(name, key)
        return next((saved for (other, _), saved in reversed(self.saved.items()) if other == name), None)


def pairs_matched(walk: Corridor) -> int | float:
    return next(stage for stage in walk.stages if stage.name == "match").counts["pairs"]


@pytest.fixture(scope="module")
def eight(nine_pieces: tuple[Puzzle, Assembly]) -> tuple[Puzzle, NewestStore]:
    """Nine pieces, and the store of a walk with eight of them; not to be changed."""
    whole, store = nine_pieces[0], NewestStore()
    Corridor(Puzzle("eight", whole.pieces[:8]), store=store).get("candidates")
    return whole, store


def test_only_pairs_with_a_new_piece_are_matched(eight: tuple[Puzzle, NewestStore]) -> None:
    whole, store = eight
    walk = Corridor(whole, store=copy_of(store, NewestStore()))
    walk.get("candidates")
    assert pairs_matched(walk) == 8
    assert walk.get("borders").step_px == walk.get("candidates").steps[1]
    fewer = SolveConfig(match=MatchConfig(per_piece=7))
    other = Corridor(whole, fewer, store=copy_of(store, NewestStore()))
    other.get("candidates")
    assert pairs_matched(other) == 8, "how many are kept does not change what is measured"


@pytest.mark.parametrize("option", ["halo", "contours", "match, own options", "match, how seams are measured"])
def test_what_was_measured_with_other_options_does_not_count(option: str, eight: tuple[Puzzle, NewestStore]) -> None:
    walk = Corridor(eight[0], OTHER_CONFIG[option][0], store=copy_of(eight[1], NewestStore()))
    walk.get("candidates")
    assert pairs_matched(walk) == 36


def test_what_was_measured_with_another_halo_does_not_count(
    eight: tuple[Puzzle, NewestStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The colours that were measured were those of pieces without a halo."""
    whole, store = eight
    for depth_px, pairs in ((0, 8), (2, 36)):
        monkeypatch.setattr(pipeline, "find_halo", lambda *_, depth_px=depth_px: depth_px)
        walk = Corridor(whole, store=copy_of(store, NewestStore()))
        walk.get("candidates")
        assert walk.get("seen").halo_px == depth_px
        assert pairs_matched(walk) == pairs


@pytest.mark.parametrize("name", ["meta", "pieces", "reference", "i", "j", "pose", "features"])
def test_hostile_measurements_do_no_harm(name: str, eight: tuple[Puzzle, NewestStore]) -> None:
    whole, store = eight
    ((key, saved),) = ((key, saved) for key, saved in store.saved.items() if key[0] == "measured")
    array = saved.arrays[name]
    hostile = [array.ravel()[:0], np.array(1), array[None], np.full(array.shape, -1, np.int64), np.full(array.shape, 99)]
    if array.dtype.kind == "f":
        hostile.append(np.full_like(array, np.nan))
    for changed in [None, *hostile]:
        spoiled = copy_of(store, NewestStore())
        arrays = {**saved.arrays, name: changed}
        spoiled.saved[key] = replace(saved, arrays={n: a for n, a in arrays.items() if a is not None})
        walk = Corridor(whole, store=spoiled)
        if walk.get("known") is not None:  # it could have been so
            rows = walk.get("candidates").rows
            assert ((rows.i >= 0) & (rows.i < rows.j) & (rows.j < 9)).all()


# --- candidates of another program ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def strangers(puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]) -> tuple[Alignment, ...]:
    """The candidates of the puzzle as another program would give them: poses, and fits of its own measure."""
    rows = Corridor(puzzle, store=walked[1]).get("candidates").rows
    return tuple(replace(a, fit=40.0 * a.fit, seam=None) for a in rows.alignments())


def test_given_candidates_are_taken_instead_of_matching(
    puzzle: Puzzle, strangers: tuple[Alignment, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = pipeline.find_candidates
    monkeypatch.setattr(pipeline, "find_candidates", lambda borders, *rest: asked.append("match") or real(borders, *rest))
    walk = Corridor(puzzle, SolveConfig(second_round=SecondRoundConfig(enabled=False)), given=Candidates.of(strangers))
    rows = walk.get("candidates").rows
    assert [(a.i, a.j) for a in strangers] == list(zip(rows.i.tolist(), rows.j.tolist(), strict=True))
    assert np.isfinite(rows.features).all(), "their seams are measured"
    assert rows.fit.max() == 1.0
    assert walk.config.chosen_scorer == "fit"
    assert walk.config.compose.min_score == 0.0
    assert len(walk.get("assembly").poses) == 4
    assert asked == []


def test_given_candidates_are_part_of_the_key(puzzle: Puzzle, strangers: tuple[Alignment, ...]) -> None:
    def key(rows: Candidates | None) -> str:
        return Corridor(puzzle, given=rows).key("candidates")

    rows = Candidates.of(strangers)
    moved = replace(rows, pose=rows.pose + np.array([0.0, 1.0, 0.0]))
    assert len({key(None), key(rows), key(rows.take(slice(1, None))), key(moved), key(Candidates.none())}) == 5
    assert key(rows) == key(Candidates.of(strangers))
    assert key(replace(rows, fit=rows.fit * 2)) == key(rows), "only their order counts"


def test_given_candidates_that_know_some_of_their_seam_are_measured_in_full(
    puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]
) -> None:
    """As of `Solution.candidates.alignments()`: they are scored like the rows that they were."""
    rows = Corridor(puzzle, store=walked[1]).get("scored").rows
    config = SolveConfig(scorer="combined")
    again = solve_puzzle(puzzle, config, candidates=rows.alignments()).candidates
    assert sorted(again.score.tolist()) == pytest.approx(sorted(rows.score.tolist()), abs=1e-3)
    assert again.score.max() > 0.9


@pytest.mark.parametrize("fits", [[0.0], [-3.0], []])
def test_given_candidates_without_a_good_fit_do_no_harm(fits: list[float], puzzle: Puzzle) -> None:
    given = [Alignment(0, 1, SE2(0.0, 9.0, 9.0), fit) for fit in fits]
    solution = solve_puzzle(puzzle, candidates=given)
    assert solution.candidates.fit.tolist() == [0.0] * len(fits)


# --- stopped --------------------------------------------------------------------------------------------------------


def stopped_in(stage: str, monkeypatch: pytest.MonkeyPatch) -> Context:
    """Somebody asks for the end as a stage begins."""
    stop = Stop()

    def watched(one: Stage) -> Stage:
        def work(*arguments: Any) -> Any:
            stop.request()
            return one.work(*arguments)

        return replace(one, work=work) if one.name == stage else one

    makes = {stage.gives: watched(stage) for stage in STAGES}
    monkeypatch.setattr(pipeline, "_MAKES", makes)
    return Context(stop=stop)


@pytest.mark.parametrize(
    ("stage", "kept"),
    [
        ("halo", []), ("contours", []), ("match", []), ("scene", ["match", "measured"]), ("score", ["match", "measured"]),
        ("compose", ["match", "measured", "score"]), ("refine", ["match", "measured", "score"]),
        ("second round", ["match", "measured", "score"]),
    ],
)  # fmt: skip
def test_what_a_stop_cut_short_is_never_saved(
    stage: str, kept: list[str], puzzle: Puzzle, walked: tuple[Assembly, MemoryStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    with monkeypatch.context() as patch:
        context = stopped_in(stage, patch)
        walk = Corridor(puzzle, context=context, store=store)
        assembly, _ = assemble_in_time(walk)
    assert context.stop.is_requested
    assert assembly.n_pieces == 4
    if walk.is_cut:
        assert store.names == kept
        assert "assembly" not in walk.done
    else:
        assert assembly == walked[0], "nothing was left out, so it is as good as any"
    again = Corridor(puzzle, store=store)
    assert again.get("assembly") == walked[0], "it goes on and ends as if nothing had happened"


@pytest.mark.parametrize("stage", ["match", "compose"])
def test_these_stages_are_cut_indeed(stage: str, puzzle: Puzzle, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = Corridor(puzzle, context=stopped_in(stage, monkeypatch))
    assemble_in_time(walk)
    assert walk.is_cut


def test_without_time_nothing_is_looked_for(puzzle: Puzzle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by the hasty composition, whose few seconds are for joining what there is."""
    stop, store = Stop.after(0.0), MemoryStore()
    asked: list[bool] = []
    real = pipeline.find_candidates

    def find(borders: Any, matcher: Any, config: Any, context: Context, *rest: Any) -> Any:
        asked.append(context.stop.is_over())
        return real(borders, matcher, config, context, *rest)

    monkeypatch.setattr(pipeline, "find_candidates", find)
    solution = solve_puzzle(puzzle, context=Context(stop=stop))
    assert asked == [True]
    assert len(solution.candidates) == 0
    assert solution.assembly.components == ()
    assemble_in_time(Corridor(puzzle, context=Context(stop=stop), store=store))
    assert store.names == []


def test_a_saved_assembly_is_given_even_without_time(puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]) -> None:
    walk = Corridor(puzzle, context=Context(stop=Stop.after(0.0)), store=copy_of(walked[1]))
    assert assemble_in_time(walk) == (walked[0], walk)


def test_cut_in_the_middle_of_composing_the_fuller_assembly_is_kept(puzzle: Puzzle, monkeypatch: pytest.MonkeyPatch) -> None:
    assembly, made_by = assemble_in_time(Corridor(puzzle, context=stopped_in("compose", monkeypatch)))
    assert len(assembly.poses) == 4
    assert {"contours", "match", "score", "compose"} <= {stage.name for stage in made_by.stages}


def test_an_error_in_a_stage_leaves_what_was_finished(puzzle: Puzzle, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()

    def fail(*_: Any, **__: Any) -> Any:
        raise ModelError("no network")

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "score_candidates", fail)
        with pytest.raises(ModelError):
            Corridor(puzzle, store=store).get("assembly")
    assert store.names == ["match", "measured"]
    walk = Corridor(puzzle, store=store)
    walk.get("assembly")
    assert (walk.done, walk.reused) == (["score", "assembly"], ["match"])


# --- composed again -------------------------------------------------------------------------------------------------


def test_a_changed_corridor_goes_on_from_the_same_candidates(puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]) -> None:
    walk = Corridor(puzzle)
    walk.get("assembly")
    other = walk.changed(replace(walk.config, composer="best-first"), Context(), Constraints(aside=frozenset({0})))
    assert other.get("assembly").unplaced == (0,)
    assert other.made == ["compose", "refine", "second round", "confidence"]
    assert other.get("scored") is walk.get("scored")
    assert [stage.name for stage in other.stages] == [stage.name for stage in walk.stages]
    assert walk.get("assembly") == walked[0], "the first one is as it was"
    assert other.key("assembly") != walk.key("assembly")
    assert other.key("scored") == walk.key("scored")


def test_a_changed_corridor_keeps_nothing_that_other_options_touch(puzzle: Puzzle) -> None:
    walk = Corridor(puzzle, SolveConfig(scorer="fit"))
    walk.get("assembly")
    other = walk.changed(SolveConfig(scorer="seam"))
    assert other.get("candidates") is walk.get("candidates")
    assert other.get("scored") is not walk.get("scored")
    assert other.made == ["score"]
    finer = walk.changed(SolveConfig(scorer="fit", contours=ContourConfig(samples=200)))
    finer.get("scored")
    assert finer.made == ["contours", "match", "scene", "score"]


def test_after_what_was_put_without_a_key_nothing_is_saved(puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]) -> None:
    store = MemoryStore()
    walk = Corridor(puzzle, store=store)
    walk.put("scored", Corridor(puzzle, store=walked[1]).get("scored"), None)
    assert walk.get("assembly") == walked[0]
    assert (walk.done, walk.store) == ([], None)


def test_what_is_forgotten_is_made_again(puzzle: Puzzle) -> None:
    walk = Corridor(puzzle)
    scene = walk.get("scene")
    walk.forget("scene")
    assert walk.get("scene") is not scene
    assert walk.get("scene") is walk.get("scene")


def test_candidates_that_were_put_are_not_looked_for_again(puzzle: Puzzle, walked: tuple[Assembly, MemoryStore]) -> None:
    scored = Corridor(puzzle, store=walked[1]).get("scored")
    walk = Corridor(puzzle)
    walk.put("scored", scored, "its key")
    assert walk.get("assembly") == walked[0]
    assert walk.made == ["halo", "contours", "compose", "refine", "scene", "second round", "confidence"]
    assert walk.key("scored") == "its key"


def test_the_clock_holds_the_stages_that_are_reported(puzzle: Puzzle) -> None:
    context = Context()
    walk = Corridor(puzzle, context=context)
    walk.get("assembly")
    assert [stage.name for stage in context.clock.stages] == [stage.name for stage in walk.stages]
    assert context.clock.seconds >= sum(stage.seconds for stage in walk.stages)
