"""What fuzzing starts from: one small valid file of each kind. ``python -m fuzzing.corpus`` writes them anew."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import made_files
import numpy as np
from PIL import Image

from jigsawnet.candidates import Candidates
from jigsawnet.edits import Accept, Edits, LayOutPages, Move, NamePage, Pin, SetAside, Solved, TurnPage
from jigsawnet.geometry import SE2
from jigsawnet.io import assembly_json, authors, edits_json
from jigsawnet.io.array_store import Saved
from jigsawnet.io.images import srgb_profile
from jigsawnet.io.run_folder import lock_folder
from jigsawnet.loading import Loaded
from jigsawnet.runs import Request
from jigsawnet.runs.request import request_to_plain
from jigsawnet.store import FoundCandidates, assembly_to_arrays, found_to_arrays, piece_digest, pieces_to_arrays, puzzle_key
from jigsawnet.types import Alignment, Assembly, Join, Piece, Puzzle, Seam

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
NAMES = ("a.png", "b <i>.png", "ü'\".png")
_JOIN = Alignment(0, 1, SE2(0.3, 5.0, -7.5), 0.5, Seam(9.0, 1.0, 0.0, 0.0, 4.0))
_FOUND = Assembly(3, {0: SE2(0.0, 0.0, 0.0), 1: SE2(0.3, 5.0, -7.5)}, ((0, 1),), (Join(_JOIN, 0.9),), {0: 0.5, 1: 0.25})
_PLACED = Assembly(3, {k: SE2(0.1 * k, 9.0 * k, 1.0) for k in range(3)}, ((0, 1, 2),))
_SUITE = """\
title = "Two kinds"
photos = "pictures"
[[group]]
name = "torn"
puzzles = 2
shred = { pieces = 9, damage = { halo_px = 1.5 } }
[[sweep]]
name = "erosion"
axis = "px"
vary = "erosion_px"
values = [0, 1.5]
shred = { pieces = 9 }
"""


def puzzle() -> Puzzle:
    """Three pieces with a hole in the corner of each."""
    rng, mask = np.random.default_rng(2), np.ones((12, 10), bool)
    mask[:3, :3] = False
    images = [rng.integers(0, 256, (12, 10, 3), dtype=np.uint8) for _ in NAMES]
    return Puzzle("p", tuple(Piece(k, name, images[k], mask.copy()) for k, name in enumerate(NAMES)))


def _saved(pixels: np.ndarray, file_format: str, mode: str, **options: object) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(stream, format=file_format, **options)
    return stream.getvalue()


def _pictures() -> Iterator[tuple[str, bytes]]:
    pixels = np.random.default_rng(5).integers(0, 256, (9, 11, 4), dtype=np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6
    yield "png/rgba", _saved(pixels, "PNG", "RGBA", dpi=(300, 300))
    yield "png/palette", _saved(pixels, "PNG", "P", transparency=3)
    yield "png/profile", _saved(pixels, "PNG", "RGB", icc_profile=srgb_profile(), exif=exif)
    yield "png/bits", _saved(pixels, "PNG", "1")
    stream = io.BytesIO()
    Image.fromarray(pixels[..., 0].astype(np.uint16) * 257).save(stream, format="PNG")
    yield "png/grey-16", stream.getvalue()
    yield "jpeg/plain", _saved(pixels, "JPEG", "RGB", exif=exif, dpi=(300, 300))
    yield "jpeg/progressive", _saved(pixels, "JPEG", "L", progressive=True)
    yield "jpeg/cmyk", _saved(pixels, "JPEG", "CMYK")
    yield "tiff/plain", _saved(pixels, "TIFF", "RGB", dpi=(600, 600))
    yield "tiff/lzw", _saved(pixels, "TIFF", "RGBA", compression="tiff_lzw")
    yield "tiff/deflate", _saved(pixels, "TIFF", "L", compression="tiff_adobe_deflate")
    yield "tiff/fax", _saved(pixels, "TIFF", "1", compression="group4")
    yield "tiff/jpeg", _saved(pixels, "TIFF", "RGB", compression="jpeg")
    yield "tiff/lab", _saved(pixels, "TIFF", "LAB")
    yield "tiff/pages", made_files.tiff(pixels, pixels[:5], dpi=(300, 300))
    yield "tiff/deep", made_files.deep_tiff(pixels[..., :3].astype(np.uint16) * 257, 2)
    yield "tiff/big", _saved(pixels, "TIFF", "RGB", big_tiff=True)
    yield "webp/lossless", _saved(pixels, "WEBP", "RGBA", lossless=True)
    yield "webp/lossy", _saved(pixels, "WEBP", "RGB")
    yield "bmp/plain", _saved(pixels, "BMP", "RGB")
    yield "bmp/palette", _saved(pixels, "BMP", "P")
    yield "heif/heic", made_files.heic(pixels)
    yield "heif/avif", made_files.avif(pixels)
    yield "pdf/scan", made_files.pdf_of_scan(pixels[..., :3])
    yield (
        "pdf/text",
        made_files.pdf_pages([b"BT /F 9 Tf 10 10 Td (torn) Tj ET", b"0 0 9 9 re f"], made_files.pdf_picture(pixels[..., :3])),
    )
    yield "pdf/forms", made_files.pdf_of_nested_forms(2)


def _texts(folder: Path) -> Iterator[tuple[str, bytes]]:
    path = folder / "file"

    def written(write: object) -> bytes:
        del write
        return path.read_bytes()

    yield "assembly/found", written(assembly_json.write_assembly(path, _FOUND, NAMES))
    yield "assembly/placed", written(assembly_json.write_assembly(path, _PLACED, NAMES))
    yield "candidates/one", written(assembly_json.write_candidates(path, [_JOIN], NAMES, ["chosen"]))
    held = (
        Move({0: SE2(0.1, 2.0, 3.0)}, ((0, 1),)), Pin((0,)), Solved(_PLACED), NamePage(0, "n"), TurnPage(0, 1.5), LayOutPages(),
        SetAside((2,)), Accept(0, 1),
    )  # fmt: skip
    edits_json.save_edits(folder, Edits(_FOUND, held, 7), NAMES)
    yield "edits/all", (folder / edits_json.EDITS_FILE).read_bytes()
    yield "undone/one", (folder / edits_json.UNDONE_FILE).read_bytes()
    lines = json.loads((folder / edits_json.EDITS_FILE).read_text())["edits"]
    for k, line in enumerate(_numbered(each) for each in lines if each["kind"] != "solved"):
        yield f"request/{line['kind']}-{k}", json.dumps(line).encode()
    yield "truth/text", written(authors.write_ground_truth(path, _PLACED, NAMES))
    yield "poses/text", written(authors.write_poses(path, _PLACED))
    yield "stitched/text", written(authors.write_alignments(path, [_JOIN], 3, [np.eye(2)]))
    yield "joins/text", written(authors.write_joins(path, [Join(_JOIN, 0.5)]))
    yield "color/text", b"8 248 8\n"
    yield "suite/toml", _SUITE.encode()


def _numbered(node: object) -> object:
    """Pieces by number, as the browser names them."""
    if isinstance(node, dict):
        return {str(_numbered(key)): _numbered(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_numbered(value) for value in node]
    return NAMES.index(node) if node in NAMES else node


def _run(folder: Path) -> Iterator[tuple[str, bytes]]:
    pieces = puzzle()
    arrays = {
        "pieces": pieces_to_arrays(Loaded(pieces, {0: pieces.pieces[0]}, 300.0)),
        "score": found_to_arrays(FoundCandidates(Candidates.of([_JOIN], [0.9]), ("a note",), (3.0, 3.0))),
        "assembly": assembly_to_arrays(_FOUND),
    }
    of = puzzle_key([piece_digest(piece) for piece in pieces.pieces])
    keys = {"pieces": ("a" * 64, ""), "score": ("b" * 64, of), "assembly": ("c" * 64, "b" * 64)}
    with lock_folder(folder, "1.0") as run:
        run.save({name: Saved(*keys[name], arrays[name]) for name in arrays})
        run.set(request=request_to_plain(Request((Path("pieces"),))), results="e" * 64, result_files=("assembly.json",))
    yield "run/run", (folder / "run.json").read_bytes()
    for path in sorted((folder / "stages").iterdir()):
        yield f"stage/{path.name.split('-')[0]}", path.read_bytes()


def _network() -> bytes:
    """A network of a few numbers."""
    from onnx import TensorProto, helper, numpy_helper

    weight = numpy_helper.from_array(np.eye(2, dtype=np.float32), "w")
    shape = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in ("x", "y")]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Sigmoid", ["z"], ["y"])]
    graph = helper.make_graph(nodes, "g", shape[:1], shape[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return bytes(model.SerializeToString())


def write_corpus(folder: Path = CORPUS) -> None:
    """Write all files, in the place of those that are there."""
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as room:
        for name in ("texts", "run"):
            Path(room, name).mkdir()
        made = [*_pictures(), *_texts(Path(room, "texts")), *_run(Path(room, "run")), ("network/onnx", _network())]
    for name, data in made:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    write_corpus()
