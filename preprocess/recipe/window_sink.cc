#include "preprocess/recipe/window_sink.h"

#include <cstddef>

#include "base/error.h"
#include "preprocess/pixels/pack.h"

namespace infeed {

void WindowSink::Aim(std::span<std::uint32_t> destination) {
  destination_ = destination;
  left_ = destination;
  busy_ = {};
}

void WindowSink::Begin(int width, int height) {
  Check(std::ssize(destination_) == std::ptrdiff_t{width} * height,
        "the destination has the window's size");
  width_ = width;
  left_ = destination_;
  band_.SetWidth(width, 0);
}

RgbRows WindowSink::Next(int rows) {
  rows_ = band_.Take(rows);
  return rows_;
}

void WindowSink::Filled() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto count =
      static_cast<std::size_t>(width_) * static_cast<std::size_t>(band_.rows());
  PackImage({.pixels = rows_.pixels,
             .width = width_,
             .height = band_.rows(),
             .stride = rows_.stride},
            false, left_.first(count));
  left_ = left_.subspan(count);
  busy_ += Clock::now() - start;
}

}  // namespace infeed
