"""Field: how a batch carries a feature of the records."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from infeed import _arguments

Kind = Literal["int64", "float32", "bytes"]
Type = Literal["int64", "int32", "int16", "int8", "uint16", "uint8", "bool",
               "float32", "float64", "float16", "bytes"]
Spec = tuple[str, "tuple[int, ...] | None", bytes, "bytes | None", bool]

_KINDS = ("int64", "float32", "bytes")
_TYPES = ("int64", "int32", "int16", "int8", "uint16", "uint8", "bool",
          "float32", "float64", "float16", "bytes")
_MOST_VALUES = 2**28


@dataclasses.dataclass(frozen=True, init=False)
class Field:
    """A feature of the records, as batch[key] has it.

    Without a shape: a list of any length of "int64", "float32" or "bytes", as
    values and offsets. With a shape, an int or a tuple, each record must have as
    many values, and batch[key] is an array [N, *shape] of the type: an integer
    type or "bool" for lists of integers (a value that it cannot hold makes the
    record bad), "float32" for lists of floats. () is one value a record; of
    "bytes" it is the only shape, and batch[key] a list of N bytes.

    pad: a value that fills up shorter lists, and longer ones are cut;
    batch.lengths(key) are the numbers of values kept. absent: the value, or an
    array of the shape, for records without the key or its list. raw: the feature
    is one bytes value with all items, little-endian and row-major, of any of the
    types.
    """

    type: Type
    shape: tuple[int, ...] | None
    pad: Any
    absent: Any
    raw: bool

    def __init__(self, type: Type, shape: int | Sequence[int] | None = None, *,
                 pad: Any = None, absent: Any = None, raw: bool = False) -> None:
        keep = object.__setattr__
        keep(self, "type", _arguments.choice("type", type, _TYPES))
        keep(self, "shape", None if shape is None else _shape(shape))
        keep(self, "pad", pad)
        keep(self, "absent", absent)
        keep(self, "raw", _arguments.truth("raw", raw))
        self._check()
        # Immutable values, so that fields can be compared and hashed.
        if pad is not None:
            keep(self, "pad", self._value("pad", pad, ()))
        if absent is not None:
            keep(self, "absent", self._value("absent", absent, self.shape or ()))

    def _check(self) -> None:
        wrong = None
        if self.shape is None:
            if self.raw or self.pad is not None or self.absent is not None:
                wrong = "raw, pad and absent need a shape"
            elif self.type not in _KINDS:
                wrong = f"without a shape the type is one of {', '.join(_KINDS)}"
        elif self.type == "bytes":
            if self.shape != ():
                wrong = "the only shape of bytes is ()"
            elif self.raw or self.pad is not None:
                wrong = "bytes have no pad, and raw needs the type of the items"
        elif self.raw and self.pad is not None:
            wrong = "raw values have no pad"
        elif not self.raw and self.type in ("float64", "float16"):
            wrong = "records have these only as raw values: give raw=True"
        if wrong:
            raise ValueError(f"{self._name}: {wrong}")

    @property
    def _name(self) -> str:
        shape = "" if self.shape is None else f", {self.shape}"
        return f"Field({self.type!r}{shape})"

    def _value(self, name: str, value: Any, shape: tuple[int, ...]) -> Any:
        """The value, or nested tuples of values of this shape."""
        title = f"{self._name}: {name}"
        if self.type == "bytes":
            return _arguments.octets(title, value)
        array = _arguments.array(title, value, "a number, or an array of them")
        if array.shape not in ((), shape):
            raise ValueError(f"{title} has the shape {array.shape}: give one value"
                             + (f", or an array of {shape}" if shape else ""))
        return _frozen(array.tolist(), lambda item: self._item(title, item))

    def _item(self, title: str, item: Any) -> Any:
        dtype = np.dtype(self.type)
        if dtype.kind == "b":
            return item if isinstance(item, bool) else bool(
                _arguments.whole(title, item, 0, 1))
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            number = _arguments.whole(title, item)
            if not limits.min <= number <= limits.max:
                raise _cannot_hold(title, item, self.type)
            return number
        real = _arguments.real(title, item)
        with np.errstate(over="ignore"):
            if np.isinf(dtype.type(real)) and not math.isinf(real):
                raise _cannot_hold(title, item, self.type)
        return real

    @property
    def is_fixed(self) -> bool:
        """Whether batch[key] is an array [N, *shape]."""
        return self.shape is not None and self.type != "bytes"

    @property
    def has_lengths(self) -> bool:
        """Whether batches have lengths of it."""
        return self.pad is not None

    def _spec(self) -> Spec:
        """What the engine takes."""
        absent = self.absent
        if absent is not None and self.type != "bytes":
            absent = np.full(self.shape or (), absent, self._stored).tobytes()
        pad = b"" if self.pad is None else np.array(
            self.pad, self._stored).tobytes()
        return self.type, self.shape, pad, absent, self.raw

    @property
    def _stored(self) -> np.dtype[Any]:
        return np.dtype(self.type).newbyteorder("<")


def _shape(value: Any) -> tuple[int, ...]:
    name, what = "shape", "an integer, or a tuple of integers"
    if hasattr(value, "__index__") and np.ndim(value) == 0:
        value = (value,)
    if isinstance(value, (str, bytes, bytearray, memoryview, Mapping)):
        raise _arguments.wrong(name, value, what)
    try:
        sides = tuple(value)
    except Exception:
        raise _arguments.wrong(name, value, what) from None
    sides = tuple(_arguments.whole(name, side, 1) for side in sides)
    if math.prod(sides) > _MOST_VALUES:
        raise ValueError(f"shape={_arguments.shown(sides)}: has more than 2^28 "
                         "values")
    return sides


def _cannot_hold(title: str, item: Any, kind: str) -> ValueError:
    return ValueError(f"{title}={_arguments.shown(item)}: does not fit into {kind}")


def _frozen(value: Any, item: Callable[[Any], Any]) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(part, item) for part in value)
    return item(value)


def named(value: Any) -> dict[str, Field]:
    """The fields of a loader's argument, where a text stands for a list."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _arguments.wrong(
            "fields", value, 'a dict such as {"image/filename": "bytes"}')
    fields = {}
    for key, field in value.items():
        key = _arguments.text("fields: a key", key)
        title = f"fields[{_arguments.shown(key)}]"
        if not isinstance(field, (Field, str)):
            raise _arguments.wrong(title, field,
                                   f"{', '.join(_KINDS)}, or an infeed.Field")
        fields[key] = field if isinstance(field, Field) else Field(
            _arguments.choice(title, field, _KINDS))  # type: ignore[arg-type]
    return fields
