"""A bucket of gs:// on this machine: the object server of the tests."""

import pathlib
import subprocess
import sys

from place import ROOT, Wrong

KEY = ("GUIDE", "of-this-machine-alone")
OTHERS = ("GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN",
          "GOOGLE_APPLICATION_CREDENTIALS", "STORAGE_EMULATOR_HOST")


class Bucket:
    """gs://NAME while it is entered, for the programs that the place runs. Its
    objects are the files in `folder`."""

    def __init__(self, place, name):
        self.folder = place.out / "store" / name
        self.folder.mkdir(parents=True)
        self._environment = place.environment
        self._command = [
            sys.executable, str(ROOT / "tests/support/object_server.py"),
            "--root", str(place.out / "store"), "--bucket", f"gs:{name}",
            "--key", ":".join(("gs", *KEY))]

    def __enter__(self):
        self._server = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        greeting = self._server.stdout.readline().split()
        if greeting[:2] != ["listening", "on"]:
            raise Wrong("the object server does not start")
        for name in OTHERS:
            self._environment.pop(name, None)
        self._environment.update(
            GS_ENDPOINT_URL=f"http://127.0.0.1:{greeting[2]}",
            GS_ACCESS_KEY_ID=KEY[0], GS_SECRET_ACCESS_KEY=KEY[1])
        return self

    def __exit__(self, *_):
        self._server.stdin.close()  # It ends then.
        self._server.wait()

    def names(self, folder):
        """The objects in a folder and those in it, sorted."""
        root = self.folder / folder
        return sorted(str(pathlib.PurePosixPath(path.relative_to(root)))
                      for path in root.rglob("*") if path.is_file())
