#!/usr/bin/env python3
"""PyTorch: trains, evaluates, and resumes exactly where it was stopped.

usage: torch_train.py SHARDS [--epochs N] [--checkpoint FILE] [--stop_after STEPS]
"""

from __future__ import annotations

import os

import torch
from torch import nn

import infeed
import infeed.torch
from example_flags import read_flags
from small_net import digest, network, pixels


@torch.no_grad()
def accuracy(model: nn.Module, data: infeed.Loader, device: str) -> float:
    model.eval()
    right = images = 0.0
    for batch in infeed.torch.prefetch(data, device):
        hits = model(pixels(batch.images)).argmax(1) == batch.labels
        right += float((hits * batch.weights).sum())
        images += float(batch.weights.sum())
    return right / images


def main() -> None:
    flags = read_flags()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    train = infeed.Loader(flags.shards, batch_size=50, image_size=64, seed=1,
                          framework="torch")
    validation = infeed.Loader(flags.shards, batch_size=50, image_size=64,
                               framework="torch", training=False)
    model = network().to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9,
                                weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 0.1, flags.epochs * len(train))
    if flags.checkpoint and os.path.exists(flags.checkpoint):
        saved = torch.load(flags.checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
        train.load_state_dict(saved["data"])
    for epoch in range(train.epoch, flags.epochs):
        model.train()
        for batch in infeed.torch.prefetch(train, device):
            loss = nn.functional.cross_entropy(model(pixels(batch.images)),
                                               batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            if epoch * len(train) + batch.number + 1 == flags.stop_after:
                torch.save({"model": model.state_dict(),
                            "optimizer": optimizer.state_dict(),
                            "schedule": schedule.state_dict(),
                            "data": batch.state_dict()}, flags.checkpoint)
                return
    print(f"top-1 {accuracy(model, validation, device):.4f}, weights "
          f"{digest(model)}")


if __name__ == "__main__":
    main()
