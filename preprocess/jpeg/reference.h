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

// Decodes by libjpeg-turbo alone: every other decoder must give the same
// pixels, and it decodes all JPEGs that are not plain baseline. It makes all
// error messages. Members as in JpegDecoder unless stated otherwise.
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
