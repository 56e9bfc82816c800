"""Fields of records, and records without images."""

import copy
import functools
import io
import itertools
import json
import pathlib
import pickle
import queue
import tarfile
import threading
import unittest

import numpy as np

import infeed
import support
from infeed import Field


DATA = pathlib.Path(__file__).parent.parent / "data"


class WithRecords(support.WritesRecords):
    def load(self, examples, fields, **options):
        """A loader that gives the examples in their order."""
        return infeed.Loader(self.write(examples), fields=fields, **{
            "batch_size": len(examples), "training": False, "views": (),
            "on_bad_record": "fail", **options})

    def batch(self, examples, fields, **options):
        return next(iter(self.load(examples, fields, **options)))

    def assert_array(self, array, expected, dtype):
        self.assertEqual(array.dtype, np.dtype(dtype))
        np.testing.assert_array_equal(array, expected, strict=False)
        self.assertEqual(array.shape, np.shape(expected))


def sentences(count=40):
    """Records of token ids as a text task has them: of 3 to 300 tokens."""
    random = np.random.default_rng(1)
    return [{"input_ids": random.integers(1, 30_000, random.integers(3, 301)),
             "target": float(i % 2)} for i in range(count)]


TEXT = {"input_ids": Field("int64", 224, pad=0), "target": Field("float32", ())}


class FieldTest(unittest.TestCase):
    def test_is_a_value(self):
        field = Field("int32", np.int64(4), pad=np.int8(-1),
                      absent=np.arange(4))
        self.assertEqual(field, Field("int32", (4,), pad=-1,
                                      absent=[0, 1, 2, 3]))
        self.assertEqual(hash(field), hash(copy.deepcopy(field)))
        self.assertEqual(pickle.loads(pickle.dumps(field)), field)
        self.assertNotEqual(field, Field("int32", 4))
        self.assertEqual(repr(field), "Field(type='int32', shape=(4,), pad=-1, "
                         "absent=(0, 1, 2, 3), raw=False)")
        with self.assertRaises(AttributeError):
            field.pad = 2

    def test_mistakes_are_named(self):
        for error, text, call in (
                (ValueError, "type='int': must be int64,", lambda: Field("int")),
                (TypeError, "type=None", lambda: Field(None)),
                (TypeError, "shape='a'", lambda: Field("int64", "a")),
                (TypeError, "shape=True", lambda: Field("int64", True)),
                (ValueError, "shape=0: must be at least 1",
                 lambda: Field("int64", (2, 0))),
                (ValueError, r"more than 2\^28 values",
                 lambda: Field("int64", (2**20, 2**20))),
                (TypeError, "raw=1", lambda: Field("int64", 2, raw=1)),
                (ValueError, r"Field\('uint8', \(4,\)\): pad=300: does not fit",
                 lambda: Field("uint8", 4, pad=300)),
                (ValueError, r"Field\('float16', \(4,\)\): absent=1e\+30: does",
                 lambda: Field("float16", 4, absent=1e30, raw=True)),
                (TypeError, "pad=0.5: must be an integer",
                 lambda: Field("int64", 4, pad=0.5)),
                (ValueError, "pad has the shape",
                 lambda: Field("int64", 4, pad=[0, 0, 0, 0])),
                (ValueError, r"absent has the shape \(3,\): give one value, or "
                 r"an array of \(4,\)",
                 lambda: Field("int64", 4, absent=[0, 0, 0])),
                (ValueError, "pad=2: must be at most 1",
                 lambda: Field("bool", 4, pad=2)),
                (TypeError, "absent='x': must be bytes",
                 lambda: Field("bytes", (), absent="x")),
                (ValueError, "need a shape", lambda: Field("int64", pad=0)),
                (ValueError, "without a shape the type is one of int64",
                 lambda: Field("int32")),
                (ValueError, r"the only shape of bytes is \(\)",
                 lambda: Field("bytes", 4)),
                (ValueError, "bytes have no pad",
                 lambda: Field("bytes", (), pad=b"")),
                (ValueError, "raw values have no pad",
                 lambda: Field("int64", 4, pad=0, raw=True)),
                (ValueError, "give raw=True", lambda: Field("float64", 4))):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()


class ValuesTest(WithRecords):
    def test_texts_of_any_length_are_rows_of_224_tokens(self):
        records = sentences()
        loader = infeed.Loader(self.write(records), batch_size=8, views=(),
                               fields=TEXT, seed=3)
        seen = []
        for batch in loader:
            lengths = batch.lengths("input_ids")
            for row, record in enumerate(batch.ids):
                tokens = records[record]["input_ids"][:224]
                self.assertEqual(lengths[row], len(tokens))
                np.testing.assert_array_equal(
                    batch["input_ids"][row],
                    np.pad(tokens, (0, 224 - len(tokens))))
            self.assert_array(
                batch["target"], [records[i]["target"] for i in batch.ids],
                "float32")
            self.assertEqual(batch["input_ids"].dtype, np.int64)
            seen += batch.ids.tolist()
        self.assertEqual(sorted(seen), list(range(40)))

    def test_shorter_lists_are_padded_and_longer_ones_cut(self):
        batch = self.batch([{"t": [101, 7, 102]}, {"t": [101, 7, 8, 9, 102]},
                            {"other": 1}, {"t": [5, 6, 7, 8]}],
                           {"t": Field("int64", 4, pad=0)})
        self.assert_array(batch["t"], [[101, 7, 102, 0], [101, 7, 8, 9],
                                       [0, 0, 0, 0], [5, 6, 7, 8]], "int64")
        self.assert_array(batch.lengths("t"), [3, 4, 0, 4], "int64")
        with self.assertRaisesRegex(KeyError, "'u' is none of the loader's"):
            batch.lengths("u")

    def test_lengths_count_values_that_equal_pad(self):
        batch = self.batch([{"t": [3, 1, 0, 0]}, {"x": 1}, {"t": []}],
                           {"t": Field("int64", 6, pad=0,
                                       absent=[5, 0, 4, 0, 0, 0])})
        self.assertEqual(batch["t"].tolist(),
                         [[3, 1, 0, 0, 0, 0], *[[5, 0, 4, 0, 0, 0]] * 2])
        self.assertEqual(batch.lengths("t").tolist(), [4, 3, 3])

    def test_only_padded_fields_have_lengths(self):
        batch = self.batch([{"t": 1}], {"t": Field("int64", ())})
        with self.assertRaisesRegex(KeyError, "'t' has no lengths: .*pad"):
            batch.lengths("t")

    def test_a_missing_key_has_the_value_of_absent(self):
        batch = self.batch(
            [{"x": 1}, {"one": [5, 6], "each": [7, 8], "word": b"w"}],
            {"one": Field("int16", 2, absent=9, pad=0),
             "none": Field("int64", 4, absent=-1, pad=-1),
             "each": Field("int64", 2, absent=[3, 4]),
             "word": Field("bytes", (), absent=b"none")})
        self.assert_array(batch["one"], [[9, 9], [5, 6]], "int16")
        self.assert_array(batch.lengths("one"), [2, 2], "int64")
        self.assert_array(batch["none"], [[-1] * 4] * 2, "int64")
        self.assert_array(batch.lengths("none"), [0, 0], "int64")
        self.assert_array(batch["each"], [[3, 4], [7, 8]], "int64")
        self.assertEqual(batch["word"], [b"none", b"w"])

    def test_records_that_do_not_fit_are_named(self):
        good = {"t": [1, 2], "r": bytes(8), "b": b"x"}
        fields = {"t": Field("uint8", 2), "r": Field("float32", 2, raw=True),
                  "b": Field("bytes", ())}
        for key, value, text in (
                ("t", [1, 2, 3], r"has 3 values, expected 2 \(give pad to cut"),
                ("t", [1], r"has 1 values, expected 2 \(give pad to fill"),
                ("t", None, r"is missing \(give absent\)"),
                ("t", [1.0, 2.0], "holds float, expected int64"),
                ("t", [1, 300], "has 300, which is no uint8"),
                ("r", bytes(9), "has 9 bytes, expected 8"),
                ("r", [1.0, 2.0], "holds float, expected bytes"),
                ("b", [b"x", b"y"], "has 2 values, expected 1"),
                ("b", None, r"is missing \(give absent\)")):
            bad = {**good, key: value}
            if value is None:
                del bad[key]
            with self.subTest(text), self.assertRaisesRegex(
                    infeed.DataError, f"record 1 .*key '{key}' {text}"):
                self.batch([good, bad], fields)

    def test_every_type_of_integers_holds_its_limits(self):
        for kind in ("int64", "int32", "int16", "int8", "uint16", "uint8"):
            limits = np.iinfo(kind)
            batch = self.batch([{"t": [limits.min, limits.max]}],
                               {"t": Field(kind, 2)})
            self.assert_array(batch["t"], [[limits.min, limits.max]], kind)
        batch = self.batch([{"t": [True, False]}, {"t": [0, 1]}, {}],
                           {"t": Field("bool", 2, absent=True)})
        self.assert_array(batch["t"], [[True, False], [False, True],
                                       [True, True]], "bool")

    def test_floats(self):
        rows = [[0.5, -2, 1e30, 0], [float("inf"), 1, 2, 3]]
        batch = self.batch([{"t": row} for row in rows] + [{"t": [4.0]}],
                           {"t": Field("float32", (2, 2), pad=-0.5)})
        self.assert_array(batch["t"], np.array(
            [*rows, [4, -.5, -.5, -.5]], np.float32).reshape(3, 2, 2), "float32")

    def test_arrays_stored_as_bytes(self):
        for kind in ("float16", "float32", "float64", "int64", "int32", "int16",
                     "int8", "uint16", "uint8", "bool"):
            rows = np.arange(12).reshape(2, 2, 3).astype(kind)
            batch = self.batch([{"a": row.tobytes()} for row in rows] + [{}],
                               {"a": Field(kind, (2, 3), raw=True, absent=1)})
            self.assert_array(batch["a"], [*rows, np.ones((2, 3), kind)], kind)

    def test_one_text_a_record_is_a_list_of_texts(self):
        captions = ["a cat".encode(), b"", "\u00e9t\u00e9".encode()]
        batch = self.batch([{"txt": text} for text in captions],
                           {"txt": Field("bytes", ())})
        self.assertEqual(batch["txt"], captions)
        # The last batch is filled up with empty slots.
        *_, batch = self.load([{"txt": text} for text in captions],
                              {"txt": Field("bytes", ())}, batch_size=2)
        self.assertEqual(batch["txt"], [captions[2], b""])
        self.assertEqual(batch.weights.tolist(), [1, 0])

    def test_long_texts_need_an_option(self):
        examples = [{"txt": b"x" * 5000}]
        for field in ("bytes", Field("bytes", ())):
            with self.assertRaisesRegex(infeed.DataError, "max_field_bytes"):
                self.batch(examples, {"txt": field})
            batch = self.batch(examples, {"txt": field}, max_field_bytes=5008)
            self.assertEqual(batch.as_dict()["txt"], [b"x" * 5000])

    def test_lists_of_any_length_keep_their_type_when_empty(self):
        examples = [{"x": 1}, {"x": 1},
                    {"i": [1, 2], "f": [0.5], "b": [b"x", b"y"]}, {"i": 3}]
        first, second = self.load(examples, {
            "i": "int64", "f": Field("float32"), "b": "bytes",
            "x": Field("int64", (), absent=0)}, batch_size=2)
        for batch, i, f, b in ((first, [], [], []),
                               (second, [1, 2, 3], [0.5], [b"x", b"y"])):
            self.assert_array(batch["i"][0], i, "int64")
            self.assert_array(batch["f"][0], f, "float32")
            self.assertEqual(batch["b"][0], b)
        self.assertEqual([list(second[key][1]) for key in "ifb"],
                         [[0, 2, 3], [0, 1, 1], [0, 2, 2]])
        self.assertEqual(list(first["i"][1]), [0, 0, 0])

    def test_arrays_stay_as_they_are_when_the_loader_is_gone(self):
        examples = [{"t": [i, i]} for i in range(64)]
        loader = self.load(examples, {"t": Field("int64", 2)}, batch_size=4)
        kept = [batch["t"] for batch in loader]
        del loader
        self.assert_array(np.concatenate(kept), [[i, i] for i in range(64)],
                          "int64")

    def test_offsets_may_be_changed_in_place(self):
        path = self.write([{"a": [i] * 3, "t": ["x"] * 2} for i in range(40)])
        batches = infeed.Loader(path, batch_size=2, views=(), shuffle="none",
                                fields={"a": "int64", "t": "bytes"})
        for batch in itertools.islice(batches.repeat(), 60):
            for key, items in (("a", 3), ("t", 2)):
                offsets = batch[key][1]
                self.assertEqual(offsets.tolist(), [0, items, 2 * items])
                offsets += 100

    def test_beside_images(self):
        kinds = {"image/class/label": Field("int32", ()),
                 "image/filename": Field("bytes", ())}
        records = infeed.records.open(support.shards(), split="train")
        batch = next(iter(infeed.Loader(
            support.shards(), batch_size=16, image_size=support.SIZE,
            fields=kinds)))
        np.testing.assert_array_equal(batch["image/class/label"],
                                      batch.labels + 1)
        self.assertEqual(batch["image/filename"], [
            records.parse(i)["image/filename"][0] for i in batch.ids])
        self.assertEqual(
            list(batch.as_dict()),
            ["images", "labels", "weights", *kinds])

    def test_captions_beside_the_images_of_tars(self):
        with tarfile.open(self.folder / "00000.tar", "w") as tar:
            for number in range(4):
                for ending, data in (("jpg", support.photograph()),
                                     ("txt", f"caption {number}".encode())):
                    info = tarfile.TarInfo(f"{number:03}.{ending}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
        def load(**options):
            return infeed.Loader(self.folder / "{00000..00000}.tar",
                                 batch_size=2, recipe="torchvision",
                                 crop_scale=0.9,
                                 fields={"txt": infeed.Field("bytes", ())},
                                 **options)
        with self.assertLogs("infeed", "WARNING") as logs:
            train = load()
        self.assertIn("batch.labels is None", logs.output[0])
        for batch in train:
            self.assertEqual(batch.images.shape, (2, 224, 224, 3))
            self.assertEqual([text.decode() for text in batch["txt"]],
                             [f"caption {number}" for number in batch.ids])
            self.assertIsNone(batch.labels)
            self.assertEqual(list(batch.as_dict()), ["images", "weights", "txt"])
        first, second = train
        with self.assertLogs("infeed", "WARNING"):
            resumed = load()
        resumed.load_state_dict(first.state_dict())
        np.testing.assert_array_equal(next(iter(resumed)).images, second.images)
        for batch in load(require_labels=False):
            self.assertEqual(batch.labels.tolist(), [-1, -1])
        with self.assertNoLogs("infeed"):  # None are asked for.
            self.assertIsNone(next(iter(load(label_key=""))).labels)

    def test_targets_are_not_labels(self):
        key = "image/class/label"
        path = self.write([{"image/encoded": support.photograph(), key: [1, i],
                            "target": 20.5 + i} for i in range(4)])
        options = {"batch_size": 4, "image_size": 16, "training": False}
        with self.assertLogs("infeed", "WARNING"):
            batch, = infeed.Loader(path, **options, fields={
                key: Field("int64", 2), "target": Field("float32", ())})
        self.assertIsNone(batch.labels)
        self.assertEqual(batch.weights.tolist(), [1] * 4)
        self.assertEqual(batch["target"].tolist(), [20.5, 21.5, 22.5, 23.5])
        self.assertEqual(batch[key].tolist(), [[1, i] for i in range(4)])
        with self.assertRaisesRegex(infeed.DataError, "fields for other targets"):
            next(iter(infeed.Loader(
                self.write([{"image/encoded": support.photograph(),
                             "target": 20.5}]), **options,
                on_bad_record="fail")))

    def test_two_parts_of_one_name(self):
        batch = self.batch([{"weights": 1.0}], {"weights": Field("float32", ())})
        self.assertEqual(batch["weights"].tolist(), [1])
        with self.assertRaisesRegex(ValueError, "two of its .*'weights'"):
            batch.as_dict()


class RecordsTest(WithRecords):
    """views=(): batches without images."""

    def loader(self, **options):
        if not hasattr(self, "path"):
            self.path = self.write(sentences())
        return infeed.Loader(self.path, **{
            "batch_size": 8, "views": (), "fields": TEXT, "seed": 5, **options})

    def test_have_fields_and_weights(self):
        batch = next(iter(self.loader()))
        images, labels, weights = batch
        self.assertEqual((images, labels), (None, None))
        self.assertEqual(weights.tolist(), [1] * 8)
        self.assertEqual(repr(batch),
                         "Batch 0 of epoch 0: no images, 8 of weight 1")
        self.assertEqual(list(batch.as_dict()), [
            "weights", "input_ids", "input_ids/length", "target"])

    def test_have_labels_under_a_key_that_is_given(self):
        examples = [{"t": i, "class": i % 3} for i in range(6)]
        batch = self.batch(examples, {"t": Field("int64", ())},
                           label_key="class", label_offset=0)
        self.assertEqual(batch.labels.tolist(), [0, 1, 2, 0, 1, 2])
        self.assertEqual(list(batch.as_dict()), ["labels", "weights", "t"])

    def test_have_labels_under_the_standard_key_if_it_is_given(self):
        key = "image/class/label"
        path = self.write([{key: 4 - i} for i in range(4)])
        options = {"batch_size": 4, "training": False, "views": ()}
        batch, = infeed.Loader(path, label_key=key, **options)
        self.assertEqual(batch.labels.tolist(), [3, 2, 1, 0])
        batch, = infeed.Loader(path, fields={key: "int64"}, **options)
        self.assertIsNone(batch.labels)

    def test_are_in_the_order_of_those_with_images(self):
        for options in ({}, {"shuffle": "torch", "rank_share": "strided"},
                        {"shuffle": "window", "last_batch": "carry"},
                        {"training": False}):
            def ids(**more):
                return [batch.ids.tolist() for batch in itertools.islice(
                    infeed.Loader(support.shards(), batch_size=24, seed=9,
                                  **options, **more).repeat(), 20)]
            self.assertEqual(
                ids(views=(), fields={"image/filename": "bytes"}),
                ids(image_size=support.SIZE), options)

    def test_are_in_the_order_of_distributed_sampler(self):
        cases = [case for case in json.loads(
            (DATA / "torch_order.json").read_text())
            if case["records"] == 23 and "ranks" in case and not case["drop_last"]]
        self.assertEqual(len(cases), 8)
        path = self.write(sentences(23))
        for case in cases:
            for rank, order in enumerate(case["ranks"]):
                train = infeed.Loader(
                    path, batch_size=1, views=(), fields=TEXT, shuffle="torch",
                    rank_share="strided", seed=case["seed"], rank=rank,
                    world_size=case["world_size"])
                train.set_epoch(case["epoch"])
                self.assertEqual([batch.ids[0] for batch in train],
                                 order[:len(train)])

    def test_resume_in_an_epoch(self):
        whole = list(itertools.islice(self.loader().repeat(), 10))
        for stop in (0, 2, 6):
            again = self.loader(threads=1, batches_in_pool=6)
            again.load_state_dict(whole[stop].state_dict())
            self.assert_same(itertools.islice(again.repeat(), 9 - stop),
                             whole[stop + 1:])

    def test_a_state_does_not_depend_on_the_fields(self):
        self.assertEqual(self.loader().state_dict(),
                         self.loader(fields={"target": "float32"}).state_dict())

    def test_ranks_share_each_batch(self):
        self.assert_ranks_share_each_batch(self.loader, 8)

    def test_a_pickled_loader_goes_on(self):
        self.assert_goes_on_when_pickled(self.loader())

    def test_bad_records(self):
        examples = [{"t": [i, i]} for i in range(20)]
        examples[3] = {"t": [3]}
        path, fields = self.write(examples), {"t": Field("int64", 2)}

        def take(**options):
            said = []
            batches = list(infeed.Loader(path, batch_size=4, views=(),
                                         fields=fields, on_bad=said.append,
                                         **options))
            self.assertIn("'t' has 1 values, expected 2", said[0])
            for batch in batches:
                np.testing.assert_array_equal(
                    batch["t"][:, 0], np.where(batch.ids < 0, 0, batch.ids))
            return np.concatenate([batch.ids for batch in batches])

        replaced = take(on_bad_record="replace")
        self.assertEqual(len(replaced), 20)
        self.assertFalse(set(replaced) & {3, -1})
        self.assertEqual(sorted(take(on_bad_record="skip")),
                         [-1, *range(3), *range(4, 20)])
        with self.assertRaisesRegex(infeed.DataError, "'t' has 1 values"):
            take(on_bad_record="fail")

    def test_a_skipped_records_fields_are_padding(self):
        batch = self.batch([{"t": [1, 2], "b": b"x"}, {"t": [0.5], "b": b"y"}], {
            "t": Field("int64", 3, pad=-1), "b": Field("bytes", ())},
            on_bad_record="skip", on_bad=lambda line: None)
        self.assert_array(batch["t"], [[1, 2, -1], [-1, -1, -1]], "int64")
        self.assertEqual(batch.lengths("t").tolist(), [2, 0])
        self.assertEqual(batch["b"], [b"x", b""])
        self.assertEqual(batch.weights.tolist(), [1, 0])

    def tar(self, members):
        """A loader of four samples with these members, by ending: a function of
        the sample's number.
        """
        path = self.folder / "texts.tar"
        with tarfile.open(path, "w") as tar:
            for number in range(4):
                for ending, text in members.items():
                    data = text(number).encode()
                    info = tarfile.TarInfo(f"{number:03}.{ending}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
        return functools.partial(infeed.Loader, path, batch_size=4,
                                 training=False, views=())

    def test_of_tars_are_their_members(self):
        load = self.tar({"txt": "{} txt".format, "json": "{} json".format})
        batch = next(iter(load(fields={"txt": Field("bytes", ()),
                                       "json": "bytes"})))
        self.assertEqual(batch["txt"], [b"%d txt" % i for i in range(4)])
        self.assertEqual(batch["json"][0], [b"%d json" % i for i in range(4)])

    def test_labels_of_tars_are_under_the_standard_key(self):
        load = self.tar({"txt": "{}".format, "cls": "{}".format})
        text = {"txt": Field("bytes", ())}
        self.assertIsNone(next(iter(load(fields=text))).labels)
        for fields in (text, None):
            batch = next(iter(load(fields=fields, label_key="image/class/label")))
            self.assertEqual(batch.labels.tolist(), [0, 1, 2, 3])
            self.assertEqual(batch.weights.tolist(), [1, 1, 1, 1])
        with self.assertRaisesRegex(ValueError,
                                    "give label_key=image/class/label"):
            load(fields=text, label_key="cls")

    def test_options_of_images_are_named(self):
        for options, text in (
                ({"image_size": 32}, r"views=\(\) and image_size:"),
                ({"recipe": "plain", "augment": "none"}, "recipe, augment"),
                ({"layout": "words"}, "layout"), ({"max_pixels": 9}, "max_pixels"),
                ({"image_key": "png"}, "image_key")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                self.loader(**options)
        with self.assertRaisesRegex(ValueError, "need fields"):
            self.loader(fields=None)


class PackageTest(unittest.TestCase):
    """A file of the package tfrecord (make_tfrecord_package_goldens.py)."""

    KINDS = {"image": "bytes", "words": "bytes", "label": "int64", "ids": "int64",
             "score": "float32", "box": "float32"}

    def setUp(self):
        self.path = DATA / "package.tfrecord"
        self.records = json.loads((DATA / "package.json").read_text())

    def test_has_the_lists_that_the_package_reads(self):
        loader = infeed.Loader(infeed.Index(self.path, use_cache=False),
                               training=False, batch_size=5, views=(),
                               fields=self.KINDS)
        seen = 0
        for batch in loader:
            for slot in range(int((batch.weights > 0).sum())):
                for key, kind in self.KINDS.items():
                    values, offsets = batch[key]
                    values = values[offsets[slot]:offsets[slot + 1]]
                    wanted = self.records[seen][key]
                    if kind == "bytes":
                        self.assertEqual([item.hex() for item in values], wanted)
                    else:
                        self.assertEqual(values.dtype, kind)
                        self.assertEqual(values.tobytes(),
                                         np.array(wanted, kind).tobytes())
                seen += 1
        self.assertEqual(seen, len(self.records))

    def test_has_its_single_values_as_arrays(self):
        single = ("image", "label", "score")
        loader = infeed.Loader(
            infeed.Index(self.path, use_cache=False), training=False,
            batch_size=len(self.records), views=(),
            fields={key: Field(self.KINDS[key], ()) for key in single})
        batch = next(iter(loader))
        for key in single:
            self.assertEqual([item.hex() if key == "image" else item
                              for item in batch[key]],
                             [record[key][0] for record in self.records])


class Ahead:
    """Takes batches ahead in a thread, and knows arrays in dicts and lists alone,
    as torch_xla's ParallelLoader.
    """

    def __init__(self, loader, move):
        self.loader, self.move = loader, move

    def __len__(self):
        return len(self.loader)

    def moved(self, value):
        if isinstance(value, dict):
            return {key: self.moved(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.moved(item) for item in value)
        return self.move(value) if hasattr(value, "dtype") else value

    def __iter__(self):
        taken = queue.Queue(8)

        def take():
            for batch in self.loader:
                taken.put(self.moved(batch))
            taken.put(None)
        thread = threading.Thread(target=take)
        thread.start()
        yield from iter(taken.get, None)
        thread.join()


class DictsTest(WithRecords):
    def loader(self, **options):
        if not hasattr(self, "path"):
            self.path = self.write([{**record, "words": [b"w"] * (i % 3)}
                                    for i, record in enumerate(sentences())])
        return infeed.Loader(self.path, **{
            "batch_size": 8, "views": (), "fields": {**TEXT, "words": "bytes"},
            "seed": 5, **options})

    def test_a_loop_that_walks_dicts_alone_gets_all_arrays(self):
        moved = []

        def move(array):
            moved.append(array)
            return array
        loader = self.loader()
        ahead = Ahead(loader.dicts(), move)
        self.assertEqual(len(ahead), 5)
        names = ["weights", "input_ids", "input_ids/length", "target", "words",
                 "words/offsets"]
        expected = list(copy.copy(loader))
        for batch, plain in zip(ahead, expected, strict=True):
            self.assertIs(type(batch), dict)
            self.assertEqual(list(batch), names)
            self.assertEqual(batch["words"], plain["words"][0])
            np.testing.assert_array_equal(batch["input_ids"], plain["input_ids"])
        self.assertEqual(len(moved), 5 * (len(names) - 1))

    def test_have_the_loaders_place(self):
        loader = self.loader()
        whole = [batch.ids.tolist() for batch in itertools.islice(
            copy.copy(loader).repeat(), 10)]
        dicts = loader.dicts()
        taken = iter(dicts)
        for _ in range(3):
            next(taken)
        state = dicts.state_dict()
        self.assertEqual(state, loader.state_dict())
        again = self.loader()
        again.dicts().load_state_dict(state)
        self.assertEqual([batch.ids.tolist() for batch in again], whole[3:5])
        again.dicts().set_epoch(1)
        self.assertEqual([batch.ids.tolist() for batch in again], whole[5:])

    def test_a_loop_that_takes_ahead_can_save_where_it_is(self):
        def ids(batches):
            return [batch["input_ids"].tolist() for batch in batches]
        loader = self.loader()
        whole = ids(copy.copy(loader))
        ahead = iter(Ahead(loader.dicts(states=True), lambda array: array))
        for _ in range(2):
            state = next(ahead)["state_dict"]
        list(ahead)
        saved = json.loads(json.dumps(state))
        again = self.loader()
        again.load_state_dict(saved)
        self.assertEqual(ids(again), whole[2:])
        self.assertNotIn("state_dict", next(iter(again.dicts())))
        with self.assertRaisesRegex(TypeError, "states"):
            loader.dicts(states="yes")


@unittest.skipUnless(support.has("torch"), "torch is not installed")
class TorchTest(WithRecords):
    def loader(self):
        examples = [{**record, "boxes": [0.5] * (i % 3), "small": i}
                    for i, record in enumerate(sentences())]
        return infeed.Loader(
            self.write(examples), batch_size=8, views=(), framework="torch",
            fields={**TEXT, "boxes": "float32", "small": Field("uint8", ())})

    def test_tensors(self):
        import torch
        batch = next(iter(self.loader()))
        self.assertEqual((batch["input_ids"].shape, batch["input_ids"].dtype),
                         ((8, 224), torch.int64))
        self.assertEqual((batch["target"].shape, batch["target"].dtype),
                         ((8,), torch.float32))
        self.assertEqual(batch["small"].dtype, torch.uint8)
        mask = torch.arange(224) < batch.lengths("input_ids")[:, None]
        self.assertTrue(torch.equal(mask, batch["input_ids"] > 0))
        self.assertTrue(all(isinstance(value, torch.Tensor)
                            for value in batch.as_dict().values()))
        self.assertEqual(batch["input_ids"].data_ptr() % 64, 0)

    def test_a_loop_of_torch_xla(self):
        import torch
        bce = torch.nn.functional.binary_cross_entropy_with_logits
        device, losses = torch.device("cpu"), []

        def mp_device_loader(loader, device):
            return Ahead(loader, lambda array: array.to(device))

        def model(ids, mask):
            self.assertTrue(torch.equal(mask, ids > 0))
            return (ids * mask).sum(1) / 30_000
        self.write(sentences(70))
        train = infeed.Loader(
            self.folder / "*.tfrecord", batch_size=32, views=(),
            framework="torch", shuffle="torch", rank_share="strided",
            fields={"input_ids": infeed.Field("int64", 224, pad=0),
                    "target": infeed.Field("float32", ())})
        for step in mp_device_loader(train.dicts(), device):
            mask = (torch.arange(224, device=device)
                    < step["input_ids/length"][:, None])
            losses.append(bce(model(step["input_ids"], mask), step["target"]))
        self.assertEqual(len(losses), 2)
        self.assertTrue(torch.stack(losses).isfinite().all())

    def test_raw_halves(self):
        import torch
        row = np.arange(4, dtype=np.float16)
        batch = self.batch([{"a": row.tobytes()}],
                           {"a": Field("float16", 4, raw=True)},
                           framework="torch")
        self.assertTrue(torch.equal(batch["a"], torch.arange(4).half()[None]))

    def test_move_with_their_batch(self):
        batch = next(iter(self.loader()))
        moved = batch.to("meta", non_blocking=True)
        self.assertIsNone(moved.images)
        for tensor in (moved.weights, moved["input_ids"], moved["target"],
                       moved.lengths("input_ids")):
            self.assertEqual(tensor.device.type, "meta")
        self.assertEqual(batch["input_ids"].device.type, "cpu")
        self.assertEqual(moved.state_dict(), batch.state_dict())

    def test_prefetch_takes_them_along(self):
        import torch
        from infeed.torch import prefetch
        loader = self.loader()
        for batch, plain in zip(prefetch(loader, "meta"), copy.copy(loader),
                                strict=True):
            self.assertEqual(batch["input_ids"].device.type, "meta")
            self.assertEqual(batch.lengths("input_ids").shape, (8,))
            self.assertEqual(plain["input_ids"].device, torch.device("cpu"))
        with self.assertRaisesRegex(TypeError, "batches=.*must be a Loader"):
            prefetch(loader.dicts(), "cpu")


@unittest.skipUnless(support.has("jax"), "jax is not installed")
class JaxTest(WithRecords):
    def test_arrays(self):
        load = functools.partial(self.batch, sentences(8), TEXT)
        self.assert_jax_gets(load(), load)

    def test_numbers_that_jax_cuts_are_told_once(self):
        """2^33 + 5 becomes 5, and JAX says nothing."""
        import jax
        records = [{"place": 2**33 + 5, "few": 7}] * 2
        fields = {"place": infeed.Field("int64", ()),
                  "few": infeed.Field("int32", ())}
        with self.assertLogs("infeed", "WARNING") as told:
            batch = self.batch(records, fields, framework="jax")
        self.assertEqual(batch["place"].tolist(), [5, 5])
        self.assertEqual(len(told.output), 1)
        self.assertRegex(told.output[0], "in the fields place, and .*int32")
        del fields["place"]
        with self.assertNoLogs("infeed", "WARNING"):
            self.batch(records, fields, framework="jax")
        fields["place"] = infeed.Field("int64", ())
        with self.assertNoLogs("infeed", "WARNING"), jax.enable_x64(True):
            batch = self.batch(records, fields, framework="jax")
            self.assertEqual(batch["place"].tolist(), [2**33 + 5] * 2)


if __name__ == "__main__":
    unittest.main()
