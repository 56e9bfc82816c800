"""Writes what the parts left: the report, and one file of results."""

import datetime
import io
import json
import os
import pathlib
import tarfile

import pack
import report
import work

FILE = "device-results.tar.xz"
KEPT = ["report.*", "results/*", "models/*/metrics.jsonl"]
# Bytes kept from the end of a log, which has the reason of a failure.
TAIL_BYTES = 256 << 10


def results(place):
    """By part, in the order in which they ran."""
    return {path.stem: json.loads(path.read_text()) for path in
            sorted((place.folder / "results").glob("*.json"),
                   key=lambda path: path.stat().st_mtime_ns)}


def facts(place):
    packed = (json.loads(work.PACKED.read_text()) if work.PACKED.exists() else
              {"commit": pack.commit()})
    built = place.load("build") or {}
    return {"commit": packed["commit"], "date": str(datetime.date.today()),
            "card": work.attempt(work.card), "cores": work.cores(),
            "rehearsed": place.rehearsed,
            "versions": built.get("versions", {})}


def write_report(place):
    """report.json and report.md; the text of the latter."""
    about, found = facts(place), results(place)
    text = report.markdown(about, found)
    (place.folder / "report.md").write_text(text)
    (place.folder / "report.json").write_text(
        json.dumps(report.as_json(about, found), indent=2) + "\n")
    return text


def kept(path):
    content = path.read_bytes()
    is_log = path.suffix in (".out", ".log")
    return content[-TAIL_BYTES:] if is_log else content


def pack_results(place):
    """Replaces $OUT/device-results.tar.xz, if OUT is set, by one of results,
    report and ends of logs."""
    if not os.environ.get("OUT"):
        return
    path = pathlib.Path(os.environ["OUT"]) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    with tarfile.open(fresh, "w:xz", preset=1) as tar:
        for file in sorted(file for pattern in KEPT
                           for file in place.folder.glob(pattern)):
            content = kept(file)
            entry = tarfile.TarInfo(
                f"device-results/{file.relative_to(place.folder)}")
            entry.size = len(content)
            entry.mtime = int(file.stat().st_mtime)
            tar.addfile(entry, io.BytesIO(content))
    fresh.replace(path)


def hand_over(place):
    """Writes the report and the file of results. A failure of either is
    printed only: the next part matters more."""
    for write in (write_report, pack_results):
        try:
            write(place)
        except Exception as error:
            work.say(f"{write.__name__}: {error}")
