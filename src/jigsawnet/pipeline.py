"""The corridor: which stage follows which; no other module says so.

A stage is declared by its name, what it needs, what it gives, and a pure function ``(needs, config, context)``. A `Corridor`
walks the stages for one puzzle: a product is taken from the store if it is there under the key of all that went in, else its
stage makes it, and the store, if there is one, keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import (
    Evidence,
    GridScores,
    SecondRoundConfig,
    SecondRoundStats,
    Tolerance,
    compose,
    compose_chads,
    free_places,
    join_blocks,
    second_round,
)
from jigsawnet.confidence import judge_assembly, leave_out_unsure
from jigsawnet.confidence.doubts import describe_doubts, find_other_places
from jigsawnet.confidence.guesses import find_best_guesses
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context, Keep
from jigsawnet.contours import trace_again
from jigsawnet.geometry import SE2, chain_rows, invert_rows, pose_row
from jigsawnet.halo import Seen, find_halo, without_halo
from jigsawnet.io.array_store import MEASURED, Arrays, Saved
from jigsawnet.learned import Learned, load_learned
from jigsawnet.light import even_light
from jigsawnet.match import (
    KnownPairs,
    Matched,
    add_printed,
    find_block_joins,
    find_candidates,
    find_strip_joins,
    look_along_chads,
    matchers,
    measure,
    measure_contact,
    settle,
)
from jigsawnet.refine import RefineStats, refine_poses
from jigsawnet.render.image import render_assembly
from jigsawnet.render.layout import lay_out, stand_upright, straighten_components
from jigsawnet.render.notebook import result_html, result_png
from jigsawnet.score import OWN_SCORERS, Scene, parts_of, score_candidates
from jigsawnet.stopping import Stop, StoppedError
from jigsawnet.store import (
    FoundCandidates,
    Store,
    assembly_from_arrays,
    assembly_to_arrays,
    constraints_key,
    found_from_arrays,
    found_to_arrays,
    known_from_arrays,
    known_to_arrays,
    make_key,
    piece_digest,
    puzzle_key,
)
from jigsawnet.strips import are_chads, are_printed, are_strips, common_scale, is_blank, lean, stand_up
from jigsawnet.types import (
    Alignment,
    Assembly,
    BestGuess,
    Constraints,
    FloatArray,
    Piece,
    Progress,
    Puzzle,
    RunReport,
    StageReport,
    no_progress,
)
from jigsawnet.version import __version__

HASTE_S, _LAST_LOOK_S = 0.6, 0.3
"""Seconds for joining what there is, best first, and for refining it, once the time is up."""
_FEWEST_CHADS, _MOST_CHADS = 40, 1200
"""Chads that are put together at a time by all their sides: with fewer, chance stands out, and tables of all with all must fit
into memory."""
NOTHING_DECIDED = Constraints()
_NAMED = 5
"""Pieces that a sentence names."""
_LOOP = 4
"""Joins in a row, whose errors add up where a piece closes a hole."""
_LOT, _MOST_AT_ONCE = 2048, 8192
"""Candidates that are scored before their scores are kept, where there are more than so many; about a second of work."""
_PRINTED, _FEWEST_PRINTED, _MOST_BY_SHAPE = 0.5, 4, 64
"""Where what is printed joins less than this part of all strips, and of those that are not blank or fewer than the second, the
shape of their borders is asked, of so many at most."""

Given = Mapping[str, Any]
"""The products that a stage needs, by name."""
Counts = Mapping[str, int | float]


@dataclass(frozen=True, slots=True)
class Stage:
    """One step: ``work(needs, config, context)`` makes what it ``gives``, and counts for the report (None: not reported)."""

    name: str
    needs: tuple[str, ...]
    gives: str
    work: Callable[[Given, SolveConfig, Context], tuple[Any, Counts | None]]
    options: Callable[[SolveConfig, Learned], Any]
    """What the product depends on besides its needs: options, and digests of what was learned."""
    to_arrays: Callable[[Any], Arrays] | None = None
    """How it is saved; None: it is made again when it is needed."""
    from_arrays: Callable[[Arrays], Any] | None = None


def _take_halo_out(given: Given, config: SolveConfig, context: Context) -> tuple[Seen, Counts]:
    """Pieces → pieces as they are looked at: without the background's colour in their outermost pixels, pages in even light."""
    puzzle = given["puzzle"]
    try:
        depth_px = find_halo(puzzle, context.stop) if config.halo else 0
        seen = without_halo(puzzle, depth_px, context.stop)
    except StoppedError:
        depth_px, seen = 0, puzzle
    even = even_light(seen) if config.light and not context.stop.is_over() else seen
    return Seen(even, depth_px, even is not seen), {"halo_px": depth_px, "evened": int(even is not seen)}


def _trace(given: Given, config: SolveConfig, context: Context) -> tuple[Borders, Counts]:
    """Pieces → borders; with the steps of an earlier run, if these still suit, the same borders as there.

    Stopped early, no piece has one.
    """
    puzzle, steps = given["seen"].puzzle, given["steps"]
    try:
        contours, step_px = trace_again(puzzle, config.contours, steps and steps[0], stop=context.stop)
        own_step = steps[1] if steps is not None and step_px == steps[0] else None
        borders = build_borders(contours, step_px=own_step, contour_step_px=step_px, stop=context.stop)
    except StoppedError:
        borders = build_borders([None] * len(puzzle))
    return borders, {"pieces": len(puzzle), "samples": len(borders.points)}


def _match(given: Given, config: SolveConfig, context: Context) -> tuple[FoundCandidates, Counts]:
    """Candidates of the matcher, or those given by another program; all of them measured."""
    borders, rows = given["borders"], given["given"]
    matched = Matched(rows) if rows is not None else _find_joins(borders, given, config, context)
    rows = _measured(borders, matched.candidates, config)
    lost = [given["puzzle"].pieces[k].name for k in np.flatnonzero(np.diff(borders.first) == 0)]
    if len(lost) == len(borders) and context.stop.has_cut:  # not traced, which is no fault of theirs
        lost = []
    notes = tuple(f"{name} is too small to have a border and was left out." for name in lost)
    pieces = given["puzzle"].pieces
    if rows.of_strips and are_printed(pieces):
        notes += _tell_blank([piece.name for piece in pieces if is_blank(piece)], _may_be_chads(pieces))
    steps = None if matched.kept is None else matched.kept.scales.steps
    return FoundCandidates(rows, notes, steps, matched.kept), {"candidates": len(rows), "pairs": matched.pairs}


def _tell_blank(names: Sequence[str], chads: bool) -> tuple[str, ...]:
    """A sentence that counts and names blank pieces; chads may still find their place by the shape of the cuts."""
    if not names:
        return ()
    some = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    if chads:
        why = "only the shape of the cuts can tell where they belong, and those of which it does not are left aside"
    else:
        why = "where they belong cannot be told, and they are left aside"
    return (f"Nothing is printed on {len(names)} of the pieces ({some}): {why}.",)


def _may_be_chads(pieces: Sequence[Piece]) -> bool:
    return _FEWEST_CHADS <= len(pieces) <= _MOST_CHADS and are_chads(pieces)


def _find_joins(borders: Borders, given: Given, config: SolveConfig, context: Context) -> Matched:
    """Candidates; those of strips of pages are found along their long sides, unless too little is printed there."""
    pieces = given["puzzle"].pieces
    few = len(pieces) <= _MOST_BY_SHAPE
    if config.matcher == "dense" and config.match.strips and are_strips(pieces) and (are_printed(pieces) or not few):
        rows = find_strip_joins(pieces, context, given["learned"])
        likely = rows.take(rows.fit >= config.compose.min_score)
        if not few or _are_joined(len(np.unique([likely.i, likely.j])), pieces):
            return Matched(rows, None, len(pieces) * (len(pieces) - 1) // 2)
    matched = _find(borders, given, config, context)
    if config.matcher == "dense" and config.match.printed and matched.candidates.ragged.any():
        rows = add_printed(borders, pieces, matched.candidates, config.match, context, given["learned"])
        return replace(matched, candidates=rows)
    return matched


def _are_joined(joined: int, pieces: Sequence[Piece]) -> bool:
    """Whether print joins so many strips that it is to be trusted: half of all, or of those that are not blank."""
    if joined >= _PRINTED * len(pieces):
        return True
    return joined >= _FEWEST_PRINTED and joined >= _PRINTED * sum(not is_blank(piece) for piece in pieces)


def _find(borders: Borders, given: Given, config: SolveConfig, context: Context) -> Matched:
    return find_candidates(borders, config.matcher, config.match, context, given["learned"], given["known"])


def _measured(borders: Borders, rows: Candidates, config: SolveConfig) -> Candidates:
    """The same candidates; seams that were not measured yet are now."""
    missing = np.flatnonzero(np.isnan(rows.features).any(axis=1))  # an `Alignment` knows only some of them
    if not len(missing):
        return rows
    features = rows.features.copy()
    features[missing] = measure(borders, rows.take(missing), config.match.dense.verify).features
    return replace(rows, features=features)


def _set_scene(given: Given, config: SolveConfig, context: Context) -> tuple[Scene, None]:
    """What scorers look at; pictures and networks are prepared when they are first needed."""
    rows = _measured(given["borders"], given["candidates"].rows, config)  # those of an old run are not, not in full
    return Scene.of(given["seen"].puzzle, given["borders"], given["learned"], rows, context.stop), None


def _score(given: Given, config: SolveConfig, context: Context) -> tuple[FoundCandidates, Counts]:
    """Probabilities; what there was no time to look at is ranked by the matcher's fit.

    Very many candidates are scored in lots, best fits first, and what an earlier run has scored is taken as it is.
    """
    found: FoundCandidates = given["candidates"]
    rows, score, done = found.rows, np.array(found.rows.fit, np.float64), 0
    lot = _LOT if len(rows) > _MOST_AT_ONCE and config.chosen_scorer in OWN_SCORERS else max(1, len(rows))
    if lot == _LOT and given["rated"] is not None and len(given["rated"]) <= len(rows):
        done = len(given["rated"])
        score[:done] = given["rated"]
    tell = context.progress
    for start in range(done, len(rows), lot):
        if context.stop.is_over():
            break
        own = rows.take(slice(start, start + lot))
        told = replace(context, progress=partial(_tell_after, tell, start, len(rows)) if lot == _LOT else tell)
        try:
            seen = score_candidates(own, given["scene"], config.chosen_scorer, told)
        except StoppedError:
            break
        if context.stop.has_cut:
            break
        score[start : start + lot] = seen
        if context.keep is not None and start + lot < len(rows):
            context.keep(score[: start + lot])
    rows = rows.with_scores(score)
    return replace(found, rows=rows, kept=None), {"likely": int((rows.score >= config.compose.min_score).sum())}


def _tell_after(tell: Progress, before: int, total: int, stage: str, done: int, of: int) -> None:
    """Progress of a lot as progress of all candidates."""
    tell(stage, min(total, before + round(_LOT * done / max(1, of))), total)


def _compose(given: Given, config: SolveConfig, context: Context) -> tuple[Assembly, Counts]:
    rows = given["scored"].rows
    composer = "chains" if rows.of_strips and config.composer is None else config.chosen_composer
    assembly = compose(
        rows, given["borders"], composer, replace(config.compose, min_score=config.min_score),
        context, constraints=given["constraints"], seed=given["seed"], names=given["puzzle"].names(),
    )  # fmt: skip
    return assembly, {
        "joins": len(assembly.joins), "components": len(assembly.components),
        "placed": len(assembly.poses), "unplaced": len(assembly.unplaced),
    }  # fmt: skip


def _refine(given: Given, config: SolveConfig, context: Context) -> tuple[Assembly, Counts]:
    assembly, stats = _refine_poses(given["composed"], given, config, context)
    return assembly, asdict(stats)


def _refine_poses(assembly: Assembly, given: Given, config: SolveConfig, context: Context) -> tuple[Assembly, RefineStats]:
    if context.stop.is_over():
        context = replace(context, stop=Stop.after(_LAST_LOOK_S))
    return refine_poses(
        assembly, given["borders"], config.refine, context,
        pinned=given["constraints"].pinned, puzzle=given["puzzle"], ragged=bool(given["scored"].rows.ragged.any()),
    )  # fmt: skip


def _look_again(given: Given, config: SolveConfig, context: Context) -> tuple[Assembly, Counts | None]:
    """The second round, and another refinement where it merged components; it needs fits that are probabilities."""
    if not config.second_round.enabled or not matchers[config.matcher].probable or context.stop.is_over():
        return given["refined"], None
    try:
        assembly, stats = _second_look(given, config, context)
    except StoppedError:  # while the pictures were prepared
        return given["refined"], None
    if stats.components_merged:
        assembly, _ = _refine_poses(assembly, given, config, context)
    return assembly, asdict(stats)


def _second_look(given: Given, config: SolveConfig, context: Context) -> tuple[Assembly, SecondRoundStats]:
    borders, constraints = given["borders"], given["constraints"]
    rows, refined = given["scored"].rows, given["refined"]
    if rows.of_strips:
        together = None if _is_decided(constraints) else _join_chads(given, config, context)
        match = partial(_match_blocks, given=given, context=replace(context, progress=no_progress, stop=Stop()))
        assembly, stats = join_blocks(
            rows,
            borders,
            together or refined,
            match,
            config.compose.min_score,
            constraints,
            context.stop,
            config.compose.overlap,
        )
        if together is not None:
            merged = max(0, len(refined.components) - len(assembly.components))
            stats = SecondRoundStats(max(1, merged), len(assembly.joins))
        return assembly, stats
    return second_round(
        rows, borders, refined, _evidence(given, config, context), config.compose.min_score,
        config.second_round, constraints, context, config.compose.overlap,
    )  # fmt: skip


def _is_decided(constraints: Constraints) -> bool:
    """Whether a person has said where pieces belong; setting some aside does not."""
    return bool(constraints.joins or constraints.forbidden or constraints.pinned or constraints.hints)


def _join_chads(given: Given, config: SolveConfig, context: Context) -> Assembly | None:
    """Chads put together by all sides that meet; None where pieces are no chads, or nothing came of it."""
    pieces = given["puzzle"].pieces
    chads = [piece.idx for piece in pieces if piece.idx not in given["constraints"].aside]
    if not _may_be_chads(pieces):
        return None
    sides = look_along_chads(pieces, replace(context, progress=no_progress), given["scene"].learned)
    if sides is None:
        return None
    scores = GridScores(sides.beside.score, sides.below.score)
    return compose_chads(scores, sides, len(pieces), chads, context.stop)


def _match_blocks(components: Sequence[Mapping[int, SE2]], given: Given, context: Context) -> Candidates:
    """Joins of chads that lie together, along their ends."""
    puzzle: Puzzle = given["scene"].puzzle
    scale, blocks, frames = common_scale(puzzle.pieces), [], []
    for k, component in enumerate(components):
        block, picture_from_component = _as_one_piece(puzzle, k, component)
        first, pose = next(iter(component.items()))
        blocks.append(stand_up(block, lean(puzzle.pieces[first]) + pose.theta + picture_from_component.theta, scale))
        frames.append(picture_from_component)
    return _between_frames(find_block_joins(blocks, context, given["scene"].learned), frames)


def _between_frames(rows: Candidates, picture_from_component: Sequence[SE2]) -> Candidates:
    """Candidates of drawn components as candidates of the components themselves."""
    frame = np.array([pose_row(pose) for pose in picture_from_component])
    return replace(rows, pose=chain_rows(chain_rows(invert_rows(frame[rows.i]), rows.pose), frame[rows.j]))


def _evidence(given: Given, config: SolveConfig, context: Context) -> Evidence:
    """What the second look may ask of the stages before it, with the same options.

    When it is to end, what was not seen scores 0.
    """
    scene: Scene = given["scene"]
    ragged = bool(scene.candidates.ragged.any())
    tolerance = Tolerance.of(config.compose, scene.borders, scene.candidates)
    context = replace(context, progress=no_progress)

    def rate(rows: Candidates) -> Candidates:
        if ragged:
            rows = measure_contact(scene.borders, rows)
        return replace(rows, fit=scene.fit(rows))

    def measure_and_rate(rows: Candidates) -> Candidates:
        return rate(measure(scene.borders, rows, config.match.dense.verify))

    def settle_nearby(rows: Candidates) -> Candidates:
        moved = rate(settle(scene.borders, rows, config.match.dense.verify))
        near = tolerance.holds(rows, moved, scene.borders, _LOOP) & (moved.fit > rows.fit)
        return Candidates.concat([rows, moved]).take(np.arange(len(rows)) + near * len(rows))

    def match_components(components: Sequence[Mapping[int, SE2]]) -> Candidates:
        if context.stop.is_over():
            return Candidates.none()
        pieces, frames = zip(
            *(_as_one_piece(scene.puzzle, k, component) for k, component in enumerate(components)), strict=True
        )
        borders, _ = _trace({"seen": Seen(Puzzle("components", pieces), 0), "steps": None}, config, context)
        rows = _find(borders, {"learned": scene.learned, "known": None}, config, context).candidates
        return _between_frames(rows, frames)

    score = partial(_scores, scene=scene, config=config, context=context)
    return Evidence(measure_and_rate, score, match_components, settle_nearby)


def _scores(rows: Candidates, scene: Scene, config: SolveConfig, context: Context) -> Any:
    return score_candidates(rows, scene, config.chosen_scorer, context)


def _as_one_piece(puzzle: Puzzle, idx: int, component: Mapping[int, SE2]) -> tuple[Piece, SE2]:
    """A component of placed pieces drawn as one, and picture_from_component."""
    part = Assembly(len(puzzle), component, (tuple(sorted(component)),))
    picture = render_assembly(puzzle, part, margin_px=0)
    first = min(component)
    picture_from_component = lay_out(puzzle, part, margin_px=0).canvas_from_piece[first] @ component[first].inverse()
    piece = Piece(idx, str(idx), np.ascontiguousarray(picture[..., :3]), picture[..., 3] > 127)
    return piece, picture_from_component


def _judge(given: Given, config: SolveConfig, context: Context) -> tuple[Assembly, Counts]:
    """Confidences; what is too unsure is left out, and components are turned upright unless a person has placed pieces."""
    context.progress("confidence", 0, 1)
    constraints: Constraints = given["constraints"]
    judged = judge_assembly(given["placed"], given["scored"].rows, given["learned"].confidence, constraints)
    sure = leave_out_unsure(judged, config.min_confidence, constraints.pinned)
    ups = {hint.pieces[0]: hint.angle for hint in constraints.hints if hint.kind == "up"}
    upright = sure if constraints.pinned else straighten_components(given["puzzle"], sure)
    upright = upright if constraints.pinned else stand_upright(given["puzzle"], upright, ups)
    context.progress("confidence", 1, 1)
    return upright, {"left_out": len(judged.poses) - len(sure.poses), "guesses": len(sure.guesses)}


def _measure_options(config: SolveConfig, learned: Learned) -> list[Any]:
    """What was measured depends on; a matcher of another package may look at all options."""
    own = getattr(config.match, config.matcher) if config.matcher in ("dense", "zhang", "tsamoura") else config.match
    return [config.matcher, asdict(own), config.halo, config.light, learned.digest_of("fit", "contact", "strokes", "strips")]


def _match_options(config: SolveConfig, learned: Learned) -> Any:
    return [*_measure_options(config, learned), config.match.per_piece, config.match.strips, config.match.printed]


STAGES = (
    Stage("halo", ("puzzle",), "seen", _take_halo_out, lambda config, learned: [config.halo, config.light]),
    Stage("contours", ("seen", "steps"), "borders", _trace, lambda config, learned: asdict(config.contours)),
    Stage(
        "match", ("puzzle", "borders", "learned", "known", "given"), "candidates", _match, _match_options,
        found_to_arrays, found_from_arrays,
    ),
    Stage("scene", ("seen", "borders", "learned", "candidates"), "scene", _set_scene, lambda config, learned: None),
    Stage(
        "score", ("candidates", "scene", "rated"), "scored", _score,
        lambda config, learned: [config.chosen_scorer, learned.digest_of(*parts_of(config.chosen_scorer))],
        found_to_arrays, found_from_arrays,
    ),
    Stage(
        "compose", ("puzzle", "borders", "scored", "constraints", "seed"), "composed", _compose,
        lambda config, learned: [config.chosen_composer, asdict(config.compose), config.min_score],
    ),
    Stage(
        "refine", ("puzzle", "borders", "scored", "composed", "constraints"), "refined", _refine,
        lambda config, learned: asdict(config.refine),
    ),
    Stage(
        "second round", ("puzzle", "borders", "scored", "refined", "constraints", "scene"), "placed", _look_again,
        lambda config, learned: [asdict(config.second_round), _match_options(config, learned), config.chosen_scorer],
    ),
    Stage(
        "confidence", ("puzzle", "placed", "scored", "constraints", "learned"), "assembly", _judge,
        lambda config, learned: [config.min_confidence, learned.digest_of("confidence")],
        assembly_to_arrays, assembly_from_arrays,
    ),
)  # fmt: skip
"""In order; `Corridor` gives the rest: puzzle, learned, constraints, seed, given (candidates of another program), and what an
earlier run left: known (what was measured), rated (scores of the first candidates) and steps (how its borders were traced)."""
_MAKES = {stage.gives: stage for stage in STAGES}
_UNTIL_COMPOSED = tuple(stage.name for stage in STAGES[:6])
RATED = "rated"
"""The name under which scores are kept while there are more to come."""
_SAVED_AS = {"candidates": "match", "scored": "score", "assembly": "assembly"}


class Corridor:
    """The stages of one puzzle, walked as far as a product is asked for."""

    def __init__(
        self,
        puzzle: Puzzle,
        config: SolveConfig | None = None,
        context: Context | None = None,
        *,
        store: Store | None = None,
        seed: int = 0,
        constraints: Constraints = NOTHING_DECIDED,
        learned: Learned | Path | None = None,
        given: Candidates | None = None,
    ) -> None:
        """Nothing is done yet.

        ``learned`` may be the folder of a bundle, read when it is needed; None is the one in the package. ``given`` are
        candidates of another program, taken instead of looking for them; their fits only rank them.
        """
        self.puzzle, self.config, self.context, self.store = puzzle, config or SolveConfig(), context or Context(), store
        self.done: list[str] = []
        """Stages that were finished and saved, in order."""
        self.reused: list[str] = []
        """Stages that were taken from the store."""
        self.made: list[str] = []
        """Stages that were walked, saved or not."""
        self.cut_in = ""
        """The first stage that a stop has cut short."""
        self._reports: dict[str, StageReport] = {}
        self._keys: dict[str, str] = {}
        self._known_keys: dict[str, str] = {}
        self._products: dict[str, Any] = {
            "puzzle": puzzle, "seed": seed, "constraints": constraints,
            "given": None if given is None else rank_given(given),
        }  # fmt: skip
        self._learned = learned
        if given is not None:
            self.config = config_for_given(self.config)
            if given.j.max(initial=-1) >= len(puzzle):
                raise ValueError("a candidate names a piece that does not exist")

    def get(self, product: str) -> Any:
        """A product, by the name that its stage gives it."""
        found = self.find(product)
        if found is None and product in _MAKES:
            found = self._products[product] = self._make(_MAKES[product])
        return found

    def find(self, product: str) -> Any:
        """A product that is there already, here or in the store; None when it has to be made."""
        if product not in self._products:
            look = {
                "steps": self._steps, "known": self._known, "rated": self._rated, "learned": self._bundle,
                "candidates": self._candidates,
            }.get(product)  # fmt: skip
            self._products[product] = look() if look else self._load(_MAKES[product])
        return self._products[product]

    def changed(
        self,
        config: SolveConfig | None = None,
        context: Context | None = None,
        constraints: Constraints | None = None,
        store: Store | None = None,
    ) -> Corridor:
        """The same puzzle, other options or decisions (None: the same); candidates and scores they do not touch are kept."""
        other = Corridor(
            self.puzzle, config or self.config, context or self.context, store=store, seed=self._products["seed"],
            constraints=self._products["constraints"] if constraints is None else constraints, learned=self._learned,
        )  # fmt: skip
        other.digests = self.digests
        other._keys = dict(self._keys)
        other._products |= {
            name: self._products[name] for name in ("learned", "given", "steps", "known") if name in self._products
        }
        for stage in STAGES[:5]:
            if self._products.get(stage.gives) is not None and other.key(stage.gives) == self.key(stage.gives):
                other._products[stage.gives] = self._products[stage.gives]
                if stage.name in self._reports:
                    other._reports[stage.name] = self._reports[stage.name]
        return other

    def put(self, product: str, value: Any, key: str | None, reports: Sequence[StageReport] = ()) -> None:
        """Give a product that an earlier run made, with the key it had there; without a key, nothing after it is saved."""
        self._products[product], self._keys[product] = value, key or ""
        self._known_keys.clear()
        self._reports |= {report.name: report for report in reports}
        if key is None:
            self.store = None

    def forget(self, product: str) -> None:
        """Let go of a product; it is made again when it is asked for."""
        self._products.pop(product, None)

    @property
    def offered(self) -> Candidates:
        """The scored candidates that the composer may choose from."""
        rows: Candidates = self.get("scored").rows
        return rows.take((rows.score >= self.config.min_score) & (rows.fit >= self.config.compose.min_fit))

    @property
    def is_cut(self) -> bool:
        """True when a stop has left something out."""
        return self.context.stop.has_cut

    @property
    def stages(self) -> tuple[StageReport, ...]:
        """Seconds and counts of the stages, in order; of those that were saved, from when they were made."""
        return tuple(self._reports[stage.name] for stage in STAGES if stage.name in self._reports)

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """What each piece is known by."""
        return tuple(piece_digest(piece) for piece in self.puzzle.pieces)

    def key(self, product: str) -> str:
        """Names all that a product depends on."""
        if product in self._keys:
            return self._keys[product]
        if product not in self._known_keys:
            self._known_keys[product] = self._make_key(product)
        return self._known_keys[product]

    def _make_key(self, product: str) -> str:
        if product not in _MAKES:
            return self._root_key(product)
        stage = _MAKES[product]
        options = stage.options(self.config, self.get("learned"))
        needs = [name for name in stage.needs if name not in ("scene", "rated")]  # they tell nothing that is not in the others
        return make_key(stage.name, [self.key(name) for name in needs], options)

    def _root_key(self, name: str) -> str:
        """Names what came from outside; known and steps do not change what is asked, and parts of learned are options."""
        value: Any = self._products.get(name)
        if name == "puzzle":
            return puzzle_key(self.digests)
        if name == "given" and value is not None:
            measured = asdict(self.config.match.dense.verify)
            return make_key(name, [getattr(value, column).tobytes().hex() for column in ("i", "j", "pose", "fit")], measured)
        if name == "constraints":
            return make_key(name, constraints_key(value))
        return str(value) if name == "seed" else ""

    def _load(self, stage: Stage) -> Any:
        """What the store has of a stage."""
        if self.store is None or stage.from_arrays is None:
            return None
        saved = self.store.load(_SAVED_AS[stage.gives], self.key(stage.gives))
        product: Any = None if saved is None else stage.from_arrays(saved.arrays)
        if saved is None or product is None or not product.fits(len(self.puzzle)):
            return None
        self._reports |= {report.name: report for report in saved.reports}
        self.reused.append(_SAVED_AS[stage.gives])
        return product

    def _make(self, stage: Stage) -> Any:
        given = {name: self.get(name) for name in stage.needs}
        clock, before = self.context.clock, len(self.context.clock.stages)
        with clock.stage(stage.name) as counts:
            product, counted = stage.work(given, self.config, self._context_of(stage))
            counts.update(counted or {})
        self.made.append(stage.name)
        self.cut_in = self.cut_in or (stage.name if self.is_cut else "")
        if counted is None:
            del clock.stages[before:]
        else:
            self._reports[stage.name] = clock.stages[-1]
        if stage.to_arrays is not None and self.store is not None and not self.is_cut:
            self.store.save(self._saved(stage, product))
            self.done.append(_SAVED_AS[stage.gives])
        return product

    def _context_of(self, stage: Stage) -> Context:
        """The context; what the matcher has measured and the scorer has seen so far is saved, where there is a store."""
        keeps: dict[str, Keep] = {"candidates": self._keep_measured, "scored": self._keep_rated}
        if self.store is None or stage.gives not in keeps:
            return self.context
        return replace(self.context, keep=keeps[stage.gives])

    def _keep_rated(self, scores: FloatArray) -> None:
        if self.store is not None:
            self.store.save({RATED: Saved(self.key("scored"), self.key("puzzle"), {"score": scores})})

    def _keep_measured(self, known: KnownPairs) -> None:
        if self.store is not None:
            arrays = known_to_arrays(known, self.digests)
            self.store.save({MEASURED: Saved(self.key("candidates"), self._measured_key(), arrays)})

    def _saved(self, stage: Stage, product: Any) -> dict[str, Saved]:
        assert stage.to_arrays is not None
        key, source = self.key(stage.gives), self.key("scored" if stage.gives == "assembly" else "puzzle")
        saved = {_SAVED_AS[stage.gives]: Saved(key, source, stage.to_arrays(product), self.stages)}
        if stage.gives == "candidates" and product.kept is not None:
            arrays = known_to_arrays(product.kept, self.digests)
            saved[MEASURED] = Saved(key, self._measured_key(), arrays)
        return saved

    def _measured_key(self) -> str:
        """What the measurements between two pieces depend on, beside these."""
        measured = _measure_options(self.config, self.get("learned"))
        return make_key(MEASURED, asdict(self.config.contours), self.get("seen").halo_px, self.get("seen").evened, measured)

    def _bundle(self) -> Learned:
        return self._learned if isinstance(self._learned, Learned) else load_learned(self._learned)

    def _candidates(self) -> FoundCandidates | None:
        """Those of the store; of a run that was opened, those that were put there scored."""
        found: FoundCandidates | None = self._load(_MAKES["candidates"])
        return self._products["scored"] if found is None and "scored" in self._keys else found

    def _known(self) -> KnownPairs | None:
        """What an earlier run has measured of these pieces."""
        saved = self.store and self.store.load(MEASURED)
        if not saved or saved.source != self._measured_key():
            return None
        return known_from_arrays(saved.arrays, self.digests)

    def _rated(self) -> FloatArray | None:
        """The scores that an earlier run has given to the first of the same candidates."""
        saved = self.store and self.store.load(RATED, self.key("scored"))
        score = saved.arrays.get("score") if saved else None
        if score is None or score.dtype != np.float64 or score.ndim != 1 or not ((score >= 0) & (score <= 1)).all():
            return None
        return score

    def _steps(self) -> tuple[float, float] | None:
        """How the borders were traced on which the candidates were found."""
        found: FoundCandidates | None = self.find("scored") or self.find("candidates")
        if found is not None:
            return found.steps
        known: KnownPairs | None = self.get("known")
        return None if known is None else known.scales.steps


def rank_given(rows: Candidates) -> Candidates:
    """Candidates of another program with their fits divided by the largest."""
    largest = float(rows.fit.max(initial=0.0))
    return replace(rows, fit=np.maximum(0.0, rows.fit / largest) if largest > 0 else np.zeros(len(rows)))


def config_for_given(config: SolveConfig) -> SolveConfig:
    """Options for candidates of another program: scored by their fits, which are ranks, unless a scorer is named."""
    config = replace(config, scorer=config.scorer or "fit")
    return config if config.scorer != "fit" else replace(config, compose=replace(config.compose, min_score=0.0))


def assemble_in_time(corridor: Corridor) -> tuple[Assembly, Corridor]:
    """The assembly, and the corridor that made it.

    What was cut short is compared with a quick best-first composition of the same candidates; the one with more pieces is kept.
    """
    context = corridor.context
    assembly: Assembly | None = corridor.find("assembly")
    if assembly is None and not context.stop.is_over():
        assembly = corridor.get("assembly")
    if assembly is not None and not ("confidence" in corridor.made and corridor.is_cut):
        return assembly, corridor
    if assembly is not None and context.stop.is_requested and corridor.cut_in not in ("", *_UNTIL_COMPOSED):
        return assembly, corridor  # somebody waits, and all pieces that a composer could place are there
    corridor.get("scored")  # what there is by now: the hasty composition looks for no more
    quick = replace(corridor.config, composer="best-first", second_round=SecondRoundConfig(enabled=False))
    hasty = corridor.changed(quick, replace(context, stop=Stop.after(HASTE_S)))
    if assembly is not None and len(assembly.poses) >= len(hasty.get("assembly").poses):
        return assembly, corridor
    return hasty.get("assembly"), hasty


def guess_places(
    assembly: Assembly, rows: Candidates, borders: Borders, config: SolveConfig, constraints: Constraints
) -> tuple[BestGuess, ...]:
    """Where pieces that are not placed most likely belong, as far as a person has not excluded it; nothing is changed.

    ``rows`` are all scored candidates, and their scores have to be probabilities.
    """
    if not assembly.unplaced or not len(rows):
        return ()
    allowed, is_free = free_places(rows, borders, constraints, config.compose)
    return find_best_guesses(assembly, allowed, borders.center, is_free, constraints.aside)


@dataclass(frozen=True, slots=True)
class Solution:
    """What a solve gives: the assembly, the scored candidates it chose from, and the record of the run."""

    assembly: Assembly
    candidates: Candidates
    report: RunReport
    offered: Candidates
    """Of the candidates, those that the composer could choose from: what was sure enough to place a piece alone."""
    puzzle: Puzzle

    def __repr__(self) -> str:
        return f"Solution({self.assembly.summary}, {self.report.seconds:.1f} s)"

    def _repr_png_(self) -> bytes | None:
        return result_png(self.puzzle, self.assembly)

    def _repr_html_(self) -> str:
        return result_html(self.puzzle, self.assembly, self.report.warnings)


def solve_puzzle(
    puzzle: Puzzle,
    config: SolveConfig | None = None,
    *,
    seed: int = 0,
    constraints: Constraints = NOTHING_DECIDED,
    candidates: Sequence[Alignment] | None = None,
    learned: Learned | None = None,
    context: Context | None = None,
) -> Solution:
    """Put a puzzle together and report each stage.

    Args:
        puzzle: the pieces.
        config: options of the stages; None takes the defaults.
        seed: recorded, and the only source of randomness for stages that use any.
        constraints: what a person has decided.
        candidates: joins to choose from, found by another program; None finds them here. Their fits only rank them.
        learned: networks and coefficients; None are those that come with the package.
        context: whom to tell how far it is, when to stop, and who does the work.
    """
    given = None if candidates is None else Candidates.of(candidates)
    walk = Corridor(puzzle, config, context, seed=seed, constraints=constraints, learned=learned, given=given)
    assembly, made_by = assemble_in_time(walk)
    rows = walk.get("scored").rows
    ranks = walk.config.fits_are_ranks or (candidates is not None and walk.config.chosen_scorer == "fit")
    warnings = puzzle.warnings + walk.get("candidates").notes + (() if ranks else describe_doubts(assembly, rows))
    guesses = () if ranks else guess_places(assembly, rows, walk.get("borders"), walk.config, constraints)
    report = RunReport(
        __version__, puzzle.name, seed, made_by.stages, warnings, asdict(walk.config), walk.context.clock.seconds,
        find_other_places(assembly, rows), guesses,
    )  # fmt: skip
    return Solution(assembly, rows, report, made_by.offered, puzzle)


def solve(puzzle: Puzzle, config: SolveConfig | None = None, *, context: Context | None = None) -> Assembly:
    """Put a puzzle together: `solve_puzzle` without the record."""
    return solve_puzzle(puzzle, config, context=context).assembly
