// The optimizers' kernels against their formulas in double, and in float32 by
// the CPU's code: there, momentum has the same bits.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/device_array.h"
#include "tests/support/matchers.h"
#include "trainer/kernels/kernels.h"
#include "trainer/kernels/optimizer_math.h"
#include "trainer/model/flat_chunks.h"

namespace infeed {
namespace {

constexpr std::size_t kSize = 40000;
constexpr double kDecay = 0.01;
constexpr float kRate = 0.25F;

// Three parameters in flat buffers, not in their order and with gaps.
const std::vector<FlatParameter> kFlat = {
    {.begin = 9000, .count = 2 * kFlatChunk + 7},
    {.begin = 0, .count = 8001, .decayed = false},
    {.begin = 30000, .count = 3}};

// The weights and averages of an optimizer that computes with T.
template <typename T>
struct Buffers {
  std::vector<T> weights;
  std::vector<T> averages = std::vector<T>(weights.size());
};

template <typename T>
Buffers<T> BuffersOf(const std::vector<float>& weights) {
  return {.weights = std::vector<T>(weights.begin(), weights.end())};
}

// Calls update(parameter, element) for the elements of each parameter.
template <typename Update>
void ForEachElement(const Update& update) {
  for (const FlatParameter& flat : kFlat) {
    for (std::int64_t i = flat.begin; i < flat.begin + flat.count; ++i) {
      update(flat, static_cast<std::size_t>(i));
    }
  }
}

// A step of momentum in double; returns the L2 term of the old weights.
double StepMomentum(Buffers<double>& buffers,
                    const std::vector<float>& gradients, bool nesterov) {
  double squares = 0;
  ForEachElement([&](const FlatParameter& flat, std::size_t i) {
    double& weight = buffers.weights[i];
    double& average = buffers.averages[i];
    squares += flat.decayed ? weight * weight : 0;
    const double g = gradients[i] + (flat.decayed ? kDecay : 0) * weight;
    average = 0.9 * average + g;
    weight -= kRate * (nesterov ? g + 0.9 * average : average);
  });
  return kDecay / 2 * squares;
}

// A step of momentum by the CPU's code in float32.
void StepMomentum(Buffers<float>& buffers, const std::vector<float>& gradients,
                  bool nesterov) {
  ForEachElement([&](const FlatParameter& flat, std::size_t i) {
    MomentumFactors factors = MakeMomentumFactors(0.9, nesterov, kDecay);
    factors.rate = kRate;
    factors.decay = flat.decayed ? factors.decay : 0;
    UpdateMomentum(buffers.weights[i], buffers.averages[i], gradients[i],
                   factors);
  });
}

double NormOf(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) {
    squares += value * value;
  }
  return std::sqrt(squares);
}

// A step of LARS in double.
void StepLars(Buffers<double>& buffers, const std::vector<float>& gradients) {
  for (const FlatParameter& flat : kFlat) {
    const auto part = [&](const auto& values) {
      return std::vector<double>(values.begin() + flat.begin,
                                 values.begin() + flat.begin + flat.count);
    };
    const double w = NormOf(part(buffers.weights));
    const double g = NormOf(part(gradients));
    const double decay = flat.decayed ? kDecay : 0;
    const double rate =
        flat.decayed ? kRate * 0.001 * w / (g + decay * w) : kRate;
    for (std::int64_t k = flat.begin; k < flat.begin + flat.count; ++k) {
      const auto i = static_cast<std::size_t>(k);
      buffers.averages[i] = 0.9 * buffers.averages[i] +
                            rate * (gradients[i] + decay * buffers.weights[i]);
      buffers.weights[i] -= buffers.averages[i];
    }
  }
}

// Elements in no parameter must be as they were: `expected` has them so.
void ExpectNear(const std::vector<float>& found,
                const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance * (1 + std::abs(expected[i])))
        << i;
  }
}

class OptimizerKernelTest : public DeviceTest {
 protected:
  [[nodiscard]] FlatBuffers buffers() const {
    return {.weights = on_device_.data(),
            .averages = averages_.data(),
            .gradients = on_device_gradients_.data()};
  }
  [[nodiscard]] DevicePlan plan() const {
    return {.chunks = chunks_.data(),
            .chunk_count = static_cast<std::int32_t>(plan_.chunks.size()),
            .first_chunks = first_chunks_.data(),
            .parameter_count = static_cast<std::int32_t>(kFlat.size())};
  }
  void LaunchStep(const FlatBuffers& buffers, bool nesterov) const {
    LaunchMomentum(buffers, plan(),
                   {.weight_decay = kDecay, .nesterov = nesterov}, rate_.data(),
                   workspace_.data(), l2_.data(), nullptr);
  }

  std::vector<float> weights_ = Draw<float>(kSize, 11);
  std::vector<float> gradients_ = Draw<float>(kSize, 12);
  FlatPlan plan_ = MakeFlatPlan(kFlat);
  DeviceArray<float> on_device_{weights_};
  DeviceArray<float> averages_{std::vector<float>(kSize)};
  DeviceArray<float> on_device_gradients_{gradients_};
  DeviceArray<FlatChunk> chunks_{plan_.chunks};
  DeviceArray<std::int32_t> first_chunks_{plan_.first_chunks};
  DeviceArray<double> workspace_{2 * plan_.chunks.size() + kFlat.size()};
  DeviceArray<float> rate_{std::vector<float>{kRate}};
  DeviceArray<float> l2_{std::size_t{1}};
};

TEST_F(OptimizerKernelTest, MomentumHasTheBitsOfTheCpu) {
  for (const bool nesterov : {true, false}) {
    const DeviceArray<float> weights(weights_);
    const DeviceArray<float> averages{std::vector<float>(kSize)};
    FlatBuffers copies = buffers();
    copies.weights = weights.data();
    copies.averages = averages.data();
    auto exact = BuffersOf<double>(weights_);
    auto on_cpu = BuffersOf<float>(weights_);
    for (int step = 0; step < 3; ++step) {
      const double l2 = StepMomentum(exact, gradients_, nesterov);
      StepMomentum(on_cpu, gradients_, nesterov);
      LaunchStep(copies, nesterov);
      EXPECT_NEAR(l2_.Values()[0], l2, 1e-5 * l2);
    }
    EXPECT_EQ(weights.Values(), on_cpu.weights);
    EXPECT_EQ(averages.Values(), on_cpu.averages);
    ExpectNear(weights.Values(), exact.weights, 1e-6);
    EXPECT_EQ(on_device_gradients_.Values(), gradients_);
  }
}

TEST_F(OptimizerKernelTest, MomentumGivesTheSameL2EachTime) {
  std::vector<float> terms;
  for (int i = 0; i < 3; ++i) {
    const DeviceArray<float> weights(weights_);
    const DeviceArray<float> averages{std::vector<float>(kSize)};
    FlatBuffers copies = buffers();
    copies.weights = weights.data();
    copies.averages = averages.data();
    LaunchStep(copies, true);
    terms.push_back(l2_.Values()[0]);
  }
  EXPECT_THAT(terms, Each(terms[0]));
}

// Gradients that are not finite change no bit, and the L2 term is as ever.
TEST_F(OptimizerKernelTest, ARefusedStepChangesNothing) {
  const DeviceArray<float> refused(std::vector<float>{1});
  const DeviceArray<float> bad(
      std::vector<float>(kSize, std::numeric_limits<float>::infinity()));
  LaunchStep(buffers(), true);
  const std::vector<float> weights = on_device_.Values();
  const std::vector<float> averages = averages_.Values();
  FlatBuffers refusing = buffers();
  refusing.gradients = bad.data();
  refusing.refused = refused.data();
  LaunchStep(refusing, true);
  const float l2 = l2_.Values()[0];
  LaunchLars(refusing, plan(), {.weight_decay = kDecay}, rate_.data(),
             workspace_.data(), nullptr);
  EXPECT_EQ(on_device_.Values(), weights);
  EXPECT_EQ(averages_.Values(), averages);
  const DeviceArray<float> allowed(std::vector<float>{0});
  refusing.gradients = on_device_gradients_.data();
  refusing.refused = allowed.data();
  LaunchStep(refusing, true);
  EXPECT_EQ(l2_.Values()[0], l2);
  EXPECT_NE(on_device_.Values(), weights);
}

TEST_F(OptimizerKernelTest, LarsIsItsFormula) {
  auto exact = BuffersOf<double>(weights_);
  for (int step = 0; step < 3; ++step) {
    StepLars(exact, gradients_);
    LaunchLars(buffers(), plan(), {.weight_decay = kDecay}, rate_.data(),
               workspace_.data(), nullptr);
  }
  ExpectNear(on_device_.Values(), exact.weights, 1e-6);
  ExpectNear(averages_.Values(), exact.averages, 1e-6);
}

}  // namespace
}  // namespace infeed
