"""The paper's experiment with its detector: which networks are trained, how and on what; one command goes on with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jigsawnet.errors import ConfigError
from jigsawnet.learned import load_learned
from jigsawnet.training.config import AugmentConfig, TrainConfig
from jigsawnet.training.examples import usable_photos
from jigsawnet.training.imbalance import ImbalanceConfig, draw_examples
from jigsawnet.types import Progress, no_progress

EXAMPLES = ImbalanceConfig()
TRAINING = TrainConfig(
    learners=5, steps=900, precision="bfloat16", learning_rate=1e-3, schedule="cosine", warm_up=100,
    augment=AugmentConfig(flips=True), validate_every=450, validate_at_most=2000, checkpoint_every=100, threads=1,
)  # fmt: skip
"""Five networks from scratch with equal steps, all drawn examples weighted. The paper's 30,000 steps at a constant 1e-4 would
take two cores weeks; these are 900 steps of eight-bit precision that end small, the same for all series."""
SERIES: Mapping[str, TrainConfig] = {
    "roi-paper": TRAINING,
    "pool-paper": replace(TRAINING, roi=False),
    "roi-code": replace(TRAINING, rule="code"),
    "roi-plain": replace(TRAINING, rule="none"),
    "pool-plain": replace(TRAINING, roi=False, rule="none"),
    "pool-code": replace(TRAINING, roi=False, rule="code"),
}
"""With RoI or plain max pooling; boosted by the paper's rule, by that of its authors' code, or not at all (a plain mean). The
first network of the three with RoI is the same, and so is that of the three without."""
FOLDER = "learners"
"""Where finished networks lie, in the folder of results."""


def train_learners(
    photos: Path, out: Path, work: Path, names: Sequence[str] = (), progress: Progress = no_progress,
    say: Callable[[str], None] = lambda text: None,
) -> None:  # fmt: skip
    """Train what is missing of some series (none: of all, in order), each network into small files under ``out``.

    Raises:
        ConfigError: there is no series of that name.
        InputError: the photographs cannot be used.
        ModelError: the folder holds networks of another experiment.
    """
    from jigsawnet.training.learners import go_on  # noqa: PLC0415 - loads PyTorch

    for name in names:
        if name not in SERIES:
            raise ConfigError(f'There is no series "{name}"; there are {", ".join(SERIES)}.')
    pictures, _ = usable_photos(photos)
    drawn = draw_examples(pictures, EXAMPLES, load_learned(), work / "examples", progress)
    say(
        f"{drawn.candidates} candidates, {drawn.right / drawn.candidates:.2%} of them right; {len(drawn.rows)} drawn, "
        f"{drawn.examples.right[drawn.rows].mean():.0%} of them right, {(drawn.counts > 0).sum()} distinct"
    )
    for name in names or SERIES:
        go_on(out / FOLDER, drawn, EXAMPLES.picture, SERIES[name], work, progress, say)
