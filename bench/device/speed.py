"""What needs the card: kernels, graphs, images a second."""

import json
import re
import shutil

import training
import work

BATCHES = [128, 256, 512, 1024]
GRAPH_BATCH = 256
SANITIZERS = ["memcheck", "racecheck"]


def cases(report):
    """Of GoogleTest's JSON: how many passed, failed and were skipped."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for suite in report.get("testsuites", []):
        for case in suite.get("testsuite", []):
            kind = ("skipped" if case.get("result") == "SKIPPED" else
                    "failed" if case.get("failures") else "passed")
            counts[kind] += 1
    return counts


def run_test(place, test):
    report = place.folder / "results" / f"{test}-cases.json"
    report.unlink(missing_ok=True)
    try:
        place.run([place.folder / "build/tests" / test,
                   f"--gtest_output=json:{report}"], log=f"{test}.log")
    except work.NotRun:
        if not report.exists():
            raise
    return cases(json.loads(report.read_text()))


def sanitized(place, test, tool):
    if not shutil.which("compute-sanitizer"):
        raise work.NotRun("no compute-sanitizer")
    out = place.run(["compute-sanitizer", "--tool", tool,
                     place.folder / "build/tests" / test],
                    log=f"{test}-{tool}.log")
    # racecheck says "RACECHECK SUMMARY: 0 hazards displayed (0 errors, ...)".
    found = re.search(r"SUMMARY: (\d+)", out)
    if not found:
        raise work.NotRun(f"{tool} gave no summary")
    return {"findings": int(found.group(1))}


def kernels(place):
    """The tests of kernels against the CPU, then under compute-sanitizer."""
    work.card()
    built = place.load("build") or {}
    if not built.get("tests"):
        raise work.NotRun("no tests of kernels were built")
    return {test: {"cases": work.attempt(run_test, place, test),
                   **{tool: work.attempt(sanitized, place, test, tool)
                      for tool in SANITIZERS}}
            for test in built["tests"]}


def compared(graph, eager):
    """Two runs' losses, step by step."""
    if len(graph) != len(eager) or not graph:
        raise work.NotRun(f"{len(graph)} and {len(eager)} losses")
    return {"steps": len(graph),
            "largest_loss_difference": max(
                abs(a - b) for a, b in zip(graph, eager)),
            "last_loss": graph[-1]}


def graphs(place, data):
    """Steps replayed as graphs beside steps one by one, on the same data."""
    work.card()
    steps = training.steps_of_loop(GRAPH_BATCH, 10_000)
    models = {name: training.train(place, f"graphs-{name}", data["packed"],
                                   GRAPH_BATCH, steps, cuda_graph=value,
                                   deterministic="true")
              for name, value in (("on", "true"), ("off", "false"))}
    return {"on": training.told(models["on"], GRAPH_BATCH),
            "off": training.told(models["off"], GRAPH_BATCH),
            **compared(training.losses(models["on"]),
                       training.losses(models["off"]))}


def measured(place, name, data, batch, **parameters):
    model = training.train(place, name, data, batch,
                           training.steps_of_loop(batch), skip_host_call="true",
                           **parameters)
    return training.told(model, batch)


def best(rows):
    """The fastest batch that ran; None where none did."""
    ran = [row for row in rows if "images_per_second" in row]
    return max(ran, key=lambda row: row["images_per_second"], default=None)


def with_batch(batch, row):
    return {**row, "batch": batch}


def speed(place, data):
    """Images a second: without input by batch size, then with the best, also
    with batch norms that are not fused."""
    work.card()
    fake = [with_batch(batch, work.attempt(
        measured, place, f"fake-{batch}", "null", batch)) for batch in BATCHES]
    if best(fake) is None:
        raise work.NotRun(fake[-1]["not_run"])
    batch = best(fake)["batch"]
    return {"fake": fake, "cores": work.cores(),
            "separate_norms": with_batch(batch, work.attempt(
                measured, place, "separate-norms", "null", batch,
                fused_batch_norm="false")),
            **{kind: with_batch(batch, work.attempt(
                measured, place, kind, data[kind], batch))
               for kind in ("packed", "jpeg")}}
