#!/usr/bin/env python3
"""Measures PyTorch's DataLoader.

usage: torch_loader.py [--work WORK] [--cores N] [--seconds S] SHARD...

One worker process a core. Each reads an image at its place in the shard (found
beforehand: tfrecord.py), decodes it and gives it to torchvision's
RandomResizedCrop (bilinear, antialias) and flip:

  tensor  torchvision.io.decode_jpeg and v2 transforms on uint8 tensors
  pillow  Pillow's decoder and v2 transforms on its images
  trivial tensor, then v2.TrivialAugmentWide()
  rand    tensor, then v2.RandAugment(2, 7)

Start it with `taskset -c 0` (or 0,1 and --cores 2). Needs torch, torchvision
and pillow. See peer.py for what it prints.
"""

import io

import PIL
import PIL.Image
import torch
import torchvision
from torchvision.transforms import v2

import peer
import tfrecord

# The last transform of each kind of work.
LAST = {"tensor": v2.Identity, "pillow": v2.PILToTensor,
        "trivial": v2.TrivialAugmentWide,
        "rand": lambda: v2.RandAugment(num_ops=2, magnitude=7)}


def decoded(data, work):
    if work == "pillow":
        return PIL.Image.open(io.BytesIO(data)).convert("RGB")
    return torchvision.io.decode_jpeg(
        torch.frombuffer(bytearray(data), dtype=torch.uint8),
        mode=torchvision.io.ImageReadMode.RGB)


class Training(torch.utils.data.Dataset):
    def __init__(self, flags):
        self.images = tfrecord.Images(tfrecord.places(flags.shards))
        self.work = flags.work
        self.transform = v2.Compose([
            v2.RandomResizedCrop(peer.SIDE, scale=peer.AREA, ratio=peer.ASPECT,
                                 antialias=True),
            v2.RandomHorizontalFlip(), LAST[flags.work]()])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, number):
        data, label = self.images.read(number)
        return self.transform(decoded(data, self.work)), label


class Endless(torch.utils.data.Sampler):
    """Epoch after epoch without a border between them."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        while True:
            yield from torch.randperm(self.count).tolist()


def batches(flags):
    data = Training(flags)
    loader = torch.utils.data.DataLoader(
        data, batch_size=peer.BATCH, sampler=Endless(len(data)),
        num_workers=flags.cores, prefetch_factor=4)
    for images, _ in loader:
        yield images.numpy()


def main():
    flags = peer.parser(__doc__, list(LAST)).parse_args()
    torch.set_num_threads(1)
    version = f"{torch.__version__}, torchvision {torchvision.__version__}"
    if flags.work == "pillow":
        version += f", Pillow {PIL.__version__}"
    peer.measure("torch", version, flags, lambda: batches(flags))


if __name__ == "__main__":
    main()
