"""What all ranks do when one of them fails."""

import os
import pathlib
import shutil
import signal
import struct

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


def last_lines(said):
    """What the ranks said of their end."""
    return [line for line in said.splitlines()
            if line.startswith("train_resnet: ")]


def show_error(place, flags, ranks):
    """A bad record of one rank's part ends it, and with it all others."""
    shutil.copytree(place.out / "records", place.out / "damaged")
    damage(next((place.out / "damaged").glob("train-*")), BAD_RECORD)
    words = ["damaged" if flag == "records" else flag for flag in flags]
    words[words.index("torch")] = "none"  # record k is rank (k mod ranks)'s
    place.run("train_resnet", *words, "--on_bad_record", "fail",
              "--local_ranks", ranks, exit_code=3)
    said = last_lines(place.said)
    rank = BAD_RECORD % ranks
    own = [line for line in said if f"rank {rank}: " in line]
    others = [line for line in said if f"rank {rank} failed: " in line]
    place.check("an error of one rank ends all and names it, exit code 3 (bad data)",
                own and others, f"rank {rank}")
    place.show("### Failing ranks", "", f"Record {BAD_RECORD}, which rank {rank} "
               "reads, is damaged; `--on_bad_record fail`:", "", "```", *own[:1],
               *others[:1], "```")


def children(process):
    path = pathlib.Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in path.read_text().split()]


class Killer:
    """Kills a rank, as a machine without memory would, once all train."""

    def __init__(self, metrics):
        self._metrics = metrics
        self._done = False

    def look(self):
        if self._done or not self._metrics.exists():
            return
        if '"event":"train"' in self._metrics.read_text(encoding="utf-8"):
            (launcher,) = children(os.getpid())
            os.kill(children(launcher)[KILLED_RANK], signal.SIGKILL)
            self._done = True


def show_kill(place, flags, ranks):
    killer = Killer(place.out / "killed/metrics.jsonl")
    place.run("train_resnet", *flags, "--mode", "train", "--local_ranks",
              ranks, exit_code=1, look=killer.look)
    said = last_lines(place.said)
    place.check("a killed rank ends all and is named, exit code 1 "
                "(the guide's: 17)",
                all(any(f"rank {KILLED_RANK} {end}" in line for line in said)
                    for end in ("was ended by signal 9",
                                "ended without an error message")),
                f"rank {KILLED_RANK}")
    place.show("", f"Rank {KILLED_RANK} killed by `kill -9`; exit code 1:", "",
               "```", *said[:3], "```", "",
               f"There are {len(said)} lines; each names the rank.")


def show(place, failing, killed, ranks):
    show_error(place, failing, ranks)
    show_kill(place, killed, ranks)
