#!/usr/bin/env python3
"""Writes distributed_sampler.json: what PyTorch's ranks take of a data set.

usage: make_distributed_sampler_goldens.py [FOLDER]

Each case has the number of records, of ranks, drop_last, and the records of
each rank in order, by DistributedSampler(shuffle=False).
"""

import json
import pathlib
import sys

from torch.utils.data import DistributedSampler


def shares(records, ranks, drop_last):
    return [
        list(
            DistributedSampler(
                range(records),
                num_replicas=ranks,
                rank=rank,
                shuffle=False,
                drop_last=drop_last,
            )
        )
        for rank in range(ranks)
    ]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    text = ",\n".join(
        json.dumps(
            {
                "records": records,
                "world_size": ranks,
                "drop_last": drop_last,
                "ranks": shares(records, ranks, drop_last),
            }
        )
        for records in (1, 2, 3, 7, 8, 9, 16, 22, 23)
        for ranks in (1, 2, 3, 4, 8)
        for drop_last in (False, True)
    )
    (folder / "distributed_sampler.json").write_text("[\n" + text + "\n]\n")


if __name__ == "__main__":
    main()
