"""For JAX: batches sent ahead, and words to pixels inside a compiled function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from infeed import _arguments
from infeed.batch import Batch
from infeed.prefetching import Link, Prefetch, check

__all__ = ["Prefetch", "prefetch", "unpack"]


def unpack(words: Any) -> Any:
    """uint32 [N, H, W] of R << 24 | G << 16 | B << 8 as uint8 [N, H, W, 3]."""
    shifts = jnp.array([24, 16, 8], jnp.uint32)
    return ((words[..., None] >> shifts) & 255).astype(jnp.uint8)


def prefetch(batches: Iterable[Batch], place: Any, *,
             depth: int = 2) -> Prefetch:
    """The batches with their arrays on a device, or global arrays of a sharding.

    place: a jax.Device, or a jax.sharding.Sharding of the first axis, whose other
    processes bring their parts. `depth` batches are on their way at once. Lists of
    boxes stay on the host unless they are padded (pad_to).
    """
    check(batches, "jax")
    if isinstance(place, jax.Device):
        place = jax.sharding.SingleDeviceSharding(place)
    if not isinstance(place, jax.sharding.Sharding):
        raise _arguments.wrong("place", place,
                               "a jax.Device or a jax.sharding.Sharding")
    depth = _arguments.whole("depth", depth, 0)
    return Prefetch(batches, _Jax(place), depth)


class _Jax(Link):
    """JAX keeps the memory that it copies from, and so the loan, by itself."""

    def __init__(self, sharding: jax.sharding.Sharding) -> None:
        self._sharding = sharding

    def send(self, batch: Batch) -> tuple[Batch, Any]:
        return batch._with(self._copy), None

    def _copy(self, array: Any) -> Any:
        if not isinstance(array, jax.Array):
            return array.copy()
        return jax.make_array_from_process_local_data(  # type: ignore[no-untyped-call]
            self._sharding, np.asarray(array))
