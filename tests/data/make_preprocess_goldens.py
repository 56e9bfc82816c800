"""Writes tests/data/preprocess/: JPEGs, their pixels and their resized pixels.

Three JPEGs are made here with TensorFlow's encoder; the others, which it
cannot write, lie in the folder already (README.preprocess.md). Needs
TensorFlow, and nothing else of this project.
"""

import pathlib

import numpy as np
import tensorflow as tf

FOLDER = pathlib.Path(__file__).parent / "preprocess"

# name: (resized side, keyword arguments of encode_jpeg or None when it is there)
IMAGES = {
    "rgb444": (64, dict(format="rgb", chroma_downsampling=False, quality=92)),
    "rgb420": (40, dict(format="rgb", quality=92)),
    "gray": (40, dict(format="grayscale", quality=85)),
    "progressive422": (24, None),
    "h1v2": (33, None),
    "cmyk": (40, None),
    "adobe_ycck": (40, None),
}


def photograph(height, width, channels):
    """Soft shapes, an edge and a little grain."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    random = np.random.default_rng(7)
    planes = []
    for c in range(channels):
        plane = 120 + 70 * np.sin(x / (5 + c) + c) * np.cos(y / (7 - c))
        plane += 50 * (x + 2 * y > width + 15 * c)
        planes.append(plane + random.normal(0, 6, plane.shape))
    return np.clip(np.stack(planes, axis=-1), 0, 255).astype(np.uint8)


def to_bytes(levels):
    """Rounds half up and clamps, as the packed pixels are."""
    return np.clip(np.floor(levels + np.float32(0.5)), 0, 255).astype(np.uint8)


def main():
    for name, (side, encoding) in IMAGES.items():
        path = FOLDER / f"{name}.jpg"
        if encoding:
            channels = 1 if name == "gray" else 3
            encoded = tf.io.encode_jpeg(photograph(45, 61, channels), **encoding)
            path.write_bytes(encoded.numpy())
        pixels = tf.io.decode_jpeg(path.read_bytes(), channels=3,
                                   dct_method="INTEGER_ACCURATE")
        (FOLDER / f"{name}.rgb").write_bytes(pixels.numpy().tobytes())
        resized = tf.raw_ops.ResizeBicubic(
            images=pixels[tf.newaxis], size=[side, side],
            align_corners=False, half_pixel_centers=False)
        (FOLDER / f"{name}_resized.rgb").write_bytes(
            to_bytes(resized.numpy()).tobytes())
        print(name, pixels.shape, side)
    print("TensorFlow", tf.__version__, "NumPy", np.__version__)


if __name__ == "__main__":
    main()
