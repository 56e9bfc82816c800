#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/row_sink.h"

namespace infeed {

// Throws DataError for an image of more pixels than the limit.
void CheckPixels(std::int64_t width, std::int64_t height,
                 const JpegLimits& limits);

// JpegDecoder's work by libjpeg-turbo alone: what every other decoder must
// equal, and what decodes whatever is not a plain baseline JPEG. Its errors are
// the errors there are. As JpegDecoder where not said otherwise.
class ReferenceJpegDecoder {
 public:
  explicit ReferenceJpegDecoder(const JpegLimits& limits = {},
                                JpegWarnings warnings = JpegWarnings::kErrors);
  ~ReferenceJpegDecoder();
  ReferenceJpegDecoder(const ReferenceJpegDecoder&) = delete;
  ReferenceJpegDecoder& operator=(const ReferenceJpegDecoder&) = delete;
  ReferenceJpegDecoder(ReferenceJpegDecoder&&) noexcept;
  ReferenceJpegDecoder& operator=(ReferenceJpegDecoder&&) noexcept;

  [[nodiscard]] JpegInfo ReadHeader(std::span<const std::byte> bytes);
  void DecodeWindow(const Window& window, RowSink& sink);
  void DecodeScaledWindow(int denominator, const Window& window, RowSink& sink);
  void DecodeScaled(int eighths, RowSink& sink);
  [[nodiscard]] const std::string& warning() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infeed
