#include "trainer/loop/kineto.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ATen.h>

#include "tests/support/made_batches.h"
#include "tests/support/train_steps.h"
#include "trainer/loop/device_loop.h"

#include "gtest/gtest.h"

namespace infeed::kineto_test {

using Clock = TraceLog::Clock;

// The operations with a name.
std::vector<RecordedOperation> Named(const DeviceRecord& record,
                                     const std::string& name) {
  std::vector<RecordedOperation> named;
  for (const RecordedOperation& operation : record.operations) {
    if (record.names[operation.name] == name) {
      named.push_back(operation);
    }
  }
  return named;
}

void Multiply(int size) {
  const at::Tensor matrix = at::ones({size, size});
  (void)at::mm(matrix, matrix);
}

// LibTorch 1.13 rounds times to microseconds.
TEST(KinetoTest, AnOperationLiesInTheSpanInWhichItRan) {
  constexpr std::chrono::microseconds kRounded{2};
  KinetoRecorder recorder(at::kCPU);
  for (int round = 0; round < 2; ++round) {
    recorder.Begin();
    Multiply(8);  // The first one initialises the library.
    const Clock::time_point before = Clock::now();
    Multiply(200);
    const Clock::time_point after = Clock::now();
    const DeviceRecord record = recorder.End();
    EXPECT_EQ(record.problem, "");
    const std::vector<RecordedOperation> found = Named(record, "aten::mm");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_LE(found[0].start + found[0].length, before + kRounded);
    EXPECT_GE(found[1].start, before - kRounded);
    EXPECT_GT(found[1].length, Clock::duration::zero());
    EXPECT_LE(found[1].start + found[1].length, after + kRounded);
    EXPECT_GE(found[0].start, record.window.from - kRounded);
    EXPECT_LE(after, record.window.to);
    EXPECT_EQ(found[1].kind, OperationKind::kHost);
  }
}

TEST(KinetoTest, EndsBeforeTheNextStepWhereAnotherThreadAsks) {
  KinetoRecorder recorder(at::kCPU);
  EXPECT_TRUE(recorder.RequestEnd());
  recorder.Begin();
  recorder.BeforeStep();
  Multiply(8);
  std::jthread([&] { EXPECT_FALSE(recorder.RequestEnd()); }).join();
  Multiply(8);
  recorder.BeforeStep();
  Multiply(8);
  std::jthread([&] {
    EXPECT_TRUE(recorder.RequestEnd());
    EXPECT_EQ(Named(recorder.End(), "aten::mm").size(), 2U);
  }).join();
  EXPECT_TRUE(recorder.End().operations.empty());
}

TEST(KinetoTest, SaysWhyItCannotRecord) {
  KinetoRecorder recorder(at::kCPU);
  KinetoRecorder second(at::kCPU);
  recorder.Begin();
  second.Begin();  // LibTorch has one profiler a thread.
  EXPECT_TRUE(second.RequestEnd());
  EXPECT_EQ(second.End().problem, "LibTorch's profiler is already in use");
  Multiply(8);
  const DeviceRecord record = recorder.End();
  EXPECT_EQ(record.problem, "");
  EXPECT_EQ(Named(record, "aten::mm").size(), 1U);
}

TEST(KinetoTest, RecordsTheStepsOfALoop) {
  constexpr int kBatch = 4;
  constexpr int kSide = 32;
  constexpr int kClasses = 4;
  const std::unique_ptr<DeviceLoop> loop =
      MakeDeviceLoop({.depth = 18, .num_classes = kClasses}, {},
                     {.device = "cpu", .threads = 2});
  loop->recorder().Begin();
  Infeed infeed(ColourBatches(3, kBatch, kSide, kClasses), kBatch, kSide);
  (void)TrainSteps(*loop, 0, 1, infeed);
  const DeviceRecord first = loop->recorder().End();
  const std::size_t convolutions =
      Named(first, "aten::convolution_backward").size();
  EXPECT_GT(convolutions, 0U);
  const DeviceTotals totals = ComputeTotals(first);
  EXPECT_GT(totals.busy, 0);
  EXPECT_LE(totals.busy, 1);
  EXPECT_EQ(totals.dearest.size(), 10U);

  loop->recorder().Begin();
  EXPECT_FALSE(loop->recorder().RequestEnd());
  (void)TrainSteps(*loop, 1, 1, infeed);  // It ends before this step.
  EXPECT_TRUE(loop->recorder().RequestEnd());
  EXPECT_TRUE(
      Named(loop->recorder().End(), "aten::convolution_backward").empty());
}

}  // namespace infeed::kineto_test
