"""Good inputs, made once: every case damages a copy."""

import functools
import os
import pathlib
import shutil
import struct
import subprocess
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = ("model=lenet,image_size=28,recipe=plain,train_batch_size=16,"
        "eval_batch_size=16,num_parallel_calls=1,batches_in_pool=4,"
        "iterations_per_loop=2,steps_per_checkpoint=2,optimizer=momentum")
STEPS = 4


class Inputs:
    def __init__(self, folder, programs, faults):
        self.folder = folder
        self.programs = programs
        self.faults = faults
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def _run(self, program, *words):
        environment = {**os.environ, "OMP_NUM_THREADS": "1",
                       "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = subprocess.run([self.programs / program, *map(str, words)],
                              env=environment, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f"hostile: {program}: {done.stderr[-2000:]}")

    @functools.cached_property
    def images(self):
        folder = self.folder / "images"
        self._run("make_demo_images", "--output", folder, "--train", "48",
                  "--validation", "16", "--threads", "1")
        return folder

    @functools.cached_property
    def data(self):
        """Shards of train and validation, with dataset.json."""
        return self._converted("data", "--shards", "3")

    @functools.cached_property
    def packed_data(self):
        return self._converted("packed", "--shards", "1", "--format", "pixels",
                               "--image_size", "32")

    def _converted(self, name, *words):
        folder = self.folder / name
        self._run("imagenet_to_records", "--raw_data_dir", self.images,
                  "--local_scratch_dir", folder, "--threads", "1", *words)
        return folder

    @functools.cached_property
    def shards_of_data(self):
        return sorted(self.data.glob("train-*"))

    @functools.cached_property
    def packed_shards(self):
        return sorted(self.packed_data.glob("train-*"))

    @functools.cached_property
    def model(self):
        """A model directory with checkpoints of steps 2 and 4."""
        folder = self.folder / "model"
        self._run("train_resnet", *self.training(self.data, folder, STEPS))
        return folder

    @functools.cached_property
    def export(self):
        folder = self.folder / "export"
        self._run("train_resnet", "--mode", "export", "--model_dir", self.model,
                  "--export_dir", folder, "--format", "safetensors")
        return next(folder.iterdir())

    def training(self, data, model, steps):
        return ["--data_dir", data, "--model_dir", model, "--mode", "train",
                "--device", "cpu",
                f"--params_override={TINY},train_steps={steps}"]

    @functools.cached_property
    def jpegs(self):
        """Of every kind that the fuzzers know, and drawn ones."""
        corpus = ROOT / "tests/fuzz/corpus/jpeg_difference_fuzz"
        kinds = [path.read_bytes() for path in sorted(corpus.glob("*.jpg"))]
        drawn = [path.read_bytes()
                 for path in sorted(self.images.rglob("*.jp*g"))[:8]]
        return drawn * 3 + kinds

    @functools.cached_property
    def pngs(self):
        return [png(size, depth, colour) for size in (1, 17, 40)
                for depth, colour in ((8, 0), (8, 2), (8, 6), (16, 2), (1, 0),
                                      (8, 3), (16, 4))]


CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def png_chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def png(size, depth, colour):
    """A square image; colour is the type of the format."""
    row = 1 + (size * CHANNELS[colour] * depth + 7) // 8
    rows = bytearray((7 * i) & 0xFF for i in range(size * row))
    rows[::row] = bytes(size)  # Rows without a filter.
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", size, size, depth, colour, 0, 0,
                                    0))]
    if colour == 3:
        chunks.append((b"PLTE", bytes(range(256)) * 3))
    chunks += [(b"tEXt", b"Comment\0drawn"), (b"IDAT", zlib.compress(rows)),
               (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*c) for c in chunks)
