"""Folders of images: as data, and converted to shards."""

import pathlib
import pickle
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

    def test_pickles_as_its_name(self):
        index = infeed.Index(support.images(), split="validation")
        again = pickle.loads(pickle.dumps(index))
        self.assertEqual((len(again), again.identity, again.class_names),
                         (50, index.identity, index.class_names))

    def test_a_folder_of_neither_is_said_to_have_no_shards(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(OSError):
                infeed.Index(folder)


class ProgramsTest(unittest.TestCase):
    def test_converts(self):
        with tempfile.TemporaryDirectory() as folder:
            infeed.convert(support.images(), folder, shards=2)
            self.assertEqual(len(infeed.Index(folder, split="train")), 200)
            self.assertEqual(len(infeed.Index(folder, split="train").shards), 2)


if __name__ == "__main__":
    unittest.main()
