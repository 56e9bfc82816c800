"""Writes jitter_goldens.txt, jitter_hue.rgb, blur.rgb and erasing_goldens.txt:
what torchvision's ColorJitter, RandomSolarize, GaussianBlur and RandomErasing
make of images.

README.augment.md has their meaning. Needs torch and torchvision, and nothing
else of this project.
"""

import pathlib

import numpy as np
import torch
import torchvision
from torchvision.transforms import functional, transforms

FOLDER = pathlib.Path(__file__).parent
VERSIONS = f"# torch {torch.__version__}, torchvision {torchvision.__version__}"
FACTORS = [0.0, 0.25, 0.6, 0.9, 1.1, 1.4, 2.0, 3.5]
SIGMAS = [0.1, 0.6, 1.3, 2.0]
TURNS = [-0.5, -0.31, -0.1, 0.02, 0.25, 0.5]


def made_image(name, side):
    """side: of a square, or height and width."""
    height, width = side if isinstance(side, tuple) else (side, side)
    y, x, c = np.indices((height, width, 3))
    i = np.arange(height * width * 3, dtype=np.uint64)
    i = i * 2654435761 & 0xFFFFFFFF
    noise = ((i ^ i >> 15) * 2246822519 & 0xFFFFFFFF) >> 24
    noise = noise.reshape(height, width, 3).astype(int)
    levels = {
        "noise": noise,
        "soft": 40 + (3 * x + 2 * y + 20 * c + noise % 9) % 160,
        "blocks": (x // 8 * 37 + y // 8 * 91 + c * 53) % 256,
        "flat": 60 + 50 * c,
    }[name]
    return torch.from_numpy(levels.astype(np.uint8)).permute(2, 0, 1)


def rgb_bytes(image):
    return image.permute(1, 2, 0).contiguous().numpy().tobytes()


def fnv1a(data):
    """64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def jitter_lines():
    kinds = {"brightness": functional.adjust_brightness,
             "contrast": functional.adjust_contrast,
             "saturation": functional.adjust_saturation}
    for name, side in (("noise", 31), ("soft", 48), ("flat", 24),
                       ("blocks", 224)):
        for kind, adjust in kinds.items():
            for factor in FACTORS:
                # The factor that single precision has.
                factor = float(np.float32(factor))
                result = adjust(made_image(name, side), factor)
                yield f"{name} {side} {kind} {factor} " \
                      f"{fnv1a(rgb_bytes(result)):016x}"
        result = functional.solarize(made_image(name, side), 128)
        yield f"{name} {side} solarize 128 {fnv1a(rgb_bytes(result)):016x}"


def hue_bytes():
    for turn in TURNS:
        for name in ("noise", "soft"):
            yield rgb_bytes(functional.adjust_hue(made_image(name, 32), turn))


def blur_bytes():
    for sigma in SIGMAS:
        for name in ("noise", "soft"):
            yield rgb_bytes(functional.gaussian_blur(made_image(name, 32),
                                                     [23, 23], [sigma]))


class Draws:
    """Stands in for torch's random numbers and writes the reals down."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.reals = []  # in units of 2^-24

    def uniform(self, tensor, low, high):
        real = torch.rand(1, generator=self.generator)
        self.reals.append(int(real * 2**24))
        return tensor.copy_(low + (high - low) * real)


def erased_box(side, draws):
    uniform = torch.Tensor.uniform_
    torch.Tensor.uniform_ = lambda *arguments: draws.uniform(*arguments)
    torch.manual_seed(draws.generator.initial_seed())  # of the place
    try:
        y, x, height, width, _ = transforms.RandomErasing.get_params(
            torch.zeros(3, side, side), (0.02, 0.33), (0.3, 3.3), [0.0])
    finally:
        torch.Tensor.uniform_ = uniform
    assert height < side  # The image itself would mean that nothing fitted.
    return y, x, height, width


def erasing_lines():
    for side in (1, 3, 31, 224):
        for seed in range(40):
            draws = Draws(seed)
            numbers = [side, *erased_box(side, draws), len(draws.reals),
                       *draws.reals]
            yield " ".join(map(str, numbers))


def main():
    def write(name, lines):
        text = "\n".join([VERSIONS, *lines]) + "\n"
        (FOLDER / name).write_text(text)

    write("jitter_goldens.txt", jitter_lines())
    write("erasing_goldens.txt", erasing_lines())
    (FOLDER / "jitter_hue.rgb").write_bytes(b"".join(hue_bytes()))
    (FOLDER / "blur.rgb").write_bytes(b"".join(blur_bytes()))


if __name__ == "__main__":
    main()
