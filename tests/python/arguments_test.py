"""Arguments: what is taken, and that nothing else does more than raise."""

import collections
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

import infeed
import support
from infeed import _arguments


class Hostile:
    """Raises in whatever it is asked."""

    def fail(self, *_):
        raise ZeroDivisionError

    __repr__ = __str__ = __index__ = __len__ = __iter__ = fail
    __bool__ = __float__ = __array__ = __eq__ = __getitem__ = fail
    __fspath__ = fail
    __hash__ = object.__hash__


def values():
    """Of every kind, of which each argument takes few."""
    return [
        None, True, False, np.bool_(True), -1, 0, 1, 2**31, 2**32, 2**63, 2**64,
        -2**63 - 1, 10**5000, np.int64(-3), np.uint64(2**64 - 1), 1.5, -0.5,
        1e300, float("nan"), float("inf"), np.float32("nan"), 1j, "", "no",
        "1", "a\0b", "\udc80", "x" * 100_000, b"", b"\xff\xd8", bytearray(b"x"),
        memoryview(b"abcd")[::2], [], [None], [1, 2, 3], [True, 2], ["a"],
        [2**70], [-1], (1, 2, 3, 4), (1, 2, 3, 4, 5), ((1, 2), 3), {}, {"a": 1},
        {1: "int64"}, {"\udc80": "int64"}, {"a": "int64", "b": None}, set(),
        {1, 2}, range(3), iter([1]), object(), int, len, Ellipsis,
        np.zeros((2, 2)), np.zeros(0), np.array(["a"]), np.array([np.nan]),
        np.array(7), np.zeros(200), np.ones(3, bool), np.array([None]),
        np.datetime64("2026-01-01"), pathlib.PurePath("no/such/file"),
        collections.deque([1]), Hostile()]


def calls(folder):
    """(name of the argument, function that is given its value)."""
    shards = support.shards()
    loader = infeed.Loader(shards, batch_size=8, image_size=32,
                           fields={"image/filename": "bytes"})
    records = infeed.records.open(shards)
    photograph = support.photograph()
    state = loader.state_dict()
    batch = next(iter(loader))

    def load(**given):
        made = infeed.Loader(**{"data": shards, "batch_size": 8,
                                "image_size": 32, **given})
        made.close()

    def resume(name):
        def call(value):
            loader.load_state_dict({**state, name: value})
            next(iter(loader))
        return call

    def write(**given):
        with infeed.records.Writer(**{
                "path": os.path.join(folder, "x"), **given}) as writer:
            writer.write(b"x")

    def example(value):
        with infeed.records.Writer(os.path.join(folder, "x")) as writer:
            writer.write_example(value)

    own = infeed.Loader.__init__.__kwdefaults__
    options = {row["name"] for row in infeed.option_table()}
    for name in ["data", *own, *options - set(own)]:
        yield name, lambda value, name=name: load(**{name: value})
    yield "batch_size", lambda value: load(batch_size=None,
                                           global_batch_size=value)
    yield "epoch", loader.set_epoch
    yield "state", loader.load_state_dict
    for name in state:
        yield "state", resume(name)
    yield "field", batch.__getitem__
    yield "field", batch.lengths
    for name, given in (("type", {}), ("shape", {}), ("raw", {"shape": 2}),
                        ("pad", {"shape": 2}), ("absent", {"shape": (2, 2)})):
        for kind in ("int64", "float32", "bool", "bytes"):
            yield name, lambda value, name=name, given=given, kind=kind: (
                infeed.Field(**{"type": kind, **given, name: value}))
    yield "absent", lambda value: infeed.Field("bytes", (), absent=value)
    for name in ("key", "labels", "crop_scale", "random_flip", "recipe"):
        yield name, lambda value, name=name: infeed.View(**{name: value})
    for name, given in (("draws", {}), ("image_size", {}), (
            "fill", {"key": "image/encoded", "labels": "int32"})):
        yield name, lambda value, name=name, given=given: load(
            views=[infeed.View(), infeed.View(**{**given, name: value})])
    yield "views", lambda value: load(views=[infeed.View(), value])
    yield "data", infeed.Index
    yield "split", lambda value: infeed.Index(shards, split=value)
    yield "use_cache", lambda value: infeed.Index(shards, use_cache=value)
    yield "images", infeed.Index.of_images
    yield "images", lambda value: infeed.Index.of_images([("x", value)])
    yield "images", lambda value: infeed.Index.of_images([(value, 1)])
    yield "index", infeed.records.Records
    yield "data", infeed.records.open
    yield "split", lambda value: infeed.records.open(shards, split=value)
    yield "data", infeed.records.verify
    yield "record", records.__getitem__
    yield "record", records.parse
    yield "path", lambda value: write(path=value) if type(value) is not int \
        else None  # Descriptors are files to open().
    yield "compression", lambda value: write(compression=value)
    yield "payload", lambda value: infeed.records.Writer(
        os.path.join(folder, "x")).write(value)
    yield "features", example
    yield "features", lambda value: example(
        {value: 1} if type(value).__hash__ and not isinstance(value, tuple)
        else {})
    yield "features", lambda value: example({"a": value})
    yield "features", lambda value: example({"a": [1, value]})
    yield "features", lambda value: example({"a": [b"x", value]})
    yield "data", infeed.decode_image
    yield "window", lambda value: infeed.decode_image(photograph, window=value)
    yield "window", lambda value: infeed.decode_image(photograph,
                                                      (0, 0, 1, value))
    yield "size", lambda value: infeed.decode_image(photograph, size=value)
    yield "size", lambda value: infeed.decode_image(photograph, size=(1, value))
    yield "interpolation", lambda value: infeed.decode_image(
        photograph, size=1, interpolation=value)
    yield "images", lambda value: infeed.convert(value, folder)
    yield "on_progress", lambda value: infeed.convert(
        "no/such", os.path.join(folder, "out"), on_progress=value)
    yield "shards", lambda value: infeed.convert(
        "no/such", os.path.join(folder, "out"), shards=value)


def try_all():
    """Prints what is not as it should be, and at last the number of calls."""
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, call in calls(folder):
            for number, value in enumerate(values()):
                count += 1
                print(name, number, type(value).__name__, file=sys.stderr)
                try:
                    call(value)
                except (TypeError, ValueError) as error:
                    text = str(error)
                    if "incompatible" in text or (
                            isinstance(error, TypeError) and name not in text
                            and "batch_size" not in text):
                        print(f"{name}: {type(value).__name__}: {text[:200]}")
                except (OSError, IndexError, KeyError, ModuleNotFoundError,
                        MemoryError):
                    pass
                except ZeroDivisionError:
                    if not isinstance(value, Hostile):
                        raise
    print("calls:", count)


class HostileTest(unittest.TestCase):
    def test_every_argument_raises_a_python_exception(self):
        done = subprocess.run(
            [sys.executable, "-c", "import arguments_test as a; a.try_all()"],
            capture_output=True, text=True, errors="replace",
            cwd=pathlib.Path(__file__).parent)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        lines = done.stdout.splitlines()
        self.assertRegex(lines[-1], r"calls: \d{4,}")
        self.assertEqual(lines[:-1], [])


def loader(**options):
    return infeed.Loader(support.shards(), **{
        "batch_size": 16, "image_size": support.SIZE, "seed": 3, **options})


def ids(made):
    return np.concatenate([batch.ids for batch in made]).tolist()


class KindsTest(unittest.TestCase):
    """NumPy's scalars and arrays are as Python's; other kinds are errors."""

    def test_numpys_scalars(self):
        plain = ids(loader(recipe="torchvision", crop_scale=0.5, random_flip=False, threads=1))
        self.assertEqual(plain, ids(loader(
            recipe="torchvision",
            batch_size=np.int64(16), seed=np.uint64(3), threads=np.int8(1),
            image_size=(np.int32(32), np.array(32)), crop_scale=np.float32(0.5),
            random_flip=np.bool_(False), training=np.True_,
            rank=np.int64(0), world_size=np.int64(1))))

    def test_workers_are_a_list_or_its_text(self):
        for given in ("a:1,b:2", ["a:1", "b:2"], ("a:1", "b:2")):
            self.assertEqual(_arguments.options({"workers": given}, ()),
                             {"workers": "a:1,b:2"})
        for given, text in ((["a:1", 2], "^workers=2: must be a str$"),
                            (7, "^workers=7: must be a str, or a list of them$"),
                            ({"a:1"}, "^workers={'a:1'}: .* list of them$")):
            with self.subTest(given), self.assertRaisesRegex(TypeError, text):
                _arguments.options({"workers": given}, ())

    def test_two_bounds_at_once(self):
        """As torchvision's scale=(0.4, 1) and scale_range=(0.1, 2)."""
        def options(**given):
            return _arguments.options(given, ())
        bounds = {"crop_scale": 0.25, "crop_scale_max": 0.5}
        self.assertEqual(options(crop_scale=(0.25, 0.5)), bounds)
        self.assertEqual(options(crop_scale=[np.float32(0.25), 0.5]), bounds)
        self.assertEqual(options(**bounds), bounds)
        self.assertEqual(options(crop_scale=0.25, crop_scale_max=None),
                         {"crop_scale": 0.25})
        self.assertEqual(options(scale_jitter=(0.1, 2)),
                         {"scale_jitter_min": 0.1, "scale_jitter_max": 2})
        for given, message in [
                ({"scale_jitter": 2}, "scale_jitter=2: must be the smallest and"),
                ({"scale_jitter": (1, 2), "scale_jitter_min": 1},
                 "and scale_jitter_min: give one of them"),
                ({"crop_scale": (0.25,)}, "the smallest and the largest"),
                ({"crop_scale": (0.25, 0.5), "crop_scale_max": 1},
                 "and crop_scale_max: give one of them"),
                ({"crop_scale": (0.25, "0.5")}, "crop_scale_max='0.5': must be a")]:
            with self.subTest(given), self.assertRaisesRegex(
                    (TypeError, ValueError), message):
                options(**given)

    def test_texts_and_numbers_are_no_bools(self):
        for given in ({"training": "no"}, {"training": 0}, {"progress": "no"},
                      {"random_flip": "false"}, {"random_flip": 1},
                      {"use_cache": "yes"}):
            with self.subTest(given), self.assertRaisesRegex(
                    TypeError, f"^{next(iter(given))}=.*True or False"):
                loader(**given)

    def test_bools_and_texts_are_no_numbers(self):
        for given in ({"batch_size": True}, {"seed": "3"}, {"threads": 1.0},
                      {"world_size": True}, {"epoch_records": True},
                      {"crop_scale": "0.5"}, {"max_bad_rate": True},
                      {"image_size": True}, {"image_size": (True, 32)},
                      {"memory_limit": 1.5e9}, {"rank": "0"}):
            with self.subTest(given), self.assertRaisesRegex(
                    TypeError, f"^{next(iter(given))}="):
                loader(**given)

    def test_fields(self):
        for given in ({1: "bytes"}, ["a"], "a", {"a": None}):
            with self.subTest(given), self.assertRaisesRegex(TypeError,
                                                             "^fields"):
                loader(fields=given)
        with self.assertRaisesRegex(ValueError, "must be int64, float32 or"):
            loader(fields={"a": "text"})
        with self.assertRaisesRegex(TypeError, "or an infeed.Field"):
            loader(fields={"a": ("int64", 2)})

    def test_names_of_options(self):
        with self.assertRaisesRegex(ValueError, "'shufle': did you mean shuffle"):
            loader(shufle="none")
        for name, ours in (("num_workers", "threads"),
                           ("drop_last", "last_batch"),
                           ("augment_name", "augment")):
            with self.assertRaisesRegex(ValueError, f"did you mean {ours}[?]"):
                loader(**{name: 1})
        with self.assertRaisesRegex(ValueError, "did you mean batch_size"):
            loader(batchsize=4)


class PathTest(unittest.TestCase):
    def test_any_bytes_may_be_the_datas_name(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(os.fsencode(folder), b"\xe9.tfrecord")
            with open(data, "wb") as file:
                file.write(pathlib.Path(support.shards(),
                           "train-00000-of-00003").read_bytes())
            for given in (os.fsdecode(data), [pathlib.Path(os.fsdecode(data))]):
                self.assertGreater(len(infeed.Index(given)), 0)

    def test_any_bytes_may_be_a_files_name(self):
        with tempfile.TemporaryDirectory() as folder:
            def path(name):
                return os.fsdecode(os.path.join(os.fsencode(folder), name))
            image, bad = path(b"\xe9.jpg"), path(b"\xe8.jpg")
            pathlib.Path(image).write_bytes(support.photograph())
            pathlib.Path(bad).write_bytes(b"no image")
            index = infeed.Index.of_images([(image, 3), (pathlib.Path(bad), 4)])
            for made in (index, pickle.loads(pickle.dumps(index))):
                batch, = infeed.Loader(made, batch_size=2, image_size=32,
                                       training=False, on_bad=lambda line: None,
                                       bad_record_report=path(b"\xe9.jsonl"))
                self.assertEqual(batch.labels.tolist(), [3, -1])
            self.assertIn("xe8.jpg", pathlib.Path(path(b"\xe9.jsonl")).read_text())
            with infeed.records.Writer(path(b"\xe9.tfrecord")) as writer:
                writer.write(b"payload")
            self.assertEqual(
                infeed.records.open(path(b"\xe9.tfrecord"))[:], [b"payload"])
            for label in b"xy":
                images = path(b"\xe9/%c" % label)
                os.makedirs(images)
                pathlib.Path(images, "1.jpg").write_bytes(support.photograph())
            report = infeed.convert(path(b"\xe9"), path(b"\xe8"), shards=1)
            self.assertEqual(report.records, {"train": 2})

    def test_other_paths_are_errors(self):
        for given, kind in ((b"x", TypeError), ("a\0b", ValueError),
                            ("\ud800", ValueError), (5, TypeError),
                            (None, TypeError), ([], TypeError),
                            (["x", 5], TypeError)):
            with self.subTest(given), self.assertRaisesRegex(kind, "^data="):
                infeed.Index(given)


class SubsetTest(unittest.TestCase):
    NUMBERS = [3, 150, 7, 60]

    def taken(self, subset, **options):
        return ids(loader(split="train", training=False, batch_size=2,
                          subset=subset, **options))

    def test_numbers_of_any_kind(self):
        for subset in (self.NUMBERS, tuple(self.NUMBERS), iter(self.NUMBERS),
                       np.array(self.NUMBERS), np.array(self.NUMBERS, np.uint8),
                       [np.int64(number) for number in self.NUMBERS]):
            with self.subTest(type(subset)):
                self.assertEqual(self.taken(subset), self.NUMBERS)
        self.assertEqual(self.taken(range(10, 4, -2)), [10, 8, 6, -1][:3] + [-1])
        self.assertEqual(self.taken([5, 5]), [5, 5])  # Twice an epoch.

    def test_a_mask(self):
        mask = np.zeros(200, bool)
        mask[self.NUMBERS] = True
        for subset in (mask, mask.tolist(), list(mask)):
            self.assertEqual(self.taken(subset), sorted(self.NUMBERS))
        with self.assertRaisesRegex(ValueError, "199 bools.* 200 records"):
            loader(subset=mask[:199])
        with self.assertRaisesRegex(ValueError, "no record"):
            loader(subset=np.zeros(200, bool))

    def test_others_are_errors(self):
        for subset, kind, text in (
                ([-1], ValueError, "no record -1"),
                ([200], ValueError, "no record 200: the data has"),
                ([2**70], ValueError, "^subset"),
                ([], ValueError, "no record"),
                ([1.0], TypeError, "^subset"),
                (np.array([1.0]), TypeError, "^subset"),
                ([True, 2], TypeError, "^subset"),
                ("12", TypeError, "^subset"), (5, TypeError, "^subset"),
                ([[1, 2]], TypeError, "one dimension"),
                ({1: 2}, TypeError, "^subset"),
                (np.ma.array([5, 9], mask=[0, 1]), TypeError, "^subset"),
                (np.arange(200) // 150, ValueError, "give bools for a mask"),
                ([0, 1] * 100, ValueError, "give bools for a mask")):
            with self.subTest(subset=subset), self.assertRaisesRegex(kind, text):
                loader(subset=subset)


class WeightsTest(unittest.TestCase):
    def test_of_any_kind(self):
        weights = np.zeros(200)
        weights[:16] = 1
        for given in (weights, weights.astype(np.float32), weights.astype(int),
                      weights.tolist(), tuple(weights)):
            self.assertEqual(set(ids(loader(sample_weights=given))),
                             set(range(16)))
        self.assertEqual(set(ids(loader(subset=[5, 6], sample_weights=[0, 1],
                                        epoch_records=16))), {6})

    def test_others_are_errors(self):
        ones = np.ones(200)
        for given, kind in (
                (ones[:199], ValueError), ([], ValueError), (-ones, ValueError),
                (0 * ones, ValueError), (np.nan * ones, ValueError),
                (np.inf * ones, ValueError), (1e308 * ones, ValueError),
                (ones > 0, TypeError), (["1"] * 200, TypeError),
                (ones * 1j, TypeError), (1, TypeError), ("1" * 200, TypeError)):
            with self.subTest(given=given), self.assertRaisesRegex(
                    kind, "^sample_weights"):
                loader(sample_weights=given)
        with self.assertRaisesRegex(ValueError, "2 numbers for 3 records"):
            loader(subset=[1, 2, 3], sample_weights=[1, 1])


class PairsTest(unittest.TestCase):
    """Arguments that do not go together: the error names both."""

    def test_weights_do_not_fit_the_order_of_an_evaluation(self):
        weights = np.ones(200)
        for given, text in (
                ({"sample_weights": weights, "training": False},
                 "sample_weights and training=False"),
                ({"epoch_records": 40, "training": False},
                 "epoch_records and training=False"),
                ({"sample_weights": weights, "shuffle": "window"},
                 "sample_weights and shuffle='window'"),
                ({"subset": [1, 2] * 8, "shuffle": "torch"},
                 "subset and shuffle='torch'"),
                ({"subset": [1, 2] * 8, "max_records": 9},
                 "subset and max_records=9"),
                ({"sample_weights": [1] * 9, "max_records": 9},
                 "sample_weights and max_records=9"),
                ({"epoch_records": 16, "max_records": 9},
                 "epoch_records and max_records=9"),
                ({"global_batch_size": 7, "batch_size": None, "rank": 0,
                  "world_size": 2}, "global_batch_size=7 and world_size=2"),
                ({"rank": 3, "world_size": 2}, "rank=3.*world_size=2"),
                ({"last_batch": "carry", "training": False},
                 "last_batch=carry and training=false")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                loader(**{"split": "train", **given})

    def test_pairs_that_do_go_together(self):
        self.assertEqual(ids(loader(subset=range(16), training=False,
                                    split="train")), list(range(16)))
        some = np.zeros(200)
        some[:16] = 1
        self.assertEqual(set(ids(loader(sample_weights=some, training=False,
                                        split="train", shuffle="global",
                                        batch_size=8))), set(range(16)))


class NeedsTest(unittest.TestCase):
    """Options that do nothing without another one."""

    def first(self, *options):
        batch = loader(recipe="torchvision", threads=1,
                       **dict(collections.ChainMap(*options))).batch_at(0, 0)
        return batch.ids.tolist(), batch.images.tobytes()

    def test_do_something_where_they_are_taken_and_are_errors_elsewhere(self):
        choices = {row["name"]: row["choices"].split("|")
                   for row in infeed.option_table()}
        some = {"window_shards": 1, "window_records": 3, "augment_layers": 4,
                "augment_magnitude": 3, "augment_magnitude_std": 5,
                "augment_interpolation": "bilinear", "jitter_probability": 0,
                "erasing_mode": "pixel"}
        self.assertEqual(set(some), set(_arguments._NEEDS))
        for name, (others, values) in _arguments._NEEDS.items():
            given = {name: some[name]}
            needed = ([{others[0]: value} for value in values] or
                      [{other: 0.5} for other in others])
            missing = [{}, *({other: value} for other in others
                             for value in choices[other] if values)]
            for beside in needed:
                with self.subTest(name, **beside):
                    self.assertNotEqual(self.first(given, beside),
                                        self.first(beside))
            for beside in missing:
                if beside in needed:
                    continue
                with self.subTest(name, **beside):
                    with self.assertRaisesRegex(
                            ValueError, f"^{name}=.*: needs .*{others[-1]}"):
                        self.first(given, beside)
                    with mock.patch.object(_arguments, "_NEEDS", {}):
                        with self.assertRaisesRegex(ValueError,
                                                    f"^{name}=.*: needs "):
                            self.first(given, beside)

    def test_messages(self):
        for given, text in (
                ({"window_shards": 16},
                 "^window_shards=16: needs shuffle='window'; leave it out$"),
                ({"augment_magnitude": 10, "augment": "autoaugment"},
                 "^augment_magnitude=10: needs augment='randaugment', "
                 "'torchvision_randaugment' or 'timm_randaugment'; leave it out$"),
                ({"jitter_probability": 1, "hue": 0},
                 "^jitter_probability=1.0: needs brightness, contrast, saturation "
                 "or hue above 0; leave it out$"),
                ({"erasing_mode": "constant", "training": False},
                 "^erasing_mode='constant': needs random_erasing above 0; ")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                loader(**given)
        loader(window_shards=None, augment_magnitude=None)


class PositionsTest(unittest.TestCase):
    def test_places_that_no_stream_has(self):
        train = loader()
        state = train.state_dict()
        for wrong in ({"position": -16}, {"position": 8}, {"position": 2**62},
                      {"epoch": -1}, {"epoch": 2**32}, {"position": "16"},
                      {"past_epochs": 2**40}, {"schema": 2}, {"options": 5},
                      {"position": True}, {"fingerprint": 5},
                      {"fingerprint": "5"}, {"fingerprint": "g" * 16}):
            with self.subTest(wrong), self.assertRaises(ValueError):
                train.load_state_dict({**state, **wrong})
            self.assertEqual(train.state_dict(), state)
        for wrong in (None, 5, "x", [1], {"a": object()}, {1j: 2}):
            with self.subTest(wrong), self.assertRaisesRegex(TypeError, "^state"):
                train.load_state_dict(wrong)
        self.assertEqual(next(iter(train)).number, 0)

    def test_epochs(self):
        train = loader()
        for wrong in (-1, 2**32, 1.0, "1", True, None):
            with self.subTest(wrong), self.assertRaisesRegex(
                    (TypeError, ValueError), "^epoch"):
                train.set_epoch(wrong)
        train.set_epoch(np.int64(7))
        self.assertEqual(next(iter(train)).epoch, 7)
        last = loader(training=False)
        last.set_epoch(2**32 - 1)
        self.assertEqual([len(list(last)), len(list(last))], [len(last)] * 2)


class Unreadable:
    """As a tensor of torch that needs a gradient."""

    def __array__(self, *_, **__):
        raise RuntimeError("use detach()")


class ExampleTest(unittest.TestCase):
    def written(self, value):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x")
            with infeed.records.Writer(path) as writer:
                writer.write_example({"key": value})
            return infeed.records.open(path).parse(0)["key"]

    def test_takes_numpys_values_and_bytes_of_any_kind(self):
        for value, expected in (
                (np.float32(1), [1.0]), (np.float64(0.5), [0.5]),
                (np.int8(-3), [-3]), (np.uint64(2**63 - 1), [2**63 - 1]),
                (-2**63, [-2**63]), (True, [1]), (np.False_, [0]),
                (np.arange(3), [0, 1, 2]), (np.array(4), [4]),
                (np.array([0.5, 1], np.float16), [0.5, 1.0]),
                (np.array([True, False]), [1, 0]), (np.zeros(0), []), ([], []),
                ([1, 2.5], [1.0, 2.5]), ((np.int64(1), 2), [1, 2]),
                (float("inf"), [float("inf")]), (range(3), [0, 1, 2]),
                (bytearray(b"ab"), [b"ab"]), (memoryview(b"abcd")[::2], [b"ac"]),
                (np.str_("é"), ["é".encode()]), (np.str_("x\0"), [b"x\0"]),
                (np.array(["a", "bc"]), [b"a", b"bc"]),
                (np.bytes_(b"ab\0\0"), [b"ab\0\0"]),
                (np.array([b"abc", b"\0c", b""]), [b"abc", b"\0c", b""]),
                (np.array([b"ab\0", b"\0"], object), [b"ab\0", b"\0"]),
                ([b"x", "y", bytearray(b"z")], [b"x", b"y", b"z"])):
            with self.subTest(value=value):
                self.assertEqual(self.written(value), expected)

    def test_other_values_are_errors_that_name_the_key(self):
        for value, kind in (
                (None, TypeError), ([None], TypeError), (object(), TypeError),
                ({"a": 1}, TypeError), (1j, TypeError), ([1, "a"], TypeError),
                ([b"a", 1], TypeError), ([[1]], TypeError), ({1}, TypeError),
                (np.zeros((2, 2)), TypeError), (2**63, ValueError),
                (-2**63 - 1, ValueError), (np.uint64(2**63), ValueError),
                (1e39, ValueError), ([1.0, -1e39], ValueError),
                ("\udc80", ValueError), (Unreadable(), TypeError),
                (np.ma.array([1, 2], mask=[0, 1]), TypeError),
                (np.datetime64("2026-01-01", "ns"), TypeError)):
            with self.subTest(value=value), self.assertRaisesRegex(kind, "'key'"):
                self.written(value)

    def test_payloads(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x")
            with infeed.records.Writer(path) as writer:
                for payload in (b"a", bytearray(b"b"), memoryview(b"c")):
                    writer.write(payload)
                for wrong in ("d", None, 5, [b"e"]):
                    with self.assertRaisesRegex(TypeError, "^payload"):
                        writer.write(wrong)
            self.assertEqual(infeed.records.open(path)[:], [b"a", b"b", b"c"])


if __name__ == "__main__":
    unittest.main()
