"""The record of the run: seconds per stage, settings, version, and how to cite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jigsawnet.render.report.citation import PAPER, PAPER_URL, bibtex
from jigsawnet.render.report.facts import ReportInput
from jigsawnet.render.report.page import fold, section, table, text
from jigsawnet.types import StageReport


def stages_section(given: ReportInput) -> str:
    """How long each stage took and what it counted."""
    stages = given.report.stages
    longest = max((stage.seconds for stage in stages), default=0.0) or 1.0
    rows = [
        [text(stage.name), f"{stage.seconds:.2f}", _bar(stage.seconds / longest), text(_counted(stage))] for stage in stages
    ]
    rows.append(["in all", f"{sum(stage.seconds for stage in stages):.2f}", "", ""])
    return section("stages", "Seconds per stage", table(["stage", "seconds", "compared", "counted"], rows, numbers=(1,)))


def settings_section(given: ReportInput) -> str:
    """Everything needed to do the same again."""
    report = given.report
    known = [["version", text(report.version)], ["puzzle", text(report.puzzle)], ["seed", text(report.seed)]]
    if given.dpi is not None:
        known.append(["resolution", f"{given.dpi:g} dpi"])
    options = dict(flat(report.config))
    usual = dict(flat(given.defaults))
    changed = {name: value for name, value in options.items() if name in usual and usual[name] != value}
    words = "<p>Every option has its default.</p>" if usual and not changed else ""
    return section(
        "settings", "Settings and version", table(["what", "value"], known), words,
        table(["option that was changed", "value", "default"], _codes(changed, usual)) if changed else "",
        fold(f"All {len(options)} options", table(["option", "value"], _codes(options))),
    )  # fmt: skip


def _codes(options: Mapping[str, Any], usual: Mapping[str, Any] | None = None) -> list[list[str]]:
    rows = ((name, value, *([usual[name]] if usual else [])) for name, value in options.items())
    return [[f"<code>{text(cell)}</code>" for cell in row] for row in rows]


def citation_section(given: ReportInput) -> str:
    """The paper and the program."""
    return section(
        "cite", "How to cite",
        f"<p>This picture was put together by jigsawnet {text(given.report.version)}, which follows this paper:</p>"
        f'<p>{text(PAPER)} (<a href="{PAPER_URL}" rel="noreferrer">{PAPER_URL.removeprefix("https://")}</a>)</p>',
        f"<pre>{text_lines(bibtex(given.report.version))}</pre>",
    )  # fmt: skip


def flat(config: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Options one by one, with dots in their names."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def text_lines(words: str) -> str:
    """Several lines, each escaped."""
    return "\n".join(text(line) for line in words.splitlines())


def _bar(share: float) -> str:
    return f'<span class="track"><span class="bar" style="width:{100 * share:.1f}%"></span></span>'


def _counted(stage: StageReport) -> str:
    shown = (
        f"{name.replace('_', ' ')} {value:,}" if isinstance(value, int) else f"{name.replace('_', ' ')} {value:.4g}"
        for name, value in stage.counts.items()
    )
    return ", ".join(shown)
