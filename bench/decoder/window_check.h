#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "bench/decoder/jpeg_source.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg/reference.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// The result of a decode: pixels, or the message of its error.
struct DecodeOutcome {
  std::string error;         // empty: no error
  RgbView pixels = {};       // borrowed
  std::string warning = {};  // if warnings are tolerated
};

// Returns "" for equal outcomes, else a description of the difference: the
// first different pixel, or the messages.
[[nodiscard]] std::string DescribeDifference(const DecodeOutcome& outcome,
                                             const DecodeOutcome& expected);

// Returns a hash of the pixels, or of the message.
[[nodiscard]] std::uint64_t HashOutcome(const DecodeOutcome& outcome);

// Windows of an image for testing a decoder: the whole image first, then in
// turns windows of any place and size, training crops, windows at the image's
// edges with odd sides, and windows of a few pixels. Equal arguments give equal
// windows. Requires: all > 0.
[[nodiscard]] std::vector<Window> RandomWindows(int height, int width,
                                                int count,
                                                const SampleKey& key);

// The counts of compared windows. Tallies are added field by field.
struct WindowTally {
  std::int64_t images = 0;
  std::int64_t windows = 0;
  std::int64_t equal = 0;    // rejections included
  std::int64_t refused = 0;  // by both, with the same message
  std::int64_t plain = 0;    // decoded by PlainJpegDecoder: the fast path
  std::int64_t indexed = 0;  // through a seek index
  // The sum of hashes of all windows' pixels or messages: equal for the same
  // JPEGs on every machine.
  std::uint64_t hash = 0;

  WindowTally& operator+=(const WindowTally& other);
};

struct WindowCheckOptions {
  int windows = 200;  // of each image; > 0
  JpegLimits limits = {};
  JpegWarnings warnings = JpegWarnings::kErrors;
  int denominator = 1;  // 1, 2, 4 or 8: decodes at 1/denominator of the size
};

// Decodes windows of JPEGs by JpegDecoder and by libjpeg-turbo alone, and
// compares pixels and warnings, or the messages with which they are rejected.
// If the JPEG can have a seek index, each window is also decoded with one: in
// turns with entries at each row, every 8th and every 4th MCU; and with what
// the decodes of the windows before found.
//
// One thread at a time.
class WindowChecker {
 public:
  explicit WindowChecker(const WindowCheckOptions& options = {});

  // Adds to the tally, and for each unequal window a line to differences: its
  // JPEG, its place, and what differs.
  void Check(const FoundJpeg& jpeg, WindowTally& tally,
             std::vector<std::string>& differences);

 private:
  template <typename Decoder>
  [[nodiscard]] std::string WarningOf(const Decoder& decoder) const {
    return options_.warnings == JpegWarnings::kTolerated ? decoder.warning()
                                                         : "";
  }
  // Decodes a window, or without one reads only the header. index may be null;
  // found_ becomes what the decode found.
  [[nodiscard]] DecodeOutcome Decode(std::span<const std::byte> bytes,
                                     const Window* window,
                                     const JpegSeekIndex* index);
  [[nodiscard]] DecodeOutcome DecodeReference(std::span<const std::byte> bytes,
                                              const Window* window,
                                              RgbImage& image);

  const WindowCheckOptions options_;
  JpegDecoder decoder_;
  ReferenceJpegDecoder reference_;
  RgbImage whole_;  // libjpeg-turbo's, if the whole image can be decoded
  RgbImage expected_;
  RgbImage image_;
  JpegSeekIndex found_;
  JpegInfo info_;  // of the last header read by libjpeg-turbo
};

}  // namespace infeed
