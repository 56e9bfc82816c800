#!/usr/bin/env python3
"""The order in which the reference driver (tensorflow/tpu's ResNet) reads the
training records of shards.


Prints one record number per line, counted from 0 over all shards: files in the
order of their names, 64 of them interleaved record by record, then a shuffle
buffer of 1,024. An epoch of infeed in this order:

  reference_order.py SHARDS > order.txt
  pipeline_throughput --data_dir SHARDS --subset order.txt --shuffle none
  infeed.Loader(SHARDS, subset=numbers, shuffle="none", ...)   # Python

train_resnet has the same two parameters, subset and shuffle. For another epoch
give another seed. The driver itself has no fixed order: its buffer is not
seeded, its interleaving depends on the speed of the reads, its buffer mixes the
ends of epochs, and each of its hosts reads files of its own.
"""

import argparse
import itertools
import pathlib
import random
import sys

OPEN_FILES = 64
BUFFER = 1024


def records_in(path):
    """The number of records of an uncompressed TFRecord file."""
    records, at, size = 0, 0, path.stat().st_size
    with path.open("rb") as file:
        while at < size:
            file.seek(at)
            at += 16 + int.from_bytes(file.read(8), "little")
            records += 1
    if at != size:
        sys.exit(f"{path}: not an uncompressed TFRecord file; to write one, "
                 "use records reshard")
    return records


def interleaved(sizes, open_files=OPEN_FILES):
    """As tf.data's interleave() with a block length of 1: open_files places take
    turns. A place whose file ends opens the next file at its next turn.
    """
    ends = list(itertools.accumulate(sizes))
    files = (iter(range(end - size, end)) for size, end in zip(sizes, ends))
    places = [None] * open_files
    left = sum(sizes)
    while left:
        for i in range(open_files):
            if places[i] is None:
                places[i] = next(files, iter(()))
            record = next(places[i], None)
            if record is None:
                places[i] = None
            else:
                left -= 1
                yield record


def shuffled(records, seed, size=BUFFER):
    """Draws from a buffer of the next `size` records until none is left."""
    draw = random.Random(seed)
    records = iter(records)
    buffer = list(itertools.islice(records, size))
    for record in records:
        drawn = draw.randrange(size)
        yield buffer[drawn]
        buffer[drawn] = record
    draw.shuffle(buffer)
    yield from buffer


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards", metavar="SHARDS", type=pathlib.Path,
                        help="a folder with files train-*-of-*")
    parser.add_argument("--seed", type=int, default=0,
                        help="of the shuffle buffer (default 0)")
    args = parser.parse_args()
    files = sorted(args.shards.glob("train-*-of-*[0-9]"))
    if not files:
        parser.error(f"{args.shards} has no files train-*-of-*")
    sizes = [records_in(path) for path in files]
    for record in shuffled(interleaved(sizes), args.seed):
        print(record)


if __name__ == "__main__":
    main()
