"""Where the parts work, how they run programs, and what they leave."""

import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# On the machine that a pack was brought to, beside the sources.
PACKED = ROOT.parent / "pack.json"
# What a part may take in all, so that each fits into ten minutes.
PART_SECONDS = 560


class NotRun(Exception):
    """Why something was not measured."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


class Work:
    """The folder of a measurement: build/, data/, models/, results/."""

    def __init__(self, folder, python, part_seconds=PART_SECONDS):
        self.folder = pathlib.Path(folder).resolve()
        self.python = python
        self.part_seconds = part_seconds
        self.begin_part()
        for name in ("data", "models", "results"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def begin_part(self):
        self.deadline = time.monotonic() + self.part_seconds

    @property
    def seconds_left(self):
        return self.deadline - time.monotonic()

    @property
    def programs(self):
        return self.folder / "build/bin"

    def run(self, command, log=None, cwd=None):
        """A command's stdout; its stderr goes to results/LOG. Raises NotRun
        where it fails or the part's time is over."""
        words = [str(word) for word in command]
        say("$ " + " ".join(words))
        errors = self.folder / "results" / (log or "last.log")
        try:
            with open(errors, "w", encoding="utf-8") as file:
                done = subprocess.run(words, stdout=subprocess.PIPE,
                                      stderr=file, text=True, check=False,
                                      cwd=cwd, timeout=max(1, self.seconds_left))
        except subprocess.TimeoutExpired as late:
            raise NotRun(f"{words[0]}: the part's time is over") from late
        except OSError as error:
            raise NotRun(f"{words[0]}: {error.strerror}") from error
        if done.returncode != 0:
            told = last_line(errors.read_text(errors="replace") or done.stdout)
            raise NotRun(f"{pathlib.Path(words[0]).name} ended with "
                         f"{done.returncode}: {told}")
        return done.stdout

    def save(self, part, result):
        path = self.folder / "results" / f"{part}.json"
        path.write_text(json.dumps(result, indent=2) + "\n")

    def load(self, part):
        """What a part left; None where it has not run."""
        path = self.folder / "results" / f"{part}.json"
        return json.loads(path.read_text()) if path.exists() else None


def card():
    """The first NVIDIA card: name, memory, driver. Raises NotRun."""
    query = "name,memory.total,driver_version,compute_cap"
    try:
        done = subprocess.run(
            ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
            capture_output=True, text=True, check=False)
    except OSError as error:
        raise NotRun("no card") from error
    if done.returncode != 0 or not done.stdout.strip():
        raise NotRun("no card")
    name, memory, driver, capability = (
        word.strip() for word in done.stdout.splitlines()[0].split(","))
    return {"name": name, "memory": memory, "driver": driver,
            "compute_capability": capability}


def attempt(measure, *arguments):
    """What a measurement gives; {"not_run": why} where it gives nothing."""
    try:
        return measure(*arguments)
    except NotRun as reason:
        say(f"not run: {reason}")
        return {"not_run": str(reason)}


def cores():
    return len(os.sched_getaffinity(0))
