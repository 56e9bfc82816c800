"""The tests' object store, which fails when it is told to."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request

SERVER = (pathlib.Path(__file__).resolve().parents[1] /
          "support/object_server.py")
# Rules of object_server_faults.py, one set at a time.
OUTAGES = [[{"fault": "status"}], [{"fault": "reset"}],
           [{"fault": "silence", "seconds": 1}],
           [{"fault": "status", "probability": 0.3},
            {"fault": "reset", "probability": 0.3}]]


class Store:
    """Serves the folder's bucket "shards" while it is entered."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, SERVER, "--root", folder, "--key", "s3:me:secret"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        port = self.process.stdout.readline().split()[-1]
        self.url = f"http://127.0.0.1:{port}"
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("AWS_", "GS_"))}
        self.environment = {**kept, "AWS_ENDPOINT_URL_S3": self.url,
                            "AWS_ACCESS_KEY_ID": "me",
                            "AWS_SECRET_ACCESS_KEY": "secret"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, method, path, body=None):
        request = urllib.request.Request(f"{self.url}/__{path}", body,
                                         method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def fail(self, rules):
        self.ask("POST", "faults", json.dumps({"rules": rules}).encode())

    def faults_met(self):
        """How many requests met a fault since the last call."""
        log = json.loads(self.ask("GET", "log"))
        self.ask("POST", "log")
        return sum(entry["fault"] is not None for entry in log["requests"])
