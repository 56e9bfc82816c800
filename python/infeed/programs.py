"""The C++ programs that come with the package."""

from __future__ import annotations

import contextlib
import difflib
import json
import logging
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

import infeed
from infeed import _arguments, parquet
from infeed._errors import DataError

_log = logging.getLogger("infeed")

# All are in the one file package_programs.
_VERBS = {"convert": "imagenet_to_records", "records": "records",
          "throughput": "pipeline_throughput", "worker": "input_worker"}

# Flags of the converter that are arguments of convert(), and flags with which
# the program only prints.
_ARGUMENTS = {"raw_data_dir": "images", "local_scratch_dir": "output"}
_ONLY_PRINT = ("dry_run", "help", "help_all", "version")


def _program(verb: str) -> list[str]:
    """The words that start it. INFEED_PROGRAMS names another folder, as that of
    a build.
    """
    folder = os.environ.get("INFEED_PROGRAMS") or str(
        pathlib.Path(__file__).parent / "bin")
    return [os.path.join(folder, "package_programs"), _VERBS[verb]]


class Conversion(NamedTuple):
    """What convert() did; all of it is in `output`/.infeed/conversion_report.json."""

    records: dict[str, int]  # of each split
    shards: dict[str, int]
    kept_shards: int         # made by an earlier run
    bad: list[DataError]     # images that were left out
    changed: dict[str, str]  # re-encoded images: path -> reason
    notices: list[str]       # possibly unexpected results, a line each

    def __repr__(self) -> str:
        return (f"Conversion to {sum(self.records.values()):,} records in "
                f"{sum(self.shards.values()):,} shards: {len(self.bad):,} bad "
                f"images, {len(self.changed):,} encoded anew")


def convert(images: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
            | None, output: str | os.PathLike[str], *,
            on_progress: Callable[[int, int], None] | None = None,
            **flags: object) -> Conversion:
    """Converts images to shards in `output`, as `infeed convert` does.

    images: what that takes as --raw_data_dir, such as a folder, tars or a zip, or
    a list of these; None where a flag, as manifest, names all files; or a Parquet
    file, or a folder of them, with the columns image (bytes, or {bytes, path})
    and label, for which pyarrow is needed. Other columns are found if they are
    the only ones, or named by image_key and label_key.

    Goes on where a conversion was stopped: by Ctrl-C, or by an exception of
    on_progress(done, total), which is called every few seconds. flags: those of
    `infeed convert --help`, as shards=64, split="0.9/0.1", overwrite=True; a list
    gives the flag several times: coco=["train.json", "val.json"].
    """
    output = _arguments.path("output", output)
    on_progress = _arguments.function("on_progress", on_progress)
    words = [word for name, value in flags.items()
             for word in _flags(name, value)]
    given = [] if images is None else _arguments.paths(
        "images", images, "a path, a list of paths, or None")
    with _as_images(given, output, words) as data:
        _run([*_program("convert"), *data.folders,
              "--local_scratch_dir", output, *data.words],
             on_progress, data.own_names)
        data.rename_in_reports(pathlib.Path(output))
    newest = max(_reports(pathlib.Path(output)),
                 key=lambda path: path.stat().st_mtime_ns)
    return _read_report(json.loads(newest.read_text()))


def _flags(name: str, value: Any) -> list[str]:
    known = name.replace("-", "_")
    if known in _ARGUMENTS:
        raise TypeError(f"{name} is the argument {_ARGUMENTS[known]}")
    if known in _ONLY_PRINT and value is not False:
        raise ValueError(f"{name} only prints, and converts nothing: "
                         f"`infeed convert --{known}` does that")
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise _arguments.wrong(name, value, "a value, or a list of some")
    return [_flag(name, one) for one in values]


def _flag(name: str, value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return f"--{name}={_arguments.path(name, value)}"
    if isinstance(value, (int, float, np.generic)):
        return f"--{name}={str(value).lower()}"
    raise _arguments.wrong(name, value,
                           "a str, a path, a number, a bool, or a list of them")


class _Input(NamedTuple):
    """What the converter takes: data, or tars of what Parquet files hold."""

    paths: list[str]
    words: list[str]                 # flags
    files: list[pathlib.Path] = []   # Parquet files

    @property
    def folders(self) -> list[str]:
        """The flags that name the paths."""
        return [f"--raw_data_dir={path}" for path in self.paths]

    def own_names(self, text: str) -> str:
        return (parquet.with_own_names(text, self.files, self.paths[0])
                if self.files else text)

    def rename_in_reports(self, output: pathlib.Path) -> None:
        for report in _reports(output) if self.files else ():
            report.write_text(self.own_names(report.read_text()))


@contextlib.contextmanager
def _as_images(data: list[str], output: str | os.PathLike[str],
               words: list[str]) -> Iterator[_Input]:
    files = parquet.files_in(data[0]) if len(data) == 1 else []
    if not files:
        yield _Input(data, words)
        return
    if os.path.isdir(data[0]):
        parquet.require_whole_sets(files)
    keys, rest = _take_keys(words)
    beside = pathlib.Path(output).resolve().parent  # with room for shards
    beside.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".parquet-", dir=beside) as folder:
        parquet.write_tars(files, pathlib.Path(folder), **keys)
        # The folder has a new name in each run: these go on by the files' names.
        source = [*(str(file.resolve()) for file in files),
                  *(f"{name}={value}" for name, value in keys.items())]
        yield _Input([folder], [*rest, f"--source={source}"], files)


def _take_keys(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """The columns that flags name, and the other words."""
    keys = {}
    rest = []
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        key = name.removeprefix("--").replace("-", "_")
        if name.startswith("--") and key in ("image_key", "label_key"):
            keys[key] = value if equals else next(left, "")
        else:
            rest.append(word)
    return keys, rest


def _reports(output: pathlib.Path) -> list[pathlib.Path]:
    """One task of several writes a report of its own."""
    return list((output / ".infeed").glob("conversion_report*.json"))


def _run(words: list[str], on_progress: Callable[[int, int], None] | None,
         own_names: Callable[[str], str]) -> None:
    """Ctrl-C reaches the program once, through us: a second one would end it
    without cleaning up.
    """
    last = ""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace",
                          start_new_session=True) as program:
        assert program.stderr is not None
        try:
            for line in map(str.rstrip, program.stderr):
                progress = re.match(r"(\d+)/(\d+) images", line)
                if progress is None:
                    last = own_names(line)
                    _log.info("%s", last)
                elif on_progress is not None:
                    on_progress(int(progress[1]), int(progress[2]))
        except BaseException:
            program.send_signal(signal.SIGINT)
            program.wait()
            raise
    if program.returncode < 0:
        name = signal.Signals(-program.returncode).name
        raise OSError(f"{_VERBS['convert']} was ended by {name}"
                      + (f"; its last line: {last}" if last else ""))
    if program.returncode != 0:
        message = last.removeprefix(_VERBS["convert"] + ": ")
        # docs/troubleshooting.md
        raise {2: ValueError, 3: DataError}.get(program.returncode,
                                                OSError)(message)


def _read_report(report: dict[str, Any]) -> Conversion:
    return Conversion(
        records={split["name"]: split["records"] for split in report["splits"]},
        shards={split["name"]: split["shards"] for split in report["splits"]},
        kept_shards=report["kept_shards"],
        bad=[DataError(f"{image['path']}: {image['reason']}",
                       path=image["path"], reason=image["reason"])
             for image in report["skipped"]],
        changed={image["path"]: image["reason"]
                 for image in report["reencoded"]},
        notices=["{what}: {count}, such as {example}; {hint}".format(**notice)
                 for notice in report["notices"]])


def main() -> int:
    """The console script: becomes the program that the first word names."""
    verb = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if verb in ("--help", "-h"):
        print("usage: infeed " + "|".join(_VERBS) + " ...\n\n"
              "  convert     images to TFRecord shards; FILE.parquet OUT, too\n"
              "  records     looks into shards, verifies, repairs them\n"
              "  throughput  how fast shards become batches, and what bounds it"
              "\n  worker      fills batches for trainers on other machines"
              "\n\ninfeed VERB --help says more; infeed --version prints the "
              "version.")
        return 0
    if verb == "--version":
        print("infeed", infeed.__version__)
        return 0
    if verb not in _VERBS:
        near = difflib.get_close_matches(verb, _VERBS, 1)
        print(f"infeed: unknown command {_arguments.shown(verb)}: "
              + (f"did you mean {near[0]}?" if near else
                 f"give {', '.join(_VERBS)}, --help or --version"),
              file=sys.stderr)
        return 2
    program = _program(verb)
    words = sys.argv[2:]
    if verb == "convert" and len(words) > 1 and parquet.files_in(words[0]):
        return _convert_parquet(program, words)
    os.execv(program[0], [*program, *words])


def _convert_parquet(program: list[str], words: list[str]) -> int:
    """FILE OUT and flags, with the programs' exit codes."""
    try:
        with _as_images(words[:1], words[1], words[2:]) as data:
            # Ctrl-C reaches the program as well, which ends by itself.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            with subprocess.Popen(
                    [*program, *data.folders, "--local_scratch_dir", words[1],
                     *data.words],
                    stderr=subprocess.PIPE, text=True, errors="replace",
                    preexec_fn=_take_interrupts) as converter:
                assert converter.stderr is not None
                for line in converter.stderr:
                    print(data.own_names(line), end="", file=sys.stderr)
            data.rename_in_reports(pathlib.Path(words[1]))
            return converter.returncode
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (ImportError, ValueError, OSError) as error:
        print(f"infeed convert: {error}", file=sys.stderr)
        # docs/troubleshooting.md
        return (1 if isinstance(error, OSError) else
                3 if isinstance(error, DataError) else 2)


def _take_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
