// Training in float16 whose convolutions compute the norms before them, against
// training with norms of their own; on a CPU by a stand-in of cuDNN.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <ATen/Context.h>

#include "tests/support/device_array.h"
#include "tests/support/kernel_tensors.h"
#include "tests/support/made_batches.h"
#include "tests/support/train_steps.h"
#include "trainer/loop/device_loop.h"

#ifdef INFEED_CUDA_ON_CPU
#include "tests/support/cudnn_on_cpu.h"
#endif

#include "gtest/gtest.h"

namespace infeed::fused_training_test {

constexpr int kSteps = 3;
constexpr int kBatch = 6;
constexpr int kSide = 40;
constexpr int kClasses = 4;
// Of float16's significand, when a number is rounded.
constexpr double kHalfUnit = 0x1p-11;

using Values = std::vector<float>;
using NamedValues = std::map<std::string, Values>;

// The results of a training.
struct Trained {
  NamedValues updates;     // of the weights, by all steps
  NamedValues statistics;  // the moving ones
  std::vector<float> losses;
};

Values ValuesOf(const HostTensor& tensor) {
  Values values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

Values Difference(Values a, const Values& b) {
  std::ranges::transform(a, b, a.begin(), std::minus<>());
  return a;
}

double Length(const Values& values) {
  double squares = 0;
  for (const double value : values) {
    squares += value * value;
  }
  return std::sqrt(squares);
}

// Of the difference's length to that of `expected`, for each tensor.
std::map<std::string, double> Distances(const NamedValues& found,
                                        const NamedValues& expected) {
  std::map<std::string, double> distances;
  for (const auto& [name, values] : expected) {
    distances[name] =
        Length(Difference(found.at(name), values)) / Length(values);
  }
  return distances;
}

void FillWithNoise(Batch& batch, std::int64_t number) {
  std::mt19937 random(static_cast<unsigned>(number));
  FillWithColours(batch, number, kClasses);
  for (int slot = 0; slot < batch.size(); ++slot) {
    std::ranges::generate(batch.slot_pixels(slot), std::ref(random));
  }
}

std::unique_ptr<DeviceLoop> LoopWith(Precision precision,
                                     ConvStatistics statistics) {
  const bool is_half = precision == Precision::kFloat16;
  OptimizerOptions optimizer = {
      .learning_rate = {.base_learning_rate = 3e-4,
                        .scaled_by_batch = false,
                        .schedule = RateSchedule::kConstant}};
  if (is_half) {
    optimizer.loss_scale = LossScaleOptions{.scale = 1024};
  }
  return MakeDeviceLoop(
      {.depth = 18,
       .num_classes = kClasses,
       // Else the branches of blocks have no gradients.
       .zero_gamma = false,
       .bn_momentum = 0.5,
       .fused_batch_norm = is_half,
       .conv_statistics = statistics},
      optimizer,
      {.device = kKernelDevice == torch::kCPU ? "cpu" : "cuda",
       .precision = precision,
       .threads = 1,
       .deterministic = true});
}

Trained Train(Precision precision, ConvStatistics statistics) {
#ifdef INFEED_CUDA_ON_CPU
  const OneOrder one_order;
  ResetCudnn();
#endif
  at::globalContext().setAllowTF32CuDNN(false);
  const auto loop = LoopWith(precision, statistics);
  const TensorMap start = loop->Save().model;
  Infeed infeed(MadeBatches(kSteps, kBatch, kSide, FillWithNoise), kBatch,
                kSide);
  Trained trained;
  for (const StepResult& result : TrainSteps(*loop, 0, kSteps, infeed)) {
    EXPECT_EQ(result.skipped_steps, 0);
    trained.losses.push_back(result.loss);
  }
  for (const auto& [name, tensor] : loop->Save().model) {
    if (name.find(".running_") != std::string::npos) {
      trained.statistics[name] = ValuesOf(tensor);
    } else if (tensor.type == DataType::kFloat32) {
      trained.updates[name] =
          Difference(ValuesOf(tensor), ValuesOf(start.at(name)));
    }
  }
  return trained;
}

// Both differ from float32 by rounding, and from each other by no more than
// both do.
void ExpectAsNear(const NamedValues& fused, const NamedValues& pass,
                  const NamedValues& exact) {
  double rounding = 0;
  for (const auto& [name, distance] : Distances(pass, exact)) {
    rounding = std::max(rounding, distance);
  }
  EXPECT_GT(rounding, 0);
  EXPECT_LT(rounding, 0.5);  // Else the next bound says little.
  for (const auto& [name, distance] : Distances(fused, pass)) {
    EXPECT_LE(distance, 2 * rounding) << name;
  }
}

class FusedTrainingTest : public DeviceTest {};

TEST_F(FusedTrainingTest, GivesTheWeightsOfSeparateNorms) {
  const Trained exact = Train(Precision::kFloat32, ConvStatistics::kPass);
  const Trained pass = Train(Precision::kFloat16, ConvStatistics::kPass);
  const Trained fused = Train(Precision::kFloat16, ConvStatistics::kFused);
#ifdef INFEED_CUDA_ON_CPU
  // The second convolutions of 8 blocks.
  EXPECT_EQ(CallsOfCudnn().graphs.at("normed"), 8 * kSteps);
#endif
  ExpectAsNear(fused.updates, pass.updates, exact.updates);
  ExpectAsNear(fused.statistics, pass.statistics, exact.statistics);
  for (std::size_t step = 0; step < kSteps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    EXPECT_NEAR(fused.losses[step], pass.losses[step],
                4 * kHalfUnit * exact.losses[step]);
    EXPECT_NEAR(pass.losses[step], exact.losses[step],
                4 * kHalfUnit * exact.losses[step]);
  }
}

}  // namespace infeed::fused_training_test
