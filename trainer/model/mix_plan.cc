#include "trainer/model/mix_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/random.h"

namespace infeed {
namespace {

// A uniform number in (0, 1), whose logarithm is finite.
double OpenReal(SampleRandom& random) {
  return (random.Word() + 0.5) * 0x1p-32;
}

// Standard normal, by Box and Muller.
double Normal(SampleRandom& random) {
  const double radius = std::sqrt(-2 * std::log(OpenReal(random)));
  return radius * std::cos(2 * std::numbers::pi * OpenReal(random));
}

// The logarithm of a number from Gamma(alpha), by Marsaglia and Tsang ("A
// simple method for generating gamma variables", 2000): drawn from Gamma(alpha
// + 1) times a power of a uniform number, which is correct for any alpha > 0.
// The logarithm is returned since the power may underflow.
double LogGamma(double alpha, SampleRandom& random) {
  const double d = alpha + 1 - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = Normal(random);
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 &&
        std::log(OpenReal(random)) < x * x / 2 + d - d * v + d * std::log(v)) {
      return std::log(d * v) + std::log(OpenReal(random)) / alpha;
    }
  }
}

// From Beta(alpha, alpha): a / (a + b) of two from Gamma(alpha).
double Beta(double alpha, SampleRandom& random) {
  const double a = LogGamma(alpha, random);
  const double b = LogGamma(alpha, random);
  return 1 / (1 + std::exp(b - a));
}

// The box's part of a side.
struct Interval {
  int begin;
  int end;
};

Interval DrawInterval(int side, double share, SampleRandom& random) {
  const int half = static_cast<int>(side * std::sqrt(1 - share)) / 2;
  const auto centre =
      static_cast<int>(random.Below(static_cast<std::uint32_t>(side)));
  return {.begin = std::max(0, centre - half),
          .end = std::min(side, centre + half)};
}

Mix DrawCutMix(const ImageSize& size, double alpha, SampleRandom& random) {
  const double share = Beta(alpha, random);
  const Interval x = DrawInterval(size.width, share, random);
  const Interval y = DrawInterval(size.height, share, random);
  const double area = static_cast<double>(x.end - x.begin) * (y.end - y.begin);
  return {
      .inside = 0,
      .left = static_cast<float>(x.begin),
      .top = static_cast<float>(y.begin),
      .right = static_cast<float>(x.end),
      .bottom = static_cast<float>(y.end),
      .label_share = static_cast<float>(1 - area / size.width / size.height)};
}

Mix DrawMixUp(double alpha, SampleRandom& random) {
  const auto share = static_cast<float>(Beta(alpha, random));
  return {.outside = share, .label_share = share};
}

}  // namespace

Mix DrawMix(std::int64_t step, const ImageSize& image_size,
            const MixOptions& options) {
  if (!options.any()) {
    return {};
  }
  SampleRandom random(
      {.seed = options.seed, .position = static_cast<std::uint64_t>(step)},
      RandomStream::kMix);
  const bool both = options.mixup_alpha > 0 && options.cutmix_alpha > 0;
  const bool cut = both ? random.Real() < 0.5F : options.cutmix_alpha > 0;
  return cut ? DrawCutMix(image_size, options.cutmix_alpha, random)
             : DrawMixUp(options.mixup_alpha, random);
}

}  // namespace infeed
