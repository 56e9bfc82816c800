"""Parquet files of images, as Hugging Face has them, as tars to convert."""

from __future__ import annotations

import importlib
import io
import json
import os
import pathlib
import tarfile
from collections.abc import Iterator
from typing import Any

from infeed._errors import DataError

_ENDINGS = {b"\xff\xd8\xff": "jpg", b"\x89PNG": "png", b"RIFF": "webp"}


def files_in(source: str | os.PathLike[str]) -> list[pathlib.Path]:
    """The Parquet files that are meant: the file, or those in the folder."""
    path = pathlib.Path(source)
    if path.suffix == ".parquet":
        return [path]
    return sorted(path.glob("*.parquet")) if path.is_dir() else []


def write_tars(files: list[pathlib.Path], folder: pathlib.Path) -> None:
    """A tar of samples for each file, with its name, and dataset.json with the
    classes that the files name.
    """
    try:
        pyarrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError("Parquet files are read by pyarrow: pip install "
                          "pyarrow") from None
    names: list[str] = []
    for path in files:
        try:
            with parquet.ParquetFile(path) as table:
                _check_columns(table.schema_arrow.names, path)
                names = _class_names(table.schema_arrow.metadata) or names
                _write_tar(table, folder / f"{path.stem}.tar")
        except (pyarrow.ArrowException, OSError) as error:
            if getattr(error, "errno", None) is not None:
                raise  # of the disk
            raise DataError(f"{path}: {error}", path=str(path),
                            reason=str(error)) from None
    if names:
        (folder / "dataset.json").write_text(json.dumps(
            {"format": "infeed dataset", "version": 1, "seed": 0,
             "classes": names, "first_label": 0, "splits": []}))


def _class_names(metadata: dict[bytes, bytes] | None) -> list[str]:
    """Those of a ClassLabel in what the package `datasets` writes."""
    described = json.loads((metadata or {}).get(b"huggingface", b"{}"))
    features = described.get("info", {}).get("features", {})
    return list(features.get("label", {}).get("names", []))


def _check_columns(columns: list[str], path: pathlib.Path) -> None:
    if "image" not in columns or "label" not in columns:
        raise ValueError(f"{path}: has the columns {', '.join(columns)}; it "
                         "needs image and label")


def _write_tar(table: Any, tar_path: pathlib.Path) -> None:
    number = 0
    with tarfile.open(tar_path, "w") as tar:
        for image, label in _rows(table):
            if isinstance(image, dict):
                image = image["bytes"]
            # Without an image the sample is a bad record, which the converter
            # counts and names.
            _add(tar, f"{number:09d}.cls", str(label).encode())
            if image is not None:
                ending = _ENDINGS.get(image[:3]) or _ENDINGS.get(image[:4], "jpg")
                _add(tar, f"{number:09d}.{ending}", image)
            number += 1


def _rows(table: Any) -> Iterator[tuple[Any, Any]]:
    for batch in table.iter_batches(64, columns=["image", "label"]):
        yield from zip(batch.column("image").to_pylist(),
                       batch.column("label").to_pylist())


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))
