"""Figures of streams with workers, in rounds that take turns, so that a change
of the machine's speed affects all of them. Each returns a line of medians."""

import collections
import json
import os
import pathlib
import statistics
import sys

from launchers import Unavailable
from programs import Failed, make_certificates
from scene import PORT, TOKEN, tls_flags, wait_for

TWIN = pathlib.Path(__file__).with_name("twin.py")
SECONDS = 3  # of a stream
ROUNDS = 5
STARTS = 21  # rounds of short streams


def receiving(scene):
    """CPU time of receiving, plain, without checksums and by TLS, and of
    readv; on one core"""
    here, there = two_cores()
    tls = make_certificates(scene.folder / "certificates", ["127.0.0.1"])
    plain = ("--workers", start_pair(scene, PORT, within=on(there)))
    ways = {"plain": plain,
            "unchecked": (*plain, "--verify_checksums=false"),
            "with TLS": ("--workers",
                         start_pair(scene, PORT + 2, tls, within=on(there)),
                         *tls_flags("worker_", tls))}
    costs = collections.defaultdict(list)
    for _ in range(ROUNDS):
        filling = cpu_seconds_of(report_of(scene, within=on(here)))
        costs["filling here"].append(filling)
        for way, flags in ways.items():
            report = report_of(scene, *flags, within=on(here))
            costs[way].append(cost_of_receiving(report, filling))
        twin = scene.program(scene.trainers[0], "readv", *on(here),
                             sys.executable, TWIN, there)
        costs["readv"].append(float(output_of(twin)))
    scene.stop_workers()
    found = {name: statistics.median(all_) for name, all_ in costs.items()}
    shown = ", ".join(f"{name} {cost:.3f}" for name, cost in found.items())
    return (f"CPU s per 1,000 images of 224: {shown}; plain is "
            f"{found['plain'] / found['readv']:.2f} times readv, unchecked "
            f"{found['unchecked'] / found['readv']:.2f}, and filling here "
            f"{found['filling here'] / found['plain']:.1f} times plain")


def one_core(scene):
    """a trainer on one core, two workers on another; their local rates"""
    here, there = two_cores()
    workers = start_pair(scene, PORT, within=on(there))
    rates = collections.defaultdict(list)
    for _ in range(ROUNDS):
        both = [start_stream(scene, f"local_{i}", within=on(there))
                for i in range(2)]
        rates["local"].append(sum(rate_of(finish(scene, one))
                                  for one in both))
        rates["alone"].append(rate_of(report_of(scene, within=on(here))))
        report = report_of(scene, "--workers", workers, within=on(here))
        rates["all"].append(rate_of(report))
        rates["received"].append(rate_of(report) * received_share(report))
    scene.stop_workers()
    found = {name: statistics.median(all_) for name, all_ in rates.items()}
    return (f"images/s: two streams on the workers' core {found['local']:.0f},"
            f" the trainer alone {found['alone']:.0f}, with the workers "
            f"{found['all']:.0f}, {found['received']:.0f} of them received; "
            f"{found['all'] / found['local']:.2f} of the two streams")


def first_batch(scene):
    """time to the first batch: workers there, refusing, silent, not there"""
    scene.start_worker(1)
    scene.start_worker(2, token=TOKEN[::-1])
    scene.program(scene.hosts[3], "silent", sys.executable, "-c",
                  "import socket, time\n"
                  f"held = socket.create_server(('', {PORT}))\n"
                  "time.sleep(3600)")
    ways = {"no workers": (),
            "one that is there": (1,),
            "one that is there, one that refuses": (1, 2),
            "a silent one": (3,),
            "one that is not there": (4,)}
    times = collections.defaultdict(list)
    for _ in range(STARTS):
        for way, numbers in ways.items():
            more = ("--workers", scene.list(*numbers)) if numbers else ()
            report = report_of(scene, *more, seconds=0.1)
            times[way].append(1000 * report["first_batch_seconds"])
    scene.stop_workers()
    found = {way: statistics.median(all_) for way, all_ in times.items()}
    alone = found.pop("no workers")
    shown = ", ".join(f"{way} {time - alone:+.0f}"
                      for way, time in found.items())
    return f"{alone:.0f} ms without workers; ms more with {shown}"


def two_cores():
    """The trainer's, and its workers'."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Unavailable("this machine has one core")
    return cores[:2]


def on(core):
    """A command that runs its arguments there."""
    return "taskset", "--cpu-list", core


def start_pair(scene, port, tls=None, within=()):
    """Two workers of one thread on the trainer's own host; their list."""
    for number in (port, port + 1):
        worker = scene.program(
            scene.trainers[0], f"worker_{number}", *within,
            scene.lab.programs / "input_worker", "--data_dir", scene.lab.data,
            "--listen", f"127.0.0.1:{number}", "--threads", 1,
            *tls_flags("", tls))
        scene.workers[number] = worker
        wait_for(lambda one=worker: "serving" in one.text(), worker)
    return f"127.0.0.1:{port},127.0.0.1:{port + 1}"


def output_of(program):
    if program.wait() != 0:
        raise Failed(program.text()[-2000:])
    return program.output()


def start_stream(scene, name, *flags, seconds=SECONDS, within=()):
    """Of one thread. within: a command that runs its arguments."""
    return scene.program(
        scene.trainers[0], name, *within,
        scene.lab.programs / "pipeline_throughput", "--data_dir",
        scene.lab.data, "--threads", 1, "--layout", "rgb", "--seconds",
        seconds, "--rounds", 1, "--json", scene.folder / f"{name}.json",
        *flags)


def finish(scene, stream):
    """Its report."""
    output_of(stream)
    return json.loads((scene.folder / f"{stream.name}.json").read_text())


def report_of(scene, *flags, **more):
    return finish(scene, start_stream(scene, "stream", *flags, **more))


def rate_of(report):
    return report["images_per_second"]["median"]


def cpu_seconds_of(report):
    """For 1,000 images."""
    return report["cpu_seconds_per_1000_images"]


def received_share(report):
    images = {stage["name"]: stage["items"] for stage in report["stages"]}
    if images.get("receive", 0) == 0:
        raise Failed("the workers delivered nothing")
    return images["receive"] / (images["receive"] + images["read"])


def cost_of_receiving(report, filling):
    """What is left of the process's CPU time without that of the images that
    it filled itself, each as without workers."""
    received = received_share(report)
    return (cpu_seconds_of(report) - filling * (1 - received)) / received
