"""Every reader of ``io``: random bytes, and valid files with random changes, are read or refused in words."""

from __future__ import annotations

import inspect
import json
import pkgutil
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import made_files
import numpy as np
import pytest
from PIL import Image

import jigsawnet.io
from jigsawnet.edits import Accept, Edits, Move, Pin, Solved
from jigsawnet.edits.cutting import BrushOn, Discard, Split
from jigsawnet.geometry import SE2
from jigsawnet.io import (
    array_store,
    assembly_json,
    authors,
    case_file,
    edits_json,
    files,
    history,
    images,
    json_files,
    json_text,
    pages,
    pieces,
    review_json,
    run_folder,
    scans,
    toml_text,
    truth,
)
from jigsawnet.types import Alignment, Assembly, Join, Piece, Puzzle, StageReport

NAMES = ("a.png", "b <i>.png", "ü'\".png")
JOIN = Alignment(0, 1, SE2(0.3, 5.0, -7.5), 0.5)
ASSEMBLY = Assembly(
    3, {0: SE2(0.0, 0.0, 0.0), 1: SE2(0.3, 5.0, -7.5)}, ((0, 1),), (Join(JOIN, 0.9),), {0: 0.5, 1: 0.25}
)  # fmt: skip
PLACED = Assembly(3, {k: SE2(0.1 * k, 9.0 * k, 1.0) for k in range(3)}, ((0, 1, 2),))
RefusesInWords = Callable[[Callable[[], object]], bool]


@dataclass(frozen=True)
class Reader:
    """How a valid file comes about in a folder, what it is called, and how it is read from there."""

    file: str
    write: Callable[[Path], object]
    read: Callable[[Path], object]


def _puzzle() -> Puzzle:
    pixels = [np.full((6, 5, 3), 40 * k, np.uint8) for k in range(3)]
    return Puzzle("p", tuple(Piece(k, NAMES[k], image, np.ones((6, 5), bool)) for k, image in enumerate(pixels)))


def _write_picture(path: Path) -> None:
    Image.fromarray(np.arange(7 * 9 * 4, dtype=np.uint8).reshape(7, 9, 4)).save(path, dpi=(300, 300))


def _write_pages(path: Path) -> None:
    pictures = [np.random.default_rng(k).integers(0, 256, (7, 9, 3), dtype=np.uint8) for k in range(3)]
    path.write_bytes(made_files.tiff(*pictures, dpi=(300, 300)))


def _read_pages(path: Path) -> None:
    for page in pages.list_pages(path, "1-5"):
        images.read_image(page)


def _write_run(path: Path) -> None:
    arrays = {"pair": np.array([[0, 1]], np.int32), "meta": array_store.text_array({"names": NAMES})}
    with run_folder.lock_folder(path.parent, "1.0") as folder:
        reports = (StageReport("read", 1.0, {"pieces": 3}),)
        folder.save({"pieces": array_store.Saved("0123456789abcdef" * 4, "f" * 64, arrays, reports)})
        folder.set(results="e" * 64, result_files=("assembly.json",), request={"inputs": ["pieces"], "seed": 3})


def _write_edits(path: Path) -> None:
    held = (Move({0: SE2(0.1, 2.0, 3.0)}, ((0, 1),)), Pin((2,)), Solved(PLACED), Accept(0, 1))
    edits_json.save_edits(path.parent, Edits(ASSEMBLY, held, 3), NAMES)


def _write_review(path: Path) -> None:
    stroke = BrushOn("a.png", ((0.0, 0.5), (9.0, 9.0)), 4.5, (7.0, 8.0))
    review_json.save_review(path, (Discard("a.png", ((1.5, 2.0),)), Split("b.png", ((0.0, 0.0), (9.0, 9.0))), stroke))


def _write_alignments(path: Path) -> None:
    authors.write_alignments(path, [JOIN], 3, [np.eye(2)])


def _write_edges(path: Path) -> None:
    authors.write_joins(path, [Join(JOIN, 0.5)])


def _write_arrays(path: Path) -> None:
    array_store.write_arrays(path, {"a": np.arange(12.0).reshape(3, 4), "b": np.array([True])})


def _write_history(path: Path) -> None:
    for k in range(3):
        history.add_to_history(path.parent, "edited", {"kind": "pin", "number": k}, "somebody")


def _write_case(path: Path) -> None:
    files = {"run.json": b"{}", "stages/a.npz": b"pixels", "report.html": b"<p>"}
    case_file.write_case(path, case_file.Case("1.0", "p", {}), files)


def _unpack(path: Path) -> None:
    case_file.read_case(path)
    with tempfile.TemporaryDirectory() as folder:
        case_file.unpack_case(path, Path(folder) / "out", lambda _: None)


def _truth_of(path: Path) -> Assembly:
    return truth.read_truth(path.parent, _puzzle())


READERS: dict[Any, Reader] = {
    assembly_json.read_candidates: Reader(
        "c.json",
        lambda p: assembly_json.write_candidates(p, [JOIN], NAMES),
        lambda p: assembly_json.read_candidates(p, NAMES),
    ),
    assembly_json.read_choices: Reader(
        "c.json",
        lambda p: assembly_json.write_candidates(p, [JOIN], NAMES, ["chosen"]),
        lambda p: assembly_json.read_choices(p, NAMES),
    ),
    array_store.read_arrays: Reader("a.npz", _write_arrays, lambda p: array_store.read_arrays(p, files.file_digest(p))),
    assembly_json.read_assembly: Reader(
        "assembly.json", lambda p: assembly_json.write_assembly(p, ASSEMBLY, NAMES), assembly_json.read_assembly
    ),
    authors.read_ground_truth: Reader(
        "groundTruth.txt", lambda p: authors.write_ground_truth(p, PLACED, NAMES), lambda p: authors.read_ground_truth(p, NAMES)
    ),
    authors.read_poses: Reader("p.txt", lambda p: authors.write_poses(p, PLACED), lambda p: authors.read_poses(p, 3)),
    authors.read_alignments: Reader("a.txt", _write_alignments, lambda p: authors.read_alignments(p, 3)),
    authors.read_stitch_lines: Reader("a.txt", _write_alignments, lambda p: authors.read_stitch_lines(p, 3)),
    authors.read_joins: Reader("e.txt", _write_edges, lambda p: authors.read_joins(p, 3)),
    case_file.read_case: Reader("c.jigsaw", _write_case, _unpack),
    edits_json.load_edits: Reader("edits.json", _write_edits, lambda p: edits_json.load_edits(p.parent, NAMES)),
    edits_json.read_edits: Reader("edits.json", _write_edits, lambda p: edits_json.read_edits(p, NAMES)),
    files.read_text: Reader("t.txt", lambda p: p.write_text("some text\n"), files.read_text),
    files.file_digest: Reader("t.txt", lambda p: p.write_text("some text\n"), files.file_digest),
    history.read_history: Reader("history.jsonl", _write_history, lambda p: history.read_history(p.parent)),
    pages.list_pages: Reader("i.tif", _write_pages, _read_pages),
    pieces.list_unread: Reader("i.gif", _write_pages, lambda p: pieces.list_unread(p.parent)),
    images.read_image: Reader("i.png", _write_picture, images.read_image),
    images.read_pixel_count: Reader("i.png", _write_picture, images.read_pixel_count),
    json_files.load_object: Reader(
        "o.json",
        lambda p: p.write_text('{"format": "f", "version": 1, "x": [1.5]}'),
        lambda p: json_files.load_object(p, "f", 1),
    ),
    pieces.list_pictures: Reader("i.png", _write_picture, lambda p: pieces.list_pictures(p.parent)),
    pieces.read_key_color: Reader(
        "bg_color.txt", lambda p: p.write_text("8 248 8\n"), lambda p: pieces.read_key_color(p.parent)
    ),
    review_json.load_review: Reader("review.json", _write_review, review_json.load_review),
    run_folder.read_folder: Reader("run.json", _write_run, lambda p: run_folder.read_folder(p.parent).load("pieces")),
    run_folder.read_record: Reader("run.json", _write_run, run_folder.read_record),
    scans.read_scan: Reader("i.png", _write_picture, scans.read_scan),
    scans.read_dpi: Reader("i.png", _write_picture, scans.read_dpi),
    truth.read_truth: Reader("truth.json", lambda p: assembly_json.write_assembly(p, PLACED, NAMES), _truth_of),
}
NOT_FILES = {
    array_store.read_text_array, edits_json.parse_edit, edits_json.parse_pose, json_files.parse_rigid, json_text.parse_json,
    pages.parse_pages, review_json.parse_correction, toml_text.parse_toml,
}  # fmt: skip
"""They take what other readers have read, and texts of their own in their tests."""

every_reader = pytest.mark.parametrize("reader", READERS.values(), ids=[function.__name__ for function in READERS])


def test_every_reader_is_fuzzed() -> None:
    readers = set()
    for info in pkgutil.iter_modules(jigsawnet.io.__path__):
        module = import_module(f"jigsawnet.io.{info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and re.match(r"(read|load|list|parse|open)_|file_digest", name):
                readers.add(function)
    missing = readers - set(READERS) - NOT_FILES
    assert not missing, f"add them to READERS: {sorted(f.__qualname__ for f in missing)}"
    assert set(READERS) | NOT_FILES == readers


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Path, bytes]]:
    """For each reader a folder with a valid file, and its bytes."""
    made = {}
    for reader in READERS.values():
        path = tmp_path_factory.mktemp("reader") / reader.file
        reader.write(path)
        reader.read(path)  # the valid file can be read
        made[id(reader)] = path, path.read_bytes()
    return made


BYTES = [
    b"", b"\0" * 50, b"\xff\xfe\x00" * 50, b"[" * 100_000, b'{"a":' * 100_000, b"9" * 10_000, b"1 " * 1000, b"\n" * 1000,
]  # fmt: skip
WORDS = [b"-1", b"1e999", b"NaN", b"null", b"9" * 400, b"0", b"1e-320", b'"', b"\\", b"\0", b"{}", b"[]"]


@every_reader
def test_random_bytes(reader: Reader, folders: dict[int, tuple[Path, bytes]], refuses_in_words: RefusesInWords) -> None:
    path, _ = folders[id(reader)]
    draw = random.Random(1)
    for data in [*BYTES, *(draw.randbytes(draw.randrange(300)) for _ in range(30))]:
        path.write_bytes(data)
        refuses_in_words(lambda: reader.read(path))


def changed(data: bytes, draw: random.Random) -> bytes:
    """With up to four changes: cut short, a part left out or doubled, something else put in its place."""
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(data) + 1)
        stop = start + 1 + int(draw.random() ** 3 * (len(data) - start))
        new = draw.choice(WORDS) if draw.random() < 0.5 else draw.randbytes(draw.randint(1, 4))
        match draw.randrange(6):
            case 0:
                data = data[:start]
            case 1:
                data = data[:start] + data[stop:]
            case 2:
                data = data[:stop] + data[start:]
            case 3:
                data = data[:start] + new + data[stop:]
            case _:
                data = data[:start] + new[:1] + data[start + 1 :]
    return data


@every_reader
def test_valid_files_with_changes(
    reader: Reader, folders: dict[int, tuple[Path, bytes]], refuses_in_words: RefusesInWords
) -> None:
    path, valid = folders[id(reader)]
    draw = random.Random(2)
    for _ in range(80):
        path.write_bytes(changed(valid, draw))
        refuses_in_words(lambda: reader.read(path))


HOSTILE: list[Any] = [
    None, True, -1, 0, 2**63, 10**400, float("nan"), float("inf"), 1e308, 1e-320, "", "x" * 5000, "../../x", "\0", "\ud800",
    [], {}, [[]], [None] * 3, {"": 1}, ["a.png", "a.png"], [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
]  # fmt: skip
JSON_READERS = {function.__name__: reader for function, reader in READERS.items() if reader.file.endswith("json")}


MOST_VALUES = 250


def with_values_replaced(text: bytes) -> Iterator[str]:
    """The JSON text with a hostile value in some place, one at a time: all of them in small files, some in larger ones."""
    data = json.loads(text)

    def places(node: Any) -> Iterator[tuple[Any, Any]]:
        for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            yield node, key
            yield from places(node[key])

    every = [(owner, key, value) for owner, key in places(data) for value in HOSTILE]
    random.Random(3).shuffle(every)
    for owner, key, value in every[:MOST_VALUES]:
        valid, owner[key] = owner[key], value
        yield json.dumps(data)
        owner[key] = valid


@pytest.mark.parametrize("name", JSON_READERS)
def test_hostile_values_in_json(name: str, folders: dict[int, tuple[Path, bytes]], refuses_in_words: RefusesInWords) -> None:
    reader = JSON_READERS[name]
    path, valid = folders[id(reader)]
    refused = 0
    for text in with_values_replaced(valid):
        path.write_text(text)
        refused += refuses_in_words(lambda: reader.read(path))
    assert refused > 20


def test_a_number_too_large_for_a_float(folders: dict[int, tuple[Path, bytes]], refuses_in_words: RefusesInWords) -> None:
    path, valid = folders[id(READERS[run_folder.read_record])]
    data = json.loads(valid)
    data["stages"]["pieces"]["reports"][0]["seconds"] = 10**400
    path.write_text(json.dumps(data))
    assert refuses_in_words(lambda: run_folder.read_record(path))
