"""The forms of one data set that the systems are given, made when asked for."""

import os
import pathlib
import shutil

import tfrecord
from environments import Unavailable, run

HERE = pathlib.Path(__file__).parent


def linked(shards, folder):
    """The shards under their names in a folder of their own."""
    folder.mkdir(parents=True)
    for shard in shards:
        try:
            os.link(shard, folder / shard.name)
        except OSError:  # Another file system.
            shutil.copy2(shard, folder / shard.name)


def shards_in(folder):
    return sorted(path for path in pathlib.Path(folder).glob("train-*-of-*")
                  if path.suffix == "")


class DataSets:
    """What is made stays in the work folder for the next run of the same
    shards.

      plain        the shards, with DALI's indexes and without seek indexes
      rows, mcu4   the shards, with seek indexes beside them
      original, shrunk
                   FFCV's files: quality 95; longer side 256, quality 90
      as_ffcv      the JPEGs of `shrunk` as shards with row indexes
      shorter      the images, shorter side 256, quality 90, as shards
      folder, folder_rows
                   the images in class folders; with a seek index beside them
      tars, tars_rows
                   the images as tars for webdataset; with seek indexes
      texts, mixed  record_forms.py's records, with DALI's indexes
      raccoon, coco_like
                   detection.py's photographs with boxes
    """

    def __init__(self, shards, work, programs, python):
        self.shards = [pathlib.Path(shard) for shard in shards]
        self.work = pathlib.Path(work)
        self.programs = pathlib.Path(programs)
        self.python = python  # of a system (environments.py)
        self.forget_others()

    def forget_others(self):
        """Removes what was made of other shards."""
        if not self.shards:  # Records alone are measured.
            return
        source = self.work / "source"
        same = "".join(f"{shard.resolve()} {shard.stat().st_size} "
                       f"{shard.stat().st_mtime_ns}\n"
                       for shard in self.shards)
        if not source.exists() or source.read_text() != same:
            for name in self.work.glob("*.done"):
                name.unlink()
            self.work.mkdir(parents=True, exist_ok=True)
            source.write_text(same)

    def files(self, name):
        """The files of a set, made if they are missing. Raises Unavailable."""
        self.work.mkdir(parents=True, exist_ok=True)
        target = self.work / name
        done = self.work / f"{name}.done"
        if not done.exists():
            remove(target)
            getattr(self, f"make_{name}")(target)
            done.touch()
        return shards_in(target) or [target]

    def records(self, *words):
        run([self.programs / "records", *words], f"records {words[0]}")

    def convert(self, images, target, *words):
        run([self.programs / "imagenet_to_records", "--raw_data_dir", images,
             "--local_scratch_dir", target, "--shards", "8", *words],
            "imagenet_to_records")

    def make_plain(self, target):
        linked(self.shards, target)
        self.records("index", "--dali", target)

    def make_rows(self, target):
        linked(self.shards, target)
        self.records("index", "--seek", target)

    def make_mcu4(self, target):
        linked(self.shards, target)
        self.records("index", "--seek=4", target)

    def make_original(self, target):
        self.make_beton(target, "--quality", "95")

    def make_shrunk(self, target):
        self.make_beton(target, "--max_side", "256", "--quality", "90")

    def make_beton(self, target, *words):
        run([self.python("ffcv"), HERE / "ffcv_loader.py", "--make", target,
             *words, *self.shards], "FFCV's writer")

    def make_as_ffcv(self, target):
        images = self.work / "as_ffcv_images"
        remove(images)
        run([self.python("ffcv"), HERE / "ffcv_loader.py", "--export", images,
             *self.files("shrunk")], "FFCV's reader")
        self.convert(images, target)
        remove(images)

    def make_folder(self, target):
        self.records("extract", "--output", target, *self.shards)

    def make_folder_rows(self, target):
        self.make_folder(target)
        self.records("index", "--seek", target)

    def make_tars(self, target):
        self.convert(self.files("folder")[0], target, "--format", "webdataset")

    def make_tars_rows(self, target):
        self.make_tars(target)
        self.records("index", "--seek", target)

    def make_texts(self, target):
        self.make_records("texts", target)

    def make_mixed(self, target):
        self.make_records("mixed", target)

    def make_records(self, form, target):
        run([self.python("tf"), HERE / "record_forms.py", form, target],
            "TensorFlow's writer")
        self.records("index", "--dali", target)

    def make_raccoon(self, target):
        source = given("raccoon.tar")
        if source is None:
            raise Unavailable("INFEED_DATA_DIR has no raccoon.tar")
        self.make_detection("raccoon", target, source)

    def make_coco_like(self, target):
        """Of ImageNet's photographs, or else of drawn ones."""
        source = given("imagenet-sample.tar")
        if source is not None:
            self.make_detection("coco_like", target, source)
            return
        images = self.work / "coco_like_images"
        remove(images)
        run([self.programs / "make_photographs", "--output", images,
             "--images", 500], "make_photographs")
        self.make_detection("coco_like", target, images)
        remove(images)

    def make_detection(self, form, target, source):
        run([self.python("detection"), HERE / "detection.py", form, target,
             source], "detection.py")

    def make_shorter(self, target):
        images = self.work / "shorter_images"
        remove(images)
        self.records("extract", "--output", images, *self.shards)
        self.convert(images, target, "--max_size", "256", "--quality", "90")
        remove(images)


def given(name):
    """The file of the developer's data; None where there is none."""
    folder = os.environ.get("INFEED_DATA_DIR")
    path = pathlib.Path(folder, name) if folder else None
    return path if path and path.exists() else None


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def checked_shards(folder):
    """The shards to measure. Raises Unavailable where they do not serve."""
    shards = shards_in(folder)
    if not shards:
        raise Unavailable(f"{folder} has no shards train-NNNNN-of-NNNNN")
    if tfrecord.has_feature(shards[0], "image/seek_index"):
        raise Unavailable(
            f"the records of {folder} hold seek indexes: convert the images "
            "with --seek_index none")
    return shards
