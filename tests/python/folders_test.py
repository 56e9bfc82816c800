"""Folders of images: as data, and converted to shards."""

import os
import pathlib
import pickle
import signal
import tempfile
import unittest

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
            with self.assertRaisesRegex(ValueError, "split='validation'"):
                self.batches(folder)

    def test_files_keep_the_labels_that_they_are_given(self):
        files = sorted((support.images() / "train").rglob("*.*"))[:20]
        index = infeed.Index.of_images(
            [(path, number % 3 + 1) for number, path in enumerate(files)])
        for batch in self.batches(index):
            self.assertEqual(list(batch.labels), [
                record % 3 + 1 for record in batch.ids])

    def test_a_label_that_is_not_known_is_no_class(self):
        files = sorted((support.images() / "train").rglob("*.*"))[:10]
        index = infeed.Index.of_images(
            [(path, number - 1) for number, path in enumerate(files)])
        batch, = self.batches(index, require_labels=False)
        self.assertEqual(list(batch.labels[np.argsort(batch.ids)]),
                         list(range(-1, 9)))

    def test_pickles_as_its_name(self):
        index = infeed.Index(support.images(), split="validation")
        again = pickle.loads(pickle.dumps(index))
        self.assertEqual((len(again), again.identity, again.class_names),
                         (50, index.identity, index.class_names))

    def test_a_folder_of_neither_is_said_to_have_no_shards(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(OSError):
                infeed.Index(folder)


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

    def test_says_what_is_wrong_with_a_conversion(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(ValueError, "^--split 7: "):
                infeed.convert(support.images(), folder, split="7")
            with self.assertRaises(OSError):
                infeed.convert(folder + "/none", folder)
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


if __name__ == "__main__":
    unittest.main()
