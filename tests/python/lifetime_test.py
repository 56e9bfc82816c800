"""Memory, threads, processes and the interpreter's end."""

import concurrent.futures
import gc
import importlib.util
import itertools
import multiprocessing
import os
import pickle
import queue
import subprocess
import sys
import sysconfig
import tempfile
import threading
import unittest

import numpy as np

import infeed
import support


def loader(**options):
    return infeed.Loader(support.shards(), **{
        "batch_size": 4, "image_size": support.SIZE, "seed": 3, **options})


def first(train):
    return next(iter(train)).images.tobytes()


def resident():
    """Bytes of memory that the process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class MemoryTest(unittest.TestCase):
    def test_stays_flat(self):
        """3,000 batches: 37 MB of pixels, of which none may stay."""
        batches = iter(loader().repeat())
        before = 0
        for number, batch in enumerate(itertools.islice(batches, 3000)):
            self.assertEqual(batch.images.shape[0], 4)
            batch.state_dict()
            if number == 500:
                before = resident()
        self.assertLess(resident() - before, 16 << 20)

    def test_of_fields_stays_flat(self):
        """100,000 batches: 160 MB of lists, 50 MB of rows, of which none may stay."""
        with tempfile.TemporaryDirectory() as folder:
            with infeed.records.Writer(folder + "/x.tfrecord") as writer:
                for number in range(400):
                    writer.write_example({"ids": range(1 + number % 200),
                                          "row": range(number % 33)})
            train = infeed.Loader(folder, batch_size=2, views=(), fields={
                "ids": "int64", "row": infeed.Field("int64", 32, pad=0)})
            sizes = {}
            values = 0
            for number, batch in enumerate(
                    itertools.islice(train.repeat(), 100_000), 1):
                values += len(batch["ids"][0])
                if number in (1000, 10_000, 100_000):
                    sizes[number] = resident()
        self.assertEqual(values, 500 * 2 * 20100)
        self.assertLess(max(sizes.values()) - sizes[1000], 16 << 20, sizes)

    def test_kept_copies_are_freed(self):
        after = []
        for _ in range(5):
            kept = list(itertools.islice(loader().repeat(), 1000))  # 12 MB
            self.assertEqual(len(kept), 1000)
            del kept
            after.append(resident())
        self.assertLess(after[-1] - after[0], 32 << 20)

    def test_batches_in_reference_cycles(self):
        train = loader()
        for batch in itertools.islice(train.repeat(), 200):
            cycle = {"batch": batch, "images": batch.images}
            cycle["self"] = cycle
        expected = batch.images.copy()
        np.testing.assert_array_equal(cycle["images"], expected)
        del cycle, batch
        gc.collect()
        self.assertEqual(len(list(itertools.islice(train.repeat(), 50))), 50)


class ThreadsTest(unittest.TestCase):
    def test_batches_are_made_here_and_freed_there(self):
        handed, sums = queue.Queue(8), []

        def consume():
            while (batch := handed.get()) is not None:
                sums.append(int(batch.images.sum(dtype=np.int64)))
        threads = [threading.Thread(target=consume) for _ in range(3)]
        for thread in threads:
            thread.start()
        for batch in itertools.islice(loader().repeat(), 300):
            handed.put(batch)
        for _ in threads:
            handed.put(None)
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(sums), sorted(
            int(batch.images.sum(dtype=np.int64))
            for batch in itertools.islice(loader().repeat(), 300)))

    def test_two_threads_take_from_one_pass(self):
        batches, taken = loader().repeat(), []

        def consume():
            for batch in itertools.islice(batches, 100):
                taken.append((batch.epoch, batch.number))
        threads = [threading.Thread(target=consume) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(taken), [divmod(i, 50) for i in range(200)])

    def test_loaders_in_threads_have_the_batches_that_they_have_alone(self):
        def batches(seed):
            return [batch.images.tobytes() for batch in loader(seed=seed)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            together = list(pool.map(batches, range(8)))
        self.assertEqual(together, [batches(seed) for seed in range(8)])

    def test_a_loader_answers_while_threads_take_its_batches(self):
        wanted = [batch.images.tobytes() for batch in loader()]
        train, over = loader(), threading.Event()
        batches = iter(train)

        def consume():
            return [(batch.number, batch.images.tobytes()) for batch in batches]

        def ask(number):
            counted = []
            while not over.is_set():
                counted.append(train.stats["batches"])
                batch = train.batch_at(0, number)
                self.assertEqual(batch.images.tobytes(), wanted[number])
                self.assertEqual(len(batch.describe()), 4)
                loader().load_state_dict(train.state_dict())
            return counted
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            askers = [pool.submit(ask, number) for number in (7, 42)]
            consumers = [pool.submit(consume) for _ in range(2)]
            try:
                taken = sum((consumer.result() for consumer in consumers), [])
            finally:
                over.set()
            self.assertEqual(sorted(taken), list(enumerate(wanted)))
            for asker in askers:
                counted = asker.result()
                self.assertEqual(counted, sorted(counted))

    def test_threads_close_and_move_a_loader_that_they_share(self):
        wanted, train = [batch.images.tobytes() for batch in loader()], loader()
        begin = train.state_dict()
        changes = (train.close, lambda: train.set_epoch(0),
                   lambda: train.load_state_dict(train.state_dict()))

        def use(change):
            taken = 0
            for _ in range(20):
                try:
                    for batch in itertools.islice(train.repeat(), 3):
                        self.assertEqual((batch.epoch, batch.images.tobytes()),
                                         (0, wanted[batch.number]))
                        taken += 1
                except RuntimeError as error:
                    self.assertRegex(str(error), "another pass|was closed while")
                change()
                train.load_state_dict(begin)
            return taken
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            self.assertGreater(sum(pool.map(use, changes)), 0)
        self.assertEqual([batch.images.tobytes() for batch in train], wanted)

    def test_threads_share_a_batch(self):
        train = loader(fields={"image/height": "int64", "image/filename": "bytes"})
        batch = next(iter(train))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for parts in pool.map(lambda _: batch.as_dict(), range(100)):
                for name, part in batch.as_dict().items():
                    np.testing.assert_array_equal(parts[name], part)

    def test_loaders_are_made_and_freed_in_threads(self):
        listed = sys.modules["infeed.loader"]._loaders
        gc.collect()
        before = len(listed)

        def make(seed):
            return first(loader(seed=seed, threads=1)), len(list(listed))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            made = [batch for batch, _ in pool.map(make, [1, 2] * 20)]
        self.assertEqual(made, [first(loader(seed=seed)) for seed in [1, 2] * 20])
        gc.collect()
        self.assertEqual(len(listed), before)

    def test_a_loader_that_is_freed_is_not_listed(self):
        listed = sys.modules["infeed.loader"]._loaders
        train = loader()
        before = len(listed)
        del train
        gc.collect()
        self.assertLess(len(listed), before)


class InterpreterTest(unittest.TestCase):
    def ends(self, code, setup="import infeed, sys\n"
             "l = infeed.Loader(sys.argv[1], batch_size=4, image_size=32)\n",
             silently=False):
        done = subprocess.run([sys.executable, "-c", setup + code,
                               support.shards()], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        if silently:
            self.assertEqual(done.stderr, "")
        return done.stdout

    @unittest.skipUnless(sysconfig.get_config_var("Py_GIL_DISABLED"),
                         "this interpreter always has its lock")
    def test_the_interpreter_stays_without_its_lock(self):
        self.ends("assert not sys._is_gil_enabled()\n")

    def test_ends_with_arrays_held(self):
        self.ends("b = next(iter(l)); images = b.images; kept = list(l)\n")

    def test_ends_with_a_cycle_through_a_module(self):
        self.ends("sys.kept = b = next(iter(l)); sys.loader = l; l.last = b\n")

    def test_ends_in_the_middle_of_a_pass(self):
        self.ends("passing = iter(l); next(passing)\n")

    def test_ends_silently_in_the_middle_of_a_prefetched_pass(self):
        """Extensions may keep modules, whose names are then gone first."""
        self.ends(
            "import copy, ctypes, infeed.prefetching\n"
            "class Link:\n"
            "    pin = lambda self, memory: None\n"
            "    send = lambda self, batch: (copy.copy(batch), None)\n"
            "    is_sent = lambda self, mark: True\n"
            "    receive = lambda self, batch, mark: batch\n"
            "    finish = lambda self: None\n"
            "ahead = iter(infeed.prefetching.Prefetch(l, Link(), 2))\n"
            "next(ahead)\n"
            "for module in infeed.prefetching, sys.modules['__main__']:\n"
            "    ctypes.pythonapi.Py_IncRef(ctypes.py_object(module))\n",
            silently=True)

    def test_ends_while_daemon_threads_take_batches(self):
        # Each thread is somewhere else in its loop at the end.
        for _ in range(5):
            self.ends(
                "import threading, time\n"
                "taken, batches = [], l.repeat()\n"
                "def consume():\n"
                "    for b in batches: taken.append(b.images.sum())\n"
                "for _ in range(3): threading.Thread(target=consume, "
                "daemon=True).start()\n"
                "while len(taken) < 20: time.sleep(0.01)\n")

    def test_ends_while_daemon_threads_read_and_decode(self):
        self.ends(
            "import infeed.records, threading, time\n"
            "records, turns = infeed.records.open(l.index), []\n"
            "photograph = records.parse(0)['image/encoded'][0]\n"
            "def repeat(work):\n"
            "    while True: turns.append(work())\n"
            "for work in (lambda: len(records[0]),\n"
            "             lambda: infeed.decode_image(photograph).sum()) * 2:\n"
            "    threading.Thread(target=repeat, args=(work,), daemon=True).start()\n"
            "while len(turns) < 50: time.sleep(0.01)\n")

    def test_a_forked_process_closes_a_loader_that_it_has_got(self):
        self.ends("import os\n"
                  "next(iter(l)); child = os.fork()\n"
                  "l.close()\n"
                  "if not child: os._exit(0)\n"
                  "assert os.waitpid(child, 0)[1] == 0\n")

    def test_a_loader_in_a_spawned_process(self):
        train = loader()
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            self.assertEqual(pool.apply(first, (train,)), first(train))


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class DataLoaderTest(unittest.TestCase):
    """A Dataset of one's own around infeed.records, in worker processes."""

    def test_workers(self):
        import torch.utils.data
        data = Images(support.shards())
        expected = [data[i] for i in range(len(data))]
        for start in ("fork", "spawn"):
            with self.subTest(start):
                rows = torch.utils.data.DataLoader(
                    data, batch_size=None, num_workers=2,
                    multiprocessing_context=start)
                for (pixels, label), (mean, right) in zip(rows, expected,
                                                          strict=True):
                    self.assertEqual((pixels, label), (mean, right))


    def test_a_loader_that_workers_get(self):
        # Pickled, as for those that are spawned.
        import torch.utils.data
        data = FirstBatches(pickle.dumps(loader()))

        def rows(workers):
            return list(torch.utils.data.DataLoader(
                data, batch_size=None, num_workers=workers,
                multiprocessing_context="fork"))
        for workers in (1, 2):
            with self.assertRaisesRegex(
                    RuntimeError, f"num_workers={workers} has got this loader: each "
                    "worker would give all images"):
                rows(workers)


class FirstBatches:
    def __init__(self, pickled):
        self.pickled = pickled

    def __len__(self):
        return 1

    def __getitem__(self, i):
        return first(pickle.loads(self.pickled))


class Images:
    def __init__(self, shards):
        self.records = infeed.records.open(shards, split="validation")

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        features = self.records.parse(i)
        image = infeed.decode_image(features["image/encoded"][0])
        return float(image.mean()), features["image/class/label"][0]


if __name__ == "__main__":
    unittest.main()
