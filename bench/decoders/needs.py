"""What pip installs for each decoder; see environments.py of bench/peers."""

from environments import NEEDS, Need

# Resizes what libraries without a resize of their own decode.
OPENCV = "opencv-python-headless"


def beside(module, *packages):
    """In one environment with the others, of which none excludes another."""
    return Need("decoders", module, ([*packages, OPENCV, "numpy"],))


DECODER_NEEDS = {
    "infeed": beside("numpy"),
    "opencv": beside("cv2"),
    "simplejpeg": beside("simplejpeg", "simplejpeg"),
    "imagecodecs": beside("imagecodecs", "imagecodecs"),
    # As of 2.0 it needs libjpeg-turbo 3, which Debian 12 has not.
    "turbojpeg": beside("turbojpeg", "PyTurboJPEG<2"),
    "jpeg4py": beside("jpeg4py", "jpeg4py"),
    "jpegli": beside("ajpegli", "ajpegli"),
    "kornia": beside("kornia_rs", "kornia-rs"),
    "pillow": beside("PIL", "pillow"),
    "vips": beside("pyvips", "pyvips", "pyvips-binary"),
    # Has Pillow's module; pip compiles it.
    "pillow_simd": Need("pillow_simd", "PIL", (["numpy", "pillow-simd"],)),
    "torchvision": NEEDS["torch"],
    "tensorflow": NEEDS["tf"],
}
