#!/usr/bin/env python3
"""Checks what cmake/build_version.cmake finds out about a folder.

usage: build_version_test.py CMAKE
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CMAKE = sys.argv.pop()
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake/build_version.cmake"
# Nothing of the user's configuration, and no repository that a hook runs in.
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nowhere",
               "GIT_CONFIG_NOSYSTEM": "1"}


class BuildVersionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.out = self.root / "commit.cc"
        self.source = self.root / "source"
        self.source.mkdir()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b",
                        *words], cwd=self.source, check=True,
                       env=ENVIRONMENT, stdout=subprocess.DEVNULL)

    def commit_file(self):
        self.git("init", "-q")
        (self.source / "file").write_text("1")
        self.git("add", "file")
        self.git("commit", "-qm", "one")

    def found(self, source=None, **environment):
        subprocess.run([CMAKE, "-D", f"SOURCE={source or self.source}", "-D",
                        "VERSION=1.2", "-D", f"OUT={self.out}", "-P", SCRIPT], check=True,
                       env={**ENVIRONMENT, **environment})
        version, commit = re.findall(r'return "(.*)"', self.out.read_text())
        self.assertEqual(version, "1.2")
        return commit

    def test_a_tarball_has_none(self):
        self.assertEqual(self.found(), "unknown")

    def test_a_machine_without_git_has_none(self):
        self.commit_file()
        self.assertEqual(self.found(PATH=str(self.root)), "unknown")

    def test_a_repository_around_it_is_not_it(self):
        self.commit_file()
        (self.source / "unpacked").mkdir()
        self.assertEqual(self.found(self.source / "unpacked"), "unknown")

    def test_a_commit_and_changes_since(self):
        self.commit_file()
        commit = self.found()
        self.assertRegex(commit, "^[0-9a-f]{12}$")
        (self.source / "file").write_text("2")
        self.assertEqual(self.found(), commit + "-dirty")
        self.git("commit", "-qam", "two")
        self.assertNotIn(commit, self.found())

    def test_the_same_commit_compiles_nothing(self):
        self.commit_file()
        self.found()
        os.utime(self.out, (1, 1))
        self.found()
        self.assertEqual(self.out.stat().st_mtime, 1)


if __name__ == "__main__":
    unittest.main()
