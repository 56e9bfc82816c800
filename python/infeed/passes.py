"""The iterators of a loader: one epoch, or one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from infeed.progress import NoBar

if TYPE_CHECKING:
    from infeed.batch import Batch
    from infeed.loader import Loader, Place


class Pass(Iterator["Batch"]):
    """An epoch's batches, or with endless those of each further epoch, too.

    A loader has one position, so only the pass that began last goes on: another
    one raises RuntimeError. Threads may share a pass.
    """

    _bar: Any = NoBar()  # Of the class: __init__() may be interrupted.

    def __init__(self, loader: Loader, endless: bool) -> None:
        self._loader = loader
        self._endless = endless
        self._turn = object()  # Loader._turn during this pass
        self._epoch: int | None = None  # None: it has not begun
        self._first: Place = (0, 0, 0, 0)
        self._is_over = False
        # Whoever takes its batches returns them only once a device has read them.
        self.pins = False

    def __next__(self) -> Batch:
        loader = self._loader
        loader._check_usable()
        batch = None
        try:
            with loader._lock:
                batch = self._next()
                before = loader._place, loader._resumed
                if batch is not None:
                    loader._place = batch._native.next
                    loader._resumed = False
            if batch is None:
                loader._check_usable()  # Not only at the interpreter's end.
                raise StopIteration
            return batch
        except BaseException:
            # Interrupted while the batch was taken: it was not given to the
            # caller.
            if batch is not None and loader._place == batch._native.next:
                loader._place, loader._resumed = before
            raise

    @property
    def goes_on(self) -> bool:
        """The loader's place is that of this pass."""
        return self._loader._turn is self._turn

    def give_back(self, place: Place | None) -> None:
        """The consumer has what came before the place; None: nothing."""
        with self._loader._lock:
            if self.goes_on:
                self._loader._place = place or self._first
                self._loader._resumed = place is None

    def _next(self) -> Batch | None:
        if self._is_over:
            return None
        if self._epoch is None:
            self._begin()
        elif not self.goes_on:
            raise RuntimeError(
                "another pass of this loader has begun, or set_epoch() or "
                "load_state_dict() was called: this pass cannot go on; for two "
                "passes at once make a second loader, copy.copy(loader)")
        if not self.pins:
            # `to(device, non_blocking=True)` returns early where memory is pinned.
            self._loader._pinned = None
        batch = self._next_of_epoch()
        if batch is None and self._endless:
            self._begin()
            batch = self._next_of_epoch()
        self._is_over = batch is None
        return batch

    def _begin(self) -> None:
        # Begins with the first batch, not in iter(): frameworks call iter() to
        # test whether it works, or before they load a state.
        loader = self._loader
        loader._check_ranks()
        loader._check_workers()
        # After a pass that was left early, the epoch begins again.
        if not loader._resumed:
            loader._place = loader._after_epoch(loader._place)
            loader._place = loader._epoch_begin()
        loader._turn = self._turn
        self._first = loader._place
        self._bar = loader._bar().__enter__()
        self._epoch = self._first[0]

    def _next_of_epoch(self) -> Batch | None:
        loader, bar = self._loader, self._bar
        epoch, position = loader._place[:2]
        # The consumer is done with the batches before this one.
        bar.update((position if epoch == self._epoch else bar.total) - bar.n)
        batch = loader._next() if epoch == self._epoch else None
        if batch is None:
            self._end()
        return batch

    def _end(self) -> None:
        assert self._epoch is not None
        loader = self._loader
        loader._resumed = False
        if loader._place[0] == self._epoch:
            self._bar.total = self._bar.n  # The last batch was not full.
        if not loader._training:
            loader._place = ((self._epoch + 1) % 2**32, 0, 0, loader.fingerprint)
        self._close_bar()

    def _close_bar(self) -> None:
        self._bar.__exit__(None, None, None)
        self._bar = NoBar()

    def __del__(self) -> None:
        self._bar.__exit__(None, None, None)


class Dicts:
    """A loader's batches as Batch.as_dict() makes them; made by Loader.dicts().

    torch_xla's ParallelLoader and `model(**batch)` take these. Its state is the
    loader's: after the last batch that was taken, also by a loop that takes them
    ahead. For such a loop each dict can have its own, under "state_dict".
    """

    def __init__(self, loader: Loader, states: bool = False) -> None:
        self._loader = loader
        self._states = states

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The loader's next pass."""
        return (batch.as_dict(state=self._states) for batch in self._loader)

    def __len__(self) -> int:
        """Loader.__len__()."""
        return len(self._loader)

    @property
    def sampler(self) -> Loader:
        """Loader.sampler."""
        return self._loader.sampler

    batch_sampler = None

    def set_epoch(self, epoch: int) -> None:
        """Loader.set_epoch()."""
        self._loader.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Loader.state_dict()."""
        return self._loader.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Loader.load_state_dict()."""
        self._loader.load_state_dict(state)
