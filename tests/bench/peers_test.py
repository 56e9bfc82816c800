#!/usr/bin/env python3
"""Tests what bench/peers makes of measurements, without any of the systems."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import random
import struct
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))

import data_sets  # noqa: E402
import detection  # noqa: E402
import environments  # noqa: E402
import peer  # noqa: E402
import quiet  # noqa: E402
import record_forms  # noqa: E402
import results  # noqa: E402
import systems  # noqa: E402
import tfrecord  # noqa: E402

loader = importlib.machinery.SourceFileLoader(
    "run", str(ROOT / "bench/peers/run"))
program = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("run", loader))
loader.exec_module(program)


def measured(**rates):
    found = results.Results()
    for key, values in rates.items():
        for value in values:
            found.add(key, 1, {"images_per_second": value})
    return found


def row(key):
    return next(row for row in systems.ROWS if row.key == key)


class ResultsTest(unittest.TestCase):
    def test_medians_and_spread(self):
        found = measured(tpu=[90, 100, 130], spdl=[1, 3])
        self.assertEqual(found.median("tpu", 1), 100)
        self.assertAlmostEqual(found.spread("tpu", 1), 0.4)
        self.assertEqual(found.median("spdl", 1), 2)
        self.assertIsNone(found.median("tpu", 2))
        self.assertIsNone(found.spread("tpu", 2))

    def test_the_table_has_the_same_columns_for_every_row(self):
        found = measured(tpu=[1234.4, 1500])
        found.add("tpu", 2, {"images_per_second": 3000,
                             "cpu_seconds_per_1000": 1})
        lines = results.tables([row("tpu"), row("spdl")], [1, 2], found
                              ).splitlines()
        self.assertEqual(lines[0].count("|"), lines[2].count("|"))
        self.assertEqual(lines[1].count("|"), lines[3].count("|"))
        self.assertIn("| 1,367 | 19% | 3,000 | 0% |", lines[2])
        self.assertIn("| – | – |", lines[3])

    def test_records_have_a_table_of_their_own(self):
        found = measured(tpu=[100], texts=[5000])
        text = results.tables([row("tpu"), row("texts")], [1], found)
        images, records = text.split("\n\n")
        self.assertIn("images/s, 1 core", images)
        self.assertIn("records/s, 1 core", records)
        self.assertNotIn("5,000", images)
        self.assertIn("5,000", records)

    def test_our_rows_name_the_instruction_set_in_use(self):
        found = measured(tpu=[100], spdl=[10])
        found.measures["tpu", 1][0]["simd_target"] = "AVX3_DL"
        lines = results.tables([row("tpu"), row("spdl")], [1], found
                               ).splitlines()
        self.assertTrue(lines[0].endswith("| SIMD target |"))
        self.assertTrue(lines[2].endswith("| AVX3_DL |"))
        self.assertTrue(lines[3].endswith("| – |"))

    def test_goals_compare_medians(self):
        found = measured(tpu=[410], tf_reference=[100], tpu_rows=[560])
        found.add("tpu", 1, {"cpu_seconds_per_1000": 0.5})
        found.add("tf_reference", 1, {"cpu_seconds_per_1000": 1.5})
        text = results.goals([1, 2], found)
        self.assertIn("| reference recipe to tf.data | 1 | 4.10x | 4x | yes "
                      "| 3.00x |", text)
        self.assertIn("| 5.60x | 6x | **no** | – |", text)
        self.assertNotIn("DALI", text)

    def test_versions_are_named_with_their_systems(self):
        found = results.Results()
        found.add("spdl", 1, {"system": "SPDL", "version": "0.8"})
        self.assertEqual(found.version("spdl"), "SPDL 0.8")
        self.assertIsNone(found.version("tpu"))

    def test_goals_of_scaling_and_overhead(self):
        found = measured(tpu=[100])
        found.add("tpu", 2, {"images_per_second": 195, "overhead": 0.04})
        text = results.goals([1, 2], found)
        self.assertIn("| two threads to one, no index | 2 | 1.95x | 1.9x | yes |",
                      text)
        self.assertIn("| 2 | 4.0% | 3% | **no** |", text)

    def test_a_system_that_failed_is_named_once_with_the_first_reason(self):
        found = results.Results()
        found.fail("spdl", "no FFmpeg")
        found.fail("spdl", "later")
        text = results.reasons(systems.ROWS, found)
        self.assertEqual(text, "- SPDL, bilinear: no FFmpeg\n")
        self.assertIn("no FFmpeg", json.dumps(
            results.as_json(systems.ROWS, found)))

    def test_every_goal_is_about_rows_that_are_measured(self):
        keys = {row.key for row in systems.ROWS}
        for goal in results.GOALS:
            self.assertLessEqual({goal.ours, goal.theirs}, keys)


class SystemsTest(unittest.TestCase):
    def test_some_systems_are_chosen_but_ours_always(self):
        groups = {row.group for row in systems.chosen(["dali"])}
        self.assertEqual(groups, {"dali", "decoder", systems.OURS})
        self.assertEqual(systems.chosen([]), systems.ROWS)

    def test_records_are_measured_without_images(self):
        rows = systems.chosen(["records"])
        self.assertEqual({row.unit for row in rows}, {"records/s"})
        self.assertEqual({row.work for row in rows}, {
            "224 ids, a mask, a label", "30 features of all kinds"})
        self.assertEqual([len(form) for form in record_forms.FORMS.values()],
                         [3, 30])
        self.assertEqual({row.unit for row in systems.chosen(["records", "tf"])},
                         {"images/s", "records/s"})

    def test_detection_is_measured_alone_and_needs_no_shards(self):
        rows = systems.chosen(["detection"])
        self.assertEqual({row.group for row in rows}, {"detection"})
        self.assertEqual({row.data for row in rows}, {"raccoon", "coco_like"})
        self.assertNotIn("images/s", {row.unit for row in rows})
        both = systems.chosen(["detection", "records"])
        self.assertEqual({row.group for row in both}, {"detection", "records"})
        self.assertEqual([row.key for row in rows if systems.has_one_thread(row)],
                         [row.key for row in rows if "no worker" in row.system])

    def test_every_system_has_its_program_and_its_environment(self):
        for row in systems.ROWS:
            if systems.is_ours(row) or row.group == "decoder":
                continue
            self.assertIn(row.needs or row.group, environments.NEEDS)
            self.assertTrue((systems.HERE / row.arguments[0]).exists())

    def test_what_ours_does_beside_its_work(self):
        stages = [{"name": name, "busy_seconds": seconds} for name, seconds in
                  (("read", 0.5), ("decode", 6), ("resize", 3))]
        found = systems.of_ours({"peak_rss_bytes": 5, "simd_target": "AVX2",
                                 "runs": [{
            "threads": 2, "elapsed_seconds": 5, "first_batch_seconds": 1,
            "images_per_second": {"median": 7}, "stages": stages,
            "cpu_seconds_per_1000_images": 2}]})
        self.assertEqual(found["images_per_second"], 7)
        self.assertAlmostEqual(found["overhead"], 0.1)

    def test_the_decoder_alone_goes_by_the_mean(self):
        found = systems.of_decoder({"target": "AVX2", "versions": ["x y 1"],
                                    "rows": [{"what": "training window -> RGB"
                                              ", no index",
                                              "theirs_mean_us": 500}]})
        self.assertEqual(found["images_per_second"], 2000)
        self.assertEqual(found["version"], "1")


class EnvironmentsTest(unittest.TestCase):
    def test_what_fails_says_its_last_line(self):
        script = "print('first'); raise SystemExit('the reason')"
        with self.assertRaisesRegex(environments.Unavailable,
                                    "pip: the reason"):
            environments.run([sys.executable, "-c", script], "pip")
        with self.assertRaisesRegex(environments.Unavailable, "No such file"):
            environments.run(["/no/such/program"], "pip")

    def test_nothing_is_installed_where_all_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder, "tf/bin/python")
            python.parent.mkdir(parents=True)
            python.write_text("#!/bin/sh\n[ \"$2\" = 'import spdl.io' ]\n")
            python.chmod(0o755)
            said = []
            made = environments.Environments(folder, said.append)
            self.assertEqual(made.python("spdl"), str(python))
            self.assertEqual(said, [])
            with self.assertRaises(environments.Unavailable):
                made.python("dali")
            self.assertEqual(said, ["dali: pip install nvidia-dali-cuda120"])


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


def example(**features):
    entries = b"".join(
        field(1, field(1, name.replace("__", "/").encode()) + field(2, value))
        for name, value in features.items())
    return field(1, entries)


def record(payload):
    return struct.pack("<QI", len(payload), 0) + payload + bytes(4)


class TfrecordTest(unittest.TestCase):
    def shard(self, *payloads):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "train-00000-of-00001")
        path.write_bytes(b"".join(map(record, payloads)))
        return path

    def test_images_and_labels_are_found_and_read(self):
        images = tfrecord.Images(tfrecord.places([self.shard(
            example(image__encoded=field(1, field(1, b"one")),
                    image__class__label=field(3, field(1, b"\x87\x02"))),
            example(image__class__label=field(3, b"\x08\x05"),
                    image__encoded=field(1, field(1, b"second"))))]))
        self.assertEqual(len(images), 2)
        self.assertEqual(images.read(0), (b"one", 263))
        self.assertEqual(images.read(1), (b"second", 5))

    def test_a_cut_shard_is_an_error(self):
        path = self.shard(example(image__encoded=field(1, field(1, b"one"))))
        path.write_bytes(path.read_bytes()[:-5])
        with self.assertRaisesRegex(tfrecord.Damaged, "at byte 0"):
            tfrecord.places([path])

    def test_shards_with_seek_indexes_do_not_serve(self):
        plain = self.shard(example(image__encoded=b""))
        self.assertEqual(data_sets.checked_shards(plain.parent), [plain])
        indexed = self.shard(example(image__seek_index=b""))
        indexed = indexed.rename(indexed.parent / "train-00000-of-00001")
        with self.assertRaisesRegex(environments.Unavailable, "seek indexes"):
            data_sets.checked_shards(indexed.parent)
        with self.assertRaisesRegex(environments.Unavailable, "no shards"):
            data_sets.checked_shards("/nowhere")


class DataSetsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.shard = self.root / "train-00000-of-00001"
        self.shard.write_bytes(b"bytes")
        self.log = self.root / "log"
        program = self.root / "records"
        program.write_text(f"#!/bin/sh\necho $1 $2 >> {self.log}\n")
        program.chmod(0o755)

    def sets(self):
        return data_sets.DataSets([self.shard], self.root / "work", self.root,
                                  None)

    def test_a_set_is_made_once_and_beside_the_data(self):
        for _ in range(2):
            files = self.sets().files("rows")
            self.assertEqual(files, [self.root / "work/rows" /
                                     self.shard.name])
        self.assertEqual(files[0].read_bytes(), b"bytes")
        self.assertEqual(self.log.read_text(), "index --seek\n")

    def test_other_shards_make_another_set(self):
        self.sets().files("rows")
        self.shard.write_bytes(b"other bytes")
        files = self.sets().files("rows")
        self.assertEqual(files[0].read_bytes(), b"other bytes")
        self.assertEqual(self.log.read_text(), "index --seek\n" * 2)

    def test_a_set_that_cannot_be_made_says_why(self):
        with self.assertRaisesRegex(environments.Unavailable,
                                    "imagenet_to_records"):
            self.sets().files("shorter")


    def test_raccoons_are_left_out_where_they_are_not(self):
        for folder in ("", str(self.root)):
            with mock.patch.dict(os.environ, INFEED_DATA_DIR=folder), \
                    self.assertRaisesRegex(environments.Unavailable,
                                           "INFEED_DATA_DIR has no raccoon.tar"):
                self.sets().files("raccoon")


class DetectionTest(unittest.TestCase):
    def test_the_table_of_boxes_is_read_in_parts_of_the_sides(self):
        boxes = detection.boxes_of_table(
            "filename,width,height,class,xmin,ymin,xmax,ymax\n"
            "a.jpg,200,100,raccoon,20,10,100,50\n"
            "b.jpg,10,10,raccoon,1,2,3,4\n"
            "a.jpg,200,100,raccoon,0,0,200,100\n")
        self.assertEqual(boxes, {"a.jpg": [[0.1, 0.1, 0.5, 0.5], [0, 0, 1, 1]],
                                 "b.jpg": [[0.1, 0.2, 0.3, 0.4]]})

    def test_photographs_of_a_tar_and_of_a_folder_are_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "tree")
            (root / "a").mkdir(parents=True)
            for name in ("a/1.JPEG", "a/2.jpg", "a/2.xml"):
                (root / name).write_text(name)
            with tarfile.open(pathlib.Path(folder, "x.tar"), "w") as tar:
                for path in sorted(root.rglob("*")):
                    tar.add(path, path.relative_to(root), recursive=False)
            found = list(detection.files(root))
            self.assertEqual(found, [("1.JPEG", b"a/1.JPEG"), ("2.jpg", b"a/2.jpg")])
            self.assertEqual(list(detection.files(pathlib.Path(folder, "x.tar"))),
                             found)

    def test_drawn_boxes_are_seven_of_an_image_and_inside(self):
        draw = random.Random(0)
        drawn = [detection.drawn_boxes(draw) for _ in range(2000)]
        self.assertAlmostEqual(sum(map(len, drawn)) / len(drawn), 7, delta=0.5)
        self.assertIn([], drawn)
        for x1, y1, x2, y2 in sum(drawn, []):
            self.assertTrue(0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1)

    def test_records_have_a_list_for_each_side(self):
        made = detection.example(b"jpeg", [[1, 2, 3, 4], [5, 6, 7, 8]])
        self.assertEqual(made["image/object/bbox/xmin"], [1, 5])
        self.assertEqual(made["image/object/bbox/ymax"], [4, 8])
        self.assertEqual(made["image/object/class/label"], [1, 2])
        self.assertEqual(detection.example(b"jpeg", []),
                         {"image/encoded": b"jpeg"})


class CheckTest(unittest.TestCase):
    """Of boxes, before speed is measured."""

    def checked(self, script, prepare=None):
        starter = mock.Mock()
        starter.prepare.side_effect = prepare
        starter.check_command.return_value = [sys.executable, "-c", script]
        rows = [row("tpu"), row("raccoon_tensor"), row("raccoon")]
        with mock.patch.object(program, "say"):
            return program.check_boxes(rows, starter)

    def test_is_of_each_data_set_once(self):
        self.assertEqual(self.checked("print('12 boxes')"),
                         "- raccoon: 12 boxes\n")

    def test_a_box_that_differs_ends_the_run(self):
        with self.assertRaisesRegex(SystemExit, "raccoon: .*: record 3 differs"):
            self.checked("raise SystemExit('record 3 differs')")

    def test_a_set_that_is_not_there_is_named(self):
        self.assertEqual(
            self.checked("", environments.Unavailable("no raccoon.tar")),
            "- raccoon: boxes were not compared: no raccoon.tar\n")


class QuietTest(unittest.TestCase):
    def test_idle_time_is_not_busy_and_what_the_host_takes_is(self):
        stat = "cpu  100 20 30 9000 800 4 5 60 7 8\ncpu0 1 2 3\n"
        self.assertEqual(quiet.busy_seconds(stat), 2.19)

    def test_own_work_is_not_that_of_others(self):
        watch = quiet.Watch()
        now = iter([(0.0, 50.0, 7.0), (10.0, 62.0, 17.0)])
        watch._now = lambda: next(now)
        with watch:
            pass
        self.assertEqual(watch.cores, [0.2])
        self.assertIn("NOT quiet: other programs used 0.20 cores",
                      watch.text())

    def test_one_disturbed_measurement_shows(self):
        watch = quiet.Watch()
        watch.cores = [0.01, 0.02, 0.05]
        self.assertIn("was quiet:", watch.text())
        watch.cores.append(1.5)
        self.assertIn("quiet at most times", watch.text())
        self.assertIn("at most 1.50", watch.text())

    def test_reads_this_machine(self):
        watch = quiet.Watch()
        with watch:
            sum(range(10000))
        self.assertEqual(len(watch.cores), 1)


class PeerTest(unittest.TestCase):
    def test_time_and_memory_of_the_process_are_known(self):
        self.assertGreater(peer.cpu_seconds(), 0)
        self.assertGreater(peer.peak_rss_bytes(), 1 << 20)


if __name__ == "__main__":
    unittest.main()
