#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/decoder/jpeg_source.h"
#include "bench/decoder/outcome.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg/reference.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// What comparing windows came to. Sums of such are sums of their fields.
struct WindowTally {
  std::int64_t images = 0;
  std::int64_t windows = 0;
  std::int64_t equal = 0;    // refusals included
  std::int64_t refused = 0;  // by both, with the same message
  std::int64_t plain = 0;    // by the decoder of our own: the fast path
  std::int64_t indexed = 0;  // through a seek index
  // A sum over all windows of hashes of their pixels or messages: the same for
  // the same JPEGs on any machine.
  std::uint64_t hash = 0;

  WindowTally& operator+=(const WindowTally& other);
};

struct WindowCheckOptions {
  int windows = 200;  // of each image; > 0
  JpegLimits limits = {};
  JpegWarnings warnings = JpegWarnings::kErrors;
  int denominator = 1;  // 1, 2, 4 or 8: decodes to that part of the size
};

// Decodes windows of JPEGs by JpegDecoder and by libjpeg-turbo alone, and
// compares pixels and warnings, or the messages with which they are refused.
// Where the JPEG lets a seek index be made, each window is decoded a second
// time through one: in turns, entries at each row, at every 8th, every 4th MCU.
//
// One thread at a time.
class WindowChecker {
 public:
  explicit WindowChecker(const WindowCheckOptions& options = {});

  // Adds to the tally, and to differences a line for each window that is not
  // equal: its JPEG, its place, and what is different.
  void Check(const FoundJpeg& jpeg, WindowTally& tally,
             std::vector<std::string>& differences);

 private:
  template <typename Decoder>
  [[nodiscard]] std::string WarningOf(const Decoder& decoder) const {
    return options_.warnings == JpegWarnings::kTolerated ? decoder.warning()
                                                         : "";
  }
  // Decodes, or reads the header alone where there is no window. index may be
  // null.
  [[nodiscard]] DecodeOutcome Decode(std::span<const std::byte> bytes,
                                     const Window* window,
                                     const JpegSeekIndex* index);
  [[nodiscard]] DecodeOutcome DecodeReference(std::span<const std::byte> bytes,
                                              const Window* window,
                                              RgbImage& image);

  const WindowCheckOptions options_;
  JpegDecoder decoder_;
  ReferenceJpegDecoder reference_;
  RgbImage whole_;  // the reference's, where the whole image can be decoded
  RgbImage expected_;
  RgbImage image_;
  JpegInfo info_;  // of the last header that the reference read
};

}  // namespace infeed
