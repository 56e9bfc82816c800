"""Boxes that follow the images of their records."""

import copy
import functools
import itertools
import logging
import os
import pathlib
import pickle
import tarfile
import tempfile
import unittest

import numpy as np

import infeed
import support
from infeed import Field, Objects
from support import png

BBOX = "image/object/bbox/"
LABEL, CROWD = "image/object/class/label", "image/object/is_crowd"
TEXT = "image/object/class/text"


def scene(number):
    """Height, width and the boxes of a picture: none, a red rectangle, or a red
    and a green one.
    """
    height, width = 150 + 10 * (number % 5), 160 + 20 * (number % 4)
    x, y = 12 + 4 * (number % 9), 20 + 5 * (number % 6)
    boxes = [(x, y, x + 45, y + 60), (x + 60, y + 10, x + 95, y + 75)]
    return height, width, np.array(boxes[:number % 3], np.float32).reshape(-1, 4)


@functools.cache
def example(number, kind="tf"):
    """A record of a picture with its boxes under the keys of tf, tfds or others."""
    height, width, boxes = scene(number)
    pixels = np.zeros((height, width, 3), np.uint8)
    for color, (x1, y1, x2, y2) in enumerate(boxes.astype(int)):
        pixels[y1:y2, x1:x2, color] = 255
    made = {"image" if kind == "tfds" else "image/encoded": png(pixels)}
    if not len(boxes):
        return made
    labels = list(range(1, len(boxes) + 1))
    parts = boxes / np.array([width, height] * 2, np.float32)
    if kind == "tf":
        sides = ("xmin", "ymin", "xmax", "ymax")
        made.update({BBOX + side: part for side, part in zip(sides, parts.T)})
        made.update({LABEL: labels,
                     CROWD: [100 * number + label for label in labels],
                     TEXT: [b"red", b"green"][:len(labels)]})
    elif kind == "tfds":
        made.update({"objects/bbox": parts[:, [1, 0, 3, 2]].ravel(),
                     "objects/label": labels})
    else:
        made.update({"box": boxes.ravel(), "kind": labels})
    return made


class WithScenes(support.WritesRecords):
    def load(self, examples, objects, **options):
        """A loader that gives the examples in their order."""
        return infeed.Loader(self.write(examples), objects=objects, **{
            "batch_size": len(examples), "training": False, "recipe": "plain",
            "image_size": 48, "on_bad_record": "fail", **options})

    def batch(self, examples, objects, **options):
        return next(iter(self.load(examples, objects, **options)))

    def scenes(self, objects=None, kind="tf", **options):
        """A loader of crops of 36 scenes."""
        path = self.folder / kind
        if not path.exists():
            self.write(map(example, range(36), itertools.repeat(kind))).rename(path)
        return infeed.Loader(path, objects=objects or Objects("tf"), **{
            "batch_size": 12, "recipe": "torchvision", "image_size": 48, "seed": 5,
            "on_bad_record": "fail", **options})

    def assert_boxes_are_rectangles(self, batch, label=LABEL):
        """Each box is where its colour is in the image, within a pixel, and each
        colour has one, where it is not at the very edge.
        """
        boxes, offsets = batch.boxes
        labels, _ = batch[label]
        self.assertEqual((boxes.dtype, offsets.dtype, labels.dtype),
                         (np.float32, np.int64, np.int64))
        self.assertEqual(boxes.shape, (offsets[-1], 4))
        self.assertEqual(len(offsets), len(batch) + 1)
        for slot, (begin, end) in enumerate(itertools.pairwise(offsets)):
            found = dict(zip(labels[begin:end], boxes[begin:end], strict=True))
            for color in (0, 1):
                rows, columns = np.nonzero(
                    batch.images[slot][..., color] > 127)
                sides = [] if not len(rows) else [
                    columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
                box = found.get(color + 1, sides)
                if len(box) and min(box[2] - box[0], box[3] - box[1]) >= 3:
                    self.assertIn(color + 1, found)
                    np.testing.assert_allclose(box, sides, atol=1.01)
        return len(boxes)


class BoxesTest(WithScenes):
    def test_follow_the_rectangles_of_the_image(self):
        for options in ({}, {"training": False}, {"recipe": "cifar"},
                        {"recipe": "tpu"}, {"recipe": "tpu", "training": False},
                        {"recipe": "plain"}, {"image_size": (40, 64)},
                        {"recipe": "fit"},
                        {"recipe": "fit", "scale_jitter": (0.5, 2)},
                        {"random_flip_vertical": True}):
            with self.subTest(options):
                mirrored = set()
                upside_down = set()
                boxes = 0
                for batch in self.scenes(**options):
                    boxes += self.assert_boxes_are_rectangles(batch)
                    mirrored |= set(batch.geometry[0].mirrored.tolist())
                    upside_down |= set(batch.geometry[0].upside_down.tolist())
                    self.assertIsNone(batch.labels)
                self.assertGreater(boxes, 12)
                if options.get("training", True) and options != {
                        "recipe": "plain"}:
                    self.assertEqual(mirrored, {True, False})
                self.assertEqual(True in upside_down,
                                 "random_flip_vertical" in options)

    def test_of_tfds_and_of_own_keys_are_the_same(self):
        expected = next(iter(self.scenes())).boxes[0]
        batch = next(iter(self.scenes(Objects("tfds"), kind="tfds")))
        self.assert_boxes_are_rectangles(batch, "objects/label")
        np.testing.assert_array_equal(batch.boxes[0], expected)
        own = Objects("box", labels="kind")
        batch = next(iter(self.scenes(own, kind="own",
                                      fields={"kind": "int64"})))
        self.assert_boxes_are_rectangles(batch, "kind")
        np.testing.assert_allclose(batch.boxes[0], expected, atol=1e-4)

    def test_formats(self):
        stored = {"xyxy": [10, 20, 40, 80], "yxyx": [20, 10, 80, 40],
                  "xywh": [10, 20, 30, 60], "cxcywh": [25, 50, 30, 60]}
        for format, numbers in stored.items():
            record = {"image/encoded": png(np.zeros((100, 100, 3), np.uint8)),
                      "box": [float(number) for number in numbers],
                      **{key: number / 100
                         for key, number in zip("abcd", numbers)}}
            for objects in (Objects(["box"], format=format),
                            Objects(list("abcd"), format=format, normalised=True)):
                boxes, offsets = self.batch([record], objects,
                                            image_size=100).boxes
                np.testing.assert_allclose(boxes, [[10, 20, 40, 80]], atol=1e-4)
                self.assertEqual(offsets.tolist(), [0, 1])

    def test_lists_are_filtered_with_them(self):
        objects = Objects("tf", also=[CROWD, TEXT], min_visible=0.6)
        left = 0
        for batch in self.scenes(objects):
            (labels, offsets), (crowd, _), (texts, _) = (
                batch[LABEL], batch[CROWD], batch[TEXT])
            np.testing.assert_array_equal(offsets, batch.boxes[1])
            np.testing.assert_array_equal(
                crowd, 100 * np.repeat(batch.ids, np.diff(offsets)) + labels)
            self.assertEqual(texts, [[b"red", b"green"][label - 1]
                                     for label in labels])
            left += len(labels)
        self.assertLess(left, 36)  # of as many
        self.assertGreater(left, 5)

    def test_offsets_may_be_changed_in_place(self):
        examples = [example(1) for _ in range(40)]
        batches = self.load(examples, Objects("tf"), batch_size=2)
        for batch in itertools.islice(batches.repeat(), 60):
            offsets = batch.boxes[1]
            self.assertEqual(offsets.tolist(), [0, 1, 2])
            self.assertEqual(batch[LABEL][0].tolist(), [1, 1])
            offsets += 100

    def test_images_without_objects(self):
        batch = self.batch([example(0), example(1), example(3)], Objects("tf"))
        self.assertEqual(batch.boxes[0].shape, (1, 4))
        self.assertEqual(batch.boxes[1].tolist(), [0, 0, 1, 1])
        self.assertEqual([len(one["boxes"]) for one in batch.targets()],
                         [0, 1, 0])
        first = next(iter(self.load([example(0), example(1)], Objects("tf"),
                                    batch_size=1)))
        self.assertEqual(first.boxes[0].shape, (0, 4))
        self.assertEqual(first.boxes[0].dtype, np.float32)
        self.assertEqual(first[LABEL][0].dtype, np.int64)

    def test_filters(self):
        # Of the image's columns 56 to 144 are in the output of 50.
        boxes = [(50, 30, 60, 50), (90, 30, 110, 50), (100, 40, 103, 44),
                 (20, 30, 40, 50)]
        record = {"image/encoded": png(np.zeros((100, 200, 3), np.uint8)),
                  "box": np.float32(boxes).ravel(), "number": [0, 1, 2, 3]}

        def left(**options):
            batch = self.batch([record], Objects("box", labels="number", **options),
                               fields={"number": "int64"}, recipe="torchvision",
                               image_size=50)
            return batch["number"][0].tolist()
        self.assertEqual(left(), [0, 1, 2])
        self.assertEqual(left(min_size=2), [0, 1])
        self.assertEqual(left(min_area=40), [1])
        self.assertEqual(left(min_visible=0.3), [0, 1, 2])
        self.assertEqual(left(min_visible=0.5), [1, 2])
        self.assertEqual(left(keep="centre"), [1, 2])
        self.assertEqual(left(min_size=0, min_area=0), [0, 1, 2, 3])

    def test_without_objects_there_are_none(self):
        batch = next(iter(infeed.Loader(support.shards(), batch_size=4,
                                        image_size=support.SIZE)))
        self.assertIsNone(batch.boxes)
        self.assertEqual(len(batch.labels), 4)
        with self.assertRaisesRegex(ValueError, r"give Loader\(\.\.\., objects="):
            batch.targets()

    def test_labels_are_read_with_a_label_key(self):
        for key in ("class", "image/class/label"):
            examples = [{**example(i), key: i} for i in range(4)]
            batch = self.batch(examples, Objects("tf"), label_key=key,
                               label_offset=0)
            self.assertEqual(batch.labels.tolist(), [0, 1, 2, 3])


class GeometryTest(WithScenes):
    def test_points_are_where_the_boxes_are(self):
        for options in ({}, {"training": False}, {"recipe": "cifar"}):
            for batch in self.scenes(**options):
                geometry, = batch.geometry
                boxes, offsets = batch.boxes
                labels = batch[LABEL][0]
                slots = np.repeat(np.arange(len(batch)), np.diff(offsets))
                stored = np.array([scene(record)[2][label - 1] for record, label
                                   in zip(batch.ids[slots], labels)])
                corners = np.stack([geometry.points(stored[:, :2], slots),
                                    geometry.points(stored[:, 2:], slots)])
                sides = np.concatenate([corners.min(0), corners.max(0)], 1)
                np.testing.assert_allclose(boxes, sides.clip(0, 48), atol=1e-2)

    def test_windows_are_mapped_to_the_output(self):
        batch = next(iter(self.scenes(image_size=(40, 64))))
        geometry, = batch.geometry
        self.assertEqual(len(geometry), 12)
        np.testing.assert_array_equal(
            geometry.source, [scene(number)[:2] for number in batch.ids])
        self.assertEqual(geometry.resized.tolist(), [[40, 64]] * 12)
        self.assertEqual(geometry.origin.tolist(), [[0, 0]] * 12)
        self.assertFalse(geometry.upside_down.any())
        self.assertEqual(geometry.matrix().shape, (12, 2, 3))
        for slot, (y, x, height, width) in enumerate(geometry.window):
            ends = geometry.points([[x, y], [x + width, y + height]], slot)
            if geometry.mirrored[slot]:
                ends[:, 0] = ends[::-1, 0]
            np.testing.assert_allclose(ends, [[0, 0], [64, 40]], atol=1e-9)

    def test_empty_slots_have_zeros(self):
        *_, batch = self.load([example(i) for i in range(3)], Objects("tf"),
                              batch_size=2)
        geometry, = batch.geometry
        self.assertEqual(geometry.source[1].tolist(), [0, 0])
        self.assertEqual(geometry.window[1].tolist(), [0, 0, 0, 0])
        self.assertFalse(geometry.matrix()[1].any())
        self.assertEqual(np.diff(batch.boxes[1]).tolist(), [2, 0])

    def test_images_without_objects_have_one_and_records_without_images_none(self):
        batch = next(iter(infeed.Loader(support.shards(), batch_size=4,
                                        image_size=support.SIZE)))
        self.assertGreater(batch.geometry[0].window[:, 2:].min(), 0)
        path = self.write([{"t": 1}])
        batch = next(iter(infeed.Loader(path, batch_size=1, training=False,
                                        views=(), fields={"t": "int64"})))
        self.assertEqual(batch.geometry, [])


class PaddedTest(WithScenes):
    def test_boxes_have_as_many_rows_for_each_image(self):
        examples = [example(i) for i in range(3)]
        lists = [LABEL, TEXT]
        ragged = self.batch(examples, Objects("tf", also=[TEXT]))
        for most in (1, 2, 4):
            batch = self.batch(examples, Objects("tf", also=[TEXT], pad_to=most))
            boxes, counts = batch.boxes
            self.assertEqual((boxes.shape, boxes.dtype),
                             ((3, most, 4), np.float32))
            self.assertEqual(counts.tolist(), [0, 1, min(most, 2)])
            self.assertEqual(counts.dtype, np.int64)
            for slot, count in enumerate(counts):
                begin = ragged.boxes[1][slot]
                np.testing.assert_array_equal(
                    boxes[slot, :count], ragged.boxes[0][begin:begin + count])
                self.assertTrue((boxes[slot, count:] == -1).all())
                rest = most - count
                self.assertEqual(batch[LABEL][slot].tolist(),
                                 [1, 2][:count] + [-1] * rest)
                self.assertEqual(batch[TEXT][slot],
                                 [b"red", b"green"][:count] + [b""] * rest)
            self.assertEqual(batch[LABEL].dtype, np.int64)
            for one, other, count in zip(batch.targets(), ragged.targets(),
                                         counts, strict=True):
                self.assertEqual(list(one), ["boxes", "labels", TEXT])
                for name, values in one.items():
                    self.assertEqual(list(map(str, values)),
                                     list(map(str, other[name][:count])))
            self.assertEqual(list(batch.as_dict()), [
                "images", "weights", "boxes", "boxes/length", *lists])

    @unittest.skipUnless(support.has("jax"), "jax is not installed")
    def test_jax(self):
        load = functools.partial(self.batch, [example(i) for i in range(8)],
                                 Objects("tf", pad_to=3))
        batch = self.assert_jax_gets(load(), load)
        with self.assertRaisesRegex(ValueError, "targets.* and sharding"):
            batch.targets()

    @unittest.skipUnless(support.has("jax"), "jax is not installed")
    def test_numbers_that_jax_cuts_are_told_once(self):
        import jax
        objects = Objects("tf", also=[CROWD], pad_to=1)

        def crowds(number):
            batches = self.load([{**example(1), CROWD: number}] * 4, objects,
                                batch_size=2, framework="jax")
            return [batch[CROWD].tolist() for batch in batches]
        with self.assertLogs("infeed", "WARNING") as told:
            self.assertEqual(crowds(2**33 + 5), [[[5]] * 2] * 2)
        self.assertEqual(len(told.output), 1)
        self.assertIn("lists of objects", told.output[0])
        with self.assertNoLogs("infeed", "WARNING"):
            self.assertEqual(crowds(2**31 - 1), [[[2**31 - 1]] * 2] * 2)
            with jax.enable_x64(True):
                self.assertEqual(crowds(2**33 + 5), [[[2**33 + 5]] * 2] * 2)

    def told_of_no_boxes(self, examples, objects, **options):
        """What a pass, and a second one, warn of."""
        with self.assertLogs("infeed", "WARNING") as told:
            logging.getLogger("infeed").warning("the start")
            loader = self.load(examples, objects, **options)
            for _ in range(2):
                list(loader)
        return told.output[1:]

    def test_boxes_of_another_scale_are_told_once(self):
        pixels = [example(number, "own") for number in range(6)]
        parts = [example(number, "tf") for number in range(6)]
        keys = [BBOX + side for side in ("xmin", "ymin", "xmax", "ymax")]
        # The far sides are cut to the image's: boxes at its corner have no area.
        told = self.told_of_no_boxes(pixels, Objects("box", normalised=True),
                                     batch_size=2)
        self.assertEqual(len(told), 1)
        self.assertIn("none of the first 6 images has a box, and 4 of their records "
                      "have some", told[0])
        self.assertIn("pixels (normalised=False)?", told[0])
        told = self.told_of_no_boxes(parts, Objects(keys))
        self.assertEqual(len(told), 1)
        self.assertIn("parts of the sides (normalised=True)?", told[0])
        for examples, objects in ((pixels, Objects("box")), (parts, Objects("tf"))):
            self.assertEqual(self.told_of_no_boxes(examples, objects,
                                                   batch_size=2), [])

    def test_images_without_boxes_are_not_told_of(self):
        empty = {**example(0), "box": np.array([], np.float32)}
        self.assertEqual(self.told_of_no_boxes([empty] * 3, Objects("box")), [])
        late = [example(0)] * 2 + [example(1)]
        self.assertEqual(
            self.told_of_no_boxes(late, Objects("tf"), batch_size=1), [])


class StreamTest(WithScenes):
    def test_names_of_parts(self):
        batch = next(iter(self.scenes(Objects("tf", also=[TEXT]))))
        named = batch.as_dict()
        self.assertEqual(list(named), [
            "images", "weights", "boxes", "boxes/offsets", LABEL,
            LABEL + "/offsets", TEXT, TEXT + "/offsets"])
        np.testing.assert_array_equal(named["boxes"], batch.boxes[0])
        np.testing.assert_array_equal(named[LABEL + "/offsets"], batch.boxes[1])
        plain = next(iter(self.scenes(Objects("tf", also=[TEXT])).dicts()))
        np.testing.assert_array_equal(plain["boxes"], batch.boxes[0])
        with self.assertRaisesRegex(ValueError, "two of its .*'boxes'"):
            self.batch([{**example(1), "boxes": 1}], Objects("tf"),
                       fields={"boxes": Field("int64", ())}).as_dict()

    def test_resume_in_an_epoch(self):
        whole = list(itertools.islice(self.scenes().repeat(), 6))
        again = self.scenes(threads=1)
        again.load_state_dict(whole[1].state_dict())
        self.assert_same(itertools.islice(again.repeat(), 4), whole[2:])

    def test_resume_with_other_objects_and_fields(self):
        first, second, *_ = self.scenes()
        again = self.scenes(Objects("tf", min_size=9, pad_to=2),
                            fields={"more": Field("int64", 1, absent=0)})
        again.load_state_dict(first.state_dict())
        np.testing.assert_array_equal(next(iter(again)).images, second.images)
        crop = {"kind": "box", "recipe": "plain", "iou_crop": True}
        state = self.scenes(Objects("box"), **crop).state_dict()
        self.scenes(Objects("box", min_size=9), **crop).load_state_dict(state)
        with self.assertRaisesRegex(ValueError, "objects is .*xywh.* here"):
            self.scenes(Objects("box", format="xywh"),
                        **crop).load_state_dict(state)

    def test_a_pickled_loader_goes_on(self):
        self.assert_goes_on_when_pickled(
            self.scenes(Objects("tf", also=[CROWD], min_size=3, pad_to=5)))

    def test_ranks_share_each_batch(self):
        objects = Objects("tf", also=[CROWD], pad_to=2)
        self.assert_ranks_share_each_batch(
            functools.partial(self.scenes, objects), 12)

    def test_states_do_not_depend_on_them(self):
        self.assertEqual(
            self.scenes().state_dict(),
            self.scenes(Objects("tf", also=[CROWD], keep="centre",
                                pad_to=3)).state_dict())

    def test_change_no_image(self):
        path = self.write([{**example(i), "image/class/label": 1}
                           for i in range(12)])
        options = {"batch_size": 12, "image_size": 48, "seed": 2}
        batch = next(iter(infeed.Loader(path, objects=Objects("tf"), **options)))
        plain = next(iter(infeed.Loader(path, **options)))
        np.testing.assert_array_equal(batch.images, plain.images)

    def test_arrays_that_are_kept_stay_as_they_are(self):
        kept = [batch.boxes for batch in self.scenes(batch_size=4)]
        self.assertEqual(len(kept), 9)  # more than the pool has
        for arrays, batch in zip(kept, self.scenes(batch_size=4), strict=True):
            for array, expected in zip(arrays, batch.boxes, strict=True):
                np.testing.assert_array_equal(array, expected)

    def test_bad_records(self):
        sides = {BBOX + side: [.1, .2, .3] for side in ("xmin", "ymin")} | {
            BBOX + side: [.5, .6, .7] for side in ("xmax", "ymax")}
        good = {**example(0), **sides, LABEL: [1, 2, 3], CROWD: [0, 0, 0]}
        objects = Objects("tf", also=[CROWD])
        for key, values, text in (
                (BBOX + "ymax", [.5, .6],
                 "boxes: 4 keys have 3, 3, 3 and 2 values"),
                (BBOX + "ymin", [.1, float("nan"), .3],
                 "boxes: value 5 is not a finite number"),
                (BBOX + "ymin", [1, 2, 3], "holds int64, expected float"),
                (CROWD, [0, 0], f"'{CROWD}' has 2 values for 3 boxes"),
                (LABEL, [.5, 1.0, 2.0], "holds float, expected int64")):
            with self.subTest(text), self.assertRaisesRegex(
                    infeed.DataError, f"record 1 .*{text}"):
                self.batch([good, {**good, key: values}], objects)
        bad = {**example(0), "box": [1.0] * 6}
        with self.assertRaisesRegex(infeed.DataError, "has 6 values, which is no "
                                    "multiple of 4"):
            self.batch([bad], Objects("box"))
        said = []
        batch = self.batch([good, {**good, CROWD: [0]}], objects,
                           on_bad_record="skip", on_bad=said.append)
        self.assertEqual(batch.boxes[1].tolist(), [0, 3, 3])
        self.assertEqual(batch.weights.tolist(), [1, 0])
        self.assertIn("has 1 values for 3 boxes", said[0])


@unittest.skipUnless(support.has("torch"), "torch is not installed")
class TorchTest(WithScenes):
    def test_targets_are_as_torchvisions_models_take_them(self):
        import torch
        batch = next(iter(self.scenes(Objects("tf", also=[CROWD]),
                                      framework="torch")))
        images = list(batch.images.float() / 255)
        targets = batch.targets()
        self.assertEqual(len(images), len(targets))
        self.assertEqual(images[0].shape, (3, 48, 48))
        for target in targets:
            self.assertEqual(list(target), ["boxes", "labels", CROWD])
            boxes = target["boxes"]
            self.assertEqual((boxes.dtype, boxes.shape[1:]),
                             (torch.float32, (4,)))
            self.assertTrue((boxes[:, 2:] > boxes[:, :2]).all())
            self.assertEqual(target["labels"].dtype, torch.int64)
            self.assertEqual(target["labels"].shape, boxes.shape[:1])

    def test_move_with_their_batch(self):
        for most in (None, 3):
            batch = next(iter(self.scenes(Objects("tf", also=[TEXT], pad_to=most),
                                          framework="torch")))
            moved = batch.to("meta")
            self.assertEqual({tensor.device.type for tensor in moved.boxes},
                             {"meta"})
            for target in moved.targets():
                self.assertEqual(target["boxes"].device.type, "meta")
                self.assertEqual(target["labels"].device.type, "meta")
            self.assertEqual(batch.boxes[0].device.type, "cpu")
            self.assertEqual([len(one["boxes"]) for one in moved.targets()],
                             [len(one[TEXT]) for one in moved.targets()])

    def test_prefetch_takes_them_along(self):
        from infeed.torch import prefetch
        loader = self.scenes(framework="torch")
        for batch, plain in zip(prefetch(loader, "meta"), copy.copy(loader),
                                strict=True):
            self.assertEqual(batch.boxes[0].device.type, "meta")
            self.assertEqual(batch.boxes[0].shape, plain.boxes[0].shape)


class ObjectsTest(WithScenes):
    def test_is_a_value(self):
        objects = Objects("tf", also=[CROWD], min_size=np.float32(2))
        self.assertEqual(objects, Objects(
            [BBOX + side for side in ("xmin", "ymin", "xmax", "ymax")],
            normalised=True, labels=LABEL, also=(CROWD,), min_size=2))
        self.assertEqual(hash(objects), hash(copy.deepcopy(objects)))
        self.assertEqual(pickle.loads(pickle.dumps(objects)), objects)
        self.assertNotEqual(objects, Objects("tf"))
        self.assertEqual(Objects("tfds"), Objects(
            "objects/bbox", format="yxyx", normalised=True,
            labels="objects/label"))
        self.assertEqual(Objects("infeed"),
                         Objects("image/object/bbox", labels=LABEL))
        with self.assertRaises(AttributeError):
            objects.pad_to = 2

    def test_mistakes_are_named(self):
        for error, text, call in (
                (TypeError, "keys=None", lambda: Objects(None)),
                (TypeError, "keys: a key=1", lambda: Objects([1])),
                (ValueError, r"keys=\('a', 'b'\): boxes have 1 key or 4, not 2",
                 lambda: Objects(["a", "b"])),
                (ValueError, "the key 'a' is given twice",
                 lambda: Objects("a", labels="a")),
                (ValueError, "format='xy': must be xyxy, yxyx, xywh or cxcywh",
                 lambda: Objects("a", format="xy")),
                (ValueError, r"format='xyxy': Objects\('tf'\) has its own",
                 lambda: Objects("tf", format="xyxy")),
                (ValueError, r"normalised=False: Objects\('tfds'\) has its own",
                 lambda: Objects("tfds", normalised=False)),
                (TypeError, "normalised=1", lambda: Objects("a", normalised=1)),
                (TypeError, "labels=1: must be a str",
                 lambda: Objects("a", labels=1)),
                (TypeError, "also='b': must be a list of keys",
                 lambda: Objects("a", also="b")),
                (TypeError, "min_size='1': must be a number",
                 lambda: Objects("a", min_size="1")),
                (ValueError, "min_area=-1: must be from 0 to 1048576",
                 lambda: Objects("a", min_area=-1)),
                (ValueError, "min_visible=10: must be from 0 to 1",
                 lambda: Objects("a", min_visible=10)),
                (ValueError, "min_size=nan: must be from 0",
                 lambda: Objects("a", min_size=float("nan"))),
                (ValueError, "keep='center': must be area or centre",
                 lambda: Objects("a", keep="center")),
                (ValueError, "pad_to=0: must be at least 1",
                 lambda: Objects("a", pad_to=0))):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()

    def test_mistakes_of_a_loader_are_named(self):
        examples = [{**example(1), "list": 1}]
        for error, text, objects, options in (
                (TypeError, "objects='tf': must be infeed.Objects", "tf", {}),
                (ValueError, "none of 1 records has \"boxx\"", Objects("boxx"),
                 {}),
                (ValueError, "the kind of 'list' is not known: give it among "
                 "fields", Objects("tf", also=["list"]), {}),
                (ValueError, "'list' has a shape: lists of objects have none",
                 Objects("tf", also=["list"]),
                 {"fields": {"list": Field("int64", ())}}),
                (ValueError, r"views=\(\) and objects", Objects("tf"),
                 {"views": (), "recipe": None, "image_size": None})):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                self.load(examples, objects, **options)

    def test_policies_that_move_pixels_are_refused(self):
        policies = next(row for row in infeed.option_table()
                        if row["name"] == "augment")["choices"].split("|")
        moving = set(policies) - {"none"}
        self.assertIn("randaugment", moving)
        for policy in moving:
            with self.assertRaisesRegex(ValueError, f"augment={policy} moves"):
                self.scenes(augment=policy)
        self.assert_boxes_are_rectangles(next(iter(self.scenes(augment="none"))))


@unittest.skipUnless(os.environ.get("INFEED_DATA_DIR"),
                     "INFEED_DATA_DIR has the sets of others")
class RaccoonTest(unittest.TestCase):
    """Records that the script of TensorFlow's Object Detection API wrote."""

    def test_is_read_without_other_options(self):
        path = pathlib.Path(os.environ["INFEED_DATA_DIR"]) / "raccoon.tar"
        if not path.exists():
            self.skipTest("INFEED_DATA_DIR has no raccoon.tar")
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(path) as tar:
                tar.extract("raccoon/data/test.record", folder)
            record = pathlib.Path(folder) / "raccoon/data/test.record"
            stored = infeed.records.open(record)
            seen = 0
            with self.assertWarnsRegex(UserWarning, "says split='test'"):
                loader = infeed.Loader(record, batch_size=8,
                                       objects=Objects("tf"))
            for batch in loader:
                geometry, = batch.geometry
                boxes, offsets = batch.boxes
                for slot, number in enumerate(batch.ids):
                    features = stored.parse(number)
                    height, width = geometry.source[slot]
                    self.assertEqual([height, width],
                                     features["image/height"]
                                     + features["image/width"])
                    corners = np.array([features[BBOX + side] for side in (
                        "xmin", "ymin", "xmax", "ymax")]).T * ([width, height] * 2)
                    begin, end = offsets[slot:slot + 2]
                    ends = np.stack([geometry.points(corners[:, :2], slot),
                                     geometry.points(corners[:, 2:], slot)])
                    sides = np.concatenate([ends.min(0), ends.max(0)],
                                           1).clip(0, 224)
                    width, height = (sides[:, 2:] - sides[:, :2]).T
                    sides = sides[(width >= 1) & (height >= 1)]
                    np.testing.assert_allclose(boxes[begin:end], sides, atol=0.01)
                    seen += end - begin
            self.assertGreater(seen, 20)  # of 44 in 40 images


if __name__ == "__main__":
    unittest.main()
