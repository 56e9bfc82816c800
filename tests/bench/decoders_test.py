#!/usr/bin/env python3
"""Tests bench/decoders without any of the decoders."""

import pathlib
import random
import statistics
import sys
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
for room in ("peers", "decoders"):
    sys.path.insert(0, str(ROOT / "bench" / room))

import decoders  # noqa: E402
import needs  # noqa: E402
import table  # noqa: E402
import windows  # noqa: E402
import worker  # noqa: E402


def started(name, images):
    return types.SimpleNamespace(name=name, found={
        "version": "1.0", "simd": "AVX2" if name == "infeed" else "–",
        "images": images})


def turns(*seconds):
    return {work: [{"seconds": each, "cpu_seconds": each / 2}
                   for each in seconds] for work in ("whole", "crop")}


class TableTest(unittest.TestCase):
    def setUp(self):
        self.workers = [started("infeed", [[1, 3, 4], [2, 3, 4], [3, 3, 4]]),
                        started("OpenCV", [[1, 3, 4], [7, 3, 4], None])]
        self.rows = table.rows(self.workers, {"infeed": turns(1, 1, 7),
                                              "OpenCV": turns(2.5, 2.5)}, 2)

    def test_files_are_those_that_all_decode(self):
        self.assertEqual(
            table.common([each.found["images"] for each in self.workers]),
            [0, 1])

    def test_rates_are_of_the_median_turn(self):
        self.assertEqual([(row.name, row.whole, row.crop_cpu)
                          for row in self.rows],
                         [("infeed", 2, 4), ("OpenCV", 0.8, 1.6)])

    def test_other_pixels_and_failures_are_counted(self):
        self.assertEqual([(row.same, row.failed) for row in self.rows],
                         [(3, 0), (1, 1)])

    def test_a_decoder_without_a_turn_has_no_row(self):
        rows = table.rows(self.workers, {"infeed": turns(1), "OpenCV": turns()},
                          2)
        self.assertEqual([row.name for row in rows], ["infeed"])
        self.assertNotIn("infeed", table.goals(rows))

    def test_goals_are_ratios_to_the_best_of_the_others(self):
        goals = table.goals(self.rows)
        self.assertIn("| infeed (AVX2), whole | OpenCV | 2.50x | 2x | yes |",
                      goals)
        self.assertIn("| infeed (AVX2), crop | OpenCV | 2.50x | 3x | **no** |",
                      goals)

    def test_antialiased_crops_have_a_line_of_their_own(self):
        self.workers.append(started("Pillow", [[1, 3, 4]] * 3))
        goals = table.goals(table.rows(self.workers, {
            "infeed": turns(1), "OpenCV": turns(2.5), "Pillow": turns(4)}, 2))
        self.assertIn("both antialiased | Pillow | 4.00x | 3x | yes |", goals)

    def test_the_table_has_the_same_columns_for_every_row(self):
        lines = table.markdown(self.rows).splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual(len({line.count("|") for line in lines}), 1)


class WindowsTest(unittest.TestCase):
    def test_are_inside_and_of_the_areas_and_aspects(self):
        draw = random.Random(1)
        parts = []
        for _ in range(3000):
            y, x, height, width = windows.drawn(draw, 375, 500)
            self.assertTrue(0 <= y <= 375 - height and 0 <= x <= 500 - width)
            self.assertTrue(0.74 < width / height < 1.35)
            parts.append(height * width / (375 * 500))
        self.assertTrue(0.079 < min(parts) and max(parts) <= 1)
        self.assertTrue(0.3 < statistics.mean(parts) < 0.6)

    def test_of_a_strip_is_its_middle(self):
        self.assertEqual(windows.drawn(random.Random(1), 10, 3000),
                         (0, 1493, 10, 13))


class WorkerTest(unittest.TestCase):
    def test_what_is_no_rgb_image_cannot_be_decoded(self):
        class Gray:
            ndim, shape = 2, (3, 4)

        def fails(_):
            raise RuntimeError("no JPEG")
        self.assertIsNone(worker.described(lambda _: Gray, b""))
        self.assertIsNone(worker.described(fails, b""))

    def test_a_turn_crops_the_same_windows_for_everyone(self):
        seen = []
        decoder = decoders.Opened(None, lambda *call: seen.append(call), "1")
        order = {"work": "crop", "round": 3, "files": [1]}
        for _ in range(2):
            took = worker.turn(decoder, [b"a", b"b"], [None, (30, 40)], order)
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0][0], b"b")
        self.assertEqual(set(took), {"seconds", "cpu_seconds"})


class DecodersTest(unittest.TestCase):
    def test_what_each_needs_is_listed(self):
        for decoder in decoders.DECODERS:
            self.assertIn(decoder.need, needs.DECODER_NEEDS)
        self.assertEqual(decoders.named("OpenCV").need, "opencv")
        with self.assertRaises(SystemExit):
            decoders.named("none")


if __name__ == "__main__":
    unittest.main()
