"""A program that runs on a host, and the data that programs use."""

import signal
import subprocess
import time

from launchers import Unavailable

LIMIT_SECONDS = 600


class Failed(Exception):
    """What was not as it should be."""


class Program:
    def __init__(self, host, command, environment, log):
        self.host = host
        self.name = log.stem
        self.was_killed = False
        self._start = time.monotonic()
        self._end = None
        self._log = log
        self._errors = log.with_suffix(".errors")
        with open(log, "wb") as output, open(self._errors, "wb") as errors:
            # nsenter becomes the program, so signals reach it.
            self._process = subprocess.Popen(
                host.command([str(word) for word in command]),
                env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=errors, start_new_session=True)

    def send(self, number):
        self._process.send_signal(number)

    def kill(self):
        self.was_killed = True
        self._process.kill()
        self._process.wait()

    def runs(self):
        return self._process.poll() is None

    def wait(self, seconds=LIMIT_SECONDS):
        """Its exit code."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} still runs after {seconds} s"
                         ) from None
        self._end = self._end or time.monotonic()
        return code

    def seconds(self):
        """From its start until wait() saw its end."""
        return self._end - self._start

    def stop(self):
        """Ends it by SIGTERM, which must give 0."""
        if self.was_killed:
            return
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        code = self.wait(60)
        if code != 0:
            raise Failed(f"{self.name} ended with exit code {code}, not 0,"
                         f" after SIGTERM:\n{self.text()[-2000:]}")

    def close(self):
        if self.runs():
            self.kill()

    def output(self):
        return self._log.read_text(errors="replace")

    def text(self):
        """stdout and stderr."""
        return self.output() + self._errors.read_text(errors="replace")


def make_data(programs, folder, images):
    """Shards of photographs, unless they are there."""
    shards = folder / "shards"
    if (shards / "dataset.json").exists():
        return shards
    pictures = folder / "images"
    for command in (
            ["make_photographs", "--output", pictures, "--images", images,
             "--classes", 10],
            ["imagenet_to_records", "--raw_data_dir", pictures,
             "--local_scratch_dir", shards]):
        subprocess.run([programs / command[0], *map(str, command[1:])],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return shards


def make_certificates(folder, addresses):
    """An authority and a certificate that it signed, of all these addresses:
    the words of three flags, whose prefix is still to be added."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ",".join(f"IP:{address}" for address in addresses)
    (folder / "names").write_text(f"subjectAltName={names}\n")
    new = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    sign = ["openssl", "x509", "-req", "-days", "2", "-CA", "ca.pem", "-CAkey",
            "ca.key", "-CAcreateserial", "-extfile", "names"]
    for command in (
            [*new, "-x509", "-subj", "/CN=authority", "-keyout", "ca.key",
             "-out", "ca.pem"],
            [*new, "-subj", "/CN=host", "-keyout", "host.key", "-out",
             "host.request"],
            [*sign, "-in", "host.request", "-out", "host.pem"]):
        try:
            subprocess.run(command, cwd=folder, check=True,
                           capture_output=True)
        except FileNotFoundError as error:
            raise Unavailable(str(error)) from error
    return {"tls_cert": folder / "host.pem", "tls_key": folder / "host.key",
            "tls_ca": folder / "ca.pem"}
