#!/usr/bin/env python3
"""Measures this engine's Python package.

usage: infeed_loader.py [--work WORK] [--cores N] [--seconds S] SHARD...

  torch  uint8 RGB tensors of the recipe torchvision
  numpy  the same as arrays

Or texts, mixed: record_forms.py's records, in a global shuffle.

Needs what `./dev python` builds. Start it with `taskset -c 0` (or 0,1 and
--cores 2). See peer.py for what it prints.
"""

import pathlib
import sys

import peer
import record_forms

BUILT = pathlib.Path(__file__).resolve().parents[2] / "build/release/python"


def batches(flags):
    import infeed
    loader = infeed.Loader(flags.shards, batch_size=peer.BATCH,
                           image_size=peer.SIDE, recipe="torchvision",
                           threads=flags.cores, framework=flags.work,
                           seek_index="read")
    for batch in loader.repeat():
        yield batch.images.numpy() if flags.work == "torch" else batch.images


def columns(flags):
    import infeed
    kinds = {"int": "int64", "float": "float32", "bytes": "bytes"}
    fields = {name: infeed.Field(kinds[feature.kind], record_forms.shape(feature))
              for name, feature in record_forms.FORMS[flags.work].items()}
    loader = infeed.Loader(flags.shards, batch_size=peer.BATCH, views=(),
                           fields=fields, threads=flags.cores)
    return (batch.as_dict() for batch in loader.repeat())


def main():
    flags = peer.parser(__doc__, ["torch", "numpy", *record_forms.FORMS]
                        ).parse_args()
    sys.path.insert(0, str(BUILT))
    import infeed
    if flags.work in record_forms.FORMS:
        peer.measure("infeed", infeed.__version__, flags, lambda: columns(flags),
                     record_forms.touched)
    else:
        peer.measure("infeed", infeed.__version__, flags, lambda: batches(flags))


if __name__ == "__main__":
    main()
