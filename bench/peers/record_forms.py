#!/usr/bin/env python3
"""Records without images, as the systems read them.

usage: record_forms.py FORM FOLDER

writes 20,000 of them into four shards, by TensorFlow's own writer.
"""

import pathlib
import random
import sys
from typing import NamedTuple

import peer

RECORDS, SHARDS = 20_000, 4


class Feature(NamedTuple):
    kind: str  # int, float or bytes
    size: int  # values, or of bytes the length of the one value


# What a BERT is trained on; what a table's rows may have.
FORMS = {
    "texts": {"input_ids": Feature("int", 224),
              "attention_mask": Feature("int", 224), "label": Feature("int", 1)},
    "mixed": {**{f"count_{i}": Feature("int", 1) for i in range(10)},
              **{f"price_{i}": Feature("float", 1) for i in range(10)},
              **{f"clicks_{i}": Feature("int", 8) for i in range(5)},
              **{f"vector_{i}": Feature("float", 16) for i in range(3)},
              **{f"name_{i}": Feature("bytes", 12) for i in range(2)}},
}


def shape(feature):
    """Of a record's value; bytes are one value."""
    return () if feature.size == 1 or feature.kind == "bytes" else (feature.size,)


def touched(columns):
    """Reads a value of each column, a name's values in a batch; how many records
    there are."""
    for name, column in columns.items():
        assert len(column) == peer.BATCH, (name, len(column))
        column[peer.BATCH // 2]
    return peer.BATCH


def drawn(name, feature, draw):
    if name == "attention_mask":
        kept = draw.randrange(20, feature.size)
        return [1] * kept + [0] * (feature.size - kept)
    if feature.kind == "bytes":
        return [draw.randbytes(feature.size)]
    take = draw.random if feature.kind == "float" else lambda: draw.randrange(30_000)
    return [take() for _ in range(feature.size)]


def payload(form, draw):
    """A record's bytes."""
    from tensorflow import train
    lists = {"int": lambda values: {"int64_list": train.Int64List(value=values)},
             "float": lambda values: {"float_list": train.FloatList(value=values)},
             "bytes": lambda values: {"bytes_list": train.BytesList(value=values)}}
    features = {name: train.Feature(**lists[feature.kind](
        drawn(name, feature, draw))) for name, feature in FORMS[form].items()}
    return train.Example(features=train.Features(
        feature=features)).SerializeToString()


def write(form, folder, records=RECORDS):
    import tensorflow as tf
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    draw = random.Random(0)
    for shard in range(SHARDS):
        path = folder / f"train-{shard:05}-of-{SHARDS:05}"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for _ in range(records // SHARDS):
                writer.write(payload(form, draw))


if __name__ == "__main__":
    write(*sys.argv[1:])
