"""Runs a program within limits of time, memory and output."""

import dataclasses
import os
import resource
import signal
import subprocess
import threading

MOST_FILE_BYTES = 1 << 30
KEPT_BYTES = 1 << 20


@dataclasses.dataclass
class Limit:
    seconds: float
    memory: int  # bytes at most resident
    space: int   # bytes of addresses


def of(program, seconds=None, memory=None):
    """A busy machine is slow: the limit of time is for what never ends."""
    if program in ("train_resnet", "pipeline_throughput"):
        return Limit(seconds or 600, memory or 1536 << 20, 12 << 30)
    return Limit(seconds or 300, memory or 700 << 20, 6 << 30)


@dataclasses.dataclass
class Ended:
    words: list
    code: int  # below 0: the signal
    is_late: bool
    peak_bytes: int
    bytes_of_output: int
    output: str
    errors: str

    @property
    def tail(self):
        return self.errors.strip()[-400:]


def start(command, environment, folder, log, limit):
    """The process, with its outputs in LOG.out and LOG.err."""
    def set_limits():
        resource.setrlimit(resource.RLIMIT_AS, (limit.space, limit.space))
        resource.setrlimit(resource.RLIMIT_FSIZE,
                           (MOST_FILE_BYTES, MOST_FILE_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with open(f"{log}.out", "wb") as output, open(f"{log}.err", "wb") as errors:
        return subprocess.Popen(command, env=environment, cwd=folder,
                                stdin=subprocess.DEVNULL, stdout=output,
                                stderr=errors, start_new_session=True,
                                preexec_fn=set_limits)


def wait(process, log, limit):
    """Waits for the end, or ends it and all that it started."""
    late = threading.Event()

    def end():
        late.set()
        stop(process)

    timer = threading.Timer(limit.seconds, end)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    outputs = [read(f"{log}.{end}") for end in ("out", "err")]
    size = sum(os.path.getsize(f"{log}.{end}") for end in ("out", "err"))
    return Ended(process.args[0:1] + process.args[1:], process.returncode,
                 late.is_set(), usage.ru_maxrss << 10, size, *outputs)


def run(command, environment, folder, log, limit):
    return wait(start(command, environment, folder, log, limit), log, limit)


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def read(path):
    with open(path, "rb") as file:
        return file.read(KEPT_BYTES).decode(errors="replace")
