#!/usr/bin/env python3
"""Tests tools/export_run.py; W&B and MLflow where their packages are."""

import csv
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/export_run.py"
sys.path.insert(0, str(SCRIPT.parent))

import export_run  # noqa: E402


def missing(name):
    return importlib.util.find_spec(name) is None


class ExportRunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        self.model = self.out / "flowers"
        self.model.mkdir()
        (self.model / "params.yaml").write_text(
            "# The parameters of a run.\nresnet_depth: 18  # default\n"
            "# train_epochs: train_steps counts\n# The run:\n# host: vm\n")

    def write(self, *lines, end="\n"):
        with open(self.model / "metrics.jsonl", "a") as file:
            file.write("\n".join(json.dumps(line) if isinstance(line, dict)
                                 else line for line in lines) + end)

    def train(self, step, loss, **more):
        self.write({"schema": 1, "time": 100.0 + step, "event": "train",
                    "step": step, "loss": loss, "warm_up": False, **more})

    def start(self, step):
        self.write({"schema": 1, "time": 99.0, "event": "start", "step": step,
                    "host": "vm", "environment": "A=1"})

    def run_program(self, *words):
        out, messages = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(messages):
            code = export_run.main([str(self.model), *words])
        return code, out.getvalue(), messages.getvalue()

    def table(self, *words):
        code, text, _ = self.run_program("--to", "csv", *words)
        self.assertEqual(code, 0)
        return list(csv.DictReader(io.StringIO(text)))

    def test_a_row_for_each_step(self):
        self.start(0)
        self.train(1, 2.5)
        self.train(2, 2.25, learning_rate=0.5)
        self.write({"event": "eval", "step": 2, "time": 103, "top_1": 0.75})
        self.assertEqual(self.table(), [
            {"step": "1", "time": "101.0", "eval/top_1": "",
             "train/learning_rate": "", "train/loss": "2.5"},
            {"step": "2", "time": "102.0", "eval/top_1": "0.75",
             "train/learning_rate": "0.5", "train/loss": "2.25"}])

    def test_a_resumed_run_replaces_the_steps_after_its_start(self):
        self.start(0)
        for step in (1, 2, 3):
            self.train(step, float(step))
        self.start(1)
        self.train(2, 20.0)
        self.assertEqual([(row["step"], row["train/loss"]) for row in self.table()],
                         [("1", "1.0"), ("2", "20.0")])

    def test_a_half_written_line_and_others_are_skipped(self):
        self.train(1, 2.0)
        self.write("[1, 2]", '{"event": "train"}', '{"event":"train","st', end="")
        self.assertEqual([row["step"] for row in self.table()], ["1"])

    def test_a_loss_that_is_not_finite_is_left_out(self):
        self.train(1, 2.0)
        self.train(2, None)
        self.assertEqual([row["train/loss"] for row in self.table()], ["2.0", ""])

    def test_a_file(self):
        self.train(1, 2.0)
        file = self.out / "run.csv"
        code, text, messages = self.run_program("--to", "csv", "--out", str(file))
        self.assertEqual((code, text), (0, ""))
        self.assertIn("run.csv: 1 steps, 1 metrics", messages)
        self.assertEqual(file.read_text(), "step,time,train/loss\n1,101.0,2.0\n")

    def test_parameters_and_the_run(self):
        self.start(0)
        self.train(1, 2.0)
        run = export_run.Run(self.model)
        self.assertEqual(run.params, {"resnet_depth": "18"})
        self.assertEqual(run.tags, {"host": "vm"})
        self.assertEqual(run.state, "no end")
        self.write({"event": "end", "step": 1, "state": "stopped"})
        self.assertEqual(export_run.Run(self.model).state, "stopped")

    def test_what_is_missing_is_named(self):
        code, _, messages = self.run_program("--to", "csv")
        self.assertEqual(code, 1)
        self.assertIn("metrics.jsonl: No such file or directory: give the "
                      "--model_dir", messages)
        self.start(0)
        code, _, messages = self.run_program("--to", "csv")
        self.assertEqual(code, 1)
        self.assertIn("has no metrics yet", messages)

    def test_a_package_that_is_missing_is_named(self):
        with self.assertRaisesRegex(
                export_run.ExportError,
                "needs the Python package no_such_package .*: pip install"):
            export_run.package("no_such_package")

    def write_two_runs(self):
        self.start(0)
        self.train(1, 2.0)
        self.train(2, 1.0)
        self.write({"event": "end", "step": 2, "state": "done"})

    def run_script(self, *words):
        """A process of its own: the packages leave threads and hooks behind."""
        found = subprocess.run(
            [sys.executable, str(SCRIPT), str(self.model), *words],
            capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found.stderr)
        return found.stderr

    @unittest.skipIf(missing("wandb"), "the wandb package is not installed")
    def test_wandb(self):
        self.write_two_runs()
        messages = self.run_script("--to", "wandb", "--out", str(self.out))
        self.assertIn("2 steps; upload: wandb sync", messages)
        self.assertTrue(list(self.out.glob("wandb/offline-run-*/*.wandb")))

    @unittest.skipIf(missing("mlflow"), "the mlflow package is not installed")
    def test_mlflow(self):
        self.write_two_runs()
        for out in ("runs.db", "mlruns"):
            with self.subTest(out):
                place = str(self.out / out)
                self.run_script("--to", "mlflow", "--out", place)
                self.check_mlflow(export_run.store_uri(place))

    def check_mlflow(self, uri):
        import mlflow
        client = mlflow.MlflowClient(tracking_uri=uri)
        experiment = client.get_experiment_by_name("infeed").experiment_id
        [run] = client.search_runs([experiment])
        self.assertEqual(run.info.run_name, "flowers")
        self.assertEqual(run.info.status, "FINISHED")
        self.assertEqual(run.data.params, {"resnet_depth": "18"})
        self.assertEqual([(metric.step, metric.value) for metric in
                          client.get_metric_history(run.info.run_id, "train/loss")],
                         [(1, 2.0), (2, 1.0)])


if __name__ == "__main__":
    unittest.main()
