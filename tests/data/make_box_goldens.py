#!/usr/bin/env python3
"""Writes box_goldens.json: boxes that torchvision's transforms move.

usage: make_box_goldens.py [FOLDER]

A case is ClampBoundingBoxes, a recipe's transforms, ClampBoundingBoxes and
SanitizeBoundingBoxes on float32 boxes: as they are stored, and as they are kept,
each number as the 8 hexadecimal digits of its bits, with the indexes of the kept
ones. "geometry" has the members of Geometry (preprocess/recipe/geometry.h) in
their order, heights before widths, and the output's size. Centre crops of images that are smaller by an odd number are left
out where the transform moves boxes by a pixel more than the image.
"""

import json
import pathlib
import random
import struct
import sys

import torch
import torchvision
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

PADDING = 4  # of CIFAR's RandomCrop
CASES = 400


def bits(boxes):
    return struct.pack(f">{boxes.numel()}f", *boxes.flatten().tolist()).hex()


def image_origin(shape, size):
    """The first row and column of an image's centre crop."""
    return [-((b - a) // 2) if b > a else round((a - b) / 2) for a, b in zip(shape, size)]


def write(name, lists, **more_versions):
    """Writes the lists to the folder of the command, an element a line."""
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    versions = {"torch": torch.__version__, "torchvision": torchvision.__version__,
                **more_versions}
    with open(folder / name, "w", encoding="utf-8") as file:
        file.write(json.dumps(versions)[:-1])
        for key, values in lists.items():
            file.write(f', "{key}": [\n')
            file.write(",\n".join(json.dumps(value) for value in values))
            file.write("\n]")
        file.write("}\n")


class Case:
    def __init__(self, name, source, boxes):
        stored = torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4)
        self.boxes = tv_tensors.BoundingBoxes(
            stored, format="XYXY", canvas_size=source)
        self.name = name
        self.stored = bits(stored)
        self.source = source
        self.origin = [0, 0]
        self.flips = [0, 0]
        self.padding = 0
        self.boxes = v2.ClampBoundingBoxes()(self.boxes)

    def crop(self, window, size):
        self.boxes = F.resized_crop(self.boxes, *window, list(size))
        self.window = window
        self.resized = size

    def resize(self, size):
        """An int: the shorter side's length."""
        self.window = [0, 0, *self.source]
        self.boxes = F.resize(self.boxes, size)
        self.resized = list(self.boxes.canvas_size)

    def centre_crop(self, size):
        origin = [round((a - b) / 2) for a, b in zip(self.boxes.canvas_size, size)]
        image = image_origin(self.boxes.canvas_size, size)
        self.boxes = F.center_crop(self.boxes, list(size))
        self.origin = origin
        return origin == image

    def padded_crop(self, top, left):
        size = self.boxes.canvas_size
        self.boxes = F.crop(F.pad(self.boxes, [PADDING]), top, left, *size)
        self.padding = PADDING
        self.origin = [top - PADDING, left - PADDING]

    def flip(self, mirrored, upside_down):
        self.flips = [int(mirrored), int(upside_down)]
        if mirrored:
            self.boxes = F.horizontal_flip(self.boxes)
        if upside_down:
            self.boxes = F.vertical_flip(self.boxes)

    def finish(self):
        output = list(self.boxes.canvas_size)
        boxes = v2.ClampBoundingBoxes()(self.boxes)
        kept, labels = v2.SanitizeBoundingBoxes()(
            boxes, {"labels": torch.arange(len(boxes))})
        return {"name": self.name,
                "geometry": [*self.source, *self.window, *self.resized, *self.origin,
                             *self.flips, self.padding, *output],
                "boxes": self.stored, "kept": labels["labels"].tolist(),
                "result": bits(kept)}


def named():
    source = [480, 640]
    boxes = [(10, 20, 110, 220), (300, 100, 400, 150), (-5, -5, 3, 3), (250, 0, 640, 480)]
    for mirrored in (False, True):
        case = Case("crop" + " mirrored" * mirrored, source, boxes)
        case.crop([50, 100, 200, 300], [224, 224])
        case.flip(mirrored, False)
        yield case.finish()
    case = Case("resize and centre crop", source, boxes)
    case.resize(256)
    case.centre_crop([224, 224])
    yield case.finish()
    case = Case("an edge rounded past the output", [168, 730],
                [(113.08656, 4.821679, 400.852, 134.27643)])
    case.crop([23, 67, 48, 293], [224, 224])
    yield case.finish()


def made(draw, index):
    """A random case, or None where the transform's boxes leave its image."""
    source = [draw.randint(20, 999), draw.randint(20, 999)]
    output = [draw.randint(16, 300), draw.randint(16, 300)]

    def span(length):
        first = draw.uniform(-0.2, 0.8) * length
        return first, first + draw.uniform(-0.02, 0.9) * length

    boxes = []
    for _ in range(draw.randint(1, 3)):
        (x1, x2), (y1, y2) = span(source[1]), span(source[0])
        boxes.append((x1, y1, x2, y2))
    recipe = ("crop", "resize and centre crop", "resize", "padded crop")[index % 4]
    case = Case(recipe, source, boxes)
    if recipe == "crop":
        height, width = (draw.randint(1, length) for length in source)
        case.crop([draw.randint(0, source[0] - height), draw.randint(0, source[1] - width),
                   height, width], output)
    elif recipe == "resize and centre crop":
        case.resize(draw.randint(16, 400))
        if not case.centre_crop(output):
            return None
    else:
        case.resize(output)
    if recipe == "padded crop":
        case.padded_crop(draw.randint(0, 2 * PADDING), draw.randint(0, 2 * PADDING))
    case.flip(draw.random() < 0.5, draw.random() < 0.25)
    return case.finish()


def main():
    draw = random.Random(1)
    cases = list(named())
    index = 0
    while index < CASES:
        case = made(draw, index)
        if case is not None:
            cases.append(case)
            index += 1
    write("box_goldens.json", {"cases": cases})


if __name__ == "__main__":
    main()
