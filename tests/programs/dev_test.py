#!/usr/bin/env python3
"""Checks what ./dev makes of a build folder that is there already, with a CMake
that only notes what it is asked for; which tests a name finds; and the verbs that
continuous integration names."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
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
        variables = {} if prefixes is None else {"CMAKE_PREFIX_PATH": prefixes}
        done = self.run_dev("build", **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
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

    def run_dev(self, *arguments, **variables):
        environment = {**os.environ, "LOG": str(self.root / "log"),
                       "INFEED_PACKAGES": "conda", "PYTHONDONTWRITEBYTECODE": "1",
                       "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        environment.pop("CMAKE_PREFIX_PATH", None)
        environment.update(variables)
        return subprocess.run([self.root / "dev", *arguments], check=False,
                              env=environment, capture_output=True, text=True)

    def test_help_of_a_verb_prints_its_usage_and_starts_nothing(self):
        for name in ("bench", "tests"):
            (self.root / name).symlink_to(ROOT / name)
        (self.root / "build").mkdir()
        before = {*self.root.rglob("*")}
        verbs = sorted({*re.findall(r"^  ([a-z][\w-]*)",
                                    (ROOT / "dev").read_text().split("TEXT")[1], re.M)})
        self.assertIn("clean", verbs)
        asked = [(verb, flag) for verb in verbs for flag in ("--help", "-h")]
        asked += [("build", "cuda", "--help"), ("test", "wheel", "-h"),
                  ("python", "wheel", "3.12", "--help"), ("bench", "peers", "--help"),
                  ("bench", "decoders", "DIR", "--help"),
                  ("bench", "device", "life", "--cpu", "--help"),
                  ("fuzz", "corpora", "--help"), ("long", "soak", "--help")]
        for arguments in asked:
            with self.subTest(arguments):
                done = self.run_dev(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("usage: ", done.stdout)
                self.assertIn(arguments[0], done.stdout)
                self.assertEqual({*self.root.rglob("*")}, before)

    def test_help_of_a_verb_that_is_not_there_is_an_error(self):
        done = self.run_dev("biuld", "--help")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("unknown verb 'biuld'", done.stderr)


def load_run_named():
    path = str(ROOT / "tests/run_named")
    loader = importlib.machinery.SourceFileLoader("run_named", path)
    spec = importlib.util.spec_from_loader("run_named", loader)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class RunNamedTest(unittest.TestCase):
    """Tests of ./dev test NAME."""

    named = load_run_named()
    tests = list(named.all_tests())
    entries = {"readme": ["infeed_programs"], "walls.sizes": []}

    def found(self, name):
        return self.named.find(name, self.tests, self.entries)

    def suites(self, name):
        return {t.suite for t in self.found(name)[0]}

    def test_every_source_with_tests_is_in_a_program(self):
        listed = {t.source for t in self.tests}
        for path in (ROOT / "tests").rglob("*_test.cc"):
            source = path.relative_to(ROOT / "tests").as_posix()
            self.assertIn(source.removesuffix("_test.cc"), listed)

    def test_a_suites_or_sources_name_or_part_of_it_finds_its_program_only(self):
        for name in ("TfrecordReaderTest", "frecordReaderT",
                     "tfrecord/reader", "records/tfrecord/reader_test.cc"):
            whole, single, others = self.found(name)
            self.assertEqual({t.source for t in whole},
                             {"records/tfrecord/reader"})
            self.assertEqual({t.program for t in whole}, {"records_test"})
            self.assertEqual((single, others), ([], []))

    def test_a_rooms_name_finds_its_suites(self):
        sources = {t.source for t in self.found("pipeline/order")[0]}
        self.assertGreater(len(sources), 4)
        self.assertEqual({s.rsplit("/", 1)[0] for s in sources},
                         {"pipeline/order"})

    def test_a_tests_name_finds_it_alone(self):
        test = self.tests[0]
        self.assertEqual(self.found(f"{test.suite}.{test.name}")[:2],
                         ([], [test]))

    def test_an_entrys_name_or_an_expression_finds_entries(self):
        self.assertEqual(self.found("readme"), ([], [], ["readme"]))
        self.assertEqual(self.found("walls[.]siz"), ([], [], ["walls.sizes"]))

    def test_a_name_of_nothing_gets_near_ones(self):
        self.assertEqual(self.found("TfrecordRaederTest"), ([], [], []))
        self.assertEqual(
            self.named.near("TfrecordRaederTest", self.tests, self.entries)[0],
            "TfrecordReaderTest")


class WorkflowTest(unittest.TestCase):
    def test_the_verbs_it_names_exist(self):
        known = re.findall(r"^  ([a-z][\w-]*)", (ROOT / "dev").read_text(), re.M)
        for page in (".github/workflows/ci.yml", ".ci/run"):
            verbs = re.findall(r"\./dev ([\w-]+)", (ROOT / page).read_text())
            self.assertTrue(verbs)
            self.assertLessEqual({*verbs}, {*known})


if __name__ == "__main__":
    unittest.main()
