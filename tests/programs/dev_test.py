#!/usr/bin/env python3
"""Checks what ./dev makes of a build folder that is there already, with a CMake
that only notes what it is asked for."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = '''#!/bin/sh
echo "$@" >>"$LOG"
case "$1" in --build) exit ;; esac
mkdir -p build/release
touch build/release/build.ninja
echo "INFEED_PREFIX_PATH:INTERNAL=$CMAKE_PREFIX_PATH" >build/release/CMakeCache.txt
'''


class DevTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("dev", "packages.txt"):
            shutil.copy(ROOT / name, self.root)
        cmake = self.root / "bin/cmake"
        cmake.parent.mkdir()
        cmake.write_text(CMAKE)
        cmake.chmod(0o755)

    def asked(self, prefixes=None):
        """What `./dev build` asks CMake for, and says."""
        log = self.root / "log"
        log.write_text("")
        environment = {**os.environ, "LOG": str(log), "INFEED_PACKAGES": "conda",
                       "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        environment.pop("CMAKE_PREFIX_PATH", None)
        if prefixes is not None:
            environment["CMAKE_PREFIX_PATH"] = prefixes
        done = subprocess.run([self.root / "dev", "build"], check=True,
                              env=environment, capture_output=True, text=True)
        return log.read_text().splitlines(), done.stderr

    def test_a_folder_is_configured_once(self):
        self.assertEqual(len(self.asked()[0]), 2)
        lines, said = self.asked()
        self.assertEqual(len(lines), 1)
        self.assertNotIn("anew", said)

    def test_another_prefix_path_configures_anew(self):
        self.asked()
        for prefixes in ("/wheel", "/wheel:/other", None):
            lines, said = self.asked(prefixes)
            self.assertEqual(len(lines), 2, lines)
            self.assertIn("--fresh", lines[0])
            self.assertIn("CMAKE_PREFIX_PATH has changed", said)
            self.assertEqual(len(self.asked(prefixes)[0]), 1)


if __name__ == "__main__":
    unittest.main()
