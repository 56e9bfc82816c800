#!/usr/bin/env python3
"""What a tf.data shuffle buffer of encoded images costs.


Fills a buffer of so many records, takes one, and saves the iterator. Prints
the seconds, the memory and the checkpoint's bytes. Needs tensorflow-cpu.
"""

import argparse
import os
import pathlib
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402


def resident_mib():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("shards", metavar="SHARDS")
    parser.add_argument("records", metavar="RECORDS")
    args = parser.parse_args()
    shards, records = args.shards, args.records
    files = sorted(map(str, pathlib.Path(shards).glob("train-*")))
    data = tf.data.TFRecordDataset(files).repeat()
    next(iter(data))  # Warm-up: loads what is loaded once.
    before, start = resident_mib(), time.monotonic()
    iterator = iter(data.shuffle(int(records)))
    next(iterator)
    print(f"first record after {time.monotonic() - start:.2f} s, "
          f"{resident_mib() - before} MiB more memory")
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        tf.train.Checkpoint(iterator=iterator).save(folder + "/iterator")
        took = time.monotonic() - start
        size = sum(file.stat().st_size for file in pathlib.Path(folder).iterdir())
    print(f"its checkpoint: {size:,} bytes after {took:.2f} s")


if __name__ == "__main__":
    main()
