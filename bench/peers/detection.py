#!/usr/bin/env python3
"""Photographs with boxes, as the systems read them.

usage: detection.py SET FOLDER SOURCE

writes them into four shards under the keys of TensorFlow's Object Detection API,
with this engine's Writer:

  raccoon    SOURCE is raccoon.tar: its JPEGs as they are, its table of boxes
  coco_like  SOURCE is a tar or a folder of photographs: each as a JPEG of 640x480
             and 0 to 14 boxes, drawn at random
"""

import csv
import io
import itertools
import math
import pathlib
import random
import sys
import tarfile

import peer

SHARDS = 4
BATCH, SIDE = 16, 640
AREA = (0.3, 1.0)  # of the random window
COCO_SIZE, QUALITY = (640, 480), 95
MOST_BOXES = 14
JPEG = (".jpg", ".jpeg")
PARTS = (0.02, 0.9)  # a box's sides, of the image's

SIDES = ("xmin", "ymin", "xmax", "ymax")
BOX_KEYS = [f"image/object/bbox/{side}" for side in SIDES]
LABEL = "image/object/class/label"


def files(source):
    """Name and bytes of the JPEGs of a tar or a folder."""
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.suffix.lower() in JPEG:
                yield path.name, path.read_bytes()
        return
    with tarfile.open(source) as tar:
        for member in tar:
            name = pathlib.PurePath(member.name)
            if name.suffix.lower() in JPEG:
                yield name.name, tar.extractfile(member).read()


def boxes_of_table(text):
    """File name -> boxes in parts of the image's sides, from the table's text."""
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        sides = [int(row["width"]), int(row["height"])] * 2
        found.setdefault(row["filename"], []).append(
            [int(row[name]) / side for name, side in zip(SIDES, sides)])
    return found


def raccoons(source):
    with tarfile.open(source) as tar:
        table = tar.extractfile("raccoon/data/raccoon_labels.csv").read()
    boxes = boxes_of_table(table.decode())
    for name, data in files(source):
        yield data, boxes[name]


def drawn_boxes(draw):
    """Many small boxes and some large ones."""
    low, high = map(math.log, PARTS)
    boxes = []
    for _ in range(draw.randint(0, MOST_BOXES)):
        width, height = (math.exp(draw.uniform(low, high)) for _ in range(2))
        x, y = draw.uniform(0, 1 - width), draw.uniform(0, 1 - height)
        boxes.append([x, y, x + width, y + height])
    return boxes


def coco_like(source):
    from PIL import Image
    draw = random.Random(0)
    for _, data in files(source):
        image = Image.open(io.BytesIO(data)).convert("RGB").resize(
            COCO_SIZE, Image.Resampling.LANCZOS)
        out = io.BytesIO()
        image.save(out, "JPEG", quality=QUALITY)
        yield out.getvalue(), drawn_boxes(draw)


def example(data, boxes):
    features = {"image/encoded": data}
    if boxes:
        features.update(zip(BOX_KEYS, map(list, zip(*boxes))))
        features[LABEL] = list(range(1, len(boxes) + 1))
    return features


def write(form, folder, source):
    infeed = peer.package()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    records = {"raccoon": raccoons, "coco_like": coco_like}[form](
        pathlib.Path(source))
    examples = [example(*record) for record in records]
    for shard in range(SHARDS):
        path = folder / f"train-{shard:05}-of-{SHARDS:05}"
        with infeed.records.Writer(path) as writer:
            for features in itertools.islice(examples, shard, None, SHARDS):
                writer.write_example(features)


def samples(shards):
    """Of each record the JPEG, its boxes as lists of four parts, and labels."""
    stored = peer.package().records.open(shards)
    for record in range(len(stored)):
        features = stored.parse(record)
        corners = [features.get(key, []) for key in BOX_KEYS]
        yield (features["image/encoded"][0], list(zip(*corners)),
               features.get(LABEL, []))


def loader(shards, **options):
    infeed = peer.package()
    return infeed.Loader(shards, image_size=SIDE, recipe="torchvision",
                         crop_scale=AREA[0], objects=infeed.Objects("tf"),
                         framework="torch", seek_index="off", **options)


def touched(batch):
    """Reads a byte of each image, and the boxes; how many images there are."""
    images, targets = batch
    assert tuple(images.shape) == (BATCH, 3, SIDE, SIDE), images.shape
    assert images.element_size() == 1 and len(targets) == BATCH
    images[:, 1, 100, 2].sum()
    sum(target["boxes"].sum() for target in targets)
    return len(images)


if __name__ == "__main__":
    write(*sys.argv[1:])
