"""Strangers at the port where a training's ranks meet."""

import shlex
import socket
import threading
import time

import jobs
import limits

SHORT_CASES = 2
LENGTHS = [0, 1, 0xFFFF, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 64) - 1]


def words_of_stranger(random):
    return random.choice([
        b"", b"\0", b"\r\n" * 3, b"GET ", b"GET /metrics HTTP/1.1\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50,
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"GET /../../../etc/passwd HTTP/1.0\r\n\r\n", random.randbytes(3000),
        b"\x16\x03\x01" + random.randbytes(200),
        *(length.to_bytes(8, order) + random.randbytes(20)
          for length in LENGTHS for order in ("little", "big")),
        *(length.to_bytes(4, "little") + b"hello"
          for length in LENGTHS if length < 1 << 32)])


class Strangers:
    """Come to a port again and again while the training runs."""

    def __init__(self, random, port):
        self.random = random
        self.port = port
        self.end = threading.Event()
        self.open = []
        self.visits = 0
        self.thread = threading.Thread(target=self.come, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()
        for one in self.open:
            one.close()

    def come(self):
        while not self.end.wait(self.random.choice([0.001, 0.01, 0.05])):
            try:
                one = socket.create_connection(("127.0.0.1", self.port), 1)
                self.visits += 1
                one.settimeout(0.2)
                one.sendall(words_of_stranger(self.random))
            except OSError:
                continue
            if self.random.random() < 0.4 and len(self.open) < 100:
                self.open.append(one)  # And says nothing more.
            else:
                one.close()


def ranks(case, words):
    """Two by hand: the port is known before either listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    both = [[*words, "--rank", rank, "--world_size", 2, "--local_rank", rank,
             "--local_world_size", 2, "--master_port", port]
            for rank in (0, 1)]
    with Strangers(case.random, port), Training(case, both[0]) as first:
        # Strangers come first.
        time.sleep(case.random.choice([0, 0.5, 1]))
        with Training(case, both[1]) as second:
            first.judge()
            second.judge()


class Training:
    """One that runs; ended on exit where it goes on."""

    def __init__(self, case, words):
        self.case = case
        command = case.command("train_resnet", words)
        case.commands.append(shlex.join(command) + "  # and strangers")
        self.log = case.folder / "logs" / str(len(case.commands))
        self.limit = limits.of("train_resnet")
        self.process = limits.start(command, case.environment(),
                                    case.elsewhere, self.log, self.limit)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            limits.stop(self.process)
            self.process.wait()

    def judge(self):
        ended = limits.wait(self.process, self.log, self.limit)
        self.case.judge("train_resnet", ended, self.limit)
        self.case.expect(ended.code == 0,
                         f"strangers ended a training: {ended.tail}")


def run(case):
    case.protect(case.inputs.data)
    job = next(one for one in jobs.all_of(case.inputs) if one.name == "train")
    ranks(case, job.command(case.work / "out"))
