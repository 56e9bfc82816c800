#!/usr/bin/env python3
"""Writes field_goldens.json: Examples, and what tf.io.parse_example reads.

usage: make_field_goldens.py [FOLDER]

Each case has a payload in hex, a field (key, type, shape, pad, absent) and the
values of its array, or null where TensorFlow refuses the Example. Of a list in
two blocks, which no writer makes, TensorFlow takes the first, and protobuf both:
no case here. Cases with a
pad are parsed as a FixedLenSequenceFeature of a batch, whose rows TensorFlow
fills up. Those with the shape null are lists of any length, which VarLenFeature and
RaggedFeature must read alike. Strings are in hex.
"""

import json
import pathlib
import struct
import sys

import tensorflow as tf


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def int64s(*values):
    return block(3, block(1, b"".join(map(varint, values))))


def unpacked(*values):
    return block(3, b"".join(b"\x08" + varint(value) for value in values))


def floats(*values):
    return block(2, block(1, struct.pack(f"<{len(values)}f", *values)))


def texts(*values):
    return block(1, b"".join(block(1, value) for value in values))


def entry(key, feature):
    return block(1, block(1, key.encode()) + block(2, feature))


def example(*entries):
    return block(1, b"".join(entries))


def cases():
    t = "int64"
    three = example(entry("x", int64s(1)), entry("t", int64s(1, 2, 3)))
    yield "exact", three, t, [3], None
    yield "two dimensions", example(entry("t", int64s(1, 2, 3, 4))), t, [2, 2], None
    yield "fewer", three, t, [4], None
    yield "more", three, t, [2], None
    yield "fewer, with a default", three, t, [4], [9, 9, 9, 9]
    yield "missing", example(entry("x", int64s(1))), t, [2], None
    yield "missing, with a default", example(entry("x", int64s(1))), t, [2], [7, 8]
    yield "an empty list, with a default", example(entry("t", int64s())), t, [2], [7, 8]
    yield "no list, with a default", example(entry("t", b"")), t, [2], [7, 8]
    yield "no list", example(entry("t", b"")), t, [2], None
    yield "another kind", example(entry("t", floats(1, 2))), t, [2], None
    yield "another kind, with a default", example(entry("t", floats(1, 2))), t, [2], [7, 8]
    yield "a scalar", example(entry("t", int64s(-5))), t, [], None
    yield "two values for a scalar", example(entry("t", int64s(1, 2))), t, [], None
    yield "the largest", example(entry("t", int64s(2**63 - 1, -2**63))), t, [2], None
    yield "unpacked", example(entry("t", unpacked(1, 2))), t, [2], None
    yield "a key twice", example(entry("t", int64s(1)), entry("t", int64s(2))), t, [1], None
    yield "value before key", example(
        block(1, block(2, int64s(4)) + block(1, b"t"))), t, [1], None
    yield "two Features messages", example(entry("x", int64s(1))) + example(
        entry("t", int64s(6))), t, [1], None
    yield "an empty payload", b"", t, [1], None
    yield "an empty payload, with a default", b"", t, [1], [3]
    yield "a SequenceExample's context", example(entry("t", int64s(2))) + block(
        2, block(1, block(1, b"f") + block(2, block(1, int64s(1, 2))))), t, [1], None
    yield "floats", example(entry("t", floats(0.5, -2, 1e30))), "float32", [3], None
    yield "floats, unpacked", example(entry("t", block(
        2, b"\x0d" + struct.pack("<f", 0.25)))), "float32", [1], None
    yield "floats for integers", example(entry("t", int64s(1))), "float32", [1], None
    yield "a string", example(entry("t", texts(b"a\0"))), "string", [], None
    yield "an empty string", example(entry("t", texts(b""))), "string", [], None
    yield "two strings for one", example(entry("t", texts(b"a", b"b"))), "string", [], None
    yield "a string, missing", example(), "string", [], None
    yield "a string, missing, with a default", example(), "string", [], "none"
    yield "integers for a string", example(entry("t", int64s(1))), "string", [], None
    for kind, values in ("int64", int64s(3, -1)), ("float32", floats(0.5, -2)), (
            "string", texts(b"a", b"", b"b\0")):
        yield "a list", example(entry("t", values)), kind, None, None
        yield "a list, missing", example(entry("x", values)), kind, None, None
        yield "a list, no list", example(entry("t", b"")), kind, None, None
    yield "a list, empty", example(entry("t", int64s())), t, None, None
    yield "a list of another kind", example(entry("t", floats(1))), t, None, None
    yield "a list of another kind, empty", example(entry("t", floats())), t, None, None
    yield "a list, twice", example(entry("t", int64s(1)), entry("t", int64s(2, 3))), t, None, None


def parse(payload, kind, shape, default):
    if shape is None:
        lists, sparse = (flat(payload, spec) for spec in (
            tf.io.RaggedFeature(kind), tf.io.VarLenFeature(kind)))
        assert lists == sparse
        return lists
    return flat(payload, tf.io.FixedLenFeature(shape, kind, default))


def flat(payload, spec):
    try:
        values = tf.io.parse_single_example(payload, {"t": spec})["t"]
    except (tf.errors.InvalidArgumentError, ValueError):
        return None
    array = getattr(values, "values", values).numpy()
    return [value.hex() if isinstance(value, bytes) else value
            for value in ([array] if isinstance(array, bytes) else
                          array.ravel().tolist())]


def padded():
    """Rows of a batch, filled up to its longest of four values."""
    rows = [example(entry("t", int64s(*values))) for values in (
        [101, 7, 102], [101, 7, 8, 9], [], [5, 6, 7, 8])] + [example(), example(entry("t", b""))]
    spec = tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)
    arrays = tf.io.parse_example(rows, {"t": spec})["t"].numpy().tolist()
    for row, values in zip(rows, arrays):
        yield {"name": "padded", "payload": row.hex(), "type": "int64", "shape": [4],
               "pad": -1, "absent": None, "values": values}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    kinds = {"int64": tf.int64, "float32": tf.float32, "string": tf.string}
    goldens = [{"name": name, "payload": payload.hex(), "type": kind, "shape": shape,
                "pad": None, "absent": default,
                "values": parse(payload, kinds[kind], shape, default)}
               for name, payload, kind, shape, default in cases()]
    goldens += padded()
    text = ",\n".join(" " + json.dumps(golden) for golden in goldens)
    (folder / "field_goldens.json").write_text(
        f'{{"tensorflow": "{tf.__version__}", "cases": [\n{text}\n]}}\n')


if __name__ == "__main__":
    main()
