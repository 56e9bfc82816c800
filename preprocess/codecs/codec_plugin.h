#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "preprocess/pixels/image.h"

namespace infeed {

// How OpenCV's 8-bit samples of an image become those of its own depth.
struct SampleDepth {
  // Above 0: white of 16-bit samples that the image's tag names; OpenCV is to
  // return 16 bits.
  int max_value = 0;
  // Whether a 16-bit image that is nearly black has fewer bits than it claims.
  bool may_be_less = false;
  // Significant high bits of red and blue, and of green.
  int bits = 8;
  int green_bits = 8;
};

// Returns the depth of a BMP, TIFF or JPEG 2000 image. Throws DataError for
// samples that OpenCV cannot read, or would read wrongly.
[[nodiscard]] SampleDepth ReadSampleDepth(std::span<const std::byte> bytes);

// Decodes a BMP, TIFF or JPEG 2000 image to RGB by the plugin
// libinfeed_codecs.so, which is loaded for the first such image: its OpenCV
// loads a hundred libraries, which would take each program a tenth of a second
// to start. Samples of other depths are scaled to 8 bits by their own maximum.
// Throws DataError when OpenCV cannot read the image, and where there is no
// plugin. Requires: at most 2^31 - 1 bytes. Thread-safe.
void DecodeByPlugin(std::span<const std::byte> bytes, RgbImage& image);

// The request to the plugin's function kDecodeByOpencv, and its result.
struct PluginImage {
  int max_value = 0;  // set by the caller; above 0: white, of 16-bit samples
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> bgr;  // rows without padding
  std::string error;              // "": none
};
using PluginDecoder = void (*)(std::span<const std::byte> bytes,
                               PluginImage& image);
inline constexpr char kDecodeByOpencv[] = "infeed_decode_by_opencv";

}  // namespace infeed
