#!/usr/bin/env python3
"""Reads a shard of ours with NVIDIA DALI, through an index of ours.

usage: read_with_dali.py SHARD INDEX

INDEX is what `records index --dali` wrote for the shard. Decodes each image on
the CPU and compares it with the height and width beside it. Prints what it
saw; exits 1 when a record is not as it should be.
"""

import sys

import numpy as np
import nvidia.dali as dali
import nvidia.dali.tfrecord as tfrecord
from nvidia.dali import fn, pipeline_def

NUMBER = tfrecord.FixedLenFeature((), tfrecord.int64, -1)
TEXT = tfrecord.FixedLenFeature((), tfrecord.string, "")
FEATURES = {
    "image/height": NUMBER,
    "image/width": NUMBER,
    "image/class/label": NUMBER,
    "image/filename": TEXT,
    "image/encoded": TEXT,
}


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def pipeline(shard, index):
    record = fn.readers.tfrecord(path=[shard], index_path=[index],
                                 features=FEATURES, name="reader")
    image = fn.decoders.image(record["image/encoded"], device="cpu")
    return (image, *[record[key] for key in list(FEATURES)[:4]])


def main():
    shard, index = sys.argv[1:]
    reader = pipeline(shard, index)
    reader.build()
    count = reader.epoch_size("reader")
    bad = 0
    for _ in range(count):
        image, height, width, label, name = (
            np.array(output[0]) for output in reader.run())
        good = image.shape[:2] == (int(height), int(width)) and label > 0
        print(f"label {int(label)} filename {name.tobytes().decode()} "
              f"image {image.shape} {'good' if good else 'BAD'}")
        bad += not good
    print(f"DALI {dali.__version__}: {count} records, {bad} bad")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
