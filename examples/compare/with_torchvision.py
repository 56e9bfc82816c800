#!/usr/bin/env python3
"""Compares infeed's evaluation images with torchvision's, of an ImageFolder.


PIXELS is the example program of that name, TREE a folder of classes' folders.
torchvision does Resize(256) and CenterCrop(224): of Pillow's images, and of
tensors that decode_jpeg made. Needs torch, torchvision, pillow and numpy.
"""

import argparse
import tempfile

import numpy as np
import PIL
import torchvision
from torchvision.io import ImageReadMode, decode_image, read_file
from torchvision.transforms import v2

import compared

SIZE = 224
TRANSFORM = v2.Compose([v2.Resize(256, antialias=True), v2.CenterCrop(SIZE)])


def of_pillow(path):
    return np.asarray(TRANSFORM(torchvision.datasets.folder.pil_loader(path)))


def of_tensors(path):
    image = decode_image(read_file(path), mode=ImageReadMode.RGB)
    return TRANSFORM(image).permute(1, 2, 0).numpy()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", metavar="PIXELS")
    parser.add_argument("tree", metavar="TREE")
    args = parser.parse_args()
    program, tree = args.program, args.tree
    paths = [path for path, _ in torchvision.datasets.ImageFolder(tree).samples]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.write("".join(path + "\n" for path in paths))
        names.flush()
        ours = compared.pixels_of(program, "torchvision", SIZE, names.name)
    print(f"torchvision {torchvision.__version__}")
    for name, load in ((f"Pillow {PIL.__version__}", of_pillow),
                       ("decode_jpeg, tensors", of_tensors)):
        difference = compared.Difference()
        for mine, path in zip(ours, paths, strict=True):
            difference.add(mine, load(path))
        difference.show(name)


if __name__ == "__main__":
    main()
