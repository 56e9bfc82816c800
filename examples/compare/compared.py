"""What both comparisons share: infeed's pixels, and how far others are from
them."""

import pathlib
import subprocess
import tempfile

import numpy as np


def pixels_of(program, recipe, size, source):
    """What examples/pixels says: [images, size, size, 3] of bytes."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "pixels.rgb")
        subprocess.run([program, recipe, str(size), str(source), str(out)],
                       check=True)
        return np.fromfile(out, np.uint8).reshape(-1, size, size, 3)


class Difference:
    """Adds up how far the images of two sides are from each other."""

    def __init__(self):
        self.images = self.equal = 0
        self.levels = np.zeros(256, np.int64)  # samples by their difference

    def add(self, ours, theirs):
        distance = np.abs(ours.astype(np.int16) - theirs.astype(np.int16))
        self.images += 1
        self.equal += not distance.any()
        self.levels += np.bincount(distance.ravel(), minlength=256)

    def show(self, other):
        samples = self.levels.sum()
        print(f"{other}: {self.images} images, {self.equal} of them equal; "
              f"of {samples:,} samples {100 * (1 - self.levels[0] / samples):.3f} % "
              f"differ, {self.levels[2:].sum():,} of them by more than a level, "
              f"at most by {self.levels.nonzero()[0].max()}")
