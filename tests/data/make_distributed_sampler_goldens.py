#!/usr/bin/env python3
"""Writes what PyTorch's DistributedSampler gives the ranks of a data set.

usage: make_distributed_sampler_goldens.py [FOLDER]

distributed_sampler.json: without shuffle. Each case has the number of records,
of ranks, drop_last, and the records of each rank in order.
torch_order.json: with it. Each case has seed and epoch as well; one of many
records only its first and last ones, and the sum of place * record.
"""

import json
import pathlib
import sys

from torch.utils.data import DistributedSampler

ENDS = 8  # records shown of a long order


def share(rank, case, shuffle):
    sampler = DistributedSampler(
        range(case["records"]),
        num_replicas=case["world_size"],
        rank=rank,
        shuffle=shuffle,
        seed=case.get("seed", 0),
        drop_last=case["drop_last"],
    )
    sampler.set_epoch(case.get("epoch", 0))
    return list(sampler)


def shares(case, shuffle):
    ranks = [share(rank, case, shuffle) for rank in range(case["world_size"])]
    return {**case, "ranks": ranks}


def in_order(sizes):
    return [
        shares(
            {"records": records, "world_size": ranks, "drop_last": drop_last},
            shuffle=False,
        )
        for records in sizes
        for ranks in (1, 2, 3, 4, 8)
        for drop_last in (False, True)
    ]


def shuffled(sizes):
    return [
        shares(
            {
                "records": records,
                "world_size": ranks,
                "drop_last": drop_last,
                "seed": seed,
                "epoch": epoch,
            },
            shuffle=True,
        )
        for records in sizes
        for ranks in (1, 8)
        for drop_last in (False, True)
        for seed, epoch in ((0, 0), (0, 1), (42, 0), (2**32 + 7, 3))
    ]


def long_order(records, seed, epoch):
    order = share(
        0,
        {
            "records": records,
            "world_size": 1,
            "drop_last": False,
            "seed": seed,
            "epoch": epoch,
        },
        shuffle=True,
    )
    return {
        "records": records,
        "seed": seed,
        "epoch": epoch,
        "first": order[:ENDS],
        "last": order[-ENDS:],
        "sum": sum(place * record for place, record in enumerate(order)),
    }


def write(path, cases):
    text = ",\n".join(json.dumps(case) for case in cases)
    path.write_text("[\n" + text + "\n]\n")


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    write(
        folder / "distributed_sampler.json",
        in_order((1, 2, 3, 7, 8, 9, 16, 22, 23)),
    )
    write(
        folder / "torch_order.json",
        [
            *shuffled((1, 2, 23)),
            long_order(1000, 0, 0),
            long_order(70000, 42, 5),
        ],
    )


if __name__ == "__main__":
    main()
