"""What all ranks do when one of them fails."""

import os
import pathlib
import shutil
import signal
import struct
import subprocess
import time

from place import Wrong, say

BAD_RECORD = 21
KILLED_RANK = 3


def damage(shard, record):
    """Turns a bit over in the middle of a record's payload."""
    data = bytearray(shard.read_bytes())
    start = 0
    for _ in range(record):
        start += 16 + struct.unpack_from("<Q", data, start)[0]
    data[start + 12 + struct.unpack_from("<Q", data, start)[0] // 2] ^= 1
    shard.write_bytes(data)


def last_lines(path, start):
    """Of a log: what ranks said in it of their end, from a byte on."""
    said = path.read_text(encoding="utf-8")[start:].splitlines()
    return [line for line in said if line.startswith("train_resnet: ")]


def show_error(place, flags):
    """A bad record of one rank's part ends it, and with it all others."""
    shutil.copytree(place.out / "records", place.out / "damaged")
    damage(next((place.out / "damaged").glob("train-*")), BAD_RECORD)
    words = ["damaged" if flag == "records" else flag for flag in flags]
    words[words.index("torch")] = "none"  # record k is then rank k mod 8's
    log = place.out / "train_resnet.log"
    start = len(log.read_text(encoding="utf-8"))
    place.run("train_resnet", *words, "--on_bad_record", "fail",
              "--local_ranks", 8, exit_code=3)
    said = last_lines(log, start)
    rank = BAD_RECORD % 8
    place.check("an error of one rank ends all, by name, exit code 3 (bad data)",
                any(f"rank {rank}: " in line for line in said) and
                any(f"rank {rank} failed: " in line for line in said),
                f"rank {rank}")
    shown = [line for line in said if f"rank {rank}: " in line][:1]
    shown += [line for line in said if f"rank {rank} failed" in line][:1]
    place.show("### Failing ranks", "", f"Record {BAD_RECORD} is damaged, and rank {rank}'s; "
               "`--on_bad_record fail`:", "", "```", *shown, "```")


def wait_for_steps(metrics, launcher):
    """Until the ranks train."""
    while '"event":"train"' not in (metrics.read_text(encoding="utf-8")
                                    if metrics.exists() else ""):
        if launcher.poll() is not None:
            raise Wrong(f"the ranks ended with {launcher.returncode}")
        time.sleep(0.1)


def children(process):
    path = pathlib.Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in path.read_text().split()]


def show_kill(place, flags):
    """A rank that is killed, as the memory's end would."""
    words = [str(place.programs / "train_resnet"), *map(str, flags), "--mode",
             "train", "--local_ranks", "8"]
    log = place.out / "killed.log"
    with open(log, "w", encoding="utf-8") as errors, subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=errors, cwd=place.out,
            env=place.environment) as launcher:
        wait_for_steps(place.out / "killed/metrics.jsonl", launcher)
        say(f"$ kill -9 (rank {KILLED_RANK})")
        os.kill(children(launcher.pid)[KILLED_RANK], signal.SIGKILL)
        code = launcher.wait()
    said = last_lines(log, 0)
    place.check("a rank that is killed ends all, by name, exit code 1 "
                "(the guide's: 17)",
                code == 1 and any(f"rank {KILLED_RANK} " in line
                                  for line in said), f"exit code {code}")
    place.show("", f"Rank {KILLED_RANK} killed by `kill -9`; exit code {code}:",
               "", "```", *said[:3], "```", "",
               f"and so on: {len(said)} lines, each with the name.")


def show(place, failing, killed):
    show_error(place, failing)
    show_kill(place, killed)
