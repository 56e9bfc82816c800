"""Batches on a device, copied while the step before computes."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from infeed import _arguments
from infeed.batch import Batch
from infeed.loader import Loader
from infeed.passes import Dicts, Pass

__all__ = ["Prefetch", "prefetch"]


class Prefetch:
    """A loader's batches on a device; made by prefetch().

    Its state is the place after the last batch that it yielded, while the
    loader's own is `depth` batches ahead: give it to what keeps the state of a
    loader, as Lightning's Trainer or Accelerate.
    """

    def __init__(self, batches: Iterable[Batch], device: torch.device,
                 depth: int) -> None:
        self._batches = batches
        self._device = device
        self._depth = depth
        self._last: tuple[Iterator[Batch], Loader, Any] | None = None

    def __len__(self) -> int:
        """Batches of an epoch."""
        return len(self._batches)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Batch]:
        """The loader's next pass."""
        batches = iter(self._batches)
        place = None
        try:
            for batch in self._ahead(batches):
                place = batch._native.next
                self._last = batches, batch._loader, place
                yield batch
            self._last = None  # The loader's pass has ended, too.
        except BaseException:
            # The pass was left early: batches copied ahead count as not given.
            if isinstance(batches, Pass):
                batches.give_back(place)
            raise

    def _ahead(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        send = _Copies(self._device) if self._device.type == "cuda" else _Plain(
            self._device)
        waiting: collections.deque[Any] = collections.deque()
        for batch in batches:
            waiting.append(send.begin(batch))
            if len(waiting) > self._depth:
                yield send.end(waiting.popleft())
        while waiting:
            yield send.end(waiting.popleft())

    def state_dict(self) -> dict[str, Any]:
        """The place after the last batch yielded."""
        if self._last is None:
            return self._loader().state_dict()
        batches, loader, place = self._last
        if isinstance(batches, Pass) and not batches.goes_on:
            return loader.state_dict()
        return loader._state_at(place)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Loader.load_state_dict() of the loader."""
        self._loader().load_state_dict(state)
        self._last = None

    def _loader(self) -> Loader:
        if not isinstance(self._batches, Loader):
            raise TypeError("prefetch() of a Loader has a state; this one is of "
                            f"a {type(self._batches).__name__}")
        return self._batches


def prefetch(batches: Iterable[Batch], device: torch.device | str, *,
             depth: int = 2) -> Prefetch:
    """The batches with their tensors on the device, as Batch.to() has them.

    On a GPU `depth` batches are on their way at once: copied into pinned memory,
    from there on a stream of their own. Memory is not used again before its
    copy is done.
    """
    if not isinstance(batches, Iterable) or isinstance(batches, Dicts):
        raise _arguments.wrong("batches", batches, "a Loader")
    if (isinstance(batches, Loader)
            and batches._arguments[1]["framework"] != "torch"):
        raise ValueError("prefetch() takes a Loader with framework='torch'")
    place = torch.device(device)
    depth = _arguments.whole("depth", depth, 0)
    return Prefetch(batches, place, depth if place.type == "cuda" else 0)


class _Plain:
    def __init__(self, device: torch.device) -> None:
        self._device = device

    def begin(self, batch: Batch) -> Batch:
        return batch.to(self._device)

    def end(self, batch: Batch) -> Batch:
        return batch


class _Copies:
    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def begin(self, batch: Batch) -> tuple[Batch, Any, Batch]:
        pinned = batch._with(lambda tensor: tensor.pin_memory())
        with torch.cuda.stream(self._stream):
            sent = pinned.to(self._device, non_blocking=True)
            event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            event.record(self._stream)
        return sent, event, pinned

    def end(self, sent: tuple[Batch, Any, Batch]) -> Batch:
        batch, event, _ = sent
        stream = torch.cuda.current_stream(self._device)
        stream.wait_event(event)
        for tensor in batch._tensors():
            tensor.record_stream(stream)
        event.synchronize()  # The pinned memory may be freed now.
        return batch
