// Batch norm's kernels against their formulas in double.
#include "trainer/kernels/norm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/device_array.h"
#include "tests/support/image_bits.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

struct NormCase {
  std::string name;
  bool residual;
  bool relu;
  ImageType type;
  bool residual_norm = false;  // the residual is normalized too
  bool two = false;            // y has two gradients
  bool sums = false;           // those of x are known
};

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

template <typename T>
std::vector<double> ValuesOf(const std::vector<T>& bits) {
  std::vector<double> values;
  std::ranges::transform(bits, std::back_inserter(values), ValueOf<T>);
  return values;
}
template <typename T>
std::vector<T> DrawImages(std::size_t count, unsigned seed, float mean) {
  std::vector<T> images;
  for (const float value : Draw<float>(count, seed)) {
    images.push_back(RoundedBits<T>(6 * value + mean));
  }
  return images;
}

// Rounded to the images' type.
template <typename T>
std::vector<T> SumOf(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> sums;
  std::ranges::transform(a, b, std::back_inserter(sums), [](T one, T other) {
    return RoundedBits<T>(ValueOf(one) + ValueOf(other));
  });
  return sums;
}

// [rows, channels] of doubles.
struct Columns {
  NormShape shape;
  const std::vector<double>& values;

  [[nodiscard]] double At(std::int64_t row, int channel) const {
    return values[static_cast<std::size_t>(row * shape.channels + channel)];
  }
  // The sum of of(row) over the rows.
  template <typename Of>
  static double Sum(const NormShape& shape, const Of& of) {
    double sum = 0;
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      sum += of(row);
    }
    return sum;
  }
};

// Everything that is on the device, and the same in double.
template <typename T>
class NormRun {
 public:
  NormRun(const NormCase& norm_case, const NormShape& shape)
      : case_(norm_case), shape_(shape) {}

  void Forward() {
    ResidualNorm residual_norm;
    if (case_.residual_norm) {
      residual_norm = NormalizeResidual();
    }
    LaunchNormForward({.shape = shape_,
                       .type = case_.type,
                       .x = x_.data(),
                       .residual = case_.residual ? residual_.data() : nullptr,
                       .residual_norm = residual_norm,
                       .relu = case_.relu,
                       .weight = weight_.data(),
                       .bias = bias_.data(),
                       .epsilon = static_cast<float>(kEpsilon),
                       .momentum = static_cast<float>(kMomentum),
                       .moving_mean = moving_mean_.data(),
                       .moving_variance = moving_variance_.data(),
                       .sums = case_.sums ? sums_.data() : nullptr,
                       .y = y_.data(),
                       .mean = mean_.data(),
                       .inverse_std = inverse_std_.data(),
                       .folded = folded_.data(),
                       .workspace = case_.sums ? nullptr : workspace_.data()},
                      nullptr);
  }

  void Backward() {
    // Where nothing is added, the mask is found from x.
    const bool has_mask = case_.residual && case_.relu;
    LaunchNormBackward(
        {.shape = shape_,
         .type = case_.type,
         .x = x_.data(),
         .y = has_mask ? y_.data() : nullptr,
         .gradient = gradient_.data(),
         .more_gradient = case_.two ? more_gradient_.data() : nullptr,
         .relu = case_.relu,
         .weight = weight_.data(),
         .bias = bias_.data(),
         .mean = mean_.data(),
         .inverse_std = inverse_std_.data(),
         .x_gradient = x_gradient_.data(),
         .residual_gradient = has_mask ? residual_gradient_.data() : nullptr,
         .weight_gradient = weight_gradient_.data(),
         .bias_gradient = bias_gradient_.data(),
         .workspace = workspace_.data()},
        nullptr);
  }

  // The gradient of x from those of weight and bias, which Backward() found.
  void BackwardOfKnownSums() {
    LaunchNormBackward({.shape = shape_,
                        .type = case_.type,
                        .x = x_.data(),
                        .gradient = gradient_.data(),
                        .relu = false,
                        .weight = weight_.data(),
                        .mean = mean_.data(),
                        .inverse_std = inverse_std_.data(),
                        .x_gradient = known_x_gradient_.data(),
                        .weight_gradient = weight_gradient_.data(),
                        .bias_gradient = bias_gradient_.data(),
                        .sums_known = true},
                       nullptr);
  }

  void ExpectForward() const {
    const std::vector<double> y = ValuesOf(y_.Values());
    for (int channel = 0; channel < shape_.channels; ++channel) {
      ExpectForwardOf(channel, y);
    }
  }
  void ExpectBackward() const { ExpectGradients(x_gradient_); }
  void ExpectBackwardOfKnownSums() const { ExpectGradients(known_x_gradient_); }

 private:
  void ExpectGradients(const DeviceArray<T>& of_x) const {
    const std::vector<double> g = MaskedGradient();
    const std::vector<double> x_gradient = ValuesOf(of_x.Values());
    for (int channel = 0; channel < shape_.channels; ++channel) {
      ExpectBackwardOf(channel, g, x_gradient);
    }
    if (case_.residual && case_.relu) {
      EXPECT_EQ(ValuesOf(residual_gradient_.Values()), g);
    }
  }

  // Computes the statistics alone.
  ResidualNorm NormalizeResidual() {
    LaunchNormForward({.shape = shape_,
                       .type = case_.type,
                       .x = residual_.data(),
                       .weight = residual_weight_.data(),
                       .bias = residual_bias_.data(),
                       .epsilon = static_cast<float>(kEpsilon),
                       .mean = residual_mean_.data(),
                       .inverse_std = residual_inverse_std_.data(),
                       .workspace = workspace_.data()},
                      nullptr);
    return {.weight = residual_weight_.data(),
            .bias = residual_bias_.data(),
            .mean = residual_mean_.data(),
            .inverse_std = residual_inverse_std_.data()};
  }

  // As a convolution gives them.
  [[nodiscard]] std::vector<float> SumsOfImages() const {
    const Columns x = {shape_, values_};
    std::vector<float> sums(2 * channels_);
    for (int channel = 0; channel < shape_.channels; ++channel) {
      const auto c = static_cast<std::size_t>(channel);
      sums[c] = static_cast<float>(Columns::Sum(
          shape_, [&](std::int64_t row) { return x.At(row, channel); }));
      sums[channels_ + c] =
          static_cast<float>(Columns::Sum(shape_, [&](std::int64_t row) {
            return std::pow(x.At(row, channel), 2);
          }));
    }
    return sums;
  }

  struct Moments {
    double mean;
    double variance;
  };

  [[nodiscard]] Moments MomentsOf(int channel,
                                  const std::vector<double>& values) const {
    const Columns x = {shape_, values};
    const auto rows = static_cast<double>(shape_.rows);
    const double mean =
        Columns::Sum(shape_,
                     [&](std::int64_t row) { return x.At(row, channel); }) /
        rows;
    const double variance =
        Columns::Sum(shape_,
                     [&](std::int64_t row) {
                       return std::pow(x.At(row, channel) - mean, 2);
                     }) /
        rows;
    return {mean, variance};
  }

  // An image's value is rounded to its type, after float32's rounding.
  static void ExpectImage(double found, double expected, double scale) {
    constexpr double kHalfStep = sizeof(T) == 2 ? 1.0 / 256 : 0;
    ASSERT_NEAR(found, expected,
                kHalfStep * std::abs(expected) + 4e-6 * (1 + scale));
  }
  static void ExpectFloat(float found, double expected) {
    ASSERT_NEAR(found, expected, 4e-6 * (1 + std::abs(expected)));
  }

  void ExpectForwardOf(int channel, const std::vector<double>& found) const {
    const Moments moments = MomentsOf(channel, values_);
    const Moments added = MomentsOf(channel, residuals_);
    const auto c = static_cast<std::size_t>(channel);
    const double inverse_std = 1 / std::sqrt(moments.variance + kEpsilon);
    const double added_inverse_std = 1 / std::sqrt(added.variance + kEpsilon);
    ExpectFloat(mean_.Values()[c], moments.mean);
    ASSERT_NEAR(inverse_std_.Values()[c], inverse_std, 1e-4 * inverse_std);
    ExpectFloat(moving_mean_.Values()[c],
                (1 - kMomentum) * 0.5 + kMomentum * moments.mean);
    const auto rows = static_cast<double>(shape_.rows);
    ExpectFloat(moving_variance_.Values()[c],
                (1 - kMomentum) * 2 + kMomentum * moments.variance * rows /
                                          std::max(1.0, rows - 1));
    ExpectFoldedOf(c);
    for (std::int64_t row = 0; row < shape_.rows; ++row) {
      const double scaled =
          (Columns{shape_, values_}.At(row, channel) - moments.mean) *
          inverse_std * weights_[c];
      double y = scaled + biases_[c];
      double residual = Columns{shape_, residuals_}.At(row, channel);
      if (case_.residual_norm) {
        residual =
            (residual - added.mean) * added_inverse_std * residual_weights_[c] +
            residual_biases_[c];
      }
      y += case_.residual ? residual : 0;
      ExpectImage(Columns{shape_, found}.At(row, channel),
                  case_.relu ? std::max(0.0, y) : y,
                  std::abs(scaled) + inverse_std * std::abs(moments.mean) +
                      (case_.residual_norm
                           ? added_inverse_std * (1 + std::abs(added.mean))
                           : 0));
    }
  }

  // Rounded from the statistics that were found.
  void ExpectFoldedOf(std::size_t c) const {
    const std::vector<Float16> folded = folded_.Values();
    const Float16 scale =
        RoundedBits<Float16>(weights_[c] * inverse_std_.Values()[c]);
    ASSERT_EQ(ValueOf(folded[c]), ValueOf(scale));
    ASSERT_EQ(ValueOf(folded[channels_ + c]),
              ValueOf(RoundedBits<Float16>(biases_[c] - mean_.Values()[c] *
                                                            ValueOf(scale))));
  }

  // The gradient where y, as it was stored, is above 0.
  [[nodiscard]] std::vector<double> MaskedGradient() const {
    std::vector<double> g = gradients_;
    const std::vector<double> y = ValuesOf(y_.Values());
    for (std::size_t i = 0; case_.relu && i < g.size(); ++i) {
      g[i] = y[i] <= 0 ? 0 : g[i];
    }
    return g;
  }

  void ExpectBackwardOf(int channel, const std::vector<double>& masked,
                        const std::vector<double>& found) const {
    const auto c = static_cast<std::size_t>(channel);
    const Columns g = {shape_, masked};
    const Columns x = {shape_, values_};
    const auto rows = static_cast<double>(shape_.rows);
    const double mean = mean_.Values()[c];
    const double inverse_std = inverse_std_.Values()[c];
    const auto centred = [&](std::int64_t row) {
      return (x.At(row, channel) - mean) * inverse_std;
    };
    const double bias = Columns::Sum(
        shape_, [&](std::int64_t row) { return g.At(row, channel); });
    const double weight = Columns::Sum(shape_, [&](std::int64_t row) {
      return g.At(row, channel) * centred(row);
    });
    ASSERT_NEAR(bias_gradient_.Values()[c], bias, 2e-6 * (1 + rows));
    ASSERT_NEAR(weight_gradient_.Values()[c], weight,
                2e-6 * (1 + rows) * (1 + inverse_std));
    for (std::int64_t row = 0; row < shape_.rows; ++row) {
      const double scale = weights_[c] * inverse_std;
      ExpectImage(Columns{shape_, found}.At(row, channel),
                  scale * (g.At(row, channel) - bias / rows -
                           centred(row) * weight / rows),
                  std::abs(scale) * (4 + inverse_std));
    }
  }

  NormCase case_;
  NormShape shape_;
  std::size_t count_ = static_cast<std::size_t>(shape_.rows * shape_.channels);
  std::size_t channels_ = static_cast<std::size_t>(shape_.channels);
  std::vector<T> images_ = DrawImages<T>(count_, 1, 20);
  std::vector<T> added_ = DrawImages<T>(count_, 2, 0);
  std::vector<T> given_ = DrawImages<T>(count_, 3, 0.1F);
  std::vector<T> given_too_ = DrawImages<T>(count_, 8, 0);
  std::vector<float> weights_ = Draw<float>(channels_, 4);
  std::vector<float> biases_ = Draw<float>(channels_, 5);
  std::vector<float> residual_weights_ = Draw<float>(channels_, 6);
  std::vector<float> residual_biases_ = Draw<float>(channels_, 7);
  std::vector<double> values_ = ValuesOf(images_);
  std::vector<double> residuals_ = ValuesOf(added_);
  std::vector<double> gradients_ =
      ValuesOf(case_.two ? SumOf(given_, given_too_) : given_);

  DeviceArray<T> x_{images_};
  DeviceArray<float> sums_{SumsOfImages()};
  DeviceArray<T> residual_{added_};
  DeviceArray<T> gradient_{given_};
  DeviceArray<T> more_gradient_{given_too_};
  DeviceArray<float> weight_{weights_};
  DeviceArray<float> bias_{biases_};
  DeviceArray<float> residual_weight_{residual_weights_};
  DeviceArray<float> residual_bias_{residual_biases_};
  DeviceArray<float> residual_mean_{channels_};
  DeviceArray<float> residual_inverse_std_{channels_};
  DeviceArray<float> moving_mean_{std::vector<float>(channels_, 0.5F)};
  DeviceArray<float> moving_variance_{std::vector<float>(channels_, 2)};
  DeviceArray<T> y_{count_};
  DeviceArray<float> mean_{channels_};
  DeviceArray<float> inverse_std_{channels_};
  DeviceArray<Float16> folded_{2 * channels_};
  DeviceArray<T> x_gradient_{count_};
  DeviceArray<T> known_x_gradient_{count_};
  DeviceArray<T> residual_gradient_{count_};
  DeviceArray<float> weight_gradient_{channels_};
  DeviceArray<float> bias_gradient_{channels_};
  DeviceArray<float> workspace_{
      static_cast<std::size_t>(NormWorkspace(shape_, case_.type))};
};

class NormKernelTest : public DeviceTest,
                       public testing::WithParamInterface<NormCase> {
 protected:
  template <typename T>
  static void ExpectShape(const NormShape& shape) {
    SCOPED_TRACE(std::to_string(shape.rows) + " x " +
                 std::to_string(shape.channels));
    NormRun<T> run(GetParam(), shape);
    run.Forward();
    run.ExpectForward();
    run.Backward();
    run.ExpectBackward();
    if (!GetParam().relu && !GetParam().residual) {
      run.BackwardOfKnownSums();
      run.ExpectBackwardOfKnownSums();
    }
  }
  static void Expect(const NormShape& shape) {
    if (GetParam().type == ImageType::kBfloat16) {
      ExpectShape<std::uint16_t>(shape);
    } else if (GetParam().type == ImageType::kFloat16) {
      ExpectShape<Float16>(shape);
    } else {
      ExpectShape<std::uint32_t>(shape);
    }
  }
};

// Splits of the rows; a last tile whose threads have no channels; numbers that
// nothing divides; few rows.
TEST_P(NormKernelTest, NormsOfEveryShapeAreTheirFormula) {
  Expect({.rows = 300, .channels = 64});
  Expect({.rows = 70, .channels = 264});
  Expect({.rows = 65, .channels = 24});
  if (!GetParam().sums) {  // They say little of so few values.
    Expect({.rows = 2, .channels = 8});
    Expect({.rows = 1, .channels = 8});
  }
}

// Rounded sums of equal values can have a square of the mean above the mean of
// the squares.
TEST_F(DeviceTest, ANormOfSumsHasNoVarianceBelowZero) {
  constexpr int kChannels = 8;
  constexpr float kRows = 3;
  const DeviceArray<float> sums([] {
    std::vector<float> values(kChannels, kRows * 4096);
    values.resize(2 * kChannels, std::nextafter(kRows * 4096 * 4096, 0.0F));
    return values;
  }());
  const DeviceArray<float> mean(kChannels);
  const DeviceArray<float> inverse_std(kChannels);
  LaunchNormForward({.shape = {.rows = 3, .channels = kChannels},
                     .epsilon = static_cast<float>(kEpsilon),
                     .sums = sums.data(),
                     .mean = mean.data(),
                     .inverse_std = inverse_std.data()},
                    nullptr);
  EXPECT_EQ(mean.Values(), std::vector<float>(kChannels, 4096));
  for (const float value : inverse_std.Values()) {
    EXPECT_NEAR(value, 1 / std::sqrt(kEpsilon), 1e-4);
  }
}

std::vector<NormCase> NormCases() {
  std::vector<NormCase> cases;
  const auto add = [&](const NormCase& norm_case) {
    for (const auto& [suffix, type] : {std::pair("", ImageType::kFloat32),
                                       {"Bfloat16", ImageType::kBfloat16},
                                       {"Float16", ImageType::kFloat16}}) {
      cases.push_back(norm_case);
      cases.back().name += suffix;
      cases.back().type = type;
    }
  };
  for (const bool residual : {false, true}) {
    for (const bool relu : {false, true}) {
      const std::string name =
          std::string("Norm") + (residual ? "Add" : "") + (relu ? "Relu" : "");
      add({name, residual, relu, ImageType::kFloat32});
      add({.name = name + "OfSums",
           .residual = residual,
           .relu = relu,
           .type = ImageType::kFloat32,
           .sums = true});
      if (residual) {
        add({name + "Normed", residual, relu, ImageType::kFloat32, true});
      }
      if (residual && relu) {
        add({name + "Two", residual, relu, ImageType::kFloat32, false, true});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, NormKernelTest, testing::ValuesIn(NormCases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace infeed
