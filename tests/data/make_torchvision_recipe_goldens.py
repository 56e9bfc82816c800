"""Writes tests/data/recipes/: what torchvision and Pillow make of images.

torchvision's own transforms run on Pillow images; where they ask PyTorch for
random numbers they get the ones of infeed's streams for the same seed, epoch
and position. README.recipes.md says what the files are. Needs torchvision, and
nothing else of this project.
"""

import io
import pathlib

import numpy as np
import PIL
import torch
import torchvision
from PIL import Image
from torchvision import transforms

from philox import CROP, FLIP, INTERPOLATION, SampleRandom

FOLDER = pathlib.Path(__file__).parent / "recipes"

IMAGES = {  # name: (width, height, channels, Pillow's save options)
    "h2v2": (160, 120, 3, dict(format="JPEG", quality=90, subsampling=2)),
    "h1v1": (97, 131, 3, dict(format="JPEG", quality=90, subsampling=0)),
    "gray": (64, 80, 1, dict(format="JPEG", quality=90)),
}
CROP_SIZES = [(500, 375), (375, 500), (224, 224), (1000, 100), (90, 700),
              (1, 1), (3, 2), (40, 30)]
RESIZES = [(61, 45), (24, 17), (70, 60), (7, 3), (30, 45), (61, 20), (1, 1)]
SIZE = 32
OBLONG = (24, 41)  # height, width


class DrawsFrom:
    """PyTorch's random functions, drawing from a stream instead."""

    def __init__(self, random):
        self.random = random

    def __enter__(self):
        self.kept = torch.Tensor.uniform_, torch.randint, torch.rand
        random = self.random

        def uniform(tensor, low, high):
            # As PyTorch does it, all in float.
            low, high = np.float32(low), np.float32(high)
            return tensor.fill_(float(random.real() * (high - low) + low))

        torch.Tensor.uniform_ = uniform
        torch.randint = lambda low, high, size: torch.tensor(
            [low + random.below(high - low)])
        torch.rand = lambda count: torch.tensor([float(random.real())])

    def __exit__(self, *_):
        torch.Tensor.uniform_, torch.randint, torch.rand = self.kept


class HorizontalFirst:
    """Pillow's resize with the horizontal pass first, as earlier versions do
    it for any size; Pillow 13 has the vertical one first for some sizes, which
    rounds other levels."""

    def __enter__(self):
        self.kept = Image.Image.resize

        def resize(image, size, *options):
            rows = self.kept(image, (size[0], image.height), *options)
            return self.kept(rows, size, *options)

        Image.Image.resize = resize

    def __exit__(self, *_):
        Image.Image.resize = self.kept


def photograph(width, height, channels):
    """Soft shapes, an edge and a little grain."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    random = np.random.default_rng(7)
    planes = []
    for c in range(channels):
        plane = 120 + 70 * np.sin(x / (5 + c) + c) * np.cos(y / (7 - c))
        plane += 50 * (x + 2 * y > width + 15 * c)
        planes.append(plane + random.normal(0, 9, plane.shape))
    pixels = np.clip(np.stack(planes, axis=-1), 0, 255).astype(np.uint8)
    return Image.fromarray(pixels.squeeze())


def write_crops(name, scale, ratio):
    lines = []
    for width, height in CROP_SIZES:
        image = Image.new("RGB", (width, height))
        for position in range(30):
            key = (11, 2, position)
            with DrawsFrom(SampleRandom(*key, CROP)):
                window = transforms.RandomResizedCrop.get_params(
                    image, list(scale), [1 / ratio, ratio])
            lines.append(" ".join(map(str, (width, height) + key + window)))
    (FOLDER / name).write_text("\n".join(lines) + "\n")


def write_resizes():
    pixels = np.frombuffer(
        (FOLDER.parent / "preprocess/rgb444.rgb").read_bytes(),
        np.uint8).reshape(45, 61, 3)
    planes = torch.tensor(pixels).permute(2, 0, 1)[None].double()
    antialias, antialias_bicubic, bilinear = [], [], []
    for width, height in RESIZES:
        antialias.append(Image.fromarray(pixels).resize(
            (width, height), Image.Resampling.BILINEAR).tobytes())
        with HorizontalFirst():
            antialias_bicubic.append(Image.fromarray(pixels).resize(
                (width, height), Image.Resampling.BICUBIC).tobytes())
        levels = torch.nn.functional.interpolate(
            planes, (height, width), mode="bilinear", align_corners=False)
        bilinear.append(torch.floor(levels[0] + 0.5).clamp(0, 255).byte()
                        .permute(1, 2, 0).numpy().tobytes())
    (FOLDER / "resize_antialias.rgb").write_bytes(b"".join(antialias))
    (FOLDER / "resize_antialias_bicubic.rgb").write_bytes(
        b"".join(antialias_bicubic))
    (FOLDER / "resize_bilinear.rgb").write_bytes(b"".join(bilinear))


def write_images():
    for name, (width, height, channels, options) in IMAGES.items():
        encoded = io.BytesIO()
        photograph(width, height, channels).save(encoded, **options)
        (FOLDER / f"{name}.jpg").write_bytes(encoded.getvalue())


def cropped_and_flipped(image, crop, position):
    with DrawsFrom(SampleRandom(1, 0, position, CROP)):
        cropped = crop(image)
    with DrawsFrom(SampleRandom(1, 0, position, FLIP)):
        return transforms.RandomHorizontalFlip()(cropped).tobytes()


def write_training(name, image):
    crop = transforms.RandomResizedCrop(SIZE)
    pixels = [cropped_and_flipped(image, crop, position)
              for position in range(6)]
    (FOLDER / f"{name}_torchvision_train.rgb").write_bytes(b"".join(pixels))


def write_evaluation(name, image):
    sizes = [(SIZE, 37), (56, 64)]
    if name == "h1v1":  # One side gets larger.
        sizes.append((91, 104))
    pixels = []
    for size, shorter_side in sizes:
        evaluation = transforms.Compose([transforms.Resize(shorter_side),
                                         transforms.CenterCrop(size)])
        pixels.append(evaluation(image).tobytes())
    (FOLDER / f"{name}_torchvision_eval.rgb").write_bytes(b"".join(pixels))


def write_random_interpolation(name, image):
    """timm's RandomResizedCropAndInterpolation("random"), and evaluation."""
    pixels = []
    modes = (transforms.InterpolationMode.BILINEAR,
             transforms.InterpolationMode.BICUBIC)
    for position in range(6):
        mode = modes[SampleRandom(1, 0, position, INTERPOLATION).below(2)]
        crop = transforms.RandomResizedCrop(SIZE, interpolation=mode)
        pixels.append(cropped_and_flipped(image, crop, position))
    resized = transforms.Resize(37, interpolation=modes[1])(image)
    pixels.append(transforms.CenterCrop(SIZE)(resized).tobytes())
    (FOLDER / f"{name}_random_interpolation.rgb").write_bytes(b"".join(pixels))


def write_ten_crops(name, image):
    """Of an odd margin too, of which the centre crop's two halves differ."""
    pixels = []
    for size in (SIZE, SIZE - 1):
        crops = transforms.TenCrop(size)(transforms.Resize(37)(image))
        pixels += [crop.tobytes() for crop in crops]
    (FOLDER / f"{name}_torchvision_ten.rgb").write_bytes(b"".join(pixels))


def write_oblong(name, image):
    """Outputs that are not square; CenterCrop pads an image that is narrower.
    """
    crop = transforms.RandomResizedCrop(OBLONG)
    pixels = [cropped_and_flipped(image, crop, position)
              for position in range(4)]
    for shorter_side in (24, 37, 50):
        resized = transforms.Resize(shorter_side)(image)
        for size in (OBLONG, OBLONG[::-1]):
            pixels.append(transforms.CenterCrop(size)(resized).tobytes())
    pixels += [crop.tobytes() for crop in transforms.TenCrop(OBLONG)(resized)]
    (FOLDER / f"{name}_torchvision_oblong.rgb").write_bytes(b"".join(pixels))


def write_cifar():
    image = Image.open(FOLDER / "h1v1.jpg").crop((20, 30, 20 + SIZE, 30 + SIZE))
    image.save(FOLDER / "cifar.png")
    crop = transforms.RandomCrop(SIZE, padding=4)
    pixels = [cropped_and_flipped(image, crop, position)
              for position in range(6)]
    (FOLDER / "cifar_train.rgb").write_bytes(b"".join(pixels))


def main():
    FOLDER.mkdir(exist_ok=True)
    write_crops("torchvision_crops.txt", (0.08, 1.0), 4.0 / 3.0)
    write_crops("torchvision_bounded_crops.txt", (0.35, 1.0), 1.5)
    write_crops("torchvision_small_crops.txt", (0.05, 0.4), 4.0 / 3.0)
    write_crops("torchvision_large_crops.txt", (0.4, 1.0), 4.0 / 3.0)
    write_resizes()
    write_images()
    for name in IMAGES:
        image = Image.open(FOLDER / f"{name}.jpg").convert("RGB")
        write_training(name, image)
        write_evaluation(name, image)
        write_ten_crops(name, image)
        with HorizontalFirst():
            write_oblong(name, image)
            write_random_interpolation(name, image)
    write_cifar()
    print("torch", torch.__version__, "torchvision", torchvision.__version__,
          "Pillow", PIL.__version__, "NumPy", np.__version__)


if __name__ == "__main__":
    main()
