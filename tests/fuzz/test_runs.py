"""A run folder made by somebody else: whatever its saved stages hold, with right checksums, opening it gives a run or words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.geometry import SE2
from jigsawnet.io.array_store import Arrays, Saved, text_array
from jigsawnet.io.run_folder import lock_folder
from jigsawnet.loading import Loaded
from jigsawnet.runs import Request, open_run
from jigsawnet.runs.request import request_to_plain
from jigsawnet.runs.run import CUT_SHORT
from jigsawnet.store import (
    FoundCandidates,
    assembly_to_arrays,
    found_to_arrays,
    old_puzzle_key,
    piece_digest,
    pieces_to_arrays,
    puzzle_key,
)
from jigsawnet.types import Alignment, Assembly, Join, Puzzle, Seam

RefusesInWords = Callable[[Callable[[], object]], bool]
JOIN = Alignment(0, 1, SE2(0.3, 5.0, -7.5), 0.5, Seam(9.0, 1.0, 0.0, 0.0, 4.0))
ASSEMBLY = Assembly(4, {0: SE2(0.0, 0.0, 0.0), 1: SE2(0.3, 5.0, -7.5)}, ((0, 1),), (Join(JOIN, 0.9),), {0: 0.5, 1: 0.25})


def stages_of(puzzle: Puzzle) -> dict[str, Arrays]:
    rows = Candidates.of([JOIN], [0.9])
    of_format_1 = {
        "meta": text_array({"notes": ["a note"], "steps": [3.0, 3.0]}),
        "pair": np.array([[0, 1]], np.int32),
        "pose": np.array([[0.3, 5.0, -7.5]]),
        "fit": np.array([0.5]),
        "has_seam": np.array([True]),
        "seam": np.array([[9.0, 1.0, 0.0, 0.0, 4.0, 0.0, 0.0]]),
        "score": np.array([0.9]),
    }
    return {
        "pieces": pieces_to_arrays(Loaded(puzzle, {0: puzzle.pieces[0]}, 300.0)),
        "score": found_to_arrays(FoundCandidates(rows, ("a note",), (3.0, 3.0))),
        "graph": of_format_1,
        "assembly": assembly_to_arrays(ASSEMBLY),
    }


def write_run(folder: Path, puzzle: Puzzle, stages: dict[str, Arrays]) -> None:
    digests = [piece_digest(piece) for piece in puzzle.pieces]
    keys = {
        "pieces": ("a" * 64, ""), "score": ("b" * 64, puzzle_key(digests)),
        "graph": ("b" * 64, old_puzzle_key(digests)), "assembly": ("c" * 64, "b" * 64),
    }  # fmt: skip
    with lock_folder(folder, "1.0") as run:
        run.save({name: Saved(*keys[name], arrays) for name, arrays in stages.items()})
        run.set(request=request_to_plain(Request((folder / "pieces",))))


def hostile_versions(array: np.ndarray) -> Iterator[np.ndarray]:
    yield array.ravel()[:0]
    yield np.zeros((0, 3))
    yield np.array(1)
    yield array[None]
    yield np.repeat(array.reshape(1, -1), 3, axis=0)
    yield np.full(array.shape, np.nan)
    yield np.full(array.shape, -1, np.int64)
    yield np.full(array.shape, 2**62, np.int64)
    yield np.full(array.shape, True)
    yield text_array({"names": [1, None, "../../x"], "backs": [[10**400, "x"]], "dpi": 10**400, "warnings": 3, "name": {}})
    yield np.frombuffer(b"[" * 100_000, np.uint8)
    yield np.frombuffer(b"\xff\xfe", np.uint8)


_DOUBTS = ("so where they lie is a guess.", "no piece was placed.")
"""How sentences about doubts end."""


@pytest.mark.parametrize("stage", ["pieces", "score", "graph", "assembly"])
def test_hostile_stages(
    stage: str, tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly], refuses_in_words: RefusesInWords
) -> None:
    puzzle = tiny_puzzle[0]
    unused = "score" if stage == "graph" else "graph"

    def look() -> None:
        """All that is read when it is asked for."""
        run = open_run(tmp_path)
        assert [join.alignment.i for join in map(run.candidates.join_at, range(len(run.candidates)))] in ([], [0])
        said = tuple(text for text in run.report.warnings if not text.endswith(_DOUBTS))
        assert said in ((), ("a note",), (CUT_SHORT,), ("a note", CUT_SHORT))

    whole = {name: arrays for name, arrays in stages_of(puzzle).items() if name != unused}
    write_run(tmp_path, puzzle, whole)
    opened = open_run(tmp_path)
    assert (len(opened.candidates), opened.cut_short, opened.is_draft) == (1, False, False)
    assert opened.candidates.join_at(0).score == 0.9
    assert set(opened.assembly.poses) == {0, 1}
    look()
    for name in list(whole[stage])[:8]:
        for changed in [None, *hostile_versions(whole[stage][name])]:
            arrays = dict(whole[stage])
            if changed is None:
                del arrays[name]
            else:
                arrays[name] = changed
            write_run(tmp_path, puzzle, {stage: arrays})
            refuses_in_words(look)


def test_names_in_run_json_do_not_lead_out(
    tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly], refuses_in_words: RefusesInWords
) -> None:
    out = tmp_path / "out"
    write_run(out, tiny_puzzle[0], stages_of(tiny_puzzle[0]))
    data = json.loads((out / "run.json").read_text())
    (tmp_path / "pieces-0123456789abcdef.npz").write_bytes(b"outside")
    for name in ("../pieces-0123456789abcdef.npz", "/etc/passwd", "", "..", "run.json", "pieces-0123456789abcdef.npz/../x"):
        data["stages"]["pieces"]["file"] = name
        (out / "run.json").write_text(json.dumps(data))
        assert refuses_in_words(lambda: open_run(out)), name
    assert (tmp_path / "pieces-0123456789abcdef.npz").read_bytes() == b"outside"
