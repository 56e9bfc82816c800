"""Which records there are, and where."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any, Union

from infeed import _arguments, _engine

Data = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


class Index:
    """The records of some shards, for loaders and for random access.

    data: shards of TFRecords, WebDataset tars or zips, as a file, a folder, a
    pattern ("a-*.tar", "a-{000..099}.tar"), a URL, or a list of these; or a
    folder of images, CLASS/** or {train,val,test}/CLASS/**, or a zip or tar of
    one, with classes numbered as torchvision's ImageFolder does. All are read
    as they are, and what kind they are comes from their content. split: which
    part of the data set ("train", "validation", "test"); default: all, and ""
    says that all are meant for training, too; one that is not there is an error.
    Threads may share an index, and several loaders one.
    """

    def __init__(self, data: Data, *, split: str | None = None,
                 use_cache: bool = True) -> None:
        if split is not None:
            split = _arguments.text("split", split)
        use_cache = _arguments.truth("use_cache", use_cache)
        spec = _spec(data)
        self._native = _engine.index_data(os.fsencode(spec), split or "",
                                          use_cache)
        for note in self._native.notes:
            _warn(note)
        self._names: list[str] | None = None  # not looked up yet
        self._recipe: Any = (_of_data, (spec, split, use_cache))
        self._is_open = split is None  # Which split was not said.
        self._has_labels = True  # or perhaps

    @classmethod
    def of_images(cls, images: Iterable[tuple[str | os.PathLike[str], int]],
                  ) -> Index:
        """An index of image files, each (path, label): labels from 0, or -1
        where it is not known. If all are -1, batch.labels is None; beside others
        such an image is a bad record, or with require_labels=False has label -1.
        """
        try:
            pairs = [(path, label) for path, label in images]
        except (TypeError, ValueError):
            raise _arguments.wrong("images", images,
                                   "pairs (path, label)") from None
        files = [(_absolute(_arguments.path("images: a path", path)),
                  _arguments.whole("images: a label", label, -1, 2**31 - 2))
                 for path, label in pairs]
        index = cls.__new__(cls)
        index._native = _engine.index_images(
            [(os.fsencode(path), label) for path, label in files])
        for note in index._native.notes:
            _warn(note)
        index._recipe = (Index.of_images, (files,))
        index._names = []
        index._is_open = False
        index._has_labels = any(label >= 0 for _, label in files)
        return index

    def __reduce__(self) -> Any:
        return self._recipe

    def __deepcopy__(self, memo: Any) -> Index:
        return self  # An index is immutable.

    def __len__(self) -> int:
        return len(self._native)

    @property
    def shards(self) -> list[str]:
        """The shards' paths, in the order of their records."""
        return list(self._native.shards)

    @property
    def class_names(self) -> list[str]:
        """The names of the classes 0, 1, ...; empty where they are not known."""
        if self._names is None:
            self._names = _engine.class_names(self._native)
        return list(self._names)

    @property
    def identity(self) -> str:
        """A hash of the shards' names and of all records' places, in hex."""
        return self._native.identity

    def __repr__(self) -> str:
        return f"Index of {len(self):,} records in {len(self.shards):,} files"


def of_default_split(data: Data, training: bool) -> Index:
    """The records to train with or to evaluate; of one file whose name says another
    split, that one's.
    """
    spec = _spec(data)
    wanted = "train" if training else "validation"
    split = _engine.default_split(os.fsencode(spec), wanted)
    index = Index(spec, split=split)
    if training and split != wanted:
        _warn(f"{index.shards[0]}: its name says split={split!r}, and it is read for "
              "training, shuffled and augmented; training=False evaluates, "
              f"split={split!r} says that it is meant")
    return index


def of_index(index: Index, split: object, trains_on_all: bool) -> Index:
    """The index that a loader is given: it has its split."""
    if split is not None:
        raise ValueError(f"split={_arguments.shown(split)}: an Index has its records "
                         "already; give it there, "
                         f"infeed.Index(data, split={_arguments.shown(split)})")
    splits = index._native.splits if trains_on_all and index._is_open else []
    if len(splits) > 1:
        _warn(f"training with the splits {', '.join(splits)} of an Index: "
              "infeed.Index(data, split='train') has one of them, split='' says "
              "that all are meant")
    return index


def _warn(text: str) -> None:
    """Warns at the user's line: the first one outside of the package."""
    level, frame = 1, sys._getframe()
    while (frame.f_globals.get("__name__", "").startswith("infeed.")
           and frame.f_back):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def _spec(data: Data) -> str:
    """Text for the engine, with absolute paths: os.chdir() changes nothing."""
    paths = _arguments.paths(
        "data", data, "a path, a pattern, a URL, a list of these, or an Index")
    # A list's paths may have commas.
    spec = paths[0] if isinstance(data, (str, os.PathLike)) else ",".join(
        path.replace(",", "\\,") for path in paths)
    return os.fsdecode(_engine.absolute_data(os.fsencode(spec)))


def _absolute(path: str) -> str:
    return path if path.startswith("/") else os.fsdecode(
        _engine.absolute_path(os.fsencode(path)))


def _of_data(data: str, split: str | None, use_cache: bool) -> Index:
    return Index(data, split=split, use_cache=use_cache)
