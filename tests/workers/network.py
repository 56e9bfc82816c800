"""Hosts that are network namespaces, each with a cable to one switch.

All of it is made in namespaces of this program, which end with it: nothing can
stay behind, and nobody's network is touched."""

import json
import os
import signal
import subprocess
import sys

from launchers import Unavailable
from wire import Wire

PREFIX = "198.51.100"  # TEST-NET-2
MARK = "INFEED_IN_NAMESPACES"


def run_in_namespaces(command):
    """Runs the command in namespaces of its own: mounts, processes and the
    network. Returns its exit code. Raises Unavailable."""
    unshare = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]),
               "--mount", "--net", "--pid", "--fork", "--kill-child",
               "--mount-proc", "--"]
    try:
        subprocess.run([*unshare, "true"], check=True, capture_output=True,
                       text=True)
    except FileNotFoundError as error:
        raise Unavailable(f"no network namespaces here: {error}") from error
    except subprocess.CalledProcessError as error:
        raise Unavailable("no network namespaces here: "
                          f"{error.stderr.strip()}") from error
    # call() kills what it waits for if this is raised, and so all processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return subprocess.call([*unshare, *command], env={**os.environ, MARK: "1"})


def is_in_namespaces():
    return MARK in os.environ


def run(*words):
    try:
        done = subprocess.run(words, capture_output=True, text=True,
                              check=False)
    except FileNotFoundError as error:
        raise Unavailable(str(error)) from error
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def make_switch():
    """Once, in the namespaces: this program is at the switch, as host 254."""
    run("mount", "-t", "tmpfs", "tmpfs", "/run")  # Has the hosts' names.
    os.mkdir("/run/netns")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "switch", "type", "bridge")
    run("ip", "address", "add", f"{PREFIX}.254/24", "dev", "switch")
    run("ip", "link", "set", "switch", "up")


class Host:
    """Gone on close()."""

    def __init__(self, name, number):
        self.name = name
        self.address = f"{PREFIX}.{number}"
        self._port = f"port-{name}"
        self._wire = None
        run("ip", "netns", "add", name)
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "link", "add", self._port, "type", "veth",
            "peer", "name", "cable", "netns", name)
        self._connect()

    def _connect(self):
        run("ip", "-n", self.name, "address", "add", f"{self.address}/24",
            "dev", "cable")
        run("ip", "-n", self.name, "link", "set", "cable", "up")
        run("ip", "link", "set", self._port, "master", "switch")
        self.restore()

    def close(self):
        if self._wire:
            self._wire.close()
        # The port would otherwise stay until the kernel has time for it.
        subprocess.run(["ip", "link", "delete", self._port], check=False,
                       capture_output=True)
        subprocess.run(["ip", "netns", "delete", self.name], check=False,
                       capture_output=True)

    def command(self, command):
        """To be run on this host."""
        return ["nsenter", f"--net=/run/netns/{self.name}", *command]

    def cut(self):
        run("ip", "link", "set", self._port, "down")

    def restore(self):
        run("ip", "link", "set", self._port, "up")

    def shape(self, *discipline):
        """What the host sends goes through this of tc's queueing disciplines.
        Raises Unavailable if the kernel does not have it."""
        run("tc", "-n", self.name, "qdisc", "add", "dev", "cable", "root",
            *discipline)

    def worsen(self, delay=0.0, loss=0.0):
        """What the host sends arrives so many seconds later, or, this share of
        the packets, never. Returns by what means. Raises Unavailable."""
        try:
            self.shape("netem", "delay", f"{1000 * delay}ms", "loss",
                       f"{100 * loss}%", "limit", "100000")
            return "netem"
        except Unavailable:
            run("ip", "link", "delete", self._port)
            far = f"far-{self.name}"
            self._wire = Wire(far, self._port, delay, loss)
            run("ip", "link", "set", far, "netns", self.name, "name", "cable")
            self._connect()
            return "taps, as this kernel has no netem"

    def sent_bytes(self):
        link = json.loads(run("ip", "-json", "-statistics", "link", "show",
                              "dev", self._port))[0]
        return link["stats64"]["rx"]["bytes"]
