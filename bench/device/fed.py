#!/usr/bin/env python3
"""Measures infeed's Python package beside a card: PyTorch's compiled ResNet-50,
bfloat16, on images that lie there and on those of infeed.torch.prefetch, and the
input without a model, with the card and without. Prints one JSON object.

usage: fed.py SHARDS [--batch N] [--compile MODE] [--threads N] [--steps N]
              [--rounds N] [--device cuda]

Needs the package (a wheel of `./dev python wheel`). What is compared takes turns.
"""

import argparse
import itertools
import json
import statistics

import torch
from torch.nn import functional

import infeed
import infeed.torch
import peer_torch

WARM_UP_STEPS = 12
# More than a loader and a prefetch keep ready while the others have their turn.
KEPT_BATCHES = 8


def make_step(flags, device):
    """A training step on a batch's images, uint8, and labels."""
    model = peer_torch.resnet50(1000).to(
        device, memory_format=torch.channels_last)
    mean, deviation = peer_torch.statistics_of_pixels(device)

    def loss_of(images, labels):
        images = (images.float() - mean) / deviation
        return functional.cross_entropy(model(images), labels)

    if flags.compile != "none":
        loss_of = torch.compile(loss_of, mode=flags.compile)
    step = peer_torch.training_step(model, loss_of, device)
    return lambda batch: step(batch.images, batch.labels)


def make_ways(flags, device):
    """Steps of each kind, by name: functions that take one."""
    def loader():
        return infeed.Loader(
            flags.shards, batch_size=flags.batch, image_size=flags.image_size,
            framework="torch", recipe="torchvision", threads=flags.threads,
            on_bad_record="fail")

    step = make_step(flags, device)
    alone = loader().repeat()
    sent, fed = (iter(infeed.torch.prefetch(loader().repeat(), device))
                 for _ in range(2))
    resident = next(iter(infeed.torch.prefetch(loader().repeat(), device)))
    return {"engine": lambda: next(alone), "prefetch": lambda: next(sent),
            "resident": lambda: step(resident), "fed": lambda: step(next(fed))}


def rates(ways, flags, device):
    """Images a second of each way, a list of the rounds."""
    found = {name: [] for name in ways}
    for way in ways.values():
        for _ in range(WARM_UP_STEPS):
            way()
    for _, (name, way) in itertools.product(range(flags.rounds), ways.items()):
        for _ in range(KEPT_BATCHES):
            way()
        found[name].append(flags.batch * flags.steps / peer_torch.seconds(
            way, flags.steps, device))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=40, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--image_size", type=int, default=224)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", default="default",
                        help="none, default, reduce-overhead or max-autotune")
    flags = parser.parse_args()
    device = torch.device(flags.device)
    torch.backends.cudnn.benchmark = True
    found = rates(make_ways(flags, device), flags, device)
    middle = {name: statistics.median(row) for name, row in found.items()}
    print(json.dumps({
        "batch": flags.batch, "compile": flags.compile,
        "images_per_second": middle, "rounds": found,
        "fed_by_resident": middle["fed"] / middle["resident"],
        "prefetch_by_engine": middle["prefetch"] / middle["engine"],
        "pytorch": torch.__version__, "infeed": infeed.__version__}))


if __name__ == "__main__":
    main()
