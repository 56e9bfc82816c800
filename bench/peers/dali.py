#!/usr/bin/env python3
"""Measures NVIDIA DALI without a GPU.

usage: dali.py [--work WORK] [--cores N] [--seconds S] SHARD...

Its TFRecord reader (which needs SHARD.idx beside each shard: `records index
--dali`), its fused decode and random crop, its resize:

  antialias  linear with antialiasing
  cubic      cubic with antialiasing

Or texts, mixed: record_forms.py's records, each output as one tensor.

Start it with `taskset -c 0` (or 0,1 and --cores 2). Needs nvidia-dali-cuda120.
See peer.py for what it prints.
"""

import numpy
import nvidia.dali
from nvidia.dali import fn, pipeline_def, tfrecord, types

import peer
import record_forms

KINDS = {"antialias": types.INTERP_LINEAR, "cubic": types.INTERP_CUBIC}


@pipeline_def(batch_size=peer.BATCH, device_id=None)
def training(flags):
    keys = {"image/encoded":
            tfrecord.FixedLenFeature((), tfrecord.string, ""),
            "image/class/label":
            tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}
    example = fn.readers.tfrecord(
        path=flags.shards, index_path=[f"{s}.idx" for s in flags.shards],
        features=keys, random_shuffle=True, initial_fill=1024)
    image = fn.decoders.image_random_crop(
        example["image/encoded"], device="cpu", random_area=list(peer.AREA),
        random_aspect_ratio=list(peer.ASPECT), num_attempts=peer.ATTEMPTS)
    image = fn.resize(image, size=[peer.SIDE, peer.SIDE],
                      interp_type=KINDS[flags.work], antialias=True)
    return (fn.flip(image, horizontal=fn.random.coin_flip()),
            example["image/class/label"])


def batches(flags):
    pipeline = training(flags, num_threads=flags.cores)
    pipeline.build()
    while True:
        images, _ = pipeline.run()
        yield numpy.asarray(images.as_tensor())


@pipeline_def(batch_size=peer.BATCH, device_id=None)
def records(flags):
    kinds = {"int": (tfrecord.int64, 0), "float": (tfrecord.float32, 0.0),
             "bytes": (tfrecord.string, "")}
    form = record_forms.FORMS[flags.work]
    example = fn.readers.tfrecord(
        path=flags.shards, index_path=[f"{s}.idx" for s in flags.shards],
        features={name: tfrecord.FixedLenFeature(record_forms.shape(feature),
                                                 *kinds[feature.kind])
                  for name, feature in form.items()})
    return tuple(example[name] for name in form)


def columns(flags):
    pipeline = records(flags, num_threads=flags.cores)
    pipeline.build()
    while True:
        yield {name: numpy.asarray(column.as_tensor()) for name, column in zip(
            record_forms.FORMS[flags.work], pipeline.run())}


def main():
    flags = peer.parser(__doc__, [*KINDS, *record_forms.FORMS]).parse_args()
    if flags.work in record_forms.FORMS:
        peer.measure("DALI", nvidia.dali.__version__, flags,
                     lambda: columns(flags), record_forms.touched)
    else:
        peer.measure("DALI", nvidia.dali.__version__, flags,
                     lambda: batches(flags))


if __name__ == "__main__":
    main()
