#!/usr/bin/env python3
"""Trains torchvision's ResNet-50 on photographs in TFRecord shards: the twin of
./dev parity step.

usage: train_photographs.py [--batch N] [--steps N] [--warm N] SHARD...

Input is PyTorch's DataLoader with one worker process a thread: decode_jpeg,
RandomResizedCrop and flip. Prints one line of JSON: the images/s of all steps
but the first --warm ones.
"""

import argparse
import json
import pathlib
import sys
import time

import torch
import torchvision

import torch_images

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))
import torch_loader  # noqa: E402


def parsed():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards", nargs="+")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--warm", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bfloat16", action="store_true")
    parser.set_defaults(work="tensor")
    return parser.parse_args()


def rate(given):
    data = torch_loader.Training(given)
    loader = torch.utils.data.DataLoader(
        data, batch_size=given.batch, sampler=torch_loader.Endless(len(data)),
        num_workers=given.threads)
    model = torchvision.models.resnet50(num_classes=1001)
    model = model.to(memory_format=torch.channels_last).train()
    rule = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9,
                           weight_decay=1e-4, nesterov=True)
    mean = torch.tensor(torch_images.MEAN).view(1, 3, 1, 1)
    std = torch.tensor(torch_images.STD).view(1, 3, 1, 1)
    for step, (images, labels) in zip(range(given.steps), loader):
        if step == given.warm:
            start = time.perf_counter()
        images = images.contiguous(memory_format=torch.channels_last)
        images = images.float().sub_(mean).div_(std)
        with torch.autocast("cpu", torch.bfloat16, enabled=given.bfloat16):
            logits = model(images)
        loss = torch.nn.functional.cross_entropy(logits.float(), labels,
                                                 label_smoothing=0.1)
        rule.zero_grad(set_to_none=True)
        loss.backward()
        rule.step()
    seconds = time.perf_counter() - start
    return (given.steps - given.warm) * given.batch / seconds


def main():
    given = parsed()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    print(json.dumps(rate(given)))


if __name__ == "__main__":
    main()
