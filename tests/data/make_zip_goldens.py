#!/usr/bin/env python3
"""Writes zip/*.zip and zip_goldens.json: archives and what is in them.

usage: make_zip_goldens.py [FOLDER]

Python's zipfile writes the archives, and Info-ZIP's zip those named infozip*.
zipfile reads the entries back: names, offsets, sizes, CRC-32 and SHA-256.
"""

import hashlib
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import zipfile

DATE = (2024, 2, 29, 12, 0, 0)


def contents():
    draw = random.Random(1)
    return {
        "train/cat/1.jpg": draw.randbytes(1500),
        "train/cat/2.jpg": b"compresses well " * 200,
        "train/dog/empty.png": b"",
        "train/Käse 猫/é.jpg": draw.randbytes(300),
        "readme.txt": b"a data set\n",
    }


class Unseekable(io.RawIOBase):
    """A pipe, as far as zipfile can tell."""

    def __init__(self):
        super().__init__()
        self.bytes = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.bytes += data
        return len(data)


def member(name, method):
    info = zipfile.ZipInfo(name, DATE)
    info.compress_type = method
    return info


def write(archive, method=None, force_zip64=False):
    for i, (name, data) in enumerate(contents().items()):
        # Without a method for all, stored and deflated entries alternate.
        chosen = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[i % 2]
        info = member(name, chosen if method is None else method)
        with archive.open(info, "w", force_zip64=force_zip64) as out:
            out.write(data)


def made(method=None, comment=b"", prefix=b"", force_zip64=False):
    out = io.BytesIO(prefix)
    out.seek(len(prefix))
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(member("train/", zipfile.ZIP_STORED), b"")
        write(archive, method, force_zip64)
        archive.comment = comment
    return out.getvalue()


def streamed(force_zip64=False):
    out = Unseekable()
    with zipfile.ZipFile(out, "w") as archive:
        write(archive, force_zip64=force_zip64)
    return bytes(out.bytes)


def with_zip64_directory():
    """Small archives have no zip64 records; lower limits make zipfile write
    them, also into the directory's entries."""
    limits = zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT
    zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = 1000, 2
    try:
        return made(force_zip64=True)
    finally:
        zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = limits


def infozip(*options, to_pipe=False):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, data in contents().items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for path in [root, *root.rglob("*")]:
            os.utime(path, (1709208000, 1709208000))
        command = ["zip", "-q", "-r", "-X", *options]
        command += ["-" if to_pipe else "made.zip", "readme.txt", "train"]
        run = subprocess.run(command, cwd=root, check=True,
                             stdout=subprocess.PIPE)
        return run.stdout if to_pipe else (root / "made.zip").read_bytes()


def entries(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = [
            {
                # The bytes in the archive: zipfile takes them for CP437 if
                # the UTF-8 flag is not set.
                "name": info.filename.encode(
                    "utf-8" if info.flag_bits & 0x800 else "cp437"
                ).hex(),
                "offset": info.header_offset,
                "bytes": info.file_size,
                "crc32": info.CRC,
                "sha256": hashlib.sha256(archive.read(info)).hexdigest(),
            }
            for info in archive.infolist()
            if not info.is_dir()
        ]
    return sorted(found, key=lambda entry: entry["offset"])


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    archives = {
        "stored": made(zipfile.ZIP_STORED),
        "deflated": made(zipfile.ZIP_DEFLATED),
        "comment": made(comment=b"photos, see https://example.org " * 40),
        "prefix": made(prefix=b"#!/bin/sh\nexit 0\n" * 10),
        "zip64": with_zip64_directory(),
        "streamed": streamed(),
        "streamed_zip64": streamed(force_zip64=True),
        "infozip": infozip(),
        "infozip_stored": infozip("-0"),
        "infozip_zip64": infozip("-fz"),
        "infozip_piped": infozip(to_pipe=True),
        "infozip_piped_stored": infozip("-0", to_pipe=True),
    }
    (folder / "zip").mkdir(exist_ok=True)
    for name, data in archives.items():
        (folder / "zip" / f"{name}.zip").write_bytes(data)
    goldens = {name: entries(data) for name, data in archives.items()}
    (folder / "zip_goldens.json").write_text(
        json.dumps(goldens, indent=1) + "\n")


if __name__ == "__main__":
    main()
