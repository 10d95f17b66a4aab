"""What the site needs beside the pages: plots of the benchmarks, which lie outside docs, and a menu without missing pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PLOTS = "benchmarks/results"


def on_config(config: Any) -> Any:
    """Leave out of the menu what has not been written yet, such as the results before the benchmarks are run."""
    config.nav = _there(config.nav, Path(config.docs_dir))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Bring the plots into the site."""
    for picture in sorted((ROOT / PLOTS).glob("*.png")):
        files.append(File.generated(config, f"plots/{picture.name}", abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to the plots lead into the site."""
    return markdown.replace(f"](../{PLOTS}/", "](plots/")


def _there(entry: Any, docs: Path) -> Any:
    """A part of the menu without pages that do not exist and headings with nothing below."""
    if isinstance(entry, list):
        return [kept for part in entry if (kept := _there(part, docs))]
    if isinstance(entry, dict):
        return {title: kept for title, part in entry.items() if (kept := _there(part, docs))}
    return entry if (docs / entry).is_file() else None
