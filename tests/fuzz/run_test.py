#!/usr/bin/env python3
"""Tests `run`, with scripts for libFuzzer's programs."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).parent / "run"
# Prints what libFuzzer does, with its own arguments.
TARGET = '''#!/bin/sh
echo "$@"
echo "INFO: Loaded 1 modules   (2000 inline 8-bit counters): 2000 [0x1, 0x2),"
printf '#2\\tINITED cov: 17 ft: 20 corp: 2/9b exec/s: 0 rss: 30Mb\\n'
printf '#4096\\tDONE   cov: 500 ft: 700 corp: 31/2Kb lim: 9 exec/s: 9 rss: 9Mb\\n'
'''


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "tests").mkdir()

    def target(self, name, text):
        path = self.build / "tests" / name
        path.write_text(text)
        path.chmod(0o755)

    def fuzz(self, *flags):
        return subprocess.run(
            [sys.executable, RUN, "--build", self.build, *flags],
            capture_output=True, text=True, check=False)

    def test_coverage_is_of_the_last_line(self):
        self.target("one_fuzz", TARGET)
        done = self.fuzz("7")
        self.assertEqual(done.returncode, 0)
        self.assertIn("-max_total_time=7 ", done.stdout)
        self.assertRegex(done.stdout, r"one_fuzz +0 +4,096 +31 +500 +2,000 +25.0%\n")

    def test_what_was_printed_is_kept(self):
        self.target("one_fuzz", TARGET)
        self.fuzz("7")
        log, = (self.build / "logs").glob("*.log")
        self.assertIn("#4096", log.read_text())
        self.assertIn("25.0%", log.read_text())

    def test_a_target_that_fails_does_not_stop_the_others(self):
        self.target("a_fuzz", "#!/bin/sh\nexit 77\n")
        self.target("b_fuzz", TARGET)
        done = self.fuzz("7")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"a_fuzz .* -  FAILED\nb_fuzz .*25.0%\n")

    def test_a_budget_is_divided_among_the_targets(self):
        for name in "ab":
            self.target(f"{name}_fuzz", TARGET)
        self.assertEqual(self.fuzz("--budget", "24h").stdout.count(
            "-max_total_time=43200 "), 2)
        self.assertIn("give hours", self.fuzz("--budget", "24").stderr)


if __name__ == "__main__":
    unittest.main()
