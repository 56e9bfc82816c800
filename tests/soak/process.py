"""A process that is started, looked at while it runs, and ended."""

import os
import pathlib
import signal
import subprocess
import time

TICK_SECONDS = 0.2
HANGS_AFTER_SECONDS = 420  # A stopped training waits 300 s for its uploads.


def held_by(pid):
    """What a process holds; None: it ends, or has ended."""
    process = pathlib.Path("/proc", str(pid))
    links = []
    try:
        pages = int((process / "statm").read_text().split()[1])
        for entry in os.listdir(process / "fd"):
            try:
                links.append(os.readlink(process / "fd" / entry))
            except FileNotFoundError:
                pass  # It was closed meanwhile.
        threads = len(os.listdir(process / "task"))
    except (OSError, IndexError):
        return None
    sockets = sum(link.startswith("socket:") for link in links)
    return pages and {"mib": pages * os.sysconf("SC_PAGESIZE") / (1 << 20),
                      "files": len(links) - sockets, "sockets": sockets,
                      "threads": threads}


def run(command, environment, log, seconds=None, number=signal.SIGTERM,
        events=(), look=lambda pid: None):
    """Runs a command to its end, or until a signal after so many seconds;
    returns its exit code and its last line on stderr.

    events: (seconds, function) pairs, each called once if it still runs.
    look(pid) is called until the signal. The log, into which stderr goes, may
    be moved away meanwhile.
    """
    start = time.monotonic()
    due = sorted(events, key=lambda event: event[0])
    is_signalled = False
    with open(log, "w+b") as errors:
        process = subprocess.Popen(
            list(map(str, command)), env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors)
        while process.poll() is None:
            time.sleep(TICK_SECONDS)
            age = time.monotonic() - start
            if not is_signalled:
                look(process.pid)
            while due and due[0][0] <= age:
                due.pop(0)[1]()
            if seconds is not None and age >= seconds and not is_signalled:
                process.send_signal(number)
                is_signalled = True
            if seconds is not None and age > seconds + HANGS_AFTER_SECONDS:
                process.kill()
                process.wait()
                return None, "it hangs"
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
        return process.returncode, (lines or [""])[-1]
