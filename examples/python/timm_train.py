#!/usr/bin/env python3
"""timm: TimmLoader has what timm's train.py asks of a loader. Put it there in
the place of create_loader(); below is a loop of the same kind.

usage: timm_train.py SHARDS [--epochs N] [--checkpoint FILE] [--stop_after STEPS]
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import timm
import timm.data
import timm.optim
import timm.utils
import torch

import infeed
import infeed.torch
from example_flags import read_flags
from small_net import digest


class TimmLoader:
    """Batches as timm.data.create_loader() gives them: normalised images and
    targets on the device; mixup, where there is one, is done there too."""

    dataset = sampler = batch_sampler = None

    def __init__(self, loader: infeed.Loader, device: torch.device,
                 mixup: timm.data.Mixup | None = None,
                 mean: tuple[float, ...] = timm.data.IMAGENET_DEFAULT_MEAN,
                 std: tuple[float, ...] = timm.data.IMAGENET_DEFAULT_STD,
                 img_dtype: torch.dtype = torch.float32) -> None:
        self.loader = infeed.torch.prefetch(loader, device)
        self.mixup, self.mixup_enabled = mixup, mixup is not None
        self.dtype = img_dtype
        self.mean, self.std = (255 * torch.tensor(
            values, dtype=img_dtype, device=device).view(1, 3, 1, 1)
            for values in (mean, std))
        # Resuming: train.py's CheckpointSaver can keep these beside the model.
        self.state_dict = self.loader.state_dict
        self.load_state_dict = self.loader.load_state_dict

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for images, targets, weights in self.loader:
            used = weights > 0  # The last batch of an evaluation is padded.
            images = images.to(self.dtype).sub_(self.mean).div_(self.std)
            images, targets = images[used], targets[used]
            if self.mixup is not None and self.mixup_enabled:
                images, targets = self.mixup(images, targets)
            yield images, targets


def main() -> None:
    flags = read_flags(epochs=2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    timm.utils.random_seed(0)
    train, validation = (TimmLoader(infeed.Loader(
        flags.shards, batch_size=50, image_size=32, recipe="torchvision", seed=1,
        framework="torch", training=training), device)
        for training in (True, False))
    model: Any = timm.create_model("resnet10t", num_classes=10).to(device)
    optimizer = timm.optim.create_optimizer_v2(model, "sgd", lr=0.05)
    step, saved = 0, {}
    if flags.checkpoint and os.path.exists(flags.checkpoint):
        saved = torch.load(flags.checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        train.load_state_dict(saved["data"])
        step = saved["step"]
    while step < flags.epochs * len(train):
        model.train()
        for images, targets in train:
            loss = torch.nn.functional.cross_entropy(model(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step == flags.stop_after:
                torch.save({"model": model.state_dict(), "step": step,
                            "optimizer": optimizer.state_dict(),
                            "data": train.state_dict()}, flags.checkpoint)
                return
    model.eval()
    top_1 = timm.utils.AverageMeter()
    with torch.no_grad():
        for images, targets in validation:
            accuracy, = timm.utils.accuracy(model(images), targets)
            top_1.update(float(accuracy), len(targets))
    print(f"top-1 {top_1.avg / 100:.4f}, weights {digest(model)}")


if __name__ == "__main__":
    main()
