"""The way of a puzzle through the product's corridor, from saved stages where nothing changed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import jigsawnet
from jigsawnet.context import Context, StageClock
from jigsawnet.io.array_store import FolderStore
from jigsawnet.io.assembly_json import write_assembly
from jigsawnet.io.images import write_png
from jigsawnet.io.pieces import write_pieces
from jigsawnet.io.truth import TRUTH_FILE, read_truth
from jigsawnet.learned import load_learned
from jigsawnet.loading import ScanInput, load_input
from jigsawnet.pipeline import STAGES, Corridor
from jigsawnet.runs import Request, Run, write_results
from jigsawnet.types import Puzzle
from jigsawnet.version import __version__
from jigsawnet_bench.cases import Case, build_puzzle
from jigsawnet_bench.machine import peak_mb
from jigsawnet_bench.measure import measure
from jigsawnet_bench.methods import Method, Task
from jigsawnet_bench.pictures import draw_result
from jigsawnet_bench.records import Record

STAGE_FOLDER = "stages"
PRODUCT, BENCH = Path(jigsawnet.__file__).parent, Path(__file__).parent
_NEVER = ("cli", "viewer", "training")
"""Packages above the corridor, which it cannot import: no figure depends on them."""
PEAK = "peak_mb"


class MemoryClock(StageClock):
    """Counts the largest memory so far with each stage, and keeps the seconds of those too that are not reported."""

    def __init__(self) -> None:
        super().__init__()
        self.took: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, int | float]]:
        """Time what happens inside; the caller fills in the counts."""
        with super().stage(name) as counts:
            yield counts
            peak = peak_mb()
            counts.update({} if peak is None else {PEAK: peak})
        self.took[name] = self.stages[-1].seconds


@dataclass(frozen=True, slots=True)
class Job:
    """A puzzle, a method, and the folder in which the outcome is recorded."""

    case: Case
    method: Method
    folder: Path
    source: str
    """`source_digest` of the program that is to run it."""
    task: Task = "solve"
    runs: tuple[Path, ...] = ()
    """Folders of finished trainings whose networks are looked at."""
    weights: Path | None = None
    """Folder of a learned bundle, instead of the one of the package."""

    def key(self) -> str:
        """Names everything the outcome depends on."""
        options = dataclasses.asdict(self.method.config)
        weights = [hashlib.sha256(path.read_bytes()).hexdigest() for run in self.runs for path in sorted(run.glob("*.json"))]
        parts = [self.task, self.case.digest(), options, weights, __version__, self.source]
        parts += [load_learned(self.weights).digest] if self.weights else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]

    def corridor(self, puzzle: Puzzle, clock: StageClock | None = None) -> Corridor:
        """The stages of the puzzle; those that methods have in common are shared, as long as the product is the same."""
        context = Context(clock=clock or MemoryClock())
        store = FolderStore(self.folder / STAGE_FOLDER / source_digest(PRODUCT))
        return Corridor(puzzle, self.method.config, context, store=store, seed=self.case.number, learned=self.weights)


def solve_case(job: Job, thumbnail: Path) -> Record:
    """Put one puzzle together as `jigsawnet solve` does, from its files to files, and compare the result with the truth."""
    with as_files(job.case) as folder:
        walk, record = solve_files(job, [folder])
        truth = read_truth(folder, walk.puzzle)
    puzzle, assembly, scored = walk.puzzle, walk.get("assembly"), walk.get("scored").rows
    measured = measure(puzzle, truth, assembly, scored, walk.config.compose.min_score, job.case.gap_px, walk.offered)
    thumbnail.parent.mkdir(parents=True, exist_ok=True)
    write_png(thumbnail, draw_result(puzzle, truth, assembly))
    return dataclasses.replace(record, measured=measured)


def solve_files(job: Job, inputs: Sequence[Path], backs: Sequence[Path] = ()) -> tuple[Corridor, Record]:
    """The way from folders of pieces or scans to the files of a result, and what it took; nothing is measured yet."""
    clock, scans = MemoryClock(), ScanInput(back=tuple(backs))
    with TemporaryDirectory() as out:
        with clock.stage("read"):
            loaded = load_input(inputs, scans)
        walk = job.corridor(loaded.puzzle, clock)
        assembly = walk.get("assembly")
        with clock.stage("write"):
            request = Request(tuple(inputs), scans, config=walk.config, seed=job.case.number)
            write_results(Run(Path(out), request, loaded, walk, assembly, walk.stages))
    took = clock.took | {stage.name: stage.seconds for stage in walk.stages}
    seconds = {name: took[name] for name in ("read", *(stage.name for stage in STAGES), "write") if name in took}
    memory = {stage.name: stage.counts[PEAK] for stage in (*clock.stages, *walk.stages) if PEAK in stage.counts}
    whole = sum(seconds.values())
    return walk, Record(
        seconds=round(whole, 3),
        stage_seconds=round(whole - seconds["read"] - seconds["write"], 3),
        stages={name: round(value, 3) for name, value in seconds.items()},
        peak_mb=max(memory.values(), default=None),
        memory=memory,
    )


@contextmanager
def as_files(case: Case) -> Iterator[Path]:
    """A folder with the pieces and the truth: the one that is read anyway, or one written as `jigsawnet shred` does."""
    if case.group.kind.is_read:
        yield case.sources[0]
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        puzzle, truth = build_puzzle(case)
        write_pieces(folder, puzzle)
        write_assembly(folder / TRUTH_FILE, truth, puzzle.names())
        yield folder


@cache
def source_digest(*packages: Path) -> str:
    """Names the state of the files of packages (none: of both) that a figure can depend on, network weights included."""
    digest = hashlib.sha256()
    for root in packages or (PRODUCT, BENCH):
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            parts = path.relative_to(root).parts
            if parts[0] not in _NEVER and "__pycache__" not in parts:
                digest.update(f"{root.name}/{'/'.join(parts)}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]
