"""A stream with workers on hosts of their own, and what is done to them."""

import contextlib
import json
import re
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time

from launchers import clean_environment
from network import Host
from programs import LIMIT_SECONDS, Failed, Program, make_data

PORT = 9410
MEGABYTE = 1_000_000
TOKEN = secrets.token_urlsafe(32)


class Lab:
    """What all parts share: programs, data, and the hashes without workers."""

    def __init__(self, programs, work, data, seconds):
        self.programs = programs
        self.work = work
        self.data = data or self.photographs()
        self._seconds = seconds
        self._rate = 0
        self._hashes = {}  # by batches

    def photographs(self):
        return make_data(self.programs, self.work / "photographs", 400)

    def other_data(self):
        return make_data(self.programs, self.work / "others", 100)

    def batches(self, seconds=None):
        """As many as one thread without workers makes in that time."""
        if not self._rate:
            report = self.work / "rate.json"
            self.throughput("--threads", 1, "--seconds", 2, "--rounds", 1,
                            "--json", report)
            found = json.loads(report.read_text())
            self._rate = (found["images_per_second"]["median"] /
                          found["batch_size"])
        return max(1, round((seconds or self._seconds) * self._rate))

    def hash(self, batches):
        """Of the stream's first batches, without workers."""
        if batches not in self._hashes:
            self._hashes[batches] = self.throughput(
                "--threads", 0, "--hash", batches).strip()
        return self._hashes[batches]

    def throughput(self, *flags):
        done = subprocess.run(
            [self.programs / "pipeline_throughput", "--data_dir", self.data,
             *map(str, flags)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"pipeline_throughput: {done.stderr.strip()}")
        return done.stdout


class Scene:
    """Trainers' and workers' hosts, and the programs on them; all end with the
    with statement."""

    def __init__(self, lab, name, workers):
        self.lab = lab
        self.folder = lab.work / name
        self.trainers = []
        self.hosts = {}  # of workers, by number, from 1
        self.workers = {}
        self.stream = None
        self._size = workers
        self._programs = []
        self._batches = 0

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        with contextlib.ExitStack() as made:
            for i in range(2):
                self.trainers.append(Host(f"trainer-{i}", 1 + i))
                made.callback(self.trainers[i].close)
            for i in range(1, self._size + 1):
                self.hosts[i] = Host(f"worker-{i}", 10 + i)
                made.callback(self.hosts[i].close)
            self._made = made.pop_all()
        return self

    def __exit__(self, *_):
        for program in self._programs:
            program.close()
        self._made.close()

    def program(self, host, name, *command, token=TOKEN, **environment):
        """Starts it on the host; its log has this name."""
        given = clean_environment(**environment)
        given.pop("INFEED_WORKER_TOKEN", None)
        if token is not None:
            given["INFEED_WORKER_TOKEN"] = token
        started = Program(host, command, given, self.folder / f"{name}.log")
        self._programs.append(started)
        return started

    def start_worker(self, number, *flags, data=None, token=TOKEN, tls=None):
        """Starts a worker of one thread; returns when it listens."""
        host = self.hosts[number]
        worker = self.program(
            host, host.name, self.lab.programs / "input_worker", "--data_dir",
            data or self.lab.data, "--listen", f"0.0.0.0:{PORT}", "--threads",
            1, "--name", host.name, *tls_flags("", tls), *flags, token=token)
        self.workers[number] = worker
        wait_for(lambda: listens(host.address), worker)
        return worker

    def start_workers(self, *numbers, **more):
        for number in numbers or self.hosts:
            self.start_worker(number, **more)

    def list(self, *numbers):
        """The workers of these numbers, or all, as --workers has them."""
        return ",".join(f"{self.hosts[number].address}:{PORT}"
                        for number in numbers or self.hosts)

    def start_stream(self, workers=None, batches=None, token=TOKEN, tls=None,
                     within=()):
        """within: a command that runs its arguments."""
        self._batches = batches or self.lab.batches()
        self.lab.hash(self._batches)  # Not while the stream runs.
        self.stream = self.program(
            self.trainers[0], "stream", *within,
            self.lab.programs / "pipeline_throughput", "--data_dir",
            self.lab.data, "--threads", 1, "--hash", self._batches,
            "--workers", workers or self.list(), *tls_flags("worker_", tls),
            token=token)

    def start(self):
        """All workers and the stream, until worker 1 has filled some of it."""
        self.start_workers()
        self.start_stream()
        self.wait_for_slots(1)

    def wait_for_slots(self, number, megabytes=3, program=None):
        """Until the worker has sent so much more to the program (default: the
        stream), which must go on."""
        host = self.hosts[number]
        end = host.sent_bytes() + megabytes * MEGABYTE
        wait_for(lambda: host.sent_bytes() >= end, program or self.stream,
                 f"{host.name} had sent {megabytes} MB more")

    def end_stream(self):
        """Waits for its end, and compares its hash."""
        code = self.stream.wait()
        if code != 0:
            raise Failed(f"the stream ended with exit code {code}:\n"
                         f"{self.stream.text()[-2000:]}")
        found = self.stream.output().strip()
        wanted = self.lab.hash(self._batches)
        if found != wanted:
            raise Failed(f"another hash: {found}, without workers {wanted}")

    def finish(self):
        """Ends the stream and the workers; returns the line about them."""
        self.end_stream()
        self.stop_workers()
        return (f"same hash of {self._batches} batches in "
                f"{self.stream.seconds():.1f} s; {self.counts()}")

    def refused(self, **more):
        """A stream that all its workers refuse must end with 2. Returns what
        it prints last."""
        self.start_stream(**more)
        code = self.stream.wait()
        lines = self.stream.text().strip().splitlines()
        if code != 2:
            raise Failed(f"a refused stream ended with exit code {code}, not "
                         f"2: {lines[-1:]}")
        return lines[-1]

    def stop_workers(self):
        for worker in self.workers.values():
            worker.stop()
        for program in self._programs:
            if TOKEN in program.text():
                raise Failed("a message has the token")

    def megabytes(self, number):
        return self.hosts[number].sent_bytes() / MEGABYTE

    def counts(self):
        """What the workers sent and printed."""
        sent = " ".join(f"{self.megabytes(i):.1f}" for i in self.hosts)
        filled = " ".join(filled_ranges(self.workers.get(i))
                          for i in self.hosts)
        return f"{sent} MB from the workers, which filled {filled} ranges"

    def check_unused(self, number, most=1):
        """A worker that must not have been used."""
        if self.megabytes(number) > most:
            raise Failed(f"worker {number} was used: it sent "
                         f"{self.megabytes(number):.1f} MB")


def tls_flags(prefix, files):
    return [word for flag, file in (files or {}).items()
            for word in (f"--{prefix}{flag}", file)]


def listens(address):
    try:
        socket.create_connection((address, PORT), timeout=1).close()
    except OSError:
        return False
    return True


def wait_for(condition, program, event=None):
    """While the program runs."""
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        if not program.runs():
            what = f"before {event}" if event else "at the start"
            raise Failed(f"a program ended {what}:\n{program.text()[-2000:]}")
        if time.monotonic() > end:
            raise Failed(f"not within {LIMIT_SECONDS} s: {event or 'a start'}")
        time.sleep(0.02)


def filled_ranges(worker):
    """As the worker prints it at its end; "-" for one that was killed."""
    found = re.search(r"filled .* in ([\d,]+) range", worker.text()
                      ) if worker else None
    return found[1] if found else "-"


def noted_counts(report):
    """The totals of a report's workers; empty: it has none."""
    if not report.exists():
        return ""
    workers = json.loads(report.read_text()).get("workers", [])
    return "".join(
        f", {sum(worker.get(key, 0) for worker in workers)} {name}"
        for key, name in (("ranges", "used"), ("failed", "lost"),
                          ("declined", "slots declined"),
                          ("unused", "unused"))) if workers else ""


class Throttle:
    """Lets a program run for a twentieth of the time."""

    def __init__(self, program):
        self._program = program
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _run(self):
        while not self._end.is_set():
            self._program.send(signal.SIGSTOP)
            self._end.wait(0.095)
            self._program.send(signal.SIGCONT)
            time.sleep(0.005)
