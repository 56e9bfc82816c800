"""Objects: boxes of the records, which follow their images."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from infeed import _arguments, _engine
from infeed._errors import DataError
from infeed.fields import Field
from infeed.index import Index
from infeed.records import Records

Format = Literal["xyxy", "yxyx", "xywh", "cxcywh"]
Keep = Literal["area", "centre"]
Spec = tuple[tuple[str, ...], str, bool, tuple[str, ...], float, float, float, str]

_FORMATS = ("xyxy", "yxyx", "xywh", "cxcywh")
_KEEPS = ("area", "centre")
_PRESETS = ("infeed", "tf", "tfds")
_MOST = 2**20  # of a box's side or area, pixels
_MOST_BOXES = 2**16


@dataclasses.dataclass(frozen=True, init=False)
class Objects:
    """Boxes of each record, which follow its image: batch.boxes, batch.targets().

    keys: "infeed", as imagenet_to_records writes them: pixels, with the bits of
    the annotations; "tf", the keys of TensorFlow's Object Detection API; "tfds",
    those of TensorFlow Datasets; or a record's own keys of lists of floats: one with
    all numbers of one box after the other, or one for each of the four numbers, in
    the order of the format. format: "xyxy", the default, "yxyx", "xywh" or "cxcywh",
    whose c is the centre. normalised: parts of the image's sides, not pixels. The
    presets have a format of their own. A record without the keys has no boxes.

    labels: the key of a list with one value for each box. also: keys of further
    ones. batch[key] has those of the boxes that are left. Keys that are no known
    ones of TensorFlow's need a type: give them among the loader's fields, too.

    Boxes are left out whose width or height in the output is below min_size, or
    whose area is below min_area, in pixels; which were cut at their image, and of
    which a smaller part than min_visible is in the output, or with keep="centre"
    not the centre. pad_to: batches have so many boxes for each image, filled up
    with -1; of an image with more the first are kept.
    """

    boxes: tuple[str, ...]
    format: Format
    normalised: bool
    labels: str | None
    also: tuple[str, ...]
    min_size: float
    min_area: float
    min_visible: float
    keep: Keep
    pad_to: int | None

    def __init__(self, keys: str | Sequence[str], *, format: Format | None = None,
                 normalised: bool | None = None, labels: str | None = None,
                 also: Sequence[str] = (), min_size: float = 1,
                 min_area: float = 1, min_visible: float = 0,
                 keep: Keep = "area", pad_to: int | None = None) -> None:
        check, put = _arguments, object.__setattr__
        if isinstance(keys, str) and keys in _PRESETS:
            for name, value in (("format", format), ("normalised", normalised)):
                if value is not None:
                    raise ValueError(f"{name}={check.shown(value)}: "
                                     f"Objects({keys!r}) has its own")
            boxes, own, normalised, label = _engine.objects_preset(keys)
            put(self, "boxes", tuple(boxes))
            put(self, "format", own)
            labels = label if labels is None else labels
        else:
            put(self, "boxes", _texts("keys", [keys] if isinstance(keys, str)
                                      else keys))
            put(self, "format", check.choice(
                "format", "xyxy" if format is None else format, _FORMATS))
        put(self, "normalised",
            normalised is not None and check.truth("normalised", normalised))
        put(self, "labels", None if labels is None else
            check.text("labels", labels))
        put(self, "also", _texts("also", also))
        put(self, "min_size", _number("min_size", min_size, _MOST))
        put(self, "min_area", _number("min_area", min_area, _MOST))
        put(self, "min_visible", _number("min_visible", min_visible, 1))
        put(self, "keep", check.choice("keep", keep, _KEEPS))
        put(self, "pad_to", None if pad_to is None else
            check.whole("pad_to", pad_to, 1, _MOST_BOXES))
        self._check()

    def _check(self) -> None:
        if len(self.boxes) not in (1, 4):
            raise ValueError(f"keys={_arguments.shown(self.boxes)}: boxes have 1 "
                             f"key or 4, not {len(self.boxes)}")
        keys = [*self.boxes, *self.lists]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"Objects: the key {_arguments.shown(key)} is "
                                 "given twice")

    @property
    def lists(self) -> tuple[str, ...]:
        """The keys of lists with one value for each box, the labels first."""
        return (*(() if self.labels is None else (self.labels,)), *self.also)

    def _fields(self, given: Mapping[str, Field]) -> dict[str, Field]:
        """The given fields, and the lists that are not among them."""
        fields = dict(given)
        for key in self.lists:
            if key not in fields:
                kind: Any = _engine.object_list_type(key)
                fields[key] = Field(kind)
        return fields

    def _note_on_none(self, index: Index, ids: Sequence[int]) -> str:
        """A warning about images without boxes of these records; "": they have none.
        """
        records = Records(index)
        try:
            count = sum(bool(records.parse(record).get(self.boxes[0]))
                        for record in ids)
        except (OSError, DataError):  # Reading batches reports it.
            return ""
        if not count:
            return ""
        return (f"objects: none of the first {len(ids)} images has a box, and "
                f"{count} of their records have some: all are outside of the "
                "images, or below min_size or min_area; are they in another format, "
                f"or {'pixels' if self.normalised else 'parts of the sides'} "
                f"(normalised={not self.normalised})?")

    def _spec(self) -> Spec:
        """What the engine takes."""
        return (self.boxes, self.format, self.normalised, self.lists,
                self.min_size, self.min_area, self.min_visible, self.keep)


def checked(value: Any) -> Objects | None:
    """The objects of a loader's argument."""
    if value is not None and not isinstance(value, Objects):
        raise _arguments.wrong("objects", value, 'infeed.Objects("tf"), or None')
    return value


def counts(offsets: Any, length: int) -> np.ndarray[Any, Any]:
    """The numbers of values that padded() keeps of each slot."""
    return np.asarray(np.minimum(np.diff(offsets), length))


def padded(values: Any, offsets: Any, length: int) -> Any:
    """[N, length, ...]: each slot's first values, then -1; of bytes, b""."""
    kept = counts(offsets, length)
    if isinstance(values, list):
        return [values[begin:begin + count] + [b""] * (length - count)
                for begin, count in zip(offsets.tolist(), kept.tolist(),
                                        strict=False)]
    rows = np.full((len(kept), length, *values.shape[1:]), -1, values.dtype)
    places = np.arange(length)
    is_value = places < kept[:, None]
    rows[is_value] = values[(offsets[:-1, None] + places)[is_value]]
    return rows


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, (str, bytes, Mapping)):
        raise _arguments.wrong(name, value, "a list of keys")
    try:
        keys = tuple(value)
    except Exception:
        raise _arguments.wrong(name, value, "a list of keys") from None
    return tuple(_arguments.text(f"{name}: a key", key) for key in keys)


def _number(name: str, value: Any, most: int) -> float:
    number = _arguments.real(name, value)
    if not 0 <= number <= most:
        raise ValueError(f"{name}={_arguments.shown(value)}: must be from 0 to "
                         f"{most}")
    return number
