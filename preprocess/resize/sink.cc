#include "preprocess/resize/sink.h"

#include <cstddef>

#include "base/error.h"
#include "preprocess/resize/antialias_sink.h"
#include "preprocess/resize/four_tap_sink.h"

namespace infeed {

ResizeSink::ResizeSink(int size) : size_(size) {
  Check(size > 0, "an image has pixels");
}

void ResizeSink::Aim(std::span<std::uint32_t> destination, bool flip,
                     const std::optional<ResizeSides>& sides) {
  Check(std::ssize(destination) == std::ptrdiff_t{size_} * size_,
        "the destination is a square of the given size");
  destination_ = destination;
  flip_ = flip;
  sides_ = sides;
  busy_ = {};
  out_y_ = 0;
}

void ResizeSink::Begin(int width, int height) {
  width_ = width;
  height_ = height;
  used_ = sides_.value_or(
      ResizeSides{.vertical = {.in_size = height, .out_size = size_},
                  .horizontal = {.in_size = width, .out_size = size_}});
  in_y_ = 0;
  out_y_ = 0;
}

std::unique_ptr<ResizeSink> MakeResizeSink(ResizeKernel kernel, int size) {
  if (kernel == ResizeKernel::kAntialias) {
    return std::make_unique<AntialiasSink>(size);
  }
  return std::make_unique<FourTapSink>(kernel, size);
}

}  // namespace infeed
