#!/usr/bin/env python3
"""Whether a case notices what it is there for, with programs that fail so."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import damage  # noqa: E402
import limits  # noqa: E402
import pictures  # noqa: E402
import tfrecord  # noqa: E402
import inputs  # noqa: E402
from case import Case  # noqa: E402


class Programs:
    """One program, a line of shell."""

    def __init__(self, folder):
        self.programs = folder
        self.good = folder / "good"
        self.good.write_text("good")

    def write(self, line):
        path = self.programs / "records"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)


class CaseTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.inputs = Programs(self.folder)

    def faults(self, line, seconds=30):
        """The kinds of faults of a case with this program."""
        self.inputs.write(line)
        case = Case("part", 0, 0, self.inputs, self.folder / "out")
        case.protect(self.inputs.good)
        case.run("records", case.work, seconds=seconds)
        case.check_surroundings()
        return [kind for kind, _ in case.faults]

    def test_documented_ends_are_good(self):
        self.assertEqual(self.faults("exit 0"), [])
        self.assertEqual(self.faults("echo records: no >&2; exit 3"), [])
        self.assertEqual(self.faults("echo x > $1/result"), [])

    def test_crashes_are_found(self):
        self.assertEqual(self.faults("kill -SEGV $$"), ["crashed"])
        self.assertEqual(self.faults("echo records: no >&2; exit 6"),
                         ["crashed"])
        self.assertEqual(self.faults("echo 'what():  x' >&2; exit 1"),
                         ["crashed"])
        self.assertEqual(self.faults("exit 1"), ["crashed"])

    def test_hangs_are_found(self):
        self.assertEqual(self.faults("sleep 100", seconds=0.3), ["hung"])

    def test_memory_is_found(self):
        self.assertEqual(self.faults("echo out of memory >&2; exit 1"),
                         ["too much memory"])
        self.assertEqual(self.faults(
            f"exec {sys.executable} -c 'x = bytearray(900 << 20)'"),
            ["too much memory"])

    def test_losses_are_found(self):
        self.assertEqual(self.faults("echo x > stray"), ["lost"])
        self.assertEqual(self.faults(f"echo x > {self.inputs.good}"), ["lost"])
        self.assertEqual(self.faults("echo x > $1/../stray"), ["lost"])

    def test_a_case_is_the_same_again(self):
        cases = [Case("part", number, 7, self.inputs, self.folder / "out")
                 for number in (3, 3, 4)]
        drawn = [case.random.random() for case in cases]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])


class BytesTest(unittest.TestCase):
    def test_frames_have_the_documented_bytes(self):
        self.assertEqual(tfrecord.frame(b"hello").hex(),
                         "0500000000000000eab2043e68656c6c6fbb1f1c19")
        self.assertEqual(tfrecord.payloads(tfrecord.frame(b"a") * 2),
                         [b"a", b"a"])
        found = [["a", tfrecord.int64_feature(7)],
                 ["b", tfrecord.bytes_feature(b"x")]]
        self.assertEqual(tfrecord.features(tfrecord.example(found)), found)
        self.assertEqual(tfrecord.bytes_in(found[1][1]), b"x")

    def test_damage_changes_bytes(self):
        case = Case("part", 0, 0, None, pathlib.Path(tempfile.mkdtemp()))
        self.addCleanup(case.remove)
        good = bytes(range(256)) * 4
        for way in set(damage.ALL):
            self.assertTrue(any(way(case.random, good) != good
                                for _ in range(20)), way.__name__)
        png = inputs.png(17, 8, 2)
        self.assertTrue(any(pictures.png(case.random, png) != png
                            for _ in range(20)))

    def test_limits_are_of_the_program(self):
        self.assertGreater(limits.of("train_resnet").memory,
                           limits.of("records").memory)


if __name__ == "__main__":
    unittest.main()
