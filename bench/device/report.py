"""One JSON and one Markdown of what the parts left."""

import roofline

PEERS = {"eager": ("PyTorch eager, channels_last, AMP", 1.15),
         "compile": ("torch.compile", 1.0)}


def reason(result):
    """Why there is no result; None where there is one."""
    if result is None:
        return "not run"
    return f"not run: {result['not_run']}" if "not_run" in result else None


def number(value, digits=1):
    return "-" if value is None else f"{value:,.{digits}f}"


def percent(value, digits=2):
    return "-" if value is None else f"{100 * value:.{digits}f} %"


def ours(results):
    """The row of our own training beside which peers stand."""
    speed = results.get("speed") or {}
    rows = [row for row in speed.get("fake", []) if reason(row) is None]
    return max(rows, key=lambda row: row["images_per_second"], default=None)


def at_batch(results, batch):
    """Our training's row of that batch."""
    for row in (results.get("speed") or {}).get("fake", []):
        if row["batch"] == batch and reason(row) is None:
            return row
    return None


def goal(name, target, value, met):
    return {"goal": name, "target": target, "value": value,
            "met": None if value is None else met(value)}


def ratio(results, peer):
    """How many times the peer's images a second are ours, on the same batch."""
    row = (results.get("pytorch") or {}).get(peer)
    if reason(row) is not None:
        return None
    mine = at_batch(results, row["batch"])
    return mine and mine["images_per_second"] / row["images_per_second"]


def value_of(row, key):
    return None if reason(row) is not None else row.get(key)


def goals(results):
    speed = results.get("speed") or {}
    waits = [value_of(speed.get(kind), "input_wait")
             for kind in ("packed", "jpeg")]
    found = [goal(f"input wait, {kind} records", "< 0.5 %", wait,
                  lambda value: value < 0.005)
             for kind, wait in zip(("packed", "JPEG"), waits)]
    found.append(goal("host waits of a loop", "1",
                      value_of(ours(results), "host_syncs"),
                      lambda value: value == 1))
    for peer, (name, least) in PEERS.items():
        found.append(goal(f"images/s by those of {name}", f">= {least:.2f}",
                          ratio(results, peer),
                          lambda value, least=least: value >= least))
    graphs = results.get("graphs")
    found.append(goal("largest difference of losses, graph and none", "0",
                      value_of(graphs, "largest_loss_difference"),
                      lambda value: value == 0))
    return found


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def goals_text(results):
    said = {None: "not known", True: "met", False: "missed"}

    def value(entry):
        if entry["value"] is None:
            return "-"
        if "wait, " in entry["goal"]:
            return percent(entry["value"])
        return f"{entry['value']:.4g}"

    return table(["goal", "target", "value", ""], [
        [entry["goal"], entry["target"], value(entry), said[entry["met"]]]
        for entry in goals(results)])


def speed_row(name, row):
    why = reason(row)
    if why:
        return [name, str((row or {}).get("batch", "-")), why, *["-"] * 5]
    return [name, str(row["batch"]), number(row["images_per_second"], 0),
            percent(row.get("input_wait")), percent(row.get("device_busy"), 1),
            number(row.get("host_syncs")), number(row.get("tflops")),
            number(row.get("gb_per_second"), 0)]


def speed_text(results):
    speed = results.get("speed")
    if reason(speed):
        return reason(speed) + "\n"
    rows = [speed_row("no input", row) for row in speed["fake"]]
    rows += [speed_row(name, speed.get(kind)) for name, kind in
             (("no input, norms not fused", "separate_norms"),
              ("packed records", "packed"), ("JPEG shards", "jpeg"))]
    return table(["ResNet-50, bfloat16", "batch", "images/s", "input wait",
                  "device busy", "host waits of a loop", "TFLOP/s",
                  "GB/s, at least"], rows) + f"\n\n{speed['cores']} cores."


def pytorch_text(results):
    peers = results.get("pytorch")
    if reason(peers):
        return reason(peers) + "\n"
    rows = []
    for peer, (name, _) in PEERS.items():
        row = peers.get(peer)
        why = reason(row)
        mine = None if why else ratio(results, peer)
        rows.append([name] + ([why, "-", "-"] if why else [
            str(row["batch"]), number(row["images_per_second"], 0),
            "-" if mine is None else f"{mine:.2f}x"]))
    return table(["peer", "batch", "images/s", "ours by it"], rows)


def kernels_text(results):
    tests = results.get("kernels")
    if reason(tests):
        return reason(tests) + "\n"

    def findings(result):
        return reason(result) or f"{result['findings']} findings"

    def counts(result):
        return reason(result) or ", ".join(
            f"{count} {kind}" for kind, count in result.items())

    return table(["test", "cases", "memcheck", "racecheck"], [
        [name, counts(result["cases"]), findings(result["memcheck"]),
         findings(result["racecheck"])] for name, result in tests.items()])


def graphs_text(results):
    graphs = results.get("graphs")
    if reason(graphs):
        return reason(graphs) + "\n"
    return (f"{graphs['steps']} steps of {graphs['on']['batch']}: "
            f"{number(graphs['on']['images_per_second'], 0)} images/s as "
            f"graphs, {number(graphs['off']['images_per_second'], 0)} without; "
            f"losses differ by at most {graphs['largest_loss_difference']:g}.")


def profile_text(results):
    profile = results.get("profile")
    if reason(profile):
        return reason(profile) + "\n"
    rows = []
    for kernel in profile["costliest"]:
        seen = kernel["measured"]
        rows.append([f"`{kernel['name'][:60]}`", percent(kernel["share"], 1),
                     str(kernel["calls"]),
                     *([reason(seen), "-"] if reason(seen) else
                       [f"{number(seen.get('compute_percent'))} %",
                        f"{number(seen.get('memory_percent'))} %"])])
    return table(["kernel", "share of the time", "calls", "of the card's "
                  "arithmetic", "of its memory"], rows)


def ceilings_text(results):
    ceilings = results.get("ceilings")
    if reason(ceilings):
        return reason(ceilings) + "\n"
    text = (f"copy {number(ceilings['gb_per_second'], 0)} GB/s, bfloat16 "
            f"product {number(ceilings['tflops'], 0)} TFLOP/s")
    row = ours(results)
    if row and row.get("tflops"):
        text += (f"; training reaches {percent(row['tflops'] / ceilings['tflops'], 1)} "
                 f"of the latter")
    return text + "."


def roofline_text(results):
    """What the measured copy and product allow at most, and what is reached."""
    ceilings = results.get("ceilings")
    if reason(ceilings):
        return reason(ceilings) + "\n"
    row = ours(results)
    rows = roofline.of_card(ceilings["gb_per_second"], ceilings["tflops"],
                            row["batch"] if row else 256)
    return table(["variant", "MB an image", "images/s at most", "reached"], [
        [line["variant"], number(line["megabytes_of_image"], 0),
         number(line["images_per_second"], 0),
         percent(row["images_per_second"] / line["images_per_second"], 1)
         if row else "-"] for line in rows])


SECTIONS = [("Goals", goals_text), ("Speed", speed_text),
            ("Beside PyTorch, in the same run", pytorch_text),
            ("Graphs", graphs_text), ("Kernels", kernels_text),
            ("Costliest kernels", profile_text), ("Ceilings", ceilings_text),
            ("Roofline", roofline_text)]


def heading(facts):
    card = facts["card"]
    device = (f"{card['name']}, {card['memory']}, driver {card['driver']}"
              if "name" in card else reason(card))
    versions = ", ".join(f"{name} {version}" for name, version in
                         facts["versions"].items()) or "nothing built"
    return f"{facts['date']}, commit {facts['commit']}; {device}; {versions}."


def markdown(facts, results):
    parts = [heading(facts)]
    for title, text in SECTIONS:
        parts.append(f"## {title}\n\n{text(results).strip()}")
    return "\n\n".join(parts) + "\n"


def as_json(facts, results):
    return {"schema": 1, **facts, "goals": goals(results), "parts": results}
