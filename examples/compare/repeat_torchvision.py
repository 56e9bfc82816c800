#!/usr/bin/env python3
"""Whether a DataLoader makes the same batches with more workers.


Seeds, shuffle=True, RandomResizedCrop and a flip of an ImageFolder; prints
hashes of three batches' labels and pixels for each number of workers. Needs
torch, torchvision and pillow.
"""

import argparse
import hashlib
import itertools

import torch
import torchvision
from torchvision.transforms import v2

TRANSFORM = v2.Compose([v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(),
                        v2.PILToTensor()])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tree", metavar="TREE")
    parser.add_argument("workers", metavar="WORKERS", nargs="+")
    args = parser.parse_args()
    tree, workers = args.tree, args.workers
    data = torchvision.datasets.ImageFolder(tree, TRANSFORM)
    for number in map(int, workers):
        torch.manual_seed(1)
        loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True,
                                             num_workers=number)
        pixels, labels = hashlib.sha256(), hashlib.sha256()
        for images, classes in itertools.islice(loader, 3):
            pixels.update(images.numpy().tobytes())
            labels.update(classes.numpy().tobytes())
        print(number, "workers: labels", labels.hexdigest()[:12], "pixels",
              pixels.hexdigest()[:12])


if __name__ == "__main__":
    main()
