"""Processes of a life: they are started, looked at while they run, ended; and
the model directory that they leave."""

import array
import dataclasses
import functools
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import time

import work

TICK_SECONDS = 0.02
TENSORS = ["model.safetensors", "optim.safetensors"]
TAIL_BYTES = 8192


@dataclasses.dataclass(frozen=True)
class Ended:
    code: int          # negative: the signal that ended it
    lines: list        # on stderr
    out: str           # stdout

    @property
    def last(self):
        return self.lines[-1] if self.lines else ""


def limit_files(size):
    """A write beyond it fails, and does not kill the program."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class Process:
    """A program that runs; its own children end with it."""

    def __init__(self, words, log, environment, largest_file=None):
        """log: a path without its ending, for .out and .log. largest_file:
        bytes, beyond which a write fails."""
        self.name = pathlib.Path(words[0]).name
        self.paths = [log.with_name(f"{log.name}.{kind}")
                      for kind in ("out", "log")]
        words = [str(word) for word in words]
        work.say("$ " + " ".join(words))
        prepare = largest_file and functools.partial(limit_files, largest_file)
        out, errors = self.paths
        with open(out, "wb") as stdout, open(errors, "wb") as stderr:
            self.child = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                env=environment, process_group=0, preexec_fn=prepare)

    @property
    def pid(self):
        return self.child.pid

    def send(self, number):
        self.child.send_signal(number)

    def is_running(self):
        return self.child.poll() is None

    def kill(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # It and its children have ended.
        self.child.wait()

    def end(self, deadline, watch=lambda process: None):
        """Waits for its end; calls watch(self) meanwhile. Raises NotRun where
        it still runs at the deadline."""
        try:
            while self.is_running():
                if time.monotonic() > deadline:
                    raise work.NotRun(f"{self.name} still ran when the part's "
                                      "time was over")
                watch(self)
                time.sleep(TICK_SECONDS)
        finally:
            self.kill()
        out, errors = (path.read_text(errors="replace") for path in self.paths)
        return Ended(self.child.returncode, errors.strip().splitlines(), out)


class SignalAt:
    """A watch that sends a signal, once, when this life has made a step."""

    def __init__(self, model, step, number):
        self.model, self.step, self.number = model, step, number
        self.begin = model.size()
        self.is_sent = False

    def __call__(self, process):
        if not self.is_sent and self.model.newest_step(
                self.begin) >= self.step:
            process.send(self.number)
            self.is_sent = True


class Model:
    """A model directory."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def size(self):
        """Bytes of metrics.jsonl."""
        path = self.path / "metrics.jsonl"
        return path.stat().st_size if path.exists() else 0

    def newest_step(self, begin=0):
        """Of the last whole line of metrics.jsonl after so many bytes, of which
        the first line may be cut; 0: there is none."""
        end = self.size()
        if end <= begin:
            return 0
        with open(self.path / "metrics.jsonl", "rb") as file:
            file.seek(max(begin, end - TAIL_BYTES))
            whole = file.read().split(b"\n")[1:-1]
        return json.loads(whole[-1])["step"] if whole else 0

    def events(self, kind):
        """A killed run may leave a line that is not whole."""
        found = []
        for line in (self.path / "metrics.jsonl").read_text(
                encoding="utf-8").splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if event["event"] == kind:
                found.append(event)
        return found

    def losses(self):
        """(step, loss) of all lives."""
        return [(event["step"], event["loss"])
                for event in self.events("train")]

    def loops_of_last_life(self):
        start = self.events("start")[-1]["time"]
        return [loop for loop in self.events("loop") if loop["time"] > start]

    def count(self, kind):
        return len(self.events(kind)) if self.size() else 0

    def names(self):
        return os.listdir(self.path)

    def checkpoints(self):
        """The steps of the complete ones."""
        return sorted(int(path.parent.name.split("-")[1]) for path in
                      self.path.glob("checkpoint-*/MANIFEST"))

    def folder(self, step):
        return self.path / f"checkpoint-{step:08}"

    def best(self):
        """best.json; an empty one where there is none."""
        path = self.path / "best.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def tensors(self, step):
        """The files of a checkpoint; None where it is not there."""
        folder = self.folder(step)
        if not (folder / "MANIFEST").exists():
            return None
        return {name: (folder / name).read_bytes() for name in TENSORS}

    def sums(self, step):
        """Of all numbers of each file: not finite if one of them is not, since
        floats cannot add up to more than a double holds."""
        return [(name, sum_of(content))
                for name, content in (self.tensors(step) or {}).items()]


def sum_of(safetensors):
    """Of a file of float32 and of integers of a multiple of four bytes, of
    which only the former count."""
    size, = struct.unpack_from("<Q", safetensors)
    total = 0.0
    for name, entry in json.loads(safetensors[8:8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + size + at for at in entry["data_offsets"])
            values = array.array("f")
            values.frombytes(safetensors[begin:end])
            total += sum(values)
    return total


def held_mib(pid):
    """What /proc tells of a process's memory, in MiB; None: it has ended."""
    try:
        text = pathlib.Path("/proc", str(pid), "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = dict(line.split(":", 1) for line in text.splitlines())
    if "VmRSS" not in fields:
        return None
    return {name: int(fields[name].split()[0]) / 1024
            for name in ("VmRSS", "VmLck", "VmPin")}


def device_mib():
    """Memory of the first card in use, by all programs."""
    done = subprocess.run(
        ["nvidia-smi", "--query-gpu=memory.used",
         "--format=csv,noheader,nounits"],
        capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[0])
