"""How busy other programs, and other guests of the host, keep the machine."""

import pathlib
import resource
import statistics
import time

HERTZ = 100  # of /proc/stat
# Load of other programs, in cores, up to which a measurement counts as quiet.
QUIET = 0.1


def busy_seconds(stat):
    """The CPU time of /proc/stat's first line in which something ran, including
    what the host took away (steal)."""
    user, nice, system, _, _, irq, softirq, steal = (
        int(word) for word in stat.split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / HERTZ


def own_seconds():
    """The CPU time of this process and its children that have ended."""
    return sum(usage.ru_utime + usage.ru_stime for usage in (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN)))


class Watch:
    """Collects, span by span, how many cores others used. own() is the CPU time
    so far of the processes that are measured."""

    def __init__(self, own=own_seconds):
        self.own = own
        self.cores = []

    def __enter__(self):
        self.before = self._now()
        return self

    def __exit__(self, *_):
        elapsed, busy, own = (
            after - before
            for after, before in zip(self._now(), self.before))
        if elapsed > 0:
            self.cores.append(max(0.0, (busy - own) / elapsed))

    def _now(self):
        stat = pathlib.Path("/proc/stat").read_text()
        return time.monotonic(), busy_seconds(stat), self.own()

    def text(self):
        if not self.cores:
            return "Nothing was measured."
        median, most = statistics.median(self.cores), max(self.cores)
        verdict = ("quiet" if most <= QUIET else
                   "quiet at most times" if median <= QUIET else "NOT quiet")
        return (f"The machine was {verdict}: other programs used "
                f"{median:.2f} cores (median of {len(self.cores)} "
                f"measurements), at most {most:.2f}.")
