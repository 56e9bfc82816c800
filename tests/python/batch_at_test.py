"""Loader.batch_at() and Batch.describe()."""

import itertools
import json
import pathlib
import random
import tempfile
import unittest

import numpy as np

import infeed
import infeed.records
import support


def loader(**options):
    given = {"batch_size": 16, "image_size": support.SIZE, "seed": 3,
             "recipe": "torchvision", "augment": "randaugment", **options}
    return infeed.Loader(support.shards(), **given)


class BatchAtTest(unittest.TestCase):
    def check_equal(self, batch, other):
        for part, theirs in zip(batch, other, strict=True):
            np.testing.assert_array_equal(part, theirs)
        for name in ("ids", "positions", "epoch", "number"):
            np.testing.assert_array_equal(getattr(batch, name),
                                          getattr(other, name))
        self.assertEqual(batch.fingerprint, other.fingerprint)
        self.assertEqual({**batch.state_dict(), "fingerprint": ""},
                         {**other.state_dict(), "fingerprint": ""})

    def test_has_the_streams_bytes(self):
        for options in ({}, {"layout": "words", "shuffle": "window"},
                        {"last_batch": "carry", "repeat_augment": 2},
                        {"batch_size": 8, "rank": 1, "world_size": 2},
                        {"sample_weights": [1, 2] * 100, "epoch_records": 90}):
            with self.subTest(**options):
                batches = list(itertools.islice(loader(**options).repeat(), 30))
                other = loader(**options)
                for batch in random.Random(59).sample(batches, 8):
                    self.check_equal(
                        other.batch_at(batch.epoch, batch.number), batch)

    def test_each_pass_of_an_evaluation_has_the_same_batches(self):
        evaluation = loader(training=False)
        for epoch in range(2):
            for batch in evaluation:
                self.check_equal(
                    evaluation.batch_at(epoch, batch.number), batch)

    def test_leaves_the_position_as_it_is(self):
        whole = list(loader())
        train = loader()
        for batch, expected in zip(train, whole, strict=True):
            state = train.state_dict()
            self.assertEqual(train.batch_at(7, 2).epoch, 7)
            self.assertEqual(train.state_dict(), state)
            self.check_equal(batch, expected)
        self.assertEqual(train.epoch, 1)
        train.close()
        self.check_equal(train.batch_at(0, 5), whole[5])

    def test_carried_batches_are_those_of_the_next_pass(self):
        train = loader(last_batch="carry")  # 12.5 batches an epoch
        list(train)
        train.set_epoch(5)  # It begins with this epoch's first sample.
        batch = train.batch_at(5, 0)
        self.assertEqual(batch.positions[0], 0)
        self.check_equal(batch, next(iter(train)))

    def test_goes_on_from_its_state(self):
        batches = list(loader())
        train = loader()
        train.load_state_dict(train.batch_at(0, 8).state_dict())
        self.check_equal(next(iter(train)), batches[9])

    def test_wrong_arguments_are_errors(self):
        train = loader()
        with self.assertRaisesRegex(
                ValueError, "epoch 3 has no batch 12: it has 12 batches"):
            train.batch_at(3, 12)
        for epoch, number in ((-1, 0), (2**32, 0), (0, -1), (0, 2**64)):
            with self.assertRaisesRegex(ValueError, "must be at"):
                train.batch_at(epoch, number)
        with self.assertRaisesRegex(TypeError, "number="):
            train.batch_at(0, 1.5)


class DescribeTest(unittest.TestCase):
    def test_says_where_a_sample_is_from(self):
        records = infeed.records.open(support.shards(), split="train")
        batch = loader().batch_at(1, 3)
        samples = batch.describe()
        self.assertEqual(json.loads(json.dumps(samples)), samples)
        for slot, sample in enumerate(samples):
            self.assertEqual([sample["filename"].encode()],
                             records.parse(batch.ids[slot])["image/filename"])
            self.assertEqual(sample["label"], batch.labels[slot])

    def test_is_of_the_batch_as_it_was_made(self):
        for framework in ("numpy", "torch"):
            if framework == "torch" and not support.has("torch"):
                continue
            batch = loader(framework=framework).batch_at(1, 3)
            wanted = batch.describe()
            for array in (batch.labels, batch.ids, batch.positions,
                          batch.weights):
                array[:] = 7
            self.assertEqual(batch.describe(), wanted)

    def test_counts_the_records_of_each_shard(self):
        ordered = loader(split="train", training=False)
        samples = [sample for batch in ordered for sample in batch.describe()
                   if sample is not None]
        shards = []
        for shard, own in itertools.groupby(
                samples, lambda sample: sample["shard"]):
            shards.append(shard)
            numbers = [sample["record"] for sample in own]
            self.assertEqual(numbers, list(range(len(numbers))))
        self.assertEqual(shards, ordered.index.shards)

    def test_says_how_an_image_was_made(self):
        for batch in itertools.islice(loader(), 3):
            geometry = batch.geometry[0]
            for slot, sample in enumerate(batch.describe()):
                for name in ("source", "window"):
                    self.assertEqual(sample[name],
                                     getattr(geometry, name)[slot].tolist())
                for name in ("mirrored", "upside_down"):
                    self.assertEqual(sample[name],
                                     bool(getattr(geometry, name)[slot]))
                self.assertEqual(len(sample["augmentations"]), 2)
                for text in sample["augmentations"]:
                    self.assertRegex(text, r"^[A-Z][A-Za-z]+( [-0-9. at]+)?$")

    def test_files_may_be_gone_since_the_batch_was_made(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, kind, "1.jpg") for kind in "ab"]
            for path in paths:
                path.parent.mkdir()
                path.write_bytes(support.photograph())
            evaluation = infeed.Loader(folder, batch_size=2, image_size=32,
                                       training=False, split="train")
            batch = next(iter(evaluation))
            before = batch.describe()
            paths[0].unlink()
            self.assertEqual(batch.describe(), before)
            self.assertEqual([(sample["shard"], sample["filename"])
                              for sample in before],
                             [(str(path), "1.jpg") for path in paths])

    def test_an_empty_slot_is_none(self):
        last = list(loader(training=False))[-1].describe()
        self.assertEqual([sample is None for sample in last],
                         [False] * 2 + [True] * 14)
        self.assertEqual(last[0]["augmentations"], [])

    def test_records_without_images_have_a_place(self):
        batch = infeed.Loader(
            support.shards(), batch_size=8, views=(),
            fields={"image/filename": "bytes"}).batch_at(0, 0)
        for name, sample in zip(batch["image/filename"][0], batch.describe(),
                                strict=True):
            self.assertEqual(set(sample),
                             {"shard", "record", "filename", "label"})
            self.assertEqual(sample["filename"].encode(), name)
            self.assertIsNone(sample["label"])


if __name__ == "__main__":
    unittest.main()
