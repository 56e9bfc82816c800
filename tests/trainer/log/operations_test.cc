#include "trainer/log/operations.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed::recorded_operations_test {

using nlohmann::json;
using std::chrono_literals::operator""ms;
using Clock = TraceLog::Clock;

const Clock::time_point kStart = Clock::now();

RecordedOperation Host(std::size_t name, int from, int to,
                       std::int64_t thread = 7) {
  return {.name = name,
          .row = thread,
          .start = kStart + from * 1ms,
          .length = (to - from) * 1ms};
}

RecordedOperation OnGpu(std::size_t name, OperationKind kind, int from,
                        int to) {
  return {.name = name,
          .kind = kind,
          .device = 1,
          .row = 20,
          .start = kStart + from * 1ms,
          .length = (to - from) * 1ms};
}

DeviceRecord Record(std::vector<RecordedOperation> operations) {
  return {.window = {.from = kStart, .to = kStart + 100ms},
          .names = {"aten::conv2d", "aten::mm", R"(fill<"a\b", (int)1>)",
                    "Memcpy HtoD"},
          .operations = std::move(operations)};
}

TEST(OperationsTest, CountsTimeInsideAnOperationOnce) {
  const DeviceTotals totals =
      ComputeTotals(Record({Host(0, 0, 40), Host(1, 10, 20), Host(1, 20, 25),
                            Host(1, 50, 60), Host(1, 15, 20, 8)}));
  EXPECT_FALSE(totals.on_gpu);
  EXPECT_DOUBLE_EQ(totals.busy, 0.5);
  ASSERT_EQ(totals.dearest.size(), 2U);
  EXPECT_EQ(totals.dearest[0].name, "aten::mm");
  EXPECT_EQ(totals.dearest[0].calls, 4);
  EXPECT_DOUBLE_EQ(totals.dearest[0].seconds, 0.030);
  EXPECT_DOUBLE_EQ(totals.dearest[1].seconds, 0.025);
  EXPECT_DOUBLE_EQ(totals.dearest[0].share, 30.0 / 55);
}

TEST(OperationsTest, AGpuIsBusyWithKernelsAndNotWithCopies) {
  const DeviceTotals totals = ComputeTotals(
      Record({Host(0, 0, 90), OnGpu(2, OperationKind::kKernel, 10, 30),
              OnGpu(2, OperationKind::kKernel, 20, 40),
              OnGpu(3, OperationKind::kCopy, 50, 90),
              OnGpu(2, OperationKind::kKernel, 95, 120)}));
  EXPECT_TRUE(totals.on_gpu);
  EXPECT_DOUBLE_EQ(totals.busy, 0.35);
  ASSERT_EQ(totals.dearest.size(), 2U);
  EXPECT_EQ(totals.dearest[0].calls, 3);
  EXPECT_DOUBLE_EQ(totals.dearest[0].seconds, 0.065);
  EXPECT_EQ(totals.dearest[1].name, "Memcpy HtoD");
}

TEST(OperationsTest, NamesTheTenDearestOnly) {
  DeviceRecord record = Record({});
  EXPECT_TRUE(ComputeTotals(record).dearest.empty());
  for (int i = 0; i < 12; ++i) {
    record.names.push_back("operation " + std::to_string(i));
    record.operations.push_back(Host(record.names.size() - 1, 0, i + 1, i));
  }
  const DeviceTotals totals = ComputeTotals(record);
  ASSERT_EQ(totals.dearest.size(), 10U);
  EXPECT_EQ(totals.dearest.front().name, "operation 11");
  EXPECT_EQ(totals.dearest.back().name, "operation 2");
}

TEST(OperationsTest, WritesThreadsAndGpusOnTheTracesClock) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  TraceLog log;
  const DeviceRecord record =
      Record({Host(0, 3, 5), OnGpu(2, OperationKind::kKernel, 4, 6),
              OnGpu(3, OperationKind::kCopy, 6, 7)});
  log.Span("step", kStart + 2ms, kStart + 8ms, {.step = 1});
  log.Write(path, {}, 1,
            [&](AtomicFile& file) { WriteOperations(record, log, file); });
  const json trace = json::parse(ReadWholeFile(path, 1 << 20));
  std::map<std::string, json> events;  // by name
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      events[event["name"]] = event;
    }
  }
  const double step = events["step"]["ts"];
  const json& host = events["aten::conv2d"];
  EXPECT_EQ(host["pid"], events["step"]["pid"]);
  EXPECT_EQ(host["tid"], 7);
  EXPECT_EQ(host["cat"], "cpu_op");
  EXPECT_NEAR(host["ts"].get<double>() - step, 1000, 0.01);
  EXPECT_DOUBLE_EQ(host["dur"], 2000);
  const json& kernel = events[record.names[2]];
  EXPECT_EQ(kernel["pid"], 1);
  EXPECT_EQ(kernel["cat"], "kernel");
  EXPECT_EQ(kernel["args"], json({{"device", 1}, {"stream", 20}}));
  EXPECT_NEAR(kernel["ts"].get<double>() - step, 2000, 0.01);
  EXPECT_EQ(events["Memcpy HtoD"]["cat"], "gpu_memcpy");
  EXPECT_THAT(trace.dump(), testing::HasSubstr("\"GPU 1\""));
}

}  // namespace infeed::recorded_operations_test
