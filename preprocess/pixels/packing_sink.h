#pragma once

#include <chrono>

#include "preprocess/pixels/row_sink.h"

namespace infeed {

// A sink that makes packed pixels of an image's rows while they arrive.
class PackingSink : public RowSink {
 public:
  // Whether all of them are written, as they are once the image's last row was
  // put.
  [[nodiscard]] virtual bool is_complete() const = 0;

  // Time spent on this image.
  [[nodiscard]] virtual std::chrono::steady_clock::duration busy() const = 0;
};

}  // namespace infeed
