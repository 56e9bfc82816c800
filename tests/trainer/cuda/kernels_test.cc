// Every kernel against the CPU's code, outputs poisoned before. Sizes are
// small, so that it runs under compute-sanitizer as well.
#include "trainer/kernels/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <torch/types.h>

#include "tests/support/device_array.h"
#include "trainer/feed/pixel_math.h"
#include "trainer/optimizer/optimizer.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using testing::Each;
using testing::ElementsAre;

template <typename T>
std::vector<T> Draw(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(random()) / 4e9F - 0.5F;
    } else {
      value = static_cast<T>(random());
    }
  }
  return values;
}

// The values of images in memory, float32 or bfloat16, as bits of float32.
template <typename T>
std::uint32_t BitsOf(float value) {
  return sizeof(T) == 2 ? Bfloat16Bits(value)
                        : std::bit_cast<std::uint32_t>(value);
}

// What is expected of packed pixels: their bits, normalised.
template <typename T>
std::vector<T> ExpectedImages(const std::vector<std::uint32_t>& pixels,
                              const PixelStatistics& statistics) {
  std::vector<T> expected;
  for (const std::uint32_t pixel : pixels) {
    for (int channel = 0; channel < 3; ++channel) {
      expected.push_back(
          static_cast<T>(BitsOf<T>(Normalized(pixel, channel, statistics))));
    }
  }
  return expected;
}

// T: the unsigned integer with an element's bits.
template <typename T>
class ImagesKernelTest : public DeviceTest {
 protected:
  static constexpr ImageType kType =
      sizeof(T) == 2 ? ImageType::kBfloat16 : ImageType::kFloat32;

  static void ExpectUnpacked(int images, int side,
                             const PixelStatistics& statistics) {
    const auto count = static_cast<std::size_t>(images);
    const auto pixels =
        Draw<std::uint32_t>(count * static_cast<std::size_t>(side * side), 1);
    const auto labels = Draw<std::int32_t>(count, 2);
    const auto weights = Draw<float>(count, 3);
    const DeviceArray<std::uint32_t> from(pixels);
    const DeviceArray<std::int32_t> from_labels(labels);
    const DeviceArray<float> from_weights(weights);
    const DeviceArray<T> to(pixels.size() * 3);
    const DeviceArray<std::int64_t> to_labels(count);
    const DeviceArray<float> to_weights(count);
    LaunchUnpack({from.data(), from_labels.data(), from_weights.data()}, images,
                 side, statistics, kType,
                 {to.data(), to_labels.data(), to_weights.data()}, nullptr);
    EXPECT_EQ(to.Values(), ExpectedImages<T>(pixels, statistics));
    EXPECT_EQ(to_labels.Values(),
              std::vector<std::int64_t>(labels.begin(), labels.end()));
    EXPECT_EQ(to_weights.Values(), weights);
  }
};

using ImageBits = testing::Types<std::uint32_t, std::uint16_t>;
TYPED_TEST_SUITE(ImagesKernelTest, ImageBits, );

TYPED_TEST(ImagesKernelTest, UnpacksWholeBlocksAndTheRest) {
  TestFixture::ExpectUnpacked(2, 64, kImagenetStatistics);
  TestFixture::ExpectUnpacked(3, 31, kImagenetStatistics);
  TestFixture::ExpectUnpacked(1, 1, kUnitStatistics);
}

TYPED_TEST(ImagesKernelTest, CopiesMoreLabelsThanItHasThreads) {
  TestFixture::ExpectUnpacked(5000, 1, kUnitStatistics);
}

// Three parameters in flat buffers, not in their order and with gaps, on the
// device and as the trainer's optimizers take them.
class FlatKernelTest : public DeviceTest {
 protected:
  static constexpr std::size_t kSize = 40000;

  FlatKernelTest() {
    const FlatPlan plan = MakeFlatPlan(flat_);
    chunks_ = plan.chunks;
    first_chunks_ = plan.first_chunks;
    Restart();
  }

  // The CPU's parameters as they were at first.
  void Restart() {
    optimizer_.reset();
    parameters_.clear();
    for (const FlatParameter& flat : flat_) {
      parameters_.push_back(
          {.name = std::to_string(parameters_.size()),
           .weight = Part(weights_, flat).clone().requires_grad_(),
           .decayed = flat.decayed});
    }
  }

  static torch::Tensor Part(std::vector<float>& values,
                            const FlatParameter& flat) {
    return torch::from_blob(values.data() + flat.begin, {flat.count});
  }

  // The weights after a step of the trainer's own optimizer at rate 0.25.
  float StepOnCpu(const OptimizerOptions& options, float gradient_scale) {
    if (!optimizer_) {
      optimizer_ = MakeOptimizer(options, parameters_);
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i].weight.mutable_grad() =
          Part(gradients_, flat_[i]) * gradient_scale;
    }
    return optimizer_->Step(torch::tensor(0.25F)).item<float>();
  }

  // Of found, every parameter's elements; the rest must be as it was.
  void ExpectWeights(const std::vector<float>& found, float tolerance) {
    std::vector<float> expected = weights_;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      Part(expected, flat_[i]).copy_(parameters_[i].weight.detach());
    }
    for (std::size_t i = 0; i < kSize; ++i) {
      ASSERT_NEAR(found[i], expected[i],
                  tolerance * (1 + std::abs(expected[i])))
          << i;
    }
  }

  std::vector<FlatParameter> flat_ = {
      {.begin = 9000, .count = 2 * kFlatChunk + 7},
      {.begin = 0, .count = 8001, .decayed = false},
      {.begin = 30000, .count = 3}};
  std::vector<float> weights_ = Draw<float>(kSize, 11);
  std::vector<float> gradients_ = Draw<float>(kSize, 12);
  std::vector<FlatChunk> chunks_;
  std::vector<std::int32_t> first_chunks_;
  std::vector<OptimizedParameter> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
};

// The buffers of flat parameters on the device.
struct FlatArrays {
  explicit FlatArrays(const std::vector<float>& weight,
                      const std::vector<float>& gradient,
                      const std::vector<FlatChunk>& chunk,
                      const std::vector<std::int32_t>& first)
      : weights(weight),
        averages(std::vector<float>(weight.size())),
        gradients(gradient),
        bfloat16(weight.size()),
        chunks(chunk),
        first_chunks(first),
        plan{.chunks = chunks.data(),
             .chunk_count = static_cast<std::int32_t>(chunk.size()),
             .first_chunks = first_chunks.data(),
             .parameter_count = static_cast<std::int32_t>(first.size() - 1)},
        workspace(2 * chunk.size() + first.size()) {}

  DeviceArray<float> weights;
  DeviceArray<float> averages;
  DeviceArray<float> gradients;
  DeviceArray<std::uint16_t> bfloat16;
  DeviceArray<FlatChunk> chunks;
  DeviceArray<std::int32_t> first_chunks;
  DevicePlan plan;
  DeviceArray<double> workspace;
  DeviceArray<float> rate{std::vector<float>{0.25F}};
  DeviceArray<float> l2{1};
};

TEST_F(FlatKernelTest, MomentumHasTheBitsOfTheCpu) {
  for (const bool nesterov : {true, false}) {
    Restart();
    const FlatArrays arrays(weights_, gradients_, chunks_, first_chunks_);
    const FlatBuffers buffers = {.weights = arrays.weights.data(),
                                 .averages = arrays.averages.data(),
                                 .gradients = arrays.gradients.data()};
    for (int step = 0; step < 3; ++step) {
      const float expected_l2 =
          StepOnCpu({.nesterov = nesterov, .weight_decay = 0.01}, 1);
      LaunchMomentum(buffers, arrays.plan,
                     {.weight_decay = 0.01, .nesterov = nesterov},
                     arrays.rate.data(), arrays.workspace.data(),
                     arrays.l2.data(), nullptr);
      EXPECT_NEAR(arrays.l2.Values()[0], expected_l2, 1e-5 * expected_l2);
    }
    ExpectWeights(arrays.weights.Values(), 0);
    EXPECT_EQ(arrays.gradients.Values(), gradients_);
  }
}

TEST_F(FlatKernelTest, MomentumScalesRoundsAndClears) {
  const FlatArrays arrays(weights_, gradients_, chunks_, first_chunks_);
  const DeviceArray<float> scale(std::vector<float>{0.5F});
  StepOnCpu({.weight_decay = 0.01}, 0.5F);
  LaunchMomentum({.weights = arrays.weights.data(),
                  .averages = arrays.averages.data(),
                  .gradients = arrays.gradients.data(),
                  .bfloat16 = arrays.bfloat16.data(),
                  .clear_gradients = true,
                  .gradient_scale = scale.data()},
                 arrays.plan, {.weight_decay = 0.01}, arrays.rate.data(),
                 arrays.workspace.data(), arrays.l2.data(), nullptr);
  const std::vector<float> weights = arrays.weights.Values();
  ExpectWeights(weights, 0);
  const std::vector<float> gradients = arrays.gradients.Values();
  const std::vector<std::uint16_t> rounded = arrays.bfloat16.Values();
  for (std::size_t i = 0; i < kSize; ++i) {
    const bool ours =
        std::any_of(flat_.begin(), flat_.end(), [&](const auto& flat) {
          const auto at = static_cast<std::int64_t>(i) - flat.begin;
          return at >= 0 && at < flat.count;
        });
    ASSERT_EQ(gradients[i], ours ? 0 : gradients_[i]) << i;
    ASSERT_EQ(rounded[i], ours ? Bfloat16Bits(weights[i]) : 0xCDCD) << i;
  }
}

TEST_F(FlatKernelTest, MomentumGivesTheSameL2EachTime) {
  std::vector<float> terms;
  for (int i = 0; i < 3; ++i) {
    const FlatArrays arrays(weights_, gradients_, chunks_, first_chunks_);
    LaunchMomentum({.weights = arrays.weights.data(),
                    .averages = arrays.averages.data(),
                    .gradients = arrays.gradients.data()},
                   arrays.plan, {}, arrays.rate.data(), arrays.workspace.data(),
                   arrays.l2.data(), nullptr);
    terms.push_back(arrays.l2.Values()[0]);
  }
  EXPECT_THAT(terms, Each(terms[0]));
}

TEST_F(FlatKernelTest, LarsIsThatOfTheCpu) {
  const FlatArrays arrays(weights_, gradients_, chunks_, first_chunks_);
  for (int step = 0; step < 3; ++step) {
    StepOnCpu({.kind = OptimizerKind::kLars, .weight_decay = 0.01}, 1);
    LaunchLars({.weights = arrays.weights.data(),
                .averages = arrays.averages.data(),
                .gradients = arrays.gradients.data()},
               arrays.plan, {.weight_decay = 0.01}, arrays.rate.data(),
               arrays.workspace.data(), nullptr);
  }
  ExpectWeights(arrays.weights.Values(), 1e-6F);
}

class StepKernelTest : public DeviceTest {};

TEST_F(StepKernelTest, TellsTheHostOfEachStep) {
  constexpr std::int64_t kSteps = 3;
  const DeviceArray<float> table({0.5F, 1, 0.25F, 2, 0.125F, 3});
  const DeviceArray<float> row(2);
  const DeviceArray<float> scalars({10, 0.75F, 32, 1});
  const DeviceArray<float> results(3 * kSteps);
  const DeviceArray<StepClock> clock({{.first = 7, .index = 0}});
  void* host = nullptr;
  ASSERT_EQ(cudaHostAlloc(&host, 4 * sizeof(StepRecord), cudaHostAllocMapped),
            cudaSuccess);
  auto* const ring = static_cast<StepRecord*>(host);
  std::fill_n(ring, 4, StepRecord{});
  void* on_device = nullptr;
  ASSERT_EQ(cudaHostGetDevicePointer(&on_device, host, 0), cudaSuccess);
  for (std::int64_t i = 0; i < kSteps; ++i) {
    EXPECT_FALSE(IsWritten(ring[(7 + i) % 4], 8 + i));
    LaunchSelectRow(table.data(), 2, clock.data(), row.data(), nullptr);
    LaunchEndStep({.loss = scalars.data(),
                   .loss_part = scalars.data() + 3,
                   .top_1 = scalars.data() + 1,
                   .rate = row.data(),
                   .images = scalars.data() + 2},
                  {.results = results.data(),
                   .steps = kSteps,
                   .ring = static_cast<StepRecord*>(on_device),
                   .ring_records = 4},
                  clock.data(), nullptr);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    StepRecord& record = ring[(7 + i) % 4];
    ASSERT_TRUE(IsWritten(record, 8 + i));
    EXPECT_EQ(record.loss, 11);
    EXPECT_EQ(record.top_1, 0.75F);
    EXPECT_EQ(record.images, 32);
    EXPECT_EQ(record.rate, 0.5F / static_cast<float>(1 << i));
    EXPECT_EQ(row.Values()[1], static_cast<float>(i + 1));
  }
  EXPECT_THAT(results.Values(), ElementsAre(0.5F, 0.25F, 0.125F, 11, 11, 11,
                                            0.75F, 0.75F, 0.75F));
  EXPECT_EQ(clock.Values()[0].index, kSteps);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
}

}  // namespace
}  // namespace infeed
