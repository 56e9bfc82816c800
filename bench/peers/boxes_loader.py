#!/usr/bin/env python3
"""Measures torchvision v2's transforms of images and their boxes.

usage: boxes_loader.py [--work WORK] [--cores N] [--seconds S] SHARD...

PyTorch's DataLoader over the records' bytes and boxes in memory; the image and
its BoundingBoxes go through RandomResizedCrop (bilinear, antialias), flip,
ClampBoundingBoxes and SanitizeBoundingBoxes:

  tensor, tensor_inline  torchvision.io.decode_jpeg, transforms on uint8 tensors
  pillow, pillow_inline  Pillow's decoder, transforms on its images

in a worker process for each core, or inline: in the process itself. Start it with
`taskset -c 0` (or 0,1 and --cores 2). Needs torch, torchvision, pillow and what
`./dev python` builds. See peer.py for what it prints.
"""

import PIL
import torch
import torchvision
from torchvision import tv_tensors
from torchvision.transforms import v2

import detection
import peer
import torch_loader

WORKS = ["tensor", "tensor_inline", "pillow", "pillow_inline"]


class Training(torch.utils.data.Dataset):
    def __init__(self, shards, decoder):
        self.samples = [
            (data, torch.tensor(boxes).reshape(-1, 4), torch.tensor(labels))
            for data, boxes, labels in detection.samples(shards)]
        self.decoder = decoder
        self.transform = v2.Compose([
            v2.RandomResizedCrop(detection.SIDE, scale=detection.AREA,
                                 antialias=True),
            v2.RandomHorizontalFlip(), v2.ClampBoundingBoxes(),
            v2.SanitizeBoundingBoxes(),
            *([v2.PILToTensor()] if decoder == "pillow" else [])])

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, number):
        data, parts, labels = self.samples[number]
        image = torch_loader.decoded(data, self.decoder)
        if self.decoder == "tensor":
            image = tv_tensors.Image(image)
        height, width = v2.functional.get_size(image)
        boxes = tv_tensors.BoundingBoxes(
            parts * torch.tensor([width, height] * 2), format="XYXY",
            canvas_size=(height, width))
        return self.transform(image, {"boxes": boxes, "labels": labels})


def together(samples):
    images, targets = zip(*samples)
    return torch.stack(images), targets


def batches(flags):
    decoder, _, place = flags.work.partition("_")
    data = Training(flags.shards, decoder)
    how = {} if place else {"num_workers": flags.cores, "prefetch_factor": 4}
    return iter(torch.utils.data.DataLoader(
        data, batch_size=detection.BATCH, collate_fn=together,
        sampler=torch_loader.Endless(len(data)), **how))


def main():
    flags = peer.parser(__doc__, WORKS).parse_args()
    torch.set_num_threads(1)
    version = f"{torch.__version__}, torchvision {torchvision.__version__}"
    if flags.work.startswith("pillow"):
        version += f", Pillow {PIL.__version__}"
    peer.measure("torch", version, flags, lambda: batches(flags),
                 detection.touched)


if __name__ == "__main__":
    main()
