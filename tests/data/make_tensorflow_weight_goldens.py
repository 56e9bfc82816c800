"""Writes small V2 checkpoints with TensorFlow's own writers.

Run by hand:
  python3 tests/data/make_tensorflow_weight_goldens.py tests/data/weights

saver/: tf.train.Saver's files, with the reference model's names for two
convolutions, their norms and a classifier of three classes; each tensor holds
0, 1, 2, ... from a number of its own. types.*: tf.raw_ops.SaveV2's, one tensor
of each type. background.*: a classifier of ImageNet's 1,000 classes and
"background", each number its class. tensor_bundle_test.cc says what a reader must find.
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf

NORM = ("beta", "gamma", "moving_mean", "moving_variance")


def shapes():
    yield "conv2d/kernel", (3, 3, 1, 2)
    yield "conv2d_1/kernel", (1, 2, 2, 4)
    for name, channels in (("batch_normalization", 2),
                           ("batch_normalization_1", 4)):
        for part in NORM:
            yield f"{name}/{part}", (channels,)
        for part in ("beta", "gamma"):
            yield f"{name}/{part}/Momentum", (channels,)
    yield "dense/kernel", (4, 3)
    yield "dense/kernel/ExponentialMovingAverage", (4, 3)
    yield "dense/bias", (3,)


def save(folder):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        for number, (name, shape) in enumerate(shapes()):
            values = 100 * number + np.arange(np.prod(shape), dtype=np.float32)
            v1.get_variable(name, initializer=values.reshape(shape))
        v1.get_variable("global_step", initializer=np.int64(1251))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(folder / "model.ckpt"),
                              global_step=1251, write_meta_graph=False)


def save_values(prefix, values):
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=list(values),
                      shape_and_slices=[""] * len(values),
                      tensors=list(values.values()))


def save_types(prefix):
    save_values(prefix, {
        "bfloat16": tf.constant([1.5, -2.0], tf.bfloat16),
        "double": tf.constant([0.1, -1e300], tf.float64),
        "half": tf.constant([1.5, -2.0], tf.half),
        "int64": tf.constant([-7, 1 << 40], tf.int64),
        "string": tf.constant(["text"]),
    })


def save_background(prefix):
    classes = tf.range(1001, dtype=tf.float32)
    save_values(prefix, {"dense/bias": classes,
                         "dense/kernel": tf.reshape(classes, (1, 1001))})


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "saver").mkdir(exist_ok=True)
    save(folder / "saver")
    save_types(folder / "types")
    save_background(folder / "background")
    print("tensorflow", tf.__version__)


if __name__ == "__main__":
    main()
