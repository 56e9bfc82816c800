"""Loader: an epoch's batches for each pass, exactly resumable."""

from __future__ import annotations

import atexit
import copy
import json
import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

from infeed import _arguments, _engine, frameworks
from infeed.batch import Batch, Parts, parts_of
from infeed.fields import Field, Kind, named
from infeed.index import Data, Index, of_default_split, of_index
from infeed.objects import Objects, checked
from infeed.passes import Dicts, Pass
from infeed.progress import NoBar, find_tqdm
from infeed.ranks import (called_by_trainer, data_loader_workers, find_group,
                          find_ranks)
from infeed.views import View, checked_views, with_first

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from infeed._options import Options

_log = logging.getLogger("infeed")

Framework = Literal["numpy", "torch", "jax"]
FilePath = Union[str, "os.PathLike[str]"]
# Epoch, position, past epochs, and the fingerprint of what came before.
Place = tuple[int, int, int, int]

# Options of images beside those of views.
_OF_IMAGES = {"image_key", "lenient", "max_pixels"}

# Images without a box after which their records are searched for boxes.
_MOST_BOXLESS = 100

# A daemon thread that returns from the engine when the interpreter is gone would
# abort the process. So at the end streams stop, and daemon threads wait. Without
# the interpreter's lock a WeakSet cannot be listed while threads add to it.
_loaders: set[weakref.ref[Loader]] = set()
_ending = False


@atexit.register
def _stop_all() -> None:
    global _ending
    _ending = True
    for reference in list(_loaders):
        loader = reference()
        if loader is not None:
            loader._end()


def _check_interpreter() -> None:
    if not _ending:
        return
    if threading.current_thread().daemon:
        threading.Event().wait()
    raise RuntimeError("the interpreter ends, and infeed's threads have stopped; "
                       "functions that were registered with atexit after `import "
                       "infeed` can still take batches")


class Loader:
    """Batches of images, or of other records: one pass of a `for` is one epoch.

    data: an Index, or what Index takes. batch_size: images of this process's
    batches; global_batch_size: of all ranks together; give one. rank and
    world_size: found in torch.distributed, JAX, or RANK and WORLD_SIZE, unless
    given. subset: the numbers of the records to use; sample_weights: their
    relative frequency; epoch_records: samples of an epoch. fields: more features
    of the records, key -> an infeed.Field, or "int64", "float32" or "bytes" for
    lists of any length: batch[key]. views: an infeed.View for each image of a
    sample; (): batches have fields alone, and the records need no images. objects:
    an infeed.Objects, boxes that follow the images. Without images, with objects
    and with labels of pixels, labels are read only with a label_key. on_bad: called
    with a line for each bad record. sharding: a jax.sharding.Sharding, with which
    batches are global arrays. progress: rank 0 shows a bar for each epoch, with
    images/s and the time left; it needs tqdm. worker_tls: (certificate, key,
    authority), files for TLS with its workers.

    All other options are the engine's, by the names of infeed.option_table()
    (docs/python.md lists them): recipe, image_size, shuffle, seed, augment,
    threads, memory_limit, on_bad_record, ...

    The same data, seed and options give the same bytes: for any number of
    threads, any number of ranks, and after any resume.
    """

    def __init__(self, data: Index | Data, *, batch_size: int | None = None,
                 global_batch_size: int | None = None, training: bool = True,
                 framework: Framework = "numpy",
                 layout: Literal["rgb", "words"] = "rgb",
                 rank: int | None = None, world_size: int | None = None,
                 split: str | None = None,
                 subset: Sequence[int] | Sequence[bool] | np.ndarray[Any, Any]
                 | None = None,
                 sample_weights: Sequence[float] | np.ndarray[Any, Any]
                 | None = None,
                 epoch_records: int = 0,
                 fields: Mapping[str, Kind | Field] | None = None,
                 views: Sequence[View] | None = None,
                 objects: Objects | None = None,
                 on_bad: Callable[[str], None] | None = None,
                 sharding: Any = None, progress: bool = False,
                 worker_tls: tuple[FilePath, FilePath, FilePath] | None = None,
                 **options: Unpack[Options]) -> None:
        others = set(vars(self))  # attributes of a derived class
        check = _arguments
        training = check.truth("training", training)
        progress = check.truth("progress", progress)
        kinds = own_fields = named(fields)
        boxes = checked(objects)
        if boxes is not None:
            kinds = boxes._fields(kinds)
        outputs = checked_views(views)
        has_images = bool(outputs)
        if split is not None:
            split = check.text("split", split)
        if isinstance(data, Index):
            self._index = of_index(data, split, training and subset is None)
        elif split is None:
            self._index = of_default_split(data, training)
        else:
            self._index = Index(data, split=split)
        given = check.options(options, Loader.__init__.__kwdefaults__ or ())
        _check_most(given, {"subset": subset is not None,
                            "sample_weights": sample_weights is not None})
        self._selection = _selection(len(self._index), subset, sample_weights,
                                     epoch_records)
        ids, weights, epoch_records = self._selection or (None, None, 0)
        self._training = training
        self._finds_ranks = rank is None
        ranks = find_ranks(rank, world_size)
        self._rank, self._world_size = ranks.rank, ranks.world_size
        # Pickled, as for spawned processes, a loader is its arguments and place.
        self._arguments = (self._index, {
            "batch_size": batch_size, "global_batch_size": global_batch_size,
            "training": training, "framework": framework, "layout": layout,
            "rank": rank, "world_size": world_size,
            "subset": None if subset is None else ids, "sample_weights": weights,
            "epoch_records": epoch_records, "fields": kinds,
            "views": outputs, "objects": boxes,
            "on_bad": on_bad, "sharding": sharding, "progress": progress,
            "worker_tls": worker_tls, **options})
        _check_passes(given)
        _check_pool(given)
        self._options = with_first(outputs, {
            "local_world_size": ranks.local_world_size,
            # The loop's batch and the next one are on loan at the same time.
            "batches_in_pool": 4, "max_lent": 2,
            **({} if self._index._has_labels else {"require_labels": False}),
            **given,
            "training": training, "layout": check.choice(
                "layout", layout, ("rgb", "words")) if has_images else "none",
            "batch_size": self._whole(batch_size, global_batch_size),
            "rank": self._rank, "world_size": self._world_size})
        if not _engine.threads_work() and self._options.get("graph") != "basic":
            _log.warning("this process was forked from one with a loader at "
                         "work: here a loader has one thread (graph='basic'); "
                         "processes started by spawn or forkserver have all")
        _check_order(self._options, {"subset": subset is not None,
                                     "sample_weights": weights is not None,
                                     "epoch_records": epoch_records != 0})
        if not has_images:
            _check_records(self._options, kinds, layout, boxes)
        check.check_needs(self._options, [dict(view.options)
                                          for view in outputs[1:]])
        self._fields = kinds
        # With their numbers in batches.
        self._numbered = {key: (number, field) for number, (key, field)
                          in enumerate(kinds.items())}
        self._objects = boxes
        self._views = outputs
        self._convert = frameworks.converters(
            check.choice("framework", framework, ("numpy", "torch", "jax")),
            layout, sharding)
        if framework == "jax" and self._rank == 0:
            cut = frameworks.cut_by_jax(own_fields)
            if cut:
                _log.warning(cut)
        self._on_bad = check.function("on_bad", on_bad)
        self._worker_tls = check.tls_files("worker_tls", worker_tls)
        self._make_bar = find_tqdm() if progress and self._rank == 0 else NoBar
        self._process = os.getpid()
        self._comes_from = self._process  # Another one's, if it was pickled there.
        self._place: Place = (0, 0, 0, 0)  # after the last batch yielded
        self._lock = threading.RLock()
        self._open: _engine.Stream | None = None
        self._last = "", ""  # stats and verdict of the stream before
        # The images so far, of which none had a box; None: not looked for.
        self._boxless: list[int] | None = (
            [] if boxes is not None and self._rank == 0 else None)
        # Keeps the memory of its batches pinned for a device.
        self._pinned: Any = None
        self._turn: object = None  # the pass in progress
        self._resumed = False
        _loaders.add(weakref.ref(self, _loaders.discard))
        stream = self._stream()  # Wrong options are reported here.
        self._samples = stream.epoch_samples
        self._has_labels = stream.has_labels and self._index._has_labels
        self._parts_of_dicts: Parts | None = None  # once asked for
        self._own = {*vars(self), "_own"} - others
        wants_labels = (has_images and boxes is None and self._index._has_labels
                        and not any(view.labels for view in outputs)
                        and self._options.get("label_key") != "")
        if wants_labels and not self._has_labels and self._rank == 0:
            _log.warning("no record was found to have a label: batch.labels is "
                         "None (if they have one, or a field is one, give "
                         "label_key)")

    def _whole(self, own: int | None, whole: int | None) -> int:
        if own is not None and whole is None:
            return (_arguments.whole("batch_size", own, 1)
                    * self._world_size)
        if whole is not None and own is None:
            number = _arguments.whole("global_batch_size", whole, 1)
            if number % self._world_size:
                raise ValueError(
                    f"global_batch_size={number} and world_size="
                    f"{self._world_size}: give a multiple of world_size, since "
                    "every rank takes an equal part")
            return number
        raise TypeError("give batch_size (of this process) or "
                        "global_batch_size (of all), one of the two")

    def _stream(self) -> _engine.Stream:
        """The stream that goes on at self._place."""
        self._check_usable()
        with self._lock:
            stream = self._open
            if stream is None or stream.position != self._place:
                self.close()
                stream = self._open = _engine.Stream(
                    self._index._native, self._options, self._selection,
                    {key: field._spec() for key, field in self._fields.items()},
                    None if self._objects is None else self._objects._spec(),
                    [view._settings() for view in self._views[1:]],
                    self._worker_tls, self._place)
                _check_interpreter()  # _end() may have come before the stream.
            return stream

    def _check_usable(self) -> None:
        _check_interpreter()
        self._check_process()

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise RuntimeError(
                "this loader was made before fork(), and its threads are not in "
                "the child: make a loader in the child")

    def _end(self) -> None:
        if self._process != os.getpid():
            return
        stream = self._open  # which another thread may close meanwhile
        if stream is not None:
            stream.stop()
        self._pinned = None
        # Never released. The timeout is for a thread that waits in a callback.
        self._lock.acquire(timeout=5)

    def _next(self) -> Batch | None:
        """The batch at self._place, which the caller moves once it is the
        consumer's: an interrupt may come before.
        """
        stream = self._stream()
        native = stream.next(self._warn_held)
        for message in stream.take_messages():
            (self._on_bad or _log.warning)(message)
        for note in stream.take_notes():
            _log.warning(note)
        if native is None and self._open is not stream:
            raise RuntimeError("the loader was closed while this pass waited for "
                               "a batch")
        if native is None:
            return None
        self._look_for_boxes(native)
        return Batch(native, self)

    def _look_for_boxes(self, native: _engine.Batch) -> None:
        """Warns if the first images have no boxes, and their records have."""
        seen, objects = self._boxless, self._objects
        if seen is None or objects is None:
            return
        seen += [record for record in native.ids.tolist() if record >= 0]
        has_boxes = native.boxes[1][-1] > 0
        if has_boxes or len(seen) >= min(_MOST_BOXLESS, len(self._index)):
            self._boxless = None
        if self._boxless is None and not has_boxes:
            note = objects._note_on_none(self._index, seen[:_MOST_BOXLESS])
            if note:
                _log.warning(note)

    def _parts(self) -> Parts:
        if self._parts_of_dicts is None:
            self._parts_of_dicts = parts_of(self)
        return self._parts_of_dicts

    def _warn_held(self) -> None:
        _log.warning("waiting: all batches of the pool are held, and max_lent=0 "
                     "gives no copies; release a batch, or give max_lent")

    def __iter__(self) -> Iterator[Batch]:
        """The rest of the epoch after load_state_dict(), else a whole one.

        The pass begins with its first batch. Then an earlier one that goes on
        raises RuntimeError. Threads may share a pass.
        """
        return Pass(self, endless=False)

    def _epoch_begin(self) -> Place:
        """Where the first batch of the current epoch begins."""
        epoch, position, past, fed = self._place
        carries = self._options.get("last_batch") == "carry"
        return (epoch, position % self._options["batch_size"] if carries else 0,
                past, fed)

    def _bar(self) -> Any:
        epoch, position = self._place[:2]
        return self._make_bar(desc=f"epoch {epoch}", initial=position,
                              total=self._epoch_begin()[1]
                              + len(self) * self._options["batch_size"],
                              unit=" images" if self._views else " records",
                              unit_scale=True)

    def _check_ranks(self) -> None:
        """A loader made before its process joined others would take all."""
        group = find_group()
        if (self._finds_ranks and group
                and group != (self._rank, self._world_size)):
            raise RuntimeError(
                f"this loader was made as rank {self._rank} of "
                f"{self._world_size}, and the process is now rank {group[0]} of "
                f"{group[1]}: make the loader after torch.distributed or "
                "jax.distributed is initialised, or give rank and world_size")

    def _check_workers(self) -> None:
        workers = data_loader_workers()
        if workers and self._comes_from != self._process:
            raise RuntimeError(
                f"a DataLoader with num_workers={workers} has got this loader: each "
                "worker would give all images, those of the same epoch for every "
                "pass: give num_workers=0, since a loader has threads of its own, "
                "or make a loader in each worker, with rank and world_size")

    def repeat(self) -> Iterator[Batch]:
        """One epoch after the other, without an end."""
        return Pass(self, endless=True)

    def batch_at(self, epoch: int, number: int) -> Batch:
        """A batch of any epoch, at once: the bytes that it has in the stream.

        It is made in the calling thread. The loader's position and stats stay as
        they are, and bad records are not reported. ValueError: the epoch has no such
        batch.
        """
        epoch = _arguments.whole("epoch", epoch, 0, 2**32 - 1)
        number = _arguments.whole("number", number, 0, 2**63 - 1)
        self._check_usable()
        return Batch(self._stream_of_data().batch_at(epoch, number, self._place),
                     self)

    def dicts(self, *, states: bool = False) -> Dicts:
        """The same batches as plain dicts, for loops that walk no other objects.

        states: each has under "state_dict" the place after it, for
        load_state_dict(): for loops that take batches ahead.
        """
        return Dicts(self, _arguments.truth("states", states))

    def __len__(self) -> int:
        """Batches of this pass, or of the next one, from its epoch's beginning on.
        Only with last_batch="carry" do epochs differ.
        """
        begin = self._epoch_begin()[1]
        return -((begin - self._samples) // self._options["batch_size"])

    @property
    def sampler(self) -> Loader:
        """Itself: Lightning's Trainer calls sampler.set_epoch() before an epoch.
        ValueError where its epochs differ, since the Trainer reads len() once.
        """
        if (self._options.get("last_batch") == "carry"
                and self._samples % self._options["batch_size"]
                and called_by_trainer()):
            raise ValueError(
                'last_batch="carry" and Lightning\'s Trainer: it reads the number '
                "of batches once, and with carry epochs differ by one, so it would "
                "skip validations and end a resumed run early: give "
                'last_batch="drop", "pad" or "repeat"')
        return self

    # What has a sampler has a batch_sampler for Lightning, too.
    batch_sampler = None

    @property
    def epoch(self) -> int:
        """The epoch that the next pass takes, or the one of this pass."""
        return self._after_epoch(self._place)[0]

    @property
    def fingerprint(self) -> int:
        """A hash, below 2**64, of what all batches yielded were filled with.

        The sum of their fingerprints modulo 2**64, which goes on after
        load_state_dict(): the same for any threads, workers and breaks. The ranks'
        sums add up to the same number for any number of ranks.
        """
        return self._place[3]

    def set_epoch(self, epoch: int) -> None:
        """The epoch of the next pass. Not needed: each pass is the next one. After
        load_state_dict() into this epoch that pass is still the rest of it.
        """
        epoch = _arguments.whole("epoch", epoch, 0, 2**32 - 1)
        self._check_process()
        with self._lock:
            self._place = self._after_epoch(self._place)
            if epoch == self._place[0] and self._resumed:
                return
            if epoch != self._place[0]:
                self._place = (epoch, 0, 0, self.fingerprint)
            elif self._place != self._epoch_begin():
                self._place = (*self._epoch_begin()[:2], 0, self.fingerprint)
            else:
                return
            self._turn = None

    def state_dict(self) -> dict[str, Any]:
        """The place after the last batch yielded, and what stream it is of."""
        return self._state_at(self._place)

    def _state_at(self, place: Place) -> dict[str, Any]:
        return dict(json.loads(self._stream_of_data().state_at(
            self._after_epoch(place))))

    def _stream_of_data(self) -> _engine.Stream:
        return self._open or self._stream()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on after that place: with any number of ranks and threads.

        Raises ValueError that names each option in which the streams differ.
        """
        if not isinstance(state, Mapping):
            raise _arguments.wrong("state", state, "what state_dict() returned")
        try:
            text = json.dumps(dict(state))
        except (TypeError, ValueError, RecursionError):
            raise _arguments.wrong(
                "state", state, "what state_dict() returned") from None
        self._check_process()
        place = self._stream_of_data().place_of(text)
        with self._lock:
            self._go_on_at(place)

    def _after_epoch(self, place: Place) -> Place:
        """The end of an evaluation's epoch is the beginning of its next one, as in
        training.
        """
        epoch, position, _, fed = place
        if (not self._training
                and position > (len(self) - 1) * self._options["batch_size"]):
            return (epoch + 1) % 2**32, 0, 0, fed
        return place

    def _go_on_at(self, place: Place) -> None:
        """The next pass begins there."""
        place = self._after_epoch(place)
        self._place, self._turn = place, None
        self._resumed = place[:3] != (0, 0, 0)

    @property
    def stats(self) -> dict[str, Any]:
        """Times, counts and queues of all stages: docs/throughput.md."""
        self._check_process()
        stream = self._open
        return dict(json.loads(stream.stats() if stream else self._last[0]))

    @property
    def verdict(self) -> str:
        """What bounds the run, and what would make it faster."""
        self._check_process()
        stream = self._open
        return stream.verdict() if stream else self._last[1]

    @property
    def index(self) -> Index:
        """The records that it reads."""
        return self._index

    def close(self) -> None:
        """Stops the threads. The next pass starts them again."""
        stream = self._open
        # Before others see that there is none. After fork() it cannot be asked.
        if stream is not None and self._process == os.getpid():
            self._last = stream.stats(), stream.verdict()
        stream, self._open = self._open, None
        self._pinned = None
        if stream is not None:
            stream.stop()

    def _added(self) -> dict[str, Any]:
        """Attributes of users and of derived classes."""
        return {name: value for name, value in vars(self).items()
                if name not in self._own}

    def __reduce__(self) -> Any:
        return (_make, (type(self), *self._arguments),
                (self._place, self._added(), self._process))

    def __setstate__(self, state: tuple[Place, dict[str, Any], int]) -> None:
        place, added, self._comes_from = state
        self._go_on_at(place)
        vars(self).update(added)

    def __deepcopy__(self, memo: Any) -> Loader:
        memo[id(self)] = made = copy.copy(self)
        vars(made).update(copy.deepcopy(self._added(), memo))
        return made

    def __repr__(self) -> str:
        return (f"Loader of {len(self._index):,} records, {len(self):,} batches "
                f"an epoch, rank {self._rank} of {self._world_size}")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{stage['name']}<td>{stage['items']:,}"
            f"<td>{stage['busy_seconds']:.2f}<td>{stage['wait_seconds']:.2f}"
            for stage in self.stats["stages"])
        return (f"<p>{self!r}<p>{self.verdict}<table><tr><th>stage<th>items"
                f"<th>busy, s<th>wait, s{rows}</table>")


def _make(kind: type[Loader], data: Index,
          arguments: dict[str, Any]) -> Loader:
    data._is_open = False  # The first loader has warned.
    made = kind.__new__(kind)
    Loader.__init__(made, data, **arguments)
    return made


def _selection(records: int, subset: Any, weights: Any, places: Any) -> Any:
    """(record numbers, their weights or None, places of an epoch); None: each
    record once.
    """
    places = _arguments.whole("epoch_records", places, 0, 2**32 - 1)
    if subset is None and weights is None and places == 0:
        return None
    ids = (np.arange(records, dtype=np.uint32) if subset is None else
           _arguments.subset(subset, records))
    return ids, None if weights is None else _arguments.weights(
        weights, len(ids)), places


def _has_label_key(options: Mapping[str, Any]) -> bool:
    """Whether labels are read where there are no images."""
    return bool(options.get("label_key"))


def _check_records(options: Mapping[str, Any], fields: Mapping[str, Field],
                   layout: str, objects: Objects | None) -> None:
    """ValueError where a batch without images would have an option of images, or
    nothing.
    """
    given = [name for name in options
             if name in _OF_IMAGES or _arguments.is_of_views(name)]
    given += (["layout"] * (layout != "rgb")
              + ["objects"] * (objects is not None))
    if given:
        raise ValueError(f"views=() and {', '.join(given)}: batches without images "
                         "have no options of images")
    if not fields and not _has_label_key(options):
        raise ValueError("views=(): batches without images need fields, "
                         "or a label_key")


def _check_passes(given: Mapping[str, Any]) -> None:
    """ValueError where the stream would end, and passes could not go on."""
    if epochs := given.get("repeat"):
        raise ValueError(f"repeat={epochs}: each pass of a loader is one epoch, the "
                         f"next one: leave repeat out, and write `for epoch in "
                         f"range({epochs}): for batch in loader: ...`")


def _check_pool(given: Mapping[str, Any]) -> None:
    """ValueError where a pool cannot have the batches that a loader lends."""
    if given.get("batches_in_pool") == 2 and "max_lent" not in given:
        raise ValueError("batches_in_pool=2: must be at least 3, or give max_lent=1 "
                         "(the next batch is a copy while the loop holds one) or "
                         "max_lent=0")


def _check_most(options: Mapping[str, Any],
                chosen: Mapping[str, bool]) -> None:
    """ValueError where records are chosen and also cut."""
    given = [name for name, is_given in chosen.items() if is_given]
    if given and (most := options.get("max_records")):
        raise ValueError(f"{given[0]} and max_records={most}: give one of the "
                         "two")


def _check_order(options: Mapping[str, Any],
                 chosen: Mapping[str, bool]) -> None:
    """ValueError where an order cannot have the chosen records."""
    given = [name for name, is_given in chosen.items() if is_given]
    if not given:
        return
    _check_most(options, chosen)
    training = options["training"]
    shuffle = options.get("shuffle", "auto")
    cause = f"shuffle={shuffle!r}"
    if shuffle == "auto":
        shuffle, cause = ("global", "") if training else ("none",
                                                          "training=False")
    if shuffle != "global" and (shuffle != "none" or given != ["subset"]):
        raise ValueError(f"{given[-1]} and {cause}: this order takes all records, "
                         f"each once; leave {given[-1]} out, or give "
                         "shuffle='global'")
