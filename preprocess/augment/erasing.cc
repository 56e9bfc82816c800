#include "preprocess/augment/erasing.h"

#include <cmath>
#include <cstdint>

namespace infeed {
namespace {

constexpr int kTries = 10;
constexpr double kLeastArea = 0.02;
constexpr double kMostArea = 0.33;
constexpr double kLeastRatio = 0.3;
constexpr double kMostRatio = 3.3;

double Between(double low, double high, RandomSource& random) {
  return low + (high - low) * static_cast<double>(random.Real());
}

int RoundedRoot(double area) {
  return static_cast<int>(std::nearbyint(std::sqrt(area)));
}

}  // namespace

std::optional<Window> DrawErasing(float probability, int side,
                                  RandomSource& random) {
  if (random.Real() >= probability) {
    return std::nullopt;
  }
  const double pixels = static_cast<double>(side) * side;
  for (int i = 0; i < kTries; ++i) {
    const double area = pixels * Between(kLeastArea, kMostArea, random);
    const double ratio =
        std::exp(Between(std::log(kLeastRatio), std::log(kMostRatio), random));
    const int height = RoundedRoot(area * ratio);
    const int width = RoundedRoot(area / ratio);
    if (height < side && width < side) {
      const auto start = [&](int length) {
        return static_cast<int>(
            random.Below(static_cast<std::uint32_t>(side - length + 1)));
      };
      const int y = start(height);
      return Window{
          .y = y, .x = start(width), .height = height, .width = width};
    }
  }
  return std::nullopt;
}

}  // namespace infeed
