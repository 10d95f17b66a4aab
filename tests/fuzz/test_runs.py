"""A run folder made by somebody else: whatever its saved stages hold, with right checksums, opening it gives a run or words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.geometry import SE2
from jigsawnet.io.array_store import Arrays, text_array
from jigsawnet.io.run_folder import lock_folder
from jigsawnet.runs import Request, open_run
from jigsawnet.runs.keys import piece_digest, puzzle_key
from jigsawnet.runs.request import request_to_plain
from jigsawnet.runs.stages import (
    Candidates,
    Pieces,
    assembly_to_arrays,
    pieces_to_arrays,
    scores_to_arrays,
)
from jigsawnet.types import Alignment, Assembly, Edge, Puzzle, Seam

RefusesInWords = Callable[[Callable[[], object]], bool]
JOIN = Alignment(0, 1, SE2(0.3, 5.0, -7.5), 0.5, Seam(9.0, 1.0, 0.0, 0.0, 4.0))
ASSEMBLY = Assembly(4, {0: SE2(0.0, 0.0, 0.0), 1: SE2(0.3, 5.0, -7.5)}, ((0, 1),), (Edge(JOIN, 0.9),), {0: 0.5, 1: 0.25})


def stages_of(puzzle: Puzzle) -> dict[str, Arrays]:
    return {
        "pieces": pieces_to_arrays(Pieces(puzzle, {0: puzzle.fragments[0]}, 300.0)),
        "graph": scores_to_arrays(Candidates((JOIN,), ("a note",), (3.0, 3.0)), np.array([0.9])),
        "assembly": assembly_to_arrays(ASSEMBLY),
    }


def write_run(folder: Path, puzzle: Puzzle, stages: dict[str, Arrays]) -> None:
    source = puzzle_key([piece_digest(fragment) for fragment in puzzle.fragments])
    keys = {"pieces": ("a" * 64, ""), "graph": ("b" * 64, source), "assembly": ("c" * 64, "b" * 64)}
    with lock_folder(folder, "1.0") as run:
        run.save_all({name: (*keys[name], arrays, ()) for name, arrays in stages.items()})
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


@pytest.mark.parametrize("stage", ["pieces", "graph", "assembly"])
def test_hostile_stages(
    stage: str, tmp_path: Path, tiny_puzzle: tuple[Puzzle, Assembly], refuses_in_words: RefusesInWords
) -> None:
    puzzle = tiny_puzzle[0]
    write_run(tmp_path, puzzle, stages_of(puzzle))
    opened = open_run(tmp_path)
    assert len(opened.graph.edges) == 1
    assert set(opened.assembly.poses) == {0, 1}
    for name in list(stages_of(puzzle)[stage])[:6]:
        for changed in [None, *hostile_versions(stages_of(puzzle)[stage][name])]:
            stages = stages_of(puzzle)
            if changed is None:
                del stages[stage][name]
            else:
                stages[stage][name] = changed
            write_run(tmp_path, puzzle, {stage: stages[stage]})
            refuses_in_words(lambda: open_run(tmp_path))


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
