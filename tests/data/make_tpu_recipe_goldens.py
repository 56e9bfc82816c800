"""Writes the goldens of the recipe tpu into tests/data/recipes/.

The crop is TensorFlow's sample_distorted_bounding_box with infeed's draws: a
transcription makes it, which is first compared with TensorFlow's own operation
on TensorFlow's own draws. Decode, resize and flip are TensorFlow's. Wants the
JPEGs of make_torchvision_recipe_goldens.py. README.recipes.md says what the
files are. Needs TensorFlow.
"""

import pathlib

import numpy as np
import tensorflow as tf

from philox import CROP, FLIP, SampleRandom, Words

FOLDER = pathlib.Path(__file__).parent / "recipes"
IMAGES = ["h2v2", "h1v1", "gray"]
SIZE = 32
F = np.float32


class TensorFlowRandom(Words):
    """The draws of an operation with two seeds."""

    def __init__(self, seed, seed2):
        super().__init__((seed, 0), (0, 0, seed2, 0))

    def real(self):
        bits = np.uint32(self.word() & 0x7FFFFF | 0x3F800000)
        return bits.view(F) - F(1)

    def below(self, n):
        if n & (n - 1) == 0:
            return self.word() & (n - 1)
        word = self.word()
        while word < 0xFFFFFFFF % n + 1:
            word = self.word()
        return word % n


def rint(value):
    return int(np.rint(F(value)))


def draw_size(height, width, random):
    """Height and width of one attempt, or None."""
    least, most = (F(part) * F(width) * F(height) for part in (0.08, 1.0))
    low, high = F(3 / 4), F(4 / 3)
    ratio = random.real() * (high - low) + low
    tallest = rint(np.sqrt(most / ratio))
    if rint(F(tallest) * ratio) > width:
        tallest = int((width + 0.5 - float(F(1e-7))) / float(ratio))
        if rint(F(tallest) * ratio) > width:
            tallest -= 1
    tallest = min(tallest, height)
    tall = min(rint(np.sqrt(least / ratio)), tallest)
    if tall < tallest:
        tall += random.below(tallest - tall + 1)
    wide = rint(F(tall) * ratio)
    if tall * wide < least:
        tall += 1
        wide = rint(F(tall) * ratio)
    if tall * wide > most:
        tall -= 1
        wide = rint(F(tall) * ratio)
    fits = (least <= tall * wide <= most and 0 < wide <= width
            and 0 < tall <= height)
    return (tall, wide) if fits else None


def random_crop(height, width, random):
    for _ in range(10):
        size = draw_size(height, width, random)
        if size is None:
            continue
        y = random.below(height - size[0]) if size[0] < height else 0
        x = random.below(width - size[1]) if size[1] < width else 0
        if size[0] * size[1] / (height * width) >= 0.1:
            return y, x, size[0], size[1]
    return 0, 0, height, width


def check_transcription():
    for seed in range(1, 200):
        height, width = 40 + 7 * seed % 300, 50 + 11 * seed % 400
        begin, size, _ = tf.raw_ops.SampleDistortedBoundingBoxV2(
            image_size=[height, width, 3], bounding_boxes=[[[0., 0., 1., 1.]]],
            min_object_covered=0.1, seed=seed, seed2=seed + 1,
            aspect_ratio_range=[3 / 4, 4 / 3], area_range=[0.08, 1.0],
            max_attempts=10, use_image_if_no_bounding_boxes=True)
        theirs = tuple(begin.numpy()[:2]) + tuple(size.numpy()[:2])
        ours = random_crop(height, width, TensorFlowRandom(seed, seed + 1))
        assert theirs == ours, (seed, theirs, ours)


def centre_crop(height, width):
    padding = round(SIZE * (1 / 0.875 - 1))
    side = int(F(SIZE / (SIZE + padding)) * F(min(height, width)))
    return (height - side + 1) // 2, (width - side + 1) // 2, side, side


def pixels_of(jpeg, window, flip):
    image = tf.image.decode_and_crop_jpeg(
        jpeg, window, channels=3, dct_method="INTEGER_ACCURATE")
    resized = tf.raw_ops.ResizeBicubic(
        images=image[tf.newaxis], size=[SIZE, SIZE], align_corners=False,
        half_pixel_centers=False)[0]
    if flip:
        resized = tf.image.flip_left_right(resized)
    levels = np.floor(resized.numpy() + F(0.5))
    return np.clip(levels, 0, 255).astype(np.uint8).tobytes()


def main():
    check_transcription()
    windows = []
    for name in IMAGES:
        jpeg = (FOLDER / f"{name}.jpg").read_bytes()
        height, width, components = map(
            int, tf.io.extract_jpeg_shape(jpeg).numpy())
        pixels = []
        for position in range(6):
            window = random_crop(height, width,
                                 SampleRandom(1, 0, position, CROP))
            if window[2:] == (height, width) and components == 3:
                window = centre_crop(height, width)
            flip = SampleRandom(1, 0, position, FLIP).real() < 0.5
            pixels.append(pixels_of(jpeg, window, flip))
            windows.append((name, position) + window + (int(flip),))
        pixels.append(pixels_of(jpeg, centre_crop(height, width), False))
        (FOLDER / f"{name}_tpu.rgb").write_bytes(b"".join(pixels))
    (FOLDER / "tpu_windows.txt").write_text(
        "".join(" ".join(map(str, line)) + "\n" for line in windows))
    print("TensorFlow", tf.__version__, "NumPy", np.__version__)


if __name__ == "__main__":
    main()
