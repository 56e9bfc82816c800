#!/usr/bin/env python3
"""Copies a training's metrics from its model directory to W&B, MLflow or CSV.

MODEL_DIR/metrics.jsonl has the numbers, MODEL_DIR/params.yaml the parameters.
Nothing in MODEL_DIR is changed, and nothing is sent over the network.

  csv     a table, one row a step; needs Python alone
  wandb   an offline run of Weights & Biases; needs:  pip install wandb
  mlflow  a run in an MLflow store on this disk; needs:  pip install mlflow

Metrics are named after their event: train/loss, loop/images_per_second,
eval/top_1. docs/report.md explains them. Where a training was resumed from an
earlier step, the steps that it did again count once, as in report.html.
"""

import argparse
import csv
import importlib
import json
import math
import os
import pathlib
import sys

EXAMPLES = """\
examples:
  tools/export_run.py MODEL --to csv --out run.csv
  tools/export_run.py MODEL --to wandb --project flowers
      writes wandb/offline-run-*; upload it with: wandb sync wandb/offline-run-*
  tools/export_run.py MODEL --to mlflow
      writes mlflow.db; look at it with:
      mlflow ui --backend-store-uri sqlite:///mlflow.db

exit codes: 0 done, 1 a file or a package is missing, 2 usage
"""
EVENTS = ("train", "loop", "eval", "other_eval")
NOT_METRICS = ("schema", "time", "event", "step")
TAGS = ("command", "commit", "version", "host", "processor", "device", "ranks",
        "data", "model")
# MLflow's limits: metrics and parameters of a request, and a value's characters.
MLFLOW_METRICS = 1000
MLFLOW_PARAMS = 100
MLFLOW_TEXT = 500


class ExportError(Exception):
    """A message for the user, without a traceback."""


class Run:
    """A training: its parameters, where it ran, and its metrics by step."""

    def __init__(self, model_dir):
        self.model_dir = model_dir
        self.params = params_of(model_dir / "params.yaml")
        self.tags = {}
        self.state = "no end"  # as report.html names a run that was killed
        self.steps = {}  # step: {metric: value}
        self.times = {}  # step: Unix seconds
        for line in lines_of(model_dir / "metrics.jsonl"):
            self.add(line)
        if not self.steps:
            raise ExportError(f"{model_dir}/metrics.jsonl has no metrics yet")

    def add(self, line):
        step = line["step"]
        if line["event"] == "start":
            # Steps after this one are repeated by the new run: drop the earlier
            # runs' values.
            for later in [known for known in self.steps if known > step]:
                del self.steps[later], self.times[later]
            self.tags = {key: str(line[key]) for key in TAGS if key in line}
            self.state = "no end"
        elif line["event"] == "end":
            self.state = line.get("state", "done")
        elif line["event"] in EVENTS:
            self.times.setdefault(step, line.get("time"))
            self.steps.setdefault(step, {}).update(metrics_of(line))

    def rows(self):
        """(step, Unix seconds, metrics) by rising step."""
        return [(step, self.times[step], self.steps[step])
                for step in sorted(self.steps)]


def metrics_of(line):
    """The finite numbers of a line; null stands for one that is not finite."""
    event = line["event"]
    if event == "other_eval":  # of other data than the training's evaluations
        event = f"eval-{line.get('evaluation')}"
    return {f"{event}/{key}": float(value)
            for key, value in line.items()
            if key not in NOT_METRICS and isinstance(value, (int, float))
            and not isinstance(value, bool) and math.isfinite(value)}


def lines_of(path):
    """The events of metrics.jsonl; a killed run may leave half a line."""
    try:
        texts = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise ExportError(f"{path}: {error.strerror}: give the --model_dir of a "
                          "training") from None
    for text in texts:
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if (isinstance(line, dict) and isinstance(line.get("event"), str)
                and type(line.get("step")) is int):
            yield line


def params_of(path):
    """The parameters of params.yaml: lines of 'name: value  # source'."""
    try:
        texts = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    params = {}
    for text in texts:
        name, colon, value = text.partition(": ")
        if colon and not name.startswith("#"):
            params[name] = value.split("  # ")[0]
    return params


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ExportError(f"--to {name} needs the Python package {name} "
                          f"({error}): pip install {name}, or use --to csv") from None


def to_csv(run, args):
    names = sorted({name for metrics in run.steps.values() for name in metrics})
    file = open(args.out, "w", newline="") if args.out else sys.stdout
    try:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["step", "time", *names])
        for step, time, metrics in run.rows():
            table.writerow([step, time, *(metrics.get(name) for name in names)])
    finally:
        if args.out:
            file.close()
    return f"{args.out or 'stdout'}: {len(run.steps)} steps, {len(names)} metrics"


def to_wandb(run, args):
    wandb = package("wandb")
    folder = args.out or "."
    os.makedirs(folder, exist_ok=True)
    try:
        there = wandb.init(
            mode="offline", project=args.project, name=args.name, dir=folder,
            config={**run.params, **{f"run/{key}": text
                                     for key, text in run.tags.items()}},
            settings=wandb.Settings(x_disable_stats=True, console="off"))
        place = pathlib.Path(there.dir).parent
        for step, time, metrics in run.rows():
            there.log({**metrics, "time": time}, step=step)
        there.summary["state"] = run.state
        there.finish()
    except wandb.Error as error:
        raise ExportError(f"wandb: {error}") from None
    return f"{place}: {len(run.steps)} steps; upload: wandb sync {place}"


def store_uri(out):
    """The address of MLflow's store: an SQLite file, or a folder."""
    path = pathlib.Path(out or "mlflow.db").resolve()
    if path.suffix == ".db":
        return f"sqlite:///{path}"
    # MLflow 3.17 refuses a folder unless this variable is set.
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    return path.as_uri()


def milliseconds(seconds):
    return int(1000 * (seconds or 0))


def to_mlflow(run, args):
    mlflow = package("mlflow")
    uri = store_uri(args.out)
    try:
        name = write_to_mlflow(mlflow, mlflow.MlflowClient(tracking_uri=uri), run, args)
    except mlflow.MlflowException as error:
        raise ExportError(f"mlflow: {error}") from None
    return (f"{uri}: run {name}, {len(run.steps)} steps; look: mlflow ui "
            f"--backend-store-uri {uri}")


def write_to_mlflow(mlflow, client, run, args):
    found = client.get_experiment_by_name(args.project)
    experiment = (found.experiment_id if found
                  else client.create_experiment(args.project))
    rows = run.rows()
    name = client.create_run(
        experiment, start_time=milliseconds(rows[0][1]), run_name=args.name,
        tags={**run.tags, "state": run.state}).info.run_id
    params = [mlflow.entities.Param(key, value[:MLFLOW_TEXT])
              for key, value in run.params.items()]
    metrics = [mlflow.entities.Metric(key, value, milliseconds(time), step)
               for step, time, values in rows for key, value in values.items()]
    for i in range(0, len(params), MLFLOW_PARAMS):
        client.log_batch(name, params=params[i:i + MLFLOW_PARAMS])
    for i in range(0, len(metrics), MLFLOW_METRICS):
        client.log_batch(name, metrics=metrics[i:i + MLFLOW_METRICS])
    client.set_terminated(name, "FINISHED" if run.state == "done" else "FAILED",
                          milliseconds(rows[-1][1]))
    return name


def parsed(words):
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_dir", type=pathlib.Path, metavar="MODEL_DIR",
                        help="model directory of a training, on this machine")
    parser.add_argument("--to", required=True, choices=("csv", "wandb", "mlflow"),
                        help="what to write")
    parser.add_argument("--out", metavar="PATH",
                        help="csv: the file [stdout]; wandb: the folder in which "
                        "wandb/ is made [.]; mlflow: an SQLite file NAME.db, or a "
                        "folder, which is MLflow's older file store [mlflow.db]")
    parser.add_argument("--project", default="infeed",
                        help="W&B project or MLflow experiment [infeed]")
    parser.add_argument("--name", help="name of the run [that of MODEL_DIR]")
    args = parser.parse_args(words)
    args.name = args.name or args.model_dir.resolve().name
    return args


def main(words=None):
    args = parsed(words)
    write = {"csv": to_csv, "wandb": to_wandb, "mlflow": to_mlflow}[args.to]
    try:
        print(write(Run(args.model_dir), args), file=sys.stderr)
    except (ExportError, OSError) as error:
        print(f"export_run: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
