#!/usr/bin/env python3
"""Writes detection_goldens.json: torchvision's RandomIoUCrop, ScaleJitter and
FixedSizeCrop, with boxes.

usage: make_detection_goldens.py [FOLDER]

A case is ClampBoundingBoxes, RandomIoUCrop (if "iou_crop"), then ScaleJitter and
FixedSizeCrop (if "scale" has their range), a letterbox ("fit") or a plain resize,
ClampBoundingBoxes and SanitizeBoundingBoxes. Where the transforms ask PyTorch for
random numbers they get those of infeed's crop stream for "key": seed, epoch and
position. "geometry" is the window, the resized size and the output's first row and
column in it. "boxes" and "result" are float32 numbers by the 8 hexadecimal digits of
their bits; "kept" has the indexes of the boxes that are left. Heights are before
widths. FixedSizeCrop is transcribed from torchvision's references/detection.
"""

import random

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

from make_box_goldens import bits, write
from philox import CROP, SampleRandom

CASES = 300


class DrawsFrom:
    """PyTorch's random functions, drawing from a stream instead."""

    def __init__(self, draws):
        self.draws = draws

    def __enter__(self):
        self.kept = torch.randint, torch.rand
        torch.randint = lambda low, high, size: torch.tensor(
            [low + self.draws.below(high - low)])
        torch.rand = lambda count: torch.tensor(
            [float(self.draws.real()) for _ in range(count)])

    def __exit__(self, *_):
        torch.randint, torch.rand = self.kept


def iou_crop(boxes):
    image = tv_tensors.Image(torch.zeros(3, *boxes.canvas_size))
    transform = v2.RandomIoUCrop()
    params = transform.make_params([image, boxes])
    if not params:
        return [0, 0, *boxes.canvas_size], boxes
    window = [params[name] for name in ("top", "left", "height", "width")]
    return window, transform.transform(boxes, params)


def jitter(boxes, size, scale):
    # The first entry of its target is divided by the width.
    transform = v2.ScaleJitter(target_size=(size[1], size[0]), scale_range=scale)
    boxes = transform.transform(boxes, transform.make_params([boxes]))
    resized = list(boxes.canvas_size)
    cut = [min(a, b) for a, b in zip(resized, size)]
    origin = [0, 0]
    if cut != resized:
        r = torch.rand(1)
        origin = [int(max(a - b, 0) * r) for a, b in zip(resized, size)]
        boxes = F.crop(boxes, *origin, *cut)
    boxes = F.pad(boxes, [0, 0, size[1] - cut[1], size[0] - cut[0]])
    return resized, origin, boxes


def letterbox(boxes, size):
    r = min(a / b for a, b in zip(size, boxes.canvas_size))
    resized = [max(1, round(length * r)) for length in boxes.canvas_size]
    boxes = F.resize(boxes, resized)
    margins = [a - b for a, b in zip(size, resized)]
    top, left = (margin // 2 for margin in margins)
    boxes = F.pad(boxes, [left, top, margins[1] - left, margins[0] - top])
    return resized, [-top, -left], boxes


def made(draw, index):
    source = [draw.randint(20, 900), draw.randint(20, 900)]
    size = [draw.randint(16, 300), draw.randint(16, 300)]
    key = [5, 1, index]
    stored = []
    for _ in range(draw.randint(1, 4)):
        sides = []
        for length in (source[1], source[0]):
            first = draw.uniform(-0.1, 0.8) * length
            sides.append((first, first + draw.uniform(0.02, 0.9) * length))
        (x1, x2), (y1, y2) = sides
        stored.append((x1, y1, x2, y2))
    stored = torch.tensor(stored, dtype=torch.float32)
    boxes = v2.ClampBoundingBoxes()(tv_tensors.BoundingBoxes(
        stored, format="XYXY", canvas_size=source))
    way = ("plain", "fit", "jitter", "fit", "jitter")[index % 5]
    is_cropped = index % 5 < 3
    scale = draw.choice([(0.1, 2), (0.5, 1.5)]) if way == "jitter" else None
    window = [0, 0, *source]
    with DrawsFrom(SampleRandom(*key, CROP)):
        if is_cropped:
            window, boxes = iou_crop(boxes)
        if way == "plain":
            resized, origin, boxes = size, [0, 0], F.resize(boxes, size)
        elif way == "fit":
            resized, origin, boxes = letterbox(boxes, size)
        else:
            resized, origin, boxes = jitter(boxes, size, scale)
    kept, labels = v2.SanitizeBoundingBoxes()(
        v2.ClampBoundingBoxes()(boxes), {"labels": torch.arange(len(boxes))})
    return {"source": source, "output": size, "key": key, "iou_crop": is_cropped,
            "fit": way != "plain", "scale": scale,
            "geometry": [*window, *resized, *origin], "boxes": bits(stored),
            "result": bits(kept), "kept": labels["labels"].tolist()}


def main():
    draw = random.Random(2)
    write("detection_goldens.json", {"cases": [made(draw, index) for index in range(CASES)]})


if __name__ == "__main__":
    main()
