"""What has to hold in the lives of a training. Each check is a row: its name,
what was seen, whether that is right; None: it was left out."""

RISE_MIB = 8  # as bench/common/growth.h allows


def row(name, seen, ok):
    return {"check": name, "seen": str(seen), "ok": bool(ok)}


def left_out(name, why):
    return {"check": name, "seen": f"left out: {why}", "ok": None}


def failed(rows):
    return [row["check"] for row in rows if row["ok"] is False]


def ended(name, code, expected, line=""):
    """Whether a program ended as it should; line: its last one on stderr."""
    seen = f"exit code {code}"
    return row(name, seen if code == expected or not line else
               f"{seen}: {line}", code == expected)


def one_line(name, code, lines, words):
    """A failure is one line of the program with one of the words, and 1."""
    own = [line for line in lines if line.startswith("train_resnet: ")]
    fits = len(own) == 1 and lines[-1] == own[0] and any(
        word in own[0] for word in words)
    more = "" if len(own) == 1 else f", {len(own)} lines of the program"
    return row(name, f"exit code {code}{more}: {(lines or ['nothing'])[-1]}",
               code == 1 and fits)


def each_once(name, steps, last):
    """steps: those of the lines of metrics.jsonl, in their order."""
    expected = list(range(1, last + 1))
    if steps == expected:
        return row(name, f"1 to {last}", True)
    wrong = next((i for i, (a, b) in enumerate(zip(steps, expected))
                  if a != b), min(len(steps), last))
    return row(name, f"{len(steps)} lines for {last} steps, of which the first "
               f"{wrong} are right", False)


def kept(found, newest, best, last):
    """found, newest: steps of the checkpoints that are there, and of the last
    ones that were written; best: in best.json."""
    expected = sorted({*newest[-last:], best})
    return row(f"checkpoints: the newest {last} and the best",
               f"{found} of {len(newest)}, best {best}",
               len(newest) > last and found == expected)


def nothing_left(name, names):
    """No checkpoint that was being written or deleted."""
    left = sorted(found for found in names if found.startswith(".checkpoint"))
    return row(name, ", ".join(left) or "nothing", not left)


def host_waits(loops, captures):
    """The host waits once in each loop, and once more where graphs are captured
    anew."""
    waits = [loop.get("host_syncs") for loop in loops]
    more = sum(wait != 1 for wait in waits)
    return row("host waits of a loop", f"{waits}",
               waits and all(wait in (1, 2) for wait in waits) and
               more <= captures)


def none(name, faults):
    return row(name, "; ".join(faults[:3]) or "none", not faults)


def at_least(name, value, bound):
    return row(name, f"{value:.3f}, at least {bound}", value >= bound)


def longer_loop(loops, first, longest):
    """A life has a loop of at most `first` steps, and later one of `longest`:
    its inputs need more room than those of the first."""
    steps = [loop["steps"] for loop in loops]
    return row("a short loop, then a long one", steps,
               steps and steps[0] <= first and max(steps) == longest)


def same_losses(name, reference, lines, last):
    """lines: (step, loss) of all lives, in which a step may have run again;
    reference: the loss of each step."""
    found = dict(lines)
    other = sorted({step for step, loss in lines
                    if step not in reference or loss != reference[step]})
    missing = [step for step in range(1, last + 1) if step not in found]
    return row(name, f"{len(found) - len(other)} of {last} steps" +
               (f", others from step {other[0]} on" if other else ""),
               last > 0 and not other and not missing)


def same_files(name, here, there):
    """here, there: the bytes of files by name; None: no such checkpoint."""
    if here is None or there is None:
        return row(name, "no such checkpoint", False)
    other = [file for file in here if here[file] != there.get(file)]
    return row(name, f"other {', '.join(other)}" if other else "the same",
               here and not other)


def flat(name, samples, early, late, rise=RISE_MIB):
    """samples: (evaluations, MiB). The least of an early range of evaluations
    and that of a late one, since single moments hold more."""
    def least(begin, end):
        return min((mib for count, mib in samples if begin <= count <= end),
                   default=None)

    before, after = least(*early), least(*late)
    if before is None or after is None:
        return row(name, f"{len(samples)} samples are too few", False)
    return row(name, f"{before:.1f}, then {after:.1f} MiB",
               after - before <= rise)


def finite(name, sums):
    """sums: (file, sum of its numbers), of the newest checkpoint."""
    bad = [file for file, total in sums
           if not float("-inf") < total < float("inf")]
    return row(name, f"not finite: {', '.join(bad)}" if bad else
               f"{len(sums)} files", sums and not bad)


def table(rows):
    said = {True: "yes", False: "**no**", None: "-"}
    lines = [["check", "seen", "holds"], ["---"] * 3]
    lines += [[row["check"], row["seen"].replace("|", "/"), said[row["ok"]]]
              for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
