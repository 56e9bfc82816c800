"""Random access, writing, verification, images."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

import numpy as np

import infeed
import support
from infeed import _certificates, _engine


class RecordsTest(unittest.TestCase):
    def test_random_access(self):
        records = infeed.records.open(support.shards(), split="train")
        self.assertEqual(len(records), 200)
        features = records.parse(17)
        self.assertIn(features["image/class/label"][0], range(1, 11))
        self.assertEqual(records[-1], records[199])
        self.assertEqual(records[2:4], [records[2], records[3]])
        with self.assertRaises(IndexError):
            records[200]

    def test_a_damaged_record(self):
        folder = support.damaged(record=7)
        report = infeed.records.verify(folder)
        self.assertEqual(report.records, 200)
        self.assertEqual([bad.record for bad in report.bad], [7])
        with self.assertRaises(infeed.DataError):
            infeed.records.open(folder)[7]

    def test_writes_what_it_reads(self):
        features = {"image/encoded": b"\xff\xd8", "image/class/label": 3,
                    "text": "caf\u00e9", "box": [0.5, 1.0], "ids": [1, 2, 3]}
        with tempfile.TemporaryDirectory() as folder:
            for compression in ("none", "gzip", "zlib"):
                path = os.path.join(folder, compression)
                with infeed.records.Writer(path, compression=compression) as w:
                    w.write_example(features)
                    w.write(b"payload")
                records = infeed.records.open(path)
                self.assertEqual(records.parse(0), {
                    "image/encoded": [b"\xff\xd8"], "image/class/label": [3],
                    "text": ["caf\u00e9".encode()], "box": [0.5, 1.0],
                    "ids": [1, 2, 3]})
                self.assertEqual(records[1], b"payload")

    def test_keys_may_have_any_bytes(self):
        feature = b"\x12\x05\x1a\x03\x0a\x01\x03"  # [3]
        entries = [b"\x0a" + bytes([len(key)]) + key + feature
                   for key in (b"a\xff", b"a\xfe", "\u00e9".encode())]
        features = b"".join(b"\x0a" + bytes([len(entry)]) + entry
                            for entry in entries)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x")
            with infeed.records.Writer(path) as writer:
                writer.write(b"\x0a" + bytes([len(features)]) + features)
            self.assertEqual(infeed.records.open(path).parse(0), {
                "a\\xff": [3], "a\\xfe": [3], "\u00e9": [3]})

    def test_threads_share_a_writer(self):
        wanted = [[b"%d of %d" % (number, thread) for number in range(500)]
                  for thread in range(4)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.tfrecord")
            with (infeed.records.Writer(path) as writer,
                  concurrent.futures.ThreadPoolExecutor(4) as pool):
                def write(payloads):
                    for payload in payloads:
                        writer.write(payload)
                list(pool.map(write, wanted))
            self.assertEqual(sorted(infeed.records.open(path)[:]),
                             sorted(sum(wanted, [])))

    def test_a_writer_is_closed_while_threads_write(self):
        under_way = threading.Event()

        def write(writer, thread):
            written = []
            try:
                for number in range(1_000_000):
                    payload = b"%d of %d" % (number, thread)
                    writer.write(payload)
                    written.append(payload)
                    if number == 100:
                        under_way.set()
            except ValueError as error:
                self.assertIn("the writer is closed", str(error))
            return written
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.tfrecord")
            writer = infeed.records.Writer(path)
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                threads = [pool.submit(write, writer, thread)
                           for thread in range(2)]
                under_way.wait(60)
                writer.close()
            self.assertEqual(
                sorted(infeed.records.open(path)[:]),
                sorted(sum((thread.result() for thread in threads), [])))

    def test_a_folder_or_no_name_is_refused_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in (folder, folder + "/", ""):
                with self.assertRaises(OSError):
                    infeed.records.Writer(path)
            self.assertEqual(os.listdir(folder), [])

    def test_threads_share_records(self):
        records = infeed.records.open(support.shards(), split="train")
        wanted = records[:]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for read in pool.map(lambda _: records[:], range(8)):
                self.assertEqual(read, wanted)

    def test_an_example_is_written_while_a_thread_changes_its_list(self):
        values, over = [], threading.Event()

        def change():
            while not over.is_set():
                values.extend(b"%d" % number for number in range(50))
                values.clear()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.tfrecord")
            with (infeed.records.Writer(path) as writer,
                  concurrent.futures.ThreadPoolExecutor(1) as pool):
                changing = pool.submit(change)
                try:
                    for _ in range(500):
                        writer.write_example({"key": values})
                finally:
                    over.set()
                changing.result()
            records = infeed.records.open(path)
            self.assertEqual(len(records), 500)
            for number in range(500):
                for value in records.parse(number)["key"]:
                    self.assertIn(int(value), range(50))

    def test_a_file_that_is_not_finished_does_not_appear(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.tfrecord")
            with self.assertRaises(RuntimeError):
                with infeed.records.Writer(path) as writer:
                    writer.write(b"payload")
                    raise RuntimeError
            self.assertFalse(os.path.exists(path))


class CommandTest(unittest.TestCase):
    """The console script `infeed`."""

    def run_command(self, *words):
        return subprocess.run(
            [sys.executable, "-c", "import sys; from infeed import programs; "
             "sys.exit(programs.main())", *words], capture_output=True, text=True)

    def test_says_its_version(self):
        done = self.run_command("--version")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, f"infeed {infeed.__version__}\n", ""))

    def test_says_what_was_wrong(self):
        for word, text in (("recs", "unknown command 'recs': did you mean records?"),
                           ("convrt", "did you mean convert?"),
                           ("--verbose", "unknown command '--verbose': give "
                            "convert, records, throughput, worker, --help or "
                            "--version"),
                           ("", "unknown command ''")):
            done = self.run_command(word)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, "^infeed: .*" + re.escape(text))

    def test_becomes_the_programs(self):
        done = self.run_command("records", "count", support.shards())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("250", done.stdout)
        for verb, name in (("convert", "imagenet_to_records"),
                           ("records", "records"),
                           ("throughput", "pipeline_throughput"),
                           ("worker", "input_worker")):
            done = self.run_command(verb, "--no_such_flag")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, f"^{name}: unknown flag")
        self.assertIn("usage: infeed", self.run_command().stdout)


class CertificatesTest(unittest.TestCase):
    def test_certifis_are_used_where_there_are_no_others(self):
        certifi = types.SimpleNamespace(where=lambda: "/certifi.pem")
        for found, expected in (("/some.pem", None), ("", "/certifi.pem")):
            with mock.patch.dict(sys.modules, certifi=certifi), \
                    mock.patch.dict(os.environ), \
                    mock.patch.object(_certificates, "certificate_file",
                                      return_value=found):
                os.environ.pop("SSL_CERT_FILE", None)
                _certificates.use_certifi()
                self.assertEqual(os.environ.get("SSL_CERT_FILE"), expected)

    def test_the_environments_come_first(self):
        with mock.patch.dict(os.environ, SSL_CERT_FILE="/mine.pem"):
            self.assertEqual(_engine.certificate_file(), "/mine.pem")


class ImageTest(unittest.TestCase):
    def setUp(self):
        self.files = sorted(pathlib.Path(support.images(), "train")
                            .rglob("*.*"))
        self.data = self.files[0].read_bytes()

    def test_decodes_windows(self):
        whole = infeed.decode_image(self.data)
        self.assertEqual((whole.dtype, whole.shape[2]), (np.uint8, 3))
        part = infeed.decode_image(self.data, window=(3, 5, 16, 20))
        np.testing.assert_array_equal(part, whole[3:19, 5:25])

    def test_a_bad_image_leaves_the_threads_decoder_usable(self):
        whole = infeed.decode_image(self.data)
        best = infeed.decode_image(self.data, size=20)
        with self.assertRaises(ValueError):
            infeed.decode_image(self.data[:len(self.data) // 2])
        with self.assertRaises(ValueError):
            infeed.decode_image(self.data, window=(0, 0, 1, 1_000_000), size=4)
        np.testing.assert_array_equal(infeed.decode_image(self.data), whole)
        np.testing.assert_array_equal(
            infeed.decode_image(self.data, size=20), best)

    def test_every_instruction_set_has_the_same_pixels(self):
        self.addCleanup(_engine.use_simd_target, "")
        best = infeed.decode_image(self.data, size=20)
        targets = _engine.simd_targets()
        self.assertIn("PORTABLE", targets)
        for target in targets:
            _engine.use_simd_target(target)
            np.testing.assert_array_equal(
                infeed.decode_image(self.data, size=20), best)
        with self.assertRaisesRegex(ValueError, "PORTABLE"):
            _engine.use_simd_target("MMX")

    def test_resizes(self):
        whole = infeed.decode_image(self.data)
        height, width = whole.shape[:2]
        np.testing.assert_array_equal(
            infeed.decode_image(self.data, size=(height, width)), whole)
        part = infeed.decode_image(self.data, window=(3, 5, 16, 16), size=16)
        np.testing.assert_array_equal(part, whole[3:19, 5:21])
        for size, shape in ((8, (8, 8, 3)), ((8, 4), (8, 4, 3)),
                            ((40, 8), (40, 8, 3))):
            image = infeed.decode_image(self.data, window=(3, 5, 16, 16),
                                        size=size)
            self.assertEqual(image.shape, shape)
            self.assertLess(abs(image.mean() - part.mean()), 10)
        for size in (0, -1, (5, 0), 1 << 20):
            with self.assertRaises(ValueError):
                infeed.decode_image(self.data, size=size)

    def test_resizes_by_the_interpolation_that_is_named(self):
        def sampled(image, axis, out):  # two samples, half-pixel centres
            size = image.shape[axis]
            at = np.clip((np.arange(out) + 0.5) * size / out - 0.5, 0, size - 1)
            low = at.astype(int)
            shape = [1, 1, 1]
            shape[axis] = out
            part = (at - low).reshape(shape)
            return (image.take(low, axis) * (1 - part) + part *
                    image.take(np.minimum(low + 1, size - 1), axis))

        whole = infeed.decode_image(self.data)
        found = infeed.decode_image(self.data, size=(9, 13),
                                    interpolation="bilinear")
        true = sampled(sampled(whole.astype(float), 0, 9), 1, 13)
        self.assertLess(np.abs(found - true).max(), 1.5)
        resized = {name: infeed.decode_image(
            self.data, size=(9, 13), interpolation=name).tobytes()
            for name in ("bicubic", "bilinear", "antialias",
                         "antialias_bicubic")}
        self.assertEqual(len(set(resized.values())), 4)
        self.assertEqual(resized["antialias"], infeed.decode_image(
            self.data, size=(9, 13)).tobytes())
        with self.assertRaisesRegex(ValueError, "antialias_bicubic"):
            infeed.decode_image(self.data, size=9, interpolation="area")

    def test_refuses_other_bytes_and_windows(self):
        with self.assertRaises(infeed.DataError):
            infeed.decode_image(b"no image")
        with self.assertRaises(ValueError):
            infeed.decode_image(self.data, window=(0, 0, 1, 1_000_000))

    def test_an_index_of_image_files(self):
        labels = {name: i for i, name in enumerate(sorted(
            {path.parent.name for path in self.files}))}
        index = infeed.Index.of_images(
            (path, labels[path.parent.name]) for path in self.files)
        images = infeed.Loader(index, batch_size=20, training=False,
                               image_size=support.SIZE)
        shards = infeed.Loader(support.shards(), split="train", batch_size=20,
                               training=False, image_size=support.SIZE)
        for mine, theirs in zip(images, shards, strict=True):
            self.assertEqual(sorted(set(mine.labels)),
                             sorted(set(mine.labels) & set(range(10))))
            self.assertEqual(mine.images.shape, theirs.images.shape)
        self.assertEqual(len(index), 200)


if __name__ == "__main__":
    unittest.main()
