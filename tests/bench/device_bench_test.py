#!/usr/bin/env python3
"""Tests what bench/device makes of measurements, without a card."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/device"))

import life_verdict  # noqa: E402
import ncu  # noqa: E402
import outcome  # noqa: E402
import pack  # noqa: E402
import parts  # noqa: E402
import prebuild  # noqa: E402
import prebuilt  # noqa: E402
import report  # noqa: E402
import roofline  # noqa: E402
import speed  # noqa: E402
import training  # noqa: E402
import work  # noqa: E402

FACTS = {"commit": "abc", "date": "2026-01-01", "card": {"not_run": "no card"},
         "cores": 16, "rehearsed": False, "versions": {}}
CARD = {"name": "Made", "memory": "1 MiB", "driver": "1", "compute_capability":
        "9.0"}

# As `ncu --csv --page raw` prints: notices, a head, units, a line a kernel.
NCU = '''==PROF== Connected to process 1
"ID","Kernel Name","gpu__time_duration.sum","dram__bytes_read.sum"
"","","usecond","Mbyte"
"0","void conv<int>(float)","1,500.5","2"
"1","add(float)","10","1"
"2","void conv<int>(float)","499.5","4"
'''


def row(batch, rate, **more):
    return {"batch": batch, "images_per_second": rate, "input_wait": 0.001,
            "device_busy": 0.99, "host_syncs": 1, "tflops": 80,
            "gb_per_second": 2000, **more}


def results():
    passed = {"passed": 9, "skipped": 0, "failed": []}
    return {"kernels": passed, "loop": passed,
            "doctor": {"findings": [{"name": "memory", "value": "1 GiB",
                                     "ok": False, "advice": "add some"}]},
            "fused-graph": row(256, 2950, losses=[3.0, 2.0]),
            "fused-eager": row(256, 2000, losses=[3.0, 2.0]),
            "plain-graph": row(256, 2400, losses=[3.0, 2.0]),
            "packed-256": row(256, 2900),
            "jpeg-256": row(256, 2000, input_wait=0.2),
            "jpeg-512": row(512, 2000, input_wait=0.1),
            "fake-256": row(256, 3000), "fake-512":
                {"not_run": "out of memory"},
            "eager": {"batch": 256, "images_per_second": 2500},
            "compile": {"batch": 256, "images_per_second": 3200},
            "fed": {"batch": 256, "images_per_second":
                    {"engine": 27000, "prefetch": 26000, "resident": 5500,
                     "fed": 5390}, "fed_by_resident": 0.98,
                    "prefetch_by_engine": 0.96},
            "memcheck": {"findings": 7},
            "ceilings": {"tflops": 800, "gb_per_second": 4300, "took": 5.2}}


def goals_of(found):
    return {goal["goal"]: goal["met"] for goal in report.goals(found)}


class RooflineTest(unittest.TestCase):
    def test_the_plan_is_that_of_resnets(self):
        self.assertEqual([roofline.weights(depth, 224)
                          for depth in (50, 101, 152)],
                         [25_557_032, 44_549_160, 60_192_808])
        stem, blocks = roofline.plan(50, 224)
        convs = [stem] + [conv for block in blocks for conv in block]
        self.assertEqual(len(convs), 53)
        self.assertEqual(sum(conv.multiplications for conv in convs)
                         + 2048 * 1000, 4_089_184_256)
        # Without a gradient of the pixels.
        self.assertEqual(roofline.flops_of_image(50, 224),
                         6 * 4_089_184_256 - 2 * stem.multiplications)

    def test_counts_the_tensors_of_a_layer(self):
        conv = roofline.Conv(inputs=4, outputs=8, kernel=3, side=10, stride=2)
        self.assertEqual((conv.read, conv.written), (1600, 800))

        def norm(variant, **changed):
            return sum(op.moved for op in roofline.norm(
                dataclasses.replace(conv, **changed), variant)) / 800

        # y of x, twice read; ReLU; both gradients.
        self.assertEqual(norm("separate"), 3 + 2 + 3 + 5)
        self.assertEqual(norm("separate", residual=True), 3 + 3 + 2 + 3 + 5)
        self.assertEqual(norm("fused"), 3 + 7)
        self.assertEqual(norm("fused", residual=True), 4 + 7)
        self.assertEqual(norm("mask"), 3 + 5)
        self.assertEqual(norm("mask", residual=True), 4 + 7)
        self.assertEqual(norm("fused", relu=False), 3 + 5)
        self.assertEqual(
            [op.moved for op in roofline.convolution(conv, is_first=False)],
            [2400] * 3)
        self.assertEqual(
            len(roofline.convolution(conv, is_first=True)), 2)

    def test_counts_the_bytes_of_a_place(self):
        stem, _ = roofline.plan(50, 224)
        pooled = 56 * 56 * 64
        for variant, place in (("sums", 8), ("pool", 1)):
            moved = sum(op.moved for op in roofline.pool(stem, variant))
            # Forward, and as much backward: both images, and the places.
            self.assertEqual(roofline.BYTES * moved,
                             2 * pooled * (5 * roofline.BYTES + place))

    def test_counts_the_bytes_of_the_stem_as_one_pass(self):
        stem, _ = roofline.plan(50, 224)

        def moved(variant):
            return sum(op.moved for op in roofline.norm_and_pool(stem, variant))

        image = roofline.BYTES * 112 * 112 * 64
        # Not written and read again: the normalised image forward, its gradient
        # backward, which the pool wrote once and the norm read twice; instead
        # the pooled one is read twice with its places.
        self.assertEqual(roofline.BYTES * (moved("pool") - moved("stem")),
                         2 * image + 3 * image - 3 * image / 8)
        self.assertEqual(moved("stem"), moved("trainer"))

    def test_counts_the_bytes_of_each_variant(self):
        megabytes = [row["megabytes_of_image"]
                     for row in roofline.of_card((4e12, 7e14), 256)]
        self.assertEqual([round(value) for value in megabytes],
                         [478, 398, 382, 360, 357, 350, 350, 350, 328, 308])

    def test_sums_by_convolutions_save_a_read_of_each_result(self):
        stem, blocks = roofline.plan(50, 224)
        written = sum(conv.written for block in blocks for conv in block)
        saved = (roofline.bytes_of_image(50, 224, "trainer")
                 - roofline.bytes_of_image(50, 224, "epilogue"))
        self.assertEqual(saved, roofline.BYTES * (stem.written + written))

    def test_norms_within_convolutions_save_three_of_seven_tensors(self):
        _, blocks = roofline.plan(50, 224)
        handed_on = sum(conv.written for block in blocks for conv in block[:2])
        saved = (roofline.bytes_of_image(50, 224, "epilogue")
                 - roofline.bytes_of_image(50, 224, "normed"))
        self.assertEqual(saved, roofline.BYTES * 3 * handed_on)

    def test_counts_the_bytes_of_a_stem_on_squares(self):
        stem, _ = roofline.plan(50, 224)

        def moved(variant):
            return sum(op.moved for op in roofline.pixels(stem, variant))

        # Written once, read forward and for the gradient of the weights.
        self.assertAlmostEqual(moved("depth") - moved("trainer"),
                               3 * (16 * 115 ** 2 - 4 * 224 ** 2))

    def test_bandwidth_or_rate_is_the_limit(self):
        def rate(card):
            return roofline.images_per_second(50, 224, "fused", 256, card)

        flops = roofline.flops_of_image(50, 224)
        self.assertAlmostEqual(rate((1e30, 1e12)), 1e12 / flops)
        moved = roofline.bytes_of_image(50, 224, "fused")
        of_weights = 25_557_032 * roofline.BYTES_OF_WEIGHT / 256
        self.assertAlmostEqual(rate((1e12, 1e30)), 1e12 / (moved + of_weights))
        self.assertLess(rate((1e12, 1e14)), min(rate((1e12, 1e30)),
                                                rate((1e30, 1e14))))


class ReportTest(unittest.TestCase):
    def test_sets_the_speed_against_the_roofline(self):
        text = report.markdown(FACTS, results())
        separate, fused = (row["images_per_second"] for row in
                           roofline.of_card((4.3e12, 8e14), 256)[:2])
        self.assertIn(f"| separate | 478 | {separate:,.0f} | 2,400 | "
                      f"{240_000 / separate:.1f} % |", text)
        self.assertIn(f"| fused | 398 | {fused:,.0f} | 3,000 | "
                      f"{300_000 / fused:.1f} % |", text)
        self.assertRegex(text, r"\| depth \| 350 \| [\d,]+ \| - \|")

    def test_a_stem_on_squares_has_its_own_row(self):
        found = {**results(), "depth-256": row(256, 3100)}
        self.assertEqual(report.ours(found), report.ours(results()))
        text = report.roofline_text(found)
        self.assertRegex(text, r"\| depth \| 350 \| [\d,]+ \| 3,100 \|")
        self.assertIn("| fake images, stem on squares | 256 | 3,100 |",
                      report.speed_text(found))

    def test_goals_are_met_or_missed(self):
        goals = goals_of(results())
        self.assertTrue(goals["failed tests"])
        self.assertTrue(goals["input wait, packed records"])
        self.assertFalse(goals["input wait, JPEG shards"])
        self.assertTrue(goals["host waits of a loop"])
        self.assertTrue(goals["images/s by those of PyTorch eager, "
                              "channels_last, AMP"])  # 1.2
        self.assertFalse(goals["images/s by those of torch.compile"])
        self.assertTrue(goals["largest difference of losses, graph and none"])
        self.assertFalse(goals["images/s of torch.compile, fed by those of "
                               "resident images"])  # 0.98
        self.assertTrue(goals["images/s of infeed.torch.prefetch by those of the "
                              "engine, no model"])

    def test_what_did_not_run_meets_nothing(self):
        self.assertEqual(set(goals_of({}).values()), {None})
        text = report.markdown(FACTS, {
            "fake-256": {"not_run": "no card"}})
        self.assertIn("not run: no card", text)
        self.assertNotIn("| met |", text)
        self.assertNotIn("| missed |", text)

    def test_a_peer_is_compared_on_its_own_batch_alone(self):
        found = results()
        found["eager"]["batch"] = 64
        self.assertIsNone(report.ratio(found, "eager"))

    def test_the_short_training_stands_in_for_the_long_one(self):
        found = results()
        self.assertEqual(report.ratio(found, "eager"), 1.2)
        del found["fake-256"]
        self.assertEqual(report.ratio(found, "eager"), 1.18)

    def test_skipped_tests_have_not_passed(self):
        found = results()
        found["loop"] = {"passed": 0, "skipped": 9, "failed": []}
        self.assertIsNone(goals_of(found)["failed tests"])
        found["loop"] = {"passed": 8, "skipped": 0, "failed": ["Loop.Ends"]}
        self.assertFalse(goals_of(found)["failed tests"])
        self.assertIn("8 passed, 0 skipped, 1 failed: Loop.Ends",
                      report.markdown(FACTS, found))

    def test_losses_are_compared_step_by_step(self):
        found = results()
        found["plain-eager"] = row(256, 1500, losses=[3.0, 2.5])
        self.assertEqual(report.loss_difference(found, "fused"), 0)
        self.assertEqual(report.loss_difference(found, "plain"), 0.5)
        self.assertFalse(goals_of(found)["largest difference of losses, graph "
                                         "and none"])
        for losses in ([], [3.0]):
            found["plain-eager"]["losses"] = losses
            self.assertEqual(report.loss_difference(found, "plain"),
                             float("inf"))

    def test_the_page_has_every_result(self):
        text = report.markdown({**FACTS, "card": CARD}, results())
        for part in ("Made, 1 MiB", "3,000", "not run: out of memory", "1.20x",
                     "20.00 %", "10.0 % of the latter", "16 cores",
                     "| fake images | 512 | not run: out of memory |",
                     "7 findings", "1 GiB (add some)",
                     "| ceilings | 5.2 | ran |"):
            self.assertIn(part, text)

    def test_the_json_has_goals_and_parts(self):
        made = json.loads(json.dumps(report.as_json(FACTS, results())))
        self.assertEqual(made["commit"], "abc")
        self.assertEqual(made["parts"]["fake-256"]["batch"], 256)
        self.assertEqual(len(made["goals"]), 9)


class NcuTest(unittest.TestCase):
    def test_kernels_are_read_in_seconds_and_bytes(self):
        kernels = ncu.rows(NCU)
        self.assertEqual(len(kernels), 3)
        self.assertAlmostEqual(kernels[0]["time"], 1500.5e-6)
        self.assertEqual(kernels[2]["bytes_read"], 4e6)

    def test_the_costliest_come_first(self):
        top = ncu.costliest(ncu.rows(NCU), 1)
        self.assertEqual(top[0]["name"], "void conv<int>(float)")
        self.assertEqual(top[0]["calls"], 2)
        self.assertAlmostEqual(top[0]["share"], 2000 / 2010)

    def test_kernels_have_short_names(self):
        for name, short in (("void at::native::add<int, (int)2>(int)", "add"),
                            ("infeed::(anonymous namespace)::Unpack(float*)",
                             "Unpack"), ("gemm_bf16", "gemm_bf16"),
                            ("void infeed::<unnamed>::Sums<__nv_bfloat16, 2>"
                             "(infeed::NormBackward)", "Sums")):
            self.assertEqual(ncu.base_name(name), short)

    def test_no_kernel_is_no_result(self):
        with self.assertRaises(work.NotRun):
            ncu.rows("==PROF== Connected\n")


class TrainingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model = pathlib.Path(folder.name)

    def write(self, *lines):
        (self.model / "metrics.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines))

    def test_the_warm_up_does_not_count(self):
        loops = [{"event": "loop", "images_per_second": rate,
                  "input_wait": 0.1, "tflops": 1, "device_busy": 0.9,
                  "gb_per_second": 2} for rate in (1, 10, 30, 20)]
        self.write({"event": "start", "batch_size": 8}, *loops)
        told = training.told(self.model)
        self.assertEqual((told["images_per_second"], told["batch"]), (20, 8))
        self.assertEqual((told["slowest"], told["fastest"]), (10, 30))
        self.assertIsNone(told["host_syncs"])
        self.write(loops[0])
        with self.assertRaises(work.NotRun):
            training.told(self.model)

    def test_losses_are_those_of_the_steps(self):
        self.write({"event": "train", "loss": 2}, {"event": "loop"},
                   {"event": "train", "loss": 1})
        self.assertEqual(training.losses(self.model), [2, 1])


class KernelsTest(unittest.TestCase):
    def test_cases_are_counted(self):
        suite = [{"name": "A", "result": "COMPLETED"},
                 {"name": "B", "result": "SKIPPED"},
                 {"name": "C", "result": "COMPLETED", "failures": [{}]}]
        self.assertEqual(
            speed.cases({"testsuites": [{"name": "S", "testsuite": suite}]}),
            {"passed": 1, "skipped": 1, "failed": ["S.C"]})


class PackTest(unittest.TestCase):
    def test_takes_headers_and_libraries_alone(self):
        self.assertTrue(pack.is_needed("/usr/include/fmt/core.h"))
        self.assertTrue(pack.is_needed("/usr/lib/x86_64-linux-gnu/libfmt.so"))
        self.assertFalse(pack.is_needed(
            "/usr/lib/x86_64-linux-gnu/pkgconfig/fmt.pc"))
        self.assertFalse(pack.is_needed("/usr/share/doc/libfmt-dev/copyright"))


class InFolderTest(unittest.TestCase):
    """With an empty work folder, and one that takes results."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.out = self.root / "out"
        self.out.mkdir()
        environment = mock.patch.dict(os.environ, {"OUT": str(self.out)})
        environment.start()
        self.addCleanup(environment.stop)

    def handed(self):
        """What the file of results has, by name."""
        with tarfile.open(self.out / outcome.FILE) as tar:
            return {entry.name.removeprefix("device-results/"):
                    tar.extractfile(entry).read() for entry in tar}


class PartsTest(InFolderTest):
    def setUp(self):
        super().setUp()
        self.place = work.Work(self.root / "work", sys.executable)

    @staticmethod
    def part(name, measure, seconds=600):
        return parts.Part("made", name, seconds, "", measure)

    def after(self, measure, seconds=600):
        """What was handed over when the part after this one ran."""
        seen = {}

        def look(_):
            seen.update(self.handed())
            return {}

        self.assertFalse(parts.run_parts(self.place, [
            self.part("first", measure, seconds), self.part("next", look)]))
        self.assertIn("next", outcome.results(self.place))
        self.assertEqual(list(self.out.iterdir()), [self.out / outcome.FILE])
        return seen

    def hang(self, place):
        place.run(["sh", "-c", f"sleep 600 > {self.root}/pipe & wait"],
                  log="hung")

    def test_the_most_wanted_run_first(self):
        names = [part.name for part in parts.PARTS]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(names[:8], [
            "build", "doctor", "kernels", "loop", "fused-graph", "plain-graph",
            "fused-eager", "plain-eager"])
        self.assertEqual([part.name for part in parts.PARTS
                          if part.group == "speed"],
                         ["data", *(f"{kind}-{batch}" for batch in (256, 512)
                                    for kind in ("jpeg", "packed", "fake",
                                                 "depth", "epilogue",
                                                 "normed", "resident"))])
        self.assertEqual([part.name for part in parts.PARTS
                          if part.group == "compare"],
                         ["eager", "compile", "fed", "memcheck", "racecheck",
                          "profile", "longest"])

    def test_the_parts_fit_into_calls_of_ten_minutes(self):
        self.assertLess(max(part.seconds for part in parts.PARTS), 570)
        self.assertLess(sum(part.seconds for part in parts.PARTS
                            if part.group == "check"), 570)

    def test_a_failing_part_costs_no_other(self):
        def fail(_):
            raise work.NotRun("out of memory")

        seen = self.after(fail)
        self.assertIn(b"out of memory", seen["results/first.json"])
        self.assertIn(b"out of memory", seen["report.md"])

    def test_nor_does_one_whose_result_cannot_be_read(self):
        seen = self.after(lambda _: json.loads("no JSON"))
        self.assertIn("JSONDecodeError",
                      json.loads(seen["results/first.json"])["not_run"])

    def test_a_part_is_stopped_with_all_it_has_started(self):
        os.mkfifo(self.root / "pipe")
        pipe = os.open(self.root / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, pipe)
        seen = self.after(self.hang, seconds=0.5)
        self.assertIn("the part's time is over",
                      json.loads(seen["results/first.json"])["not_run"])
        self.assertIn("results/hung.log", seen)
        while True:  # A killed writer closes the pipe soon.
            try:
                self.assertEqual(os.read(pipe, 1), b"")
                break
            except BlockingIOError:
                time.sleep(0.01)

    def test_a_program_is_not_waited_for_past_the_end_of_all(self):
        self.place.end = time.monotonic()
        made = parts.run_part(self.place, self.part("first", self.hang))
        self.assertTrue(made["cut"])
        self.assertFalse(parts.is_done(self.place, self.part("first", None)))

    def test_a_build_that_filled_a_call_goes_on_in_the_next(self):
        def fail(_):
            raise work.NotRun("the part's time is over")

        self.place.end = time.monotonic() + parts.LEAST_SECONDS - 1
        part = self.part("build", fail)
        parts.run_part(self.place, part)
        self.assertFalse(parts.is_done(self.place, part))
        self.assertLess(570 - parts.PARTS[0].seconds, parts.LEAST_SECONDS)

    def test_a_report_that_fails_costs_no_results(self):
        self.place.save("fake-256", {"no": "rate"})
        outcome.hand_over(self.place)
        self.assertIn("results/fake-256.json", self.handed())

    def test_what_has_no_time_left_is_not_begun(self):
        self.place.end = time.monotonic() + parts.LEAST_SECONDS
        self.assertFalse(parts.run_parts(self.place, [
            self.part("first", lambda _: {})]))
        self.assertIsNone(self.place.load("first"))

    def test_a_failed_part_is_done(self):
        def fail(_):
            raise work.NotRun("no card")

        part = self.part("first", fail)
        self.assertFalse(parts.is_done(self.place, part))
        parts.run_part(self.place, part)
        self.assertTrue(parts.is_done(self.place, part))

    def test_a_part_is_done_once_no_check_failed(self):
        rows = [life_verdict.row("a", 1, True),
                life_verdict.left_out("b", "it needs a card")]
        part = self.part("first", lambda _: {"rows": rows})
        parts.run_part(self.place, part)
        self.assertTrue(parts.is_done(self.place, part))
        rows.append(life_verdict.row("c", 0, False))
        parts.run_part(self.place, part)
        self.assertFalse(parts.is_done(self.place, part))

    def test_the_ends_of_logs_are_handed_over(self):
        results_folder = self.place.folder / "results"
        long = b"x" * outcome.TAIL_BYTES + b"end"
        (results_folder / "a.log").write_bytes(long)
        self.place.save("a", {"losses": [0.5] * outcome.TAIL_BYTES})
        outcome.hand_over(self.place)
        seen = self.handed()
        self.assertEqual(seen["results/a.log"], long[3:])
        self.assertEqual(len(json.loads(seen["results/a.json"])["losses"]),
                         outcome.TAIL_BYTES)

    def test_a_folder_that_takes_nothing_costs_nothing(self):
        (self.root / "file").write_text("")
        os.environ["OUT"] = str(self.root / "file/out")
        self.assertTrue(parts.run_parts(self.place, [
            self.part("first", lambda _: {})]))


class PrebuiltTest(InFolderTest):
    """Programs that were built beforehand, of which ldd says what it says."""

    def setUp(self):
        super().setUp()
        self.where = self.root / "prebuilt"
        self.wheels = self.root / "site-packages"
        for path in (self.where / "bin", self.where / "lib", self.wheels):
            path.mkdir(parents=True)
        (self.where / "bin/train_resnet").write_text("")
        prebuilt.link(self.where, self.wheels)
        self.place = work.Work(self.root / "work", sys.executable)

    def check(self, *lines):
        (self.where / "lib/libfmt.so.9").write_text("")
        with mock.patch.object(work.Work, "run",
                               return_value="\n".join(lines)):
            prebuilt.check_libraries(self.place, self.where)

    def test_libraries_are_those_that_came_along_or_the_wheels(self):
        self.check("\tlinux-vdso.so.1 (0x7)",
                   "\tlibc.so.6 => /lib/libc.so.6 (0x7)",
                   "\tlibcuda.so.1 => not found",
                   f"\tlibfmt.so.9 => {self.where}/bin/../lib/libfmt.so.9 (0x7)",
                   f"\tlibgomp.so.1 => {self.where}/wheels/torch/lib/a.so (0x7)",
                   "\tlibnuma.so.1 => /lib/libnuma.so.1 (0x7)")

    def test_another_or_a_missing_one_is_named(self):
        other = self.root / "libfmt.so.9"
        other.write_text("")
        for line, reason in ((f"libfmt.so.9 => {other} (0x7)",
                              f"train_resnet loads {other}"),
                             ("libtorch.so => not found",
                              "train_resnet needs libtorch.so")):
            with self.assertRaisesRegex(work.NotRun, reason):
                self.check("\tlibc.so.6 => /lib/libc.so.6 (0x7)", "\t" + line)

    def test_programs_look_beside_themselves_and_in_the_wheels(self):
        (self.wheels / "nvidia/cu13/lib").mkdir(parents=True)
        self.assertIn(
            "-rpath,'$ORIGIN/../lib:$ORIGIN/../wheels/torch/lib:"
            "$ORIGIN/../wheels/nvidia/cu13/lib'",
            " ".join(prebuild.link_flags(self.wheels)))

    def test_programs_look_nowhere_else(self):
        """An empty path is the current folder."""
        (self.root / "main.c").write_text("int main(void) { return 0; }\n")
        (self.root / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\n"
            "project(program C)\n"
            # As cmake/torch.cmake sets them, where a wheel lies deep.
            "set(CMAKE_BUILD_RPATH /wheel)\n"
            f"set(CMAKE_INSTALL_RPATH /{'long' * 99})\n"
            "add_executable(program main.c)\n"
            "install(TARGETS program)\n")
        built = self.root / "built"
        for words in (["-S", self.root, "-B", built,
                       *prebuild.link_flags(self.wheels)], ["--build", built]):
            subprocess.run(["cmake", *words], check=True, capture_output=True)
        said = subprocess.run(["readelf", "-d", built / "program"], check=True,
                              capture_output=True, text=True).stdout
        paths = re.search(r"rpath: \[(.*)\]", said).group(1).split(":")
        self.assertEqual([path[:8] for path in paths], ["$ORIGIN/"] * 2)

    def test_programs_find_the_wheels_while_they_are_built(self):
        def ninja(_, folder, *programs):
            self.assertEqual((folder / "tests/../wheels").resolve(), self.wheels)
            self.assertIn("cuda_loop_test", programs)

        def configure(_, folder, *__):
            (folder / "tests").mkdir(parents=True)

        with mock.patch.multiple(prebuild.building, torch_prefix=mock.DEFAULT,
                                 configure=configure, ninja=ninja):
            prebuild.build(self.place, self.wheels)

    def test_libraries_of_the_wheels_stay_there(self):
        shutil.rmtree(self.where / "lib")
        for path in (self.wheels / "torch.so", self.root / "libfmt.so.9"):
            path.write_text("")
        lines = [f"torch.so => {self.where}/bin/../wheels/torch.so (0x7)",
                 f"libfmt.so.9 => {self.root}/libfmt.so.9 (0x7)"]
        with mock.patch.object(work.Work, "run",
                               return_value="\n".join(lines)) as run:
            prebuild.copy_libraries(self.place, self.where)
        stripped = [call.args[0][-1] for call in run.call_args_list
                    if call.args[0][0] == "strip"]
        self.assertEqual(stripped, [f"{self.root}/libfmt.so.9"])

    def test_the_wheels_do_not_count(self):
        (self.where / "lib/a.so").write_bytes(b"x" * 7)
        (self.wheels / "b.so").write_bytes(b"x" * 9)
        self.assertEqual(prebuild.size(self.where), 7)

    def test_sources_that_differ_have_another_hash(self):
        found = set()
        (self.root / "CMakeLists.txt").write_text("")
        for path, text in (("trainer/a.cc", "1"), ("trainer/a.cc", "2"),
                           ("trainer/b.cu", "1"), ("base/CMakeLists.txt", "1")):
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).write_text(text)
            found.add(prebuilt.sources(self.root))
        (self.root / "base/README.md").write_text("1")
        found.add(prebuilt.sources(self.root))
        self.assertEqual(len(found), 4)

    def test_the_pack_takes_those_of_its_sources(self):
        folder = self.root / "pack"
        (folder / "source").mkdir(parents=True)
        (folder / "source/CMakeLists.txt").write_text("")
        made = self.place.folder / "prebuilt"
        self.assertFalse(pack.pack_prebuilt(self.place, folder))
        self.where.rename(made)
        (made / prebuilt.FACTS).write_text('{"sources": "other"}')
        self.assertFalse(pack.pack_prebuilt(self.place, folder))
        self.assertFalse((folder / "prebuilt").exists())
        (made / prebuilt.FACTS).write_text(json.dumps(
            {"sources": prebuilt.sources(folder / "source")}))
        self.assertTrue(pack.pack_prebuilt(self.place, folder))
        self.assertTrue((folder / "prebuilt/bin/train_resnet").exists())
        self.assertFalse(os.path.lexists(folder / "prebuilt/wheels"))


# Programs of a machine with a card, by the name that each is called by.
FAKE = """#!/bin/bash
name="$(basename "$0")"
echo "$name $*" >> "$FAKE_CALLS"
for word; do
  case "$word" in
    --gtest_output=json:*) report="${word#*json:}" ;;
  esac
  case "$before" in
    -B|-C) build="$word" ;;
    --model_dir|--output|--local_scratch_dir) folder="$word" ;;
  esac
  before="$word"
done
[[ -z "$FAKE_FAILS" || "$name $*" != *$FAKE_FAILS* ]] || exit 3
case "$name" in
  nvidia-smi) echo "Made card, 1 MiB, 1, 9.0" ;;
  ninja)
    mkdir -p "$build/bin" "$build/tests"
    for program in train_resnet imagenet_to_records make_demo_images \\
        make_photographs; do
      ln -sf "$(realpath "$0")" "$build/bin/$program"
    done
    for program in cuda_kernels_test cuda_loop_test; do
      ln -sf "$(realpath "$0")" "$build/tests/$program"
    done ;;
  cuda_*_test)
    echo '{"testsuites": [{"name": "A", "testsuite": [{"name": "B"}]}]}' \\
      > "$report" ;;
  make_*) mkdir "$folder" ;;
  imagenet_to_records) mkdir -p "$folder" && touch "$folder/dataset.json" ;;
  train_resnet)
    if [[ "$*" == *doctor* ]]; then
      echo '{"findings": []}'
    else
      mkdir "$folder"
      printf '%s\\n' '{"event": "start", "batch_size": 256}' \\
        '{"event": "train", "loss": 2}' \\
        '{"event": "loop", "images_per_second": 1}' \\
        '{"event": "loop", "images_per_second": 3000}' \\
        > "$folder/metrics.jsonl"
    fi ;;
  compute-sanitizer) echo "ERROR SUMMARY: 0 errors" ;;
  ncu) printf '"Kernel Name","gpu__time_duration.sum"\\n"","ns"\\n"a","1"\\n' ;;
  python)
    case "$*" in
      *ceilings.py*)
        echo "a warning"
        echo '{"gb_per_second": 4000, "tflops": 700}' ;;
      *peer_torch.py*) echo '{"batch": 256, "images_per_second": 2000}' ;;
      *fed.py*)
        printf '%s' '{"batch": 256, "images_per_second": {"fed": 5500}, ' \\
          '"fed_by_resident": 1, "prefetch_by_engine": 1}' ;;
      *torch.__file__*) echo "2.11.0 $(dirname "$0")/torch/__init__.py" ;;
      *) echo 2.11.0 ;;
    esac ;;
  ldd) echo "libfmt.so.9 => $(dirname "$1")/../lib/libfmt.so.9 (0x7)" ;;
esac
"""
FAKES = ["cmake", "compute-sanitizer", "ldd", "ncu", "ninja", "nvidia-smi",
         "nvcc", "python"]


class RunTest(InFolderTest):
    """bench/device/run on a machine whose programs are made up."""

    def setUp(self):
        super().setUp()
        programs = self.root / "programs"
        programs.mkdir()
        for name in FAKES:
            (programs / name).write_text(FAKE)
            (programs / name).chmod(0o755)
        self.programs = programs
        self.calls = self.root / "calls"

    def run_parts(self, *words, fails=""):
        """The exit code; the programs' calls are in self.calls."""
        self.calls.write_text("")
        return subprocess.run(
            [sys.executable, ROOT / "bench/device/run", "--work_dir",
             self.root / "work", "--python", self.programs / "python", *words],
            capture_output=True, check=False, env={
                **os.environ, "FAKE_FAILS": fails, "FAKE_CALLS":
                str(self.calls), "PATH": f"{self.programs}:/usr/bin:/bin"}
        ).returncode

    def called(self, name):
        return [line for line in self.calls.read_text().splitlines()
                if line.startswith(name + " ")]

    def test_every_part_gives_a_result(self):
        self.assertEqual(self.run_parts(), 0)
        seen = self.handed()
        for part in parts.PARTS:
            self.assertNotIn("not_run",
                             json.loads(seen[f"results/{part.name}.json"]))
        self.assertIn(b"1.50x", seen["report.md"])
        self.assertIn(b"Made card", seen["report.md"])
        self.assertIn("models/jpeg-256/metrics.jsonl", seen)
        # The report names them in the order in which they ran.
        table = seen["report.md"].decode().split("## Parts")[1]
        rows = [line.split(" | ")[0][2:] for line in table.splitlines()[4:]]
        self.assertEqual(rows, [part.name for part in parts.PARTS])

    def test_what_is_trained(self):
        self.run_parts("build", "check", "data", "jpeg-512", "depth-256",
                       "epilogue-256", "normed-256")
        trained = [line for line in self.called("train_resnet")
                   if "--mode train" in line]
        self.assertEqual(
            [("fused_batch_norm=true" in line, "cuda_graph=true" in line)
             for line in trained[:4]],
            [(True, True), (False, True), (True, False), (False, False)])
        for line in trained[:4]:
            self.assertIn("--data_dir null", line)
        self.assertIn("data/jpeg-4000", trained[4])
        self.assertIn("--train_batch_size=512", trained[4])
        self.assertIn("--stem_layout=plain", trained[4])
        self.assertIn("--data_dir null", trained[5])
        self.assertIn("--stem_layout=space_to_depth", trained[5])
        self.assertIn("--conv_statistics=pass", trained[5])
        self.assertIn("--data_dir null", trained[6])
        self.assertIn("--stem_layout=plain", trained[6])
        self.assertIn("--conv_statistics=epilogue", trained[6])
        self.assertIn("--precision=bfloat16", trained[6])
        self.assertIn("--data_dir null", trained[7])
        self.assertIn("--conv_statistics=fused", trained[7])
        self.assertIn("--precision=float16", trained[7])
        self.assertEqual(
            [line.split()[1] for line in self.called("cuda_loop_test")],
            ["--gtest_filter=-" + speed.LONGEST])

    def test_failing_programs_cost_their_parts_alone(self):
        self.assertEqual(self.run_parts(fails="models/plain-graph"), 1)
        seen = {name: "not_run" in json.loads(text)
                for name, text in self.handed().items()
                if name.startswith("results/") and name.endswith(".json")}
        self.assertEqual([name for name, failed in seen.items() if failed],
                         ["results/plain-graph.json"])

    def test_a_failed_build_fails_what_needs_it(self):
        self.assertEqual(self.run_parts(fails="ninja"), 1)
        seen = self.handed()
        for name, failed in (("jpeg-256", True), ("kernels", True),
                             ("eager", False), ("ceilings", False)):
            self.assertEqual("not_run" in
                             json.loads(seen[f"results/{name}.json"]), failed)

    def prebuild(self, **changed):
        where = self.root / "work/prebuilt"
        (where / "bin").mkdir(parents=True, exist_ok=True)
        (where / "lib").mkdir(exist_ok=True)
        for name in prebuild.PROGRAMS:
            (where / "bin" / name).write_text(FAKE)
            (where / "bin" / name).chmod(0o755)
        (where / prebuilt.FACTS).write_text(json.dumps({
            "date": "2026-01-01", "architectures": "90-real",
            "sources": prebuilt.sources(ROOT),
            "versions": {"pytorch": "2.11.0"}, **changed}))

    def test_prebuilt_programs_need_no_build(self):
        self.prebuild()
        self.assertEqual(self.run_parts(), 0)
        self.assertFalse(self.called("cmake") + self.called("ninja"))
        self.assertTrue(self.called("cuda_loop_test"))
        seen = self.handed()
        self.assertEqual(json.loads(seen["results/build.json"])["prebuilt"],
                         "2026-01-01")
        self.assertIn(b"3,000", seen["report.md"])
        self.assertEqual(self.run_parts("--resume", "jpeg-512"), 0)
        self.assertFalse(self.called("train_resnet"))

    def test_those_of_another_machine_are_built_again(self):
        for changed, fails in (
                ({"sources": "0"}, ""), ({"architectures": "80-real"}, ""),
                ({"versions": {"pytorch": "2.12.0"}}, ""),
                ({}, "ldd"), ({}, "train_resnet --version")):
            self.prebuild()
            self.assertEqual(self.run_parts("build"), 0)
            self.assertFalse(self.called("ninja"))
            self.prebuild(**changed)
            self.assertEqual(self.run_parts("build", fails=fails), 0)
            self.assertTrue(self.called("ninja"))
            self.assertFalse((self.root / "work/chosen").exists())

    def test_resume_leaves_out_what_ran(self):
        self.run_parts("build", "doctor")
        self.assertEqual(self.run_parts("--resume", "build", "check"), 0)
        self.assertFalse(self.called("ninja"))
        self.assertTrue(self.called("cuda_loop_test"))
        self.assertEqual(self.run_parts("--resume", "check", "--seconds", "1"),
                         0)

    def test_no_time_runs_nothing(self):
        self.assertEqual(self.run_parts("--seconds", "1"), 1)
        self.assertFalse(self.called("ninja"))

    def test_a_check_of_life_that_fails_fails_the_run(self):
        """The made up trainings save nothing and are not killed."""
        self.assertEqual(self.run_parts("life"), 1)
        found = json.loads(self.handed()["results/life.json"])
        failed = {name.split(":")[0] for name in found["failed"]}
        self.assertEqual(failed, {
            "day", "resume", "use", "diverged", "full disk", "resume resident",
            "memory", "beside", "out of memory"})
        self.assertIn(b"| diverged: some good steps | exit code 0 | yes |",
                      self.handed()["report.md"])
        self.assertIn("--device cuda", self.called("train_resnet")[0])
        self.assertIn("--cuda_graph=required", self.called("train_resnet")[0])
        # It runs, and fails, again.
        self.assertEqual(self.run_parts("--resume", "life"), 1)
        self.assertTrue(self.called("train_resnet"))

    def test_unknown_parts_are_rejected(self):
        self.assertEqual(self.run_parts("speeed"), 2)
        for words in (["life", "--cpu"], ["build", "--programs", "bin"],
                      ["--cpu", "--programs", "bin"]):
            self.assertEqual(self.run_parts(*words), 2)


if __name__ == "__main__":
    unittest.main()
