"""Single images, for Datasets of one's own."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from infeed import _arguments, _engine


def decode_image(data: bytes | bytearray | memoryview,
                 window: tuple[int, int, int, int] | None = None,
                 size: int | tuple[int, int] | None = None,
                 interpolation: Literal["bicubic", "bilinear", "antialias",
                                        "antialias_bicubic"] = "antialias",
                 ) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Decodes a JPEG, PNG or WebP to uint8 [H, W, 3], RGB.

    window: (y, x, height, width), the only part that is decoded. size: (height,
    width), or an int for both, to which that part is resized. interpolation: as
    the option of loaders; "antialias" is what the recipe torchvision does.
    Threads may decode at once.
    """
    part = None
    if window is not None:
        try:
            sides = [_arguments.whole("window", side, 0, 2**31 - 1)
                     for side in window]
        except TypeError:
            sides = []
        if len(sides) != 4:
            raise _arguments.wrong("window", window, "(y, x, height, width)")
        part = sides[0], sides[1], sides[2], sides[3]
    if size is not None:
        given = _arguments.side_lengths("size", size)
        if isinstance(given, str):
            raise _arguments.wrong("size", size, "an integer, or (height, width)")
        for side in (given,) if isinstance(given, int) else given:
            _arguments.whole("size", side, 1, 1 << 14)
        size = given
    return _engine.decode_image(_arguments.octets("data", data), part, size,
                                _arguments.text("interpolation", interpolation))
