"""The Python environments of the systems, made where there are none yet."""

import pathlib
import subprocess
import sys
from typing import NamedTuple


class Unavailable(Exception):
    """Why something cannot be measured here."""


class Need(NamedTuple):
    environment: str
    module: str    # installed if this can be imported
    installs: tuple  # arguments of pip install, one after the other


TORCH = Need("torch", "torchvision", (["torch", "torchvision", "pillow"],))
NEEDS = {
    "tf": Need("tf", "tensorflow", (["tensorflow-cpu"],)),
    "dali": Need("tf", "nvidia.dali", (["nvidia-dali-cuda120"],)),
    "tfrecord": Need("tf", "tfrecord", (["tfrecord>=1.14.6"],)),
    "spdl": Need("tf", "spdl.io", (["spdl"],)),
    "torch": TORCH,
    "recipes": TORCH,
    "detection": TORCH,  # with the package of the build folder
    "forms": Need("torch", "webdataset",
                  (["torch", "torchvision", "pillow", "webdataset"],)),
    # The package itself is read from the build folder.
    "python": Need("torch", "torch",
                   (["torch", "torchvision", "pillow"],)),
    # A source package that installs neither its build tools nor its
    # requirements.
    "ffcv": Need("ffcv", "ffcv", (
        ["setuptools", "wheel", "numpy", "torch", "torchvision", "pillow",
         "numba", "opencv-python-headless", "terminaltables", "tqdm", "psutil",
         "fastargs"],
        ["--no-build-isolation", "--no-deps", "ffcv"])),
}


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def run(command, what):
    """Runs a command to its end. Raises Unavailable with its last words."""
    try:
        done = subprocess.run([str(word) for word in command],
                              capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unavailable(f"{what}: {error}") from error
    if done.returncode != 0:
        raise Unavailable(f"{what}: {last_line(done.stderr or done.stdout)}")
    return done.stdout


class Environments:
    """Virtual environments tf, torch and ffcv in a folder, or those of other
    needs."""

    def __init__(self, folder, say, needs=None):
        self.folder = pathlib.Path(folder)
        self.say = say
        self.needs = NEEDS if needs is None else needs
        self.found = {}  # system -> interpreter

    def python(self, system):
        """The interpreter that has the system; installs what is missing.
        Raises Unavailable."""
        if system not in self.found:
            self.found[system] = self.provided(system)
        return self.found[system]

    def provided(self, system):
        need = self.needs[system]
        folder = self.folder / need.environment
        python = folder / "bin/python"
        if not python.exists():
            self.say(f"making the environment {folder}")
            run([sys.executable, "-m", "venv", folder], "venv")
        find = [python, "-c", f"import {need.module}"]
        try:
            run(find, system)
        except Unavailable:
            for packages in need.installs:
                self.say(f"{system}: pip install {' '.join(packages)}")
                run([python, "-m", "pip", "install", "-q", *packages],
                    f"pip install {packages[-1]}")
            run(find, f"import {need.module}")
        return str(python)
