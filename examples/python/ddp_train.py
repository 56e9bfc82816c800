#!/usr/bin/env python3
"""DistributedDataParallel: each rank gets its part of each batch by itself.

usage: torchrun --standalone --nproc-per-node 2 ddp_train.py SHARDS
           [--epochs N] [--checkpoint FILE] [--stop_after STEPS]

A checkpoint goes on with any number of ranks, on the same images.
"""

from __future__ import annotations

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import infeed
import infeed.torch
from example_flags import read_flags
from small_net import digest, network, pixels


@torch.no_grad()
def accuracy(model: nn.Module, data: infeed.Loader,
             device: torch.device) -> float:
    model.eval()
    sums = torch.zeros(2, device=device)
    for batch in infeed.torch.prefetch(data, device):
        hits = model(pixels(batch.images)).argmax(1) == batch.labels
        sums += torch.stack([(hits * batch.weights).sum(), batch.weights.sum()])
    dist.all_reduce(sums)  # Each rank had its part of each batch.
    return float(sums[0] / sums[1])


def main() -> None:
    flags = read_flags()
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    torch.manual_seed(0)
    # Loaders are made after init_process_group(): the ranks are read from it.
    train = infeed.Loader(flags.shards, global_batch_size=48, image_size=64,
                          seed=1, framework="torch")
    validation = infeed.Loader(flags.shards, global_batch_size=48,
                               image_size=64, framework="torch", training=False)
    model = DistributedDataParallel(network().to(device))
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    if flags.checkpoint and os.path.exists(flags.checkpoint):
        saved = torch.load(flags.checkpoint, map_location=device)
        model.module.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        train.load_state_dict(saved["data"])
    for epoch in range(train.epoch, flags.epochs):
        model.train()
        for batch in infeed.torch.prefetch(train, device):
            loss = nn.functional.cross_entropy(model(pixels(batch.images)),
                                               batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if epoch * len(train) + batch.number + 1 == flags.stop_after:
                if dist.get_rank() == 0:  # The place is the same on all ranks.
                    torch.save({"model": model.module.state_dict(),
                                "optimizer": optimizer.state_dict(),
                                "data": batch.state_dict()}, flags.checkpoint)
                dist.destroy_process_group()
                return
    top_1 = accuracy(model.module, validation, device)
    if dist.get_rank() == 0:
        print(f"top-1 {top_1:.4f}, weights {digest(model.module)}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
