"""Parquet files of images, as Hugging Face has them, as tars to convert."""

from __future__ import annotations

import glob
import importlib
import io
import json
import math
import os
import pathlib
import re
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

from infeed._errors import DataError

_ENDINGS = {b"\xff\xd8\xff": "jpg", b"\x89PNG": "png", b"RIFF": "webp"}

# As Hugging Face names the files of a set; some have a hash behind the count.
_IN_SET = re.compile(r"(.+)-(\d{5,})-of-(\d{5,})(?:-[0-9a-f]+)?\.parquet", re.I)


def files_in(source: str | os.PathLike[str]) -> list[pathlib.Path]:
    """The Parquet files that are meant: the file, those in the folder that are not
    hidden, or those in one folder whose names match a pattern.
    """
    path = pathlib.Path(source)
    if path.is_dir():
        return sorted(file for file in path.glob("*")
                      if _is_parquet(file) and not file.name.startswith("."))
    if not _is_parquet(path):
        return []
    found = [] if path.exists() else sorted(
        path.parent / name for name in glob.glob(path.name, root_dir=path.parent))
    return found or [path]


def require_whole_sets(files: list[pathlib.Path]) -> None:
    """DataError if those of a folder lack numbers of their -of-NNNNN names."""
    sets: dict[str, dict[int, list[int]]] = {}
    for file in files:
        if name := _IN_SET.fullmatch(file.name):
            counts = sets.setdefault(name[1], {})
            counts.setdefault(int(name[3]), []).append(int(name[2]))
    for prefix, counts in sets.items():
        (count, there), *others = counts.items()
        begin = 1 if count in there and 0 not in there else 0
        lacks = count - sum(begin <= number < begin + count for number in there)
        if others:
            reason = (f"{prefix}-* are files of two sets, -of-{count:05d} and "
                      f"-of-{others[0][0]:05d}: move those of one away")
        elif len(set(there)) < len(there):
            reason = (f"{prefix}-* has two files of one number: move the wrong "
                      "one away")
        elif lacks:
            first = next(number for number in range(begin, begin + count)
                         if number not in there)
            reason = (f"{lacks} of {count} files are missing, the first is "
                      f"{prefix}-{first:05d}-of-{count:05d}.parquet: restore "
                      "them, or convert those that are there one at a time")
        else:
            continue
        folder = files[0].parent
        raise DataError(f"{folder}: {reason}", path=str(folder), reason=reason)


def _is_parquet(path: pathlib.Path) -> bool:
    return path.suffix.lower() == ".parquet"


def write_tars(files: list[pathlib.Path], folder: pathlib.Path,
               image_key: str = "", label_key: str = "") -> None:
    """A tar of samples for each file that has rows, with its name, and dataset.json
    with the classes that the files name. The keys are columns; "": they are found.
    """
    try:
        pyarrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError("Parquet files are read by pyarrow: pip install "
                          "pyarrow") from None
    named: tuple[pathlib.Path, list[str]] | None = None
    is_empty = True
    for path in files:
        try:
            with parquet.ParquetFile(path) as table:
                if not table.metadata.num_rows:
                    continue  # filters leave such files
                is_empty = False
                rows = _Rows(table, path, pyarrow.types, image_key, label_key)
                if rows.names and named and rows.names != named[1]:
                    raise ValueError(f"{path}: names other classes than "
                                     f"{named[0]}: convert them one at a time")
                if rows.names:
                    named = (path, rows.names)
                tar = folder / f"{path.name}.tar"
                _write_tar(rows, tar)
                # As of a tar that is kept: a finished shard stays so.
                time = path.stat().st_mtime_ns
                os.utime(tar, ns=(time, time))
        except (pyarrow.ArrowException, OSError) as error:
            if getattr(error, "errno", None) is not None:
                raise  # an error of the disk
            if isinstance(error, DataError):
                raise
            raise DataError(f"{path}: {error}", path=str(path),
                            reason=str(error)) from None
    if is_empty:
        where = files[0] if len(files) == 1 else files[0].parent
        raise DataError(f"{where}: has no rows", path=str(where),
                        reason="has no rows")
    if named:
        (folder / "dataset.json").write_text(json.dumps(
            {"format": "infeed dataset", "version": 1, "seed": 0,
             "classes": named[1], "first_label": 0, "splits": []}))


def with_own_names(text: str, files: list[pathlib.Path],
                   folder: str | os.PathLike[str]) -> str:
    """A text about the tars in the folder, as one about the Parquet files: rows
    are named FILE.parquet#ROW, from 0.
    """
    own = {path.name: str(path) for path in files}

    def name(tar: re.Match[str]) -> str:
        row = f"#{int(tar[2])}" if tar[2] else ""
        return own.get(tar[1], tar[1]) + row

    text = re.sub(r"sample \d{9} has no image \(its members: \d{9}\.cls\)",
                  "the row has no bytes of an image", text)
    return re.sub(re.escape(f"{os.fspath(folder)}{os.sep}") +
                  r"([^#:\n]*?)\.tar(?:#(\d+)(?:\.\w+)?)?", name, text)


class _Rows:
    """The images and labels of a file, and the names of its classes."""

    def __init__(self, table: Any, path: pathlib.Path, types: Any,
                 image_key: str, label_key: str) -> None:
        self._table = table
        self._path = path
        self._schema = table.schema_arrow
        described = json.loads(
            (self._schema.metadata or {}).get(b"huggingface", b"{}"))
        features = described.get("info", {}).get("features", {})

        def is_image(column: str) -> bool:
            kind = self._schema.field(column).type
            if types.is_dictionary(kind):
                kind = kind.value_type
            return bool(types.is_struct(kind) and "bytes" in
                        [field.name for field in kind]
                        or str(kind) in ("binary", "large_binary", "binary_view"))

        def is_label(column: str) -> bool:
            return (column in ("label", "labels", "class", "target") or
                    features.get(column, {}).get("_type") == "ClassLabel")

        self._image = self._column("image", image_key, is_image)
        self._label = self._column("label", label_key, is_label)
        kind = self._schema.field(self._label).type
        if not (types.is_integer(kind) or types.is_floating(kind)):
            what = ("text" if types.is_string(kind) or types.is_large_string(kind)
                    else f"values of the type {kind}")
            raise self._error(f"the column {self._label} holds {what}; labels "
                              "are whole numbers, from 0")
        self.names = list(features.get(self._label, {}).get("names") or [])

    def __iter__(self) -> Iterator[tuple[bytes | None, int]]:
        number = 0
        has_bytes = False
        path = None
        for batch in self._table.iter_batches(
                64, columns=[self._image, self._label]):
            for image, label in zip(batch.column(self._image).to_pylist(),
                                    batch.column(self._label).to_pylist()):
                if isinstance(image, dict):
                    path = path or image.get("path")
                    image = image.get("bytes", image)
                if not isinstance(image, (bytes, type(None))):
                    raise self._error(
                        f"the column {self._image} holds a "
                        f"{type(image).__name__}; images are bytes, or a struct "
                        "that has them as bytes")
                has_bytes = has_bytes or image is not None
                yield image, self._checked(label, number)
                number += 1
        # Hugging Face's datasets opens such paths from the working folder, so they
        # name no certain file.
        if path and not has_bytes:
            raise self._error(
                f"the column {self._image} holds paths of images, such as {path}, "
                "and no bytes: write the file with the images in it, as "
                "Dataset.to_parquet() of Hugging Face's datasets does, or convert "
                "the folder of the images")

    def _column(self, what: str, key: str, fits: Callable[[str], bool]) -> str:
        """The one that fits; of several the one that is called so."""
        columns = list(self._schema.names)
        found = [key] if key else [
            column for column in columns if fits(column)]
        if len(found) > 1 and what in found:
            found = [what]
        if len(found) == 1 and found[0] in columns:
            return found[0]
        if len(found) > 1:
            raise self._error(f"{found[0]} and {found[1]} may both be the "
                              f"{what}: give {what}_key={found[0]} or another")
        raise self._error(f"has the columns {', '.join(columns)}, and no {what} "
                          f"{key or 'among them'}: give {what}_key")

    def _checked(self, label: Any, number: int) -> int:
        reason = ""
        if label is None or not math.isfinite(label) or label != int(label):
            reason = f"the label is {label}, not a whole number"
        elif label < 0:
            reason = f"the label is {label}; labels count from 0"
        elif self.names and label >= len(self.names):
            reason = (f"the label is {label}, and the file names "
                      f"{len(self.names)} classes")
        if reason:
            raise DataError(f"{self._path}: row {number}: {reason}",
                            path=str(self._path), reason=reason)
        return int(label)

    def _error(self, text: str) -> ValueError:
        return ValueError(f"{self._path}: {text}")


def _write_tar(rows: _Rows, tar_path: pathlib.Path) -> None:
    with tarfile.open(tar_path, "w") as tar:
        for number, (image, label) in enumerate(rows):
            # Without an image the sample is a bad record, which the converter
            # counts and names.
            _add(tar, f"{number:09d}.cls", str(label).encode())
            if image is not None:
                ending = _ENDINGS.get(image[:3]) or _ENDINGS.get(image[:4], "jpg")
                _add(tar, f"{number:09d}.{ending}", image)


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))
