#!/usr/bin/env python3
"""Tests `corpora`, with scripts for fuzz targets."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CORPORA = pathlib.Path(__file__).parent / "corpora"
DIFFERENCE = "x.cc:1: check failed: both decoders do the same"
# Prints each name as replay_main.cc does, and ends at what cannot be.
TARGET = '''#!/bin/sh
for file; do
  echo "$file"
  case "$file" in
    *bad*) echo broken >&2; exit 70 ;;
    *unlike*) echo "{difference}" >&2; exit 71 ;;
  esac
done
echo replayed $# inputs
'''


class CorporaTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("files/a/one", "files/.git/bad"):
            self.file(name)
        target = self.file("programs/some_fuzz", TARGET.format(
            difference=DIFFERENCE))
        target.chmod(0o755)

    def file(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def replay(self, *flags):
        return subprocess.run(
            [sys.executable, CORPORA, self.root / "files", "--programs",
             self.root / "programs", *flags],
            capture_output=True, text=True, check=False)

    def test_good_files_are_counted(self):
        self.file("files/large", "x" * ((1 << 20) + 1))
        done = self.replay()
        self.assertEqual(done.returncode, 0)
        self.assertIn("1 targets, 1 files (1 over 1 MiB are left out), 0 crashes,"
                      " 0 differences", done.stdout)

    def test_files_after_a_bad_one_are_replayed(self):
        for name in ("bad1", "bad2", "good", "unlike"):
            self.file(f"files/b/{name}")
        done = self.replay()
        self.assertEqual(done.returncode, 1)
        self.assertIn("some_fuzz: 5 files, 2 crashes, 1 differences",
                      done.stdout)
        self.assertIn(f"{self.root}/files/b/bad2\n    broken (exit code 70)",
                      done.stdout)

    def test_a_target_that_is_not_there_is_an_error(self):
        done = self.replay("--targets", "other_fuzz")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such fuzz target", done.stderr)


if __name__ == "__main__":
    unittest.main()
