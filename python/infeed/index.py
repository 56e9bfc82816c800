"""Which records there are, and where."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Union

from infeed import _engine

Data = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


class Index:
    """The records of some shards, for loaders and for random access.

    data: a shard, a folder, a pattern, a URL, or a list of these. split: which
    shards of a data set's folder ("train", "validation", "test"); "" for all.
    Threads may share an index, and several loaders one.
    """

    def __init__(self, data: Data, *, split: str = "",
                 use_cache: bool = True) -> None:
        parts = [data] if isinstance(data, (str, os.PathLike)) else list(data)
        shards = [shard for part in parts
                  for shard in _engine.find_shards(os.fspath(part), split)]
        self._native = _engine.index_shards(shards, use_cache)
        self._recipe: Any = (Index, (shards,))

    @classmethod
    def of_images(cls, images: Iterable[tuple[str | os.PathLike[str], int]],
                  ) -> Index:
        """An index of image files, each (path, label) with labels from 0."""
        index = cls.__new__(cls)
        index._native = _engine.index_images(
            files := [(os.fspath(path), int(label)) for path, label in images])
        index._recipe = (Index.of_images, (files,))
        return index

    def __reduce__(self) -> Any:
        return self._recipe

    def __len__(self) -> int:
        return len(self._native)

    @property
    def shards(self) -> list[str]:
        """The shards' paths, in the order of their records."""
        return list(self._native.shards)

    @property
    def identity(self) -> str:
        """A hash of the shards' names and of all records' places, in hex."""
        return self._native.identity

    def __repr__(self) -> str:
        return f"Index of {len(self):,} records in {len(self.shards):,} shards"
