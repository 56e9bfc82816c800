"""Writes policy_goldens.txt: the images that torchvision's and timm's policies
of augmentation make of made images, drawing from infeed's streams.

Each line is "POLICY MAGNITUDE IMAGE SIZE HASH...", a hash for each position;
README.augment.md has their meaning. Needs torchvision, timm and Pillow.
"""

import functools
import pathlib
import random as python_random

import PIL
import timm
import torch
import torchvision
from PIL import Image
from timm.data import auto_augment
from torchvision import transforms

from make_jitter_goldens import fnv1a, made_image
from philox import AUGMENTATION, SampleRandom

SEED, EPOCH = 5, 2
POLICY_BLOCK, TIMM_BLOCK, TIMM_BLOCKS = 8, 128, 8

# Image, side or (height, width): positions.
TRIVIAL = {("noise", 31): 1200, ("soft", 48): 300, ("blocks", 224): 60,
           ("flat", 24): 40, ("noise", 1): 40, ("soft", 2): 40,
           ("soft", (24, 41)): 150, ("noise", (37, 20)): 150}
LAYERED = {("noise", 31): 100, ("soft", 48): 50, ("blocks", 224): 10,
           ("noise", 1): 10, ("soft", 2): 10,
           ("soft", (24, 41)): 30, ("noise", (37, 20)): 30}
FILTERED = {("noise", 31): 400, ("soft", 48): 200, ("blocks", 224): 30,
            ("noise", 1): 20, ("soft", 2): 20,
            ("soft", (24, 41)): 150, ("noise", (37, 20)): 150}
TIMM = {("noise", 31): 300, ("soft", 48): 200, ("blocks", 224): 40,
        ("flat", 24): 30, ("noise", 1): 20, ("soft", 2): 20,
        ("soft", (24, 41)): 100, ("noise", (37, 20)): 100}


def draws(position, block):
    return SampleRandom(SEED, EPOCH, position, AUGMENTATION, block)


def pillow_image(name, side):
    return Image.fromarray(made_image(name, side).permute(1, 2, 0).numpy())


def give_torch(random):
    torch.randint = lambda high, *_, **__: torch.tensor([random.below(high)])


def trivial(_, image, position, **options):
    give_torch(draws(position, POLICY_BLOCK))
    return transforms.TrivialAugmentWide(**options)(image)


def randaugment(magnitude, image, position, **options):
    for layer in range(2):
        give_torch(draws(position, POLICY_BLOCK + layer))
        image = transforms.RandAugment(1, magnitude, **options)(image)
    return image


def moved_by(filter_name, policy):
    return functools.partial(
        policy,
        interpolation=transforms.InterpolationMode[filter_name.upper()])


def timm_randaugment(magnitude, image, position):
    """With a noise of 0.5 for magnitude 7, without for others."""
    noise = "-mstd0.5" if magnitude == 7 else ""
    policy = auto_augment.rand_augment_transform(
        f"rand-m{magnitude}{noise}-inc1",
        {"img_mean": (124, 116, 104)})  # As timm's create_transform() gives.
    for layer in range(2):
        random = draws(position, TIMM_BLOCK + TIMM_BLOCKS * layer)
        python_random.random = lambda: float(random.real())
        python_random.gauss = lambda mean, std: mean + std * (
            sum(float(random.real()) for _ in range(12)) - 6)
        python_random.choice = lambda choices: choices[random.below(2)]
        image = policy.ops[random.below(len(policy.ops))](image)
    return image


def lines(name, policy, images, magnitude=0):
    for (kind, side), count in images.items():
        image = pillow_image(kind, side)
        size = "x".join(map(str, side)) if isinstance(side, tuple) else side
        results = [policy(magnitude, image, position) for position in range(count)]
        assert all(result.size == image.size for result in results)
        yield " ".join([f"{name} {magnitude} {kind} {size}", *(
            f"{fnv1a(result.tobytes()):016x}" for result in results)])


def main():
    versions = f"# torch {torch.__version__}, " \
               f"torchvision {torchvision.__version__}, " \
               f"Pillow {PIL.__version__}, timm {timm.__version__}"
    text = [versions, *lines("trivialaugment", trivial, TRIVIAL)]
    for magnitude in (0, 9, 10, 30):
        text += lines("torchvision_randaugment", randaugment, LAYERED,
                      magnitude)
    for name in ("bilinear", "bicubic"):
        text += lines(f"trivialaugment/{name}", moved_by(name, trivial),
                      FILTERED)
        for magnitude in (9, 30):
            text += lines(f"torchvision_randaugment/{name}",
                          moved_by(name, randaugment), LAYERED, magnitude)
    for magnitude, images in ((6, LAYERED), (7, TIMM)):
        text += lines("timm_randaugment", timm_randaugment, images, magnitude)
    folder = pathlib.Path(__file__).parent
    (folder / "policy_goldens.txt").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
