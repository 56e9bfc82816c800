#include "preprocess/recipe/framing.h"

#include <algorithm>

namespace infeed {
namespace {

// Sets side.in_first, and returns the source samples that the side needs.
ResizeSupport TakeSupport(ResizeKernel kernel, int size, ResizeSide& side) {
  const ResizeSupport support = SupportOf(kernel, side, size);
  side.in_first = support.first;
  return support;
}

}  // namespace

Framing WholeWindow(const Window& window, int size) {
  return {.window = window, .height = size, .width = size};
}

DecodePlan PlanDecode(const Framing& framing, ResizeKernel kernel, int size,
                      bool is_scaled) {
  DecodePlan plan;
  plan.denominator = is_scaled ? ScaleDenominator(framing) : 1;
  const Window window = ScaledWindow(framing.window, plan.denominator);
  plan.sides.vertical = {.in_size = window.height,
                         .out_size = framing.height,
                         .out_first = framing.y};
  plan.sides.horizontal = {.in_size = window.width,
                           .out_size = framing.width,
                           .out_first = framing.x};
  const ResizeSupport rows = TakeSupport(kernel, size, plan.sides.vertical);
  const ResizeSupport columns =
      TakeSupport(kernel, size, plan.sides.horizontal);
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

}  // namespace infeed
