"""Batches on a device, copied while the step before computes."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from infeed.loader import Batch

__all__ = ["prefetch"]


def prefetch(batches: Iterable[Batch], device: torch.device | str, *,
             depth: int = 2) -> Iterator[Batch]:
    """Yields the batches with images, labels and weights on the device.

    On a GPU `depth` batches are on their way at once: copied into pinned memory,
    from there on a stream of their own. Memory is not used again before its
    copy is done.
    """
    place = torch.device(device)
    if place.type != "cuda":
        for batch in batches:
            _replace(batch, [tensor.to(place) for tensor in batch])
            yield batch
        return
    copies = torch.cuda.Stream(place)  # type: ignore[no-untyped-call]
    waiting: collections.deque[tuple[Batch, Any, list[Any]]] = collections.deque()
    for batch in batches:
        waiting.append(_send(batch, place, copies))
        if len(waiting) > depth:
            yield _arrived(*waiting.popleft(), place)
    while waiting:
        yield _arrived(*waiting.popleft(), place)


def _replace(batch: Batch, tensors: list[Any]) -> None:
    batch.images, batch.labels, batch.weights = tensors


def _send(batch: Batch, device: torch.device,
          copies: torch.cuda.Stream) -> tuple[Batch, Any, list[Any]]:
    pinned = [tensor.pin_memory() for tensor in batch]
    with torch.cuda.stream(copies):
        _replace(batch, [tensor.to(device, non_blocking=True)
                         for tensor in pinned])
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(copies)
    return batch, event, pinned


def _arrived(batch: Batch, event: Any, pinned: list[Any],
             device: torch.device) -> Batch:
    stream = torch.cuda.current_stream(device)
    stream.wait_event(event)
    for tensor in batch:
        tensor.record_stream(stream)
    event.synchronize()  # `pinned` may go now.
    return batch
