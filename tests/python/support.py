"""What the package's tests share: a small data set, made once a process."""

import copy
import functools
import importlib.util
import os
import pathlib
import pickle
import struct
import subprocess
import tempfile
import unittest
import zlib

import numpy as np

import infeed.records

PROGRAMS = pathlib.Path(os.environ["INFEED_PROGRAMS"])
SIZE = 32  # of the images that tests ask for


def run(program, *arguments):
    """make_demo_images, or a program of the package, which are in one file."""
    words = ([PROGRAMS / program] if program == "make_demo_images" else
             [PROGRAMS / "package_programs", program])
    done = subprocess.run([*words, *map(str, arguments)], check=True,
                          capture_output=True, text=True)
    return done.stdout


def has(name):
    return importlib.util.find_spec(name) is not None


class WritesRecords(unittest.TestCase):
    """Records that the package's own Writer writes."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory()))

    def write(self, examples):
        path = self.folder / f"{len(list(self.folder.iterdir()))}.tfrecord"
        with infeed.records.Writer(path) as writer:
            for example in examples:
                writer.write_example(example)
        return path

    def assert_same(self, batches, expected):
        for batch, other in zip(batches, expected, strict=True):
            self.assertEqual(batch.state_dict(), other.state_dict())
            named, others = batch.as_dict(), other.as_dict()
            self.assertEqual(list(named), list(others))
            for name, array in named.items():
                np.testing.assert_array_equal(array, others[name])

    def assert_goes_on_when_pickled(self, loader):
        passing = iter(loader)
        next(passing)
        again = pickle.loads(pickle.dumps(loader))
        self.assert_same(list(again), list(passing))
        self.assert_same(list(copy.copy(loader)), list(loader))

    def assert_ranks_share_each_batch(self, load, batch_size):
        """load: makes a loader from options."""
        parts = [list(load(batch_size=batch_size // 2, rank=rank, world_size=2))
                 for rank in (0, 1)]
        for batch, *halves in zip(load(batch_size=batch_size), *parts, strict=True):
            for name, array in batch.as_dict().items():
                np.testing.assert_array_equal(array, np.concatenate(
                    [half.as_dict()[name] for half in halves]))

    def assert_jax_gets(self, plain, load):
        """The arrays of `plain` with and without a sharding; returns a batch with
        one. load: makes a batch from options.
        """
        import jax
        kind = jax.sharding.NamedSharding(
            jax.sharding.Mesh(jax.devices(), ("data",)),
            jax.sharding.PartitionSpec("data"))
        for sharding in (None, kind):
            batch = load(framework="jax", sharding=sharding)
            for name, array in batch.as_dict().items():
                self.assertIsInstance(array, jax.Array)
                np.testing.assert_array_equal(array, plain.as_dict()[name])
                if sharding:
                    self.assertEqual(array.sharding, kind)
        return batch


def png(pixels, palette=None):
    """A PNG file of uint8 [H, W, 3], or of uint8 or uint16 [H, W]: gray, or indexes
    of a palette, [n, 3].
    """
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))
    height, width = pixels.shape[:2]
    color = 2 if pixels.ndim == 3 else 0 if palette is None else 3
    rows = b"".join(b"\0" + row.astype(row.dtype.newbyteorder(">")).tobytes()
                    for row in pixels)
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height,
                                         8 * pixels.itemsize, color, 0, 0, 0))
            + (b"" if palette is None else chunk(b"PLTE", palette.tobytes()))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@functools.cache
def _folder():
    return tempfile.TemporaryDirectory(prefix="infeed_python_")


def new_folder():
    """One that is kept until the process ends."""
    return tempfile.mkdtemp(dir=_folder().name)


@functools.cache
def images():
    folder = pathlib.Path(_folder().name) / "images"
    run("make_demo_images", "--output", folder, "--train", 200,
        "--validation", 50)
    return folder


def photograph():
    """The bytes of one of the images."""
    return next((images() / "train").rglob("*.jpg")).read_bytes()


@functools.cache
def shards():
    """200 training images in three shards, 50 for validation; ten classes."""
    folder = pathlib.Path(_folder().name) / "shards"
    run("imagenet_to_records", "--raw_data_dir", images(),
        "--local_scratch_dir", folder, "--shards", 3)
    return str(folder)


def damaged(record=5):
    """A copy of the training shards in which one record's bytes are wrong."""
    folder = pathlib.Path(new_folder())
    for path in pathlib.Path(shards()).rglob("train-*-of-*"):
        (folder / path.name).write_bytes(path.read_bytes())
    first = sorted(folder.iterdir())[0]
    data = bytearray(first.read_bytes())
    at = 0
    for _ in range(record):
        at += 16 + int.from_bytes(data[at:at + 8], "little")
    data[at + 12 + 1000] ^= 0xFF
    first.write_bytes(data)
    return str(folder)
