"""Options of the training; free of PyTorch, so that the command line can show them without it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

from jigsawnet.errors import ConfigError
from jigsawnet.learned import NetworkName

ScheduleName = Literal["constant", "cosine"]
UpdateRule = Literal["paper", "code", "none"]
PrecisionName = Literal["float32", "bfloat16"]

_FREE_TO_CHANGE = ("learners", "checkpoint_every", "threads")


@dataclass(frozen=True, slots=True)
class SamplingConfig:
    """How right and wrong joins are brought into proportion; the defaults are the paper's."""

    oversample: int = 20
    """Right joins are repeated this often."""
    keep: float = 0.5
    """Share of the repeated right joins that is kept, drawn at random."""
    positive_share: float = 0.3
    """Share of right joins in the end; the class that is in excess is thinned out."""

    def __post_init__(self) -> None:
        if self.oversample < 1:
            raise ConfigError("oversample must be 1 or more.")
        if not 0 < self.keep <= 1:
            raise ConfigError("keep must be more than 0 and at most 1.")
        if not 0 < self.positive_share < 1:
            raise ConfigError("positive-share must lie between 0 and 1.")


@dataclass(frozen=True, slots=True)
class AugmentConfig:
    """Random changes to each example as it is drawn; the paper has none."""

    flips: bool = False
    """Mirror pictures left-right and top-down; turn bands end to end and side to side."""
    jitter: float = 0.0
    """Largest relative change of the brightness of each colour, the same for both pieces."""
    noise: float = 0.0
    """Largest standard deviation of added noise, as a fraction of full brightness."""

    def __post_init__(self) -> None:
        if not (0 <= self.jitter < 1 and 0 <= self.noise < 1):
            raise ConfigError("jitter and noise must be at least 0 and less than 1.")

    @property
    def active(self) -> bool:
        """True when anything is changed at all."""
        return self.flips or self.jitter > 0 or self.noise > 0


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Options of a training run; the defaults are the paper's setting."""

    network: NetworkName = "jigsawnet"
    """jigsawnet: the paper's, on the picture of the stitched pair; seam: ours, on the straightened band along the seam;
    ragged: ours, for seams that touch only in parts; printed: ours, for such seams on pages of print."""
    roi: bool = True
    """Look at the abutting area alone in the last pooling; without it, plain max pooling."""
    learners: int = 5
    """Networks trained one after the other, each on what the earlier ones get wrong; 1 is no boosting."""
    rule: UpdateRule = "paper"
    """How examples are weighted for the next network. paper: those misjudged by exp(alpha), the others by 1 / exp(alpha), so
    that the misjudged get half of all weight; code: by e and 1/e, as in the code of the paper's authors, so that they get less;
    none: all alike, and every network has the same say, which is no boosting but a plain mean."""
    steps: int = 30_000
    """Batches that each network sees."""
    later_steps: int = 0
    """Batches for the second network and those after it; 0 takes as many as for the first."""
    batch: int = 64
    """Examples in one step."""
    learning_rate: float = 1e-4
    """Step size of Adam; with the cosine schedule its largest value."""
    schedule: ScheduleName = "constant"
    """How the step size changes. cosine: a straight rise during warm-up, then down to nothing along a cosine."""
    warm_up: int = 200
    """Steps of rising step size; cosine only."""
    warm_start: bool = False
    """Begin each later network from the weights of the one before; in the paper each starts from scratch."""
    weight_decay: float = 1e-4
    """Pull of the weights towards zero."""
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    precision: PrecisionName = "float32"
    """Numbers that a step is computed with. bfloat16: eight bits of precision in the network's layers, while its weights, the
    loss and all that is measured stay in float32; takes half the time where the processor multiplies such numbers itself."""
    weigh_at_most: int = 0
    """Update the boosting weights of at most this many examples, drawn at random, and leave the others at their first weight;
    0 is all, as in the paper. Saves a pass over all examples after each network."""
    seed: int = 0
    """Number that all randomness comes from."""
    validate_every: int = 500
    """Steps between two looks at puzzles held out."""
    validate_at_most: int = 3000
    """Examples of held-out puzzles to look at."""
    checkpoint_every: int = 250
    """Steps between two checkpoints; a run that was interrupted goes on from the last one, to the same result."""
    threads: int = 2
    """Threads of the processor to use."""

    def __post_init__(self) -> None:
        for name in ("learners", "steps", "batch", "validate_every", "validate_at_most", "checkpoint_every", "threads"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name.replace('_', '-')} must be 1 or more.")
        for name in ("later_steps", "warm_up", "weight_decay", "weigh_at_most", "seed"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name.replace('_', '-')} must be 0 or more.")
        if not 0 < self.learning_rate <= 1:
            raise ConfigError("learning-rate must be more than 0 and at most 1.")

    def steps_of(self, learner: int) -> int:
        """Batches of one network, counted from 0."""
        return self.later_steps if learner and self.later_steps else self.steps

    def identity(self) -> dict[str, Any]:
        """Every option that the result of one network depends on; nested options as ``outer.inner``."""
        flat: dict[str, Any] = {}
        for key, value in dataclasses.asdict(self).items():
            if isinstance(value, dict):
                flat.update({f"{key}.{inner}": inner_value for inner, inner_value in value.items()})
            elif key not in _FREE_TO_CHANGE:
                flat[key] = value
        return flat
