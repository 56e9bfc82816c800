"""Image folders as tensors in memory, and the rates of a training of ours: what
the PyTorch twins of our trainings share.

Everything is in memory and augmented a batch at a time by one gather: there is
no faster input for images this small.
"""

import math
import pathlib

import numpy as np
import torch
from PIL import Image

MEAN = (123.675, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)


def load(folder, mode, limit=0):
    """(uint8 [N, H, W, C], int64 [N]) of FOLDER/<class>/*; at most `limit` of
    each class, the first by name; 0: all."""
    images, labels = [], []
    classes = sorted(path for path in pathlib.Path(folder).iterdir()
                     if path.is_dir())
    for label, path in enumerate(classes):
        files = sorted(path.iterdir())
        for file in files[:limit or len(files)]:
            with Image.open(file) as image:
                images.append(np.asarray(image.convert(mode)))
            labels.append(label)
    pixels = np.stack(images)
    if mode == "L":
        pixels = pixels[..., None]
    return torch.from_numpy(pixels), torch.tensor(labels)


def epochs(images, batch, generator, drop_last):
    """Indexes of batches for ever, each epoch in an order of its own."""
    while True:
        order = torch.randperm(images, generator=generator)
        end = images - images % batch if drop_last else images
        for first in range(0, end, batch):
            yield order[first:min(first + batch, end)]


def shifted(padded, index, side, generator, flip):
    """[N, side, side, C] out of padded images, each moved and, half of them,
    mirrored."""
    count, room = len(index), padded.shape[1] - side + 1
    top = torch.randint(room, (count, 1), generator=generator)
    left = torch.randint(room, (count, 1), generator=generator)
    rows = top + torch.arange(side)
    columns = left + torch.arange(side)
    if flip:
        mirrored = torch.rand(count, 1, generator=generator) < 0.5
        columns = torch.where(mirrored, columns.flip(1), columns)
    return padded[index[:, None, None], rows[:, :, None], columns[:, None, :]]


def padded(images, by):
    """Black all round."""
    return torch.nn.functional.pad(images, (0, 0, by, by, by, by))


def cosine(step, steps, peak, warmup):
    """Our learning_rate_schedule=cosine; warmup in steps, not whole."""
    if step < warmup:
        return peak * step / warmup
    whole = int(warmup)
    return peak / 2 * (1 + math.cos(math.pi * (step - whole) /
                                    max(1, steps - whole)))
