"""Folders of images: as data, and converted to shards."""

import contextlib
import copy
import functools
import importlib.util
import io
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock
import warnings
import zipfile

import numpy as np

import infeed
import support


class ImageFolderTest(unittest.TestCase):
    """A folder of class folders as data, read as it is."""

    def batches(self, data, **options):
        return infeed.Loader(data, batch_size=10, image_size=support.SIZE,
                             training=False, framework="numpy", **options)

    def test_has_the_images_and_classes_of_its_shards(self):
        folder = support.images()
        before = sorted(folder.rglob("*"))
        images, shards = self.batches(folder), self.batches(support.shards())
        for mine, theirs in zip(images, shards, strict=True):
            for name in ("images", "labels", "weights"):
                np.testing.assert_array_equal(getattr(mine, name),
                                              getattr(theirs, name))
        self.assertEqual(images.index.class_names, shards.index.class_names)
        self.assertEqual(len(images.index), 50)
        self.assertEqual(sorted(folder.rglob("*")), before)

    def test_numbers_classes_as_torchvision(self):
        folder = support.images() / "train"  # plain class folders
        classes = sorted(path.name for path in folder.iterdir())
        index = infeed.Index(folder)
        self.assertEqual(index.class_names, classes)
        for batch in self.batches(index):
            for label, record in zip(batch.labels, batch.ids, strict=True):
                path = pathlib.Path(index.shards[record])
                self.assertEqual(path.parent.name, classes[label])

    def test_warns_of_images_that_are_not_turned(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "a" / "1.jpg"
            path.parent.mkdir()
            exif = b"Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
            jpeg = support.photograph()
            path.write_bytes(jpeg[:2] + b"\xff\xe1"
                             + (len(exif) + 2).to_bytes(2, "big") + exif
                             + jpeg[2:])
            for make in (lambda: infeed.Index(name),
                         lambda: infeed.Index.of_images([(path, 0)])):
                with self.assertWarnsRegex(UserWarning,
                                           "1 of 1 image has an EXIF"):
                    make()

    def test_a_class_may_be_missing_in_a_split(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for place in ("train/a", "train/b", "val/b"):
                (folder / place).mkdir(parents=True)
                (folder / place / "1.jpg").write_bytes(support.photograph())
            batch = next(iter(self.batches(folder)))
            self.assertEqual(batch.labels[0], 1)
            self.assertEqual(len(infeed.Index(folder)), 3)

    def test_a_missing_split_is_not_another_one(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "train/a").mkdir(parents=True)
            (folder / "train/a/1.jpg").write_bytes(support.photograph())
            message = "split='validation'; there is train"
            with self.assertRaisesRegex(ValueError, message):
                self.batches(folder)
            with zipfile.ZipFile(folder / "a.zip", "w") as archive:
                archive.write(folder / "train/a/1.jpg", "train/a/1.jpg")
                archive.write(folder / "train/a/1.jpg", "Testing/b/1.jpg")
            message = "split='validation'; there is train and test"
            with self.assertRaisesRegex(ValueError, message):
                self.batches(folder / "a.zip")
            self.assertEqual(len(infeed.Index(folder / "a.zip")), 2)

    def test_a_file_named_by_itself_is_read_whatever_its_name_says(self):
        with tempfile.TemporaryDirectory() as name:
            source = infeed.Index(support.shards(), split="validation").shards[0]
            file = shutil.copy(source, pathlib.Path(name, "test.tfrecord"))
            load = functools.partial(infeed.Loader, file, image_size=32,
                                     batch_size=1)
            records = len(infeed.Index(file))
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # What the name says, or is asked.
                self.assertEqual(len(load(training=False)), records)
                self.assertEqual(len(load(split="test")), records)
            with self.assertWarnsRegex(UserWarning, "test.tfrecord: its name says "
                                       "split='test', and it is read for training"
                                       ) as told:
                train = load()
            self.assertEqual(told.filename, __file__)
            self.assertEqual(len(train), records)
            self.assertEqual(len(copy.copy(train)), records)
            for data in (name, f"{name}/te*"):  # Sets, which lack a split.
                with self.assertRaisesRegex(ValueError, "split='train'; there is "
                                            "test"):
                    infeed.Loader(data, batch_size=1)
            with self.assertRaisesRegex(ValueError, "split='train'"):
                load(split="train")

    def test_an_index_has_its_split(self):
        """Its loader neither takes another one nor trains on all unasked."""
        load = functools.partial(infeed.Loader, batch_size=10, image_size=32)
        for data in (support.shards(), support.images()):
            index = infeed.Index(data)
            for split in ("validation", "train", ""):
                with self.assertRaisesRegex(
                        ValueError, rf"Index\(data, split='{split}'\)"):
                    load(index, split=split, training=False)
            with self.assertWarnsRegex(UserWarning, "splits train, validation"
                                       ) as told:
                train = load(index)
            self.assertEqual(told.filename, __file__)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                pickle.loads(pickle.dumps(train))
                for split, records in (("train", 200), ("validation", 50),
                                       ("", 250)):
                    train = load(infeed.Index(data, split=split))
                    self.assertEqual(len(train.index), records)
                self.assertEqual(len(load(index, training=False).index), 250)
                load(index, subset=range(200))
                load(infeed.Index(support.images() / "train"))

    def copy_of_shards(self, name, classes):
        """The validation shards in a folder, described by labels.txt alone."""
        for path in pathlib.Path(support.shards()).glob("validation-*"):
            shutil.copy(path, name)
        path = pathlib.Path(name) / "labels.txt"
        path.write_text("".join(f"{one}\n" for one in classes), "utf-8")

    def test_labels_txt_names_the_classes(self):
        classes = infeed.Index(support.shards()).class_names
        with tempfile.TemporaryDirectory() as name:
            self.copy_of_shards(name, classes)
            for data in (name, f"{name}/validation-*"):
                index = infeed.Index(data, split="validation")
                self.assertEqual(index.class_names, classes)

    def test_lines_of_labels_txt_that_would_shift_the_classes_are_errors(self):
        for text, reason in (("cat\n\ndog\n", "line 2 is empty"),
                             ("0:cat\n1:dog\n", "begin with their numbers")):
            folder = pathlib.Path(support.new_folder())
            with infeed.records.Writer(f"{folder}/train-00000-of-00001") as writer:
                for label in range(2):
                    writer.write_example({"image/class/label": [label]})
            (folder / "labels.txt").write_text(text)
            with self.assertRaisesRegex(infeed.DataError,
                                        f"labels.txt: .*{reason}"):
                _ = infeed.Index(str(folder)).class_names

    def test_a_labels_txt_with_too_few_names_is_an_error(self):
        classes = infeed.Index(support.shards()).class_names
        with tempfile.TemporaryDirectory() as name:
            self.copy_of_shards(name, classes[:7])
            index = infeed.Index(name, split="validation")
            with self.assertRaisesRegex(
                    infeed.DataError, f"labels.txt beside {name}/.* names 7 classes"
                    ".* labels up to 10: "):
                _ = index.class_names

    def test_a_label_has_one_name_in_a_list(self):
        shards = support.shards()
        classes = infeed.Index(shards).class_names
        self.assertEqual(len(classes), 10)
        with tempfile.TemporaryDirectory() as name:
            self.copy_of_shards(name, classes[:9])
            index = self.batches([name, shards]).index
            self.assertEqual((len(index), index.class_names), (100, classes))
            self.copy_of_shards(name, [*classes[:8], "a newt"])
            with self.assertRaisesRegex(
                    ValueError, f'"{classes[8]}" in {shards} has the label of '
                    f'"a newt" in {name}'):
                self.batches([shards, name])

    def test_names_of_any_bytes_are_text(self):
        with tempfile.TemporaryDirectory() as name:
            for place in (b"train/k\xe4se", "train/cafe\u0301".encode()):
                folder = os.path.join(os.fsencode(name), place)
                os.makedirs(folder)
                for number in range(2):
                    with open(os.path.join(folder, b"%d.jpg" % number),
                              "wb") as file:
                        file.write(support.photograph())
            with open(os.path.join(os.fsencode(name), b"train/k\xe4se/bad.jpg"),
                      "wb") as file:
                file.write(b"no image")
            index = infeed.Index(name, split="train")
            self.assertEqual(index.class_names, ["caf\u00e9", "k\\xe4se"])
            self.assertTrue(index.shards[-1].endswith("k\\xe4se/bad.jpg"))
            with self.assertLogs(level="WARNING") as logs:
                batches = list(self.batches(index, on_bad_record="skip"))
            self.assertIn(r"k\xe4se/bad.jpg", logs.output[0])
            self.assertEqual(len(batches), 1)
            with self.assertRaisesRegex(infeed.DataError, r"k\\xe4se/bad.jpg"):
                list(self.batches(index, on_bad_record="fail"))

    def test_paths_may_have_commas_and_any_bytes(self):
        with tempfile.TemporaryDirectory() as name:
            folders = []
            for place in ("a,b", os.fsdecode(b"k\xe4se")):
                folder = pathlib.Path(name, place)
                folder.mkdir()
                with zipfile.ZipFile(folder / "train.zip", "w") as archive:
                    for label in "xy":
                        archive.writestr(f"{label}/1.jpg", support.photograph())
                folders.append(folder / "train.zip")
            self.assertEqual(len(infeed.Index(folders[0])), 2)
            self.assertEqual(len(infeed.Index(folders)), 4)

    def test_one_class_is_a_warning(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name, "cat")
            folder.mkdir()
            (folder / "1.jpg").write_bytes(support.photograph())
            for call in (lambda: infeed.Index(name),
                         lambda: infeed.Loader(name, batch_size=1, split=""),
                         lambda: infeed.Loader(name, batch_size=1)):
                with self.assertWarnsRegex(UserWarning, "only one class, cat"
                                           ) as told:
                    call()
                self.assertEqual(told.filename, __file__)

    def test_files_keep_the_labels_that_they_are_given(self):
        files = sorted((support.images() / "train").rglob("*.*"))[:20]
        index = infeed.Index.of_images(
            [(path, number % 3 + 1) for number, path in enumerate(files)])
        for batch in self.batches(index):
            self.assertEqual(list(batch.labels), [
                record % 3 + 1 for record in batch.ids])

    def test_no_label_offset_of_0_shifts_their_labels(self):
        files = [(path, number % 2) for number, path in enumerate(
            sorted((support.images() / "train").rglob("*.*"))[:10])]
        given = infeed.Index.of_images(files)
        for data in (support.images(), given):
            for classes in (0, 2):
                with self.assertRaisesRegex(ValueError, "leave label_offset out"):
                    self.batches(data, label_offset=0, num_label_classes=classes)
        for options in ({}, {"label_offset": 1}):
            batch, = self.batches(given, **options)
            self.assertEqual(list(batch.labels), [label for _, label in files])
        bad = []
        list(self.batches(infeed.Index.of_images(
            [(path, 2 * label) for path, label in files]),
            num_label_classes=2, on_bad=bad.append))
        self.assertRegex(bad[0], "class 2 is beyond the last of 2 classes, 1 ")

    def test_a_label_that_is_not_known_is_no_class(self):
        files = sorted((support.images() / "train").rglob("*.*"))[:10]
        index = infeed.Index.of_images(
            [(path, number - 1) for number, path in enumerate(files)])
        batch, = self.batches(index, require_labels=False)
        self.assertEqual(list(batch.labels[np.argsort(batch.ids)]),
                         list(range(-1, 9)))

    def test_images_without_labels_are_predicted(self):
        files = sorted((support.images() / "train").rglob("*.*"))[:10]
        index = infeed.Index.of_images([(path, -1) for path in files])
        with self.assertNoLogs("infeed"):
            for made in (index, pickle.loads(pickle.dumps(index))):
                batch, = self.batches(made)
                self.assertIsNone(batch.labels)
                self.assertEqual(sorted(batch.ids[batch.weights == 1]),
                                 list(range(10)))

    def test_pickles_as_its_name(self):
        index = infeed.Index(support.images(), split="validation")
        again = pickle.loads(pickle.dumps(index))
        self.assertEqual((len(again), again.identity, again.class_names),
                         (50, index.identity, index.class_names))

    def test_a_folder_of_neither_is_said_to_have_no_shards(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(OSError):
                infeed.Index(folder)


class RelativePathTest(unittest.TestCase):
    """os.chdir() after an index was made."""

    def make(self, folder, value):
        (folder / "photos" / "a").mkdir(parents=True)
        image = support.png(np.full((8, 8, 3), value, np.uint8))
        (folder / "photos" / "a" / "1.png").write_bytes(image)
        for name in ("x,y.tfrecord", "z.tfrecord"):
            with infeed.records.Writer(folder / name) as writer:
                writer.write_example({"image/encoded": image,
                                      "image/class/label": 1})

    def content(self, index):
        """What a loader of the index has, with the shards' paths."""
        made = infeed.Loader(index, batch_size=2, image_size=8, recipe="plain",
                             training=False, input_hash="pixels")
        batch, = made
        shards = [sample["shard"] for sample in batch.describe() if sample]
        self.assertEqual(shards, index.shards)
        return (shards, batch.fingerprint, batch.images.tobytes(),
                batch.labels.tolist(), made.state_dict())

    def test_they_are_of_the_folder_where_it_was_made(self):
        with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # There is one class.
            root = pathlib.Path(name).resolve()
            here, there = root / "h[e]re, {1}", root / "there"
            self.make(here, 10)
            self.make(there, 20)
            for given, absolute in (
                    ("photos", f"{here}/photos"),
                    ("./photos/", f"{here}/photos"),
                    (f"../{here.name}/photos", f"{here}/photos"),
                    ("z.tfrecord", f"{here}/z.tfrecord"),
                    ("?.tfrecord", f"{here}/?.tfrecord"),
                    ("x,y.tfrecord,z.tfrecord",
                     [f"{here}/x,y.tfrecord", f"{here}/z.tfrecord"]),
                    (["x,y.tfrecord", pathlib.Path("z.tfrecord")],
                     [f"{here}/x,y.tfrecord", f"{here}/z.tfrecord"]),
                    ("z.{tfrecord,tfrecord}", f"{here}/z.tfrecord")):
                with self.subTest(given):
                    with contextlib.chdir(here):
                        made = infeed.Index(given, split="train")
                        loader = infeed.Loader(given, batch_size=1, image_size=8,
                                               split="train")
                    with contextlib.chdir(there):
                        wanted = self.content(
                            infeed.Index(absolute, split="train"))
                        for one in (made, loader.index):
                            for index in one, pickle.loads(pickle.dumps(one)):
                                self.assertEqual(self.content(index), wanted)

    def test_so_are_those_of_image_files(self):
        with tempfile.TemporaryDirectory() as name:
            here, there = (pathlib.Path(name).resolve() / one for one in "ab")
            self.make(here, 10)
            self.make(there, 20)
            with contextlib.chdir(here):
                made = infeed.Index.of_images([("photos/a/1.png", 3)])
            wanted = self.content(infeed.Index.of_images(
                [(here / "photos" / "a" / "1.png", 3)]))
            with contextlib.chdir(there):
                for index in made, pickle.loads(pickle.dumps(made)):
                    self.assertEqual(self.content(index), wanted)

    def test_a_folder_is_no_image_file(self):
        with self.assertRaisesRegex(ValueError, "images/train: is a folder"):
            infeed.Index.of_images([(support.images() / "train", 0)])


class ConversionTest(unittest.TestCase):
    def test_converts(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = []
            report = infeed.convert(support.images(), folder, shards=2,
                                    on_progress=lambda *done: seen.append(done))
            self.assertEqual(seen[-1], (250, 250))
            self.assertEqual(report.records, {"train": 200, "validation": 50})
            self.assertEqual(report.shards, {"train": 2, "validation": 2})
            self.assertEqual((report.kept_shards, report.bad), (0, []))
            self.assertIn("250 records in 4 shards", repr(report))
            index = infeed.Index(folder, split="train")
            self.assertEqual((len(index), len(index.shards)), (200, 2))
            again = infeed.convert(support.images(), folder, shards=2)
            self.assertEqual(again.kept_shards, 4)

    def test_takes_several_folders_or_none_and_a_flag_several_times(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for split in ("train", "val"):
                (folder / split / "a").mkdir(parents=True)
                file = folder / split / "a" / f"{split}.jpg"
                file.write_bytes(support.photograph())
                (folder / f"{split}.csv").write_text(
                    f"path,label,split\n{file},a,{split}\n")
            folders = (folder / split for split in ("train", "val"))
            report = infeed.convert(folders, folder / "merged", shards=1)
            self.assertEqual(report.records, {"train": 2})
            for several in (list, tuple):
                report = infeed.convert(None, folder / several.__name__,
                                        shards=1, manifest=several(
                                            [folder / "train.csv",
                                             str(folder / "val.csv")]))
                self.assertEqual(report.records, {"train": 1, "validation": 1})
            with self.assertRaisesRegex(ValueError, "raw_data_dir"):
                infeed.convert(None, folder / "none")
            for images in ([], [b"x"], b"x", 5, {"x": "y"}):
                with self.assertRaisesRegex(TypeError, "^images="):
                    infeed.convert(images, folder / "none")
            for paths in ([], [["x"]], [None], b"x"):
                with self.assertRaisesRegex(TypeError, "^manifest="):
                    infeed.convert(None, folder / "none", manifest=paths)

    def test_says_what_is_wrong_with_a_conversion(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(ValueError, "^--split 7: "):
                infeed.convert(support.images(), folder, split="7")
            with self.assertRaises(OSError):
                infeed.convert(folder + "/none", folder)
            infeed.convert(support.images(), folder, shards=2)
            for flag, kind in (("help", ValueError), ("version", ValueError),
                               ("dry_run", ValueError), ("dry-run", ValueError),
                               ("raw_data_dir", TypeError),
                               ("local-scratch-dir", TypeError)):
                with self.assertRaisesRegex(kind, f"^{flag} "):
                    infeed.convert(support.images(), folder, **{flag: True})
            images = pathlib.Path(folder, "images")
            for name in ("a", "b"):
                (images / name).mkdir(parents=True)
                (images / name / "good.jpg").write_bytes(support.photograph())
            (images / "b" / "bad.jpg").write_bytes(b"no image")
            with self.assertRaisesRegex(infeed.DataError, "bad.jpg"):
                infeed.convert(images, folder + "/out")
            report = infeed.convert(images, folder + "/out", on_bad_image="skip")
            self.assertEqual([bad.path for bad in report.bad],
                             [str(images / "b" / "bad.jpg")])

    def test_a_conversion_stops_and_goes_on(self):
        def stop(done, total):
            raise StopIteration

        def press_ctrl_c(done, total):
            os.kill(os.getpid(), signal.SIGINT)

        with tempfile.TemporaryDirectory() as folder:
            for error, ends in ((StopIteration, stop),
                                (KeyboardInterrupt, press_ctrl_c)):
                with self.assertRaises(error):
                    infeed.convert(support.images(), folder, on_progress=ends)
            report = infeed.convert(support.images(), folder)
            self.assertEqual(sum(report.records.values()), 250)


    def test_a_signal_that_ends_the_program_is_named(self):
        """Made up: as where memory is used up."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        program = folder / "package_programs"
        program.write_text("#!/bin/sh\necho 3 classes >&2\nkill -9 $$\n")
        program.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, INFEED_PROGRAMS=str(folder)):
            with self.assertRaisesRegex(
                    OSError, "was ended by SIGKILL; its last line: 3 classes"):
                infeed.convert(support.images(), folder / "out")


class ArchivesTest(unittest.TestCase):
    """The same images as tars and as a zip."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.images = sorted((support.images() / "train").rglob("*.*"))
        self.classes = sorted({path.parent.name for path in self.images})

    def batches(self, data, **options):
        loader = infeed.Loader(str(data), batch_size=10, image_size=support.SIZE,
                               seed=3, framework="numpy", **options)
        return list(loader), loader

    def write_tar(self):
        path = self.folder / "train-000.tar"
        with tarfile.open(path, "w") as tar:
            for number, image in enumerate(self.images):
                for ending, data in (
                        ("jpg", image.read_bytes()),
                        ("cls", str(self.classes.index(image.parent.name))
                         .encode()),
                        ("txt", image.parent.name.encode())):
                    member = tarfile.TarInfo(f"{number:06d}.{ending}")
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
        return path

    def assert_same(self, mine, theirs):
        self.assertEqual(len(mine), len(theirs))
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(one.images, other.images)
            np.testing.assert_array_equal(one.labels, other.labels)

    def test_have_the_batches_of_their_folder(self):
        expected, _ = self.batches(support.images())
        tar, _ = self.batches(self.write_tar())
        self.assert_same(tar, expected)
        with zipfile.ZipFile(self.folder / "photos.zip", "w") as archive:
            for image in self.images:
                archive.write(image, f"photos/{image.parent.name}/{image.name}")
        photos, loader = self.batches(self.folder / "photos.zip")
        self.assert_same(photos, expected)
        self.assertEqual(loader.index.class_names, self.classes)

    def test_resume_and_carry_fields(self):
        path = self.write_tar()
        whole, loader = self.batches(path, fields={"txt": "bytes"})
        names, offsets = whole[0]["txt"]
        self.assertEqual([name.decode() for name in names],
                         [self.classes[label] for label in whole[0].labels])
        second = infeed.Loader(str(path), batch_size=10, seed=3, threads=1,
                               image_size=support.SIZE, framework="numpy",
                               fields={"txt": "bytes"})
        second.load_state_dict(whole[4].state_dict())
        self.assert_same(list(second), whole[5:])

    def test_a_sample_without_an_image_is_replaced(self):
        with tarfile.open(self.write_tar(), "a") as tar:
            tar.addfile(tarfile.TarInfo("x.cls"), io.BytesIO(b""))
        said = []
        self.batches(self.folder / "train-000.tar", on_bad=said.append)
        self.assertIn("has no image", said[0])


@unittest.skipUnless(importlib.util.find_spec("pyarrow"), "no pyarrow")
class ParquetTest(unittest.TestCase):
    def test_is_converted(self):
        import pyarrow
        import pyarrow.parquet
        images = sorted((support.images() / "train").rglob("*.*"))
        classes = sorted({path.parent.name for path in images})
        described = {"info": {"features": {"label": {"names": classes}}}}
        table = pyarrow.table({
            "image": [{"bytes": path.read_bytes(), "path": path.name}
                      for path in images],
            "label": [classes.index(path.parent.name) for path in images],
        }).replace_schema_metadata({"huggingface": json.dumps(described)})
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "in").mkdir()
            pyarrow.parquet.write_table(
                table, folder / "in" / "train-00000-of-00001.parquet")
            done = infeed.convert(folder / "in", folder / "out", shards=1,
                                  keep_png=True)
            self.assertEqual(done.records, {"train": len(images)})
            index = infeed.Index(folder / "out", split="train")
            self.assertEqual(index.class_names, classes)
            records = infeed.records.open(index)
            stored = {records.parse(i)["image/encoded"][0]:
                      records.parse(i)["image/class/label"][0]
                      for i in range(len(records))}
            for path in images:
                self.assertEqual(stored[path.read_bytes()],
                                 classes.index(path.parent.name) + 1)
            self.assertEqual(sorted(os.listdir(folder)), ["in", "out"])

    def write(self, folder, columns, names=None, label="label",
              name="train.parquet"):
        import pyarrow
        import pyarrow.parquet
        table = pyarrow.table(columns)
        if names:
            described = {"info": {"features": {label: {
                "names": names, "_type": "ClassLabel"}}}}
            table = table.replace_schema_metadata(
                {"huggingface": json.dumps(described)})
        file = pathlib.Path(folder) / name
        pyarrow.parquet.write_table(table, file)
        return file

    def jpegs(self, count):
        return [path.read_bytes() for path in
                sorted((support.images() / "train").rglob("*.jpg"))[:count]]

    def labels_of(self, folder):
        loader = infeed.Loader(
            folder, batch_size=3, image_size=support.SIZE, shuffle="none",
            framework="numpy", random_flip=False)
        stored = infeed.records.open(infeed.Index(folder, split="train"))
        images = [stored.parse(i)["image/encoded"][0] for i in range(3)]
        return dict(zip(images, next(iter(loader)).labels.tolist()))

    def test_labels_keep_their_numbers(self):
        jpegs = self.jpegs(3)
        for names in (["red", "green", "blue"], None):
            for labels in ([0, 1, 2], [2, 0, 1], [1, 1, 2], [0.0, 2.0, 1.0]):
                with (self.subTest(names=names, labels=labels),
                      tempfile.TemporaryDirectory() as folder):
                    file = self.write(folder, {"image": jpegs, "label": labels},
                                      names)
                    out = pathlib.Path(folder) / "out"
                    infeed.convert(file, out, shards=1)
                    self.assertEqual(self.labels_of(out),
                                     dict(zip(jpegs, map(int, labels))))
                    if names:
                        self.assertEqual(infeed.Index(out).class_names, names)

    def test_columns_are_found_or_named(self):
        jpegs = self.jpegs(3)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            file = self.write(folder, {"img": jpegs, "labels": [0, 1, 2]})
            infeed.convert(file, out, shards=1)
            self.assertEqual(self.labels_of(out), dict(zip(jpegs, range(3))))
            again = infeed.convert(file, out, shards=1)  # the same goes on
            self.assertEqual(again.kept_shards, 1)
            with self.assertRaisesRegex(ValueError, "--overwrite"):
                infeed.convert(self.write(folder, {"img": jpegs, "labels": [0, 1, 2]},
                                          name="other.parquet"), out, shards=1)
            file = self.write(folder, {
                "photo": jpegs, "mask": jpegs[::-1], "class": [0, 1, 2],
                "target": [1, 2, 0]})
            with self.assertRaisesRegex(ValueError, "photo and mask.*image_key"):
                infeed.convert(file, out)
            with self.assertRaisesRegex(ValueError, "class and target.*label_k"):
                infeed.convert(file, out, image_key="photo")
            infeed.convert(file, out, image_key="photo", label_key="target",
                           shards=1, overwrite=True)
            self.assertEqual(self.labels_of(out), dict(zip(jpegs, [1, 2, 0])))
            program = subprocess.run(
                [sys.executable, "-c", "from infeed import programs; "
                 "raise SystemExit(programs.main())", "convert", file, out,
                 "--image_key=mask", "--label-key", "class", "--overwrite"],
                capture_output=True, text=True)
            self.assertEqual(program.returncode, 0, program.stderr)
            self.assertEqual(self.labels_of(out),
                             dict(zip(jpegs[::-1], range(3))))

    def test_tasks_share_a_conversion(self):
        jpegs = self.jpegs(4)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            file = self.write(folder, {"image": jpegs, "label": [0, 1, 2, 0]})
            for task in (0, 1):
                infeed.convert(file, out, shards=2, num_tasks=2, task_index=task)
            done = infeed.convert(file, out, shards=2, num_tasks=2, finish=True)
            self.assertEqual((done.records, done.shards), ({"train": 4}, {"train": 2}))

    def test_errors_name_the_file_and_the_row(self):
        jpegs = self.jpegs(3)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            for labels, message in (
                    (["cat", "dog", "emu"], "label holds text"),
                    ([[0, 1], [1, 0], [0, 1]], "label holds values of the type"),
                    ([0.0, 0.5, 1.0], "row 1: the label is 0.5"),
                    ([0, None, 1], "row 1: the label is None"),
                    ([0.0, float("nan"), 1.0], "row 1: the label is nan"),
                    ([0.0, 1.0, float("inf")], "row 2: the label is inf"),
                    ([0, 1, -1], "row 2: the label is -1")):
                file = self.write(folder, {"image": jpegs, "label": labels})
                with self.assertRaises(ValueError) as caught:
                    infeed.convert(file, out)
                self.assertIn(f"{file}: ", str(caught.exception))
                self.assertIn(message, str(caught.exception))
            file = self.write(folder, {"image": [jpegs[0], b"no image", None],
                                       "label": [0, 1, 1]})
            with self.assertRaises(infeed.DataError) as caught:
                infeed.convert(file, out)
            self.assertIn(f"{file}#", str(caught.exception))
            done = infeed.convert(file, out, on_bad_image="skip")
            self.assertEqual(sorted(bad.path for bad in done.bad),
                             [f"{file}#1", f"{file}#2"])
            self.assertIn("the row has no bytes of an image",
                          {bad.path: bad.reason for bad in done.bad}[f"{file}#2"])
            self.assertNotIn(".parquet-", (out / ".infeed" /
                                           "conversion_report.json").read_text())

    def test_an_image_is_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            for image, kind in (("text", "str"), ({"path": "x.jpg"}, "dict")):
                file = self.write(folder, {"photo": [image], "label": [0]})
                with self.assertRaisesRegex(
                        ValueError, f"{file}: the column photo holds a {kind}"):
                    infeed.convert(file, pathlib.Path(folder) / "out",
                                   image_key="photo")

    def test_images_by_path_alone_are_one_error(self):
        jpegs = self.jpegs(1)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "x.jpg").write_bytes(jpegs[0])
            by_path = {"bytes": None, "path": "x.jpg"}
            lost = {"bytes": None, "path": None}
            file = self.write(folder, {"image": [lost, by_path], "label": [0, 1]})
            with self.assertRaisesRegex(
                    ValueError, f"{file}: the column image holds paths of images, "
                                "such as x.jpg, and no bytes: .*to_parquet"):
                infeed.convert(file, folder / "out", on_bad_image="skip")
            self.assertFalse((folder / "out").exists())
            whole = {"bytes": jpegs[0], "path": "x.jpg"}
            file = self.write(folder, {"image": [whole, by_path], "label": [0, 1]})
            done = infeed.convert(file, folder / "out", on_bad_image="skip")
            self.assertEqual([bad.path for bad in done.bad], [f"{file}#1"])

    def test_files_without_rows_and_hidden_ones_are_left_out(self):
        jpegs = self.jpegs(3)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            out = folder / "out"
            empty = {"image": [], "label": []}
            file = self.write(folder, empty, name="b.parquet")
            with self.assertRaisesRegex(infeed.DataError, f"{file}: has no rows"):
                infeed.convert(file, out)
            self.write(folder, empty, name="c.parquet")
            with self.assertRaisesRegex(infeed.DataError, f"{folder}: has no rows"):
                infeed.convert(folder, out)
            self.write(folder, {"image": jpegs, "label": [0, 1, 2]},
                       name="a.PARQUET")
            (folder / "._a.parquet").write_bytes(b"of a Mac")
            done = infeed.convert(folder, out, shards=1)
            self.assertEqual(done.records, {"train": 3})
            self.assertEqual(self.labels_of(out), dict(zip(jpegs, range(3))))

    def test_a_pattern_names_files_of_a_folder(self):
        jpegs = self.jpegs(3)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for number, jpeg in enumerate(jpegs):
                self.write(folder, {"image": [jpeg], "label": [number]},
                           name=f"x-{number:05d}-of-00004.parquet")
            self.write(folder, {"image": jpegs, "label": [0, 1, 2]},
                       name="other.parquet")
            done = infeed.convert(folder / "x-*.parquet", folder / "out", shards=1)
            self.assertEqual(done.records, {"train": 3})
            self.assertEqual(self.labels_of(folder / "out"),
                             dict(zip(jpegs, range(3))))
            with self.assertRaisesRegex(FileNotFoundError, r"none-\*\.parquet"):
                infeed.convert(folder / "none-*.parquet", folder / "out")

    def test_images_in_other_columns_of_bytes_are_found(self):
        import pyarrow
        jpegs = self.jpegs(3)
        images = pyarrow.array(jpegs, pyarrow.binary())
        for column in (images.dictionary_encode(),
                       images.cast(pyarrow.binary_view())):
            with (self.subTest(type=str(column.type)),
                  tempfile.TemporaryDirectory() as folder):
                out = pathlib.Path(folder) / "out"
                infeed.convert(self.write(folder, {"photo": column,
                                                   "label": [0, 1, 2]}),
                               out, shards=1)
                self.assertEqual(self.labels_of(out), dict(zip(jpegs, range(3))))

    def test_a_folder_lacks_no_file_of_a_set(self):
        columns = {"image": self.jpegs(2), "label": [0, 1]}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            out = folder / "out"
            file = self.write(folder, columns, name="x-00001-of-00003.parquet")
            self.check_refusal(
                folder, 3, "2 of 3 files are missing, the first is "
                           "x-00000-of-00003.parquet")
            self.assertEqual(infeed.convert(file, out, shards=1).records,
                             {"train": 2})
            for number in 0, 2:  # the one as older files of Hugging Face
                self.write(folder, columns,
                           name=f"x-0000{number}-of-00003-0a{number}f.parquet")
            done = infeed.convert(folder, out, shards=1, overwrite=True)
            self.assertEqual(done.records, {"train": 6})
            twin = self.write(folder, columns,
                              name="x-00000-of-00003.parquet")
            self.check_refusal(folder, 3, "x-* has two files of one number")
            twin.rename(folder / "x-00000-of-00001.parquet")
            self.check_refusal(folder, 3, "x-* are files of two sets")

    def test_files_must_name_the_same_classes(self):
        jpegs = self.jpegs(2)
        with tempfile.TemporaryDirectory() as folder:
            for name, names in (("a", ["red", "blue"]), ("b", ["blue", "red"])):
                self.write(folder, {"image": jpegs, "label": [0, 1]}, names,
                           name=f"{name}.parquet")
            with self.assertRaisesRegex(ValueError, "names other classes than"):
                infeed.convert(folder, pathlib.Path(folder) / "out")

    def test_the_program_says_what_is_wrong_in_one_line(self):
        import pyarrow
        import pyarrow.parquet
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "train.parquet"
            pyarrow.parquet.write_table(pyarrow.table({"text": ["a"]}), file)
            self.check_refusal(file, 2, "has the columns text")
            file.write_bytes(b"PAR1" + bytes(100))
            self.check_refusal(file, 3, "not a parquet file")
            pyarrow.parquet.write_table(
                pyarrow.table({"image": [b"x"], "label": [0]}), file)
            damaged = bytearray(file.read_bytes())
            damaged[4:20] = b"\xff" * 16
            file.write_bytes(damaged)
            self.check_refusal(file, 3, "")

    def check_refusal(self, file, code, reason):
        program = subprocess.run(
            [sys.executable, "-c", "from infeed import programs; "
             "raise SystemExit(programs.main())", "convert", file,
             file.parent / "refused"], capture_output=True, text=True)
        self.assertEqual(program.returncode, code, program.stderr)
        self.assertNotIn("Traceback", program.stderr)
        self.assertIn(f"infeed convert: {file}: ", program.stderr)
        self.assertIn(reason, program.stderr)


if __name__ == "__main__":
    unittest.main()
