"""Batches on a device, copied while the step before computes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import Any

import torch

from infeed import _arguments
from infeed.batch import Batch
from infeed.prefetching import Link, Prefetch, check

__all__ = ["Prefetch", "prefetch"]

_log = logging.getLogger("infeed")


def prefetch(batches: Iterable[Batch], device: torch.device | str, *,
             depth: int = 2, static: bool = False) -> Prefetch:
    """The batches with their tensors on the device, as Batch.to() has them.

    On a GPU `depth` batches are on their way at once. Of a Loader, or its repeat(),
    the GPU reads the engine's memory itself, which is pinned once; batches of
    others are copied into pinned memory before. Memory is not used again before its
    copy is done. static: all batches have the tensors of the first one, for CUDA
    graphs: the next batch overwrites them.
    """
    check(batches, "torch")
    place = torch.device(device)
    depth = _arguments.whole("depth", depth, 0)
    static = _arguments.truth("static", static)
    if place.type == "cuda":
        return Prefetch(batches, _Cuda(place, static), depth)
    return Prefetch(batches, _Direct(place, static), 0)


class _Direct(Link):
    """A device to which copies end before to() returns."""

    def __init__(self, device: torch.device, static: bool = False) -> None:
        self._device = device
        # The tensors that all batches have; None: each has its own.
        self._static: list[torch.Tensor] | None = [] if static else None

    def send(self, batch: Batch) -> tuple[Batch, Any]:
        return batch.to(self._device), None

    def receive(self, batch: Batch, mark: Any) -> Batch:
        if self._static is None:
            return batch
        if not self._static:
            self._static += [tensor.clone() for tensor in batch._tensors()]
        targets = iter(self._static)
        return batch._with(lambda tensor: _filled(next(targets), tensor))


class _Cuda(_Direct):
    """A GPU, with a stream of its own for the copies."""

    def __init__(self, device: torch.device, static: bool) -> None:
        super().__init__(device, static)
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def pin(self, memory: list[Any]) -> Any:
        return _Pinned(memory, self._device)

    def send(self, batch: Batch) -> tuple[Batch, Any]:
        with torch.cuda.stream(self._stream):
            sent = batch._with(self._copy)
            event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            event.record(self._stream)
        return sent, event

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_pinned():  # few bytes, or a batch in memory of its own
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True)

    # Asked by the loop's thread alone, within next(): in another thread it would
    # end the capture of a CUDA graph.
    def is_sent(self, mark: Any) -> bool:
        return bool(mark.query())

    def wait(self, mark: Any) -> None:
        mark.synchronize()

    def receive(self, batch: Batch, mark: Any) -> Batch:
        stream = torch.cuda.current_stream(self._device)
        stream.wait_event(mark)
        for tensor in batch._tensors():
            tensor.record_stream(stream)
        return super().receive(batch, mark)

    def finish(self) -> None:
        self._stream.synchronize()


class _Pinned:
    """Memory that a GPU can read: while the object exists, and not if CUDA refuses
    it.
    """

    PORTABLE = 1  # cudaHostRegisterPortable: for every device

    def __init__(self, memory: list[Any], device: torch.device) -> None:
        self._device = device
        self._runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        self._memory: list[Any] = []
        with torch.cuda.device(device):
            for part in memory:
                code = int(self._runtime.cudaHostRegister(
                    part.ctypes.data, part.nbytes, self.PORTABLE))
                if code != 0:
                    self._refuse(code)
                    return
                self._memory.append(part)

    def _refuse(self, code: int) -> None:
        self.release()
        try:
            # The error is CUDA's last one until a kernel's launch reports it.
            torch.ones(1, device=self._device)
        except RuntimeError:
            pass
        _log.warning("the batches' memory cannot be pinned (ulimit -l may limit "
                     "it), so the loop's thread copies each batch, which is slower: "
                     "cudaHostRegister() returned %d", code)

    def release(self) -> None:
        """Before the memory may be unmapped."""
        with torch.cuda.device(self._device):
            while self._memory:
                self._runtime.cudaHostUnregister(self._memory[-1].ctypes.data)
                self._memory.pop()

    def __del__(self) -> None:
        if not sys.is_finalizing():  # Then torch is gone, and soon the memory.
            self.release()


def _filled(target: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    if target.shape != tensor.shape:
        raise ValueError(f"static=True: a tensor of {list(tensor.shape)} has no place "
                         f"in the first batch's of {list(target.shape)} (boxes need "
                         "pad_to)")
    return target.copy_(tensor)
