"""One case: its folder, its random numbers, and what its programs did."""

import hashlib
import os
import pathlib
import random
import shlex
import shutil

import limits
import trees

# docs/troubleshooting.md; 130 and 143 only follow a second signal.
CODES = {0, 1, 2, 3, 4, 5, 75}
# Signs of an error that nobody thought of.
SIGNS = ["terminate called", "what():", "c10::", "c10Error", "check failed",
         "Exception raised from", "std::", "libpng warning", "libpng error:",
         "[ WARN:", "[ERROR:", "OpenCV(", "Assertion", "basic_string",
         "vector::", "bad_alloc", "double free", "corrupted size",
         "stack smashing"]
MOST_OUTPUT = 64 << 20
KEPT_OUTPUT = 20_000


class Case:
    """Programs may write below `work` alone; each case has a fresh one."""

    def __init__(self, part, number, seed, inputs, out):
        self.part = part
        self.number = number
        self.inputs = inputs
        key = hashlib.sha256(f"{seed}/{part}/{number}".encode()).digest()
        self.random = random.Random(key)
        self.out = out
        self.folder = out / "cases" / f"{part}-{number}"
        self.work = self.folder / "work"
        self.elsewhere = self.folder / "elsewhere"
        self.faults = []
        self.was_refused = False
        self.commands = []
        shutil.rmtree(self.folder, ignore_errors=True)
        for path in (self.work, self.elsewhere / "home", self.folder / "logs"):
            path.mkdir(parents=True)
        self._protected = {}
        self.protect(self.elsewhere)

    def fail(self, kind, text):
        self.faults.append((kind, text))

    def protect(self, path):
        """A file or folder that has to be as it is when the case ends."""
        self._protected[path] = trees.fingerprint(path)

    def environment(self, more=None):
        """Of a user who has nothing but what the case gives."""
        home = self.elsewhere / "home"
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                "HOME": str(home), "XDG_CACHE_HOME": str(self.work / "cache"),
                "TMPDIR": str(self.work), "LANG": "C.UTF-8",
                "OMP_NUM_THREADS": "1", **(more or {})}

    def command(self, program, words):
        return [str(self.inputs.programs / program), *map(str, words)]

    def run(self, program, *words, env=None, seconds=None, memory=None,
            codes=CODES):
        """Runs a program to its end and judges it. Returns an Ended."""
        command = self.command(program, words)
        # Relative to nothing: a case's files move when it fails.
        shown = shlex.join(command)
        if env:
            shown = " ".join(f"{name}={shlex.quote(value)}"
                             for name, value in env.items()) + " " + shown
        self.commands.append(shown)
        log = self.folder / "logs" / str(len(self.commands))
        limit = limits.of(program, seconds, memory)
        ended = limits.run(command, self.environment(env), self.elsewhere, log,
                           limit)
        self.judge(program, ended, limit, codes)
        return ended

    def judge(self, program, ended, limit, codes=CODES):
        name = " ".join([program, *ended.words[1:2]])
        if ended.is_late:
            self.fail("hung", f"{name}: over {limit.seconds:.0f} s")
            return
        if ended.code < 0:
            self.fail("crashed", f"{name}: signal {-ended.code}: {ended.tail}")
        elif ended.code not in codes:
            self.fail("crashed", f"{name}: exit code {ended.code}: "
                                 f"{ended.tail}")
        for sign in SIGNS:
            if sign in ended.errors:
                self.fail("crashed", f"{name}: says '{sign}': {ended.tail}")
                break
        if ended.bytes_of_output > MOST_OUTPUT:
            self.fail("too much memory",
                      f"{name}: {ended.bytes_of_output >> 20} MiB of output")
        if ended.peak_bytes > limit.memory or "out of memory" in ended.errors:
            self.fail("too much memory", f"{name}: {ended.peak_bytes >> 20} "
                                         f"MiB: {ended.tail}")
        if ended.code != 0:
            self.was_refused = True
        if ended.code > 0:
            if not ended.errors.strip() and not ended.output.strip():
                self.fail("crashed", f"{name}: exit code {ended.code} without "
                                     f"a word")

    def expect(self, condition, text):
        """For what a program has to have kept."""
        if not condition:
            self.fail("lost", text)

    def check_surroundings(self):
        for path, before in self._protected.items():
            change = trees.first_change(before, trees.fingerprint(path))
            if change:
                self.fail("lost", f"changed: {path}: {change}")
        inside = {entry.name for entry in self.folder.iterdir()}
        for name in inside - {"work", "elsewhere", "logs"}:
            self.fail("lost", f"written outside of its folders: {name}")

    def keep(self):
        kept = self.out / "failed" / f"{self.part}-{self.number}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"# {kind}: {text}" for kind, text in self.faults]
        (self.folder / "commands").write_text(
            "\n".join(lines + self.commands) + "\n")
        self.folder.rename(kept)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def pick(self, choices):
        """One of several functions, called."""
        return self.random.choice(choices)(self)

    def copy(self, source, name=None):
        """A copy of a good input, to be damaged."""
        target = self.work / (name or pathlib.Path(source).name)
        if pathlib.Path(source).is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
        return target
