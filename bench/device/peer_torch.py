#!/usr/bin/env python3
"""Trains the same ResNet-50 with PyTorch, channels_last and autocast bfloat16,
on images that already lie on the card; prints one JSON object.

usage: peer_torch.py [--batch N] [--compile MODE] [--steps N] [--device cuda]

Input costs it nothing, and it sets no gradient to zero that it need not: what
it reaches is PyTorch's best case of this loop.
"""

import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional

ROUNDS = 5
WARM_UP_STEPS = 12


def convolution(inputs, outputs, kernel, stride=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class Bottleneck(nn.Module):
    """As torchvision's: the stride is the 3x3 convolution's."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.branch = nn.Sequential(
            convolution(inputs, width, 1), nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            convolution(width, width, 3, stride), nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            convolution(width, 4 * width, 1), nn.BatchNorm2d(4 * width))
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != 4 * width:
            self.shortcut = nn.Sequential(
                convolution(inputs, 4 * width, 1, stride),
                nn.BatchNorm2d(4 * width))

    def forward(self, images):
        return functional.relu(self.branch(images) + self.shortcut(images),
                               inplace=True)


def resnet50(classes):
    layers = [convolution(3, 64, 7, 2), nn.BatchNorm2d(64),
              nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for group, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << group
        for block in range(blocks):
            layers.append(Bottleneck(
                inputs, width, 2 if group > 0 and block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(inputs, classes))


def statistics_of_pixels(device):
    """ImageNet's mean and standard deviation."""
    return (torch.tensor(values, device=device).view(1, 3, 1, 1)
            for values in ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375)))


def fake_images(count, size, device):
    """As train_resnet's fake data: random bytes, normalised as ImageNet's."""
    mean, deviation = statistics_of_pixels(device)
    levels = torch.randint(256, (count, 3, size, size), device=device)
    return ((levels - mean) / deviation).contiguous(
        memory_format=torch.channels_last)


def training_step(model, loss_of, device):
    """A function of what loss_of() takes that trains the model, and returns the
    loss.
    """
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9,
                                weight_decay=1e-4, nesterov=True)

    def step(*arguments):
        with torch.autocast(device.type, torch.bfloat16):
            loss = loss_of(*arguments)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step


def make_step(flags, device):
    model = resnet50(1000).to(device, memory_format=torch.channels_last)
    images = fake_images(flags.batch, flags.image_size, device)
    labels = torch.randint(1000, (flags.batch,), device=device)
    forward = model if flags.compile == "none" else torch.compile(
        model, mode=flags.compile)
    return training_step(
        model, lambda: functional.cross_entropy(forward(images), labels),
        device)


def synchronize(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


def seconds(step, steps, device):
    synchronize(device)
    start = time.perf_counter()
    for _ in range(steps):
        step()
    synchronize(device)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=50, help="of a round")
    parser.add_argument("--image_size", type=int, default=224)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", default="none",
                        help="none, default, reduce-overhead or max-autotune")
    flags = parser.parse_args()
    device = torch.device(flags.device)
    torch.backends.cudnn.benchmark = True
    step = make_step(flags, device)
    start = time.perf_counter()
    for _ in range(WARM_UP_STEPS):
        loss = step()
    synchronize(device)
    warm_up = time.perf_counter() - start
    rates = [flags.batch * flags.steps / seconds(step, flags.steps, device)
             for _ in range(ROUNDS)]
    print(json.dumps({
        "batch": flags.batch, "compile": flags.compile,
        "images_per_second": statistics.median(rates),
        "slowest": min(rates), "fastest": max(rates),
        "warm_up_seconds": warm_up, "loss": float(loss),
        "pytorch": torch.__version__}))


if __name__ == "__main__":
    main()
