"""Batches that are sent to a device before the loop asks for them."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from infeed import _arguments
from infeed.batch import Batch
from infeed.loader import Loader
from infeed.passes import Dicts, Pass


class Link:
    """A device, and the way of batches to it. Copies end in the order in which
    they begin; those of this class have ended when send() returns.
    """

    def pin(self, memory: list[Any]) -> Any:
        """Has the device read such arrays itself while the result exists."""

    def send(self, batch: Batch) -> tuple[Batch, Any]:
        """Begins to copy; the batch on the device, and a mark of the copy."""
        raise NotImplementedError

    def is_sent(self, mark: Any) -> bool:
        """The copy has ended."""
        return True

    def wait(self, mark: Any) -> None:
        """Until the copy has ended."""

    def receive(self, batch: Batch, mark: Any) -> Batch:
        """What the loop's next step takes: its work begins after the copy."""
        return batch

    def finish(self) -> None:
        """Waits until all copies have ended, also one that send() left when it was
        interrupted.
        """


class Prefetch:
    """A loader's batches on a device; made by prefetch().

    Its state is the place after the last batch that it yielded, while the
    loader's own is up to `depth` batches ahead: give it to what keeps the state of
    a loader, as Lightning's Trainer or Accelerate.
    """

    def __init__(self, batches: Iterable[Batch], link: Link,
                 depth: int) -> None:
        self._batches = batches
        self._link = link
        self._depth = depth
        self._last: tuple[Iterator[Batch], Loader, Any] | None = None

    def __len__(self) -> int:
        """Batches of an epoch."""
        return len(self._batches)  # type: ignore[arg-type]

    @property
    def sampler(self) -> Loader | None:
        """Loader.sampler."""
        batches = self._batches
        return batches.sampler if isinstance(batches, Loader) else None

    batch_sampler = None

    def __iter__(self) -> Iterator[Batch]:
        """The loader's next pass."""
        batches = iter(self._batches)
        # Asked now: a pass that is left at the interpreter's end may be closed
        # when this module's names are gone.
        own = batches if isinstance(batches, Pass) else None
        place = None
        try:
            for batch in self._ahead(batches, own):
                place = batch._native.next
                self._last = batches, batch._loader, place
                yield batch
            self._last = None  # The loader's pass has ended, too.
        except BaseException:
            # The pass was left early: batches copied ahead count as not given.
            if own is not None:
                own.give_back(place)
            raise

    def _ahead(self, batches: Iterator[Batch],
               own: Pass | None) -> Iterator[Batch]:
        """own: the same, if they are a loader's pass."""
        link = self._link
        copies = _Copies(link, own is not None)
        if own is not None:
            own.pins = True
        waiting: collections.deque[tuple[Batch, Any]] = collections.deque()
        is_over = False
        try:
            while True:
                copies.release()
                while not is_over and len(waiting) <= self._depth:
                    if copies.are_enough:
                        if waiting:
                            break
                        copies.wait()
                    batch = next(batches, None)
                    if batch is None:
                        is_over = True
                    else:
                        waiting.append(copies.begin(batch))
                    del batch  # It is on loan until its copy has ended.
                if not waiting:
                    return
                yield link.receive(*waiting.popleft())
        finally:
            copies.finish()
            if own is not None:
                own.pins = False  # Where the user goes on with the pass.

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


class _Copy:
    """Keeps its batch on loan, and the memory pinned."""

    def __init__(self, batch: Batch, pinned: Any) -> None:
        self.batch = batch
        self.pinned = pinned
        self.mark: Any = None
        self.has_mark = False  # Else send() was interrupted.


class _Copies:
    """The copies of a pass that may not have ended."""

    def __init__(self, link: Link, pins: bool) -> None:
        self._link = link
        self._pins = pins
        self._begun: collections.deque[_Copy] = collections.deque()

    def begin(self, batch: Batch) -> tuple[Batch, Any]:
        """The batch on the device without a loan, and the mark of its copy."""
        copy = _Copy(batch, self._pinned(batch._loader))
        self._begun.append(copy)  # First: an interrupt may come meanwhile.
        sent, copy.mark = self._link.send(batch)
        copy.has_mark = True
        sent._native = batch._native.plan()
        return sent, copy.mark

    def _pinned(self, loader: Loader) -> Any:
        """What keeps the memory of the loader's batches pinned: all at once, when
        the stream's first batch is sent.
        """
        stream = loader._open
        if not self._pins or stream is None:
            return None
        if loader._pinned is None:
            loader._pinned = self._link.pin(stream.batch_memory())
        return loader._pinned

    @property
    def are_enough(self) -> bool:
        """With one batch more on loan the engine would copy it, or wait."""
        if not self._begun:
            return False
        options = self._begun[0].batch._loader._options
        most: int = options["max_lent"] or options["batches_in_pool"] - 1
        return len(self._begun) >= most

    def release(self) -> None:
        """Returns the batches whose copies have ended."""
        begun = self._begun
        while begun and begun[0].has_mark and self._link.is_sent(begun[0].mark):
            begun.popleft()

    def wait(self) -> None:
        """Until the first copy has ended."""
        self._link.wait(self._begun[0].mark)
        self.release()

    def finish(self) -> None:
        """Waits for all, and returns their batches."""
        self.release()
        if self._begun:
            self._link.finish()
        self._begun.clear()


def check(batches: Any, framework: str) -> None:
    """Raises for what is no loader of the framework."""
    if not isinstance(batches, Iterable) or isinstance(batches, Dicts):
        raise _arguments.wrong("batches", batches, "a Loader")
    if (isinstance(batches, Loader)
            and batches._arguments[1]["framework"] != framework):
        raise ValueError(f"prefetch() takes a Loader with framework={framework!r}")
