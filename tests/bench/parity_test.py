#!/usr/bin/env python3
"""Tests what bench/parity makes of measurements; it measures nothing."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/parity"))

import cifar  # noqa: E402
import step  # noqa: E402


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


class StepTest(unittest.TestCase):
    RATES = {"train_resnet": [10, 30, 60], "torch": [10, 20, 20]}

    def test_the_ratio_is_the_median_of_the_rounds_ratios(self):
        self.assertEqual(step.ratio(self.RATES), 1.5)
        self.assertEqual(step.row("a", self.RATES), "| a | 30.0 | 20.0 | 1.50 |")

    def test_a_row_without_a_twin_has_no_ratio(self):
        self.assertEqual(
            step.row("a", {"train_resnet": [1, 2, 3], "torch": []}),
            "| a | 2.0 | | |")

    def test_the_side_that_begins_changes(self):
        order = []
        step.by_turns("python", lambda: order.append("ours"),
                      lambda: order.append("twin"))
        self.assertEqual(order[:4], ["ours", "twin", "twin", "ours"])


if __name__ == "__main__":
    unittest.main()
