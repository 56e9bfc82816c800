"""examples/python: each trains, and goes on in mid-epoch to the same weights.
examples/compare/reference_order.py: the order of its records.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import infeed
import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"


def needs(*packages):
    missing = [name for name in packages
               if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)}: not installed")


def run(command, **environment):
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def resumes(self, name, launcher=(), suffix="", **environment):
        """Two epochs of four batches in one go, and stopped after six."""
        self.goes_on([*launcher, EXAMPLES / name, support.shards(), "--epochs", 2],
                     6, suffix=suffix, **environment)

    def goes_on(self, example, steps, ahead=(), suffix="", **environment):
        """In one go, and stopped after some steps and gone on, with `ahead`."""
        checkpoint = [*ahead, "--checkpoint", self.folder / f"checkpoint{suffix}"]
        whole = run(example, **environment)
        self.assertRegex(whole, r"(top-1|test) [\d.]+, weights [\d.]+\n")
        run([*example, *checkpoint, "--stop_after", steps], **environment)
        rest = run([*example, *checkpoint], **environment)
        self.assertEqual(rest.splitlines()[-1], whole.splitlines()[-1])

    @needs("torch")
    def test_torch(self):
        self.resumes("torch_train.py")

    @needs("torch")
    def test_torch_distributed(self):
        self.resumes("ddp_train.py", torchrun(2))

    @needs("torch")
    def test_torch_distributed_with_another_number_of_ranks(self):
        """One rank goes on where two were stopped, on the same images."""
        recorder = self.folder / "recorder.py"
        recorder.write_text(RECORDER)
        example = [recorder, EXAMPLES / "ddp_train.py", support.shards(),
                   "--epochs", 2]
        checkpoint = ["--checkpoint", self.folder / "checkpoint"]
        stop = [*checkpoint, "--stop_after", 6]
        run([*torchrun(2), *example], RECORDS=str(self.folder / "whole"))
        run([*torchrun(2), *example, *stop], RECORDS=str(self.folder / "first"))
        run([*torchrun(1), *example, *checkpoint],
            RECORDS=str(self.folder / "rest"))
        whole = recorded(self.folder, "whole", 2)
        self.assertEqual(len(whole), 8)
        self.assertEqual(recorded(self.folder, "first", 2), whole[:6])
        self.assertEqual(recorded(self.folder, "rest", 1), whole[6:])

    @needs("lightning")
    def test_lightning(self):
        self.resumes("lightning_train.py", suffix=".ckpt")

    @needs("accelerate")
    def test_accelerate(self):
        self.resumes("accelerate_train.py")

    @needs("timm")
    def test_timm(self):
        self.resumes("timm_train.py")

    def bert(self):
        """An epoch of 200 sentences: six batches, or three of two ranks."""
        for name, rows in (("train", 200), ("dev", 50), ("test", 50)):
            (self.folder / f"{name}.tsv").write_text("".join(
                f"a {'good' if row % 2 else 'bad'} film of {row % 7} hours"
                f"\t{row % 2}\n" for row in range(rows)))
        records = self.folder / "records"
        run([EXAMPLES / "sentences_to_records.py", self.folder, records])
        return [EXAMPLES / "bert_train.py", records, "--epochs", 1, "--best",
                self.folder / "best.pt"]

    @needs("torch", "transformers", "sklearn")
    def test_bert_and_taken_ahead_as_parallel_loader_does(self):
        self.goes_on(self.bert(), 4, ["--parallel_loader"])

    @needs("torch", "transformers", "sklearn")
    def test_bert_distributed(self):
        self.goes_on([*torchrun(2), *self.bert()], 2)

    @needs("keras", "jax")
    def test_keras_with_jax(self):
        self.resumes("keras_train.py", suffix=".keras", KERAS_BACKEND="jax")

    @needs("keras", "torch")
    def test_keras_with_torch(self):
        self.resumes("keras_train.py", suffix=".keras", KERAS_BACKEND="torch")

    @needs("jax", "orbax")
    def test_jax(self):
        self.resumes(
            "jax_train.py",
            XLA_FLAGS="--xla_force_host_platform_device_count=2")


def reference_order():
    spec = importlib.util.spec_from_file_location(
        "reference_order", ROOT / "examples" / "compare" / "reference_order.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ReferenceOrderTest(unittest.TestCase):
    script = reference_order()

    def test_interleaves_like_tensorflow(self):
        cases = json.loads((ROOT / "tests/data/interleave.json").read_text())
        self.assertGreaterEqual(len(cases), 10)
        for case in cases:
            order = self.script.interleaved(case["sizes"], case["cycle_length"])
            self.assertEqual(list(order), case["order"])

    def test_draws_each_record_once_and_none_long_before_its_turn(self):
        order = list(self.script.shuffled(range(5000), seed=8))
        self.assertEqual(sorted(order), list(range(5000)))
        self.assertTrue(all(record < place + 1024
                            for place, record in enumerate(order)))
        self.assertNotEqual(order, list(self.script.shuffled(range(5000), seed=9)))

    def test_loader_takes_the_printed_order(self):
        printed = run([self.script.__file__, support.shards(), "--seed", 5])
        order = [int(line) for line in printed.splitlines()]
        self.assertEqual(sorted(order), list(range(200)))
        loader = infeed.Loader(support.shards(), batch_size=20,
                               image_size=support.SIZE, subset=order,
                               shuffle="none")
        taken = [record for batch in loader for record in batch.ids.tolist()]
        self.assertEqual(taken, order)

    def test_refuses_other_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "train-00000-of-00001"
            path.write_bytes(b"not a record")
            with self.assertRaisesRegex(SystemExit, "not an uncompressed TFRecord"):
                self.script.records_in(path)


# Runs an example, and writes down the images of each training batch.
RECORDER = textwrap.dedent("""\
    import json, os, runpy, sys
    import infeed

    class Loader(infeed.Loader):
        def __iter__(self):
            name = f"{os.environ['RECORDS']}.{self._rank}"
            for batch in super().__iter__():
                if self._training:
                    with open(name, "a") as file:
                        print(json.dumps(batch.ids.tolist()), file=file)
                yield batch

    infeed.Loader = Loader
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
    """)


def recorded(folder, name, ranks):
    """The images of each batch, of all ranks."""
    parts = [map(json.loads, (folder / f"{name}.{rank}").read_text().splitlines())
             for rank in range(ranks)]
    return [sum(batch, []) for batch in zip(*parts, strict=True)]


def torchrun(ranks):
    return ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
            ranks]


if __name__ == "__main__":
    unittest.main()
