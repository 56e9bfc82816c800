#!/usr/bin/env python3
"""Writes label_goldens.json: masks that torch, torchvision and Pillow made.

usage: make_label_goldens.py [FOLDER]

"nearest": torch.nn.functional.interpolate(mode="nearest") and torchvision's
resize of a mask, from 1..300 to 224 and from 224 to 1..300. Output i shows input
i * in // out, one less where a list [in, out, [i, ...]] names it.

"cases": torchvision's transforms of a mask. "geometry" has the members of
Geometry (preprocess/recipe/geometry.h) in their order, heights before widths,
and the output's size; "rows" and "columns" the source's row and column that each
row and column of the output shows, -1 in margins.

"pngs": masks as PNGs in hexadecimal, by Pillow, and of those kinds that Pillow
reads but does not write by this script; "values" has four digits each. They have
chunks that change what other readers return: gamma, transparency, sBIT. "colours"
and "alpha" are PNGs of other kinds.
"""

import io
import random
import struct
import zlib

import numpy
import PIL
import PIL.Image
import PIL.PngImagePlugin
import torch
from torchvision import tv_tensors
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as F

from make_box_goldens import PADDING, image_origin, write

LENGTH, MOST = 224, 300  # of "nearest"
CASES = 120
GREY, PALETTE = 0, 3  # colour types
ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2),
         (0, 1, 2, 2), (1, 0, 2, 1))  # first row, first column, steps


def nearest(length, out):
    """The input that each output shows, across and down, of four types."""
    numbers = torch.arange(length)
    found = []
    for shape, size in (((1, 1, length, 1), (out, 1)), ((1, 1, 1, length), (1, out))):
        plane = numbers.reshape(shape)
        resized = torch.nn.functional.interpolate(plane.float(), size, mode="nearest")
        found.append(resized.flatten().long())
        found.append(F.resize(tv_tensors.Mask(plane), list(size)).flatten())
        low, high = (F.resize(tv_tensors.Mask(part.to(torch.uint8)), list(size))
                     for part in (plane % 256, plane // 256))
        found.append((low.long() + 256 * high.long()).flatten())
    assert all(torch.equal(a, found[0]) for a in found)
    return found[0].tolist()


def below_the_integers():
    pairs = [(side, LENGTH) for side in range(1, MOST + 1)]
    pairs += [(LENGTH, side) for side in range(1, MOST + 1) if side != LENGTH]
    for length, out in pairs:
        less = [i * length // out - row for i, row in enumerate(nearest(length, out))]
        assert set(less) <= {0, 1}
        if any(less):
            yield [length, out, [i for i, one in enumerate(less) if one]]


class Case:
    """A mask of 1 + row * width + column; margins are 0."""

    def __init__(self, source):
        self.source = source
        self.mask = tv_tensors.Mask(
            1 + torch.arange(source[0] * source[1], dtype=torch.int32).reshape(source))
        self.window = [0, 0, *source]
        self.origin = [0, 0]
        self.padding = 0

    def crop(self, window, size):
        self.mask = F.resized_crop(self.mask, *window, size, InterpolationMode.NEAREST)
        self.window = window
        self.resized = size

    def resize(self, size):
        """An int: the shorter side's length."""
        self.mask = F.resize(self.mask, size, InterpolationMode.NEAREST)
        self.resized = list(self.mask.shape)

    def centre_crop(self, size):
        self.origin = image_origin(self.mask.shape, size)
        self.mask = F.center_crop(self.mask, size)

    def padded_crop(self, top, left):
        size = self.mask.shape
        self.mask = F.crop(F.pad(self.mask, [PADDING]), top, left, *size)
        self.padding = PADDING
        self.origin = [top - PADDING, left - PADDING]

    def finish(self, mirrored, upside_down):
        if mirrored:
            self.mask = F.horizontal_flip(self.mask)
        if upside_down:
            self.mask = F.vertical_flip(self.mask)
        mask = self.mask.numpy().astype(int)
        rows = [row.max() - 1 for row in mask]
        rows = [int(row // self.source[1]) if row >= 0 else -1 for row in rows]
        columns = [column.max() - 1 for column in mask.T]
        columns = [int(column % self.source[1]) if column >= 0 else -1 for column in columns]
        expected = [[0 if row < 0 or column < 0 else 1 + row * self.source[1] + column
                     for column in columns] for row in rows]
        assert (mask == numpy.array(expected)).all()
        return {"geometry": [*self.source, *self.window, *self.resized, *self.origin,
                             int(mirrored), int(upside_down), self.padding, *mask.shape],
                "rows": rows, "columns": columns}


def made(draw, index):
    source = [draw.randint(20, 250), draw.randint(20, 250)]
    output = [draw.randint(8, 64), draw.randint(8, 64)]
    case = Case(source)
    if index % 4 in (0, 1):
        height, width = (draw.randint(1, length) for length in source)
        case.crop([draw.randint(0, source[0] - height), draw.randint(0, source[1] - width),
                   height, width], output)
    elif index % 4 == 2:
        case.resize(draw.randint(8, 64))
        case.centre_crop(output)
    else:
        case.resize(output)
        case.padded_crop(draw.randint(0, 2 * PADDING), draw.randint(0, 2 * PADDING))
    return case.finish(draw.random() < 0.5, draw.random() < 0.25)


def chunk(name, data):
    return (struct.pack(">I", len(data)) + name + data +
            struct.pack(">I", zlib.crc32(name + data)))


def rows_of(values, bits):
    lines = b""
    for row in values:
        if bits == 16:
            lines += b"\0" + row.astype(">u2").tobytes()
        else:
            text = "".join(f"{value:0{bits}b}" for value in row)
            text += "0" * (-len(text) % 8)
            lines += b"\0" + bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))
    return lines


def written(values, color, bits, interlaced):
    head = struct.pack(">2I5B", values.shape[1], values.shape[0], bits, color, 0, 0, interlaced)
    parts = [values]
    if interlaced:
        parts = [values[y::down, x::across] for y, x, down, across in ADAM7]
    lines = b"".join(rows_of(part, bits) for part in parts if part.size)
    colors = bytes((255 - i // 3) for i in range(3 << bits)) if color == PALETTE else b""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
            chunk(b"gAMA", struct.pack(">I", 100000)) +
            chunk(b"sBIT", b"\1" * (3 if color == PALETTE else 1)) +
            (chunk(b"PLTE", colors) if colors else b"") +
            chunk(b"tRNS", b"\0\x80" if color == PALETTE else b"\0\1") +
            chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def read_by_pillow(png, color, bits):
    """Pillow scales grey samples of up to 4 bits to 8."""
    values = numpy.array(PIL.Image.open(io.BytesIO(png))).astype(int)
    if color == GREY and bits in (2, 4):
        values //= 255 // (2 ** bits - 1)
    return values


def golden(name, values, png):
    return {"name": name, "size": list(values.shape),
            "values": values.astype(">u2").tobytes().hex(), "png": png.hex()}


def pngs(draw):
    size = (9, 11)
    for color, depths in ((GREY, (1, 2, 4, 8, 16)), (PALETTE, (1, 2, 4, 8))):
        for bits in depths:
            values = draw.integers(0, 2 ** bits, size)
            for interlaced in (0, 1):
                png = written(values, color, bits, interlaced)
                assert (read_by_pillow(png, color, bits) == values).all()
                name = f"{'palette' if color else 'grey'}, {bits} bits"
                yield golden(name + ", interlaced" * interlaced, values, png)
    for mode, count in (("1", 2), ("L", 256), ("I;16", 65536), ("P", 2), ("P", 4),
                        ("P", 16), ("P", 21), ("P", 256)):
        values = draw.integers(0, count, size)
        pixels = values.astype(bool if mode == "1" else "<u2" if mode == "I;16" else "u1")
        image = PIL.Image.fromarray(pixels)
        options = {}
        if mode == "P":
            image.putpalette(list(draw.integers(0, 256, 3 * count, "u1")))
            options = {"transparency": 0}
        assert image.mode == mode
        file = io.BytesIO()
        image.save(file, "PNG", **options)
        yield golden(f"Pillow's {mode}, {count} values", values, file.getvalue())


def others(*modes):
    for mode in modes:
        file = io.BytesIO()
        PIL.Image.new(mode, (3, 2), 1).save(file, "PNG")
        yield file.getvalue().hex()


def main():
    draw = random.Random(1)
    parts = {"nearest": below_the_integers(),
             "cases": (made(draw, index) for index in range(CASES)),
             "pngs": pngs(numpy.random.default_rng(1)),
             "colours": others("RGB", "RGBA"), "alpha": others("LA")}
    write("label_goldens.json", parts, pillow=PIL.__version__)


if __name__ == "__main__":
    main()
