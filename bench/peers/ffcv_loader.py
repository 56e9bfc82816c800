#!/usr/bin/env python3
"""Measures FFCV, and makes its files.

usage: ffcv_loader.py [--cores N] [--seconds S] FILE.beton
       ffcv_loader.py --make FILE.beton [--max_side N] [--quality Q] SHARD...
       ffcv_loader.py --export FOLDER FILE.beton

FFCV reads files of its own, for which it encodes every image anew: --make does
that, --max_side shrinks larger ones, --export takes the JPEGs out again as
FOLDER/LABEL/NUMBER.jpg, so that another system can be given the same bytes. The
measurement is its random crop with its one kind of resize (areas; bilinear
where it enlarges) and its flip.

Start it with `taskset -c 0` (or 0,1 and --cores 2). Needs ffcv and torch. See
peer.py for what it prints.
"""

import importlib.metadata
import io
import pathlib

import cv2
import numpy
import PIL.Image
import torch
from ffcv import fields, loader, reader, transforms, writer
from ffcv.fields import decoders

import peer
import tfrecord

# Images per epoch: many, since each epoch begins with an empty pipeline.
EPOCH = 100_000


class Decoded:
    """What its writer wants: images and labels by their number."""

    def __init__(self, shards):
        self.images = tfrecord.Images(tfrecord.places(shards))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, number):
        data, label = self.images.read(number)
        return PIL.Image.open(io.BytesIO(data)).convert("RGB"), label


def make(flags):
    image = fields.RGBImageField(write_mode="jpg", jpeg_quality=flags.quality,
                                 max_resolution=flags.max_side)
    out = writer.DatasetWriter(
        flags.make, {"image": image, "label": fields.IntField()},
        num_workers=1)
    out.from_indexed_dataset(Decoded(flags.shards))


def export(flags):
    beton = reader.Reader(flags.shards[0])
    data = numpy.memmap(flags.shards[0], mode="r")
    ends = {int(row["ptr"]): int(row["ptr"] + row["size"])
            for row in beton.alloc_table}
    for number, (image, label) in enumerate(beton.metadata):
        folder = pathlib.Path(flags.export, f"{int(label):04}")
        folder.mkdir(parents=True, exist_ok=True)
        begin = int(image["data_ptr"])
        (folder / f"{number:07}.jpg").write_bytes(
            data[begin:ends[begin]].tobytes())


def batches(flags):
    beton = reader.Reader(flags.shards[0])
    often = max(1, EPOCH // beton.num_samples)
    source = loader.Loader(
        flags.shards[0], batch_size=peer.BATCH, num_workers=flags.cores,
        order=loader.OrderOption.RANDOM, os_cache=True, drop_last=True,
        indices=numpy.tile(
            numpy.arange(beton.num_samples, dtype="uint64"), often),
        pipelines={
            "image": [decoders.RandomResizedCropRGBImageDecoder(
                (peer.SIDE, peer.SIDE), peer.AREA, peer.ASPECT),
                      transforms.RandomHorizontalFlip(),
                      transforms.ToTensor()],
            "label": [decoders.IntDecoder(), transforms.ToTensor()]})
    while True:
        for images, _ in source:
            yield images.numpy()


def main():
    parser = peer.parser(__doc__, ["area"])
    parser.add_argument("--make", metavar="FILE")
    parser.add_argument("--max_side", type=int)
    parser.add_argument("--quality", type=int, default=95)
    parser.add_argument("--export", metavar="FOLDER")
    flags = parser.parse_args()
    cv2.setNumThreads(0)
    torch.set_num_threads(1)
    if flags.make:
        make(flags)
    elif flags.export:
        export(flags)
    else:
        peer.measure("FFCV", importlib.metadata.version("ffcv"), flags,
                     lambda: batches(flags))


if __name__ == "__main__":
    main()
