#!/usr/bin/env python3
"""Trains LeNet-5 on 28-pixel digits in PyTorch by the X10 tutorial's recipe:
the twin of ./dev parity mnist.

usage: train_mnist.py FOLDER [--seed N] [--epochs N] [--threads N]

FOLDER has train/<digit>/* and test/<digit>/*. Prints one line of JSON for each
epoch: its seconds, training and testing, and the test accuracy after it.
"""

import argparse
import json
import time

import torch
from torch import nn

import torch_images

BATCH = 128


def network():
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
        else:
            nn.init.zeros_(parameter)
    return model


def train(model, rule, images, labels, batches):
    model.train()
    right = 0
    total = torch.zeros(())
    for index in batches:
        logits = model(images[index].float().div_(255))
        loss = nn.functional.cross_entropy(logits, labels[index])
        rule.zero_grad(set_to_none=True)
        loss.backward()
        rule.step()
        # As the tutorial: statistics of every step, read at the end.
        total += loss.detach()
        right += (logits.argmax(1) == labels[index]).sum()
    return total.item() / len(batches), right.item() / len(labels)


@torch.no_grad()
def accuracy(model, images, labels):
    model.eval()
    right = 0
    for first in range(0, len(labels), BATCH):
        said = model(images[first:first + BATCH].float().div_(255)).argmax(1)
        right += (said == labels[first:first + BATCH]).sum()
    return right.item() / len(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    images, labels = torch_images.load(f"{given.folder}/train", "L")
    tests, test_labels = torch_images.load(f"{given.folder}/test", "L")
    images, tests = images.permute(0, 3, 1, 2), tests.permute(0, 3, 1, 2)
    model = network()
    rule = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(given.epochs):
        start = time.perf_counter()
        batches = torch.randperm(len(labels)).split(BATCH)
        loss, training = train(model, rule, images, labels, batches)
        test = accuracy(model, tests, test_labels)
        print(json.dumps({"epoch": epoch + 1, "loss": loss,
                          "training_accuracy": training, "accuracy": test,
                          "seconds": time.perf_counter() - start}), flush=True)


if __name__ == "__main__":
    main()
