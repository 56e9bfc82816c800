"""batch.fingerprint and loader.fingerprint."""

import copy
import itertools
import unittest

import infeed
import support

MODULO = 2**64


def loader(**options):
    given = {"batch_size": 16, "image_size": support.SIZE, "seed": 3,
             "recipe": "torchvision", "augment": "randaugment", **options}
    return infeed.Loader(support.shards(), **given)


def take(batches, count):
    return list(itertools.islice(batches.repeat(), count))


def total(batches):
    return sum(batch.fingerprint for batch in batches) % MODULO


class FingerprintTest(unittest.TestCase):
    def test_a_loaders_is_the_sum_of_its_batches(self):
        train = loader()
        self.assertEqual(train.fingerprint, 0)
        batches = []
        for batch in itertools.islice(train.repeat(), 30):
            batches.append(batch)
            self.assertEqual(train.fingerprint, total(batches))
            self.assertEqual(batch.state_dict(), train.state_dict())
        self.assertEqual(int(train.state_dict()["fingerprint"], 16),
                         train.fingerprint)
        self.assertEqual(len({batch.fingerprint for batch in batches}), 30)

    def test_is_the_same_for_other_threads_ranks_and_layouts(self):
        expected = total(take(loader(batch_size=32), 7))
        for options in ({"threads": 1}, {"graph": "basic"}, {"layout": "words"},
                        {"use_cache": True}, {"verify_checksums": False}):
            with self.subTest(**options):
                self.assertEqual(
                    total(take(loader(batch_size=32, **options), 7)), expected)
        ranks = [total(take(loader(rank=rank, world_size=2), 7))
                 for rank in (0, 1)]
        self.assertEqual(sum(ranks) % MODULO, expected)

    def test_goes_on_after_a_break(self):
        whole = loader()
        take(whole, 30)
        first = loader()
        take(first, 17)
        for second in (loader(threads=1), copy.deepcopy(first)):
            second.load_state_dict(first.state_dict())
            self.assertEqual(second.fingerprint, first.fingerprint)
            take(second, 13)
            self.assertEqual(second.state_dict(), whole.state_dict())

    def test_what_was_fed_before_another_epoch_counts(self):
        train = loader()
        fed = total(take(train, 2))
        train.set_epoch(5)
        self.assertEqual(train.fingerprint, fed)
        more = total(take(train, 3))
        self.assertEqual(train.fingerprint, (fed + more) % MODULO)

    def test_differs_with_what_is_fed(self):
        options = ({}, {"seed": 4}, {"recipe": "tpu"}, {"augment": "none"},
                   {"interpolation": "bilinear"}, {"random_flip": False},
                   {"input_hash": "pixels"})
        self.assertEqual(len({total(take(loader(**one), 3))
                              for one in options}), len(options))
        # crop_scale is of training alone.
        self.assertEqual(
            *(total(take(loader(training=False, **one), 3))
              for one in ({}, {"crop_scale": 0.5})))

    def test_pixels_are_the_same_in_both_layouts(self):
        self.assertEqual(*(
            total(take(loader(input_hash="pixels", layout=layout), 3))
            for layout in ("rgb", "words")))


if __name__ == "__main__":
    unittest.main()
