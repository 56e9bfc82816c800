// The loop over images that a GPU has: skipped where there is no GPU.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/memory/image_choice.h"
#include "tests/support/gpu_test.h"
#include "tests/support/made_batches.h"
#include "trainer/loop/device_loop.h"

#include "gtest/gtest.h"

namespace infeed::resident_test {

constexpr int kBatch = 8;
constexpr int kSide = 32;
constexpr int kClasses = 4;
constexpr int kImages = 20;

// Losses are compared bit for bit.
const DeviceOptions kGpu = {.device = "cuda:0", .deterministic = true};
const ModelOptions kModel = {.depth = 18, .num_classes = kClasses};
const OptimizerOptions kOptimizer = {
    .learning_rate = {.base_learning_rate = 3.2,
                      .batch_size = 8,
                      .train_images = 8,
                      .train_steps = 90}};

// The choice of a slot in a step: all images occur, some mirrored, and one slot
// is padding.
std::uint32_t Choice(std::int64_t step, int slot) {
  return slot == 3 ? kNoImage
                   : ImageChoice((5 * step + 3 * slot) % kImages,
                                 (step + slot) % 3 == 0);
}

BatchHandle Choices(std::int64_t step) {
  BatchHandle batch(new Batch({.size = kBatch,
                               .image_size = kSide,
                               .content = BatchContent::kChoices}));
  for (int slot = 0; slot < kBatch; ++slot) {
    batch->pixels()[static_cast<std::size_t>(slot)] = Choice(step, slot);
  }
  return batch;
}

class CudaResidentTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    // In batches that do not fill the last one.
    for (int first = 0; first < kImages; first += kBatch) {
      Batch batch({.size = kBatch, .image_size = kSide});
      FillWithColours(batch, first, kClasses);
      images_.Append(batch);
      batches_.push_back(std::move(batch));
    }
  }

  void Hold(DeviceLoop& loop) const {
    const auto take = loop.Hold(kShape);
    for (const Batch& batch : batches_) {
      take(batch);
    }
  }

  // Steps [first, first + steps), on choices or on what they choose.
  std::vector<StepResult> Train(DeviceLoop& loop, std::int64_t first,
                                std::int64_t steps, bool is_held,
                                std::int64_t batches = 1 << 20) const {
    std::int64_t next = first;
    Infeed infeed(
        std::make_shared<MadeStream>([&]() -> BatchHandle {
          if (next == first + batches) {
            return nullptr;
          }
          BatchHandle choices = Choices(next++);
          if (is_held) {
            return choices;
          }
          BatchHandle pixels(new Batch({.size = kBatch, .image_size = kSide}));
          images_.Gather(*choices, *pixels);
          return pixels;
        }),
        kBatch, kSide);
    std::vector<StepResult> results;
    Outfeed outfeed(
        [&](const StepResult& result) { results.push_back(result); });
    EXPECT_EQ(loop.Train(first, steps, infeed, outfeed),
              std::min(steps, batches));
    outfeed.Drain();
    infeed.Stop();
    return results;
  }

  static void ExpectSame(const std::vector<StepResult>& a,
                         const std::vector<StepResult>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].step, b[i].step);
      EXPECT_EQ(a[i].loss, b[i].loss) << "step " << a[i].step;
      EXPECT_EQ(a[i].learning_rate, b[i].learning_rate);
      EXPECT_EQ(a[i].images, b[i].images);
    }
  }

  static constexpr ResidentShape kShape = {.images = kImages,
                                           .image_size = kSide};
  ResidentImages images_{kShape};
  std::vector<Batch> batches_;
};

TEST_F(CudaResidentTest, TrainsAsOnBatchesFromTheHost) {
  for (const bool fused : {true, false}) {
    ModelOptions model = kModel;
    model.fused_batch_norm = fused;
    const auto held = MakeDeviceLoop(model, kOptimizer, kGpu);
    const auto fed = MakeDeviceLoop(model, kOptimizer, kGpu);
    fed->Load(held->Save());
    Hold(*held);
    // Within the warm-up; beyond it; and launches of the graph that is there,
    // of which the last loop takes several.
    std::int64_t first = 0;
    for (const std::int64_t steps : {2, 5, 1, 30}) {
      ExpectSame(Train(*held, first, steps, true),
                 Train(*fed, first, steps, false));
      first += steps;
    }
  }
}

TEST_F(CudaResidentTest, WaitsOnceALoopAndOnceToCapture) {
  const auto loop = MakeDeviceLoop(kModel, kOptimizer, kGpu);
  Hold(*loop);
  EXPECT_EQ(loop->host_syncs(), 0);
  Train(*loop, 0, 8, true);
  EXPECT_EQ(loop->host_syncs(), 2);
  Train(*loop, 8, 8, true);
  EXPECT_EQ(loop->host_syncs(), 3);
}

// More steps than the results' ring has records.
TEST_F(CudaResidentTest, CutsALongLoop) {
  constexpr std::int64_t kSteps = 5000;
  const auto loop = MakeDeviceLoop(kModel, kOptimizer, kGpu);
  Hold(*loop);
  const std::vector<StepResult> results = Train(*loop, 0, kSteps, true);
  ASSERT_EQ(results.size(), static_cast<std::size_t>(kSteps));
  for (std::int64_t i = 0; i < kSteps; ++i) {
    ASSERT_EQ(results[static_cast<std::size_t>(i)].step, i + 1);
  }
}

TEST_F(CudaResidentTest, EndsWhereTheStreamDoes) {
  const auto loop = MakeDeviceLoop(kModel, kOptimizer, kGpu);
  Hold(*loop);
  EXPECT_EQ(Train(*loop, 0, 10, true, 6).size(), 6U);
  EXPECT_EQ(Train(*loop, 6, 10, true, 0).size(), 0U);
  EXPECT_EQ(Train(*loop, 6, 4, true).size(), 4U);
}

// While several launches are queued; the rest is trained as if nothing had
// been.
TEST_F(CudaResidentTest, EndsSoonAfterARequestAndGoesOnWhereItEnded) {
  constexpr std::int64_t kSteps = 2000;
  const auto loop = MakeDeviceLoop(kModel, kOptimizer, kGpu);
  const auto whole = MakeDeviceLoop(kModel, kOptimizer, kGpu);
  whole->Load(loop->Save());
  Hold(*loop);
  Hold(*whole);
  std::int64_t next = 0;
  Infeed infeed(std::make_shared<MadeStream>([&] {
                  BatchHandle choices = Choices(next++);
                  choices->next = {.epoch = 0, .position = next};
                  return choices;
                }),
                kBatch, kSide);
  std::vector<StepResult> results;
  Outfeed outfeed([&](const StepResult& result) {
    results.push_back(result);
    if (result.step == 10) {
      infeed.Stop();
    }
  });
  const std::int64_t done = loop->Train(0, kSteps, infeed, outfeed);
  outfeed.Drain();
  EXPECT_GE(done, 10);
  EXPECT_LT(done, kSteps);
  EXPECT_EQ(results.size(), static_cast<std::size_t>(done));
  EXPECT_EQ(infeed.position().position, done);
  Train(*loop, done, 5, true);
  Train(*whole, 0, done + 5, true);
  EXPECT_EQ(loop->Hash(), whole->Hash());
}

TEST_F(CudaResidentTest, RefusesMoreThanTheGpuHas) {
  const auto loop = MakeDeviceLoop(kModel, kOptimizer, kGpu);
  EXPECT_THROW(
      (void)loop->Hold({.images = std::int64_t{1} << 30, .image_size = 224}),
      UsageError);
}

}  // namespace infeed::resident_test
