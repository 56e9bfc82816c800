#include "preprocess/recipe/fit.h"

#include <algorithm>
#include <cmath>

namespace infeed {
namespace {

// The factor at which the window just fits into the output.
double FitFactor(const Window& window, const ImageSize& output) {
  return std::min(static_cast<double>(output.height) / window.height,
                  static_cast<double>(output.width) / window.width);
}

int Truncate(int side, float factor) {
  return static_cast<int>(static_cast<float>(side) * factor);
}

}  // namespace

Framing FitWindow(const Window& window, const ImageSize& output,
                  FitMargin margin) {
  const double factor = FitFactor(window, output);
  const auto fitted = [&](int side) {
    return std::max(1, static_cast<int>(std::lrint(side * factor)));
  };
  return {.window = window,
          .height = fitted(window.height),
          .width = fitted(window.width),
          .margins_at_end = margin == FitMargin::kEnd};
}

// In float where torchvision computes with tensors.
Framing JitterScale(const Window& window, const ImageSize& output,
                    const FitOptions& fit, RandomSource& random) {
  const float scale =
      static_cast<float>(fit.scale_min) +
      random.Real() * static_cast<float>(fit.scale_max - fit.scale_min);
  const float factor = static_cast<float>(FitFactor(window, output)) * scale;
  Framing framing{.window = window,
                  .height = std::max(1, Truncate(window.height, factor)),
                  .width = std::max(1, Truncate(window.width, factor)),
                  .margins_at_end = true};
  if (framing.height > output.height || framing.width > output.width) {
    const float place = random.Real();
    framing.y = Truncate(std::max(framing.height - output.height, 0), place);
    framing.x = Truncate(std::max(framing.width - output.width, 0), place);
  }
  return framing;
}

}  // namespace infeed
