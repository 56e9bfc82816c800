"""What has to hold after a soak, and the curve. Each check is a row: name, what
was found, its bound, whether it holds. A sample is a dict of what a training
held: phase, life, minute, mib, files, sockets, threads, kept, bytes, and warm:
this life had saved a checkpoint and was not done."""

import statistics

RISE_MIB = 8  # as bench/common/growth.h allows
FEWEST = 6    # samples or lives
PHASES = ["undisturbed", "disk", "store"]


def most(name, found, bound):
    return name, f"{found:,}", f"at most {bound:,}", found <= bound


def least(name, found, bound):
    return name, f"{found:,}", f"at least {bound:,}", found >= bound


def none(name, faults):
    return name, "; ".join(faults[:3]) or "none", "none", not faults


def rise(points):
    """From the first to the last of (time, value): the median slope of all
    pairs, which single peaks do not move, times the time."""
    slopes = [(v - u) / (t - s) for i, (s, u) in enumerate(points)
              for t, v in points[i + 1:] if t > s]
    return statistics.median(slopes) * (points[-1][0] - points[0][0])


def parts_of(samples, phase):
    """The warm samples of a phase: the second half of each life, where a leak
    shows by the life's length, or the later quarters of its only life."""
    warm = [s for s in samples if s["phase"] == phase and s["warm"]]
    if phase == "undisturbed":
        size = max(1, len(warm) // 4)
        return [warm[at:at + size] for at in range(size, len(warm), size)]
    lives = {}
    for sample in warm:
        lives.setdefault(sample["life"], []).append(sample)
    return [life[len(life) // 2:] for life in lives.values()]


def memory(samples, phase):
    parts = parts_of(samples, phase)
    if phase == "undisturbed":
        points = [(s["minute"], s["mib"]) for part in parts for s in part]
    else:
        points = [(part[0]["minute"], statistics.median(s["mib"] for s in part))
                  for part in parts]
    if len(points) < FEWEST:
        return f"memory, {phase}", f"{len(points)} points", "more time", False
    risen = rise(points)
    peak = max(s["mib"] for s in samples if s["phase"] == phase)
    return (f"memory, {phase}",
            f"rose by {risen:.1f} MiB ({len(points)} points), peak {peak:.0f}",
            f"{RISE_MIB} MiB", risen <= RISE_MIB)


def flat(samples, phase, what):
    """The fewest that each part holds: a leak raises it. Parts with few samples
    may have met only moments at which a file was open."""
    parts = [part for part in parts_of(samples, phase) if len(part) > 2]
    floors = sorted({min(s[what] for s in part) for part in parts})
    return (f"{what}, {phase}", f"{floors} in {len(parts)} parts", "one value",
            len(parts) > 1 and len(floors) == 1)


def of_samples(samples, sockets, threads):
    """sockets, threads: the most that a training with a store may hold, which
    starts its connections when it needs them."""
    rows = [memory(samples, phase) for phase in PHASES]
    rows += [flat(samples, phase, "files") for phase in PHASES]
    rows += [flat(samples, phase, "threads") for phase in PHASES[:2]]
    return rows + [
        most("sockets at once", max(s["sockets"] for s in samples), sockets),
        most("threads at once", max(s["threads"] for s in samples), threads)]


def table(rows):
    lines = [["check", "found", "bound", "holds"], ["---"] * 4]
    lines += [[*row[:3], "yes" if row[3] else "**no**"] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def svg(samples, width=900, height=200, left=20, top=30):
    """Resident memory over time, a line for each life."""
    high = 1.1 * max(s["mib"] for s in samples)
    last = samples[-1]["minute"] or 1
    lives = {}
    for s in samples:
        x = left + (width - 2 * left) * s["minute"] / last
        y = top + height * (1 - s["mib"] / high)
        lives.setdefault((s["phase"], s["life"]), []).append(f"{x:.1f},{y:.1f}")
    colours = dict(zip(PHASES, ["#1f77b4", "#2ca02c", "#d95f02"]))
    lines = [f'<polyline points="{" ".join(points)}" fill="none" '
             f'stroke="{colours[phase]}"/>'
             for (phase, _), points in lives.items()]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} '
            f'{height + 2 * top}" font-family="sans-serif" font-size="13" '
            f'fill="#888">\n<text x="{left}" y="18">resident memory, 0 to '
            f'{high:.0f} MiB, in {last:.0f} minutes; blue undisturbed, green '
            'disk, orange store; a line for each life</text>\n'
            f'<path d="M{left},{top}v{height}h{width - 2 * left}" fill="none" '
            'stroke="#888"/>\n' + "\n".join(lines) + "\n</svg>\n")
