#!/usr/bin/env python3
"""Writes what two samplers of repeated augmentation give the ranks.

usage: make_repeat_augment_goldens.py SAMPLER_PY [FOLDER]

SAMPLER_PY: references/classification/sampler.py of torchvision's repository,
which its package does not contain. The other sampler is timm's.

repeat_augment.json: each case has the number of records, of ranks, of
repetitions, the epoch, the sampler, and the records of each rank in order.
"""

import importlib.util
import json
import pathlib
import sys


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timm_sampler_file():
    """The file alone: the package as a whole needs torchvision."""
    spec = importlib.util.find_spec("timm")
    return pathlib.Path(spec.origin).parent / "data" / "distributed_sampler.py"


def share(sampler, epoch):
    sampler.set_epoch(epoch)
    return list(sampler)


def case(name, make, records, ranks, repeats, epoch):
    return {
        "sampler": name,
        "records": records,
        "world_size": ranks,
        "repeats": repeats,
        "epoch": epoch,
        "ranks": [
            share(make(range(records), ranks, rank, repeats), epoch)
            for rank in range(ranks)
        ],
    }


def main():
    torchvision = load(sys.argv[1], "sampler").RASampler
    timm = load(timm_sampler_file(), "distributed_sampler").RepeatAugSampler
    makers = {
        "torchvision": lambda data, ranks, rank, repeats: torchvision(
            data, ranks, rank, repetitions=repeats
        ),
        "timm": lambda data, ranks, rank, repeats: timm(
            data, ranks, rank, num_repeats=repeats
        ),
    }
    cases = [
        case(name, make, records, ranks, repeats, epoch)
        for name, make in makers.items()
        for records, ranks, repeats in (
            (256, 1, 3),
            (300, 2, 4),
            (515, 4, 3),
            (512, 8, 2),
        )
        for epoch in (0, 3)
    ]
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    text = ",\n".join(json.dumps(one) for one in cases)
    (folder / "repeat_augment.json").write_text("[\n" + text + "\n]\n")


if __name__ == "__main__":
    main()
