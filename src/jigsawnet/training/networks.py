"""The networks by name."""

from __future__ import annotations

from torch import nn

from jigsawnet.training.config import TrainConfig
from jigsawnet.training.examples import Examples
from jigsawnet.training.network import JigsawNet
from jigsawnet.training.seam_network import SeamNet


def build_network(config: TrainConfig, examples: Examples) -> nn.Module:
    """A new network for the sizes of these examples, with weights from PyTorch's random state."""
    if config.network == "seam":
        return SeamNet()
    _, height, width, _ = examples.pictures.shape
    return JigsawNet(height, width, config.roi)
