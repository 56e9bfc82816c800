"""Any record of TFRecord files, and new files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple, overload

from infeed import _arguments, _engine
from infeed._errors import DataError
from infeed.index import Data, Index

__all__ = ["Records", "Report", "Writer", "open", "verify"]


class Records:
    """The payloads of an index's records; a checksum that fails is DataError.

    Threads may share it; DataLoader's workers may inherit it.
    """

    def __init__(self, index: Index) -> None:
        if not isinstance(index, Index):
            raise _arguments.wrong("index", index, "an infeed.Index")
        self._index = index
        self._native = _engine.Records(index._native)

    def __reduce__(self) -> Any:
        return Records, (self._index,)

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, record: int) -> bytes: ...

    @overload
    def __getitem__(self, record: slice) -> list[bytes]: ...

    def __getitem__(self, record: int | slice) -> bytes | list[bytes]:
        if isinstance(record, slice):
            return [self[i] for i in range(*record.indices(len(self)))]
        number = _arguments.whole("record", record)
        if not -len(self) <= number < len(self):
            raise IndexError(f"there is no record {number}: the index has "
                             f"{len(self):,}")
        return self._native[number]

    def parse(self, record: int) -> dict[str, list[Any]]:
        """The features of a record that is a tf.train.Example.

        Bytes of a key that are not UTF-8 are written as \\xNN.
        """
        return _engine.parse_example(
            self[_arguments.whole("record", record)])


def open(data: Index | Data, *, split: str = "") -> Records:
    """Any record of these shards: len(), [i], .parse(i)."""
    return Records(data if isinstance(data, Index) else Index(data, split=split))


class Writer:
    """Writes a TFRecord file (or object), complete or not at all.

    with Writer("x.tfrecord") as writer: writer.write(payload)

    Threads may share it.
    """

    def __init__(self, path: str | os.PathLike[str], *,
                 compression: str = "none") -> None:
        self._native = _engine.Writer(
            os.fsencode(_arguments.path("path", path)),
            _arguments.choice("compression", compression,
                              ("none", "gzip", "zlib")))

    def write(self, payload: bytes) -> None:
        """One record."""
        self._native.write(_arguments.octets("payload", payload))

    def write_example(self, features: Mapping[str, Any]) -> None:
        """A tf.train.Example. Of each key one value, or a list or an array of
        values: bytes or str (as UTF-8), float (as float32), int or bool (as
        int64). NULs at the end of an item of NumPy's arrays of bytes are padding,
        as to NumPy: to keep them, give a list.
        """
        if not isinstance(features, Mapping):
            raise _arguments.wrong("features", features, "a dict")
        self._native.write(_engine.build_example({
            _arguments.text("features: a key", key):
            _arguments.feature(f"features[{_arguments.shown(key)}]", value)
            for key, value in features.items()}))

    def close(self) -> None:
        """The file appears under its name."""
        self._native.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self._native.close()
        else:
            self._native.abandon()


class Report(NamedTuple):
    """What verify() found."""

    records: int
    bad: list[DataError]


def _errors(records: Records) -> Iterator[DataError]:
    for record in range(len(records)):
        try:
            records[record]
        except DataError as error:
            yield error


def verify(data: Index | Data, *, split: str = "") -> Report:
    """Reads every record and checks its checksums."""
    records = open(data, split=split)
    return Report(len(records), list(_errors(records)))
