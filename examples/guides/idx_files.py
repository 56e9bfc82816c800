"""MNIST's four IDX files.

PNGS has train/DIGIT/NUMBER.png and test/DIGIT/NUMBER.png, gray, of 28 x 28: in
the order of their numbers they become MNIST's files. --drawn draws 4,960 and
400 digits instead: their last batches of 128 have 96 and 16, as MNIST's.
"""

import argparse
import gzip
import pathlib
import random
import struct
import zlib

SIDE = 28
FILES = {"train": "train", "test": "t10k"}
# The seven segments of a digit, as of a clock: (row, column, height, width).
SEGMENTS = ((4, 9, 3, 10), (4, 7, 10, 3), (4, 18, 10, 3), (13, 9, 3, 10),
            (14, 7, 10, 3), (14, 18, 10, 3), (22, 9, 3, 10))
NOISE = bytes(value // 8 for value in range(256))
LIT = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011",
       "1101111", "1010010", "1111111", "1111011")


def write(folder, split, digits):
    """digits: (label, 784 bytes, row by row) of each. Headers are big-endian:
    0x0803 and three sizes, 0x0801 and one."""
    folder.mkdir(parents=True, exist_ok=True)
    digits = list(digits)
    name = FILES[split]
    with gzip.open(folder / f"{name}-images-idx3-ubyte.gz", "wb", 6) as file:
        file.write(struct.pack(">4I", 0x0803, len(digits), SIDE, SIDE))
        for _, pixels in digits:
            file.write(pixels)
    with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz", "wb", 6) as file:
        file.write(struct.pack(">2I", 0x0801, len(digits)))
        file.write(bytes(label for label, _ in digits))


def drawn(count, seed):
    """Digits of a clock, each a little elsewhere, with noise."""
    dice = random.Random(seed)
    for number in range(count):
        digit = number % 10
        pixels = bytearray(dice.randbytes(SIDE * SIDE).translate(NOISE))
        down, right = dice.randrange(-3, 4), dice.randrange(-5, 6)
        for lit, (top, left, height, width) in zip(LIT[digit], SEGMENTS):
            for row in range(top + down, top + down + height):
                start = max(0, row) * SIDE + left + right
                if lit == "1" and row < SIDE:
                    pixels[start:start + width] = bytes([255]) * width
        yield digit, bytes(pixels)


def read(folder):
    """The digits of PNGs in DIGIT/NUMBER.png, in the order of NUMBER."""
    paths = sorted(folder.glob("*/*.png"), key=lambda path: int(path.stem))
    for path in paths:
        yield int(path.parent.name), gray(path.read_bytes())


def gray(png):
    """The pixels of a gray PNG, 8 bits each, row by row."""
    place, packed = 8, b""
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place:place + 8])
        body = png[place + 8:place + 8 + length]
        if kind == b"IHDR":
            width, _, depth, colour, *rest = struct.unpack(">IIBBBBB", body)
            if (width, depth, colour, rest[2]) != (SIDE, 8, 0, 0):
                raise ValueError("not a gray PNG of 28 pixels and 8 bits")
        elif kind == b"IDAT":
            packed += body
        place += 12 + length
    lines = zlib.decompress(packed)
    pixels, above = b"", bytes(SIDE)
    for start in range(0, len(lines), SIDE + 1):
        above = unfiltered(lines[start], lines[start + 1:start + SIDE + 1],
                           above)
        pixels += above
    return pixels


def unfiltered(kind, line, above):
    """A row of pixels from what a PNG's filter made of it."""
    if kind == 0:
        return line
    row = bytearray(SIDE)
    left = corner = 0
    for column, value in enumerate(line):
        up = above[column]
        guess = (left, up, (left + up) // 2, paeth(left, up, corner))[kind - 1]
        left, corner = (value + guess) % 256, up
        row[column] = left
    return bytes(row)


def paeth(left, up, corner):
    """Whichever of the three is nearest to left + up - corner."""
    return min((left, up, corner),
               key=lambda value: abs(left + up - corner - value))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pngs", metavar="PNGS", type=pathlib.Path, nargs="?")
    parser.add_argument("--drawn", action="store_true")
    parser.add_argument("out", metavar="OUT", type=pathlib.Path)
    args = parser.parse_args()
    if args.drawn == (args.pngs is not None):
        parser.error("give either PNGS or --drawn")
    if args.drawn:
        write(args.out, "train", drawn(4960, seed=1))
        write(args.out, "test", drawn(400, seed=2))
    else:
        for split in FILES:
            write(args.out, split, read(args.pngs / split))


if __name__ == "__main__":
    main()
