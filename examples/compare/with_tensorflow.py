#!/usr/bin/env python3
"""Compares infeed's evaluation images with TensorFlow's, of shards.


PIXELS is the example program of that name, SHARDS a folder of TFRecords of
ImageNet's keys. TensorFlow does what the reference driver does in evaluation:
the centre crop of 7/8 of the shorter side, legacy bicubic to 224x224. Needs
tensorflow-cpu and numpy.
"""

import argparse
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import compared  # noqa: E402

SIZE = 224


def prepared(record):
    example = tf.io.parse_single_example(
        record, {"image/encoded": tf.io.FixedLenFeature((), tf.string)})
    # Whole: the library's cropping decoder gets a subsampled crop's first or
    # last column wrong. Accurate: the default transform is off by up to 21.
    image = tf.io.decode_jpeg(example["image/encoded"], channels=3,
                              dct_method="INTEGER_ACCURATE")
    height, width = tf.shape(image)[0], tf.shape(image)[1]
    side = tf.cast(SIZE / (SIZE + 32) *
                   tf.cast(tf.minimum(height, width), tf.float32), tf.int32)
    image = tf.image.crop_to_bounding_box(
        image, (height - side + 1) // 2, (width - side + 1) // 2, side, side)
    resized = tf.compat.v1.image.resize_bicubic([image], [SIZE, SIZE])[0]
    return tf.saturate_cast(tf.floor(resized + 0.5), tf.uint8)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", metavar="PIXELS")
    parser.add_argument("shards", metavar="SHARDS")
    args = parser.parse_args()
    program, shards = args.program, args.shards
    ours = compared.pixels_of(program, "tpu", SIZE, shards)
    files = sorted(map(str, pathlib.Path(shards).glob("*-of-*")))
    theirs = tf.data.TFRecordDataset(files).map(prepared)
    difference = compared.Difference()
    for mine, image in zip(ours, theirs.as_numpy_iterator(), strict=True):
        difference.add(mine, image)
    difference.show(f"TensorFlow {tf.__version__}, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
