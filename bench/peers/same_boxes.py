#!/usr/bin/env python3
"""Compares the boxes of an epoch with torchvision's, bit for bit.

usage: same_boxes.py SHARD...

The boxes of each record go through torchvision's functions (clamp, resized crop,
mirror, clamp, sanitize) with the window and the mirroring of the batch's geometry.
Fails if a box, or which are left, differs.
"""

import sys

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

import detection


def moved(parts, geometry, slot):
    """torchvision's boxes of a slot, and the numbers of those that are left."""
    height, width = geometry.source[slot].tolist()
    boxes = tv_tensors.BoundingBoxes(
        torch.tensor(parts).reshape(-1, 4) * torch.tensor([width, height] * 2),
        format="XYXY", canvas_size=(height, width))
    boxes = F.resized_crop(F.clamp_bounding_boxes(boxes),
                           *geometry.window[slot].tolist(), [detection.SIDE] * 2)
    if geometry.mirrored[slot]:
        boxes = F.horizontal_flip(boxes)
    left = {"boxes": F.clamp_bounding_boxes(boxes),
            "labels": torch.arange(len(boxes))}
    left = v2.SanitizeBoundingBoxes()(left)
    return left["boxes"].as_subclass(torch.Tensor), left["labels"].tolist()


def same_bits(one, other):
    return torch.equal(one.contiguous().view(torch.int32),
                       other.contiguous().view(torch.int32))


def main():
    shards = sys.argv[1:]
    stored = list(detection.samples(shards))
    images = kept = dropped = 0
    for batch in detection.loader(shards, batch_size=detection.BATCH, threads=1,
                                  last_batch="pad", on_bad_record="fail"):
        geometry, = batch.geometry
        for slot, (record, target) in enumerate(zip(batch.ids.tolist(),
                                                    batch.targets())):
            if record < 0:  # An empty slot.
                continue
            _, parts, labels = stored[record]
            boxes, left = moved(parts, geometry, slot)
            if (target["labels"].tolist() != [labels[number] for number in left]
                    or not same_bits(target["boxes"], boxes)):
                sys.exit(f"boxes of record {record} are {target['boxes'].tolist()},"
                         f" torchvision's {boxes.tolist()}")
            images += 1
            kept += len(boxes)
            dropped += len(parts) - len(boxes)
    if images != len(stored) or not kept:
        sys.exit(f"an epoch had {images} of {len(stored)} images, {kept} boxes")
    print(f"{kept:,} boxes of {images} crops equal torchvision's to the bit, and "
          f"the same {dropped:,} are left out")


if __name__ == "__main__":
    main()
