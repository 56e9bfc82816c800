"""The C++ programs that come with the package."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

_VERBS = {"convert": "imagenet_to_records", "records": "records",
          "throughput": "pipeline_throughput"}


def _path(verb: str) -> str:
    """INFEED_PROGRAMS names another folder, as that of a build."""
    folder = os.environ.get("INFEED_PROGRAMS") or str(
        pathlib.Path(__file__).parent / "bin")
    return os.path.join(folder, _VERBS[verb])


def convert(images: str | os.PathLike[str], output: str | os.PathLike[str],
            **flags: object) -> None:
    """Converts images to shards in `output`, as `infeed convert` does.

    Goes on where a conversion was stopped. flags: those of
    `infeed convert --help`, as shards=64, split="0.9/0.1".
    """
    words = [f"--{name}={str(value).lower() if value in (True, False) else value}"
             for name, value in flags.items()]
    subprocess.run([_path("convert"), "--raw_data_dir", os.fspath(images),
                    "--local_scratch_dir", os.fspath(output), *words],
                   check=True)


def main() -> int:
    """The console script: becomes the program that the first word names."""
    verb = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if verb not in _VERBS:
        print("usage: infeed " + "|".join(_VERBS) + " ...\n\n"
              "  convert     images to TFRecord shards\n"
              "  records     looks into shards, verifies, repairs them\n"
              "  throughput  how fast shards become batches, and what bounds it"
              "\n\ninfeed VERB --help says more.")
        return 0 if verb in ("--help", "-h") else 2
    program = _path(verb)
    os.execv(program, [program, *sys.argv[2:]])
