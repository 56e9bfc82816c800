#!/usr/bin/env python3
"""Measures TensorFlow's tf.data on the reference recipe, for comparison.

usage: tf_data.py [--seconds S] [--size 224] [--cores N] SHARD...

Reads TFRecord shards again and again, draws the reference driver's training
crop, decodes the window (decode_and_crop_jpeg), resizes it with the legacy
bicubic kernel and flips it; what comes out are batches of 64 as uint8. Prints
one line: images/s over the time given, after a warm-up of a fifth of it.

Start it with `taskset -c 0` (or 0,1 and --cores 2) beside a run of
`pipeline_throughput --threads 1` under the same mask. Needs TensorFlow.
"""

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402


def parsed(record):
    keys = {"image/encoded": tf.io.FixedLenFeature((), tf.string, ""),
            "image/class/label": tf.io.FixedLenFeature([], tf.int64, -1)}
    example = tf.io.parse_single_example(record, keys)
    return example["image/encoded"], example["image/class/label"]


def window_of(jpeg):
    whole = tf.constant([0.0, 0.0, 1.0, 1.0], shape=[1, 1, 4])
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(jpeg), bounding_boxes=whole,
        min_object_covered=0.1, aspect_ratio_range=(3 / 4, 4 / 3),
        area_range=(0.08, 1.0), max_attempts=10,
        use_image_if_no_bounding_boxes=True)
    y, x, _ = tf.unstack(begin)
    height, width, _ = tf.unstack(size)
    return tf.stack([y, x, height, width])


def prepared(record, side):
    jpeg, label = parsed(record)
    image = tf.image.decode_and_crop_jpeg(jpeg, window_of(jpeg), channels=3)
    image = tf.compat.v1.image.resize_bicubic([image], [side, side])[0]
    image = tf.image.random_flip_left_right(image)
    return tf.saturate_cast(image, tf.uint8), label


def batches(shards, side, cores):
    data = tf.data.TFRecordDataset(shards, buffer_size=8 << 20).repeat()
    data = data.map(lambda record: prepared(record, side),
                    num_parallel_calls=cores, deterministic=True)
    data = data.batch(64, drop_remainder=True).prefetch(2)
    options = tf.data.Options()
    options.threading.private_threadpool_size = cores
    options.threading.max_intra_op_parallelism = 1
    return data.with_options(options)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("shards", nargs="+")
    flags = parser.parse_args()
    tf.config.threading.set_inter_op_parallelism_threads(flags.cores)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    source = iter(batches(flags.shards, flags.size, flags.cores))
    warm = time.monotonic() + flags.seconds / 5
    while time.monotonic() < warm:
        next(source)
    start, images = time.monotonic(), 0
    while time.monotonic() < start + flags.seconds:
        images += int(next(source)[1].shape[0])
    rate = images / (time.monotonic() - start)
    print(f"TensorFlow {tf.__version__}: {rate:.0f} images/s on {flags.cores} "
          f"core(s)")


if __name__ == "__main__":
    main()
