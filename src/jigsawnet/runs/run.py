"""A run, as it lies in its folder: pieces, scored candidates, assembly, and the record of how they came about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.hints import unmet_hints
from jigsawnet.confidence.doubts import describe_doubts, find_other_places
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.edits import Notes
from jigsawnet.errors import InputError, OutputError, UnreadError
from jigsawnet.fragments.backs import lay_back
from jigsawnet.io.array_store import Saved
from jigsawnet.io.assembly_json import assembly_to_json
from jigsawnet.io.authors import read_alignments
from jigsawnet.io.case_file import CASE_SUFFIX
from jigsawnet.io.images import read_pixel_count, silent_decoders
from jigsawnet.io.run_folder import RUN_FILE, RunFolder, lock_folder, read_folder
from jigsawnet.io.scans import CHECK_FOLDER, write_checks
from jigsawnet.learned import load_learned
from jigsawnet.loading import Loaded, Memory, load_input
from jigsawnet.pipeline import NOTHING_DECIDED, RATED, Corridor, assemble_in_time, guess_places
from jigsawnet.render.layout import begin_at_zero
from jigsawnet.render.notebook import result_html, result_png
from jigsawnet.runs.history import INPUTS_FILE, History, write_inputs
from jigsawnet.runs.memory import MemoryGuard
from jigsawnet.runs.request import Request, input_files, pieces_key, request_from_plain, request_to_plain
from jigsawnet.runs.results import replace_results
from jigsawnet.runs.snapshots import OnPoses, show_poses
from jigsawnet.score import parts_of
from jigsawnet.store import (
    FoundCandidates,
    assembly_from_arrays,
    assembly_to_arrays,
    constraints_key,
    found_from_arrays,
    found_to_arrays,
    make_key,
    old_puzzle_key,
    pieces_from_arrays,
    pieces_to_arrays,
)
from jigsawnet.types import Assembly, Constraints, Piece, Progress, Puzzle, RunReport, StageReport
from jigsawnet.version import __version__

CUT_SHORT = "It was stopped before it was finished; this is the best so far, and solving again goes on from here."
BY_HAND = "It was corrected by hand in the workbench; edits.json lists what was done."
DRAFT = "draft-"
"""Stages that were cut short are saved under their name behind this: they can be looked at, but are done again."""
_FEW_PICTURES = 64
"""So many pictures are read to the end, whatever the time."""
OLD_SCORE = "graph"
"""The name that scored candidates had in run folders of format 1."""


@dataclass(frozen=True, eq=False)
class Run:
    """A run and what it found; a run that was stopped early has what there was at that time."""

    folder: Path
    request: Request
    pieces: Loaded
    corridor: Corridor
    assembly: Assembly
    stages: tuple[StageReport, ...] = ()
    """Seconds and counts of the stages."""
    cut_short: bool = False
    """True when the time or a person ended it before it was finished."""
    is_draft: bool = False
    """True when candidates are missing, since the time or a person ended the search."""
    done: tuple[str, ...] = ()
    """Stages that were finished by this call, in order."""
    reused: tuple[str, ...] = ()
    """Stages that had been saved before and were taken as they are."""
    seconds: float = 0.0
    """Of the whole command so far; 0 for a run that was opened."""
    by_hand: bool = False
    """True when the assembly is how a person has laid the pieces."""
    page_names: Mapping[int, str] = field(default_factory=dict)
    """What a person calls the pages, by the number of the component."""
    notes: Notes = field(default_factory=Notes)
    """What a person noted."""
    said_backs: Mapping[int, int] = field(default_factory=dict)
    """Pieces of which a person said that another is their back, and that other."""
    decided_since: Constraints | None = None
    """What a person has decided by now; None: as when it was solved."""

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, {self.assembly.summary}{', cut short' if self.cut_short else ''})"

    def _repr_png_(self) -> bytes | None:
        return result_png(self.puzzle, self.assembly)

    def _repr_html_(self) -> str:
        return result_html(self.puzzle, self.assembly, self.report.warnings)

    @property
    def puzzle(self) -> Puzzle:
        """The pieces."""
        return self.pieces.puzzle

    @property
    def backs(self) -> Mapping[int, Piece]:
        """Backs of the pieces: those that were read, and those that a person named among the pieces."""
        pieces = self.puzzle.pieces
        said = {front: lay_back(pieces[front], pieces[back], any_angle=True) for front, back in self.said_backs.items()}
        return {**self.pieces.backs, **said}

    @property
    def dpi(self) -> float | None:
        """Resolution of the scan."""
        return self.pieces.dpi

    @property
    def config(self) -> SolveConfig:
        """The options as they are used."""
        return self.request.effective_config

    @property
    def borders(self) -> Borders:
        """The borders of the pieces; traced when first asked for, as the matcher saw them."""
        borders: Borders = self.corridor.get("borders")
        return borders

    @property
    def candidates(self) -> Candidates:
        """All scored candidates, best first; none before they are scored."""
        found: FoundCandidates | None = self.corridor.find("scored")
        return Candidates.none() if found is None else found.rows

    @property
    def pairs_matched(self) -> int:
        """Pairs of pieces that this call matched."""
        pairs = (stage.counts.get("pairs", 0) for stage in self.stages if stage.name == "match")
        return int(sum(pairs)) if "match" in self.corridor.made else 0

    @property
    def guesses(self) -> tuple[int, ...]:
        """Placed pieces whose place is a guess; not known where scores only rank."""
        return () if self.request.scores_are_ranks else self.assembly.guesses

    @property
    def decided(self) -> Constraints:
        """What a person has decided, until now."""
        before: Constraints = self.corridor.find("constraints")
        return before if self.decided_since is None else self.decided_since

    @property
    def report(self) -> RunReport:
        """The record of the run."""
        found: FoundCandidates | None = self.corridor.find("scored")
        notes = () if found is None else found.notes
        known = not (self.is_draft or self.request.scores_are_ranks)
        doubts = describe_doubts(self.assembly, self.candidates) if known else ()
        decided: Constraints = self.corridor.find("constraints")
        doubts += tuple(unmet_hints(decided.hints, self.assembly, self.puzzle.names().__getitem__))
        hand = (BY_HAND,) if self.by_hand else ()
        warnings = (*self.puzzle.warnings, *notes, *doubts, *hand, *((CUT_SHORT,) if self.cut_short else ()))
        options, others = asdict(self.config), find_other_places(self.assembly, self.candidates)
        guessed = guess_places(self.assembly, self.candidates, self.borders, self.config, self.decided) if known else ()
        return RunReport(
            __version__, self.puzzle.name, self.request.seed, self.stages, warnings, options, self.seconds, others, guessed
        )

    def solve_on(
        self,
        constraints: Constraints = NOTHING_DECIDED,
        context: Context | None = None,
        on_poses: OnPoses | None = None,
        *,
        with_results: bool = True,
    ) -> Run:
        """Compose again from the saved candidates with what a person has decided, and write the results.

        ``on_poses`` is shown the pieces that are joined so far, some times a second, as poses in one frame. Without
        ``with_results`` the files are left to `show`.

        Raises:
            InputError: the constraints contradict each other; nothing has changed.
            OutputError: somebody else writes into the folder, or it cannot be written.
        """
        with lock_folder(self.folder, __version__) as folder:
            shown = show_poses(lambda: self.borders, constraints.pinned, on_poses)
            context = replace(context or Context(), on_snapshot=shown)
            corridor = self.corridor.changed(self.config, context, constraints, None if self.is_draft else folder)
            return _assemble(folder, replace(self, corridor=corridor, done=(), reused=()), with_results)

    def show(
        self,
        arranged: Assembly | None = None,
        page_names: Mapping[int, str] = MappingProxyType({}),
        notes: Notes = Notes(),  # noqa: B008 - frozen and empty
        entering: AbstractContextManager[Any] | None = None,
        said_backs: Mapping[int, int] = MappingProxyType({}),
        decided: Constraints | None = None,
    ) -> None:
        """Make the result files show ``arranged``, the pieces as a person has laid them; None: as the solver did.

        ``page_names`` and ``notes.pages`` by the number of the component, ``said_backs`` the back of a piece by the piece.
        ``decided`` is what a person has decided by now, which may exclude best guesses.
        ``entering`` is held while the folder is being locked.

        Raises:
            OutputError: somebody else writes into the folder, or it cannot be written; the old files are as they were.
        """
        shown, request, key = self, self.request, _results_key(self)
        if arranged is not None:
            lain = begin_at_zero(self.puzzle, replace(arranged, chosen=self.assembly.chosen))
            shown = replace(shown, assembly=lain, by_hand=True)
            key = make_key(
                "arranged", assembly_to_json(lain, self.puzzle.names()), self.dpi, request.authors_text, request.tiff
            )
        if page_names:
            key = make_key(key, sorted(page_names.items()))
        if said_backs:
            key = make_key(key, "backs", sorted(said_backs.items()))
        if notes:
            key = make_key(key, notes.key())
        if decided is not None and _excluding(decided) != _excluding(self.decided):
            key = make_key(key, "decided", constraints_key(_excluding(decided)))
            shown = replace(shown, decided_since=decided)
        shown = replace(shown, page_names=page_names, notes=notes, said_backs=said_backs)
        with ExitStack() as stack:
            with entering or nullcontext():
                folder = stack.enter_context(lock_folder(self.folder, __version__))
            replace_results(folder, shown, key)


def solve_run(
    request: Request,
    out: Path,
    *,
    constraints: Constraints | Callable[[Puzzle], Constraints] = NOTHING_DECIDED,
    context: Context | None = None,
    memory_limit: int | None = None,
    on_pieces: Callable[[Run], None] | None = None,
    on_poses: OnPoses | None = None,
    operator: str = "",
    memory: Memory | None = None,
) -> Run:
    """Solve into the folder ``out``: what was saved there with the same input and settings is taken, the rest is done.

    Killed at any moment and called again, it gives the result of an undisturbed run. Stopped early, the best assembly so far
    is written, and the next call goes on.

    Args:
        request: what to solve, and how.
        out: the run folder; made if need be.
        constraints: what a person has decided; a function is asked once the pieces are read, before the long work starts.
        context: whom to tell how far it is, when to stop, and who does the work.
        memory_limit: bytes that the process may hold.
        on_pieces: given the run when no more than its pieces is known, before the long work starts.
        on_poses: shown the pieces that are joined so far, some times a second, as poses in one frame.
        operator: who solves, for the history.
        memory: what was found on the scans before; it is not looked for again.

    Raises:
        JigsawNetError: bad input, too little memory, stopped while the pictures were read (`UnreadError`), or the folder
            cannot be written; what was saved stays.
    """
    _keep_out_of_inputs(request, out)
    guard, context = MemoryGuard(memory_limit), context or Context()
    context = replace(context, progress=guard.watch(context.progress))
    with lock_folder(out, __version__) as folder:
        folder.before_reading = guard.check_file
        folder.record = replace(folder.record, request=request_to_plain(request, out), jigsawnet=__version__)
        learned = load_learned(request.weights)
        learned.digest_of(*parts_of(request.effective_config.chosen_scorer))  # before the long work: they may be missing
        pieces, is_new = _read(folder, request, context, guard, memory)
        guard.check_estimate(pieces.puzzle, request.effective_config)
        given = None if request.alignments is None else read_alignments(request.alignments, len(pieces.puzzle))
        corridor = Corridor(
            pieces.puzzle, request.config, context, store=folder, seed=request.seed, learned=learned,
            given=None if given is None else Candidates.of(given),
        )  # fmt: skip
        run = _unsolved(out, request, pieces, corridor)
        if on_pieces is not None:
            on_pieces(run)
        decided = constraints(run.puzzle) if callable(constraints) else constraints
        context = replace(context, on_snapshot=show_poses(lambda: run.borders, decided.pinned, on_poses))
        run = replace(run, corridor=corridor.changed(corridor.config, context, decided, folder))
        run.corridor.get("candidates")
        run.corridor.get("scored")
        is_draft = run.corridor.is_cut and "score" not in (*run.corridor.done, *run.corridor.reused)
        done, reused = (("pieces",), ()) if is_new else ((), ("pieces",))
        run = _assemble(folder, replace(run, is_draft=is_draft, done=done, reused=reused))
        History(out, operator).solved(run)
        return run


def _keep_out_of_inputs(request: Request, out: Path) -> None:
    """Refuse a run folder that is a folder of pieces: results among them would be taken for pieces."""
    with suppress(OSError):
        for place in (*request.inputs, *request.scans.back):
            if place.is_dir() and out.exists() and place.samefile(out):
                raise OutputError(f"{out} holds the pieces; give another folder for the result, such as {out / 'result'}.")


def _read(
    folder: RunFolder, request: Request, context: Context, guard: MemoryGuard, memory: Memory | None
) -> tuple[Loaded, bool]:
    """The pieces, and whether they were read now or taken from the folder."""
    key = pieces_key(request)
    saved = folder.load("pieces", key)
    pieces = saved and pieces_from_arrays(saved.arrays)
    if saved and pieces:
        context.clock.stages.extend(saved.reports)
        if not (folder.path / INPUTS_FILE).is_file():
            write_inputs(folder.path, request)
        return pieces, False
    with context.clock.stage("read") as counts, silent_decoders():
        guard.check_pictures([read_pixel_count(path) for path in input_files(request)])
        loaded = load_input(request.inputs, request.scans, _until_stopped(context), memory)
        counts.update(pieces=len(loaded.puzzle))
    write_checks(folder.path / CHECK_FOLDER, {check.name: check.picture for check in loaded.checks})
    folder.save({"pieces": Saved(key, "", pieces_to_arrays(loaded), (context.clock.stages[-1],))})
    write_inputs(folder.path, request)
    return loaded, True


def _until_stopped(context: Context) -> Progress:
    """The progress of reading; the few pictures at the end are read even when the work is to end, more are not."""

    def tell(stage: str, done: int, total: int) -> None:
        context.progress(stage, done, total)
        if total - done > _FEW_PICTURES and context.stop.is_over():
            raise UnreadError(
                f"It was stopped when {done:,} of {total:,} pictures were read, and nothing of that is kept; give it more time."
            )

    return tell


def _unsolved(folder: Path, request: Request, pieces: Loaded, corridor: Corridor) -> Run:
    """A run that knows no more than its pieces."""
    return Run(folder, request, pieces, corridor, Assembly(len(pieces.puzzle), {}, ()))


def _results_key(run: Run) -> str:
    request = run.request
    full = ("full",) if request.full_picture else ()
    return make_key(
        "results", run.corridor.key("assembly"), run.puzzle.names(), run.dpi, request.authors_text, request.tiff, *full
    )  # fmt: skip


def _assemble(folder: RunFolder, run: Run, with_results: bool = True) -> Run:
    """Take the saved assembly, or compose and save it, and write the results; ``folder`` is locked.

    Stopped before anything was placed, it leaves the results of an earlier run as they are.
    """
    corridor = run.corridor
    assembly, made_by = assemble_in_time(corridor)
    corridor.forget("scene")  # pictures and networks are large, and writing takes memory too
    cut = run.is_draft or (corridor.is_cut and "assembly" not in corridor.reused)
    clock = corridor.context.clock
    reading = [stage for stage in (*run.stages, *clock.stages) if stage.name == "read"]
    run = replace(
        run, assembly=assembly, cut_short=cut, seconds=clock.seconds, stages=(*reading[:1], *made_by.stages),
        done=(*run.done, *corridor.done), reused=(*run.reused, *corridor.reused),
    )  # fmt: skip
    if cut and not assembly.poses and (corridor.context.stop.is_requested or folder.record.result_files):
        return run
    if cut:
        _save_draft(folder, run)
    else:
        old = (OLD_SCORE, RATED) if "score" in folder.record.stages else ()
        folder.drop(*(name for name in folder.record.stages if name.startswith(DRAFT) or name in old))
    if with_results:
        corridor.context.progress("results", 0, 1)
        replace_results(folder, run, _results_key(run))
        corridor.context.progress("results", 1, 1)
    return replace(run, seconds=clock.seconds)


def _excluding(decided: Constraints) -> Constraints:
    """What excludes places, whatever else was decided."""
    return Constraints(forbidden=decided.forbidden, aside=decided.aside, hints=decided.hints)


def _save_draft(folder: RunFolder, run: Run) -> None:
    """Save an assembly that was cut short, with its candidates if these are not saved either."""
    corridor = run.corridor
    scored, key = corridor.key("scored"), corridor.key("assembly")
    drafts = {f"{DRAFT}assembly": Saved(key, scored, assembly_to_arrays(run.assembly), run.stages)}
    if run.is_draft:
        arrays = found_to_arrays(corridor.get("scored"))
        drafts[f"{DRAFT}score"] = Saved(scored, corridor.key("puzzle"), arrays, corridor.stages)
    folder.save(drafts)


def open_run(out: Path) -> Run:
    """Read a run, finished or not; the input that it was made from is not needed.

    Raises:
        InputError: there is no run in the folder, or its pieces are damaged.
        FormatError: its ``run.json`` cannot be read.
    """
    if out.is_file() and out.suffix == CASE_SUFFIX:
        raise InputError(f"{out} is a case file; open it with jigsawnet view, or unpack it with jigsawnet unpack first.")
    if not out.is_dir():
        raise InputError(f"There is no folder {out}.")
    if not (out / RUN_FILE).exists():
        raise InputError(f"{out} holds no run of jigsawnet; give the folder that jigsawnet solve wrote with -o.")
    folder = read_folder(out)
    request = request_from_plain(folder.record.request, f"{folder.path}: run.json: request", folder.path)
    loaded = folder.load("pieces")
    pieces = loaded and pieces_from_arrays(loaded.arrays)
    if not loaded or not pieces:
        raise InputError(f"The pieces saved in {out} are missing or damaged; run jigsawnet solve into it again.")
    corridor = Corridor(pieces.puzzle, request.effective_config, seed=request.seed, learned=request.weights)
    run = replace(_unsolved(out, request, pieces, corridor), stages=loaded.reports)
    return _with_assembly(folder, _with_candidates(folder, run))


def _with_candidates(folder: RunFolder, run: Run) -> Run:
    """The scored candidates that were made from these pieces, under any key."""
    sources = {run.corridor.key("puzzle"), old_puzzle_key(run.corridor.digests)}
    for name in (f"{DRAFT}score", f"{DRAFT}{OLD_SCORE}", "score", OLD_SCORE):
        saved = _load_from(folder, name, sources)
        found = saved and found_from_arrays(saved.arrays)
        if saved and found and found.fits(len(run.puzzle)):
            run.corridor.put("scored", found, saved.key, saved.reports)
            return replace(run, stages=run.stages + run.corridor.stages, is_draft=name.startswith(DRAFT))
    return run


def _with_assembly(folder: RunFolder, run: Run) -> Run:
    for name in (f"{DRAFT}assembly", "assembly"):
        saved = _load_from(folder, name, {run.corridor.key("scored")})
        assembly = saved and assembly_from_arrays(saved.arrays)
        if saved and assembly and assembly.fits(len(run.puzzle)):
            stages = {stage.name: stage for stage in (*run.stages, *saved.reports)}
            return replace(run, assembly=assembly, stages=tuple(stages.values()), cut_short=name.startswith(DRAFT))
    return replace(run, cut_short=True)


def _load_from(folder: RunFolder, name: str, sources: set[str]) -> Saved | None:
    entry = folder.record.stages.get(name)
    return folder.load(name) if entry and entry.source in sources else None
