#!/usr/bin/env python3
"""Writes interleave.json: in which order tf.data interleaves files.

usage: make_interleave_goldens.py [FOLDER]

Each case has the files' numbers of records, the cycle length, and the records,
numbered over all files in their order, as the interleave gives them.
"""

import json
import pathlib
import random
import sys

import tensorflow as tf


def interleaved(sizes, cycle_length):
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    files = tf.data.Dataset.from_tensor_slices((starts, sizes))
    records = files.interleave(
        lambda start, size: tf.data.Dataset.range(
            tf.cast(start, tf.int64), tf.cast(start + size, tf.int64)
        ),
        cycle_length=cycle_length,
        block_length=1,
        num_parallel_calls=None,
    )
    return [int(record) for record in records]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    draw = random.Random(1)
    cases = [([3, 2], 2), ([1, 4, 2], 2), ([0, 0, 1], 3), ([4], 64)]
    for _ in range(12):
        sizes = [draw.randrange(7) for _ in range(1 + draw.randrange(12))]
        cases.append((sizes + [1], 1 + draw.randrange(6)))
    cases.append(([draw.randrange(6) for _ in range(90)], 64))
    text = ",\n".join(
        json.dumps(
            {
                "sizes": sizes,
                "cycle_length": cycle,
                "order": interleaved(sizes, cycle),
            }
        )
        for sizes, cycle in cases
    )
    (folder / "interleave.json").write_text("[\n" + text + "\n]\n")


if __name__ == "__main__":
    main()
