#!/usr/bin/env python3
"""Tests tests/install/cuda_headers with a made tree, compilers and pip."""

import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = "tests/install/cuda_headers"

# Rejects sources with the word, and writes how it was called.
COMPILER = """#!/bin/bash
[[ "$*" == *c++-header* ]] || echo "$0 $*" >> "$CALLS"
if grep -q REJECT "${@: -1}"; then
  echo "${@: -1}:1:1: error: REJECT"
  exit 1
fi
grep -h '^ptxas\\|bytes' "${@: -1}" >&2 || true
"""
# The output of ptxas for a kernel.
PTXAS = """ptxas info    : Compiling entry function '{name}' for 'sm_90'
ptxas info    : Function properties for {name}
    {stack} bytes stack frame, {stored} bytes spill stores, 0 bytes spill loads
ptxas info    : Used {registers} registers, used 1 barriers, 4096 bytes smem
"""
# Writes a wheel of its last argument.
PIP = """
import os, sys, zipfile
name, version = sys.argv[-1].split("==")
if version == "0":
    sys.exit("no wheel")
needs = "" if version == "1" else (
    "Requires-Dist: nvidia-nccl-cu13==2.28.9; platform_system == 'Linux'\\n")
folder = sys.argv[sys.argv.index("--dest") + 1]
with zipfile.ZipFile(os.path.join(folder, "a.whl"), "w") as wheel:
    for path in ("torch/include/ATen/ATen.h", "torch/lib/libtorch.so",
                 "nvidia/nccl/include/nccl.h"):
        if path.startswith(name.split("-")[0]):
            wheel.writestr(path, version)
    wheel.writestr("a.dist-info/METADATA", needs)
"""
FILES = {"trainer/cuda/a.cc": "", "trainer/cuda/no_cuda.cc": "REJECT",
         "trainer/kernels/b.cu": "", "trainer/loop/c.cc": "#ifdef INFEED_CUDA",
         "trainer/loop/d.cc": "REJECT", "tests/trainer/cuda/e_test.cc": "",
         "tests/trainer/kernels/f_test.cc":
             '#include "tests/support/cuda_on_cpu.h"\nREJECT'}
COMPILED = ["tests/trainer/cuda/e_test.cc", "trainer/cuda/a.cc",
            "trainer/kernels/b.cu", "trainer/loop/c.cc"]


class CudaHeadersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path, text in FILES.items():
            self.write(f"tree/{path}", text)
        for path in ("cuda/bin/nvcc", "bin/c++"):
            self.write(path, COMPILER).chmod(0o755)
        self.write("modules/pip/__init__.py", "")
        self.write("modules/pip/__main__.py", PIP)
        (self.root / "tree" / SCRIPT).parent.mkdir(parents=True)
        shutil.copy(ROOT / SCRIPT, self.root / "tree" / SCRIPT)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def check(self, *words, path="cuda/bin:{root}/bin"):
        """(exit code, stdout, stderr); the compilers' calls are in calls."""
        self.write("calls", "")
        done = subprocess.run(
            [sys.executable, self.root / "tree" / SCRIPT, *words],
            capture_output=True, check=False, text=True,
            env={"CALLS": str(self.root / "calls"), "PYTHONPATH":
                 str(self.root / "modules"), "PATH": str(self.root) + "/" +
                 path.format(root=self.root) + ":/usr/bin:/bin"})
        return done.returncode, done.stdout, done.stderr

    def calls(self):
        lines = (self.root / "calls").read_text().splitlines()
        tree = f"{self.root}/tree/"
        return {line.split()[-1].removeprefix(tree): line for line in lines}

    def test_compiles_what_a_build_with_cuda_has(self):
        code, out, _ = self.check("9.9")
        self.assertEqual((code, out), (
            0, "4 of 4 sources compile with the headers of PyTorch 9.9\n"
            "0 of 0 kernels keep their values in registers\n"))
        calls = self.calls()
        self.assertEqual(sorted(calls), COMPILED)
        folder = self.root / "tree/build/cuda-headers/9.9"
        for include in (folder / "torch/include", folder / "nvidia/nccl/include",
                        self.root / "cuda/include"):
            self.assertIn(f"-isystem {include} ", calls["trainer/cuda/a.cc"])
        self.assertIn("-fsyntax-only -include ", calls["trainer/cuda/a.cc"])
        self.assertEqual(len(list(folder.iterdir())), 2)
        self.assertIn("/nvcc ", calls["trainer/kernels/b.cu"])

    def test_names_every_source_that_is_rejected(self):
        for path in ("trainer/cuda/a.cc", "trainer/kernels/b.cu"):
            self.write(f"tree/{path}", "REJECT")
        code, out, errors = self.check("9.9")
        self.assertEqual((code, out.splitlines()), (1, [
            "rejected: trainer/cuda/a.cc", "rejected: trainer/kernels/b.cu",
            "2 of 4 sources compile with the headers of PyTorch 9.9",
            "0 of 0 kernels keep their values in registers"]))
        self.assertIn("a.cc:1:1: error: REJECT", errors)

    def test_names_kernels_that_spill_or_need_too_many_registers(self):
        normed = "NormalizeKernelIfLNS0_8ResidualE2E"
        kernels = [("good", 0, 0, 64), ("stack", 8, 0, 20), ("spills", 0, 4, 64),
                   ("many", 0, 0, 65), (normed, 0, 0, 128),
                   (normed + "x", 0, 0, 129)]
        self.write("tree/trainer/kernels/b.cu", "".join(
            PTXAS.format(name=name, stack=stack, stored=stored,
                         registers=registers)
            for name, stack, stored, registers in kernels))
        code, out, _ = self.check("9.9")
        self.assertEqual((code, out.splitlines()[1:]), (1, [
            f"not in registers: {name}: {stack} bytes of stack, {stored} stored "
            f"and 0 loaded by spills, {registers} registers of {most}"
            for name, stack, stored, registers, most in (
                ("stack", 8, 0, 20, 64), ("spills", 0, 4, 64, 64),
                ("many", 0, 0, 65, 64), (normed + "x", 0, 0, 129, 128))] +
            ["2 of 6 kernels keep their values in registers"]))

    def test_fetches_headers_once(self):
        self.check("9.9")
        folder = self.root / "tree/build/cuda-headers"
        self.assertFalse((folder / "9.9/torch/lib").exists())
        self.assertEqual([path.name for path in folder.iterdir()], ["9.9"])
        shutil.rmtree(self.root / "modules")
        self.assertEqual(self.check("9.9")[0], 0)

    def test_what_is_missing_is_one_line(self):
        for version, path, reason in (
                ("0", "cuda/bin", "pip found no wheel of torch==0 for this "
                 "Python"), ("1", "cuda/bin", "torch==1 is not built with CUDA"),
                ("9.9", "bin", "nvcc (12.8 or later) is not in PATH")):
            code, out, errors = self.check(version, path=path)
            self.assertEqual((code, out), (1, ""))
            self.assertEqual(errors.splitlines()[-1],
                             "./dev build cuda --headers: " + reason)
        self.assertEqual(self.check()[0], 2)
        self.assertEqual(self.check("--help")[0], 2)

    def test_no_source_of_the_build_is_forgotten(self):
        found = runpy.run_path(str(ROOT / SCRIPT))["sources"]()
        for folder in ("trainer/cuda", "trainer/kernels"):
            lists = (ROOT / folder / "CMakeLists.txt").read_text()
            names = re.findall(r"\w+\.c[cu]", lists)
            self.assertGreater(len(names), 5)
            for name in set(names) - {"group_none.cc", "no_cuda.cc"}:
                self.assertIn(f"{folder}/{name}", found)


if __name__ == "__main__":
    unittest.main()
