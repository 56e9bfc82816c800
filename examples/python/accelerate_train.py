#!/usr/bin/env python3
"""Accelerate: the place in the data is part of save_state() and load_state().

usage: accelerate launch accelerate_train.py SHARDS
           [--epochs N] [--checkpoint DIR] [--stop_after STEPS]
"""

from __future__ import annotations

import os

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn

import infeed
import infeed.torch
from example_flags import read_flags
from small_net import digest, network, pixels


def main() -> None:
    flags = read_flags()
    accelerator = Accelerator()
    set_seed(0)
    # Loaders are made after Accelerator(), which knows the ranks. They are not
    # given to prepare(): each process gets its part of each batch already.
    train, validation = (infeed.Loader(
        flags.shards, batch_size=50, image_size=64, seed=1, framework="torch",
        training=training) for training in (True, False))
    model = network()
    optimizer: torch.optim.Optimizer = torch.optim.SGD(
        model.parameters(), 0.05, momentum=0.9)
    model, optimizer = accelerator.prepare(model, optimizer)
    batches = infeed.torch.prefetch(train, accelerator.device)
    accelerator.register_for_checkpointing(batches)
    if flags.checkpoint and os.path.exists(flags.checkpoint):
        accelerator.load_state(flags.checkpoint)
    for epoch in range(train.epoch, flags.epochs):
        model.train()
        for batch in batches:
            loss = nn.functional.cross_entropy(model(pixels(batch.images)),
                                               batch.labels)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            if epoch * len(train) + batch.number + 1 == flags.stop_after:
                accelerator.save_state(flags.checkpoint)
                return
    model.eval()
    sums = torch.zeros(2, device=accelerator.device)
    for batch in infeed.torch.prefetch(validation, accelerator.device):
        with torch.no_grad():
            hits = model(pixels(batch.images)).argmax(1) == batch.labels
        sums += torch.stack([(hits * batch.weights).sum(), batch.weights.sum()])
    right, images = accelerator.reduce(sums)
    accelerator.print(f"top-1 {float(right / images):.4f}, weights "
                      f"{digest(accelerator.unwrap_model(model))}")


if __name__ == "__main__":
    main()
