"""The trainings of a soak, and what was seen of them."""

import json
import random
import shutil
import signal
import subprocess
import time

import process
import verdict
from store import OUTAGES

KEEP = 3
# The last step of the phase with a store, which waits most of its time, is the
# one that the undisturbed run has done after this part of its own.
EARLY = 0.2
PARAMETERS = (
    "model=lenet,image_size=28,recipe=torchvision,augment_name=randaugment,"
    "precision=float32,train_batch_size=64,num_parallel_calls=2,"
    "learning_rate_schedule=constant,base_learning_rate=0.01,warmup_epochs=0,"
    f"iterations_per_loop=25,steps_per_checkpoint=25,keep_last={KEEP}")
# 16 connections for reading, eight more for the model: each has a socket, and
# libcurl's pair to wake it up; and a thread.
MOST_SOCKETS, MOST_THREADS = 3 * 24, 24 + 16
TENSORS = ["model.safetensors", "optim.safetensors"]


class Soak:
    def __init__(self, given, out, store):
        self.given, self.out, self.store = given, out, store
        self.random = random.Random(given.seed)
        self.samples, self.faults = [], []
        self.counts = dict.fromkeys(
            ["killed", "stopped", "ended by the store", "same bytes",
             "other bytes", "files moved away", "requests failed"], 0)
        self.lives, self.start = 0, time.monotonic()
        self.steps = {}  # the last step of each phase
        self.next_line = self.next_sample = 0
        self.environment = {**store.environment, "HOME": str(out),
                            "XDG_CACHE_HOME": str(out / "cache"),
                            "OMP_NUM_THREADS": "1"}

    def make_data(self):
        for program, *words in (
                ("make_photographs", "--output", self.out / "images",
                 "--images", 200, "--classes", 10),
                ("imagenet_to_records", "--raw_data_dir", self.out / "images",
                 "--local_scratch_dir", self.out / "data", "--shards", 6)):
            subprocess.run([self.given.programs / program, *map(str, words)],
                           check=True, capture_output=True)
        shutil.copytree(self.out / "data", self.out / "store/shards/data")
        self.shards = {path.name: path.read_bytes()
                       for path in (self.out / "data").glob("train-*")}
        self.start = time.monotonic()

    # Places of a phase.

    def model(self, phase):
        """On this disk; of the store's, its mirror."""
        if phase == "store":
            return next((self.out / "scratch").glob("s3*"),
                        self.out / "none") / "model"
        return self.out / phase

    def checkpoints(self, phase):
        return sorted(path for path in self.model(phase).glob("checkpoint-*")
                      if (path / "MANIFEST").exists())

    def command(self, phase):
        steps = self.steps.get(phase, 10 ** 8)
        root = "s3://shards" if phase == "store" else self.out
        return [self.given.programs / "train_resnet", "--mode", "train",
                "--device", "cpu", "--data_dir", f"{root}/data", "--model_dir",
                f"{root}/{phase}", "--local_scratch_dir", self.out / "scratch",
                f"--params_override={PARAMETERS},train_steps={steps}"]

    # While a training runs.

    def look(self, phase, began_with, pid):
        now = time.monotonic() - self.start
        if now >= self.next_line:
            self.next_line = now + 60
            print(self.progress(phase, now), flush=True)
        held = process.held_by(pid) if now >= self.next_sample else None
        if not held:
            return
        self.next_sample = now + min(5, self.given.seconds / 360)
        model, newest = self.model(phase), self.checkpoints(phase)[-1:]
        # After its last step a training closes what it holds.
        is_done = newest and step_of(newest[0]) == self.steps.get(phase)
        self.samples.append({
            "phase": phase, "life": self.lives, "minute": now / 60,
            "warm": newest != began_with and not is_done, **held,
            "kept": len(list(model.glob("checkpoint-*"))),
            "bytes": disk_bytes(model.parent if phase == "store" else model)})

    def progress(self, phase, now):
        newest = self.checkpoints(phase)
        step = step_of(newest[-1]) if newest else 0
        steps = self.steps.get(phase)
        done = now / self.given.seconds
        if steps:
            done = 0.3 + 0.35 * (verdict.PHASES.index(phase) - 1 + step / steps)
        left = now / done - now if now > 5 else self.given.seconds
        memory = self.samples[-1]["mib"] if self.samples else 0
        return (f"{now / 60:5.1f} min  {phase}  step {step}/{steps or '?'}"
                f"  {self.lives} lives  {memory:.0f} MiB  ETA {left / 60:.0f} "
                "min")

    def rotate(self, phase):
        """As logrotate does: the files are moved away while they are open."""
        for path in (self.out / "log", self.model(phase) / "metrics.jsonl"):
            if path.exists():
                path.rename(f"{path}.{self.lives}")
                self.counts["files moved away"] += 1

    def live(self, phase, seconds, number, events=()):
        """One life of a training; whether it reached the last step."""
        self.lives += 1
        began_with = self.checkpoints(phase)[-1:]
        code, line = process.run(
            self.command(phase), self.environment, self.out / "log", seconds,
            number, events, lambda pid: self.look(phase, began_with, pid))
        met = self.store.faults_met()
        self.counts["requests failed"] += met
        if code == -number:  # SIGKILL, or before it handles signals.
            self.counts["killed"] += 1
        elif code == 75 and number == signal.SIGTERM:
            self.counts["stopped"] += 1
        elif code == 1 and met and "s3://" in line:
            self.counts["ended by the store"] += 1
        elif code != 0:
            self.faults.append(f"{phase}, life {self.lives}: code {code}: "
                               f"{line}")
        if code in (0, 75) and len(self.checkpoints(phase)) > KEEP:
            self.faults.append(f"{phase}, life {self.lives}: over {KEEP} "
                               "checkpoints are kept")
        return code == 0

    # Between two lives.

    def put(self, phase, name, data):
        if phase == "store":
            self.store.ask("PUT", f"objects/shards/data/{name}", data)
        else:
            new = self.out / "new shard"
            new.write_bytes(data)
            new.rename(self.out / "data" / name)

    def replace_shard(self, phase):
        name, other = self.random.sample(sorted(self.shards), 2)
        if not self.checkpoints(phase):
            return
        if self.random.random() < 0.6:
            self.put(phase, name, self.shards[name])
            self.counts["same bytes"] += 1
            return
        self.put(phase, name, self.shards[other])
        code, line = process.run(self.command(phase), self.environment,
                                 self.out / "log", 300)
        # On a disk, a size that dataset.json does not have is found first.
        if (code, True) not in ((2, "data_identity" in line), (3, name in line)):
            self.faults.append(f"{phase}: another shard: code {code}: {line}")
        self.put(phase, name, self.shards[name])
        self.counts["other bytes"] += 1

    def disturb(self, phase):
        """Lives until the last step is done."""
        longest = max(20, self.given.seconds / 60)
        limit = time.monotonic() + 3 * self.given.seconds + 120
        while time.monotonic() < limit:
            seconds = self.random.uniform(1, longest)
            at = self.random.uniform(0, seconds)
            more = self.random.uniform(1, 15)
            events = [(at, lambda: self.rotate(phase))]
            if phase == "store":
                rules = self.random.choice(OUTAGES)
                events = [(at, lambda: self.store.fail(rules)),
                          (at + more, lambda: self.store.fail([]))]
            number = self.random.choice([signal.SIGKILL, signal.SIGTERM])
            began_with = self.checkpoints(phase)[-1:]
            done = self.live(phase, seconds, number, events)
            self.store.fail([])
            if done:
                return
            if self.checkpoints(phase)[-1:] == began_with:
                longest *= 1.1  # A busy machine gets on, too.
            if self.random.random() < 0.4:
                self.replace_shard(phase)
        self.faults.append(f"{phase}: did not reach step {self.steps[phase]}")

    def keep_end(self, phase, checkpoint):
        """Sets the last step of a phase, at which it must be as this one."""
        shutil.copytree(checkpoint, self.out / "ends" / phase)
        self.steps[phase] = step_of(checkpoint)

    def keep_early(self):
        newest = self.checkpoints("undisturbed")[-1:]
        if newest:
            self.keep_end("store", newest[0])

    def run(self):
        seconds = 0.3 * self.given.seconds
        self.live("undisturbed", seconds, signal.SIGTERM,
                  [(EARLY * seconds, self.keep_early)])
        newest = self.checkpoints("undisturbed")[-1:]
        if not newest or "store" not in self.steps:
            raise SystemExit(f"soak: no step in the time; {self.faults}")
        self.keep_end("disk", newest[0])
        for phase in verdict.PHASES[1:]:
            self.disturb(phase)

    # Afterwards.

    def last(self, phase):
        name = f"checkpoint-{self.steps[phase]:08}"
        if phase == "store":
            return self.out / "store/shards/store" / name
        return self.model(phase) / name

    def loops(self, phase):
        """The fingerprint of the input after each loop, by its step, of all
        files that metrics.jsonl was moved to; and lines that are damaged."""
        found, damaged = {}, 0
        for path in self.model(phase).glob("metrics.jsonl*"):
            for line in path.read_text().splitlines():
                try:
                    event = json.loads(line)
                except ValueError:
                    damaged += bool(line)
                    continue
                if event["event"] == "loop":
                    found.setdefault(event["step"], set()).add(
                        event.get("input_fingerprint"))
        return found, damaged

    def same_end(self, phase):
        """Whether weights, optimizer and place in the stream are the same."""
        here, there = self.out / "ends" / phase, self.last(phase)
        if not there.exists():
            return False
        states = [json.loads((place / "state.json").read_text())["stream"]
                  for place in (here, there)]
        return states[0] == states[1] and all(
            (here / name).read_bytes() == (there / name).read_bytes()
            for name in TENSORS)

    def checks(self):
        checks = [verdict.none("runs that ended otherwise", self.faults)]
        checks += [verdict.least(name, count, 1)
                   for name, count in self.counts.items()
                   if name != "ended by the store"]
        straight, _ = self.loops("undisturbed")
        one = sum(path.stat().st_size
                  for path in (self.out / "ends/disk").iterdir())
        for phase in verdict.PHASES[1:]:
            checks.append(verdict.none(
                f"other weights or place in the stream, {phase}",
                [] if self.same_end(phase) else
                [f"step {self.steps[phase]}"]))
            loops, damaged = self.loops(phase)
            shared = straight.keys() & loops.keys()
            checks += [
                verdict.least(f"loops of the same step, {phase}", len(shared),
                              1),
                verdict.none(f"other input, {phase}", [
                    f"step {step}" for step in sorted(shared)
                    if straight[step] != loops[step]]),
                verdict.most(f"incomplete lines of metrics, {phase}", damaged,
                             self.counts["killed"])]
        for phase in verdict.PHASES:
            seen = [s for s in self.samples if s["phase"] == phase]
            # One is there before another goes, and a kill leaves one half
            # deleted or written; as many wait for a store.
            most = (KEEP + 2) * (2 if phase == "store" else 1)
            checks += [
                verdict.most(f"checkpoints at once, {phase}",
                             max(s["kept"] for s in seen), KEEP + 1),
                verdict.most(f"bytes of checkpoints, {phase}",
                             max(s["bytes"] for s in seen), most * one)]
        left = json.loads(self.store.ask("GET", "uploads")) + [
            path.name for phase in verdict.PHASES
            for path in self.model(phase).glob(".checkpoint-*")]
        whole = (self.out / "store/shards/store").glob("*/MANIFEST")
        checks += [verdict.none("left behind", left),
                   verdict.most("checkpoints in the store at the end",
                                len(list(whole)), KEEP)]
        return checks + verdict.of_samples(
            self.samples, MOST_SOCKETS, MOST_THREADS)

    def summary(self):
        counts = ", ".join(f"{count} {name}"
                           for name, count in self.counts.items())
        minutes = (time.monotonic() - self.start) / 60
        return (f"{self.steps['disk']} steps twice, {self.steps['store']} of "
                f"them with a store, in {self.lives} lives and {minutes:.0f} "
                f"minutes; {counts}.")


def step_of(checkpoint):
    return int(checkpoint.name.split("-")[1])


def disk_bytes(folder):
    """Of checkpoints below; a file with two names counts once."""
    found = {}
    for path in folder.rglob("*checkpoint-*/*"):
        try:
            status = path.stat()
            found[status.st_ino] = status.st_size
        except OSError:
            pass  # Deleted meanwhile.
    return sum(found.values())
