#include "preprocess/recipe/framing.h"

#include <algorithm>
#include <cmath>

namespace infeed {
namespace {

// Sets side.in_first, and returns the source samples that the side needs for a
// destination of `length` pixels.
ResizeSpan TakeSupport(ResizeKernel kernel, int length, ResizeSide& side) {
  const ResizeSpan support =
      SupportOf(kernel, side, PlaceOfOutputs(side, length).count);
  side.in_first = support.first;
  return support;
}

// The factor at which the window just fits into the output.
double FitFactor(const Window& window, const ImageSize& output) {
  return std::min(static_cast<double>(output.height) / window.height,
                  static_cast<double>(output.width) / window.width);
}

int Truncate(int side, float factor) {
  return static_cast<int>(static_cast<float>(side) * factor);
}

}  // namespace

Framing WholeWindow(const Window& window, const ImageSize& size) {
  return {.window = window, .height = size.height, .width = size.width};
}

DecodePlan PlanDecode(const Framing& framing, ResizeKernel kernel,
                      const ImageSize& size, bool is_scaled) {
  DecodePlan plan;
  plan.denominator = is_scaled ? ScaleDenominator(framing) : 1;
  const Window window = ScaledWindow(framing.window, plan.denominator);
  plan.sides.vertical = {.in_size = window.height,
                         .out_size = framing.height,
                         .out_first = std::max(framing.y, 0),
                         .margin = std::max(-framing.y, 0)};
  plan.sides.horizontal = {.in_size = window.width,
                           .out_size = framing.width,
                           .out_first = std::max(framing.x, 0),
                           .margin = std::max(-framing.x, 0)};
  const ResizeSpan rows = TakeSupport(kernel, size.height, plan.sides.vertical);
  const ResizeSpan columns =
      TakeSupport(kernel, size.width, plan.sides.horizontal);
  plan.window = {.y = window.y + rows.first,
                 .x = window.x + columns.first,
                 .height = rows.count,
                 .width = columns.count};
  return plan;
}

int ScaleDenominator(const Framing& framing) {
  const int times = std::min(framing.window.width / framing.width,
                             framing.window.height / framing.height);
  return times >= 8 ? 8 : times >= 4 ? 4 : times >= 2 ? 2 : 1;
}

Window ScaledWindow(const Window& window, int denominator) {
  // Both stay inside the image, as its sides are rounded up.
  return {.y = (window.y + denominator / 2) / denominator,
          .x = (window.x + denominator / 2) / denominator,
          .height = window.height / denominator,
          .width = window.width / denominator};
}

Framing FitWindow(const Window& window, const ImageSize& output,
                  FitMargin margin) {
  const double factor = FitFactor(window, output);
  const auto fitted = [&](int side) {
    return std::max(1, static_cast<int>(std::lrint(side * factor)));
  };
  Framing framing{.window = window,
                  .height = fitted(window.height),
                  .width = fitted(window.width)};
  if (margin == FitMargin::kMiddle) {
    framing.y = (framing.height - output.height) / 2;
    framing.x = (framing.width - output.width) / 2;
  }
  return framing;
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
                  .width = std::max(1, Truncate(window.width, factor))};
  if (framing.height > output.height || framing.width > output.width) {
    const float place = random.Real();
    framing.y = Truncate(std::max(framing.height - output.height, 0), place);
    framing.x = Truncate(std::max(framing.width - output.width, 0), place);
  }
  return framing;
}

}  // namespace infeed
