#!/usr/bin/env python3
"""Tests what bench/parity makes of measurements; it measures nothing."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/parity"))

import cifar  # noqa: E402


def runs(*rates):
    return [{"accuracy": 0.5, "images_per_second": rate} for rate in rates]


class CifarTest(unittest.TestCase):
    def test_the_row_has_the_median_rate(self):
        self.assertIn("| 100.0 |", cifar.row("a", runs(90, 100, 130)))
        self.assertIn("| 95.0 |", cifar.row("a", runs(90, 100)))

    def test_rates_are_compared_by_their_medians(self):
        self.assertTrue(cifar.is_equal({"train_resnet": runs(90, 110),
                                        "torch": runs(80, 120)}))
        self.assertFalse(cifar.is_equal({"train_resnet": runs(80, 110),
                                         "torch": runs(90, 110)}))


if __name__ == "__main__":
    unittest.main()
