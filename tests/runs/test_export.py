"""Pages for archives: every file is read back by somebody else's reader, at its true size."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from jigsawnet.cli import main_code
from jigsawnet.edits import Edits, NamePage, OrderPage, Page, TurnPage
from jigsawnet.errors import ConfigError, OutputError
from jigsawnet.io.edits_json import save_edits
from jigsawnet.io.images import srgb_profile
from jigsawnet.io.pieces import write_pieces
from jigsawnet.render.image import render_assembly
from jigsawnet.render.sheet import bar_mm, page_assembly
from jigsawnet.runs import Request, Run, open_run, solve_run
from jigsawnet.runs.export import ExportConfig, export_pages, file_name
from jigsawnet.runs.table import edits_of, table_of
from jigsawnet.types import Assembly, Puzzle

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tiny_puzzle: tuple[Puzzle, Assembly], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two pages, of which the second was named, put first and turned by a quarter."""
    puzzle, truth = tiny_puzzle
    folder = tmp_path_factory.mktemp("two pages")
    write_pieces(folder / "pieces", puzzle)
    run = solve_run(Request(inputs=(folder / "pieces",)), folder / "out")
    poses = truth.poses
    start = Assembly(4, {idx: poses[idx] for idx in (0, 1, 2)}, ((0, 1), (2,)))
    edits = Edits(start).added(NamePage(2, "Letter: \N{SNOWMAN}/2")).added(OrderPage(2, 1)).added(TurnPage(2, math.pi / 2))
    save_edits(run.folder, edits, puzzle.names())
    return folder / "out"


@pytest.fixture(scope="module")
def exported(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exported")
    config = ExportConfig(
        formats=("pdf", "tiff", "png", "svg", "csv", "iiif"), dpi=100.0, base_url="https://archive.example/9/"
    )
    export_pages(open_run(folder), out, config)
    return out


def _pdf(path: Path, dpi: float) -> tuple[list[tuple[float, float]], list[np.ndarray]]:
    """Sizes of the sheets in mm, and the sheets drawn at so many dpi."""
    pdf = pypdfium2.PdfDocument(path)
    sheets = [pdf[k] for k in range(len(pdf))]
    sizes = [(sheet.get_width() / 72 * 25.4, sheet.get_height() / 72 * 25.4) for sheet in sheets]
    drawn = [np.asarray(sheet.render(scale=dpi / 72).to_pil().convert("RGB")) for sheet in sheets]
    pdf.close()
    return sizes, drawn


def _inside(path: Path, number: int) -> np.ndarray:
    """The picture on a sheet, as it is kept."""
    pdf = pypdfium2.PdfDocument(path)
    (image,) = pdf[number - 1].get_objects()
    picture = np.asarray(image.get_bitmap().to_pil().convert("RGB")).astype(float)
    pdf.close()
    return picture


def _wanted(run: Run, number: int) -> np.ndarray:
    """The page as the program itself draws it, on white."""
    table = table_of(run)
    picture = render_assembly(run.puzzle, page_assembly(table.to_assembly(4), table.pages[number - 1].pieces))
    alpha = picture[..., 3:] / 255.0
    return picture[..., :3] * alpha + 255.0 * (1 - alpha)


def test_there_is_a_file_of_each_kind_for_each_page(exported: Path) -> None:
    names = {path.name for path in exported.iterdir()}
    first = next(name for name in names if name.startswith("page-001") and name.endswith(".pdf"))[: -len(".pdf")]
    assert re.fullmatch(r"page-001-Letter[\w .-]*2", first)
    assert names == {f"{page}.{kind}" for page in (first, "page-002") for kind in ("pdf", "tif", "png", "svg")} | {
        "pages.pdf", "pieces.csv", "manifest.json", "export.json"
    }  # fmt: skip
    record = json.loads((exported / "export.json").read_text(encoding="utf-8"))
    assert [page["title"] for page in record["pages"]] == ["Letter: \N{SNOWMAN}/2", "Page 2"]
    assert set(record["files"]) == names - {"export.json"}


def test_the_pdf_holds_the_pages_at_true_size_and_without_loss(folder: Path, exported: Path) -> None:
    run = open_run(folder)
    sizes, drawn = _pdf(exported / "pages.pdf", 100.0)
    assert len(sizes) == 2
    for number, (size, sheet) in enumerate(zip(sizes, drawn, strict=True), 1):
        wanted = _wanted(run, number)
        assert size == pytest.approx((wanted.shape[1] * 0.254, wanted.shape[0] * 0.254), abs=0.01)
        assert sheet.shape == pytest.approx(wanted.shape, abs=1)
        assert np.abs(_inside(exported / "pages.pdf", number) - wanted).max() <= 1, "without loss"
    alone, _ = _pdf(exported / "page-002.pdf", 10.0)
    assert alone == sizes[1:]


def test_the_same_pages_are_the_same_bytes(
    folder: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = sorted(exported.glob("*.pdf"))
    numbers = [re.findall(rb"/ID\[<(\w+)><(\w+)>\]", path.read_bytes()) for path in written]
    assert all(b"/CreationDate(D:20000101000000" in path.read_bytes() for path in written)
    assert [len(found) for found in numbers] == [1] * len(written)
    config = ExportConfig(formats=("pdf",), dpi=100.0)
    export_pages(open_run(folder), tmp_path, config)
    for path in written:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
    assert len({number for ((number, _),) in numbers}) == len(written), "other pages have another number"


def test_png_and_tiff_know_their_resolution_and_colours(folder: Path, exported: Path) -> None:
    wanted = _wanted(open_run(folder), 2)
    for kind in ("png", "tif"):
        with Image.open(exported / f"page-002.{kind}") as picture:
            assert picture.info["dpi"] == pytest.approx((100.0, 100.0), abs=0.1)
            assert picture.info["icc_profile"] == srgb_profile()
            assert picture.mode == "RGBA"
            assert (picture.height, picture.width) == wanted.shape[:2]
    assert b"sRGB" in srgb_profile() or b"s\0R\0G\0B" in srgb_profile()


def test_a_page_is_exported_the_way_up_that_it_was_turned(folder: Path, exported: Path) -> None:
    run = open_run(folder)
    start = edits_of(run).start
    before = np.rot90(render_assembly(run.puzzle, page_assembly(start, (2,))), -1).astype(int)
    with Image.open(next(exported.glob("page-001*.png"))) as picture:
        after = np.asarray(picture).astype(int)
    assert after.shape == pytest.approx(before.shape, abs=1)
    height, width = np.minimum(after.shape, before.shape)[:2]
    assert np.abs(after[:height, :width] - before[:height, :width]).mean() < 8
    unturned = np.rot90(before, 2)
    assert np.abs(after[:height, :width] - unturned[:height, :width]).mean() > 16


def test_the_drawing_has_layers(exported: Path) -> None:
    root = ET.parse(exported / "page-002.svg").getroot()
    label, mode = (f"{{http://www.inkscape.org/namespaces/inkscape}}{name}" for name in ("label", "groupmode"))
    layers = {group.get(label): group for group in root if group.get(mode) == "layer"}
    assert set(layers) == {"Page 2", "Outlines", "Names of pieces"}
    assert len(layers["Page 2"]) == len(layers["Outlines"]) == 2
    assert layers["Outlines"].get("style") == "display:none"
    assert root.get("width", "").endswith("mm")


def test_the_list_of_pieces_has_every_piece(exported: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((exported / "pieces.csv").read_text(encoding="utf-8"))))
    assert [(row["page"], row["number"]) for row in rows] == [("1", "3"), ("2", "1"), ("2", "2"), ("", "4")]
    assert rows[3]["x"] == ""


def test_the_manifest_has_a_canvas_for_a_page_and_an_annotation_for_a_piece(exported: Path) -> None:
    data = json.loads((exported / "manifest.json").read_text(encoding="utf-8"))
    assert data["@context"] == "http://iiif.io/api/presentation/3/context.json"
    assert (data["type"], data["id"]) == ("Manifest", "https://archive.example/9/manifest.json")
    assert [len(canvas["annotations"][0]["items"]) for canvas in data["items"]] == [1, 2]
    ids = []
    for canvas in data["items"]:
        (painting,) = canvas["items"][0]["items"]
        assert painting["target"] == canvas["id"]
        assert (painting["body"]["width"], painting["body"]["height"]) == (canvas["width"], canvas["height"])
        assert painting["body"]["id"].isascii()
        file = exported / unquote(painting["body"]["id"].removeprefix("https://archive.example/9/"))
        with Image.open(file) as picture:
            assert picture.size == (canvas["width"], canvas["height"])
        for note in canvas["annotations"][0]["items"]:
            ids.append(note["id"])
            assert note["target"]["source"]["id"] == canvas["id"]
            shape = ET.fromstring(note["target"]["selector"]["value"])
            points = np.array([[float(v) for v in point.split(",")] for point in shape[0].get("points", "").split()])
            assert (points >= -1).all()
            assert (points <= (canvas["width"] + 1, canvas["height"] + 1)).all()
    assert len(set(ids)) == 3


def test_a_page_on_paper_keeps_its_size_and_a_large_one_takes_several_sheets(folder: Path, tmp_path: Path) -> None:
    run = open_run(folder)
    wanted = _wanted(run, 2)
    export_pages(run, tmp_path / "small", ExportConfig(formats=("pdf",), pages=(2,), dpi=100.0, paper="a4"))
    (size,), (sheet,) = _pdf(tmp_path / "small" / "pages.pdf", 100.0)
    assert sorted(size) == pytest.approx([210.0, 297.0], abs=0.1)
    paper = (sheet < 250).any(axis=2)
    rows, columns = np.flatnonzero(paper.any(axis=1)), np.flatnonzero(paper.any(axis=0))
    shown = (wanted < 250).any(axis=2)
    assert np.ptp(rows) == pytest.approx(np.ptp(np.flatnonzero(shown.any(axis=1))), abs=2), "true size"
    assert np.ptp(columns) == pytest.approx(np.ptp(np.flatnonzero(shown.any(axis=0))), abs=2)
    dpi = wanted.shape[1] / (2.5 * 190 / 25.4)
    export_pages(run, tmp_path / "large", ExportConfig(formats=("pdf",), pages=(2,), dpi=dpi, paper="a4"))
    assert len(_pdf(tmp_path / "large" / "page-002.pdf", 10.0)[0]) > 1
    with pytest.raises(ConfigError, match="sheets of a4"):
        export_pages(run, tmp_path / "huge", ExportConfig(formats=("pdf",), pages=(2,), dpi=1.0, paper="a4"))
    assert not (tmp_path / "huge").exists()


def test_outlines_labels_and_a_scale_bar_are_drawn_when_asked(folder: Path, tmp_path: Path) -> None:
    run = open_run(folder)
    export_pages(run, tmp_path / "plain", ExportConfig(formats=("png",), pages=(2,), dpi=100.0))
    drawn = ExportConfig(formats=("png",), pages=(2,), dpi=100.0, outlines=True, labels=True, scale_bar=True)
    export_pages(run, tmp_path / "drawn", drawn)
    plain, over = (np.asarray(Image.open(tmp_path / name / "page-002.png")).astype(int) for name in ("plain", "drawn"))
    below = over[plain.shape[0] :]
    assert len(below) > 20
    dark = np.flatnonzero((below[..., :3] < 60).all(axis=2).any(axis=0))
    length = bar_mm(plain.shape[1], 100.0)
    assert np.ptp(dark) == pytest.approx(length / 25.4 * 100.0, abs=3)
    changed = (np.abs(over[: plain.shape[0]] - plain) > 40).any(axis=2)
    assert 0.01 < changed.mean() < 0.4
    red = changed & (over[: plain.shape[0], :, 0] > 150) & (over[: plain.shape[0], :, 1] < 100)
    assert red.sum() > 100


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pages", "3"], "no page number 3"),
        (["--scale-bar"], "give it with --dpi"),
        (["--paper", "a4"], "give it with --dpi"),
        (["--dpi", "0"], "between 1 and 20000"),
        (["--base-url", "javascript:alert(1)"], "http or https address"),
    ],
)
def test_what_cannot_be_exported_is_said_in_a_sentence(
    folder: Path, tmp_path: Path, arguments: list[str], words: str, capsys: Capture
) -> None:
    assert main_code(["export", str(folder), "-o", str(tmp_path / "out"), *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert not (tmp_path / "out").exists()


def test_the_command_exports_once(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert main_code(["export", str(folder), "-o", str(out), "--formats", "pdf"]) == 0
    said = capsys.readouterr()
    assert "4 files in" in said.out
    assert "takes 300 dpi" in said.err
    assert main_code(["export", str(folder), "-o", str(out)]) == 2
    assert "already holds a result" in capsys.readouterr().err
    with pytest.raises(OutputError):
        export_pages(open_run(folder), out, ExportConfig())


def test_the_same_export_has_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    config = ExportConfig(formats=("tiff", "png", "svg", "csv", "iiif"), dpi=100.0)
    for name in ("one", "two"):
        export_pages(open_run(folder), tmp_path / name, config)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    ("name", "file"),
    [("", "page-007"), ("../../etc", "page-007-etc"), ("a/b\\c:d", "page-007-a_b_c_d"), ("x" * 200, "page-007-" + "x" * 60)],
)
def test_names_of_pages_become_harmless_names_of_files(name: str, file: str) -> None:
    assert file_name(Page(7, name, (0,))) == file
