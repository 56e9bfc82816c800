"""Several images of each sample: crops, masks, pairs."""

import copy
import functools
import itertools
import pickle
import unittest

import numpy as np

import infeed
import support
from infeed import View
from support import png

IMAGE, MASK = "image/encoded", "image/segmentation/class/encoded"
COLORS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]],
                  np.uint8)
LARGE = {"image_size": 32, "crop_scale": 0.4}
SMALL = {"image_size": (24, 16), "crop_scale": 0.05}
DINO = [View(**LARGE)] * 2 + [View(**SMALL)] * 8


def regions(number):
    """uint8 [H, W] of 0 to 3: four regions that meet in a point."""
    height, width = 90 + 10 * (number % 5), 100 + 20 * (number % 4)
    y, x = height // 3 + number % 20, width // 4 + 2 * (number % 20)
    labels = np.zeros((height, width), np.uint8)
    labels[y:] += 2
    labels[:, x:] += 1
    return labels


@functools.cache
def example(number, palette=True):
    """A record of a picture of regions, and of their labels."""
    labels = regions(number)
    return {IMAGE: png(COLORS[labels]),
            MASK: png(labels, COLORS if palette else None)}


class WithViews(support.WritesRecords):
    def load(self, views, **options):
        """A loader of crops of 24 records."""
        path = self.folder / "regions"
        if not path.exists():
            self.write(map(example, range(24), itertools.cycle(
                [True, False]))).rename(path)
        return infeed.Loader(path, views=views, **{
            "batch_size": 8, "recipe": "torchvision", "image_size": 40, "seed": 5,
            "on_bad_record": "fail", "require_labels": False, **options})

    def dino(self, **options):
        return self.load(DINO, image_size=None, **options)

    def batch(self, examples, views, **options):
        """A batch of these examples."""
        return next(iter(infeed.Loader(self.write(examples), views=views, **{
            "batch_size": len(examples), "training": False, "recipe": "plain",
            "image_size": 40, "require_labels": False, "on_bad_record": "fail",
            **options})))

    def assert_labels_are_colors(self, images, labels):
        """Each label is that of its pixel, where that shows one region only."""
        distance = np.abs(images[..., None, :].astype(int) - COLORS).max(-1)
        is_pure = distance.min(-1) <= 2
        self.assertGreater(is_pure.mean(), 0.7)
        np.testing.assert_array_equal(labels[is_pure],
                                      distance.argmin(-1)[is_pure])


class MaskTest(WithViews):
    """Labels of pixels, which follow an image."""

    VIEWS = (View(), View(MASK, draws=0, labels=True))

    def test_follow_the_regions_of_the_image(self):
        for options in ({}, {"training": False}, {"recipe": "tpu"},
                        {"recipe": "plain"}, {"image_size": (24, 56)},
                        {"random_flip_vertical": True},
                        {"interpolation": "antialias_bicubic"}):
            mirrored = set()
            with self.subTest(options):
                for batch in self.load(self.VIEWS, **options):
                    image, mask = batch.images
                    self.assertEqual((mask.dtype, mask.shape),
                                     (np.uint8, image.shape[:3]))
                    self.assert_labels_are_colors(image, mask)
                    first, second = batch.geometry
                    np.testing.assert_array_equal(first.matrix(),
                                                  second.matrix())
                    mirrored |= set(second.mirrored.tolist())
                if options.get("training", True) and options != {
                        "recipe": "plain"}:
                    self.assertEqual(mirrored, {True, False})

    def test_are_fill_where_there_is_no_image(self):
        examples = [{IMAGE: png(COLORS[labels]), MASK: png(labels)}
                    for labels in (regions(i)[:40, :40] for i in range(8))]
        for fill in (255, 7):
            image, mask = self.batch(examples, [View(), View(
                MASK, labels=True, fill=fill)], recipe="cifar", training=True,
                shuffle="none").images
            is_margin = (image == 0).all(-1)
            self.assertTrue(is_margin.any())
            np.testing.assert_array_equal(mask == fill, is_margin)
            np.testing.assert_array_equal(COLORS[mask[~is_margin]],
                                          image[~is_margin])

    def test_another_mask_or_fill_is_another_fingerprint(self):
        labels = regions(0)
        record = {IMAGE: png(COLORS[labels]), MASK: png(labels),
                  "other": png(labels, COLORS)}
        masks = [View(MASK, labels=True), View("other", labels=True),
                 View(MASK, labels=True, fill=7)]
        self.assertEqual(len({self.batch([record], [View(), mask]).fingerprint
                              for mask in masks}), len(masks))

    def test_follow_a_later_view(self):
        views = [View(), View(image_size=(24, 56)),
                 View(MASK, draws=1, labels="int32")]
        for batch in self.load(views):
            _, image, mask = batch.images
            self.assertEqual((mask.dtype, mask.shape), (np.int32, (8, 24, 56)))
            self.assert_labels_are_colors(image, mask)

    def test_may_have_16_bits(self):
        labels = np.uint16(1000) * regions(0)
        record = {IMAGE: png(COLORS[regions(0)]), MASK: png(labels)}
        size = labels.shape
        _, mask = self.batch([record], [View(), View(MASK, labels="int32",
                                                     fill=-1)],
                             image_size=size).images
        np.testing.assert_array_equal(mask[0], labels)
        with self.assertRaisesRegex(infeed.DataError, "view 1: .*no uint8"):
            self.batch([record], self.VIEWS, image_size=size)

    def test_of_palettes_are_the_indexes(self):
        for palette in (True, False):
            size = regions(3).shape
            _, mask = self.batch([example(3, palette)], self.VIEWS,
                                 image_size=size).images
            np.testing.assert_array_equal(mask[0], regions(3))

    def test_labels_of_records_are_read_with_a_label_key(self):
        for key in ("class", "image/class/label"):
            examples = [{**example(i), key: i} for i in range(4)]
            self.assertIsNone(self.batch(examples, self.VIEWS).labels)
            batch = self.batch(examples, self.VIEWS, label_key=key,
                               label_offset=0)
            self.assertEqual(batch.labels.tolist(), [0, 1, 2, 3])

    def test_records_need_no_label(self):
        batch = self.batch([example(0)], self.VIEWS, require_labels=None)
        self.assertEqual(batch.weights.tolist(), [1])

    def test_beside_words(self):
        rgb = next(iter(self.load(self.VIEWS)))
        words = next(iter(self.load(self.VIEWS, layout="words")))
        self.assertEqual((words.images[0].dtype, words.images[0].shape),
                         (np.uint32, (8, 40, 40)))
        np.testing.assert_array_equal(words.images[1], rgb.images[1])

    def test_beside_boxes(self):
        examples = [{**example(i), "box": [10.0, 20.0, 40.0, 80.0]}
                    for i in range(4)]
        batch = self.batch(examples, self.VIEWS, objects=infeed.Objects("box"))
        self.assertEqual(batch.boxes[0].shape, (4, 4))
        self.assertEqual(len(batch.targets()), 4)
        self.assert_labels_are_colors(*batch.images)

    def test_records_that_do_not_fit_are_named(self):
        good = example(0)
        for mask, text in ((png(regions(1)), "the mask has .* pixels, the image"),
                           (png(COLORS[regions(0)]), "has colours"),
                           (support.photograph(), "view 1: "), (None, MASK)):
            bad = {**good, MASK: mask}
            if mask is None:
                del bad[MASK]
            with self.subTest(text), self.assertRaisesRegex(
                    infeed.DataError, f"record 1 .*{text}"):
                self.batch([good, bad], self.VIEWS)

    def test_of_bad_records(self):
        examples = [example(i) for i in range(8)]
        examples[3] = {**examples[3], MASK: b"no image"}
        said = []
        batch = self.batch(examples, self.VIEWS, on_bad_record="skip",
                           on_bad=said.append)
        self.assertIn("view 1", said[0])
        self.assertEqual(batch.weights[3], 0)
        self.assertFalse(batch.images[0][3].any())
        self.assertTrue((batch.images[1][3] == 255).all())
        self.assertFalse(batch.geometry[1].window[3].any())
        # A substitute has all views.
        batch = self.batch(examples, self.VIEWS, on_bad_record="replace",
                           on_bad=said.append)
        self.assertNotIn(3, batch.ids)
        self.assert_labels_are_colors(*batch.images)


class CropsTest(WithViews):
    """Several crops of one image."""

    def test_have_sizes_and_draws_of_their_own(self):
        for batch in self.dino():
            self.assertEqual([view.shape[1:3] for view in batch.images],
                             2 * [(32, 32)] + 8 * [(24, 16)])
            windows = np.stack([geometry.window for geometry in batch.geometry])
            for slot in range(8):  # No two crops are the same.
                self.assertEqual(len(np.unique(windows[:, slot], axis=0)), 10)
            sources = np.stack([geometry.source for geometry in batch.geometry])
            self.assertTrue((sources == sources[0]).all())

    def test_with_the_draws_of_another_are_the_same(self):
        for batch in self.load([View(), View(draws=0), View(), View(draws=2)]):
            first, same, other, same_as_other = batch.images
            np.testing.assert_array_equal(same, first)
            np.testing.assert_array_equal(same_as_other, other)
            self.assertTrue((first != other).any())
            windows = [geometry.window for geometry in batch.geometry]
            self.assertTrue((windows[0] != windows[2]).any(1).all())
        for batch in self.load([View(), View(image_size=80, draws=0)]):
            one, two = batch.geometry
            np.testing.assert_array_equal(one.window, two.window)
            np.testing.assert_array_equal(one.mirrored, two.mirrored)

    def test_the_first_is_the_image_of_a_loader_without_views(self):
        plain = list(self.load(None, **LARGE))
        for views in ([View(**LARGE)], DINO, [View(IMAGE, **LARGE), View()]):
            for batch, expected in zip(self.load(views, image_size=None), plain,
                                       strict=True):
                first = batch.images if len(views) == 1 else batch.images[0]
                np.testing.assert_array_equal(first, expected.images)
                np.testing.assert_array_equal(batch.labels, expected.labels)
        self.assertEqual(self.load([View(**LARGE)], image_size=None).state_dict(),
                         self.load(None, **LARGE).state_dict())

    def test_options_are_those_of_the_first_unless_given(self):
        _, same, other = next(iter(self.load(
            [View(image_size=20, grayscale=1.0), View(),
             View(grayscale=0.0, image_size=(10, 30))], image_size=None))).images
        self.assertEqual((same.shape, other.shape),
                         ((8, 20, 20, 3), (8, 10, 30, 3)))
        self.assertFalse(np.ptp(same, -1).any())
        self.assertTrue(np.ptp(other, -1).any())

    def test_of_two_images_are_a_pair(self):
        examples = [{"left": png(COLORS[regions(i)]),
                     "right": png(255 - COLORS[regions(i)]), "d": i}
                    for i in range(8)]
        batch = self.batch(examples, [View("left"), View("right", draws=0)],
                           recipe="torchvision", training=True, shuffle="none")
        left, right = (view.astype(int) for view in batch.images)
        self.assertLessEqual(np.abs(left + right - 255).max(), 1)

    def test_of_two_resolutions_show_the_same(self):
        shapes = [(75, 100), (67, 45), (90, 91), (40, 40)]
        examples = []
        for number, (height, width) in enumerate(shapes):
            image = np.random.default_rng(number).integers(
                0, 256, (height, width, 3), np.uint8)
            examples.append({"low": png(image), "d": number, "high": png(
                image.repeat(2, 0).repeat(2, 1))})
        for recipe, training in itertools.product(
                ("tpu", "torchvision", "plain", "cifar", "fit"), (True, False)):
            with self.subTest(recipe=recipe, training=training):
                for key, times in (("high", 2), ("low", 1)):
                    self.assert_pairs(self.batch(
                        examples,
                        [View("low"), View(key, draws=0, image_size=120)],
                        recipe=recipe, training=training), times)

    def assert_pairs(self, batch, times):
        """Places of the source, times as large in the second view, are at one
        place of both outputs."""
        ratio = batch.images[1].shape[1] / batch.images[0].shape[1]
        first, second = (geometry.matrix() for geometry in batch.geometry)
        np.testing.assert_allclose(second[..., :2] * times,
                                   first[..., :2] * ratio, atol=1e-9)
        np.testing.assert_allclose(second[..., 2], first[..., 2] * ratio,
                                   atol=1e-9)

    def test_are_the_same_for_any_threads_and_after_a_resume(self):
        whole = list(itertools.islice(self.dino().repeat(), 6))
        self.assert_same(itertools.islice(self.dino(threads=1).repeat(), 6),
                         whole)
        self.assert_same(itertools.islice(
            self.dino(graph="basic").repeat(), 6), whole)
        again = self.dino(threads=3)
        again.load_state_dict(whole[1].state_dict())
        self.assert_same(itertools.islice(again.repeat(), 4), whole[2:])

    def test_ranks_share_each_batch(self):
        self.assert_ranks_share_each_batch(self.dino, 8)

    def test_a_state_is_of_its_views(self):
        state = self.dino().state_dict()
        self.dino().load_state_dict(state)
        for other in (DINO[:-1], DINO[:1], [*DINO[:-1], View(**LARGE)]):
            with self.assertRaisesRegex(ValueError, "views"):
                self.load(other, image_size=None).load_state_dict(state)

    def test_a_pickled_loader_goes_on(self):
        self.assert_goes_on_when_pickled(self.dino())


class ArraysTest(WithViews):
    VIEWS = (View(), View(image_size=(24, 16)), View(MASK, labels=True))
    NAMES = ["images", "images/1", "images/2", "weights"]

    def test_are_those_of_the_batchs_memory(self):
        batch = next(iter(self.load(self.VIEWS)))
        for number, view in enumerate(batch.images):
            self.assertTrue(np.shares_memory(view, batch._native.images(number)))
            self.assertTrue(view.flags.c_contiguous)
            self.assertEqual(view.ctypes.data % 64, 0)
        for number in (3, 2**40):
            for part in (batch._native.images, batch._native.geometry,
                         batch._native.matrices):
                with self.assertRaises(IndexError):
                    part(number)

    def test_that_are_kept_stay_as_they_are(self):
        options = {"batch_size": 2}
        kept = [batch.images for batch in self.load(self.VIEWS, **options)]
        self.assertEqual(len(kept), 12)  # more than the pool has
        for views, batch in zip(kept, self.load(self.VIEWS, **options),
                                strict=True):
            for view, expected in zip(views, batch.images, strict=True):
                np.testing.assert_array_equal(view, expected)

    def test_names_of_parts(self):
        batch = next(iter(self.load(self.VIEWS)))
        self.assertEqual(list(batch.as_dict()), self.NAMES)
        self.assertEqual(repr(batch), "Batch 0 of epoch 0: images uint8 "
                         "[8, 40, 40, 3], uint8 [8, 24, 16, 3], uint8 "
                         "[8, 40, 40], 8 of weight 1")
        images, labels, weights = batch
        self.assertIs(images, batch.images)
        self.assertIsNone(labels)
        named = next(iter(self.load(self.VIEWS).dicts()))
        for name, view in zip(self.NAMES, images, strict=False):
            np.testing.assert_array_equal(named[name], view)

    @unittest.skipUnless(support.has("torch"), "torch is not installed")
    def test_torch(self):
        import torch
        from infeed.torch import prefetch
        loader = self.load(self.VIEWS, framework="torch")
        plain = next(iter(self.load(self.VIEWS))).images
        batch = next(iter(loader))
        image, small, mask = batch.images
        self.assertEqual([image.shape, small.shape, mask.shape],
                         [(8, 3, 40, 40), (8, 3, 24, 16), (8, 40, 40)])
        for view, expected in zip((image.permute(0, 2, 3, 1), small.permute(
                0, 2, 3, 1), mask), plain, strict=True):
            self.assertEqual(view.dtype, torch.uint8)
            np.testing.assert_array_equal(view.numpy(), expected)
        for moved in (batch.to("meta"), next(iter(prefetch(loader, "meta")))):
            self.assertEqual({tensor.device.type for tensor in
                              (*moved.images, *moved._tensors())}, {"meta"})
            self.assertEqual(moved.images[2].shape, (8, 40, 40))
        self.assertEqual(batch.images[1].device.type, "cpu")

    @unittest.skipUnless(support.has("jax"), "jax is not installed")
    def test_jax(self):
        self.assert_jax_gets(
            next(iter(self.load(self.VIEWS))),
            lambda **options: next(iter(self.load(self.VIEWS, **options))))


class ViewTest(WithViews):
    def test_is_a_value(self):
        view = View("mask", draws=np.int64(0), labels=True, image_size=(1, 2))
        self.assertEqual(view, View("mask", draws=0, labels="uint8",
                                    image_size=(np.int8(1), 2)))
        self.assertEqual(hash(view), hash(copy.deepcopy(view)))
        self.assertEqual(pickle.loads(pickle.dumps(view)), view)
        self.assertNotEqual(View(), View(image_size=224))
        self.assertEqual(View(image_size=None), View())
        self.assertEqual(View(recipe="plain", random_flip=False),
                         View(random_flip=False, recipe="plain"))
        with self.assertRaises(AttributeError):
            view.key = "other"

    def test_mistakes_are_named(self):
        for error, text, call in (
                (TypeError, "key=1: must be a str", lambda: View(1)),
                (ValueError, "key='': must be the key", lambda: View("")),
                (TypeError, "draws=True: must be an integer",
                 lambda: View(draws=True)),
                (ValueError, "draws=-1: must be at least 0",
                 lambda: View(draws=-1)),
                (TypeError, "labels=None: must be True, False, 'uint8' or 'int32'",
                 lambda: View("a", labels=None)),
                (ValueError, "labels='int64': must be uint8 or int32",
                 lambda: View("a", labels="int64")),
                (ValueError, "labels='uint8': give the key of the labels",
                 lambda: View(labels=True)),
                (ValueError, "fill=256: must be at most 255",
                 lambda: View("a", labels=True, fill=256)),
                (ValueError, "fill=0: is of labels", lambda: View(fill=0)),
                (ValueError, "crop_scale=0.5: labels follow",
                 lambda: View("a", labels=True, crop_scale=0.5)),
                (ValueError, "'crop_scael': did you mean crop_scale",
                 lambda: View(crop_scael=0.5)),
                (ValueError, "seed=3: is an option of the loader",
                 lambda: View(seed=3)),
                (ValueError, "layout='words': is an option of the loader",
                 lambda: View(layout="words")),
                (TypeError, "crop_scale='1': must be a number",
                 lambda: View(crop_scale="1")),
                (ValueError, "recipe='best': must be", lambda: View(recipe="best"))):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()

    def test_mistakes_of_a_loader_are_named(self):
        mask = View(MASK, labels=True)
        for error, text, views, options in (
                *((TypeError, "views=.*must be a list of infeed.View", views, {})
                  for views in (1, "", [1], {}, View(), [View(), None])),
                (ValueError, "the first view has draws=0", [View(draws=0)], {}),
                (ValueError, "the first view has labels='uint8'", [mask], {}),
                (ValueError, "image_size=40, and image_size=20 of the first view",
                 [View(image_size=20)], {}),
                (ValueError, "image_key='a', and image_key='b' of the first",
                 [View("b")], {"image_key": "a"}),
                (ValueError, "view 1: draws=1: must be the number of an earlier",
                 [View(), View(draws=1)], {}),
                (ValueError, "view 1: .*image_size",
                 [View(), View(MASK, labels=True, image_size=20)], {}),
                (ValueError, "view 1: image_size=60: draws=0 makes a pair",
                 [View(), View(draws=0, image_size=60)], {"recipe": "fit"}),
                (ValueError, "view 1: .*randaugment", [View(), mask],
                 {"augment": "randaugment"}),
                (ValueError, "view 2: image_size=.*at least 1",
                 [View(), View(), View(image_size=0)], {}),
                (ValueError, "17 views: at most 16", [View()] * 17, {}),
                (ValueError, "^view 1: erasing_mode='pixel': needs random_erasing",
                 [View(random_erasing=0.5), View(random_erasing=0,
                                                 erasing_mode="pixel")], {}),
                (ValueError, "^erasing_mode='pixel': needs random_erasing",
                 [View(), View(random_erasing=0.5, erasing_mode="mean")],
                 {"erasing_mode": "pixel"})):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                self.load(views, **options)

    def test_what_an_option_needs_may_be_of_another_view(self):
        for views, options in (
                ([View(), View(brightness=0.4)], {"jitter_probability": 0.8}),
                ([View(augment="randaugment"), View(augment_layers=3)], {}),
                ([View(), View(augment="randaugment")], {"augment_layers": 3})):
            with self.subTest(views):
                self.load(views, **options)


if __name__ == "__main__":
    unittest.main()
