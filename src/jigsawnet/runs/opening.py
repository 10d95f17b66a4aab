"""Opening a run that was made before."""

from __future__ import annotations

from pathlib import Path

from jigsawnet.errors import InputError
from jigsawnet.graph import build_graph
from jigsawnet.io.array_store import Arrays
from jigsawnet.io.run_folder import RunFolder, SavedStage, read_folder
from jigsawnet.runs.keys import piece_digest, puzzle_key
from jigsawnet.runs.request import request_from_plain
from jigsawnet.runs.run import Run, unsolved_run
from jigsawnet.runs.stages import DRAFT, assembly_from_arrays, pieces_from_arrays, scores_from_arrays


def open_run(out: Path) -> Run:
    """Read a run, finished or not; the input that it was made from is not needed.

    Raises:
        InputError: there is no run in the folder, or its pieces are damaged.
        FormatError: its ``run.json`` cannot be read.
    """
    if not out.is_dir():
        raise InputError(f"There is no folder {out}.")
    folder = read_folder(out)
    request = request_from_plain(folder.record.request, f"{folder.path}: run.json: request")
    loaded = folder.load("pieces")
    pieces = loaded and pieces_from_arrays(loaded[1])
    if not pieces:
        raise InputError(f"The pieces saved in {out} are missing or damaged; run jigsawnet solve into it again.")
    source = puzzle_key([piece_digest(fragment) for fragment in pieces.puzzle.fragments])
    return _with_assembly(folder, _with_graph(folder, unsolved_run(out, request, pieces), source))


def _with_graph(folder: RunFolder, run: Run, source: str) -> Run:
    for name in (f"{DRAFT}graph", "graph"):
        loaded = _load_from(folder, name, source)
        scored = loaded and scores_from_arrays(loaded[1])
        if loaded and scored and scored[0].n_fragments <= len(run.puzzle):
            return run.with_candidates(scored[0], loaded[0].reports).changed(
                graph=build_graph(len(run.puzzle), scored[0].alignments, scored[1].tolist()),
                graph_key=loaded[0].key,
                graph_cut_short=name.startswith(DRAFT),
            )
    return run.changed(graph_cut_short=True)


def _with_assembly(folder: RunFolder, run: Run) -> Run:
    for name in (f"{DRAFT}assembly", "assembly"):
        loaded = _load_from(folder, name, run.graph_key)
        assembly = loaded and assembly_from_arrays(loaded[1])
        if loaded and assembly and assembly.n_fragments == len(run.puzzle):
            return run.changed(assembly=assembly, assembly_stages=loaded[0].reports, cut_short=name.startswith(DRAFT))
    return run.changed(cut_short=True)


def _load_from(folder: RunFolder, name: str, source: str) -> tuple[SavedStage, Arrays] | None:
    saved = folder.record.stages.get(name)
    return folder.load(name) if saved and saved.source == source else None
