#!/usr/bin/env python3
"""Writes tensorflow{,.gzip,.zlib}.tfrecord and tensorflow.json with TensorFlow.

usage: make_tensorflow_goldens.py [FOLDER]

The three files hold the same records. The JSON says what a reader must find
in each; bytes are in hex.
"""

import json
import pathlib
import sys

import numpy as np
import tensorflow as tf


def jpeg(height, width, channels):
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    pixels = ((x * 16 + y * 8 + c * 64) % 256).astype(np.uint8)
    return tf.io.encode_jpeg(pixels, quality=90).numpy()


def feature(values):
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def reference_keys(image, height, width, label, synset, filename):
    return {
        "image/height": [height],
        "image/width": [width],
        "image/colorspace": [b"RGB"],
        "image/channels": [3],
        "image/class/label": [label],
        "image/class/synset": [synset],
        "image/format": [b"JPEG"],
        "image/filename": [filename],
        "image/encoded": [image],
    }


def records():
    """Each record's features; None is a record without bytes."""
    yield reference_keys(jpeg(12, 16, 3), 12, 16, 1, b"n01440764",
                         b"n01440764_10026.JPEG")
    yield {
        **reference_keys(jpeg(9, 7, 3), 9, 7, 1000, "n15075141".encode(),
                         "b\u00f6ttchen \u9bc9 \U0001f41f.JPEG".encode()),
        "image/class/text": ["\u00e9tang, \u9bc9".encode()],
    }
    yield None
    yield {
        **reference_keys(jpeg(1, 1, 1), 1, 1, -1, b"", b"gray.JPEG"),
        "image/object/bbox/xmin": [0.0, 0.25, 0.5],
        "image/object/bbox/xmax": [1.0, 0.75, 1e-30],
        "image/object/class/label": [0, 1, -2**63, 2**63 - 1, 300],
        "several": [b"", b"\x00\xff", b"x" * 200],
    }
    yield {"image/encoded": [jpeg(2, 2, 3)]}


def kind_of(values):
    return {bytes: "bytes", float: "float", int: "int64"}[type(values[0])]


def expected(features, payload):
    if features is None:
        return {"bytes": 0, "features": {}}
    return {
        "bytes": len(payload),
        "features": {
            key: {
                "kind": kind_of(values),
                "values": [v.hex() if isinstance(v, bytes) else v
                           for v in values],
            } for key, values in sorted(features.items())
        },
    }


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                          pathlib.Path(__file__).parent)
    payloads = []
    found = []
    for features in records():
        payloads.append(b"" if features is None else tf.train.Example(
            features=tf.train.Features(feature={
                key: feature(values) for key, values in features.items()
            })).SerializeToString())
        found.append(expected(features, payloads[-1]))
    for name, compression in [("tensorflow", ""), ("tensorflow.gzip", "GZIP"),
                              ("tensorflow.zlib", "ZLIB")]:
        with tf.io.TFRecordWriter(str(folder / f"{name}.tfrecord"),
                                  compression) as writer:
            for payload in payloads:
                writer.write(payload)
    text = json.dumps({"tensorflow": tf.__version__, "records": found},
                      indent=1)
    (folder / "tensorflow.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
