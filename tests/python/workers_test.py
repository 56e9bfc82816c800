"""Input workers: the same batches with any of them, and what happens to them."""

import functools
import hashlib
import itertools
import multiprocessing
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import numpy as np

import infeed
import support
from infeed import Field, Objects, View

DEADLINE = 60  # seconds, for what should take less than one
MASK = "image/segmentation/class/encoded"
TOKEN = "INFEED_WORKER_TOKEN"


class Worker:
    """`infeed worker` at a port of this machine."""

    def __init__(self, data, *flags):
        self._process = subprocess.Popen(
            [sys.executable, "-c", "import sys; from infeed import programs; "
             "sys.exit(programs.main())", "worker", "--data_dir", data,
             "--listen", "127.0.0.1:0", "--threads", "1", *flags],
            stderr=subprocess.PIPE, text=True)
        lines = []
        for line in self._process.stderr:
            lines.append(line)
            if found := re.search(r"^serving .* at (127\.0\.0\.1:\d+),", line):
                self.address = found[1]
                return
        raise AssertionError(f"the worker has ended: {''.join(lines)}")

    def name(self):
        """In ps, top and pkill."""
        return pathlib.Path(f"/proc/{self._process.pid}/comm").read_text()

    def kill(self):
        self._process.kill()
        self._process.wait()

    def end(self):
        """Returns the exit code and the last lines."""
        self._process.terminate()
        _, text = self._process.communicate(timeout=DEADLINE)
        return self._process.returncode, text


@functools.cache
def scenes():
    """A folder of 48 records with an image, its mask, and two boxes."""
    folder = support.new_folder()
    random = np.random.default_rng(4)
    with infeed.records.Writer(f"{folder}/train-00000-of-00001") as writer:
        for number in range(48):
            height, width = 60 + number, 80 - number % 9
            labels = np.full((height, width), number % 7, np.uint8)
            labels[20:] += 1
            sides = {"xmin": [.1, .5], "ymin": [.2, .3],
                     "xmax": [.6, .9], "ymax": [.8, .4]}
            writer.write_example({
                "image/encoded": support.png(random.integers(
                    0, 256, (height, width, 3), np.uint8)),
                MASK: support.png(labels),
                "image/object/class/label": [1 + number, 2 + number],
                "tokens": range(number % 5),
                **{f"image/object/bbox/{side}": values
                   for side, values in sides.items()}})
    return folder


def loader(**options):
    given = {"data": support.shards(), "batch_size": 16, "seed": 3, "threads": 1,
             "image_size": support.SIZE, **options}
    return infeed.Loader(given.pop("data"), **given)


def workers_of(train):
    """Their statistics, by address."""
    return {worker["address"]: worker for worker in train.stats["workers"]}


def all_fill(train):
    """Whether batches have had images of each worker. At first, when their
    names are not resolved yet, there is none."""
    images = [worker["images"] for worker in train.stats["workers"]]
    return bool(images) and min(images) > 0


def take_until(is_so, batches):
    """The batches until it is so, which they are to become in a minute."""
    deadline = time.monotonic() + DEADLINE
    for batch in batches:
        yield batch
        if is_so():
            return
        if time.monotonic() > deadline:
            raise AssertionError("no batch was the last one")


class WithWorkers(unittest.TestCase):
    @classmethod
    def start(cls, data):
        """A worker that the tests of the class share."""
        worker = Worker(data)
        cls.addClassCleanup(worker.end)
        return worker

    def start_own(self, data=None, *flags):
        """A worker of the test."""
        worker = Worker(data or support.shards(), *flags)
        self.addCleanup(worker.end)
        return worker

    def assert_same(self, batches, expected):
        count = 0
        for batch, other in zip(batches, expected, strict=False):
            named, others = batch.as_dict(), other.as_dict()
            self.assertEqual(list(named), list(others))
            for name, array in named.items():
                np.testing.assert_array_equal(array, others[name], name)
            self.assertEqual(batch.state_dict(), other.state_dict())
            count += 1
        self.assertGreater(count, 0)
        return count

    def run_python(self, code, *words):
        """What the code prints, with the shards in sys.argv[1]."""
        done = subprocess.run(
            [sys.executable, "-c", code, support.shards(), *words],
            capture_output=True, text=True, timeout=5 * DEADLINE,
            # Of gRPC in Python.
            env={**os.environ, "no_grpc_proxy": "127.0.0.1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class BatchesTest(WithWorkers):
    """Are the same as without workers."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.workers = [cls.start(support.shards()) for _ in range(2)]
        cls.addresses = [worker.address for worker in cls.workers]

    def check(self, workers, **options):
        """Until each worker has filled some, and for two epochs."""
        helped = loader(workers=workers, **options)
        self.assert_same(
            take_until(lambda: helped.epoch >= 2 and all_fill(helped),
                       helped.repeat()),
            loader(**options).repeat())
        return helped

    def test_in_training(self):
        for options in ({}, {"recipe": "torchvision", "layout": "words"},
                        {"augment": "randaugment", "image_size": (24, 40)},
                        {"last_batch": "carry", "threads": 2},
                        {"rank": 1, "world_size": 3, "workers_check": 2},
                        {"workers_in_flight": 3, "batches_in_pool": 8},
                        {"sample_weights": range(200), "epoch_records": 64}):
            with self.subTest(options):
                self.check(self.addresses, **options)

    def test_in_an_evaluation(self):
        helped = self.check(self.addresses, training=False)
        for _ in range(2):
            ids = np.concatenate([batch.ids for batch in helped])
            self.assertEqual(ids[ids >= 0].tolist(), list(range(50)))

    def test_with_fields(self):
        self.check(self.addresses, fields={
            "image/filename": "bytes", "image/class/label": "int64",
            "image/height": Field("int32", ())})

    def test_with_bad_records(self):
        data = support.damaged()
        told = []
        helped = loader(data=data, workers=self.start_own(data).address,
                        on_bad=told.append)
        self.assert_same(
            take_until(lambda: helped.epoch >= 1 and all_fill(helped),
                       helped.repeat()),
            loader(data=data, on_bad=lambda _: None).repeat())
        self.assertRegex(told[0], r"^replaced: .*record 5 at byte \d+")

    def test_with_views_and_boxes(self):
        address = self.start_own(scenes()).address
        for options in (
                {"views": [View(image_size=32, crop_scale=0.4)] * 2
                 + [View(image_size=(24, 16), crop_scale=0.05)] * 3,
                 "image_size": None, "recipe": "torchvision"},
                {"views": [View(), View(MASK, draws=0, labels=True)],
                 "objects": Objects("tf"),
                 "fields": {"tokens": Field("int32", 3, pad=-1)}}):
            with self.subTest(options):
                self.check(address, data=scenes(), require_labels=False,
                           **options)

    def test_however_they_are_named(self):
        first, second = self.addresses
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "workers.txt"
            file.write_text(f"# Two of this machine.\n{first}\n\n{second}\n")
            for workers in ([first, second], (first, second),
                            f"{first},{second}", f" {first} , {second}",
                            [f"@{file}"], f"@{file},{first}",
                            [first, f"@{file}"], first, [first]):
                with self.subTest(workers):
                    helped = self.check(workers)
                    self.assertEqual(
                        sorted(workers_of(helped)),
                        [first] if workers in (first, [first])
                        else sorted(self.addresses))

    def test_with_an_empty_list(self):
        alone = loader(workers=[])
        self.assert_same(alone, loader())
        self.assertEqual(alone.stats["workers"], [])

    def test_in_torchs_tensors(self):
        if not support.has("torch"):
            self.skipTest("torch is not installed")
        self.check(self.addresses, framework="torch")

    def test_of_a_resumed_loader(self):
        """Whatever the number of workers was before."""
        sets = ([], self.addresses, [
            *self.addresses, *(self.start_own().address for _ in range(3))])
        plain = list(itertools.islice(loader().repeat(), 60))
        for before, after in itertools.product(sets, sets):
            with self.subTest(before=len(before), after=len(after)):
                first = loader(workers=before)
                taken = list(take_until(lambda: not before or all_fill(first),
                                        first.repeat()))
                state = first.state_dict()
                alone = loader()
                alone.load_state_dict(state)
                self.assertEqual(alone.state_dict(), state)
                self.assertNotIn("workers", str(state))
                self.assert_same(taken, plain)
                second = loader(workers=after)
                second.load_state_dict(state)
                self.assert_same(take_until(
                    lambda: not after or all_fill(second), second.repeat()),
                                 alone.repeat())


class LossTest(WithWorkers):
    def test_of_a_killed_worker_is_logged(self):
        stays, goes = self.start_own(), self.start_own()
        helped = loader(workers=[stays.address, goes.address])
        batches, expected = helped.repeat(), loader().repeat()
        self.assert_same(take_until(lambda: all_fill(helped), batches), expected)
        with self.assertLogs("infeed", "WARNING") as logs:
            goes.kill()
            self.assert_same(
                take_until(lambda: goes.address in str(logs.output), batches),
                expected)
        self.assertNotEqual(workers_of(helped)[goes.address]["state"], "open")
        self.assert_same(itertools.islice(batches, 30), expected)

    def test_of_all_workers_leaves_the_trainers_threads(self):
        workers = [self.start_own(), self.start_own()]
        helped = loader(workers=[worker.address for worker in workers])
        batches, expected = helped.repeat(), loader().repeat()
        self.assert_same(take_until(lambda: all_fill(helped), batches), expected)
        with self.assertLogs("infeed", "WARNING") as logs:
            for worker in workers:
                worker.kill()
            self.assert_same(
                take_until(lambda: all(worker.address in str(logs.output)
                                       for worker in workers), batches),
                expected)
        self.assertEqual({worker["state"] for worker in helped.stats["workers"]},
                         {"lost"})
        self.assertEqual(
            self.assert_same(itertools.islice(batches, 30), expected), 30)

    def test_a_worker_that_is_asked_to_end_says_what_it_filled(self):
        worker = self.start_own()
        self.assertEqual(worker.name(), "input_worker\n")
        helped = loader(workers=worker.address)
        batches, expected = helped.repeat(), loader().repeat()
        self.assert_same(take_until(lambda: all_fill(helped), batches), expected)
        code, text = worker.end()
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"filled [1-9]\d* slot")
        with self.assertLogs("infeed", "WARNING") as logs:
            self.assert_same(
                take_until(lambda: worker.address in str(logs.output), batches),
                expected)

    def test_a_worker_that_is_not_there_is_logged(self):
        with socket.socket() as closed:  # Nobody listens at its port.
            closed.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{closed.getsockname()[1]}"
            helped = loader(workers=address)
            with self.assertLogs("infeed", "WARNING") as logs:
                self.assert_same(
                    take_until(lambda: address in str(logs.output),
                               helped.repeat()), loader().repeat())


class RefusalTest(WithWorkers):
    def assert_refused(self, why, workers, **options):
        refused = loader(workers=workers, **options)
        with self.assertRaisesRegex(ValueError, why) as raised:
            for _ in take_until(lambda: False, refused.repeat()):
                pass
        return str(raised.exception)

    def test_by_all_workers_is_an_error(self):
        workers = [self.start_own(scenes()) for _ in range(2)]
        addresses = [worker.address for worker in workers]
        text = self.assert_refused("no worker takes this stream: .*data",
                                   addresses)
        self.assertTrue(any(address in text for address in addresses), text)

    def test_by_one_worker_is_logged(self):
        other, same = self.start_own(scenes()), self.start_own()
        helped = loader(workers=[other.address, same.address])
        with self.assertLogs("infeed", "WARNING") as logs:
            self.assert_same(
                take_until(lambda: other.address in str(logs.output)
                           and workers_of(helped)[same.address]["images"] > 0,
                           helped.repeat()), loader().repeat())
        self.assertEqual(workers_of(helped)[other.address]["state"], "refused")

    def test_of_another_token(self):
        token = 43 * "a"
        with unittest.mock.patch.dict(os.environ, {TOKEN: token}):
            address = self.start_own().address
            helped = loader(workers=address)
            self.assert_same(take_until(lambda: all_fill(helped),
                                        helped.repeat()), loader().repeat())
        for wrong in ("", 43 * "b"):
            with unittest.mock.patch.dict(os.environ, {TOKEN: wrong}):
                text = self.assert_refused(re.escape(address), address)
                self.assertIn("token", text)
                self.assertNotIn(token, text)


@functools.cache
def certificate(name):
    """(certificate, key, authority) of 127.0.0.1, its own authority."""
    folder = pathlib.Path(support.new_folder())
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key, cert


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class TlsTest(WithWorkers):
    def start_with(self, files):
        cert, key, authority = files
        return self.start_own(None, "--tls_cert", cert, "--tls_key", key,
                              "--tls_ca", authority).address

    def assert_filled(self, helped):
        self.assert_same(take_until(lambda: all_fill(helped), helped.repeat()),
                         loader().repeat())

    def assert_out_of_reach(self, helped):
        with self.assertLogs("infeed", "WARNING") as logs:
            self.assert_same(
                take_until(lambda: "cannot be reached" in str(logs.output),
                           helped.repeat()), loader().repeat())

    def test_each_loader_has_files_of_its_own(self):
        ours, others = certificate("ours"), certificate("others")
        address, plain = self.start_with(ours), self.start_own().address
        helped = loader(workers=address,
                        worker_tls=[os.fspath(file) for file in ours])
        self.assert_filled(helped)
        self.assert_filled(loader(workers=plain))
        self.assert_out_of_reach(loader(workers=address))
        self.assert_out_of_reach(loader(workers=address, worker_tls=others))
        helped.load_state_dict(loader().state_dict())  # A new stream.
        self.assert_filled(helped)

    def test_a_spawned_process_has_them(self):
        files = certificate("ours")
        helped = loader(workers=self.start_with(files), worker_tls=files)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(first_digests, (helped,))
        self.assertEqual(found, digests(
            itertools.islice(loader().repeat(), len(found))))

    def test_a_file_that_is_missing_is_named(self):
        cert, key, _ = certificate("ours")
        helped = loader(workers="127.0.0.1:9410",
                        worker_tls=(cert, key, "/no/such.pem"))
        with self.assertRaisesRegex(ValueError, "/no/such.pem: cannot be read"):
            for _ in take_until(lambda: False, helped.repeat()):
                pass


class ArgumentsTest(WithWorkers):
    def test_wrong_ones_are_named(self):
        some = "127.0.0.1:9410"
        for error, options, text in (
                (TypeError, {"workers": 5},
                 "workers=5: must be a str, or a list of them"),
                (TypeError, {"workers": [5]}, "workers=5: must be a str"),
                (TypeError, {"workers": [some, None]}, "workers=None: must be"),
                (TypeError, {"workers": {some}}, "workers={'127.0.0.1:9410'}: "
                 "must be a str, or a list"),
                (TypeError, {"workers": b"a:1"}, "workers=b'a:1': must be a"),
                (ValueError, {"workers": "nonsense"}, "workers: 'nonsense' is "
                 "not HOST:PORT"),
                (ValueError, {"workers": [some, "a:b"]}, "workers: 'a:b' is not"),
                (ValueError, {"workers": [some, ""]}, "workers: '' is not"),
                (ValueError, {"workers": "a:65536"}, "workers: 'a:65536' is"),
                (ValueError, {"workers": "http://a:1"}, "workers: 'http://a:1'"),
                (ValueError, {"workers": "@/no/such"}, "workers: '@/no/such'"),
                (ValueError, {"workers": some, "graph": "basic"},
                 "workers and graph=basic"),
                (ValueError, {"workers": some, "workers_in_flight": -1},
                 "workers_in_flight"),
                (ValueError, {"workers": some, "workers_in_flight": 10**6},
                 "workers_in_flight"),
                (TypeError, {"workers": some, "workers_in_flight": 1.5},
                 "workers_in_flight=1.5: must be an integer"),
                (ValueError, {"workers": some, "workers_check": -1},
                 "workers_check"),
                (TypeError, {"workers": some, "workers_check": "all"},
                 "workers_check='all': must be an integer"),
                (TypeError, {"workers": some, "worker_tls": "a.pem"},
                 "worker_tls='a.pem': must be three paths"),
                (TypeError, {"worker_tls": ("a.pem", "a.key")},
                 "worker_tls=('a.pem', 'a.key'): must be three paths"),
                (TypeError, {"worker_tls": ("a.pem", "a.key", 5)},
                 "worker_tls=5: must be a path"),
                (ValueError, {"workers": some, "worker_tls": ("a.pem", "", "")},
                 "needs three files"),
                (ValueError, {"worker": some}, "did you mean workers")):
            with self.subTest(options):
                with self.assertRaisesRegex(error, re.escape(text)):
                    loader(**options)

    def test_a_wrong_token_is_named(self):
        for token in ("short", 43 * "!"):
            with unittest.mock.patch.dict(os.environ, {TOKEN: token}):
                with self.assertRaisesRegex(ValueError, TOKEN) as raised:
                    loader(workers="127.0.0.1:9410")
                self.assertNotIn(token, str(raised.exception))

    def test_none_is_no_workers(self):
        self.assert_same(loader(workers=None, workers_check=None), loader())


def digests(batches):
    return [hashlib.sha256(batch.images).hexdigest() for batch in batches]


def first_digests(train):
    """Of the first batches, until workers have filled some."""
    return digests(take_until(lambda: all_fill(train), train.repeat()))


class Ranks:
    """A Dataset of the batches' digests of each of two ranks."""

    def __init__(self, **options):
        self.make = functools.partial(loader, data=support.shards(), **options)

    def __len__(self):
        return 2

    def __getitem__(self, rank):
        return first_digests(self.make(rank=rank, world_size=2))


class ProcessesTest(WithWorkers):
    """Spawned and forked ones, and the end of the interpreter."""

    # Functions of the processes that tests start.
    SETUP = ("import gc, hashlib, infeed, itertools, logging, os, sys, time\n"
             "logging.disable()\n"
             "def load(**k): return infeed.Loader(sys.argv[1], batch_size=16, "
             "image_size=32, seed=3, threads=1, **k)\n"
             "def digest(batches):\n"
             "    sha = hashlib.sha256()\n"
             "    for batch in itertools.islice(batches, 30):\n"
             "        sha.update(batch.images.tobytes())\n"
             "    return sha.hexdigest()\n"
             "def begin(l):\n"
             "    going, end = iter(l.repeat()), time.monotonic() + 60\n"
             "    while not all(w['images'] for w in l.stats['workers']):\n"
             "        next(going)\n"
             "        assert time.monotonic() < end\n"
             "    return going\n"
             "def error_of(use):\n"
             "    try: use()\n"
             "    except Exception as error:\n"
             "        return f'{type(error).__name__}: {error}'\n")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.workers = [cls.start(support.shards()) for _ in range(2)]
        cls.addresses = [worker.address for worker in cls.workers]

    def run_code(self, code):
        return self.run_python(self.SETUP + code, *self.addresses)

    def assert_first(self, found, expected):
        self.assertGreater(len(found), 0)
        self.assertEqual(found, digests(
            itertools.islice(expected.repeat(), len(found))))

    def test_a_loader_in_a_spawned_process(self):
        helped = loader(workers=self.addresses)
        for _ in range(2):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found = pool.apply(first_digests, (helped,))
            self.assert_first(found, loader())
            first_digests(loader(workers=self.addresses))  # Here, too.

    def test_a_forked_child_is_told_and_works_without(self):
        """While the parent's stream is at work; the parent goes on."""
        out = self.run_code(
            "expected = digest(load())\n"
            "helped = load(workers=sys.argv[2:])\n"
            "going = begin(helped)\n"
            "for leave in (os._exit, sys.exit):\n"
            "    sys.stdout.flush()\n"
            "    child = os.fork()\n"
            "    if child == 0:\n"
            "        print(error_of(lambda: load(workers=sys.argv[2:])))\n"
            "        print(error_of(lambda: next(going)))\n"
            "        print(digest(load()) == expected, flush=True)\n"
            "        leave(0)\n"
            "    print(os.waitpid(child, 0)[1])\n"
            "plain = load()\n"
            "plain.load_state_dict(helped.state_dict())\n"
            "print(digest(going) == digest(plain.repeat()))\n")
        lines = out.splitlines()
        for child in (lines[:4], lines[4:8]):
            self.assertRegex(child[0], r"^ValueError: workers\b.*fork.*spawn")
            self.assertRegex(child[1], r"^RuntimeError: .*before fork\(\)")
            self.assertEqual(child[2:], ["True", "0"])
        self.assertEqual(lines[8:], ["True"])

    def test_a_child_forked_after_the_last_stream_is_told(self):
        out = self.run_code(
            "expected = digest(load())\n"
            "helped = load(workers=sys.argv[2:])\n"
            "going = begin(helped)\n"
            "helped.close()\n"
            "del going, helped\n"
            "gc.collect()\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    print(error_of(lambda: load(workers=sys.argv[2:])))\n"
            "    print(digest(load()) == expected, flush=True)\n"
            "    sys.exit(0)\n"
            "print(os.waitpid(child, 0)[1])\n"
            "print(digest(load(workers=sys.argv[2:])) == expected)\n")
        error, *rest = out.splitlines()
        self.assertRegex(error, "^ValueError: .*workers.* spawn")
        self.assertEqual(rest, ["True", "0", "True"])

    def test_a_child_may_have_workers_that_its_parent_has_not_used(self):
        out = self.run_code(
            "child = os.fork()\n"
            "if child == 0:\n"
            "    begin(load(workers=sys.argv[2:]))\n"
            "    print('begun', flush=True)\n"
            "    sys.exit(0)\n"
            "print(os.waitpid(child, 0)[1])\n"
            "begin(load(workers=sys.argv[2:]))\n"
            "print('begun')\n")
        self.assertEqual(out, "begun\n0\nbegun\n")

    def test_the_library_of_workers_is_loaded_for_the_first_of_them(self):
        out = self.run_code(
            "def is_loaded():\n"
            "    with open('/proc/self/maps') as maps:\n"
            "        return 'libinfeed_workers' in maps.read()\n"
            "digest(load(workers=[]))\n"
            "print(is_loaded())\n"
            "begin(load(workers=sys.argv[2:]))\n"
            "print(is_loaded())\n")
        self.assertEqual(out, "False\nTrue\n")

    def test_the_interpreter_ends_in_the_middle_of_a_pass(self):
        begun = "l = load(workers=sys.argv[2:])\ngoing = begin(l)\n"
        for code in ("print('end')\n",
                     "kept = [next(going).images for _ in range(9)]\n"
                     "sys.kept, l.kept = kept, going\n"
                     "print('end')\n",
                     "import threading\n"
                     "taken = []\n"
                     "def consume():\n"
                     "    for batch in going: taken.append(batch.images.sum())\n"
                     "for _ in range(3): threading.Thread(target=consume, "
                     "daemon=True).start()\n"
                     "while len(taken) < 20: time.sleep(0.01)\n"
                     "print('end')\n"):
            with self.subTest(code):
                self.assertEqual(self.run_code(begun + code), "end\n")

    @unittest.skipUnless(support.has("torch"), "torch is not installed")
    def test_torchs_data_loader_spawns(self):
        import torch.utils.data
        first_digests(loader(workers=self.addresses))  # Here, too.
        rows = torch.utils.data.DataLoader(
            Ranks(workers=self.addresses), batch_size=None, num_workers=2,
            multiprocessing_context="spawn")
        for rank, found in enumerate(rows):
            self.assert_first(found, loader(rank=rank, world_size=2))


class OtherLibrariesTest(WithWorkers):
    """Beside packages that have a gRPC, or a protobuf, of their own."""

    # Imports, and a function that makes a call.
    GRPC = ("import concurrent.futures, grpc",
            "def use():\n"
            "    handler = grpc.unary_unary_rpc_method_handler(\n"
            "        lambda request, context: request[::-1])\n"
            "    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))\n"
            "    server.add_generic_rpc_handlers((\n"
            "        grpc.method_handlers_generic_handler(\n"
            "            'echo', {'Turn': handler}),))\n"
            "    port = server.add_insecure_port('127.0.0.1:0')\n"
            "    server.start()\n"
            "    with grpc.insecure_channel(f'127.0.0.1:{port}') as channel:\n"
            "        call = channel.unary_unary('/echo/Turn')\n"
            "        assert call(b'word', timeout=60) == b'drow'\n"
            "    server.stop(None).wait()\n")
    FLIGHT = ("import pyarrow, pyarrow.flight",
              "class Server(pyarrow.flight.FlightServerBase):\n"
              "    def do_get(self, context, ticket):\n"
              "        table = pyarrow.table({'number': range(1000)})\n"
              "        return pyarrow.flight.RecordBatchStream(table)\n"
              "def use():\n"
              "    with Server('grpc://127.0.0.1:0') as server:\n"
              "        place = f'grpc://127.0.0.1:{server.port}'\n"
              "        with pyarrow.flight.connect(place) as client:\n"
              "            table = client.do_get(\n"
              "                pyarrow.flight.Ticket(b'any')).read_all()\n"
              "    assert table['number'].to_pylist() == list(range(1000))\n")
    TENSORFLOW = ("import tensorflow as tf",
                  "def use():\n"
                  "    example = tf.train.Example()\n"
                  "    example.features.feature['x'].int64_list.value[:] = [3]\n"
                  "    parsed = tf.io.parse_single_example(\n"
                  "        example.SerializeToString(),\n"
                  "        {'x': tf.io.FixedLenFeature([1], tf.int64)})\n"
                  "    assert int(parsed['x'][0] + tf.constant(4, tf.int64)) "
                  "== 7\n")

    def check(self, package, library):
        if not support.has(package):
            self.skipTest(f"{package} is not installed")
        imports, use = library
        imports, own = f"{imports}\n", "import infeed\n" + ProcessesTest.SETUP
        begin = ("helped = load(workers=sys.argv[2:])\n"
                 "going = begin(helped)\n")
        address = self.start_own().address
        for name, code in (
                ("infeed first", own + imports + use + begin),
                ("the other first", imports + own + use + begin),
                ("workers used first", own + begin + imports + use),
                ("the other used first", imports + use + "use()\n" + own + begin)):
            with self.subTest(name):
                out = self.run_python(
                    code + "use()\n"
                    "plain = load()\n"
                    "plain.load_state_dict(helped.state_dict())\n"
                    "print(digest(going) == digest(plain.repeat()))\n"
                    "use()\n", address)
                self.assertEqual(out, "True\n")

    def test_grpcio(self):
        self.check("grpc", self.GRPC)

    def test_pyarrow_flight(self):
        self.check("pyarrow", self.FLIGHT)

    def test_tensorflow(self):
        self.check("tensorflow", self.TENSORFLOW)


if __name__ == "__main__":
    unittest.main()
