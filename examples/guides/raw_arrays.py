"""XLA.jl's raw files, as the article's loader reads them.

Draws IMAGES (128) images into DIR/X_train.raw and DIR/Y_train.raw.

X has SIDE x SIDE x 3 x N bytes without a header, in Julia's order: the first
index, an image's row, runs fastest, then its column, then red, green, blue. Y
has N labels of 16 bits, little-endian, from 1.
"""

import argparse
import pathlib
import struct

SIDE = 224
PLANE = SIDE * SIDE


def write(folder, images, labels):
    """images: each three planes, red, green and blue, column by column."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "X_train.raw", "wb") as pixels:
        for planes in images:
            for plane in planes:
                pixels.write(plane)
    (folder / "Y_train.raw").write_bytes(
        struct.pack(f"<{len(labels)}H", *labels))


def labels_for(count):
    """Different ones, the largest possible among them."""
    return [1000 - 7 * number for number in range(count)]


def drawn(number):
    """A square on a slope of light; where and how differs from image to
    image."""
    slope = bytes(range(256)) * 2
    left, top = 12 * (number % 12) + 10, 12 * (number // 12) + 10
    planes = []
    for colour in range(3):
        light = 80 * (number + colour) % 256
        square = bytes([255 - light]) * 60
        columns = []
        for column in range(SIDE):
            start = (light + column * (1 + number % 3)) % 256
            rows = slope[start:start + SIDE]
            if left <= column < left + 60:
                rows = rows[:top] + square + rows[top + 60:]
            columns.append(rows)
        planes.append(b"".join(columns))
    return planes


def middle(words, side):
    """The planes of the middle SIDE x SIDE of an image of side x side packed
    words, as the article cuts them: rows side/2 - 112 to side/2 + 111, counted
    from 1."""
    first = side // 2 - SIDE // 2 - 1
    planes = []
    for byte in (3, 2, 1):  # of a little-endian word: red, green, blue
        plane = words[byte::4]
        planes.append(b"".join(
            plane[first * side + column:(first + SIDE) * side:side]
            for column in range(first, first + SIDE)))
    return planes


def packed(folder, number):
    """An image as the infeed has it: a word for each pixel, red << 24 | green
    << 16 | blue << 8, row by row, the low byte first."""
    words = bytearray(4 * PLANE)
    with open(folder / "X_train.raw", "rb") as pixels:
        pixels.seek(number * 3 * PLANE)
        for byte in (3, 2, 1):
            plane = pixels.read(PLANE)
            words[byte::4] = b"".join(plane[row::SIDE] for row in range(SIDE))
    return bytes(words)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("dir", metavar="DIR", type=pathlib.Path)
    parser.add_argument("images", metavar="IMAGES", type=int, nargs="?",
                        default=128)
    args = parser.parse_args()
    folder, count = args.dir, args.images
    write(folder, map(drawn, range(count)), labels_for(count))
    print(f"{count} images in {folder}")


if __name__ == "__main__":
    main()
