"""The names that other programs may rely on; a change here is a change for them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import jigsawnet

PUBLIC = [
    "SE2",
    "Alignment",
    "Assembly",
    "Candidates",
    "ConfigError",
    "Constraints",
    "Context",
    "FormatError",
    "Hint",
    "InputError",
    "JigsawNetError",
    "Join",
    "Learned",
    "Metrics",
    "ModelError",
    "OutputError",
    "Piece",
    "Puzzle",
    "ShredConfig",
    "Solution",
    "SolveConfig",
    "Stop",
    "__version__",
    "evaluate",
    "load_learned",
    "load_puzzle",
    "render",
    "shred_images",
    "solve",
    "solve_puzzle",
    "ExportConfig",
    "Exported",
    "Loaded",
    "Request",
    "Run",
    "RunReport",
    "ScanInput",
    "export_pages",
    "load_input",
    "open_run",
    "pack_run",
    "solve_run",
    "unpack_run",
]


def test_the_public_names_are_these() -> None:
    assert sorted(jigsawnet.__all__) == sorted(PUBLIC)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "__version__"])
def test_each_name_is_there_and_explained(name: str) -> None:
    assert getattr(jigsawnet, name).__doc__


@pytest.mark.parametrize("name", [name for name in PUBLIC if name.endswith("Error")])
def test_one_base_catches_every_error(name: str) -> None:
    assert issubclass(getattr(jigsawnet, name), jigsawnet.JigsawNetError)


def test_the_version_follows_the_rules_of_python_packages() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?(\.dev\d+)?", jigsawnet.__version__)


def test_importing_needs_no_training_or_viewer_libraries() -> None:
    heavy = {"torch", "tensorflow", "fastapi", "matplotlib", "dask"}
    code = f"import sys, jigsawnet; print(sorted({heavy!r} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_reading_painting_and_the_command_line_load_nothing_slow_that_few_need() -> None:
    slow = {"rich", "onnxruntime", "scipy.spatial", "scipy.optimize", "scipy.ndimage", "xml.sax", "urllib.request"}
    modules = "jigsawnet.loading, jigsawnet.shred, jigsawnet.render.svg, jigsawnet.match.stitch, jigsawnet.cli.console"
    code = f"import sys, {modules}; print(sorted({slow!r} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_the_function_render_is_not_hidden_by_the_package_of_that_name() -> None:
    code = "import jigsawnet.render.svg, jigsawnet as jn; from jigsawnet import render; assert callable(jn.render) and render"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_that_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fly'"):
        jigsawnet.fly  # noqa: B018
    assert set(PUBLIC) <= set(dir(jigsawnet))
