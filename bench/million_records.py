#!/usr/bin/env python3
"""Measures the program `records` on a set of very many small records.


BIN is the folder with the programs, build/release/bin. Makes a set of RECORDS
records (1,000,000), then indexes, counts, verifies and globally shuffles it,
and prints a table of seconds and peak memory of each, ready for
docs/performance.md. Checks what each verb says of the number of records, and
exits 1 when one says something else.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def run(command):
    """Runs a command: its output, seconds, and peak memory in MiB."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {child.returncode}")
    return output, time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", metavar="BIN", type=pathlib.Path)
    parser.add_argument("records", metavar="RECORDS", type=int, nargs="?",
                        default=1_000_000)
    args = parser.parse_args()
    programs, count = args.programs, args.records
    records = str(programs / "records")
    with tempfile.TemporaryDirectory() as folder:
        made, shuffled = f"{folder}/made", f"{folder}/shuffled"
        steps = [
            ("make", [str(programs / "make_small_records"), "--output", made,
                      "--records", str(count)], f"{count} records"),
            ("count, no index", [records, "count", made], f"total {count}"),
            ("index", [records, "index", made], f"{count} records"),
            ("count, with it", [records, "count", made], f"total {count}"),
            ("verify", [records, "verify", made], f"{count} records"),
            ("reshard", [records, "reshard", made, "--output",
                         f"{folder}/plain", "--shards", "8"], ""),
            ("reshard --shuffle global",
             [records, "reshard", made, "--output", shuffled, "--shards", "8",
              "--shuffle", "global", "--seed", "1"], ""),
            ("verify what was shuffled", [records, "verify", shuffled],
             f"{count} records"),
            ("diff --unordered", [records, "diff", "--unordered", made,
                                  shuffled], ""),
        ]
        print("| step | seconds | records/s | peak MiB |\n|---|---|---|---|")
        for name, command, expected in steps:
            output, seconds, mebibytes = run(command)
            if expected not in output:
                sys.exit(f"{name}: expected '{expected}' in\n{output}")
            print(f"| {name} | {seconds:.2f} | {count / seconds:,.0f} "
                  f"| {mebibytes:.0f} |", flush=True)


if __name__ == "__main__":
    main()
