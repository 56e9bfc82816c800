"""Writes policy_goldens.txt: what torchvision's policies of augmentation make
of made images, drawing from infeed's streams.

Each line is "POLICY IMAGE SIDE POSITION HASH"; README.augment.md has their
meaning. Needs torchvision and Pillow, and nothing else of this project.
"""

import pathlib

import PIL
import torch
import torchvision
from PIL import Image
from torchvision import transforms

from make_jitter_goldens import fnv1a, made_image
from philox import AUGMENTATION, SampleRandom

SEED, EPOCH = 5, 2
POLICY_BLOCK = 8

# Image, side: positions.
TRIVIAL = {("noise", 31): 1200, ("soft", 48): 300, ("blocks", 224): 60,
           ("flat", 24): 40, ("noise", 1): 40, ("soft", 2): 40}


def draws(position, block):
    return SampleRandom(SEED, EPOCH, position, AUGMENTATION, block)


def pillow_image(name, side):
    return Image.fromarray(made_image(name, side).permute(1, 2, 0).numpy())


def trivial(image, position):
    random = draws(position, POLICY_BLOCK)
    torch.randint = lambda high, *_, **__: torch.tensor([random.below(high)])
    return transforms.TrivialAugmentWide()(image)


def lines(name, policy, images):
    for (kind, side), count in images.items():
        image = pillow_image(kind, side)
        for position in range(count):
            result = policy(image, position)
            assert result.size == image.size
            yield f"{name} {kind} {side} {position} " \
                  f"{fnv1a(result.tobytes()):016x}"


def main():
    versions = f"# torch {torch.__version__}, " \
               f"torchvision {torchvision.__version__}, " \
               f"Pillow {PIL.__version__}"
    text = [versions, *lines("trivialaugment", trivial, TRIVIAL)]
    path = pathlib.Path(__file__).parent / "policy_goldens.txt"
    path.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
