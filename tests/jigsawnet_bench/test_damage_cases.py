from __future__ import annotations

from pathlib import Path

import pytest

from jigsawnet.errors import FormatError
from jigsawnet.shred import ShredConfig
from jigsawnet_bench.cases import Case
from jigsawnet_bench.suite import Group, Kind, parse_suite

TEXT = """
title = "damage"
[[group]]
name = "halo"
source = "generated"
shred = { pieces = 4, damage = { halo_px = 1.5, backdrop = [0, 0, 0] } }
"""


def test_a_suite_may_name_damage_and_its_puzzles_have_digests_of_their_own() -> None:
    (group,) = parse_suite("damage", TEXT, "here", Path()).groups
    assert group.shred.damage.halo_px == 1.5
    assert group.shred.damage.backdrop == (0, 0, 0)
    clean = Group(group.kind, ShredConfig(pieces=4))
    assert Case(group, 0).digest() != Case(clean, 0).digest()


def test_unknown_damage_is_refused() -> None:
    with pytest.raises(FormatError, match="halo_mm"):
        parse_suite("damage", TEXT.replace("halo_px", "halo_mm"), "here", Path())


def test_puzzles_without_damage_keep_the_digests_that_results_are_kept_by() -> None:
    case = Case(Group(Kind("a", "generated"), ShredConfig(pieces=16)), 3)
    assert case.digest() == "7fc96022c75e532ff340df92"
