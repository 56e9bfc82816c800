"""Runs the commands of a guide and collects their results."""

import datetime
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOK = 0.05  # seconds between two looks
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


class Wrong(Exception):
    """What did not come out as it should."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def machine():
    """The processor, and how many of its threads are ours."""
    info = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", info, re.MULTILINE)
    name = model.group(1) if model else "unknown processor"
    return f"{name}, {len(os.sched_getaffinity(0))} threads"


def _shorter(row):
    """A row of a table whose longest cell is cut, to at most 120 columns."""
    longest = max(row.split(" | "), key=len)
    kept = longest[:len(longest) - (len(row) - 120) - 4]
    return row.replace(longest, kept.rstrip() + " ...", 1)


def _wrap(line, in_code):
    """A line in lines of at most 120 columns; a picture stays as it is."""
    if len(line) <= 120 or line.startswith("!["):
        return [line]
    if line.startswith("|"):
        return [_shorter(line)]
    further = "    " if in_code else "  " if line.startswith("- ") else ""
    return textwrap.wrap(line, 120, subsequent_indent=further,
                         break_long_words=False, break_on_hyphens=False)


def _wrapped(text):
    """Markdown with lines of at most 120 columns."""
    wrapped, in_code = [], False
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        wrapped += _wrap(line, in_code)
    return "\n".join(wrapped)


def _finish(process, inputs, look):
    """Waits for a process's end; its stdout."""
    try:
        while True:
            try:
                return process.communicate(inputs, LOOK if look else None)[0]
            except subprocess.TimeoutExpired:
                look()
    except BaseException:
        process.kill()
        raise


def _answered(text, answers):
    """The page with its answers: those of its ```sh blocks, by their number,
    in the ```text block below each."""
    numbers = itertools.count()

    def block(found):
        lines = answers.get(next(numbers))
        if lines is None or not found["answer"]:
            return found[0]
        return "\n".join([found["command"], "```text", *lines, "```", ""])
    return re.sub(r"(?P<command>^```sh\n.*?\n```\n)"
                  r"(?P<answer>\n```text\n.*?\n```\n)?",
                  block, text, flags=re.MULTILINE | re.DOTALL)


def _stopper(process, stop_when):
    """A look() that sends one SIGTERM."""
    sent = []

    def look():
        if not sent and stop_when():
            sent.append(signal.SIGTERM)
            process.send_signal(signal.SIGTERM)
    return look


class Place:
    """A guide's folder, emptied, and what came out there.

    data: the folder of real images; None in the short form."""

    def __init__(self, out, programs, data):
        self.out = out.resolve()
        self.programs = programs.resolve()
        self.data = data
        self.environment = dict(os.environ)
        self.said = ""     # by the program that ran last, on stderr
        self._start = time.monotonic()
        self._lines = []   # of the page
        self._answers = {}  # a command's number -> lines of the page
        self._checks = []  # (name, good, found)
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)

    @property
    def short(self):
        return self.data is None

    def run(self, program, *flags, exit_code=0, inputs=None, look=None,
            stop_when=None):
        """Runs one of our programs, by its name, or another, by its path;
        its stdout. What it says on stderr goes to OUT/NAME.log, and into
        `said`. While it runs, look() is called again and again; once
        stop_when() is true, the program gets a SIGTERM."""
        path = self.programs / program
        words = [str(path if path.exists() else program),
                 *(str(flag) for flag in flags)]
        shown = "$ " + shlex.join([pathlib.Path(words[0]).name, *words[1:]])
        say(shown)
        log = self.out / f"{pathlib.Path(words[0]).name}.log"
        with open(log, "a", encoding="utf-8") as errors:
            errors.write(shown + "\n")
            errors.flush()
            start = errors.tell()
            with subprocess.Popen(
                    words, stdout=subprocess.PIPE, stderr=errors,
                    stdin=None if inputs is None else subprocess.PIPE,
                    text=True, cwd=self.out, env=self.environment) as process:
                if stop_when:
                    look = _stopper(process, stop_when)
                printed = _finish(process, inputs, look)
        self.said = log.read_bytes()[start:].decode(errors="replace")
        if process.returncode != exit_code:
            raise Wrong(f"{shown}\nended with {process.returncode}, not "
                        f"{exit_code}:\n{self.said[-2000:]}")
        return printed

    def check(self, name, good, found):
        """Notes whether something came out as it should."""
        self._checks.append((name, bool(good), str(found)))
        say(f"{'ok  ' if good else 'NOT '} {name}: {found}")

    def show(self, *lines):
        """Adds lines of Markdown to what came out."""
        self._lines += lines

    def table(self, *rows):
        """Adds a table; the first row is its head."""
        head, *body = [[str(cell) for cell in row] for row in rows]
        self.show("", *("| " + " | ".join(row) + " |"
                        for row in [head, ["---"] * len(head), *body]), "")

    def plot(self, name, svg):
        """OUT/NAME, which the page shows."""
        (self.out / name).write_text(svg, encoding="utf-8")
        self.show("", f"![{pathlib.Path(name).stem}]({name})", "")

    def answer(self, number, lines):
        """What the page shows below one of its ```sh blocks, from 0."""
        self._answers[number] = lines

    def events(self, model, kind):
        """The lines of MODEL/metrics.jsonl of one event."""
        with open(self.out / model / "metrics.jsonl",
                  encoding="utf-8") as lines:
            parsed = [json.loads(line) for line in lines]
        return [line for line in parsed if line["event"] == kind]

    def all_good(self):
        return bool(self._checks) and all(good for _, good, _ in self._checks)

    def write_summary(self, name):
        took = time.monotonic() - self._start
        rows = [f"| {what} | {found.splitlines()[0] if found else ''} | "
                f"{'yes' if good else 'NO'} |"
                for what, good, found in self._checks]
        self._summary = [
            f"{machine()}; {datetime.date.today()}; "
            f"{'short form, ' if self.short else ''}{took:.0f} s.", "",
            "| check | result | passed |", "|---|---|---|", *rows]
        text = "\n".join([*self._lines, "", *self._summary, ""])
        (self.out / "summary.md").write_text(text, encoding="utf-8")
        print("\n".join([f"{name}: {self._summary[0]}",
                         *self._summary[2:]]), flush=True)

    def record(self, page):
        """Puts what came out between the page's marks, its plots beside it."""
        text = page.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        found = re.sub(r"\]\(([\w-]+\.svg)\)", rf"]({page.stem}-\1)",
                       "\n".join([*self._lines, "", *self._summary]))
        found = _wrapped(re.sub(r"\n{3,}", "\n\n", found.strip()))
        text = f"{before}{BEGIN}\n\n{found}\n\n{END}{after}"
        page.write_text(_answered(text, self._answers), encoding="utf-8")
        for plot in self.out.glob("*.svg"):
            shutil.copyfile(plot, page.with_name(f"{page.stem}-{plot.name}"))
