#!/usr/bin/env python3
"""Measures SPDL.

usage: spdl_loader.py [--work bilinear] [--cores N] [--seconds S] SHARD...

One thread a core decodes images with FFmpeg, whose filters crop, resize
(bilinear) and flip them; then they are put together to batches. Images are read
at their places in the shards (found beforehand: tfrecord.py).

Start it with `taskset -c 0` (or 0,1 and --cores 2). Needs spdl and FFmpeg's
libraries. See peer.py for what it prints.
"""

import importlib.metadata
import math
import random

import spdl.io
import spdl.pipeline

import peer
import tfrecord


def window(width, height):
    """Of an image: torchvision's RandomResizedCrop."""
    for _ in range(peer.ATTEMPTS):
        area = width * height * random.uniform(*peer.AREA)
        aspect = math.exp(random.uniform(*map(math.log, peer.ASPECT)))
        w = round(math.sqrt(area * aspect))
        h = round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            return w, h, random.randint(0, width - w), random.randint(
                0, height - h)
    return width, height, 0, 0


def decoded(data):
    packets = spdl.io.demux_image(data)
    filters = ["crop={}:{}:{}:{}".format(*window(packets.width,
                                                 packets.height)),
               f"scale={peer.SIDE}:{peer.SIDE}:flags=bilinear",
               "format=pix_fmts=rgb24"]
    if random.random() < 0.5:
        filters.append("hflip")
    return spdl.io.decode_packets(packets, filter_desc=",".join(filters))


def endless(images):
    while True:
        for number in random.sample(range(len(images)), len(images)):
            yield images.read(number)[0]


def batches(flags):
    images = tfrecord.Images(tfrecord.places(flags.shards))
    pipeline = (spdl.pipeline.PipelineBuilder().add_source(endless(images))
                .pipe(decoded, concurrency=flags.cores)
                .aggregate(peer.BATCH).pipe(spdl.io.convert_frames)
                .add_sink(3).build(num_threads=flags.cores))
    with pipeline.auto_stop():
        for batch in pipeline:
            yield spdl.io.to_numpy(batch)


def main():
    flags = peer.parser(__doc__, ["bilinear"]).parse_args()
    peer.measure("SPDL", importlib.metadata.version("spdl"), flags,
                 lambda: batches(flags))


if __name__ == "__main__":
    main()
