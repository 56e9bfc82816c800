"""Where the parts work, how they run programs, and what they leave."""

import functools
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The pack's file beside the sources, on the machine to which a pack was copied.
PACKED = ROOT.parent / "pack.json"
NO_CARD = "no card"


class NotRun(Exception):
    """Why something was not measured."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


class Work:
    """The folder of a measurement: build/, data/, models/, results/; chosen is
    a link to programs that were built beforehand, where they are used.

    rehearsed: trainings take few small steps on the CPU. given: a folder of
    programs to run in place of those."""

    def __init__(self, folder, python, seconds=math.inf, rehearsed=False,
                 given=None):
        self.folder = pathlib.Path(folder).resolve()
        self.python = python
        self.rehearsed = rehearsed
        self.given = given and pathlib.Path(given).resolve()
        self.end = time.monotonic() + seconds  # of all parts
        self.deadline = self.end
        self.chosen = self.folder / "chosen"
        for name in ("data", "models", "results"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def begin_part(self, seconds):
        self.deadline = min(time.monotonic() + seconds, self.end)

    @property
    def seconds_left(self):
        """Until the end of all parts."""
        return self.end - time.monotonic()

    @property
    def programs(self):
        return self.given or (self.chosen if self.chosen.exists() else
                              self.folder / "build") / "bin"

    @property
    def tests(self):
        return (self.chosen / "bin" if self.chosen.exists() else
                self.folder / "build/tests")

    def run(self, command, log="last", cwd=None):
        """A command's stdout, which results/LOG.out has as well; its stderr
        goes to results/LOG.log. Raises NotRun where it fails or the part's
        time is over; then nothing that it has started goes on."""
        words = [str(word) for word in command]
        say("$ " + " ".join(words))
        out, errors = (self.folder / "results" / f"{log}.{kind}"
                       for kind in ("out", "log"))
        name = pathlib.Path(words[0]).name
        try:
            code = finished(words, out, errors, cwd,
                            self.deadline - time.monotonic())
        except OSError as error:
            raise NotRun(f"{words[0]}: {error.strerror}") from error
        told, complaint = (path.read_text(errors="replace")
                           for path in (out, errors))
        if code is None:
            raise NotRun(f"{name}: the part's time is over, after the line: "
                         f"{last_line(told.strip() or complaint)}")
        if code != 0:
            raise NotRun(f"{name} ended with {code}: "
                         f"{last_line(complaint.strip() or told)}")
        return told

    def save(self, part, result):
        path = self.folder / "results" / f"{part}.json"
        path.write_text(json.dumps(result, indent=2) + "\n")

    def load(self, part):
        """What a part left; None where it has not run."""
        path = self.folder / "results" / f"{part}.json"
        return json.loads(path.read_text()) if path.exists() else None


def finished(words, out, errors, cwd, seconds):
    """A program's exit code; None where it was stopped after some seconds. Its
    own children are in its process group, and end with it."""
    with (open(out, "wb") as stdout, open(errors, "wb") as stderr,
          subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=stdout,
                           stderr=stderr, cwd=cwd, process_group=0) as child):
        try:
            return child.wait(timeout=max(0, seconds))
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it and its children have ended


@functools.cache
def card():
    """The first NVIDIA card: name, memory, driver. Raises NotRun."""
    query = "name,memory.total,driver_version,compute_cap"
    try:
        done = subprocess.run(
            ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
            capture_output=True, text=True, check=False)
    except OSError as error:
        raise NotRun(NO_CARD) from error
    if done.returncode != 0 or not done.stdout.strip():
        raise NotRun(NO_CARD)
    name, memory, driver, capability = (
        word.strip() for word in done.stdout.splitlines()[0].split(","))
    return {"name": name, "memory": memory, "driver": driver,
            "compute_capability": capability}


def attempt(measure, *arguments):
    """What a measurement gives; {"not_run": why} where it gives nothing."""
    try:
        return measure(*arguments)
    except NotRun as reason:
        return {"not_run": str(reason)}


def cores():
    return len(os.sched_getaffinity(0))
