"""The network of the PyTorch examples: ten classes of small images."""

from __future__ import annotations

import torch
from torch import nn


def network(classes: int = 10) -> nn.Module:
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 32), (32, 64), (64, 128), (128, 128)):
        layers += [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1),
                   nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(128, classes))


def pixels(images: torch.Tensor) -> torch.Tensor:
    """uint8 as numbers from -1 to 1."""
    return images.float() / 127.5 - 1


def digest(model: nn.Module) -> str:
    """Equal for equal weights alone."""
    return str(sum(tensor.double().abs().sum().item()
                   for tensor in model.state_dict().values()))
