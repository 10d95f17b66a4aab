"""Options of the networks that look along strips; free of PyTorch."""

from __future__ import annotations

from dataclasses import dataclass

from jigsawnet.errors import ConfigError


@dataclass(frozen=True, slots=True)
class StrokesConfig:
    """How the networks that look along strips are trained."""

    steps: int = 4600
    """Pages looked at, a part of one at a time."""
    learning_rate: float = 2e-3
    """Largest step size of Adam; it rises for a twentieth of the steps and falls along a cosine."""
    seed: int = 0
    """Number that all randomness comes from."""
    checkpoint_every: int = 200
    """Steps between two checkpoints; a run that was interrupted goes on from the last one, to the same result."""
    threads: int = 2
    """Threads of the processor to use, and processes that shred pages."""

    def __post_init__(self) -> None:
        if min(self.steps, self.checkpoint_every, self.threads) < 1 or not 0 < self.learning_rate <= 1 or self.seed < 0:
            raise ConfigError("strokes options must be positive, and the learning rate at most 1.")
