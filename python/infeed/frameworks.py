"""A batch's arrays as the framework's own, without a copy where it can be."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from infeed import _arguments
from infeed.fields import Field

_log = logging.getLogger("infeed")

Convert = Callable[[Any], Any]


class Converters(NamedTuple):
    """What makes the framework's arrays of a batch's parts."""

    images: Convert
    labels: Convert
    rows: Convert  # arrays with one row for each slot
    lists: Convert  # arrays of ragged fields
    made: Convert  # arrays as those of rows, in memory of NumPy's


def _same(array: Any) -> Any:
    return array


def _copied(array: Any) -> Any:
    # The loop may write into it, and Batch.describe() reads the engine's.
    return array.copy()


def _torch(layout: str) -> Converters:
    import torch

    def images(array: Any) -> Any:
        if layout == "rgb":
            return torch.from_numpy(array).permute(0, 3, 1, 2)
        # torch has no shifts of uint32.
        return torch.from_numpy(array.view("int32"))

    def labels(array: Any) -> Any:
        return torch.from_numpy(array).long()
    take = torch.from_numpy
    return Converters(images, labels, take, take, take)


def _jax(sharding: Any) -> Converters:
    import jax

    if sharding is not None and not isinstance(sharding, jax.sharding.Sharding):
        raise _arguments.wrong("sharding", sharding, "a jax.sharding.Sharding")

    def whole(array: Any) -> Any:
        return jax.dlpack.from_dlpack(array)

    def part(array: Any) -> Any:
        return jax.make_array_from_process_local_data(  # type: ignore[no-untyped-call]
            sharding, array)

    warned: list[bool] = []

    def made(array: Any) -> Any:
        # Lists of objects are always int64; few have numbers that need it.
        if (array.dtype == "int64" and not warned
                and not jax.config.jax_enable_x64  # type: ignore[attr-defined]
                and (array != array.astype("int32")).any()):
            warned.append(True)
            _log.warning("JAX cuts 64 bits to 32 in lists of objects, and values "
                         "changed: set jax_enable_x64")
        # NumPy's memory is not aligned to 64 bytes, as XLA wants it.
        return jax.numpy.asarray(array) if sharding is None else part(array)

    take = whole if sharding is None else part
    return Converters(take, take, take, _same, made)


def cut_by_jax(fields: Mapping[str, Field]) -> str:
    """A sentence on the fields whose 64 bits JAX cuts to 32, or ""."""
    import jax

    cut = {key: field for key, field in fields.items()
           if field.is_fixed and field.type in ("int64", "float64")}
    if not cut or jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        return ""
    text = (f"JAX cuts 64 bits to 32 in the fields {', '.join(cut)}, and values "
            "change: set jax_enable_x64")
    if all(field.type == "int64" and not field.raw for field in cut.values()):
        text += ", or give the type int32, so that a larger value is a bad record"
    return text


def converters(framework: str, layout: str, sharding: Any) -> Converters:
    """Those of a framework."""
    if sharding is not None and framework != "jax":
        raise ValueError("sharding is for framework='jax'")
    if framework == "numpy":
        return Converters(_same, _copied, _same, _same, _same)
    if framework == "torch":
        return _torch(layout)
    return _jax(sharding)
