"""Arguments of users: of the right kind, or an error that names them."""

from __future__ import annotations

import difflib
import functools
import math
import operator
import os
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from infeed import _engine

_BOOLS = (bool, np.bool_)
_MOST_INTEGER = 2**64

# Names that may have two values, and the options that these are.
_PAIRS = {"crop_scale": ("crop_scale", "crop_scale_max"),
          "scale_jitter": ("scale_jitter_min", "scale_jitter_max")}

# Options that do nothing unless another one has one of these values; none: unless
# one of the others is above 0.
_NEEDS: dict[str, tuple[list[str], list[str]]] = {
    row["name"]: (row["needs"].split("|"),
                  [value for value in row["needs_values"].split("|") if value])
    for row in _engine.option_table() if row["needs"]}


def shown(value: object) -> str:
    """A short text of any value; never raises."""
    try:
        return reprlib.repr(value)
    except Exception:
        return f"a {type(value).__name__}"


def wrong(name: str, value: object, what: str) -> TypeError:
    """The error that the value is of the wrong kind."""
    return TypeError(f"{name}={shown(value)}: must be {what}")


def truth(name: str, value: object) -> bool:
    """True or False; a text such as "no" is neither."""
    if not isinstance(value, _BOOLS):
        raise wrong(name, value, "True or False")
    return bool(value)


def whole(name: str, value: Any, least: int = -_MOST_INTEGER,
          most: int = _MOST_INTEGER) -> int:
    """An int, or a NumPy integer, from least to most."""
    if isinstance(value, _BOOLS):
        raise wrong(name, value, "an integer")
    try:
        number = operator.index(value)
    except TypeError:
        raise wrong(name, value, "an integer") from None
    if number < least:
        raise ValueError(f"{name}={shown(value)}: must be at least {least}")
    if number > most:
        raise ValueError(f"{name}={shown(value)}: must be at most {most}")
    return number


def real(name: str, value: Any) -> float:
    """A float, an int, or NumPy's."""
    if isinstance(value, (*_BOOLS, str, bytes, bytearray)):
        raise wrong(name, value, "a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name}={shown(value)}: is too large") from None
    except (TypeError, ValueError):
        raise wrong(name, value, "a number") from None


def text(name: str, value: object) -> str:
    """A str that is Unicode."""
    if not isinstance(value, str):
        raise wrong(name, value, "a str")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}={shown(value)}: has characters that are not "
                         "Unicode") from None
    return str.__str__(value)  # NumPy's own drops NULs at the end.


def path(name: str, value: Any) -> str:
    """A str or os.PathLike, with os.fsdecode()'s surrogates for bytes that are
    not UTF-8: os.fsencode() gives the engine the file's name.
    """
    try:
        given = os.fspath(value)
    except TypeError:
        raise wrong(name, value, "a path: a str or os.PathLike") from None
    if not isinstance(given, str):
        raise wrong(name, value, "a path: a str or os.PathLike")
    text(name, re.sub("[\udc80-\udcff]", "?", given))
    if "\0" in given:
        raise ValueError(f"{name}={shown(value)}: has a NUL character")
    return str(given)


def paths(name: str, value: Any, what: str) -> list[str]:
    """One path or several; what: the kinds of values that are, for the error."""
    if isinstance(value, (str, os.PathLike)):
        return [path(name, value)]
    try:
        parts = list(() if isinstance(value, (bytes, Mapping)) else value)
    except TypeError:
        parts = []
    if not parts:
        raise wrong(name, value, what)
    return [path(name, part) for part in parts]


def tls_files(name: str, value: Any) -> tuple[bytes, bytes, bytes]:
    """Three paths as the engine takes them; empty ones for None."""
    if value is None:
        return b"", b"", b""
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        raise wrong(name, value, "three paths: of a certificate, its key, and the "
                    "authority's certificate")
    cert, key, ca = (os.fsencode(path(name, file)) for file in value)
    return cert, key, ca


def _either(words: Iterable[str]) -> str:
    return " or ".join(", ".join(words).rsplit(", ", 1))


def choice(name: str, value: object, choices: Iterable[str]) -> str:
    """One of these texts; an int stands for its digits."""
    known = list(choices)
    try:
        digits = value if isinstance(value, str) else str(whole(name, value))
    except TypeError:
        raise wrong(name, value, f"one of {', '.join(known)}") from None
    if digits not in known:
        raise ValueError(f"{name}={shown(value)}: must be {_either(known)}")
    return digits


def function(name: str, value: Callable[..., Any] | None) -> Any:
    """Something to call, or None."""
    if value is not None and not callable(value):
        raise wrong(name, value, "callable")
    return value


def octets(name: str, value: Any) -> bytes:
    """bytes, or what has the bytes: bytearray, memoryview."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, (bytearray, memoryview)):
        raise wrong(name, value, "bytes")
    return bytes(value)


def side_lengths(name: str, value: Any) -> int | tuple[int, int] | str:
    """The side of a square, or (height, width), or "224x320"."""
    if isinstance(value, str):
        return text(name, value)
    if hasattr(value, "__index__") and np.ndim(value) == 0:
        return whole(name, value)
    try:
        sides = [whole(name, side) for side in value]
    except TypeError:
        raise wrong(name, value, "an integer, or a height and a width") from None
    if len(sides) != 2:
        raise ValueError(f"{name}={shown(value)}: must be a height and a width")
    return sides[0], sides[1]


def array(name: str, value: Any, what: str) -> np.ndarray[Any, Any]:
    """A list, an array or a tensor as an array; masked values and dates are
    errors: NumPy would make plain numbers of them.
    """
    try:
        made = np.asarray(value)
    except Exception:
        raise wrong(name, value, what) from None
    if np.ma.is_masked(value) or made.dtype.kind in "mM":
        raise wrong(name, value, what)
    return made


def _flat(name: str, value: Any, what: str) -> np.ndarray[Any, Any]:
    """A sequence, an array or a tensor as an array of one dimension."""
    if isinstance(value, (str, bytes, bytearray, Mapping)):
        raise wrong(name, value, what)
    items = value
    if not hasattr(value, "__array__"):
        try:
            items = list(value)
        except Exception:
            raise wrong(name, value, what) from None
        if len({isinstance(item, _BOOLS) for item in items}) == 2:
            raise wrong(name, value, what)
    flat = array(name, items, what)
    if flat.ndim != 1:
        raise wrong(name, value, f"{what}, in one dimension")
    return flat


def subset(value: Any, records: int) -> np.ndarray[Any, Any]:
    """Numbers of records, or one bool for each record, as uint32 numbers."""
    name, what = "subset", "record numbers, or one bool for each record"
    array = _flat(name, value, what)
    if array.dtype.kind == "b":
        if len(array) != records:
            raise ValueError(f"subset has {len(array):,} bools, but the data has "
                             f"{records:,} records: give one for each, or "
                             "record numbers")
        array = np.flatnonzero(array)
    elif len(array) and array.dtype.kind not in "iu":
        for item in array.tolist():
            whole(f"{name}: a record number", item, 0, records - 1)
        raise wrong(name, value, what)
    elif len(array) == records > 2 and ((array == 0) | (array == 1)).all():
        raise ValueError("subset has a 0 or a 1 for each record, which as record "
                         "numbers repeat two records: give bools for a mask")
    if not len(array):
        raise ValueError("subset selects no record")
    outside = (array < 0) | (array >= records)
    if outside.any():
        raise ValueError(f"subset: there is no record {array[outside][0]}: the "
                         f"data has the records 0 to {records - 1:,}")
    return array.astype(np.uint32)


def weights(value: Any, records: int) -> np.ndarray[Any, Any]:
    """One number from 0 for each of so many records, as float64."""
    name, what = "sample_weights", "numbers, one for each record"
    array = _flat(name, value, what)
    if len(array) != records:
        raise ValueError(f"sample_weights has {len(array):,} numbers for "
                         f"{records:,} records: give one for each record, or "
                         "with subset for each of its numbers")
    if array.dtype.kind not in "iuf":
        raise wrong(name, value, what)
    array = array.astype(np.float64)
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError("sample_weights: must be numbers from 0")
    with np.errstate(over="ignore"):
        total = array.sum()
    if not 0 < total < np.inf:
        raise ValueError("sample_weights: their sum must be more than 0 and "
                         "finite")
    return array


# The names of options in other programs.
_ELSEWHERE = {"num_workers": "threads", "drop_last": "last_batch",
              "augment_name": "augment"}


@functools.cache
def table() -> dict[str, dict[str, str]]:
    return {row["name"]: row for row in _engine.option_table()}


def is_of_views(name: str) -> bool:
    """Whether each view can have an option of the engine for itself."""
    return table()[name]["group"] == "Images" and name != "layout"


def option(name: str, value: Any, own: Iterable[str]) -> Any:
    """The value of an engine's option; own: names of other arguments."""
    if name not in table():
        near = ([_ELSEWHERE[name]] if name in _ELSEWHERE else
                difflib.get_close_matches(name, [*table(), *own], 1))
        raise ValueError(f"unknown option {shown(name)}: " + (
            f"did you mean {near[0]}? " if near else "")
            + "infeed.option_table() lists them")
    row = table()[name]
    if row["choices"]:
        return choice(name, value, row["choices"].split("|"))
    if row["unit"] == "bytes" and isinstance(value, str):
        return text(name, value)
    if row["unit"] == "path":
        return os.fsencode(path(name, value))
    if name == "workers" and not isinstance(value, str):
        if not isinstance(value, (list, tuple)):
            raise wrong(name, value, "a str, or a list of them")
        return ",".join(text(name, item) for item in value)
    readers: dict[str, Callable[[str, Any], Any]] = {
        "true or false": truth, "integer": whole, "number": real, "text": text,
        "size": side_lengths}
    return readers[row["type"]](name, value)


def options(given: Mapping[str, Any], own: Iterable[str]) -> dict[str, Any]:
    """The engine's options that are not None; own: as option() takes it."""
    values = {name: value for name, value in given.items() if value is not None}
    for name, (least, most) in _PAIRS.items():
        pair = values.get(name)
        if isinstance(pair, (tuple, list)) and len(pair) == 2:
            for other in {least, most} & values.keys() - {name}:
                raise ValueError(f"{name}={shown(pair)} and {other}: give one of "
                                 "them")
            del values[name]
            values[least], values[most] = pair
        elif name in values and (name != least or isinstance(pair, (tuple, list))):
            raise wrong(name, pair, "the smallest and the largest"
                        + (", or the smallest" if name == least else ""))
    return {name: option(name, value, own) for name, value in values.items()}


def _is_met(name: str, options: Mapping[str, Any]) -> bool:
    others, values = _NEEDS[name]
    return any(options.get(other) in values if values else
               options.get(other, 0) > 0 for other in others)


def check_needs(first: Mapping[str, Any],
                later: Sequence[Mapping[str, Any]]) -> None:
    """ValueError where an option was given that does nothing.

    first: the options of a loader, so of its first view. later: those given to its
    other views, which have those of the first beside them.
    """
    for number, given in enumerate((first, *later)):
        for name in [name for name in _NEEDS if name in given]:
            users = [given] if number else [
                first, *(own for own in later if name not in own)]
            if not any(_is_met(name, {**first, **own}) for own in users):
                others, values = _NEEDS[name]
                need = (f"{others[0]}={_either(map(repr, values))}" if values else
                        f"{_either(others)} above 0")
                raise ValueError((f"view {number}: " if number else "")
                                 + f"{name}={shown(given[name])}: needs {need}; "
                                 "leave it out")


def feature(name: str, value: Any) -> list[Any]:
    """The values of an Example's feature: bytes, or float, or int."""
    kinds = ("bytes, str, float, int or bool, or a list or an array of these in "
             "one dimension")
    if isinstance(value, (str, bytes)):
        value = [value]  # NumPy's own have an __array__, which drops NULs.
    elif hasattr(value, "__array__"):
        value = array(name, value, kinds).tolist()
    elif isinstance(value, range):
        value = list(value)
    values = value if isinstance(value, (list, tuple)) else [value]
    if all(isinstance(item, (str, bytes, bytearray, memoryview))
           for item in values):
        return [text(name, item).encode() if isinstance(item, str) else
                octets(name, item) for item in values]
    try:
        numbers = [item if isinstance(item, float) else
                   float(item) if isinstance(item, np.floating) else
                   operator.index(int(item) if isinstance(item, _BOOLS) else item)
                   for item in values]
    except TypeError:
        raise wrong(name, value, kinds) from None
    if not any(isinstance(number, float) for number in numbers):
        return [whole(name, number, -2**63, 2**63 - 1) for number in numbers]
    most = float(np.finfo(np.float32).max)
    for number in numbers:
        if most < abs(number) < math.inf:
            raise ValueError(f"{name}={shown(number)}: does not fit into float32")
    return [float(number) for number in numbers]
