#!/usr/bin/env python3
"""Each check of samples holds for a training that is flat, and fails for one
that is not."""

import sys
import unittest

sys.dont_write_bytecode = True
import verdict  # noqa: E402


def samples(**changes):
    """Twelve lives of ten samples in each phase, one of "undisturbed"; changes
    are functions of the sample's number in its phase."""
    found = []
    for phase in verdict.PHASES:
        for i in range(120):
            sample = {"phase": phase, "minute": len(found) / 12,
                      "life": 0 if phase == "undisturbed" else i // 10,
                      "warm": i % 10 > 0, "mib": 200 + i % 3, "files": 9,
                      "sockets": 4, "threads": 5, "kept": 3, "bytes": 1}
            sample.update({name: change(i) for name, change in changes.items()})
            found.append(sample)
    return found


def failed(found):
    return [name for name, *_, good in verdict.of_samples(found, 10, 10)
            if not good]


class VerdictTest(unittest.TestCase):
    def test_a_flat_training_passes(self):
        self.assertEqual(failed(samples()), [])
        # One file more at some moments, and a peak.
        self.assertEqual(failed(samples(files=lambda i: 9 + i % 2)), [])
        self.assertEqual(failed(samples(mib=lambda i: 300 if i == 77 else 200)),
                         [])

    def test_leaks_are_found(self):
        self.assertEqual(failed(samples(mib=lambda i: 200 + i / 5)),
                         [f"memory, {phase}" for phase in verdict.PHASES])
        self.assertEqual(failed(samples(files=lambda i: 9 + i // 60)),
                         [f"files, {phase}" for phase in verdict.PHASES])
        self.assertEqual(failed(samples(threads=lambda i: 5 + i // 60)),
                         ["threads, undisturbed", "threads, disk"])
        self.assertEqual(
            failed(samples(sockets=lambda i: i, threads=lambda i: 11)),
            ["sockets at once", "threads at once"])

    def test_what_was_not_seen_does_not_pass(self):
        self.assertEqual(len(failed(samples(warm=lambda i: False))), 8)

    def test_rows_hold_within_their_bounds_only(self):
        rows = [verdict.most("a", 3, 3), verdict.most("b", 4, 3),
                verdict.least("c", 0, 1), verdict.none("d", ["wrong"])]
        self.assertEqual([row[3] for row in rows], [True, False, False, False])
        self.assertIn("| b | 4 | at most 3 | **no** |", verdict.table(rows))

    def test_the_curve_has_a_line_for_each_life(self):
        self.assertEqual(verdict.svg(samples()).count("<polyline"), 25)


if __name__ == "__main__":
    unittest.main()
