"""The decoders that are compared: how each makes pixels of a JPEG, as its users
do, with the fastest of its calls that gives libjpeg's default quality.

A decoder is whole(data), RGB uint8 [height, width, 3] as a NumPy array, and
crop(data, window), a window (y, x, height, width) resized to SIDE x SIDE, which
may be of its library's own type. Nothing is imported before open_*() is called.
"""

import io
import sys
from typing import Callable, NamedTuple

import peer

SIDE = peer.SIDE
OURS = "infeed"


class Opened(NamedTuple):
    whole: Callable
    crop: Callable
    version: str
    simd: str = "–"  # ours; the others choose their own


class Decoder(NamedTuple):
    name: str
    need: str  # of environments.py
    crop: str  # what crop() does
    open: Callable


def installed(package):
    from importlib import metadata
    return metadata.version(package)


def cut(image, window):
    y, x, height, width = window
    return image[y:y + height, x:x + width]


def then_opencv(whole):
    """For libraries without a resize of their own."""
    import cv2
    cv2.setNumThreads(1)
    return lambda data, window: cv2.resize(
        cut(whole(data), window), (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)


def open_infeed(target="", interpolation="antialias"):
    infeed = peer.package()
    best = infeed._engine.simd_targets()[0]
    if target == best:
        sys.exit(f"{best} is the best of this CPU: the row {OURS}")
    infeed._engine.use_simd_target(target)
    return Opened(infeed.decode_image,
                  lambda data, window: infeed.decode_image(
                      data, window, SIDE, interpolation),
                  infeed.__version__, target or best)


def open_opencv():
    import cv2
    import numpy as np

    def whole(data):
        return cv2.imdecode(np.frombuffer(data, np.uint8),
                            cv2.IMREAD_COLOR_RGB)
    return Opened(whole, then_opencv(whole), cv2.__version__)


def open_simplejpeg():
    import simplejpeg
    whole = simplejpeg.decode_jpeg
    return Opened(whole, then_opencv(whole), installed("simplejpeg"))


def open_imagecodecs():
    import imagecodecs

    def whole(data):
        return imagecodecs.jpeg_decode(data, outcolorspace="RGB")
    return Opened(whole, then_opencv(whole), imagecodecs.__version__)


def open_turbojpeg():
    import turbojpeg
    codec = turbojpeg.TurboJPEG()

    def whole(data):
        return codec.decode(data, pixel_format=turbojpeg.TJPF_RGB)
    return Opened(whole, then_opencv(whole), installed("PyTurboJPEG"))


def open_jpeg4py():
    import jpeg4py
    import numpy as np

    def whole(data):
        return jpeg4py.JPEG(np.frombuffer(data, np.uint8)).decode()
    return Opened(whole, then_opencv(whole), installed("jpeg4py"))


def open_jpegli():
    import ajpegli
    whole = ajpegli.imdecode
    return Opened(whole, then_opencv(whole), ajpegli.__version__)


def open_kornia(decode):
    import kornia_rs
    import numpy as np
    whole = getattr(kornia_rs.io, decode)
    if decode == "decode_image_jpegturbo":
        turbo = whole

        def whole(data):
            return turbo(data, "rgb")

    def crop(data, window):
        image = np.ascontiguousarray(cut(whole(data), window))
        return kornia_rs.imgproc.resize(image, (SIDE, SIDE), "bilinear")
    return Opened(whole, crop, kornia_rs.__version__)


def open_pillow():
    import numpy as np
    import PIL.Image

    def image(data):
        return PIL.Image.open(io.BytesIO(data)).convert("RGB")

    def crop(data, window):
        y, x, height, width = window
        return np.asarray(image(data).resize(
            (SIDE, SIDE), PIL.Image.Resampling.BILINEAR,
            box=(x, y, x + width, y + height)))
    return Opened(lambda data: np.asarray(image(data)), crop, PIL.__version__)


def open_vips():
    import pyvips

    def image(data):
        return pyvips.Image.new_from_buffer(
            data, "", access="sequential").colourspace("srgb")

    def crop(data, window):
        y, x, height, width = window
        return image(data).crop(x, y, width, height).thumbnail_image(
            SIDE, height=SIDE, size="force").numpy()
    return Opened(lambda data: image(data).numpy(), crop,
                  f"{installed('pyvips')}, libvips {pyvips.version(0)}."
                  f"{pyvips.version(1)}.{pyvips.version(2)}")


def open_torchvision():
    import warnings

    import torch
    import torchvision
    from torchvision.transforms.v2 import functional
    torch.set_num_threads(1)
    # The bytes cannot be written to, and are not.
    warnings.filterwarnings("ignore", message="The given buffer is not writable")

    def image(data):
        return torchvision.io.decode_jpeg(
            torch.frombuffer(data, dtype=torch.uint8),
            mode=torchvision.io.ImageReadMode.RGB)
    return Opened(
        lambda data: image(data).permute(1, 2, 0).numpy(),
        lambda data, window: functional.resized_crop(
            image(data), *window, size=[SIDE, SIDE], antialias=True),
        torchvision.__version__)


def open_tensorflow():
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    def crop(data, window):
        image = tf.io.decode_and_crop_jpeg(data, window, channels=3)
        return tf.cast(tf.image.resize(image, (SIDE, SIDE)), tf.uint8).numpy()
    return Opened(lambda data: tf.io.decode_jpeg(data, channels=3).numpy(),
                  crop, tf.__version__)


ANTIALIASED = "window only, antialiased bilinear"
PLAIN = "window only, own bilinear"
BY_OPENCV = "whole image, OpenCV's bilinear"
OWN = "whole image, own bilinear"

DECODERS = [
    Decoder(OURS, "infeed", ANTIALIASED, open_infeed),
    Decoder(f"{OURS}, bilinear", "infeed", PLAIN,
            lambda: open_infeed(interpolation="bilinear")),
    Decoder(f"{OURS}, AVX2", "infeed", ANTIALIASED,
            lambda: open_infeed("AVX2")),
    Decoder(f"{OURS}, AVX2, bilinear", "infeed", PLAIN,
            lambda: open_infeed("AVX2", "bilinear")),
    Decoder("simplejpeg", "simplejpeg", BY_OPENCV, open_simplejpeg),
    Decoder("imagecodecs", "imagecodecs", BY_OPENCV, open_imagecodecs),
    Decoder("PyTurboJPEG", "turbojpeg", BY_OPENCV, open_turbojpeg),
    Decoder("jpeg4py", "jpeg4py", BY_OPENCV, open_jpeg4py),
    Decoder("ajpegli (jpegli)", "jpegli", BY_OPENCV, open_jpegli),
    Decoder("OpenCV", "opencv", OWN, open_opencv),
    Decoder("kornia-rs", "kornia", OWN,
            lambda: open_kornia("decode_image_jpeg")),
    Decoder("kornia-rs, jpegturbo", "kornia", OWN,
            lambda: open_kornia("decode_image_jpegturbo")),
    Decoder("Pillow", "pillow", "whole image, own antialiased bilinear",
            open_pillow),
    Decoder("Pillow-SIMD", "pillow_simd",
            "whole image, own antialiased bilinear", open_pillow),
    Decoder("torchvision", "torchvision",
            "whole image, own antialiased bilinear", open_torchvision),
    Decoder("pyvips", "vips", "rows to the window's end, shrunk on them",
            open_vips),
    Decoder("TensorFlow", "tensorflow", "window only, own bilinear",
            open_tensorflow),
]


def named(name):
    found = [decoder for decoder in DECODERS if decoder.name == name]
    return found[0] if found else sys.exit(f"no decoder '{name}'")
