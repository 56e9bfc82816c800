#!/usr/bin/env python3
"""Trains a ResNet-18 with a 3x3 stem on 32-pixel images in PyTorch: the twin of
./dev parity cifar, with the same recipe.

usage: train_cifar.py FOLDER [--seed N] [--steps N] ...

FOLDER has train/<class>/* and test/<class>/*. Prints one line of JSON: the test
accuracy, and images/s over all steps but the first ten.
"""

import argparse
import json
import math
import time

import torch
import torchvision

import torch_images

PAD = 4
SIDE = 32
WARM_STEPS = 10


def network(classes):
    model = torchvision.models.resnet18(num_classes=classes)
    model.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    model.maxpool = torch.nn.Identity()
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            # As ours: cut off at two standard deviations.
            std = math.sqrt(1 / module.weight[0].numel()) / 0.8796256610342398
            torch.nn.init.trunc_normal_(module.weight, 0, std, -2 * std,
                                        2 * std)
        elif isinstance(module, torchvision.models.resnet.BasicBlock):
            torch.nn.init.zeros_(module.bn2.weight)
    torch.nn.init.normal_(model.fc.weight, 0, 0.01)
    torch.nn.init.zeros_(model.fc.bias)
    return model.to(memory_format=torch.channels_last)


def optimizer(model, decay):
    """Weight decay for all but batch norm."""
    norms = [parameter for module in model.modules()
             if isinstance(module, torch.nn.BatchNorm2d)
             for parameter in module.parameters()]
    known = {id(parameter) for parameter in norms}
    rest = [parameter for parameter in model.parameters()
            if id(parameter) not in known]
    return torch.optim.SGD([{"params": rest, "weight_decay": decay},
                            {"params": norms, "weight_decay": 0}],
                           lr=0, momentum=0.9, nesterov=True)


class Device:
    """The model and how images go through it."""

    def __init__(self, model, bfloat16):
        self.model = model
        self.bfloat16 = bfloat16
        self.mean = torch.tensor(torch_images.MEAN)
        self.std = torch.tensor(torch_images.STD)

    def logits(self, pixels):
        images = pixels.float().sub_(self.mean).div_(self.std)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bfloat16):
            return self.model(images.permute(0, 3, 1, 2))


def train(device, images, labels, given):
    generator = torch.Generator().manual_seed(given.seed)
    order = torch_images.epochs(len(labels), given.batch, generator, True)
    source = torch_images.padded(images, PAD)
    rule = optimizer(device.model, given.weight_decay)
    warmup = given.warmup_epochs * (len(labels) // given.batch)
    device.model.train()
    for step in range(given.steps):
        if step == WARM_STEPS:
            start = time.perf_counter()
        for group in rule.param_groups:
            group["lr"] = torch_images.cosine(step, given.steps, given.rate,
                                              warmup)
        index = next(order)
        pixels = torch_images.shifted(source, index, SIDE, generator, True)
        loss = torch.nn.functional.cross_entropy(
            device.logits(pixels).float(), labels[index],
            label_smoothing=given.label_smoothing)
        rule.zero_grad(set_to_none=True)
        loss.backward()
        rule.step()
    seconds = time.perf_counter() - start
    return (given.steps - WARM_STEPS) * given.batch / seconds


@torch.no_grad()
def accuracy(device, images, labels):
    device.model.eval()
    right = 0
    for first in range(0, len(labels), 250):
        said = device.logits(images[first:first + 250]).argmax(1)
        right += (said == labels[first:first + 250]).sum().item()
    return right / len(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--warmup_epochs", type=float, default=0)
    parser.add_argument("--weight_decay", type=float, default=5e-4)
    parser.add_argument("--label_smoothing", type=float, default=0)
    parser.add_argument("--train_limit", type=int, default=0)
    parser.add_argument("--test_limit", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bfloat16", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    images, labels = torch_images.load(f"{given.folder}/train", "RGB",
                                       given.train_limit)
    tests, test_labels = torch_images.load(f"{given.folder}/test", "RGB",
                                           given.test_limit)
    device = Device(network(int(labels.max()) + 1), given.bfloat16)
    rate = train(device, images, labels, given)
    print(json.dumps({"accuracy": accuracy(device, tests, test_labels),
                      "images_per_second": rate}))


if __name__ == "__main__":
    main()
