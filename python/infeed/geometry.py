"""Geometry: how the images of a batch were made."""

from __future__ import annotations

from typing import Any

import numpy as np

from infeed import _engine


class Geometry:
    """How each slot's image was cut out of its record's, as NumPy arrays: the
    window was resized, the output was cut out of the result, then mirrored.

    source: int32 [N, 2], height and width of the records' images. window: int32
    [N, 4], y, x, height, width in them. resized: int32 [N, 2], the window's height
    and width after the resize. origin: int32 [N, 2], y and x of the output in it;
    below 0 the window begins after a margin. mirrored, upside_down: bool [N].
    Empty slots have zeros.
    """

    __slots__ = ("_matrix", "mirrored", "origin", "resized", "source",
                 "upside_down", "window")

    def __init__(self, native: _engine.Batch, view: int) -> None:
        rows: np.ndarray[Any, Any] = native.geometry(view)
        self._matrix: np.ndarray[Any, Any] = native.matrices(view)
        self.source = rows[:, :2]
        self.window = rows[:, 2:6]
        self.resized = rows[:, 6:8]
        self.origin = rows[:, 8:10]
        self.mirrored = rows[:, 10] != 0
        self.upside_down = rows[:, 11] != 0

    def __len__(self) -> int:
        return len(self.source)

    def matrix(self) -> np.ndarray[Any, Any]:
        """float64 [N, 2, 3]: maps x, y, 1 in the source to x, y in the output. The
        middle of a source's first pixel is at (0.5, 0.5).
        """
        return self._matrix

    def points(self, xy: Any, slots: Any) -> np.ndarray[Any, Any]:
        """float64 [M, 2]: points [M, 2] of the sources, in the outputs. slots: the
        slot of each, or one for all.
        """
        matrix = self._matrix[slots]
        moved = matrix[..., :2] @ np.asarray(xy, np.float64)[..., None]
        return np.asarray(moved[..., 0] + matrix[..., 2])
