#include "preprocess/resize/sink.h"

#include <algorithm>

#include "base/error.h"
#include "preprocess/resize/antialias_sink.h"
#include "preprocess/resize/four_tap_sink.h"

namespace infeed {

ResizeSink::ResizeSink(const ImageSize& size) : size_(size) {
  Check(size.shorter() > 0, "an image has pixels");
}

void ResizeSink::Aim(std::span<std::uint32_t> destination, bool flip,
                     const std::optional<ResizeSides>& sides) {
  Check(destination.size() == size_.pixels(),
        "the destination has the given size");
  destination_ = destination;
  flip_ = flip;
  sides_ = sides;
  rows_ = {.first = 0, .count = size_.height};
  columns_ = {.first = 0, .count = size_.width};
  if (sides) {
    rows_ = PlaceOfOutputs(sides->vertical, size_.height);
    columns_ = PlaceOfOutputs(sides->horizontal, size_.width);
    if (flip) {
      columns_.first = size_.width - columns_.count - columns_.first;
    }
    if (rows_.count < size_.height || columns_.count < size_.width) {
      std::ranges::fill(destination, sides->fill);
    }
  }
  busy_ = {};
  out_y_ = 0;
}

void ResizeSink::Begin(int width, int height) {
  width_ = width;
  height_ = height;
  used_ = sides_.value_or(
      ResizeSides{.vertical = {.in_size = height, .out_size = size_.height},
                  .horizontal = {.in_size = width, .out_size = size_.width}});
  in_y_ = 0;
  out_y_ = 0;
}

std::unique_ptr<ResizeSink> MakeResizeSink(ResizeKernel kernel,
                                           const ImageSize& size) {
  if (IsAntialiased(kernel)) {
    return std::make_unique<AntialiasSink>(kernel, size);
  }
  return std::make_unique<FourTapSink>(kernel, size);
}

}  // namespace infeed
