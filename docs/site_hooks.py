"""What the site needs beside the pages: a menu that fits them."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Fill the menu: patterns become pages, pages that are not written yet are left out, pages that nobody listed come last."""
    docs = Path(config.docs_dir)
    menu = _there(config.nav, docs)
    listed = set(_pages(menu))
    others = [page for page in _matching("**/*.md", docs) if page not in listed]
    config.nav = [*menu, {"More": others}] if others else menu
    return config


def _there(entry: Any, docs: Path) -> Any:
    """A part of the menu with its patterns filled in, without pages that do not exist and headings with nothing below."""
    if isinstance(entry, list):
        parts = [page for part in entry for page in (_matching(part, docs) if isinstance(part, str) else [part])]
        return [kept for part in parts if (kept := _there(part, docs))]
    if isinstance(entry, dict):
        return {title: kept for title, part in entry.items() if (kept := _there(part, docs))}
    return entry if (docs / entry).is_file() else None


def _matching(pattern: str, docs: Path) -> list[str]:
    return sorted(path.relative_to(docs).as_posix() for path in docs.glob(pattern))


def _pages(entry: Any) -> list[str]:
    """All pages of a menu."""
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [page for part in parts for page in _pages(part)]
