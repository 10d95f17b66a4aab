"""The readers that are fuzzed: where their file lies, how it is changed, and how it is read as the program does."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzing.corpus import CORPUS, NAMES, puzzle
from fuzzing.mutate import Mutator, bytes_changed, json_changed, png_changed, zip_changed
from jigsawnet.errors import FormatError, InputError
from jigsawnet.fragments import make_piece
from jigsawnet.io import array_store, assembly_json, authors, edits_json, images, pages, pieces, scans
from jigsawnet.learned import NETWORKS, PACKAGED, load_learned
from jigsawnet.runs import open_run

Read = Callable[[bytes], object]
Prepare = Callable[[Path], Read]


@dataclass(frozen=True)
class Target:
    """A reader; ``prepare`` gives, in a folder of its own, a function that takes the bytes of a file."""

    name: str
    mutate: Mutator
    prepare: Prepare
    corpus: str = ""
    share: float = 1.0
    """How much of all inputs it gets, beside others."""
    may_die: bool = False
    """The program runs it in a process of its own, whose end it survives."""


def seeds_of(target: Target) -> list[bytes]:
    """The valid files that it starts from."""
    return [path.read_bytes() for path in sorted((CORPUS / (target.corpus or target.name)).iterdir())]


def _file(name: str, read: Callable[[Path], object]) -> Prepare:
    def prepare(room: Path) -> Read:
        path = room / name

        def take(data: bytes) -> object:
            path.write_bytes(data)
            return read(path)

        return take

    return prepare


def _picture(path: Path) -> None:
    """What ``solve`` does with a picture file."""
    scans.read_dpi(path)
    images.read_pixel_count(path)
    for page in pages.list_pages(path, "1-3"):
        pixels = images.read_image(page, max_pixels=4_000_000)
        scans.on_white(pixels)
        if pixels.shape[0] * pixels.shape[1] < 10_000:
            with suppress(InputError):  # there may be no background
                make_piece(0, path.name, pixels, None)


def _pdf(path: Path) -> None:
    """The work of the process that draws; `pdf` survives what happens to it."""
    from jigsawnet.io import pdf_worker

    try:
        told, _ = pdf_worker.answer(path, 0, 1_000_000, False)
        for number in range(1, min(told["pages"], 2) + 1):
            pdf_worker.answer(path, number, 1_000_000, True)
    except pdf_worker.Refused as error:
        raise InputError(str(error)) from error
    except MemoryError as error:
        raise InputError("endless") from error


def _arrays(path: Path) -> object:
    found = array_store.read_arrays(path, None)
    if found is None:
        raise InputError("refused")
    return found


def _undone(room: Path) -> Read:
    edits = (CORPUS / "edits" / "all").read_bytes()
    (room / edits_json.EDITS_FILE).write_bytes(edits)

    def take(data: bytes) -> object:
        try:  # it is believed only with the checksum of the list that it belongs to
            whole = json.loads(data)
            whole["after"] = hashlib.sha256(edits).hexdigest()
            data = json.dumps(whole).encode()
        except (ValueError, TypeError, RecursionError):
            pass
        (room / edits_json.UNDONE_FILE).write_bytes(data)
        return edits_json.load_edits(room, NAMES)

    return take


def _request(_: Path) -> Read:
    """An edit as the workbench gets it, made on an arrangement."""
    import msgspec

    from jigsawnet.edits import Arrangement, PieceSizes

    start = assembly_json.read_assembly(CORPUS / "assembly" / "found")[0]
    sizes, now = PieceSizes.of(puzzle()), Arrangement.of(start)

    def number(value: Any, where: str) -> int:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(NAMES):
            raise FormatError(f"{where} names a piece that does not exist.")
        return value

    def take(data: bytes) -> object:
        try:
            entry = msgspec.json.decode(data)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise FormatError("The request cannot be read.") from error
        after = edits_json.parse_edit(entry, number, "edit").apply(sizes, now)
        return after.constraints(), after.to_assembly(len(NAMES))

    return take


def _run_folder(room: Path) -> tuple[Path, dict[str, Any]]:
    """The run of the corpus, and its record."""
    record = json.loads((CORPUS / "run" / "run").read_text())
    (room / "stages").mkdir(exist_ok=True)
    for name, entry in record["stages"].items():
        shutil.copy(CORPUS / "stage" / name, room / "stages" / entry["file"])
    return room, record


def _run(room: Path) -> Read:
    folder, _ = _run_folder(room)

    def take(data: bytes) -> object:
        (folder / "run.json").write_bytes(data)
        return _look(folder)

    return take


def _look(folder: Path) -> object:
    run = open_run(folder)
    return [run.candidates.join_at(k) for k in range(min(5, len(run.candidates)))], run.report, run.borders


def _stage(room: Path) -> Read:
    """A saved stage with the right checksum; which one is seen by what is in it."""
    folder, record = _run_folder(room)
    whole = {name: (folder / "stages" / entry["file"]).read_bytes() for name, entry in record["stages"].items()}

    def take(data: bytes) -> object:
        name = (
            "pieces" if b"image" in data or b"mask" in data else "score" if b"pose" in data and b"pair" in data else "assembly"
        )
        for each, good in whole.items():
            bad = data if each == name else good
            (folder / "stages" / record["stages"][each]["file"]).write_bytes(bad)
            record["stages"][each]["sha256"] = hashlib.sha256(bad).hexdigest()
        (folder / "run.json").write_text(json.dumps(record))
        return _look(folder)

    return take


def _bundle_in(room: Path) -> Callable[[dict[str, bytes]], None]:
    """Writes a bundle with other files, all checksums right; its networks are small."""
    network = (CORPUS / "network" / "onnx").read_bytes()
    plain = {path.name: path.read_bytes() for path in PACKAGED.iterdir() if path.suffix in (".json", ".md")}
    listed = json.loads(plain["bundle.json"])

    def write(changed: dict[str, bytes]) -> None:
        files = plain | {f"{name}-{k}.onnx": network for name in NETWORKS for k in range(1, 4)} | changed
        for name in NETWORKS:
            if f"{name}.json" in changed:
                continue
            manifest = json.loads(files[f"{name}.json"])
            for entry in manifest["files"]:
                entry["sha256"] = hashlib.sha256(files[entry["name"]]).hexdigest()
            files[f"{name}.json"] = json.dumps(manifest).encode()
        sums = {name: hashlib.sha256(files[name]).hexdigest() for name in listed["files"]}
        if "bundle.json" not in changed:
            files["bundle.json"] = json.dumps(listed | {"files": sums}).encode()
        for name, data in files.items():
            (room / name).write_bytes(data)

    return write


def _network(room: Path) -> Read:
    write = _bundle_in(room)

    def take(data: bytes) -> object:
        write({"seam-1.onnx": data})
        return load_learned(room).network("seam")

    return take


def _bundle(room: Path) -> Read:
    """One of its JSON files, seen by what is in it."""
    write = _bundle_in(room)

    def take(data: bytes) -> object:
        name = "bundle.json" if b'"card"' in data or b"model-card" in data else "seam.json" if b"alphas" in data else "fit.json"
        write({name: data})
        learned = load_learned(room)
        return learned.digest, learned.networks["seam"].manifest

    return take


def _bundle_seeds(seeds: object, draw: Any) -> bytes:
    del seeds
    return json_changed([(PACKAGED / name).read_bytes() for name in ("bundle.json", "seam.json", "fit.json")], draw)


def _suite(path: Path) -> object:
    from jigsawnet_bench.suite import load_suite

    return load_suite(str(path))


_ALL = (
    Target("png", png_changed, _file("p.png", _picture)),
    *(Target(kind, bytes_changed, _file(f"p.{kind}", _picture)) for kind in ("jpeg", "tiff", "webp", "bmp")),
    Target("heif", bytes_changed, _file("p.heic", _picture), share=0.3),
    Target("pdf", bytes_changed, _file("p.pdf", _pdf), share=0.5, may_die=True),
    Target("assembly", json_changed, _file("assembly.json", assembly_json.read_assembly), share=2),
    Target("candidates", json_changed, _file("c.json", lambda path: assembly_json.read_choices(path, NAMES)), share=2),
    Target("edits", json_changed, _file("edits.json", lambda path: edits_json.read_edits(path, NAMES)), share=2),
    Target("undone", json_changed, _undone),
    Target("request", json_changed, _request, share=3),
    Target("run", json_changed, _run, share=0.5),
    Target("stage", zip_changed, _stage, share=0.5),
    Target("npz", zip_changed, _file("a.npz", _arrays), corpus="stage", share=2),
    Target("truth", bytes_changed, _file("groundTruth.txt", lambda path: authors.read_ground_truth(path, NAMES)), share=1.5),
    Target("poses", bytes_changed, _file("p.txt", lambda path: authors.read_poses(path, 3)), share=2),
    Target(
        "stitched",
        bytes_changed,
        _file("a.txt", lambda path: (authors.read_alignments(path, 3), authors.read_stitch_lines(path, 3))),
    ),
    Target("joins", bytes_changed, _file("e.txt", lambda path: authors.read_joins(path, 3)), share=2),
    Target("color", bytes_changed, _file("bg_color.txt", lambda path: pieces.read_key_color(path.parent)), share=2),
    Target("suite", bytes_changed, _file("s.toml", _suite), share=1.5),
    Target("network", bytes_changed, _network, share=0.2),
    Target("bundle", _bundle_seeds, _bundle, corpus="network", share=0.2),
)
TARGETS = {target.name: target for target in _ALL}
