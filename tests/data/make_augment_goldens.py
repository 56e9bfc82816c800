"""Writes augment_goldens.txt: what the operations of RandAugment and
AutoAugment make of made images, computed by TensorFlow's own operations.

Each line is "IMAGE SIDE OPERATION LEVEL SIGN HASH"; README.augment.md has their
meaning. Needs TensorFlow, and nothing else of this project.
"""

import math
import os
import pathlib

# oneDNN's convolution fuses products and sums, which moves levels.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

FILL = 128
PLAIN_LEVELS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 17, 22, 30]


def noise(count):
    """The bytes of the made images: a hash of their index."""
    x = np.arange(count, dtype=np.uint64) * 2654435761 & 0xFFFFFFFF
    return ((x ^ x >> 15) * 2246822519 & 0xFFFFFFFF) >> 24


def made_image(name, side):
    y, x, c = np.indices((side, side, 3))
    grain = noise(side * side * 3).reshape(side, side, 3).astype(int)
    levels = {
        "noise": grain,
        "soft": 40 + (3 * x + 2 * y + 20 * c + grain % 9) % 160,
        "blocks": (x // 8 * 37 + y // 8 * 91 + c * 53) % 256,
        "flat": 60 + 50 * c,
    }[name]
    return tf.constant(levels.astype(np.uint8))


def to_bytes(levels):
    """Clips, then drops the fraction."""
    return tf.cast(tf.clip_by_value(levels, 0.0, 255.0), tf.uint8)


def blend(low, high, factor):
    """low at factor 0, high at 1, and on beyond both."""
    low, high = tf.cast(low, tf.float32), tf.cast(high, tf.float32)
    return to_bytes(low + factor * (high - low))


def each_channel(image, function):
    return tf.stack([function(image[..., c]) for c in range(3)], axis=-1)


def auto_contrast(channel):
    low = tf.cast(tf.reduce_min(channel), tf.float32)
    high = tf.cast(tf.reduce_max(channel), tf.float32)
    if low == high:
        return channel
    scale = 255.0 / (high - low)
    return to_bytes(tf.cast(channel, tf.float32) * scale + -low * scale)


def equalize(channel):
    counts = tf.histogram_fixed_width(tf.cast(channel, tf.int32), [0, 255], 256)
    filled = tf.boolean_mask(counts, counts > 0)
    step = tf.reduce_sum(filled[:-1]) // 255
    if step == 0:
        return channel
    shifted = tf.concat([[0], tf.cumsum(counts)[:-1] + step // 2], axis=0)
    table = tf.concat([[0], shifted[1:] // step], axis=0)
    table = tf.clip_by_value(table, 0, 255)
    return tf.cast(tf.gather(table, tf.cast(channel, tf.int32)), tf.uint8)


def transformed(image, row_x, row_y):
    """The pixel at (x, y) is that of row_x . (x, y, 1), row_y . (x, y, 1)."""
    # A channel of ones tells what came from outside.
    layered = tf.concat([image, tf.ones_like(image[..., :1])], axis=-1)
    transform = tf.stack([*row_x, *row_y, 0.0, 0.0])
    moved = tf.raw_ops.ImageProjectiveTransformV3(
        images=layered[tf.newaxis],
        transforms=tf.cast(transform, tf.float32)[tf.newaxis],
        output_shape=image.shape[:2], fill_value=0.0,
        interpolation="NEAREST", fill_mode="CONSTANT")[0]
    is_outside = moved[..., 3:] == 0
    return tf.where(is_outside, tf.cast(FILL, tf.uint8), moved[..., :3])


def rotate(image, degrees):
    angle = tf.constant(degrees, tf.float32) * (math.pi / 180)
    sine, cosine = tf.sin(angle), tf.cos(angle)
    last_y, last_x = image.shape[0] - 1.0, image.shape[1] - 1.0
    offset_x = (last_x - (cosine * last_x - sine * last_y)) / 2.0
    offset_y = (last_y - (sine * last_x + cosine * last_y)) / 2.0
    return transformed(image, (cosine, -sine, offset_x),
                       (sine, cosine, offset_y))


def posterize(image, bits):
    # TensorFlow itself takes a shift of 8 as one of 7. Beyond 8 bits, which it
    # has no shift for, nothing is taken away.
    shift = tf.cast(max(0, 8 - bits), tf.uint8)
    return tf.bitwise.left_shift(tf.bitwise.right_shift(image, shift), shift)


def solarize(image, threshold):
    # A threshold above 255 does not fit the reference's bytes.
    is_kept = tf.cast(image, tf.int32) < threshold
    return tf.where(is_kept, image, 255 - image)


def solarize_add(image, addition):
    added = tf.clip_by_value(tf.cast(image, tf.int64) + addition, 0, 255)
    return tf.where(image < 128, tf.cast(added, tf.uint8), image)


def color(image, factor):
    gray = tf.image.grayscale_to_rgb(tf.image.rgb_to_grayscale(image))
    return blend(gray, image, factor)


def contrast(image, factor):
    gray = tf.cast(tf.image.rgb_to_grayscale(image), tf.int32)
    counts = tf.histogram_fixed_width(gray, [0, 255], 256)
    mean = tf.reduce_sum(tf.cast(counts, tf.float32)) / 256.0
    return blend(to_bytes(tf.ones_like(image, tf.float32) * mean), image,
                 factor)


def sharpness(image, factor):
    kernel = tf.constant([[1, 1, 1], [1, 5, 1], [1, 1, 1]], tf.float32) / 13.0
    kernel = tf.tile(kernel[..., tf.newaxis, tf.newaxis], [1, 1, 3, 1])
    inner = to_bytes(tf.nn.depthwise_conv2d(
        tf.cast(image, tf.float32)[tf.newaxis], kernel, [1, 1, 1, 1],
        "VALID"))[0]
    border = [[1, 1], [1, 1], [0, 0]]
    is_inner = tf.pad(tf.ones_like(inner), border) == 1
    soft = tf.where(is_inner, tf.pad(inner, border), image)
    return blend(soft, image, factor)


def factor_of(level):
    return level / 10 * 1.8 + 0.1


# Operation: (is signed, its result for an image, a level and a sign).
OPERATIONS = {
    "AutoContrast": (False, lambda i, l, s: each_channel(i, auto_contrast)),
    "Equalize": (False, lambda i, l, s: each_channel(i, equalize)),
    "Invert": (False, lambda i, l, s: 255 - i),
    "Rotate": (True, lambda i, l, s: rotate(i, s * (l / 10 * 30.0))),
    "Posterize": (False, lambda i, l, s: posterize(i, int(l / 10 * 4))),
    "Solarize": (False, lambda i, l, s: solarize(i, int(l / 10 * 256))),
    "SolarizeAdd": (False, lambda i, l, s: solarize_add(i, int(l / 10 * 110))),
    "Color": (False, lambda i, l, s: color(i, factor_of(l))),
    "Contrast": (False, lambda i, l, s: contrast(i, factor_of(l))),
    "Brightness": (False, lambda i, l, s: blend(
        tf.zeros_like(i), i, factor_of(l))),
    "Sharpness": (False, lambda i, l, s: sharpness(i, factor_of(l))),
    "ShearX": (True, lambda i, l, s: transformed(
        i, (1.0, s * (l / 10 * 0.3), 0.0), (0.0, 1.0, 0.0))),
    "ShearY": (True, lambda i, l, s: transformed(
        i, (1.0, 0.0, 0.0), (s * (l / 10 * 0.3), 1.0, 0.0))),
    "TranslateX": (True, lambda i, l, s: transformed(
        i, (1.0, 0.0, s * (l / 10 * 100.0)), (0.0, 1.0, 0.0))),
    "TranslateY": (True, lambda i, l, s: transformed(
        i, (1.0, 0.0, 0.0), (0.0, 1.0, s * (l / 10 * 100.0)))),
}

# Image and side: levels.
IMAGES = {
    ("noise", 31): PLAIN_LEVELS,
    ("soft", 31): PLAIN_LEVELS,
    ("blocks", 48): PLAIN_LEVELS,
    ("flat", 48): [0, 4, 9],
    ("soft", 224): [2, 9],
    ("noise", 260): [3, 9],  # Contrast's constant is clipped from 256 on.
    ("noise", 1): [9],
    ("noise", 2): [9],
}


def fnv1a(data):
    """64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def main():
    lines = [f"# TensorFlow {tf.__version__}, NumPy {np.__version__}"]
    for (name, side), levels in IMAGES.items():
        image = made_image(name, side)
        lines.append(f"{name} {side} Identity 0 1 "
                     f"{fnv1a(image.numpy().tobytes()):016x}")
        for operation, (is_signed, function) in OPERATIONS.items():
            if operation == "Sharpness" and side < 3:
                continue  # TensorFlow has no convolution there.
            for level in levels:
                for sign in (1, -1) if is_signed else (1,):
                    result = function(image, level, sign).numpy()
                    assert result.shape == image.shape
                    lines.append(f"{name} {side} {operation} {level} {sign} "
                                 f"{fnv1a(result.tobytes()):016x}")
    path = pathlib.Path(__file__).parent / "augment_goldens.txt"
    path.write_text("\n".join(lines) + "\n")
    print(len(lines), "lines")


if __name__ == "__main__":
    main()
