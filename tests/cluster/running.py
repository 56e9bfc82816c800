"""Processes that run together, with a limit."""

import dataclasses
import os
import signal
import subprocess
import time


@dataclasses.dataclass
class Ended:
    exit_code: int
    text: str  # stdout and stderr


class Running:
    """Ends whatever still runs on exit."""

    def __init__(self, processes, logs):
        logs.mkdir(parents=True, exist_ok=True)
        self._logs = [logs / f"{i}.log" for i in range(len(processes))]
        self._started = []
        for process, log in zip(processes, self._logs):
            with open(log, "wb") as output:
                self._started.append(subprocess.Popen(
                    process.command, env=process.environment, stdout=output,
                    stderr=subprocess.STDOUT, start_new_session=True))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._started:
            if process.poll() is None:
                process.terminate()  # A launcher ends what it started.
        for process in self._started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def all_run(self):
        return all(process.poll() is None for process in self._started)

    def wait(self, seconds):
        """The ends of all; raises TimeoutError for one that goes on."""
        end = time.monotonic() + seconds
        for number, process in enumerate(self._started):
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise TimeoutError(f"process {number} still runs after "
                                   f"{seconds} s") from None
        return [Ended(process.returncode, log.read_text(errors="replace"))
                for process, log in zip(self._started, self._logs)]
