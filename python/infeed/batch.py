"""Batch: the arrays of a loader's step."""

from __future__ import annotations

import copy
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from infeed import _arguments, _engine
from infeed.geometry import Geometry
from infeed.objects import counts, padded

if TYPE_CHECKING:
    from infeed.fields import Field
    from infeed.frameworks import Converters
    from infeed.loader import Loader


class Batch:
    """Images, labels and weights of one batch, as arrays of the framework.

    images: uint8 [N, H, W, 3] (torch: [N, 3, H, W], channels_last), or with
    layout="words" uint32 [N, H, W] of R << 24 | G << 16 | B << 8. labels: from
    0, int32 (torch: int64). weights: float32, 1, or 0 for a slot to ignore.
    Keep the arrays as long as you like: nothing overwrites them. With several
    views images is a list of their arrays, and labels of pixels are uint8 or int32
    [N, H, W]; with views=() it is None. labels is None with views=(), objects or
    labels of pixels, unless label_key was given, and with fields or several views
    if no record was found to have one.
    """

    __slots__ = ("_loader", "_native", "_rows", "images", "labels", "weights")

    def __init__(self, native: _engine.Batch, loader: Loader) -> None:
        self._native = native
        self._loader = loader
        # By part and key, once asked for.
        self._rows: dict[tuple[str, str], Any] = {}
        convert = loader._convert
        images = [convert.rows(native.images(number)) if view.labels else
                  convert.images(native.images(number))
                  for number, view in enumerate(loader._views)]
        self.images: Any = (images if len(images) > 1 else
                            images[0] if images else None)
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
        return self._native.ids.copy()  # describe() reads the engine's.

    @property
    def positions(self) -> Any:
        """int64 [N]: the samples' positions in the epoch, also of skipped records;
        -1: padding.
        """
        return self._native.positions.copy()

    @property
    def fingerprint(self) -> int:
        """A hash, below 2**64, of what the slots were filled with: records, labels,
        places, windows and draws, and with input_hash="pixels" the pixels.
        """
        return self._native.fingerprint

    def __getitem__(self, field: str) -> Any:
        """A field of the records. With a shape: an array [N, *shape] of the
        framework, or of "bytes" a list. Without one: the values as a NumPy array
        of int64 or float32, or a list of bytes, and [N + 1] where each slot's
        begin. Lists of objects are arrays of the framework; with pad_to=K [N, K],
        padded with -1 (of "bytes" N lists, padded with b"").
        """
        number, kind = self._find(field)
        if kind.is_fixed:
            return self._fixed(field, number)
        values, offsets = self._native.field(number)
        objects = self._loader._objects
        if objects is not None and field in objects.lists:
            values = self._of_boxes(field, values)
            return values if objects.pad_to else (values, self._box_places())
        if kind.shape is None:
            return values, offsets
        if len(values) == len(self):
            return values
        return [values[begin] if begin < end else b""  # of an empty slot
                for begin, end in itertools.pairwise(offsets)]

    def _fixed(self, field: str, number: int) -> Any:
        row = self._rows.get(("field", field))
        if row is None:
            row = self._rows["field", field] = self._convert.rows(
                self._native.fixed(number))
        return row

    def lengths(self, field: str) -> Any:
        """int64 [N]: of a field with pad, the values that are not padding."""
        number, kind = self._find(field)
        if not kind.has_lengths:
            raise KeyError(f"{_arguments.shown(field)} has no lengths: its lists "
                           "are not padded (Field(..., pad=...))")
        return self._row("length", field, lambda: self._convert.rows(
            self._native.lengths(number)))

    @property
    def boxes(self) -> Any:
        """With objects: float32 [M, 4] of x1, y1, x2, y2 in pixels of the images,
        and int64 [N + 1], where each slot's begin. With pad_to=K: [N, K, 4], padded
        with -1, and int64 [N], how many there are. Else None.
        """
        if self._loader._objects is None:
            return None
        return self._of_boxes("", self._native.boxes[0]), self._box_places()

    def _of_boxes(self, key: str, values: Any) -> Any:
        """Values of each box, with pad_to padded. key: "" for the boxes."""
        offsets, most = self._native.boxes[1], self._pad_to

        def make() -> Any:
            if most is None:
                return self._convert.lists(values)
            return self._convert.made(padded(values, offsets, most))
        if isinstance(values, list):
            return values if most is None else padded(values, offsets, most)
        return self._row("object" if key else "boxes", key, make)

    def _box_places(self) -> Any:
        offsets, most = self._native.boxes[1], self._pad_to
        return self._row("boxes", "places", lambda: (
            self._convert.lists(offsets) if most is None
            else self._convert.made(counts(offsets, most))))

    @property
    def _pad_to(self) -> int | None:
        objects = self._loader._objects
        return None if objects is None else objects.pad_to

    def targets(self) -> list[dict[str, Any]]:
        """With objects: a dict for each slot of its "boxes" [n, 4], its "labels"
        [n], and those of Objects.also by their keys; for torchvision's models.
        """
        objects = self._loader._objects
        if objects is None:
            raise ValueError("targets(): the loader has no objects: give "
                             "Loader(..., objects=infeed.Objects(...))")
        if self._loader._arguments[1]["sharding"] is not None:
            raise ValueError("targets() and sharding: batches are global arrays; "
                             "take batch.boxes")
        offsets, most = self._native.boxes[1], objects.pad_to

        def cut(values: Any) -> list[Any]:
            if most is not None:
                return [values[slot][:count] for slot, count in enumerate(
                    counts(offsets, most).tolist())]
            return [values[begin:end]
                    for begin, end in itertools.pairwise(offsets.tolist())]
        parts = {"boxes": cut(self.boxes[0])}
        for key in objects.lists:
            name = "labels" if key == objects.labels else key
            parts[name] = cut(self[key] if most else self[key][0])
        return [dict(zip(parts, slot, strict=True))
                for slot in zip(*parts.values(), strict=True)]

    @property
    def geometry(self) -> list[Geometry]:
        """How the images were made, a Geometry for each view; none without
        images.
        """
        return [Geometry(self._native, view)
                for view in range(len(self._loader._views))]

    def describe(self) -> list[dict[str, Any] | None]:
        """What each slot holds, in plain values, as for JSON; None: an empty slot.

        "shard" and "record": the path, and the number in it; "filename": the
        record's image/filename, or None; "label": from 0, or None. Of the image of
        view 0 "source", "window", "mirrored" and "upside_down" as geometry[0] has
        them, and "augmentations", a text for each operation with its strength, such
        as "Rotate -30", in their order. Reads records, but not image files, again for
        the filename: None where they cannot be read any more.
        """
        loader = self._loader
        loader._check_usable()
        return loader._stream_of_data().describe(self._native)

    @property
    def _convert(self) -> Converters:
        return self._loader._convert

    def _find(self, field: str) -> tuple[int, Field]:
        numbered = self._loader._numbered
        found = numbered.get(field) if isinstance(field, str) else None
        if found is None:
            raise KeyError(f"{_arguments.shown(field)} is none of the loader's "
                           f"fields, {list(self._loader._fields)}")
        return found

    def _row(self, part: str, key: str, make: Callable[[], Any]) -> Any:
        row = self._rows.get((part, key))
        if row is None:
            row = self._rows[part, key] = make()
        return row

    def as_dict(self, *, state: bool = False) -> dict[str, Any]:
        """Names to arrays: images, labels, weights and boxes that there are, each
        field by its key, KEY/length of padded ones, KEY/offsets of those without a
        shape; likewise boxes/length or boxes/offsets. Values of "bytes" are lists.
        Views after the first are images/1, images/2 and so on.
        With state also state_dict().
        """
        named: dict[str, Any] = {}
        for names, take in self._loader._parts():
            if isinstance(names, str):
                named[names] = take(self)
            else:
                named.update(zip(names, take(self), strict=True))
        if state:
            if "state_dict" in named:
                raise _twice("state_dict")
            named["state_dict"] = self.state_dict()
        return named

    def __repr__(self) -> str:
        images = "no images" if self.images is None else "images " + ", ".join(
            f"{view.dtype} {list(view.shape)}" for view in _views(self.images))
        return (f"Batch {self.number:,} of epoch {self.epoch:,}: {images}, "
                f"{int((self._native.weights > 0).sum()):,} of weight 1")

    def state_dict(self) -> dict[str, Any]:
        """The place after this batch, for Loader.load_state_dict()."""
        return self._loader._state_at(self._native.next)

    def to(self, device: Any, non_blocking: bool = False) -> Batch:
        """With framework="torch": the batch with its tensors on the device; fields
        without a shape stay on the host, but boxes and their lists do not.

        Lightning and Accelerate call it.
        """
        if hasattr(device, "is_floating_point"):  # A dtype, or a tensor with one.
            raise TypeError(
                "Batch.to() takes a device, such as \"cuda\", not "
                f"{_arguments.shown(device)}: labels and fields keep their types; "
                "for images take batch.images.to(torch.bfloat16)")
        return self._with(
            lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def _with(self, change: Callable[[Any], Any]) -> Batch:
        """A batch whose tensors are changed."""
        other = copy.copy(self)
        other.images, other.labels, other.weights = (
            None if part is None else [change(view) for view in part]
            if isinstance(part, list) else change(part) for part in self)
        other._rows = {part: change(tensor)
                       for part, tensor in self._all_rows().items()}
        return other

    def _tensors(self) -> list[Any]:
        return [*_views(self.images), *(
            part for part in (self.labels, self.weights) if part is not None),
            *self._all_rows().values()]

    def _all_rows(self) -> dict[tuple[str, str], Any]:
        objects = self._loader._objects
        lists = () if objects is None else objects.lists
        if objects is not None:
            self._of_boxes("", self._native.boxes[0])
            self._box_places()
        for key, kind in self._loader._fields.items():
            if kind.is_fixed or key in lists:
                self[key]
            if kind.has_lengths:
                self.lengths(key)
        return self._rows


Parts = list[tuple["str | tuple[str, str]", Callable[[Batch], Any]]]


def parts_of(loader: Loader) -> Parts:
    """What Batch.as_dict() names, and how each is taken: a name and what it is, or
    two names and the pair. Raises ValueError where two parts have one name.
    """
    parts: Parts = [
        (f"images/{view}" if view else "images", _image(view))
        for view in range(len(loader._views))]
    if loader._has_labels:
        parts.append(("labels", lambda batch: batch.labels))
    parts.append(("weights", lambda batch: batch.weights))
    objects = loader._objects
    if objects is not None:
        second = "boxes/length" if objects.pad_to else "boxes/offsets"
        parts.append((("boxes", second), lambda batch: batch.boxes))
    for key, kind in loader._fields.items():
        parts.append(_part_of(key, kind, loader))
        if kind.has_lengths:
            parts.append((key + "/length",
                          operator.methodcaller("lengths", key)))
    names = [name for found, _ in parts
             for name in ([found] if isinstance(found, str) else found)]
    for name in names:
        if names.count(name) > 1:
            raise _twice(name)
    return parts


def _image(view: int) -> Callable[[Batch], Any]:
    return lambda batch: _views(batch.images)[view]


def _part_of(key: str, kind: Field, loader: Loader) -> tuple[
        str | tuple[str, str], Callable[[Batch], Any]]:
    objects, lists = loader._objects, loader._convert.lists
    if objects is not None and key in objects.lists:
        names = key if objects.pad_to else (key, key + "/offsets")
        return names, lambda batch: batch[key]
    if kind.is_fixed:
        number, _ = loader._numbered[key]
        return key, lambda batch: batch._fixed(key, number)
    if kind.shape is not None:
        return key, lambda batch: batch[key]

    def ragged(batch: Batch) -> tuple[Any, Any]:
        values, offsets = batch[key]
        return (values if isinstance(values, list) else lists(values),
                lists(offsets))
    return (key, key + "/offsets"), ragged


def _twice(name: str) -> ValueError:
    return ValueError(f"as_dict(): two of its parts would be {name!r}: the field "
                      f"has the name of another part; take batch[{name!r}]")


def _views(images: Any) -> list[Any]:
    """The arrays of Batch.images."""
    return ([] if images is None else
            images if isinstance(images, list) else [images])
