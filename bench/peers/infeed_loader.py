#!/usr/bin/env python3
"""Measures this engine's Python package.

usage: infeed_loader.py [--work WORK] [--cores N] [--seconds S] SHARD...

  torch  uint8 RGB tensors of the recipe torchvision
  numpy  the same as arrays

Or texts, mixed: record_forms.py's records, in a global shuffle; with _inline
behind it in the consumer's thread (graph="basic"). Or boxes: detection.py's
photographs as torch tensors.

Needs what `./dev python` builds. Start it with `taskset -c 0` (or 0,1 and
--cores 2). See peer.py for what it prints.
"""

import detection
import peer
import record_forms


def batches(flags):
    infeed = peer.package()
    loader = infeed.Loader(flags.shards, batch_size=peer.BATCH,
                           image_size=peer.SIDE, recipe="torchvision",
                           threads=flags.cores, framework=flags.work,
                           seek_index="read")
    for batch in loader.repeat():
        yield batch.images.numpy() if flags.work == "torch" else batch.images


def columns(flags):
    infeed = peer.package()
    work, _, inline = flags.work.partition("_")
    kinds = {"int": "int64", "float": "float32", "bytes": "bytes"}
    fields = {name: infeed.Field(kinds[feature.kind], record_forms.shape(feature))
              for name, feature in record_forms.FORMS[work].items()}
    loader = infeed.Loader(flags.shards, batch_size=peer.BATCH, views=(),
                           fields=fields, threads=flags.cores,
                           graph="basic" if inline else "flow")
    return (batch.as_dict() for batch in loader.repeat())


def boxes(flags):
    loader = detection.loader(flags.shards, batch_size=detection.BATCH,
                              threads=flags.cores)
    return ((batch.images, batch.targets()) for batch in loader.repeat())


def main():
    flags = peer.parser(__doc__, [
        "torch", "numpy", "boxes", *record_forms.FORMS,
        *(f"{form}_inline" for form in record_forms.FORMS)]).parse_args()
    start, touch = batches, peer.touched
    if flags.work == "boxes":
        start, touch = boxes, detection.touched
    elif flags.work not in ("torch", "numpy"):
        start, touch = columns, record_forms.touched
    peer.measure("infeed", peer.package().__version__, flags,
                 lambda: start(flags), touch)


if __name__ == "__main__":
    main()
