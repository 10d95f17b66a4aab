"""The list of mutants is true: each can be put into the source, and nine of ten that were tried are caught."""

from __future__ import annotations

from collections import Counter

import mutants
import pytest

MUTANTS = mutants.read_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.name}")
def test_a_mutant_can_be_put_into_the_source(mutant: mutants.Mutant) -> None:
    """When this fails, the source has changed: write the error anew in ``list.toml`` and run ``make mutants``."""
    assert not mutant.is_stale(), "its text must occur once in its file"
    assert mutant.new != mutant.old
    assert mutant.tests
    assert all((mutants.ROOT / test).is_file() for test in mutant.tests)
    compile(mutant.path().read_text(encoding="utf-8").replace(mutant.old, mutant.new), mutant.file, "exec")


def test_there_are_many_in_each_package() -> None:
    counts = Counter(mutant.package for mutant in MUTANTS)
    assert set(counts) == set(mutants.PACKAGES)
    assert min(counts.values()) >= 12
    assert len({mutant.key for mutant in MUTANTS}) == len(MUTANTS) >= 60


def test_nine_of_ten_that_were_tried_are_caught_in_each_package() -> None:
    rows = mutants.read_results()["rows"]
    assert {(row["file"], row["name"]) for row in rows} <= {mutant.key for mutant in MUTANTS}, "run `make mutants`"
    assert len(rows) >= 60
    for package in mutants.PACKAGES:
        own = [row for row in rows if row["package"] == package]
        assert len(own) >= 12
        assert mutants.count_caught(own) >= 0.9 * len(own)


def test_the_page_names_the_survivors_and_what_was_not_tried() -> None:
    assert mutants.PAGE.read_text(encoding="utf-8") == mutants.page_text(mutants.read_results()), "run `make mutants`"
