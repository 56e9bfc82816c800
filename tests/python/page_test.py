"""Every snippet of docs/python.md runs, on small data of the kind that it names."""

import builtins
import contextlib
import importlib.util
import io
import itertools
import json
import os
import pathlib
import re
import tarfile
import tempfile
import textwrap
import types
import unittest
import zipfile

import numpy as np

import infeed
import support

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
# A test runs each; how it begins.
BEGINNINGS = {"loop": "import infeed\n",
              "torch": "import torch, infeed, infeed.torch\n",
              "jax": 'train = infeed.Loader("SHARDS", global_batch_size',
              "fields": 'fields = {"input_ids"',
              "boxes": 'train = infeed.Loader("coco/',
              "masks": 'train = infeed.Loader("voc/',
              "crops": "large, small = dict(",
              "lookup": "batch = train.batch_at(3, 17)",
              "records": "records = infeed.records.open(",
              "folders": 'train = infeed.Loader("IMAGES"',
              "formats": 'train = infeed.Loader("tars/'}
SHELL = "pip install .", "./dev python wheel", "pip install dist/"


def needs(*packages):
    missing = [name for name in packages
               if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)}: not installed")


def snippets():
    """The page's blocks of Python, fenced or indented."""
    blocks = re.findall(r"^```python\n(.*?)^```|\n\n((?:    [^\n]+\n)+)",
                        PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for fenced, indented in blocks:
        block = textwrap.dedent(fenced or indented)
        if not all(line.startswith(SHELL) for line in block.splitlines()):
            yield block


class Enough(Exception):
    """Ends a loop that would not end."""


def few(*bounds):
    """Of an epoch's numbers two."""
    return itertools.islice(builtins.range(*bounds), 2)


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.enterClassContext(contextlib.chdir(cls.folder))
        support.run("make_demo_images", "--output", "IMAGES", "--train", 520,
                    "--validation", 20)
        support.run("imagenet_to_records", "--raw_data_dir", "IMAGES",
                    "--local_scratch_dir", "SHARDS", "--shards", 2)
        cls.photographs = sorted(pathlib.Path("IMAGES/train").rglob("*.jpg"))

    def test_each_snippet_has_a_test(self):
        for name in BEGINNINGS:
            self.assertTrue(hasattr(self, "test_" + name))
        for block in snippets():
            self.assertTrue(block.startswith(tuple(BEGINNINGS.values())), block)

    def play(self, name, replaced=(), **names):
        """Runs a snippet; returns its names and what it prints."""
        block, = (block for block in snippets()
                  if block.startswith(BEGINNINGS[name]))
        for theirs, ours in replaced:
            self.assertIn(theirs, block)
            block = block.replace(theirs, ours)
        scope = {"infeed": infeed, "range": few, **names}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.suppress(Enough):
            exec(compile(block, str(PAGE), "exec"), scope)
        return types.SimpleNamespace(**scope), printed.getvalue()

    def test_loop(self):
        shapes = []
        names, printed = self.play(
            "loop", step=lambda images, labels: shapes.append(
                (images.shape, str(labels.dtype))))
        self.assertEqual(shapes, [((256, 224, 224, 3), "int32")] * 4)
        # The numbers in it change until the stream is closed.
        self.assertRegex(printed, r"bounds the run.*\n$")

    def test_lookup(self):
        train = infeed.Loader("SHARDS", batch_size=16, recipe="torchvision",
                              augment="randaugment")
        _, printed = self.play("lookup", train=train, json=json)
        samples = [json.loads(line) for line in printed.splitlines()]
        self.assertEqual(len(samples), 16)
        # The page shows one.
        text = PAGE.read_text()
        shown = text[text.index('{"shard"'):]
        self.assertEqual(list(samples[0]),
                         list(json.loads(shown[:shown.index("}") + 1])))

    @needs("torch")
    def test_torch(self):
        import torch
        model = torch.nn.Sequential(
            torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(),
            torch.nn.Linear(48, 10))
        local = (("gs://bucket/imagenet/train-*", "SHARDS/train-*"),
                 ('"cuda"', repr("cuda" if torch.cuda.is_available()
                                 else "cpu")))
        names, _ = self.play("torch", local, model=model, resume=False)
        self.assertEqual(names.images.shape, (256, 3, 224, 224))
        names, _ = self.play("torch", local, model=model, resume=True)
        # It began after the first batch of the second epoch.
        self.assertEqual((names.train.epoch, names.batch.number), (3, 1))

    @needs("jax")
    def test_jax(self):
        import jax
        shapes = []

        def train_step(state, images, labels):
            shapes.append((images.shape, labels.shape))
            if len(shapes) == 3:
                raise Enough
            return state, None
        self.play("jax", (("4096", "256"),), jax=jax, train_step=train_step,
                  state=None, P=jax.sharding.PartitionSpec,
                  NamedSharding=jax.sharding.NamedSharding,
                  mesh=jax.sharding.Mesh(jax.devices(), ("data",)))
        self.assertEqual(shapes, [((256, 224, 224, 3), (256,))] * 3)

    @needs("torch")
    def test_fields(self):
        import torch
        os.mkdir("texts")
        with infeed.records.Writer("texts/a.tfrecord") as writer:
            for number in range(64):
                writer.write_example({"input_ids": range(1, 6 * number + 2),
                                      "target": number % 2 / 1})
        names, _ = self.play(
            "fields", torch=torch, bce=torch.nn.functional.mse_loss,
            model=lambda ids, mask: (ids * mask).sum(1) / mask.sum(1))
        self.assertEqual((names.batch.number, names.mask.shape), (1, (32, 224)))
        self.assertTrue(torch.equal(names.mask, names.batch["input_ids"] > 0))
        self.assertGreater(float(names.loss), 0)

    @needs("torch")
    def test_boxes(self):
        import torch
        os.mkdir("coco")
        with infeed.records.Writer("coco/train-00000-of-00001") as writer:
            for number, path in enumerate(self.photographs[:20]):
                sides = {f"image/object/bbox/{side}": [place] * (number % 3)
                         for side, place in (("xmin", .2), ("ymin", .3),
                                             ("xmax", .8), ("ymax", .9))}
                lists = {f"image/object/{name}": [value] * (number % 3)
                         for name, value in (("class/label", 7), ("is_crowd", 0))}
                writer.write_example({"image/encoded": path.read_bytes(),
                                      **({**sides, **lists} if number % 3
                                         else {})})

        def detector(images, targets):
            self.assertEqual({image.shape for image in images}, {(3, 640, 640)})
            self.assertEqual(len(targets), 16)
            return torch.cat([target["boxes"] for target in targets])
        names, _ = self.play("boxes", detector=detector)
        self.assertGreater(len(names.losses), 4)
        self.assertEqual(set(names.batch["image/object/class/label"][0].tolist()),
                         {7})

    def test_masks(self):
        os.mkdir("voc")
        with infeed.records.Writer("voc/train-00000-of-00001") as writer:
            for path in self.photographs[:16]:
                jpeg = path.read_bytes()
                brightness = infeed.decode_image(jpeg).max(-1)
                writer.write_example({
                    "image/encoded": jpeg, "image/segmentation/class/encoded":
                    support.png((brightness > 127).astype(np.uint8))})
        names, _ = self.play("masks")
        self.assertEqual((names.image.shape, names.mask.shape),
                         ((16, 512, 512, 3), (16, 512, 512)))
        self.assertEqual(set(np.unique(names.mask)), {0, 1})
        is_bright = names.image.max(-1) > 127
        self.assertGreater((names.mask == is_bright).mean(), 0.9)

    def test_crops(self):
        shapes = []

        def dino(images):
            shapes.extend(image.shape for image in images)
            raise Enough
        self.play("crops", (("imagenet/train-*", "SHARDS/train-*"),
                            ("batch_size=64", "batch_size=8")), dino=dino)
        self.assertEqual(shapes, 2 * [(8, 224, 224, 3)] + 8 * [(8, 96, 96, 3)])

    def test_records(self):
        names, _ = self.play(
            "records",
            (('"IMAGES", "SHARDS"', '"IMAGES/train", "NEW"'),),
            jpeg=self.photographs[0].read_bytes(), y=3, x=5, height=16, width=20,
            print=lambda *_: None)
        self.assertEqual(len(names.records), 520)
        self.assertEqual(infeed.records.open("x.tfrecord").parse(0)[
            "image/class/label"], [3])
        self.assertEqual(names.report.bad, [])
        self.assertEqual(set(names.report.records), {"train", "validation"})
        self.assertEqual(sum(names.report.records.values()), 520)

    def test_folders(self):
        names, _ = self.play("folders")
        self.assertEqual(len(names.train), 2)
        self.assertEqual(len(names.train.index.class_names), 10)

    def test_formats(self):
        os.mkdir("tars")
        for part in range(2):
            with tarfile.open(f"tars/train-{part:06}.tar", "w") as tar:
                for number, path in enumerate(self.photographs[part::2]):
                    for ending, data in ((".jpg", path.read_bytes()),
                                         (".cls", b"%d" % (number % 7)),
                                         (".txt", b"words")):
                        info = tarfile.TarInfo(f"{number:06}{ending}")
                        info.size = len(data)
                        tar.addfile(info, io.BytesIO(data))
        with zipfile.ZipFile("photos.zip", "w") as photos:
            for path in self.photographs:
                photos.write(path, path.relative_to("IMAGES/train"))
        os.makedirs("tfds/imagenet2012")
        with infeed.records.Writer("tfds/imagenet2012/imagenet2012-train."
                                   "tfrecord-00000-of-00001") as writer:
            for number, path in enumerate(self.photographs):
                writer.write_example({"image": path.read_bytes(),
                                      "label": number % 7})
        converted = []
        loaders = []

        def load(*data, **options):
            loaders.append(infeed.Loader(*data, **options))
            return loaders[-1]
        self.play("formats", (("{000000..001023}", "{000000..000001}"),),
                  infeed=types.SimpleNamespace(
                      Loader=load, convert=lambda *paths: converted.append(paths)))
        batches = len(self.photographs) // 256
        self.assertEqual([len(made) for made in loaders], 3 * [batches])
        batch = next(iter(loaders[0]))
        self.assertEqual(batch["txt"][0], [b"words"] * 256)
        for made in loaders[0], loaders[2]:
            labels = set(next(iter(made)).labels.tolist())
            self.assertEqual(labels, set(range(7)))
        self.assertEqual(converted, [("hf/imagenet", "SHARDS")])

    @needs("pyarrow")
    def test_parquet(self):
        import pyarrow
        import pyarrow.parquet
        os.makedirs("hf/imagenet")
        rows = [{"image": {"bytes": path.read_bytes(), "path": path.name},
                 "label": number % 7}
                for number, path in enumerate(self.photographs[:20])]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows),
                                    "hf/imagenet/train-00000-of-00001.parquet")
        report = infeed.convert("hf/imagenet", "FROM_PARQUET")
        self.assertEqual(sum(report.records.values()), 20)


if __name__ == "__main__":
    unittest.main()
