"""What training asks of the corridor: candidates, what the scores look at, placements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.learned import Learned
from jigsawnet.match import MatchConfig, Scales
from jigsawnet.match.dense import by_pair, measure_row, prepare_material
from jigsawnet.match.gap import estimate_gap, lay_apart
from jigsawnet.match.pairs import all_pairs
from jigsawnet.match.ragged import measure_contact, prepare_ragged, settle_row
from jigsawnet.pipeline import Corridor
from jigsawnet.pixels import Pixels, build_pixels
from jigsawnet.score.long_seams import score_along
from jigsawnet.score.scene import Scene, looking
from jigsawnet.score.seam_path import unit_of
from jigsawnet.score.views import SeamViews
from jigsawnet.seam_fit import contact_fit, seam_fit, seam_terms
from jigsawnet.types import Assembly, FloatArray, Puzzle
from jigsawnet.workers import LocalWorkers, Shared

_LOW_SCORE = 0.02
"""Joins are made down to this score too, so that there are wrong ones to learn from."""


def find(
    puzzle: Puzzle, learned: Learned, matcher: str = "dense", match: MatchConfig | None = None
) -> tuple[Scene, Candidates]:
    """What scorers look at in a puzzle, and its candidates."""
    walk = Corridor(puzzle, SolveConfig(matcher=matcher, match=match or MatchConfig()), learned=learned)
    return walk.get("scene"), walk.get("candidates").rows


def look(puzzle: Puzzle, learned: Learned) -> tuple[Pixels, Borders]:
    """What candidates that are known already are drawn from: pictures and borders of the pieces."""
    walk = Corridor(puzzle, learned=learned)
    borders: Borders = walk.get("borders")
    return build_pixels(walk.get("seen").puzzle, unit_of(borders)), borders


def measure_seeds(puzzle: Puzzle, learned: Learned) -> tuple[Candidates, float]:
    """Every pose that the dense matcher verifies, chosen or not, and the step of the borders, in pixels."""
    borders: Borders = Corridor(puzzle, learned=learned).get("borders")
    dense, workers = MatchConfig().dense, LocalWorkers()
    material = prepare_material(borders, dense, Scales.of(borders), learned.fit, workers)
    rows = by_pair(workers.run(measure_row, Shared(material), all_pairs(len(borders))))
    fit, pose = seam_fit(rows.features, borders.step_px, learned.fit), rows.pose.astype(np.float32, copy=False)
    gap_px = estimate_gap(borders, rows.i, rows.j, pose, fit, dense.verify)
    if gap_px:
        rows = Candidates.make(rows.i, rows.j, *lay_apart(borders, rows.i, rows.j, pose, dense.verify, gap_px))
    return rows, borders.step_px


def settle_seeds(puzzle: Puzzle, learned: Learned) -> tuple[Candidates, float]:
    """Every pose that the matcher settles when a puzzle is ragged, with its contact, and the step of the borders in px."""
    borders: Borders = Corridor(puzzle, learned=learned).get("borders")
    material = prepare_ragged(borders, MatchConfig().dense, Scales.of(borders), learned.contact)
    return by_pair(LocalWorkers().run(settle_row, Shared(material), all_pairs(len(borders)))), borders.step_px


def touching(puzzle: Puzzle, learned: Learned, printed: bool = False) -> tuple[Candidates, FloatArray]:
    """Candidates that touch, whether the puzzle is ragged or not, and their terms as of `Scene.touching_terms`.

    ``printed``: as those of a page are looked at.
    """
    walk = Corridor(puzzle, learned=learned)
    scene: Scene = walk.get("scene")
    if not scene.candidates.ragged.any():
        scene = replace(scene, candidates=measure_contact(scene.borders, scene.candidates))
    rows, step_px = scene.candidates, scene.borders.step_px
    parts = contact_fit(rows, step_px, learned.contact)
    views = SeamViews(scene.pixels, scene.borders, rows)
    likely = np.fmax(parts, rows.fit) if printed else parts
    met = np.flatnonzero(views.met & (likely >= learned.touching.hopeless))
    seen = score_along(scene.detector(looking(printed)), scene.borders, rows, views, met, Context())
    own = rows.take(met)
    return own, scene.touching_terms(own, np.column_stack([parts[met], seen]), printed)


def votes(puzzle: Puzzle, learned: Learned) -> tuple[Candidates, FloatArray, FloatArray]:
    """Candidates whose borders meet, their ``terms (C, 77)``, and ``votes (C, 2)`` of the seam fit and of our network."""
    scene, rows = find(puzzle, learned)
    views = SeamViews(scene.pixels, scene.borders, rows)
    met = np.flatnonzero(views.met)
    seen = scene.detector("seam").score(views, met, Context())
    rows = rows.take(met)
    return rows, seam_terms(rows.features, scene.borders.step_px), np.column_stack([scene.fit(rows), seen])


def placements(puzzle: Puzzle, learned: Learned) -> list[tuple[Assembly, Candidates]]:
    """The puzzle placed as it is solved, and with joins that are not likely; not yet judged. With the scored candidates."""
    walk = Corridor(puzzle, SolveConfig(), learned=learned)
    walk.get("scored")
    walks = [walk, walk.changed(SolveConfig(compose=ComposeConfig(min_score=_LOW_SCORE)))]
    return [(each.get("placed"), each.get("scored").rows) for each in walks]
