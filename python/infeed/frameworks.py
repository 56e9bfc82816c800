"""A batch's arrays as the framework's own, without a copy where it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from infeed import _arguments, _engine

Converter = Callable[[_engine.Batch], "tuple[Any, Any, Any]"]


def _numpy(batch: _engine.Batch) -> tuple[Any, Any, Any]:
    return batch.images, batch.labels, batch.weights


def _torch(layout: str) -> Converter:
    import torch

    def convert(batch: _engine.Batch) -> tuple[Any, Any, Any]:
        if layout == "rgb":
            images = torch.from_numpy(batch.images).permute(0, 3, 1, 2)
        else:  # torch has no shifts of uint32.
            images = torch.from_numpy(batch.images.view("int32"))
        return (images, torch.from_numpy(batch.labels).long(),
                torch.from_numpy(batch.weights))
    return convert


def _jax(sharding: Any) -> Converter:
    import jax

    if sharding is not None and not isinstance(sharding, jax.sharding.Sharding):
        raise _arguments.wrong("sharding", sharding, "a jax.sharding.Sharding")

    def whole(array: Any) -> Any:
        return jax.dlpack.from_dlpack(array)

    def part(array: Any) -> Any:
        return jax.make_array_from_process_local_data(  # type: ignore[no-untyped-call]
            sharding, array)

    take = whole if sharding is None else part

    def convert(batch: _engine.Batch) -> tuple[Any, Any, Any]:
        return take(batch.images), take(batch.labels), take(batch.weights)
    return convert


def converter(framework: str, layout: str, sharding: Any) -> Converter:
    """What makes (images, labels, weights) of a batch."""
    if sharding is not None and framework != "jax":
        raise ValueError("sharding is for framework='jax'")
    if framework == "numpy":
        return _numpy
    if framework == "torch":
        return _torch(layout)
    return _jax(sharding)
