#!/usr/bin/env python3
"""Prints how many numbers autograd keeps of one image in training.

For tests/trainer/model/cost_test.cc; made with torch 2.15.0 and torchvision 0.29.2.
"""

import torch
import torchvision


def kept(name, side, images=2):
    model = getattr(torchvision.models, name)().train()
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    tensors = []  # keeps their storages apart

    def keep(tensor):
        tensors.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        model(torch.randn(images, 3, side, side))
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes()
                for t in tensors}
    return sum(size for at, size in storages.items()
               if at not in weights) / 4 / images


for name, side in (("resnet18", 224), ("resnet50", 224), ("resnet50", 64)):
    print(name, side, f"{kept(name, side):.0f}")
