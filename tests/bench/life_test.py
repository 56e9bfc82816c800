#!/usr/bin/env python3
"""Each check of bench/device/life.py holds for what is right, and fails for
what is not; no training runs."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/device"))

import life  # noqa: E402
import life_run  # noqa: E402
import life_scale  # noqa: E402
import life_verdict as verdict  # noqa: E402
import report  # noqa: E402
import work  # noqa: E402

INF = 0x7F800000


def tensors(*words):
    """A safetensors file of float32 of these bits, behind integers whose bits
    would be no number."""
    head = json.dumps({
        "__metadata__": {"format": "pt"},
        "count": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
        "weight": {"dtype": "F32", "shape": [len(words)],
                   "data_offsets": [8, 8 + 4 * len(words)]}}).encode()
    return (struct.pack("<Q", len(head)) + head + b"\xff" * 8 +
            struct.pack(f"<{len(words)}I", *words))


class VerdictTest(unittest.TestCase):
    def expect(self, row, ok):
        self.assertIs(row["ok"], ok, row)

    def test_programs_end_as_expected(self):
        self.expect(verdict.ended("a", 75, 75, "stopped"), True)
        row = verdict.ended("a", 1, 0, "train_resnet: no")
        self.expect(row, False)
        self.assertEqual(row["seen"], "exit code 1: train_resnet: no")
        self.expect(verdict.ended("a", -11, 0), False)

    def test_a_failure_is_one_line(self):
        line = "train_resnet: cannot write x: No space left on device"
        for code, lines, ok in ((1, ["step 1", line], True),
                                (2, ["step 1", line], False),
                                (1, [line, line], False),
                                (1, [line, "terminate called"], False),
                                (1, ["train_resnet: other"], False),
                                (-11, [], False)):
            self.expect(verdict.one_line("a", code, lines, ["No space"]), ok)

    def test_each_step_is_there_once(self):
        for steps, ok in (([1, 2, 3], True), ([1, 2], False), ([], False),
                          ([1, 2, 2, 3], False), ([1, 3, 2], False),
                          ([1, 2, 3, 4], False)):
            self.expect(verdict.each_once("a", steps, 3), ok)

    def test_the_newest_and_the_best_are_kept(self):
        written = [5, 10, 15, 20]
        self.expect(verdict.kept([15, 20], written, 20, 2), True)
        self.expect(verdict.kept([5, 15, 20], written, 5, 2), True)
        self.expect(verdict.kept([15, 20], written, 5, 2), False)
        self.expect(verdict.kept([10, 15, 20], written, 20, 2), False)
        # None was deleted.
        self.expect(verdict.kept([15, 20], [15, 20], 20, 2), False)
        self.expect(verdict.nothing_left("a", ["checkpoint-1", "eval"]), True)
        self.expect(verdict.nothing_left("a", [".checkpoint-1.old-7"]), False)

    def test_the_host_waits_once_a_loop_and_for_captures(self):
        for waits, ok in (([2, 1, 2, 1], True), ([1, 1], True),
                          ([2, 2, 2, 1], False), ([3, 1], False),
                          ([1, 0], False), ([None], False), ([], False)):
            loops = [{"host_syncs": wait} for wait in waits]
            self.expect(verdict.host_waits(loops, captures=2), ok)

    def test_a_short_loop_comes_before_a_long_one(self):
        for steps, ok in (([280, 20, 5000], True), ([20, 480], False),
                          ([5000, 20], False), ([], False)):
            loops = [{"steps": count} for count in steps]
            self.expect(verdict.longer_loop(loops, 300, 5000), ok)

    def test_losses_of_all_lives_are_those_of_one(self):
        one = {1: 2.5, 2: 2.25, 3: 2.0}
        lines = list(one.items())
        self.expect(verdict.same_losses("a", one, lines, 3), True)
        self.expect(verdict.same_losses("a", one, lines[:2] + lines, 3), True)
        self.expect(verdict.same_losses("a", one, lines[:2], 3), False)
        self.expect(verdict.same_losses("a", one, lines + [(2, 2.5)], 3), False)
        # Also where a later life made the step again, as it should be.
        self.expect(verdict.same_losses("a", one, [(2, 2.5)] + lines, 3), False)
        self.expect(verdict.same_losses("a", {}, [], 0), False)

    def test_files_have_the_same_bytes(self):
        one = {"model": b"1", "optimizer": b"2"}
        self.expect(verdict.same_files("a", one, dict(one)), True)
        self.expect(verdict.same_files("a", one, {**one, "model": b"0"}), False)
        self.expect(verdict.same_files("a", one, None), False)
        self.expect(verdict.same_files("a", {}, {}), False)

    def test_a_leak_is_found_and_a_peak_is_none(self):
        def check(held):
            return verdict.flat("a", [(count, held(count))
                                      for count in range(61)], (5, 15),
                                (45, 60))
        self.expect(check(lambda count: 100), True)
        self.expect(check(lambda count: 100 + 50 * (count % 3)), True)
        self.expect(check(lambda count: 0 if count < 5 else 100), True)
        self.expect(check(lambda count: 100 + count), False)
        self.expect(verdict.flat("a", [(5, 1.0)], (5, 15), (45, 60)), False)
        self.expect(verdict.flat("a", [], (5, 15), (45, 60)), False)

    def test_other_rows(self):
        self.expect(verdict.at_least("a", 0.8, 0.8), True)
        self.expect(verdict.at_least("a", 0.79, 0.8), False)
        self.expect(verdict.none("a", []), True)
        self.expect(verdict.none("a", ["x"]), False)
        rows = [verdict.row("a", "1|2", True), verdict.row("b", 0, False),
                verdict.left_out("c", "it needs a card")]
        self.assertEqual(verdict.failed(rows), ["b"])
        self.assertEqual(verdict.table(rows).splitlines()[2:], [
            "| a | 1/2 | yes |", "| b | 0 | **no** |",
            "| c | left out: it needs a card | - |"])


class ModelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model = life_run.Model(folder.name)

    def log(self, *events):
        with open(self.model.path / "metrics.jsonl", "a",
                  encoding="utf-8") as file:
            for event in events:
                file.write(event if isinstance(event, str) else
                           json.dumps(event) + "\n")

    def test_the_newest_step_is_that_of_this_life(self):
        self.assertEqual(self.model.newest_step(), 0)
        self.log({"event": "start", "step": 0}, {"event": "train", "step": 7})
        self.assertEqual(self.model.newest_step(), 7)
        begin = self.model.size()
        self.assertEqual(self.model.newest_step(begin), 0)
        self.log({"event": "start", "step": 5}, {"event": "train", "step": 6},
                 '{"event": "tr')
        self.assertEqual(self.model.newest_step(begin), 6)

    def test_a_line_that_a_kill_cut_is_no_event(self):
        self.log({"event": "train", "step": 1, "loss": 2.5}, '{"event"',
                 "\n", {"event": "start", "step": 1, "time": 5},
                 {"event": "loop", "step": 1, "time": 4},
                 {"event": "loop", "step": 2, "time": 6})
        self.assertEqual(self.model.losses(), [(1, 2.5)])
        self.assertEqual([loop["step"]
                          for loop in self.model.loops_of_last_life()], [2])

    def test_a_checkpoint_is_finite_if_all_its_numbers_are(self):
        folder = self.model.folder(20)
        folder.mkdir()
        self.assertEqual(self.model.sums(20), [])
        self.assertFalse(verdict.finite("a", self.model.sums(20))["ok"])
        (folder / "MANIFEST").touch()
        for words, ok in (([0x3F800000, 0x7F7FFFFF, 0x7F7FFFFF], True),
                          ([0x3F800000, INF], False),
                          ([INF, 0x80000000 | INF], False),
                          ([0x7FC00000, 0x3F800000], False)):
            for name in life_run.TENSORS:
                (folder / name).write_bytes(tensors(*words))
            self.assertIs(verdict.finite("a", self.model.sums(20))["ok"], ok)
        self.assertEqual(self.model.checkpoints(), [20])


class LifeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = work.Work(folder.name, "python3", rehearsed=True,
                               given="/programs")
        self.place.begin_part(60)

    def test_a_process_is_watched_and_signalled(self):
        found = life.Life(self.place)
        found.folder.mkdir()
        seen = []
        ended = found.run("sleep", ["sh", "-c", "echo out; echo one >&2; "
                                    "kill -STOP $$"],
                          lambda process: (seen.append(process.pid),
                                           process.kill()))
        self.assertEqual((ended.code, len(set(seen))), (-9, 1))
        ended = found.run("ends", ["sh", "-c", "echo out; echo one >&2; "
                                   "exit 3"])
        self.assertEqual((ended.code, ended.lines, ended.out),
                         (3, ["one"], "out\n"))

    def test_large_files_cannot_be_written(self):
        found = life.Life(self.place)
        ended = found.run("large", ["sh", "-c", "head -c 9999 /dev/zero >"
                                    f"{self.place.folder}/x || exit 7"],
                          largest_file=4096)
        self.assertEqual(ended.code, 7)
        self.assertEqual((self.place.folder / "x").stat().st_size, 4096)

    def test_a_check_that_takes_too_long_has_failed(self):
        found = life.Life(self.place)
        self.place.deadline = time.monotonic()

        def check(of):
            return [of.run("sleep", ["sleep", "60"])]

        rows = life.attempt(check, found)
        self.assertEqual(verdict.failed(rows), ["check: could be made"])
        self.assertIn("time was over", rows[0]["seen"])

    def test_a_check_that_could_not_be_made_does_not_end_the_others(self):
        def no_card(_):
            subprocess.run(["false"], check=True)

        def cut_file(_):
            life_run.sum_of(b"")

        for check in (no_card, cut_file):
            self.assertFalse(life.attempt(check, None)[0]["ok"])

    def test_parameters_are_changed(self):
        found = life.Life(self.place)
        words = found.training(found.model("m"), "data",
                               **life_scale.CPU_SIZES)
        self.assertEqual(words[0], pathlib.Path("/programs/train_resnet"))
        self.assertIn("--model=resnet", words)
        self.assertNotIn("--model=lenet", words)

    def test_each_check_is_there_on_both_machines(self):
        """The card's scale goes beyond the room that it is to go beyond."""
        card = life_scale.CARD
        self.assertGreater(card.loop, 4096)
        self.assertGreater(card.loop, 1024)
        self.assertGreaterEqual(card.eval - card.stop, card.first_loop)
        # The image size changes at the end of an epoch, in the day and in a
        # resumed life, behind an evaluation.
        epoch = card.images[0] // card.parameters["train_batch_size"]
        self.assertTrue(card.eval < 120 * epoch < card.eval + 100)
        for scale in (card, life_scale.CPU):
            saves = 2 * scale.steps // scale.eval
            self.assertGreater(saves, life_scale.KEEP)
            self.assertEqual(scale.steps % scale.eval, 0)
            self.assertEqual(scale.resumed % scale.eval, 0)
            self.assertTrue(scale.loop < scale.kill < scale.stop < scale.eval)

    def test_the_report_has_the_table(self):
        rows = [verdict.row("kill -9", "exit code -9", True)]
        self.assertIn("| kill -9 | exit code -9 | yes |",
                      report.life_text({"life": {"rows": rows}}))
        self.assertEqual(report.life_text({}), "not run")


if __name__ == "__main__":
    unittest.main()
