#pragma once

#include <chrono>

#include "preprocess/pixels/row_sink.h"

namespace infeed {

// A sink that writes packed pixels of an image's rows as they arrive.
class PackingSink : public RowSink {
 public:
  // Whether all pixels are written, as after the image's last row.
  [[nodiscard]] virtual bool is_complete() const = 0;

  // Time spent on this image.
  [[nodiscard]] virtual std::chrono::steady_clock::duration busy() const = 0;
};

}  // namespace infeed
