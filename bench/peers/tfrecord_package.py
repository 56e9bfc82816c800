#!/usr/bin/env python3
"""Measures the package tfrecord of PyPI.

usage: tfrecord_package.py [--work FORM] [--cores N] [--seconds S] SHARD...

Reads the shards again and again in one thread; NumPy stacks the values to
batches. See record_forms.py for the records, peer.py for what it prints.
"""

import importlib.metadata
import itertools
import pathlib
import sys

import numpy

import peer
import record_forms

# This folder's own tfrecord.py is another module.
sys.path.remove(str(pathlib.Path(__file__).resolve().parent))
import tfrecord  # noqa: E402

KINDS = {"int": "int", "float": "float", "bytes": "byte"}


def records(flags):
    kinds = {name: KINDS[feature.kind]
             for name, feature in record_forms.FORMS[flags.work].items()}
    for shard in itertools.cycle(flags.shards):
        yield from tfrecord.tfrecord_loader(shard, None, kinds)


def batches(flags):
    found = records(flags)
    while True:
        rows = list(itertools.islice(found, peer.BATCH))
        yield {name: numpy.stack([row[name] for row in rows])
               if feature.kind != "bytes" else [row[name] for row in rows]
               for name, feature in record_forms.FORMS[flags.work].items()}


def main():
    flags = peer.parser(__doc__, list(record_forms.FORMS)).parse_args()
    peer.measure("tfrecord", importlib.metadata.version("tfrecord"), flags,
                 lambda: batches(flags), record_forms.touched)


if __name__ == "__main__":
    main()
