#!/usr/bin/env python3
"""Writes webdataset/*.tar and webdataset_goldens.json: archives and what is in
them.

usage: make_webdataset_goldens.py [FOLDER]

webdataset's TarWriter, Python's tarfile and GNU tar write the archives. tarfile
reads the members back: names, kinds, places; webdataset the samples: keys,
endings, SHA-256 of each part, labels.
"""

import hashlib
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile

import webdataset
from PIL import Image
from webdataset.tariterators import tarfile_samples


tarfile.RECORDSIZE = 1024  # Less padding at the archives' ends.


def image(seed, kind):
    draw = random.Random(seed)
    pixels = Image.frombytes("RGB", (8, 8), draw.randbytes(192))
    out = io.BytesIO()
    pixels.save(out, kind)
    return out.getvalue()


def add(archive, name, data=b"", kind=tarfile.REGTYPE, linkname=""):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = linkname
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    archive.addfile(info, io.BytesIO(data))


def by_webdataset():
    out = io.BytesIO()
    with webdataset.TarWriter(out, mtime=0) as writer:
        for i in range(2):
            writer.write({
                "__key__": f"train/n0144/{i:06d}",
                "jpg": image(i, "JPEG"),
                "cls": 100 * i,
                "json": {"label": i, "caption": "ein Käfer"},
            })
        writer.write({"__key__": "Train/last", "seg.png": image(9, "PNG"),
                      "jpeg": image(8, "JPEG")})
    return out.getvalue()


def short_names():
    """Names that are of samples, and such that are not."""
    yield "readme", b"a data set\n"
    yield "a.jpg", image(1, "JPEG")
    yield ".hidden", b"x"
    yield "__meta__", b"x"
    yield "__meta__/a.jpg", b"x"
    yield "__meta.x__", b"x"
    yield "A.TXT", b"a sample of its own: keys keep their case"
    yield "a.JSON", b'{"cls": 7}'
    yield "a.seg.PNG", b"not decoded here"
    yield "a.", b"an empty ending"
    yield "__x__.cls", b" 12\n"
    yield "__x__.png", image(3, "PNG")
    yield "a.txt", b"a key that comes again is a new sample"
    yield "dir.d/a", b"no dot in the base name"
    yield "dir.d/a.jpg", b"\xff\xd8\xff"
    yield "./dir.d/a.cls", b"-3"
    yield "./dir.d/a.b", b""


def other_names(long_names):
    yield "K\u00e4se \u732b/\u00e9.Jpg", b"\xff\xd8\xff"
    yield "K\u00e4se \u732b/\u00e9.cls", b"not a number"
    for name in long_names:
        yield name + ".jpg", b"\xff\xd8\xff"
        yield name + ".cls", b"6"


def by_tarfile(form, files, **options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, **options) as archive:
        add(archive, "dir.d/", kind=tarfile.DIRTYPE)
        for i, (name, data) in enumerate(files):
            add(archive, name, data)
            if i == 1:
                add(archive, "pipe.jpg", kind=tarfile.FIFOTYPE)
                add(archive, "folder.jpg", kind=tarfile.DIRTYPE)
    return out.getvalue()


def with_links():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        add(archive, "1.jpg", image(1, "JPEG"))
        add(archive, "2.jpg", kind=tarfile.LNKTYPE, linkname="1.jpg")
        add(archive, "2.cls", b"2")
        add(archive, "3.jpg", kind=tarfile.SYMTYPE, linkname="x" * 150)
        add(archive, "4.jpg", image(4, "JPEG"))
    return out.getvalue()


def gnu_tar(*options, sparse=0):
    """sparse: how many islands of data a sparse file has."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        deep = root / ("folder" * 10) / ("inner" * 15)
        if not sparse:
            deep.mkdir(parents=True)
            (deep / "long.jpg").write_bytes(image(1, "JPEG"))
            (deep / "long.cls").write_bytes(b"1\n")
        (root / "1.jpg").write_bytes(image(2, "JPEG"))
        (root / "3.jpg").write_bytes(image(3, "JPEG"))
        if sparse:
            with open(root / "2.jpg", "wb") as out:
                for i in range(sparse):
                    out.seek((2 * i + 1) << 16)
                    out.write(b"x")
                out.truncate(1 << 20)
        for path in [root, *root.rglob("*")]:
            os.utime(path, (0, 0))
        command = ["tar", "-c", "-b1", "--sort=name", "--owner=0", "--group=0",
                   "--numeric-owner", *options,
                   *sorted(path.name for path in root.iterdir())]
        return subprocess.run(command, cwd=root, check=True,
                              stdout=subprocess.PIPE).stdout


def gnu_pax(*options, **more):
    return gnu_tar("--format=posix", "--pax-option=exthdr.name=%d/Pax/%f,"
                   "delete=atime,delete=ctime", *options, **more)


def archives():
    long = ["folder/" * 12 + "name" * 20, "f" * 150 + "/" + "name" * 20]
    longer = [*long, "name" * 70, "\u00e9" * 130]
    return {
        "webdataset": by_webdataset(),
        "ustar": by_tarfile(tarfile.USTAR_FORMAT,
                            [*short_names(), *other_names(long)]),
        "gnu": by_tarfile(tarfile.GNU_FORMAT, other_names(longer)),
        "pax": by_tarfile(tarfile.PAX_FORMAT, other_names(longer),
                          pax_headers={"comment": "one for all"}),
        "links": with_links(),
        "tar_v7": gnu_tar("--format=v7", "--exclude=folder*"),
        "tar_ustar": gnu_tar("--format=ustar"),
        "tar_gnu": gnu_tar("--format=gnu"),
        "tar_pax": gnu_pax(),
        "tar_sparse_gnu": gnu_tar("-S", "--format=gnu", sparse=5),
        "tar_sparse_00": gnu_pax("-S", "--sparse-version=0.0", sparse=1),
        "tar_sparse_10": gnu_pax("-S", "--sparse-version=1.0", sparse=1),
    }


def hex_of(name):
    return name.encode("utf-8", "surrogateescape").hex()


def kind_of(info):
    if info.issparse():
        return "sparse"
    if info.isreg():
        return "file"
    if info.isdir():
        return "folder"
    return "link" if info.issym() or info.islnk() else "other"


def members(path):
    with tarfile.open(path) as archive:
        found = []
        for info in archive:
            member = {"name": hex_of(info.name), "kind": kind_of(info)}
            # Of a sparse file, tarfile gives the places of its parts.
            if not info.issparse():
                member["data"] = info.offset_data
                member["bytes"] = info.size
            found.append(member)
        return found


def label_of(sample):
    try:
        if "cls" in sample:
            return int(sample["cls"])
        fields = json.loads(sample.get("json", "{}"))
        return fields.get("label", fields.get("cls", -1))
    except ValueError:
        return -1


def samples(path):
    return [
        {
            "key": hex_of(sample["__key__"]),
            "label": label_of(sample),
            "parts": [
                {
                    "ending": hex_of(ending),
                    "sha256": hashlib.sha256(data).hexdigest(),
                }
                for ending, data in sample.items()
                if not ending.startswith("__")
            ],
        }
        for sample in tarfile_samples([{"url": str(path)}])
    ]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    (folder / "webdataset").mkdir(exist_ok=True)
    goldens = {}
    for name, data in archives().items():
        path = folder / "webdataset" / f"{name}.tar"
        path.write_bytes(data)
        goldens[name] = {"members": members(path)}
        # Where these have a link or a sparse file, infeed has another policy.
        if name != "links" and "sparse" not in name:
            goldens[name]["samples"] = samples(path)
    lines = (f'"{name}": {json.dumps(found, separators=(",", ":"))}'
             for name, found in goldens.items())
    (folder / "webdataset_goldens.json").write_text(
        "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
