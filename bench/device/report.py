"""One JSON and one Markdown of what the parts left."""

import life_verdict
import roofline

KINDS = {"jpeg": "JPEG shards", "packed": "packed records",
         "fake": "fake images", "depth": "fake images, stem on squares",
         "epilogue": "fake images, sums by convolutions",
         "normed": "fake images, float16, norms within convolutions",
         "resident": "images in the card's memory"}
STEPS_ALIKE = 12  # steps whose losses are compared
CHECKS = {"fused-graph": "fused norm, graphs", "plain-graph": "graphs",
          "fused-eager": "fused norm", "plain-eager": "neither"}
PEERS = {"eager": ("PyTorch eager, channels_last, AMP", 1.15),
         "compile": ("torch.compile", 1.0)}

FED = {"fed_by_resident": ("images/s of torch.compile, fed by those of resident "
                           "images", 0.99),
       "prefetch_by_engine": ("images/s of infeed.torch.prefetch by those of the "
                              "engine, no model", 0.9)}


def reason(result):
    """Why there is no result; None where there is one."""
    if result is None:
        return "not run"
    return f"not run: {result['not_run']}" if "not_run" in result else None


def number(value, digits=1):
    return "-" if value is None else f"{value:,.{digits}f}"


def percent(value, digits=2):
    return "-" if value is None else f"{100 * value:.{digits}f} %"


def speed_rows(results, kind):
    """Those that ran, of every batch."""
    return [row for name, row in results.items()
            if name.startswith(kind + "-") and reason(row) is None]


def without_input(results):
    """Our trainings beside which peers stand: the short one only if no longer
    one of its batch ran."""
    check = results.get("fused-graph")
    return speed_rows(results, "fake") + (
        [] if reason(check) else [check])


def ours(results):
    """The fastest of them; None where none ran."""
    return max(without_input(results),
               key=lambda row: row["images_per_second"], default=None)


def goal(name, target, value, met):
    return {"goal": name, "target": target, "value": value,
            "met": None if value is None else met(value)}


def ratio(results, peer):
    """How many times the peer's images a second are ours, on the same batch."""
    row = results.get(peer)
    if reason(row) is not None:
        return None
    mine = [mine for mine in without_input(results)
            if mine["batch"] == row["batch"]]
    return (mine[0]["images_per_second"] / row["images_per_second"] if mine
            else None)


def largest(values):
    return max((value for value in values if value is not None), default=None)


def loss_difference(results, norm):
    """Between the first steps of two trainings, with graphs and without: later
    ones add up what rounding differs. Infinite where one took more steps."""
    pair = [results.get(f"{norm}-{way}") for way in ("graph", "eager")]
    if any(reason(row) for row in pair):
        return None
    graph, eager = (row["losses"] for row in pair)
    if len(graph) != len(eager) or not graph:
        return float("inf")
    return max(abs(a - b) for a, b in zip(graph[:STEPS_ALIKE], eager))


def failed_tests(results):
    """None where not all of them ran."""
    tests = [results.get(name) for name in ("kernels", "loop")]
    if any(reason(row) or row["skipped"] for row in tests):
        return None
    return sum(len(row["failed"]) for row in tests)


def goals(results):
    mine = ours(results)
    found = [goal("failed tests", "0", failed_tests(results),
                  lambda value: value == 0)]
    found += [goal(f"input wait, {KINDS[kind]}", "< 0.5 %",
                   largest(row.get("input_wait")
                           for row in speed_rows(results, kind)),
                   lambda value: value < 0.005)
              for kind in ("packed", "jpeg")]
    found.append(goal("host waits of a loop", "1",
                      mine and mine.get("host_syncs"),
                      lambda value: value == 1))
    for peer, (name, least) in PEERS.items():
        found.append(goal(f"images/s by those of {name}", f">= {least:.2f}",
                          ratio(results, peer),
                          lambda value, least=least: value >= least))
    for name, (said, least) in FED.items():
        row = results.get("fed")
        found.append(goal(said, f">= {least:.2f}",
                          None if reason(row) else row[name],
                          lambda value, least=least: value >= least))
    found.append(goal("largest difference of losses, graph and none",
                      "<= 0.001",
                      largest(loss_difference(results, norm)
                              for norm in ("fused", "plain")),
                      lambda value: value <= 0.001))
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


def speed_table(rows):
    return table(["ResNet-50, bfloat16", "batch", "images/s", "input wait",
                  "device busy", "host waits of a loop", "TFLOP/s",
                  "GB/s, at least"], [speed_row(*row) for row in rows])


def checks_text(results):
    text = speed_table((said, results.get(name))
                       for name, said in CHECKS.items())
    for norm in ("fused", "plain"):
        difference = loss_difference(results, norm)
        if difference is not None:
            text += (f"\n\nLosses of {norm} norm with and without graphs "
                     f"differ by at most {difference:g}.")
    return text


def speed_text(results):
    return speed_table(
        (said, {"batch": name.split("-")[1], **row})
        for kind, said in KINDS.items()
        for name, row in sorted(results.items())
        if name.startswith(kind + "-")) + "\n\nWith fused norm and graphs."


def pytorch_text(results):
    rows = []
    for peer, (name, _) in PEERS.items():
        row = results.get(peer)
        why = reason(row)
        mine = None if why else ratio(results, peer)
        rows.append([name] + ([why, "-", "-"] if why else [
            str(row["batch"]), number(row["images_per_second"], 0),
            "-" if mine is None else f"{mine:.2f}x"]))
    return (table(["peer", "batch", "images/s", "ours by it"], rows)
            + "\n\n" + fed_text(results.get("fed")))


def fed_text(row):
    """The Python package: its input without a model, and PyTorch fed by it."""
    if reason(row):
        return f"From Python: {reason(row)}."
    rates = ", ".join(f"{name} {number(rate, 0)}" for name, rate in
                      row["images_per_second"].items())
    return f"From Python, batches of {row['batch']}, images/s: {rates}."


def doctor_text(results):
    doctor = results.get("doctor")
    return reason(doctor) or table(["", ""], [
        [found["name"], found["value"] + ("" if found["ok"] else
                                          f" ({found['advice']})")]
        for found in doctor["findings"]])


def tests_text(results):
    def counts(result):
        if reason(result):
            return reason(result)
        failed = ", ".join(result["failed"])
        return (f"{result['passed']} passed, {result['skipped']} skipped, "
                f"{len(result['failed'])} failed" +
                (f": {failed}" if failed else ""))

    def findings(result):
        return reason(result) or f"{result['findings']} findings"

    return table(["tests", ""], [
        [name, told(results.get(name))] for name, told in
        (("kernels", counts), ("loop", counts), ("longest", counts),
         ("memcheck", findings), ("racecheck", findings))])


def profile_text(results):
    profile = results.get("profile")
    if reason(profile):
        return reason(profile)
    rows = []
    for kernel in profile["costliest"]:
        seen = kernel.get("measured", {})
        rows.append([f"`{kernel['name'][:60]}`", percent(kernel["share"], 1),
                     str(kernel["calls"]),
                     *([reason(seen), "-"] if reason(seen) else
                       [number(seen.get("compute_percent")),
                        number(seen.get("memory_percent"))])])
    return table(["kernel", "share of the time", "calls", "% of the card's "
                  "arithmetic", "% of its memory"], rows)


def card_of(results):
    """Bytes and operations a second, as measured; None where they were not."""
    ceilings = results.get("ceilings")
    return None if reason(ceilings) else (ceilings["gb_per_second"] * 1e9,
                                          ceilings["tflops"] * 1e12)


def ceilings_text(results):
    card = card_of(results)
    if not card:
        return reason(results.get("ceilings"))
    text = (f"copy {number(card[0] / 1e9, 0)} GB/s, bfloat16 product "
            f"{number(card[1] / 1e12, 0)} TFLOP/s")
    row = ours(results)
    if row and row.get("tflops"):
        share = percent(row["tflops"] * 1e12 / card[1], 1)
        text += f"; training reaches {share} of the latter"
    return text + "."


def roofline_text(results):
    """What the measured copy and product allow at most, and what is reached:
    `separate` by the training without fused norm, `depth`, `epilogue` and `normed` by their
    own."""
    card = card_of(results)
    if not card:
        return reason(results.get("ceilings"))
    mine = ours(results)
    batch = mine["batch"] if mine else 256
    others = {"separate": "plain-graph", "depth": f"depth-{batch}",
              "epilogue": f"epilogue-{batch}", "normed": f"normed-{batch}"}
    rows = []
    for line in roofline.of_card(card, batch):
        most, variant = line["images_per_second"], line["variant"]
        row = results.get(others[variant]) if variant in others else mine
        rate = None if reason(row) else row["images_per_second"]
        rows.append([variant, number(line["megabytes_of_image"], 0),
                     number(most, 0), number(rate, 0),
                     percent(rate and rate / most, 1)])
    return table(["variant", "MB an image", "images/s at most", "measured",
                  "reached"], rows)


def life_text(results):
    life = results.get("life")
    return reason(life) or life_verdict.table(life["rows"])


def parts_text(results):
    """Of each, what it cost and why it gave nothing."""
    return table(["part", "seconds", ""], [
        [name, number(result.get("took")), reason(result) or "ran"]
        for name, result in results.items()])


SECTIONS = [("Goals", goals_text), ("Tests", tests_text),
            ("Norm and graphs, on fake images", checks_text),
            ("Speed", speed_text),
            ("Beside PyTorch, in the same run", pytorch_text),
            ("Ceilings", ceilings_text), ("Roofline", roofline_text),
            ("Costliest kernels", profile_text),
            ("A day in five minutes", life_text), ("Machine", doctor_text),
            ("Parts", parts_text)]


def heading(facts):
    card = facts["card"]
    device = (f"{card['name']}, {card['memory']}, driver {card['driver']}"
              if "name" in card else reason(card))
    versions = ", ".join(f"{name} {version}" for name, version in
                         facts["versions"].items()) or "nothing built"
    kind = "A rehearsal, which measures nothing: " if facts["rehearsed"] else ""
    return (f"{kind}{facts['date']}, commit {facts['commit']}; {device}; "
            f"{facts['cores']} cores; {versions}.")


def markdown(facts, results):
    parts = [heading(facts)]
    for title, text in SECTIONS:
        parts.append(f"## {title}\n\n{text(results).strip()}")
    return "\n\n".join(parts) + "\n"


def as_json(facts, results):
    return {"schema": 2, **facts, "goals": goals(results), "parts": results}
