#!/usr/bin/env python3
"""Measures PyTorch's DataLoader on image files and on tars.

usage: files_loader.py [--work WORK] [--cores N] [--seconds S] FOLDER

One worker process a core; torchvision's RandomResizedCrop (bilinear,
antialias) and flip:

  image_folder  torchvision's ImageFolder with its loader (Pillow)
  webdataset    the package webdataset over FOLDER/*.tar, with its shuffle
                buffer, torchvision.io.decode_jpeg

Start it with `taskset -c 0` (or 0,1 and --cores 2). Needs torch, torchvision,
pillow and webdataset. See peer.py for what it prints.
"""

import pathlib

import torch
import torchvision
from torchvision.transforms import v2

import peer

CROP = v2.RandomResizedCrop(peer.SIDE, scale=peer.AREA, ratio=peer.ASPECT,
                            antialias=True)


def image_folder(flags):
    from torch_loader import Endless
    transform = v2.Compose([CROP, v2.RandomHorizontalFlip(), v2.PILToTensor()])
    data = torchvision.datasets.ImageFolder(flags.shards[0], transform)
    return torch.utils.data.DataLoader(
        data, batch_size=peer.BATCH, sampler=Endless(len(data)),
        num_workers=flags.cores, prefetch_factor=4)


def webdataset(flags):
    import webdataset as wds
    transform = v2.Compose([CROP, v2.RandomHorizontalFlip()])

    def decoded(sample):
        image = torchvision.io.decode_jpeg(
            torch.frombuffer(bytearray(sample["jpg"]), dtype=torch.uint8),
            mode=torchvision.io.ImageReadMode.RGB)
        return transform(image), int(sample["cls"])

    tars = sorted(map(str, pathlib.Path(flags.shards[0]).glob("train-*.tar")))
    data = wds.WebDataset(tars, shardshuffle=len(tars), resampled=False,
                          workersplitter=wds.split_by_worker)
    data = data.repeat().shuffle(1000).map(decoded).batched(
        peer.BATCH, partial=False)
    return wds.WebLoader(data, batch_size=None, num_workers=flags.cores,
                         prefetch_factor=4)


def batches(flags):
    make = {"image_folder": image_folder, "webdataset": webdataset}[flags.work]
    for images, _ in make(flags):
        yield images.numpy()


def main():
    flags = peer.parser(__doc__, ["image_folder", "webdataset"]).parse_args()
    torch.set_num_threads(1)
    version = f"{torch.__version__}, torchvision {torchvision.__version__}"
    if flags.work == "webdataset":
        import webdataset as wds
        version += f", webdataset {wds.__version__}"
    peer.measure("torch", version, flags, lambda: batches(flags))


if __name__ == "__main__":
    main()
