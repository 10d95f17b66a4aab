"""The coefficients: what the regression finds, and that the lists are those of the shipped ones."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.errors import ConfigError
from jigsawnet.learned import load_learned
from jigsawnet.training import fit_kinds, fits
from jigsawnet.training.fit_kinds import FITS, FitName
from jigsawnet.training.fits import FitsConfig, fit_part

PHOTOS = [Path(f"{k}.jpg") for k in range(150)]


def _columns(rng: np.random.Generator, right: float = 0.5, n: int = 4000) -> dict[str, np.ndarray]:
    """Joins whose right ones follow a known logistic law, when ``right`` is 0.5."""
    features = rng.normal(size=(n, 5))
    odds = features @ (1.0, -0.5, 0.0, 2.0, 0.5) + 0.25
    good = rng.random(n) < (1 / (1 + np.exp(-odds)) if right == 0.5 else right)
    ends = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    pieces = {"piece": np.arange(n + 1), "component": np.zeros(n + 1, int), "piece_right": rng.random(n + 1) < 0.5}
    return {"features": features, "right": good, "share": np.ones(n), "others": np.zeros(n), "ends": ends, **pieces}


def test_the_regression_finds_the_law_behind_the_rows() -> None:
    rng = np.random.default_rng(0)
    found = fits._regress(dataclasses.replace(FITS["confidence"], penalty=1e-7), [_columns(rng, n=20_000)])
    assert found.weights == pytest.approx((1.0, -0.5, 0.0, 2.0, 0.5), abs=0.08)
    assert found.bias == pytest.approx(0.25, abs=0.08)


def test_a_weight_counts_as_so_many_rows() -> None:
    part = _columns(np.random.default_rng(1))
    fit = FITS["confidence"]
    heavy = np.where(part["right"], 3.0, 1.0)
    weighted = fits._regress(dataclasses.replace(fit, rows=lambda p: (p["features"], p["right"], heavy)), [part])
    doubled = {name: np.concatenate([part[name], *[part[name][part["right"]]] * 2]) for name in ("features", "right")}
    repeated = fits._regress(fit, [doubled])
    assert weighted.weights == pytest.approx(repeated.weights, rel=0.05, abs=0.02)
    assert weighted.bias == pytest.approx(repeated.bias, abs=0.02)


@pytest.mark.parametrize(
    ("name", "puzzles", "first", "last"),
    [
        ("fit", 59, (9, 0.03, 0, "0.jpg"), (36, 0.05, 58, None)),
        ("contact", 50, (18, 0.09, 2000, "1.jpg"), (18, 0.08, 2049, None)),
        ("touching", 76, (18, 0.09, 8000, "5.jpg"), (36, 0.04, 8075, None)),
        ("combined", 65, (9, 0.04, 5000, "3.jpg"), (36, 0.05, 5064, None)),
        ("confidence", 90, (42, 0.0, 1000, "3.jpg"), (40, 0.04, 1089, "82.jpg")),
    ],
)
def test_the_puzzles_are_those_of_the_shipped_coefficients(
    name: FitName, puzzles: int, first: tuple[object, ...], last: tuple[object, ...]
) -> None:
    cases = FITS[name].plan(PHOTOS, 0, 400)
    assert len(cases) == puzzles
    for case, wanted in ((cases[0], first), (cases[-1], last)):
        photo = case.photos[0].name if case.photos else None
        assert (case.shred.pieces, case.shred.perturbation, case.seed, photo) == wanted
    assert max(case.shred.pieces for case in cases) == {"confidence": 64, "contact": 36, "touching": 36}.get(name, 400)


def test_every_fourth_puzzle_of_the_confidence_mixes_two_photographs() -> None:
    cases = FITS["confidence"].plan(PHOTOS, 0, 400)
    assert [len(case.photos) for case in cases[:8]] == [1, 2, 1, 1, 1, 2, 1, 1]
    assert [path.name for path in cases[1].photos] == ["14.jpg", "43.jpg"]


def test_the_last_puzzles_of_the_confidence_are_squares_of_nothing() -> None:
    cases = FITS["confidence"].plan(PHOTOS, 0, 400)
    squares = [case for case in cases if case.squares]
    assert squares == cases[-14:]
    assert {case.squares for case in squares} == {"noise", "white", "same", "foreign"}
    for case in squares:
        wanted = {"same": 1, "foreign": case.shred.pieces}.get(case.squares or "", 0)
        assert len(set(case.photos)) == wanted, "squares of different pictures are of different pictures"
    assert str(squares[0]) == "40 noise squares"


def test_pieces_are_as_sure_as_the_joins_on_their_way() -> None:
    part = {"piece": np.arange(4), "component": np.array([0, 0, 0, 1]), "ends": np.array([[0, 1], [1, 2]])}
    assert fit_kinds._said_of_pieces(np.array([0.9, 0.5]), part).tolist() == pytest.approx([0.9, 0.9, 0.5, 1.0])


def test_fewer_puzzles_are_spread_over_the_list() -> None:
    cases = FITS["fit"].plan(PHOTOS, 4, 16)
    assert [case.seed for case in cases] == [0, 14, 29, 44]
    assert max(case.shred.pieces for case in cases) == 16


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_where_all_joins_are_alike_the_coefficients_are_kept_and_a_sentence_says_so(
    share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    alike = dataclasses.replace(FITS["confidence"], measure=lambda *_: _columns(rng, right=share, n=50))
    monkeypatch.setitem(fits.FITS, "confidence", alike)
    for path in (paths := [tmp_path / "a.jpg", tmp_path / "b.jpg"]):
        path.write_bytes(b"")
    found, note = fit_part("confidence", paths, load_learned(), FitsConfig(puzzles=4), tmp_path)
    assert found == load_learned().confidence
    assert note.startswith(f"The puzzles hold no {'wrong' if share else 'right'} joins")
    assert not (tmp_path / "confidence.json").exists()


def test_a_finished_fit_is_kept_until_something_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measure(case, learned):  # type: ignore[no-untyped-def]
        asked.append(case.seed)
        return _columns(np.random.default_rng(case.seed), n=500)

    monkeypatch.setitem(fits.FITS, "confidence", dataclasses.replace(FITS["confidence"], measure=measure))
    for path in (paths := [tmp_path / "a.jpg", tmp_path / "b.jpg"]):
        path.write_bytes(b"")
    learned, config = load_learned(), FitsConfig(puzzles=4)
    first = fit_part("confidence", paths, learned, config, tmp_path)
    assert fit_part("confidence", paths, learned, config, tmp_path) == first
    assert len(asked) == 4
    (tmp_path / "confidence.json").write_text("{")
    assert fit_part("confidence", paths, learned, config, tmp_path) == first
    assert len(asked) == 4  # what was measured is kept apart from what was fitted
    broken = sorted((tmp_path / "fits").iterdir())[0]
    broken.write_bytes(broken.read_bytes()[:100])
    (tmp_path / "confidence.json").unlink()
    assert fit_part("confidence", paths, learned, config, tmp_path) == first
    assert len(asked) == 5
    other = dataclasses.replace(learned, fit=dataclasses.replace(learned.fit, bias=0.0))
    fit_part("confidence", paths, other, config, tmp_path)
    assert len(asked) == 9


@pytest.mark.parametrize("bad", [{"puzzles": 1}, {"puzzles": -2}, {"largest": 3}])
def test_options_out_of_range_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        FitsConfig(**bad)


def test_fits_alone_need_no_pytorch() -> None:
    code = "import sys, jigsawnet.cli.train; sys.exit('torch' in sys.modules or 'matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
