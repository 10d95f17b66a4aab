from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.training.examples import Examples


def tiny_examples(n: int = 96, height: int = 32, width: int = 32, seed: int = 0) -> Examples:
    """Eight puzzles, the last held out; right joins are brighter, so that they can be learned."""
    rng = np.random.default_rng(seed)
    right = rng.random(n) < 0.25
    low = rng.uniform(0, 0.3, (n, 2))
    rois = np.concatenate([low, low + rng.uniform(0.2, 0.6, (n, 2))], axis=1).astype(np.float32)
    shift = np.where(right, 90, 0)[:, None, None, None]
    pictures = (rng.integers(0, 160, (n, height, width, 3)) + shift).astype(np.uint8)
    bands = (rng.integers(0, 160, (n, 32, 128, 5)) + shift).astype(np.uint8)
    bands[..., 3:] = np.where(np.arange(32)[:, None, None] < 16, (255, 0), (0, 255))
    puzzle = (np.arange(n) * 8 // n).astype(np.int32)
    return Examples(
        pictures=pictures,
        rois=rois,
        bands=bands,
        features=np.zeros((n, 3), np.float32),
        fit=np.zeros(n, np.float32),
        right=right,
        puzzle=puzzle,
        held_out=puzzle == 7,
        case=("clean",) * 8,
        photos=("a.jpg", "b.jpg"),
    )


@pytest.fixture(scope="session")
def examples() -> Examples:
    return tiny_examples()
