#!/usr/bin/env python3
"""Reads our shards with TensorFlow: every key, every image.

usage: read_with_tensorflow.py [--compression GZIP|ZLIB] SHARD...

Parses each record with the reference's dense features, decodes the image and
compares it with the height and width beside it. Prints what it saw; exits 1
when a record is not as it should be.
"""

import sys

import tensorflow as tf

FEATURES = {
    "image/height": tf.io.FixedLenFeature([], tf.int64),
    "image/width": tf.io.FixedLenFeature([], tf.int64),
    "image/colorspace": tf.io.FixedLenFeature([], tf.string),
    "image/channels": tf.io.FixedLenFeature([], tf.int64),
    "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    "image/class/synset": tf.io.FixedLenFeature([], tf.string),
    "image/class/text": tf.io.FixedLenFeature([], tf.string),
    "image/format": tf.io.FixedLenFeature([], tf.string),
    "image/filename": tf.io.FixedLenFeature([], tf.string),
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
}


def check(payload):
    """Returns a line about a record, and whether it is good."""
    parsed = {key: value.numpy() for key, value in
              tf.io.parse_single_example(payload, FEATURES).items()}
    image = tf.io.decode_jpeg(parsed["image/encoded"], channels=3)
    shape = (int(parsed["image/height"]), int(parsed["image/width"]), 3)
    good = (tuple(image.shape) == shape
            and parsed["image/colorspace"] == b"RGB"
            and parsed["image/channels"] == 3
            and parsed["image/format"] == b"JPEG")
    return (f"label {parsed['image/class/label']} "
            f"synset {parsed['image/class/synset'].decode()} "
            f"text {parsed['image/class/text'].decode()} "
            f"filename {parsed['image/filename'].decode()} "
            f"image {tuple(image.shape)} {'good' if good else 'BAD'}"), good


def main():
    bad = 0
    count = 0
    arguments = sys.argv[1:]
    compression = ""
    if arguments[0] == "--compression":
        compression, arguments = arguments[1], arguments[2:]
    for payload in tf.data.TFRecordDataset(arguments, compression):
        line, good = check(payload)
        print(line)
        bad += not good
        count += 1
    print(f"TensorFlow {tf.__version__}: {count} records, {bad} bad")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
