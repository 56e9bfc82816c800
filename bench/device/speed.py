"""Tests that need the card, and trainings: whether they work, how fast."""

import json
import re
import shutil

import training
import work

BATCH = 256
BATCHES = [256, 512]
# Runs on fake data (fused batch norm, CUDA graphs), the most important first.
CHECKS = {"fused-graph": (True, True), "plain-graph": (False, True),
          "fused-eager": (True, False), "plain-eager": (False, False)}
IMAGES_OF_CHECK = 10_000  # of a loop: some seconds on a large card
IMAGES_OF_LOOP = 15_000
LONGEST = "CudaResidentTest.CutsALongLoop"


def cases(report):
    """Of GoogleTest's JSON: how many passed and were skipped, which failed."""
    found = {"passed": 0, "skipped": 0, "failed": []}
    for suite in report.get("testsuites", []):
        for case in suite.get("testsuite", []):
            if case.get("failures"):
                found["failed"].append(f"{suite['name']}.{case['name']}")
            else:
                found["skipped" if case.get("result") == "SKIPPED" else
                      "passed"] += 1
    return found


def run_test(place, name, test, only="*"):
    """What became of a test program's cases, those of a gtest_filter."""
    report = place.folder / "results" / f"{name}.gtest"
    report.unlink(missing_ok=True)
    try:
        place.run([place.tests / test, f"--gtest_filter={only}",
                   f"--gtest_output=json:{report}"], log=name)
    except work.NotRun:
        if not report.exists():
            raise
    return cases(json.loads(report.read_text()))


def sanitized(place, test, tool):
    work.card()
    if not shutil.which("compute-sanitizer"):
        raise work.NotRun("no compute-sanitizer")
    out = place.run(["compute-sanitizer", "--tool", tool,
                     place.tests / test], log=tool)
    # racecheck prints "RACECHECK SUMMARY: 0 hazards displayed (0 errors, ...)".
    found = re.search(r"SUMMARY: (\d+)", out)
    if not found:
        raise work.NotRun(f"{tool} gave no summary")
    return {"findings": int(found.group(1))}


def doctor(place):
    return json.loads(place.run(
        [place.programs / "train_resnet", "--mode", "doctor", "--json",
         "--device", "auto" if place.rehearsed else "cuda"], log="doctor"))


def word(value):
    return "true" if value else "false"


def check(place, name):
    """A short training on fake data, with the loss of each step."""
    fused, graph = CHECKS[name]
    model = training.train(place, name, "null", BATCH, IMAGES_OF_CHECK,
                           fused_batch_norm=word(fused),
                           cuda_graph=word(graph))
    return {**training.told(model), "losses": training.losses(model)}


def speed(place, kind, batch):
    """Images a second from JPEGs, packed pixels, fake images, these with the
    stem on squares, with sums by the convolutions, or in float16 with norms
    within the convolutions, or packed pixels that all lie in the card's
    memory."""
    data, is_resident = "null", kind == "resident"
    if kind not in ("fake", "depth", "epilogue", "normed"):
        made = place.load("data") or {}
        form = "packed" if is_resident else kind
        if form not in made:
            raise work.NotRun("part data has made none")
        data = made[form]
    return training.told(training.train(
        place, f"{kind}-{batch}", data, batch, IMAGES_OF_LOOP,
        fused_batch_norm="true", skip_host_call="true",
        data_on_device=word(is_resident),
        stem_layout="space_to_depth" if kind == "depth" else "plain",
        precision="float16" if kind == "normed" else "bfloat16",
        conv_statistics={"epilogue": "epilogue",
                         "normed": "fused"}.get(kind, "pass")))
