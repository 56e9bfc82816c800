#!/usr/bin/env python3
"""Whether tf.data makes the same batches again: run it twice.


Seeds, deterministic=True, a random crop and a flip; prints hashes of three
batches' labels and pixels. `pipeline_throughput --data_dir SHARDS --hash 3
--threads 1,2` says the same of infeed. Needs tensorflow-cpu.
"""

import argparse
import hashlib
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

KEYS = {"image/encoded": tf.io.FixedLenFeature((), tf.string),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64)}


def prepared(record):
    example = tf.io.parse_single_example(record, KEYS)
    image = tf.io.decode_jpeg(example["image/encoded"], channels=3)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.shape(image), tf.constant([0., 0., 1., 1.], shape=[1, 1, 4]),
        min_object_covered=0.1, area_range=(0.08, 1.0), seed=1)
    image = tf.image.resize(tf.slice(image, begin, size), [224, 224])
    image = tf.image.random_flip_left_right(image, seed=2)
    return image, example["image/class/label"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("shards", metavar="SHARDS")
    parser.add_argument("calls", metavar="PARALLEL_CALLS")
    args = parser.parse_args()
    shards, calls = args.shards, args.calls
    tf.random.set_seed(1)
    files = sorted(map(str, pathlib.Path(shards).glob("train-*")))
    data = tf.data.TFRecordDataset(files).shuffle(1000, seed=1)
    data = data.map(prepared, num_parallel_calls=int(calls),
                    deterministic=True).batch(64, drop_remainder=True)
    pixels, labels = hashlib.sha256(), hashlib.sha256()
    for images, classes in data.take(3):
        pixels.update(images.numpy().tobytes())
        labels.update(classes.numpy().tobytes())
    print("labels", labels.hexdigest()[:12], "pixels", pixels.hexdigest()[:12])


if __name__ == "__main__":
    main()
