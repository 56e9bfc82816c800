#!/usr/bin/env python3
"""Measures TensorFlow's tf.data.

usage: tf_data.py [--work WORK] [--cores N] [--seconds S] SHARD...

Reads the shards again and again, draws the reference driver's training window,
decodes it alone (decode_and_crop_jpeg) and resizes it:

  reference  legacy bicubic, as the reference driver does
  antialias  bilinear with antialiasing, as torchvision and Pillow do
  bilinear   plain bilinear

Or texts, mixed: parses whole batches of record_forms.py's records.

Start it with `taskset -c 0` (or 0,1 and --cores 2). Needs tensorflow-cpu. See
peer.py for what it prints.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

import peer  # noqa: E402
import record_forms  # noqa: E402


def parsed(record):
    keys = {"image/encoded": tf.io.FixedLenFeature((), tf.string, ""),
            "image/class/label": tf.io.FixedLenFeature([], tf.int64, -1)}
    example = tf.io.parse_single_example(record, keys)
    return example["image/encoded"], example["image/class/label"]


def window_of(jpeg):
    whole = tf.constant([0.0, 0.0, 1.0, 1.0], shape=[1, 1, 4])
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(jpeg), bounding_boxes=whole,
        min_object_covered=0.1, aspect_ratio_range=peer.ASPECT,
        area_range=peer.AREA, max_attempts=peer.ATTEMPTS,
        use_image_if_no_bounding_boxes=True)
    y, x, _ = tf.unstack(begin)
    height, width, _ = tf.unstack(size)
    return tf.stack([y, x, height, width])


def resized(image, work):
    size = [peer.SIDE, peer.SIDE]
    if work == "reference":
        return tf.compat.v1.image.resize_bicubic([image], size)[0]
    return tf.image.resize(image, size, antialias=work == "antialias")


def prepared(record, work):
    jpeg, label = parsed(record)
    image = tf.image.decode_and_crop_jpeg(jpeg, window_of(jpeg), channels=3)
    image = tf.image.random_flip_left_right(resized(image, work))
    return tf.saturate_cast(image + 0.5, tf.uint8), label


def records(flags):
    options = tf.data.Options()
    options.threading.private_threadpool_size = flags.cores
    options.threading.max_intra_op_parallelism = 1
    return tf.data.TFRecordDataset(
        flags.shards, buffer_size=8 << 20).repeat().with_options(options)


def batches(flags):
    data = records(flags)
    data = data.map(lambda record: prepared(record, flags.work),
                    num_parallel_calls=flags.cores, deterministic=True)
    data = data.batch(peer.BATCH, drop_remainder=True).prefetch(2)
    for images, _ in data:
        yield images.numpy()


def columns(flags):
    types = {"int": tf.int64, "float": tf.float32, "bytes": tf.string}
    keys = {name: tf.io.FixedLenFeature(record_forms.shape(feature),
                                        types[feature.kind])
            for name, feature in record_forms.FORMS[flags.work].items()}
    data = records(flags).batch(peer.BATCH, drop_remainder=True)
    data = data.map(lambda batch: tf.io.parse_example(batch, keys),
                    num_parallel_calls=flags.cores, deterministic=True)
    return data.prefetch(2).as_numpy_iterator()


def main():
    flags = peer.parser(__doc__, ["reference", "antialias", "bilinear",
                                  *record_forms.FORMS]).parse_args()
    tf.config.threading.set_inter_op_parallelism_threads(flags.cores)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    if flags.work in record_forms.FORMS:
        peer.measure("tf.data", tf.__version__, flags, lambda: columns(flags),
                     record_forms.touched)
    else:
        peer.measure("tf.data", tf.__version__, flags, lambda: batches(flags))


if __name__ == "__main__":
    main()
