#!/usr/bin/env python3
"""Writes package.tfrecord with the package tfrecord, and package.json: what that
package reads of it.

usage: make_tfrecord_package_goldens.py [FOLDER]

A record has a list for each key; bytes are in hex. No list of several bytes values
has one that ends in zero bytes, which the package's reader drops.
"""

import json
import pathlib
import sys

import numpy as np
import tfrecord

DESCRIPTION = {"image": "byte", "words": "byte", "label": "int", "ids": "int",
               "score": "float", "box": "float"}
RECORDS = 12


def record(number):
    ids = [number - 4, -1, 2**62, -2**63, 2**63 - 1, 0]
    boxes = [0.1 * number, -0.0, 1e-45, 3.4028235e38, -1 / 3, 16777217]
    words = [b"", b"w", "k\u00e4se".encode(), b"\0x", bytes(range(1, 255))]
    return {"image": (bytes(range(number)) + b"\0", "byte"),
            "words": (words[:1 + number % 5], "byte"),
            "label": (number, "int"),
            "ids": (ids[:1 + number % 6], "int"),
            "score": (number / 8, "float"),
            "box": (boxes[:1 + number % 6], "float")}


def listed(value):
    if isinstance(value, bytes):
        return [value.hex()]
    if value.dtype.kind in "SO":
        return [bytes(item).hex() for item in value]
    return [item.item() for item in value]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                          pathlib.Path(__file__).parent)
    path = str(folder / "package.tfrecord")
    writer = tfrecord.TFRecordWriter(path)
    for number in range(RECORDS):
        writer.write(record(number))
    writer.close()
    records = [{key: listed(np.asarray(value) if not isinstance(value, bytes) else
                            value) for key, value in read.items()}
               for read in tfrecord.tfrecord_loader(path, None, DESCRIPTION)]
    (folder / "package.json").write_text(
        json.dumps(records, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
