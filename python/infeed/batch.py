"""Batch: the arrays of a loader's step."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from infeed import _arguments, _engine

if TYPE_CHECKING:
    from infeed.fields import Field
    from infeed.loader import Loader


class Batch:
    """Images, labels and weights of one batch, as arrays of the framework.

    images: uint8 [N, H, W, 3] (torch: [N, 3, H, W], channels_last), or with
    layout="words" uint32 [N, H, W] of R << 24 | G << 16 | B << 8. labels: from
    0, int32 (torch: int64). weights: float32, 1, or 0 for a slot to ignore.
    Keep the arrays as long as you like: nothing overwrites them. With views=()
    images is None, and so is labels unless label_key was given.
    """

    __slots__ = ("_loader", "_native", "_rows", "images", "labels", "weights")

    def __init__(self, native: _engine.Batch, loader: Loader) -> None:
        self._native = native
        self._loader = loader
        self._rows: dict[str, Any] = {}  # by the names of as_dict(), once asked for
        convert = loader._convert
        images = native.images
        self.images: Any = None if images is None else convert.images(images)
        self.labels: Any = (convert.labels(native.labels) if loader._has_labels
                            else None)
        self.weights = convert.rows(native.weights)

    def __iter__(self) -> Iterator[Any]:
        """images, labels and weights, also where one of them is None."""
        return iter((self.images, self.labels, self.weights))

    def __len__(self) -> int:
        return len(self._native)

    @property
    def epoch(self) -> int:
        """The epoch that it is of, from 0."""
        return self._native.epoch

    @property
    def number(self) -> int:
        """Its number in the epoch, from 0."""
        return self._native.number

    @property
    def ids(self) -> Any:
        """int64 [N]: numbers of the records in the index; -1: empty slot."""
        return self._native.ids

    @property
    def positions(self) -> Any:
        """int64 [N]: the samples' positions in the epoch; -1: empty slot."""
        return self._native.positions

    def __getitem__(self, field: str) -> Any:
        """A field of the records. With a shape: an array [N, *shape] of the
        framework, or of "bytes" a list. Without one: the values as a NumPy array
        of int64 or float32, or a list of bytes, and [N + 1] where each slot's
        begin.
        """
        number, kind = self._find(field)
        if kind.is_fixed:
            return self._row(field, self._native.fixed, number)
        values, offsets = self._native.field(number)
        if kind.shape is None:
            return values, offsets
        if len(values) == len(self):
            return values
        return [values[begin] if begin < end else b""  # of an empty slot
                for begin, end in itertools.pairwise(offsets)]

    def lengths(self, field: str) -> Any:
        """int64 [N]: of a field with pad, the values that are not padding."""
        number, kind = self._find(field)
        if not kind.has_lengths:
            raise KeyError(f"{_arguments.shown(field)} has no lengths: its lists "
                           "are not padded (Field(..., pad=...))")
        return self._row(field + "/length", self._native.lengths, number)

    def _find(self, field: str) -> tuple[int, Field]:
        fields = self._loader._fields
        names = list(fields)
        if field not in names:
            raise KeyError(f"{_arguments.shown(field)} is none of the loader's "
                           f"fields, {names}")
        return names.index(field), fields[field]

    def _row(self, name: str, read: Callable[[int], Any], number: int) -> Any:
        if name not in self._rows:
            self._rows[name] = self._loader._convert.rows(read(number))
        return self._rows[name]

    def as_dict(self) -> dict[str, Any]:
        """Names to arrays: images, labels and weights that there are, each field
        by its key, KEY/length of padded ones, KEY/offsets of those without a
        shape. Values of "bytes" are lists.
        """
        parts = [(name, part) for name, part in zip(
            ("images", "labels", "weights"), self, strict=True)
            if part is not None]
        for key, kind in self._loader._fields.items():
            if kind.shape is None:
                values, offsets = self[key]
                take = self._loader._convert.lists
                parts += [(key, values if isinstance(values, list) else
                           take(values)), (key + "/offsets", take(offsets))]
            else:
                parts.append((key, self[key]))
            if kind.has_lengths:
                parts.append((key + "/length", self.lengths(key)))
        named = dict(parts)
        if len(named) < len(parts):
            names = [name for name, _ in parts]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"as_dict(): two of its arrays would be {twice!r}: "
                             f"the field has the name of another part; take "
                             f"batch[{twice!r}]")
        return named

    def __repr__(self) -> str:
        images = ("no images" if self.images is None else
                  f"images {self.images.dtype} {list(self.images.shape)}")
        return (f"Batch {self.number:,} of epoch {self.epoch:,}: {images}, "
                f"{int((self._native.weights > 0).sum()):,} of weight 1")

    def state_dict(self) -> dict[str, Any]:
        """The place after this batch, for Loader.load_state_dict()."""
        return self._loader._state_at(self._native.next)

    def to(self, device: Any, non_blocking: bool = False) -> Batch:
        """With framework="torch": the batch with its tensors on the device; what
        has no shape stays on the host.

        Lightning and Accelerate call it.
        """
        return self._with(
            lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def _with(self, change: Callable[[Any], Any]) -> Batch:
        """A batch whose tensors are changed."""
        other = copy.copy(self)
        other.images, other.labels, other.weights = (
            None if tensor is None else change(tensor) for tensor in self)
        other._rows = {name: change(tensor)
                       for name, tensor in self._all_rows().items()}
        return other

    def _tensors(self) -> list[Any]:
        return [*(tensor for tensor in self if tensor is not None),
                *self._all_rows().values()]

    def _all_rows(self) -> dict[str, Any]:
        for key, kind in self._loader._fields.items():
            if kind.is_fixed:
                self[key]
            if kind.has_lengths:
                self.lengths(key)
        return self._rows
