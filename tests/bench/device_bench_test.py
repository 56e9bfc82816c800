#!/usr/bin/env python3
"""Tests what bench/device makes of measurements, without a card."""

import dataclasses
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/device"))

import ncu  # noqa: E402
import pack  # noqa: E402
import report  # noqa: E402
import roofline  # noqa: E402
import speed  # noqa: E402
import training  # noqa: E402
import work  # noqa: E402

FACTS = {"commit": "abc", "date": "2026-01-01", "card": {"not_run": "no card"},
         "versions": {}}
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
    return {"speed": {"cores": 16, "packed": row(256, 2900),
                      "jpeg": row(256, 2000, input_wait=0.2),
                      "fake": [row(128, 2500), row(256, 3000),
                               {"batch": 512, "not_run": "out of memory"}]},
            "pytorch": {"eager": {"batch": 256, "images_per_second": 2500},
                        "compile": {"batch": 256, "images_per_second": 3200}},
            "graphs": {"steps": 10, "on": row(256, 3000), "off": row(256, 2000),
                       "largest_loss_difference": 0.0, "last_loss": 6.9},
            "ceilings": {"tflops": 800, "gb_per_second": 4300}}


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

    def test_each_variant_moves_fewer_bytes(self):
        megabytes = [row["megabytes_of_image"]
                     for row in roofline.of_card(4000, 700, 256)]
        self.assertEqual([round(value) for value in megabytes],
                         [478, 398, 382, 359])

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
        best = roofline.of_card(4300, 800, 256)[1]["images_per_second"]
        self.assertIn(f"| fused | 398 | {best:,.0f} | {300_000 / best:.1f} % |",
                      text)

    def test_goals_are_met_or_missed(self):
        goals = goals_of(results())
        self.assertTrue(goals["input wait, packed records"])
        self.assertFalse(goals["input wait, JPEG records"])
        self.assertTrue(goals["host waits of a loop"])
        self.assertTrue(goals["images/s by those of PyTorch eager, "
                              "channels_last, AMP"])  # 1.2
        self.assertFalse(goals["images/s by those of torch.compile"])
        self.assertTrue(goals["largest difference of losses, graph and none"])

    def test_what_did_not_run_meets_nothing(self):
        self.assertEqual(set(goals_of({}).values()), {None})
        text = report.markdown(FACTS, {
            "speed": {"not_run": "no card"}, "graphs": None})
        self.assertIn("not run: no card", text)
        self.assertNotIn("| met |", text)
        self.assertNotIn("| missed |", text)

    def test_a_peer_is_compared_on_its_own_batch_alone(self):
        found = results()
        found["pytorch"]["eager"]["batch"] = 64
        self.assertIsNone(report.ratio(found, "eager"))

    def test_the_page_has_every_result(self):
        text = report.markdown({**FACTS, "card": CARD}, results())
        for part in ("Made, 1 MiB", "3,000", "not run: out of memory", "1.20x",
                     "20.00 %", "10.0 % of the latter", "16 cores"):
            self.assertIn(part, text)

    def test_the_json_has_goals_and_parts(self):
        made = json.loads(json.dumps(report.as_json(FACTS, results())))
        self.assertEqual(made["commit"], "abc")
        self.assertEqual(made["parts"]["speed"]["cores"], 16)
        self.assertEqual(len(made["goals"]), 6)


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
                             "Unpack"), ("gemm_bf16", "gemm_bf16")):
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
        self.write({"event": "start"}, *loops)
        told = training.told(self.model, 8)
        self.assertEqual(told["images_per_second"], 20)
        self.assertEqual((told["slowest"], told["fastest"]), (10, 30))
        self.assertIsNone(told["host_syncs"])
        self.write(loops[0])
        with self.assertRaises(work.NotRun):
            training.told(self.model, 8)

    def test_losses_are_those_of_the_steps(self):
        self.write({"event": "train", "loss": 2}, {"event": "loop"},
                   {"event": "train", "loss": 1})
        self.assertEqual(training.losses(self.model), [2, 1])

    def test_losses_are_compared_step_by_step(self):
        made = speed.compared([3, 2, 1], [3, 2.5, 1])
        self.assertEqual(made["largest_loss_difference"], 0.5)
        with self.assertRaises(work.NotRun):
            speed.compared([3], [3, 2])
        with self.assertRaises(work.NotRun):
            speed.compared([], [])


class KernelsTest(unittest.TestCase):
    def test_cases_are_counted(self):
        suite = [{"result": "COMPLETED"}, {"result": "SKIPPED"},
                 {"result": "COMPLETED", "failures": [{}]}]
        self.assertEqual(
            speed.cases({"testsuites": [{"testsuite": suite}]}),
            {"passed": 1, "failed": 1, "skipped": 1})


class PackTest(unittest.TestCase):
    def test_takes_headers_and_libraries_alone(self):
        self.assertTrue(pack.is_needed("/usr/include/fmt/core.h"))
        self.assertTrue(pack.is_needed("/usr/lib/x86_64-linux-gnu/libfmt.so"))
        self.assertFalse(pack.is_needed(
            "/usr/lib/x86_64-linux-gnu/pkgconfig/fmt.pc"))
        self.assertFalse(pack.is_needed("/usr/share/doc/libfmt-dev/copyright"))


if __name__ == "__main__":
    unittest.main()
