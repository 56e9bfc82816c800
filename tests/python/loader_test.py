"""The loader: bits, epochs, ranks, resume, lending, errors."""

import copy
import gc
import hashlib
import itertools
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

import numpy as np

import infeed
import support


def loader(**options):
    given = {"batch_size": 16, "image_size": support.SIZE, "seed": 3,
             "data": support.shards(), **options}
    return infeed.Loader(given.pop("data"), **given)


def digest(batches):
    sha = hashlib.sha256()
    for batch in batches:
        sha.update(batch.images.tobytes())
        sha.update(batch.labels.tobytes())
    return sha.hexdigest()


def take(loader_, count):
    return list(itertools.islice(loader_.repeat(), count))


class BitsTest(unittest.TestCase):
    def test_are_the_programs(self):
        for recipe in ("tpu", "torchvision", "plain", "cifar"):
            for layout in ("words", "rgb"):
                for threads in (1, 3):
                    with self.subTest(recipe=recipe, layout=layout,
                                      threads=threads):
                        text = support.run(
                            "pipeline_throughput", "--data_dir",
                            support.shards(), "--image_size", support.SIZE,
                            "--batch_size", 16, "--seed", 3, "--recipe", recipe,
                            "--layout", layout, "--hash", 20)
                        own = take(loader(recipe=recipe, layout=layout,
                                          threads=threads), 20)
                        self.assertIn(digest(own), text)

    def test_images_need_not_be_square(self):
        text = support.run(
            "pipeline_throughput", "--data_dir", support.shards(),
            "--image_size", "24x40", "--batch_size", 16, "--seed", 3,
            "--layout", "rgb", "--hash", 20)
        for size in ((24, 40), [24, 40], "24x40"):
            with self.subTest(size=size):
                wide = loader(image_size=size)
                batches = take(wide, 20)
                self.assertEqual(batches[0].images.shape, (16, 24, 40, 3))
                self.assertIn(digest(batches), text)
                # A state of another shape is refused.
                with self.assertRaises(ValueError):
                    loader(image_size=(40, 24)).load_state_dict(
                        wide.state_dict())
        self.assertEqual(digest(take(loader(image_size=(32, 32)), 2)),
                         digest(take(loader(image_size=32), 2)))
        for wrong in ((24,), (24, 40, 3), (0, 24), (24, "x")):
            with self.assertRaisesRegex((TypeError, ValueError), "image_size="):
                take(loader(image_size=wrong), 1)

    def test_rgb_is_the_words_bytes(self):
        words = take(loader(layout="words"), 1)[0].images
        rgb = take(loader(), 1)[0].images
        self.assertEqual(rgb.dtype, np.uint8)
        self.assertEqual(rgb.shape, (16, support.SIZE, support.SIZE, 3))
        for channel, shift in enumerate((24, 16, 8)):
            np.testing.assert_array_equal(rgb[..., channel],
                                          words >> shift & 255)


class EpochTest(unittest.TestCase):
    def test_a_pass_is_an_epoch(self):
        train = loader()
        self.assertEqual(len(train), 200 // 16)
        first, second = list(train), list(train)
        self.assertEqual(len(first), len(train))
        self.assertEqual([batch.epoch for batch in second], [1] * len(train))
        self.assertEqual([batch.number for batch in first],
                         list(range(len(train))))
        self.assertNotEqual(digest(first), digest(second))

    def test_a_pass_that_was_left_begins_its_epoch_again(self):
        train = loader()
        whole = digest(train)
        train.set_epoch(0)
        for batch in train:
            if batch.number == 4:
                break
        self.assertEqual(digest(train), whole)

    def test_set_epoch_jumps(self):
        train = loader()
        list(train)
        second = digest(train)
        other = loader()
        other.set_epoch(1)
        self.assertEqual(digest(other), second)

    def test_set_epoch_keeps_a_resumed_place_in_that_epoch(self):
        """Loops that call it before each pass go on where they were stopped."""
        begun, train = loader(), loader()
        state = list(itertools.islice(begun, 3))[2].state_dict()
        seen = []
        train.load_state_dict(state)
        for epoch in range(train.epoch, 2):
            train.set_epoch(epoch)
            seen += [(batch.epoch, batch.number) for batch in train]
        self.assertEqual(seen, [(0, number) for number in range(3, len(train))]
                         + [(1, number) for number in range(len(train))])
        train.load_state_dict(state)
        train.set_epoch(1)
        self.assertEqual(next(iter(train)).number, 0)
        train.set_epoch(1)  # The pass was left.
        self.assertEqual(next(iter(train)).number, 0)

    def test_carried_batches_belong_to_the_pass_in_which_they_begin(self):
        train = loader(last_batch="carry")  # 12.5 batches an epoch
        for batch in train:
            if batch.number == 4:
                break
        passes = []
        for epoch in range(2):
            train.set_epoch(epoch)
            passes.append(np.concatenate([batch.ids for batch in train]))
        self.assertEqual([len(ids) // 16 for ids in passes], [13, 12])
        ids = np.concatenate(passes)
        for epoch in (ids[:200], ids[200:]):
            self.assertEqual(sorted(epoch), list(range(200)))

    def test_an_evaluation_sees_each_image_once_each_time(self):
        evaluation = loader(training=False)
        for _ in range(2):
            ids = np.concatenate([batch.ids for batch in evaluation])
            weights = np.concatenate([batch.weights for batch in evaluation])
            self.assertEqual(list(ids[weights == 1]), list(range(50)))
            self.assertEqual(set(ids[weights == 0]), {-1})

    def test_an_evaluation_is_in_the_order_of_the_records(self):
        """In every pass, for any ranks, after a resume; another order where it
        is asked for.
        """
        def ids(*made):
            return [np.concatenate([batch.ids for batch in batches]).tolist()
                    for batches in zip(*made, strict=True)]

        def evaluation(**options):
            return loader(training=False, **options)
        whole = ids(evaluation())
        self.assertEqual(sum(whole, [])[:50], list(range(50)))
        halves = [evaluation(batch_size=8, rank=rank, world_size=2)
                  for rank in (0, 1)]
        for _ in range(2):
            self.assertEqual(ids(*halves), whole)
        again = evaluation(threads=1)
        list(again)
        again.load_state_dict(next(iter(again)).state_dict())
        self.assertEqual(ids(again), whole[1:])
        mine = [41, 3, 17]
        self.assertEqual(ids(evaluation(subset=mine, batch_size=3)), [mine])
        self.assertEqual(digest(evaluation()), digest(evaluation(seed=9)))
        shuffled = evaluation(shuffle="global")
        first, second = ids(shuffled), ids(shuffled)
        self.assertNotEqual(first, second)
        self.assertEqual(sorted(sum(first, [])), sorted(sum(second, [])))
        text = support.run(
            "pipeline_throughput", "--data_dir", support.shards(), "--split",
            "validation", "--eval", "--image_size", support.SIZE, "--batch_size",
            16, "--seed", 3, "--layout", "rgb", "--hash", 4)
        self.assertIn(digest(evaluation()), text)

    def test_an_evaluation_leaves_bad_records_out(self):
        """Where a training replaces them: no image counts twice."""
        evaluation = loader(data=support.damaged(), split="train",
                            training=False)
        for _ in range(2):
            ids = np.concatenate([batch.ids for batch in evaluation])[:200]
            self.assertEqual(ids.tolist(),
                             [*range(5), -1, *range(6, 200)])

    def test_subsets_and_weights(self):
        ids = np.concatenate([batch.ids for batch in loader(
            subset=range(32), last_batch="drop")])
        self.assertEqual(sorted(ids), list(range(32)))
        weights = [1.0] * 16 + [0.0] * 184
        ids = np.concatenate([batch.ids for batch in loader(
            sample_weights=weights, epoch_records=64)])
        self.assertEqual(sorted(ids), sorted(list(range(16)) * 4))


class FieldsTest(unittest.TestCase):
    def test_come_with_their_images(self):
        records = infeed.records.open(support.shards(), split="train")
        kinds = {"image/class/label": "int64", "image/filename": "bytes"}
        for batch in loader(fields=kinds, require_labels=False):
            names, offsets = batch["image/filename"]
            self.assertEqual(list(offsets), list(range(17)))
            for name, record in zip(names, batch.ids, strict=True):
                self.assertEqual([name],
                                 records.parse(record)["image/filename"])
            labels, _ = batch["image/class/label"]
            self.assertEqual(labels.dtype, np.int64)
            self.assertTrue(set(labels) <= set(range(1, 11)))

    def test_that_no_record_has_are_an_error(self):
        with self.assertRaisesRegex(
                ValueError, 'none of 200 records has "lable"; they have image/'):
            loader(fields={"lable": "int64"})


class BatchTest(unittest.TestCase):
    def test_shows_what_it_is(self):
        batches = list(loader(training=False))
        self.assertEqual(repr(batches[3]), "Batch 3 of epoch 0: images uint8 "
                         "[16, 32, 32, 3], 2 of weight 1")

    def test_names_the_fields_that_there_are(self):
        batch = next(iter(loader(fields={"image/filename": "bytes"})))
        with self.assertRaisesRegex(KeyError, "'filename' is none of .*"
                                    "image/filename"):
            batch["filename"]


class KeysTest(unittest.TestCase):
    def setUp(self):
        """The training records as TFDS writes them: image, label from 0."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.shard = folder.name + "/demo-train.tfrecord-00000-of-00001"
        records = infeed.records.open(support.shards(), split="train")
        with infeed.records.Writer(self.shard) as writer:
            for record in range(len(records)):
                features = records.parse(record)
                writer.write_example({
                    "image": features["image/encoded"],
                    "label": features["image/class/label"][0] - 1})

    def test_give_the_same_batches(self):
        keys = {"image_key": "image", "label_key": "label"}
        tfds = loader(data=self.shard, **keys)
        self.assertEqual(digest(take(tfds, 13)), digest(take(loader(), 13)))
        other = loader(data=self.shard, label_key="class", label_offset=0,
                       require_labels=False)
        with self.assertRaisesRegex(ValueError, "label_key"):
            other.load_state_dict(tfds.state_dict())

    def test_are_found(self):
        found = loader(data=self.shard)
        self.assertEqual(digest(take(found, 13)), digest(take(loader(), 13)))

    def test_are_named_where_they_are_others(self):
        with self.assertRaisesRegex(
                infeed.DataError,
                "no photo; it has image, label: give image_key"):
            take(loader(data=self.shard, image_key="photo",
                        on_bad_record="fail"), 1)

    def test_a_label_key_is_in_the_records(self):
        for training in (False, True):
            with self.assertRaisesRegex(ValueError, 'has "lable"; they have'):
                loader(data=self.shard, training=training, label_key="lable")

    def test_an_evaluation_needs_a_good_record(self):
        labels = {"training": False, "label_offset": 1, "num_label_classes": 1}
        with infeed.records.Writer(self.shard) as writer:
            for label in (2, 3, 4):
                writer.write_example({"image": support.png(
                    np.zeros((8, 8, 3), np.uint8)), "label": label})
        with self.assertRaisesRegex(infeed.DataError,
                                    r"no good record \(3 of 3 samples"):
            next(iter(loader(data=self.shard, **labels)))
        batch = next(iter(loader(data=self.shard, require_labels=False, **labels)))
        self.assertEqual(set(batch.labels), {-1})


class ResumeTest(unittest.TestCase):
    def test_goes_on_in_the_epoch(self):
        whole = take(loader(), 30)
        first = loader()
        for batch in itertools.islice(first.repeat(), 17):
            pass
        state = json.loads(json.dumps(batch.state_dict()))
        self.assertEqual(state, first.state_dict())
        second = loader(threads=1)
        second.load_state_dict(state)
        self.assertEqual(second.epoch, 1)
        self.assertEqual(digest(take(second, 13)), digest(whole[17:]))

    def test_a_pass_begins_with_its_first_batch(self):
        # Lightning calls iter() twice before it takes a batch.
        whole = take(loader(), 12)
        train = loader()
        train.load_state_dict(whole[4].state_dict())
        iter(train)
        iter(train)
        self.assertEqual(digest(train), digest(whole[5:]))

    def test_an_evaluations_end_begins_its_next_pass(self):
        """After the state of the last batch, as in training, and in a copy."""
        for options in ({}, {"last_batch": "drop"}, {"batch_size": 50},
                        {"rank": 0, "world_size": 2, "rank_share": "strided"}):
            made = loader(training=False, shuffle="global", **options)
            passes = [list(made), list(made)]
            one = [loader(training=False, shuffle="global", **options)
                   for _ in range(3)]
            one[0].load_state_dict(passes[0][-1].state_dict())
            take(one[1], len(made))
            one[1] = copy.copy(one[1])
            one[2].load_state_dict(passes[0][-2].state_dict()
                                   if len(made) > 1 else made.state_dict())
            for other in one[:2]:
                self.assertEqual(other.epoch, 1)
                self.assertEqual(digest(other), digest(passes[1]))
            if len(made) > 1:
                self.assertEqual(digest(one[2]), digest(passes[0][-1:]))
                self.assertEqual(digest(one[2]), digest(passes[1]))

    def test_with_other_ranks(self):
        whole = [loader(rank=0, world_size=1, batch_size=32)]
        batches = take(whole[0], 10)
        halves = [loader(rank=rank, world_size=2) for rank in (0, 1)]
        for half in halves:
            half.load_state_dict(batches[3].state_dict())
        parts = [take(half, 6) for half in halves]
        for i, batch in enumerate(batches[4:]):
            np.testing.assert_array_equal(
                np.concatenate([part[i].images for part in parts]),
                batch.images)

    def test_another_stream_is_refused_by_name(self):
        state = loader().state_dict()
        with self.assertRaisesRegex(ValueError, "seed"):
            loader(seed=4).load_state_dict(state)

    def test_copies_keep_arguments_and_place(self):
        def numbers(batches):
            return [batch.ids.tolist() for batch in batches]
        whole = numbers(take(loader(subset=range(200)), 30))
        for taken in (0, 5, 12, 17):
            train = loader(subset=iter(range(200)))
            take(train, taken)
            for make in (copy.copy, copy.deepcopy,
                         lambda made: pickle.loads(pickle.dumps(made))):
                with self.subTest(taken=taken, make=make):
                    other = make(train)
                    self.assertEqual(other.state_dict(), train.state_dict())
                    self.assertEqual(numbers(take(other, 13)),
                                     whole[taken:taken + 13])

    def test_a_copy_of_a_derived_loader_is_one(self):
        made = Named("a name")
        for make in (copy.copy, copy.deepcopy,
                     lambda made: pickle.loads(pickle.dumps(made))):
            other = make(made)
            self.assertEqual((type(other), other.name, other.later, len(other)),
                             (Named, ["a name"], 1, len(made)))
            self.assertEqual(other.name is made.name, make is copy.copy)


class Named(infeed.Loader):
    """With attributes before and after the loader's own."""

    def __init__(self, name):
        self.name = [name]
        super().__init__(support.shards(), batch_size=8, image_size=32)
        self.later = 1


class RanksTest(unittest.TestCase):
    def test_come_from_the_environment(self):
        code = ("import infeed, sys; "
                "l = infeed.Loader(sys.argv[1], batch_size=8, image_size=32); "
                "print(repr(l))")
        environment = {**os.environ, "RANK": "1", "WORLD_SIZE": "4"}
        text = subprocess.run(
            [sys.executable, "-c", code, support.shards()], env=environment,
            check=True, capture_output=True, text=True).stdout
        self.assertIn("rank 1 of 4", text)

    def test_numbers_of_the_environment_are_checked(self):
        for name, value, least in (("WORLD_SIZE", "0", 1), ("RANK", "-1", 0),
                                   ("WORLD_SIZE", "two", 1),
                                   ("LOCAL_WORLD_SIZE", "0", 1)):
            with self.subTest(name), unittest.mock.patch.dict(
                    os.environ, {"RANK": "0", "WORLD_SIZE": "2", name: value}):
                with self.assertRaisesRegex(
                        ValueError, f"the environment's {name} is '{value}': "
                        f"must be an integer from {least}"):
                    loader(batch_size=None, global_batch_size=16)

    def test_a_jax_without_is_initialized_tells_its_group(self):
        """Made up: as JAX is before 0.5."""
        for client, rank in ((None, "rank 0 of 1"), (object(), "rank 1 of 2")):
            jax = types.SimpleNamespace(
                distributed=types.SimpleNamespace(),
                process_index=lambda: 1, process_count=lambda: 2)
            own = types.SimpleNamespace(
                global_state=types.SimpleNamespace(client=client))
            with unittest.mock.patch.dict(sys.modules, {
                    "jax": jax, "jax._src.distributed": own}):
                self.assertIn(rank, repr(loader()))

    def test_half_of_a_place_is_no_single_process(self):
        """Each of three processes would train on all images, or be rank 0."""
        without = {name: value for name, value in os.environ.items()
                   if name not in ("RANK", "WORLD_SIZE")}
        for name, value, other in (("WORLD_SIZE", "3", "RANK"),
                                   ("RANK", "1", "WORLD_SIZE")):
            with self.subTest(name), unittest.mock.patch.dict(
                    os.environ, {**without, name: value}, clear=True):
                with self.assertRaisesRegex(
                        ValueError, f"{name} is set, but {other} is not"):
                    loader()
                self.assertIn("rank 2 of 3", repr(loader(rank=2, world_size=3)))
        for given, other in (({"world_size": 3}, "rank"),
                             ({"rank": 1}, "world_size")):
            with self.subTest(given), self.assertRaisesRegex(
                    TypeError, f"^{next(iter(given))}=[13]: give {other} too"):
                loader(**given)

    def test_batch_size_is_of_a_rank_or_of_all(self):
        self.assertEqual(len(loader(batch_size=8, rank=0, world_size=2)),
                         200 // 16)
        whole = loader(batch_size=None, global_batch_size=16, rank=0,
                       world_size=2)
        self.assertEqual(len(next(iter(whole))), 8)
        with self.assertRaises(TypeError):
            loader(global_batch_size=16)


class LendingTest(unittest.TestCase):
    def test_a_pool_that_is_too_small_is_named(self):
        with self.assertRaisesRegex(
                ValueError, "^batches_in_pool=2: must be at least 3, or give"):
            loader(batches_in_pool=2)
        for least in ({"batches_in_pool": 3},
                      {"batches_in_pool": 2, "max_lent": 1}):
            self.assertEqual(len(take(loader(**least), 5)), 5)

    def test_all_batches_may_be_kept(self):
        for pool in (3, 4, 8):
            with self.subTest(pool=pool):
                train = loader(batches_in_pool=pool)
                kept = take(train, 30)
                self.assertEqual(digest(kept), digest(take(loader(), 30)))

    def test_arrays_outlive_batch_and_loader(self):
        train = loader()
        batch = next(iter(train))
        images, copy = batch.images, batch.images.copy()
        train.close()
        del batch, train
        gc.collect()
        np.testing.assert_array_equal(images, copy)

    def test_threads_may_share_a_pass(self):
        batches, numbers = loader().repeat(), []

        def consume():
            for batch in itertools.islice(batches, 6):
                numbers.append((batch.epoch, batch.number))
        threads = [threading.Thread(target=consume) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(numbers), [divmod(i, 12) for i in range(24)])


class Bar:
    """What of tqdm a loader uses."""

    def __init__(self, desc, initial, total, **_):
        self.desc, self.n, self.total = desc, initial, total

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.shown.append((self.desc, self.n, self.total))

    def update(self, images):
        self.n += images


class ProgressTest(unittest.TestCase):
    def setUp(self):
        Bar.shown = []
        self.enterContext(unittest.mock.patch.dict(
            sys.modules, {"tqdm.auto": types.SimpleNamespace(tqdm=Bar)}))

    def test_a_bar_for_each_epoch(self):
        train = loader(progress=True)
        for batch in train:
            if batch.number == 3:  # A loop counts it when it is done with it.
                break
        list(train), list(train)
        self.assertEqual(Bar.shown, [("epoch 0", 48, 192), ("epoch 0", 192, 192),
                                     ("epoch 1", 192, 192)])

    def test_goes_on_where_the_epoch_does(self):
        train = loader(progress=True)
        train.load_state_dict(take(loader(), 5)[4].state_dict())
        next(iter(train))
        self.assertEqual(Bar.shown, [("epoch 0", 80, 192)])

    def test_an_evaluation_counts_images_not_slots(self):
        list(loader(training=False, progress=True))
        self.assertEqual(Bar.shown, [("epoch 0", 50, 50)])

    def test_one_rank_shows_it(self):
        list(loader(progress=True, rank=1, world_size=2))
        self.assertEqual(Bar.shown, [])

    def test_says_what_is_missing(self):
        with unittest.mock.patch.dict(sys.modules, {"tqdm.auto": None}):
            with self.assertRaisesRegex(ModuleNotFoundError, "install tqdm"):
                loader(progress=True)


class ErrorTest(unittest.TestCase):
    def test_wrong_options(self):
        for options, text in (
                ({"recipe": "best"}, "recipe='best': must be"),
                ({"batch_size": 0}, "batch_size=0: must be at least 1"),
                ({"framework": "mxnet"}, "must be numpy, torch or jax")):
            with self.subTest(options):
                with self.assertRaisesRegex(ValueError, re.escape(text)):
                    loader(**options)

    def test_missing_data(self):
        with self.assertRaises(FileNotFoundError):
            infeed.Loader("/no/such/folder", batch_size=4)

    def test_bad_records_are_replaced_and_told(self):
        told = []
        train = loader(data=support.damaged(), on_bad=told.append)
        self.assertEqual(sum(len(batch) for batch in train), 192)
        # The next epoch is on its way already.
        self.assertIn(len(told), (1, 2))
        self.assertRegex(told[0], r"^replaced: .*record 5 at byte \d+")

    def test_or_end_the_stream(self):
        train = loader(data=support.damaged(), on_bad_record="fail")
        with self.assertRaises(infeed.DataError) as raised:
            list(train)
        self.assertEqual(raised.exception.record, 5)
        self.assertIn("train-00000-of-00003", raised.exception.path)

    def test_statistics(self):
        train = loader()
        list(train)
        self.assertGreaterEqual(train.stats["images"], 192)
        self.assertTrue(train.verdict)
        self.assertIn("decode", train._repr_html_())

    def test_statistics_stay_after_close_and_start_nothing(self):
        train = loader()
        list(train)
        train.close()
        threads = len(os.listdir("/proc/self/task"))
        stats, verdict, page = train.stats, train.verdict, train._repr_html_()
        self.assertEqual(len(os.listdir("/proc/self/task")), threads)
        self.assertGreaterEqual(stats["images"], 192)
        self.assertTrue(verdict)
        self.assertIn("decode", page)
        list(train)
        self.assertGreaterEqual(train.stats["images"], 192)


class ProcessTest(unittest.TestCase):
    """Signals, fork and the end of the interpreter."""

    def python(self, code, **keywords):
        return subprocess.Popen(
            [sys.executable, "-c", code, support.shards()],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            **keywords)

    def test_ctrl_c_ends_a_wait(self):
        # All batches are lent and none is copied: the next call waits.
        process = self.python(
            "import infeed, sys\n"
            "l = infeed.Loader(sys.argv[1], batch_size=4, image_size=32, "
            "max_lent=0, batches_in_pool=2)\n"
            "kept = []\n"
            "try:\n"
            "    for batch in l:\n"
            "        kept.append(batch)\n"
            "        print(len(kept), flush=True)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n")
        self.assertEqual(process.stdout.readline(), "1\n")
        self.assertEqual(process.stdout.readline(), "2\n")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, "interrupted\n"))

    def test_a_forked_child_is_told(self):
        """Whatever of the loader it uses, and even if a thread of the parent is
        in the loader, which waits there for a batch.
        """
        process = self.python(
            "import infeed, logging, os, sys, threading, time\n"
            "logging.disable()\n"
            "def load(): return infeed.Loader(sys.argv[1], batch_size=4, "
            "image_size=32, max_lent=0, batches_in_pool=2)\n"
            "idle, begun, waits, kept = load(), load(), load(), []\n"
            "going = iter(begun)\n"
            "next(going)\n"
            "def wait():\n"
            "    for batch in waits: kept.append(batch)\n"
            "threading.Thread(target=wait, daemon=True).start()\n"
            "while len(kept) < 2: time.sleep(0.01)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    for use in (lambda: next(iter(idle)), lambda: next(going),\n"
            "                lambda: next(iter(begun)), lambda: next(iter(waits)),\n"
            "                lambda: next(waits.repeat()), lambda: idle.stats,\n"
            "                lambda: waits.verdict, lambda: waits.set_epoch(2),\n"
            "                lambda: waits.load_state_dict({})):\n"
            "        try:\n"
            "            use()\n"
            "        except RuntimeError as error:\n"
            "            print('before fork()' in str(error), flush=True)\n"
            "    sys.exit(0)\n"
            "print(os.waitpid(child, 0)[1], next(going).number)\n")
        out, error = process.communicate(timeout=60)
        self.assertEqual(out, 9 * "True\n" + "0 1\n", error)

    def test_a_forked_childs_own_loader_works(self):
        """Every time, with the same bytes, in its children too."""
        process = self.python(
            "import concurrent.futures, hashlib, infeed, logging\n"
            "import multiprocessing, os, sys\n"
            "logging.disable()\n"
            "def digest(number):\n"
            "    l = infeed.Loader(sys.argv[1], batch_size=8, image_size=32, "
            "seed=number)\n"
            "    sha = hashlib.sha256()\n"
            "    for batch in l: sha.update(batch.images.tobytes())\n"
            "    return sha.hexdigest()\n"
            "expected = [digest(number) for number in range(6)]\n"
            "alive = infeed.Loader(sys.argv[1], batch_size=8, image_size=32)\n"
            "going = iter(alive)\n"
            "next(going)\n"
            "fork = multiprocessing.get_context('fork')\n"
            "with concurrent.futures.ProcessPoolExecutor(2, fork) as pool:\n"
            "    print(list(pool.map(digest, range(6))) == expected)\n"
            "for number in range(6):\n"
            "    sys.stdout.flush()\n"
            "    child = os.fork()\n"
            "    if child == 0:\n"
            "        if os.fork() == 0:\n"
            "            sys.exit(digest(number) != expected[number])\n"
            "        sys.exit(os.wait()[1] or digest(number) != "
            "expected[number])\n"
            "    print(os.waitpid(child, 0)[1])\n"
            "print(next(going).number)\n")
        out, error = process.communicate(timeout=120)
        self.assertEqual(out, "True\n" + 6 * "0\n" + "1\n", error)

    def test_waiting_for_a_batch_of_its_own_is_said(self):
        process = self.python(
            "import infeed, sys, threading\n"
            "l = infeed.Loader(sys.argv[1], batch_size=4, image_size=32, "
            "max_lent=0, batches_in_pool=2)\n"
            "kept = []\n"
            "for batch in l: kept.append(batch)\n")
        self.assertRegex(process.stderr.readline(), "waiting: all batches of the "
                         "pool are held, and max_lent=0 gives no copies")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    def test_batches_at_the_interpreters_end(self):
        """Before infeed stops they come; afterwards asking is an error."""
        process = self.python(
            "import atexit, sys\n"
            "def take(): print(len(next(going)), flush=True)\n"
            "atexit.register(lambda: take())\n"
            "import infeed\n"
            "l = infeed.Loader(sys.argv[1], batch_size=4, image_size=32)\n"
            "class Late:\n"
            "    def __del__(self): next(iter(l))\n"
            "going, late = iter(l), Late()\n"
            "atexit.register(take)\n")
        out, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, "4\n"))
        self.assertEqual(error.count("RuntimeError: the interpreter ends"), 2,
                         error)

    def test_the_interpreter_ends_while_a_thread_waits(self):
        process = self.python(
            "import infeed, logging, sys, threading, time\n"
            "logging.disable()\n"
            "l = infeed.Loader(sys.argv[1], batch_size=4, image_size=32, "
            "max_lent=0, batches_in_pool=2)\n"
            "kept = []\n"
            "def consume():\n"
            "    for batch in l: kept.append(batch)\n"
            "threading.Thread(target=consume, daemon=True).start()\n"
            "while len(kept) < 2: time.sleep(0.01)\n"
            "time.sleep(0.1)\n")
        _, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, error), (0, ""))

    def test_the_interpreter_ends_while_a_batch_is_held(self):
        process = self.python(
            "import infeed, sys\n"
            "l = infeed.Loader(sys.argv[1], batch_size=4, image_size=32)\n"
            "batches = l.repeat()\n"
            "batch = next(batches)\n"
            "images = batch.images\n"
            "sys.kept = [l, batches, batch, images]\n")
        _, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, error), (0, ""))


if __name__ == "__main__":
    unittest.main()
