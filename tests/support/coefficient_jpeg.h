#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace infeed {

// One component of a JPEG made from coefficients, row by row in each block.
struct CoefficientPlane {
  int horizontal = 1;  // sampling factors
  int vertical = 1;
  int columns = 0;  // blocks
  int rows = 0;
  std::array<std::uint16_t, 64> quantiser{};
  std::vector<std::int16_t> coefficients;  // 64 * columns * rows
};

// A JPEG of whole MCUs with these coefficients: gray of one component, else
// YCbCr. Arithmetic coding, which has codes for numbers that Huffman coding
// has none for: up to 32767, DC up to 16383.
[[nodiscard]] std::string CoefficientJpeg(
    const std::vector<CoefficientPlane>& planes);

// Samples of one component, or pixels, row after row.
struct DecodedPlane {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> samples;
};

// What libjpeg makes of it at eighths / 8 of the size: the samples behind the
// inverse DCT of each component, and three bytes a pixel, Y Cb Cr (upsampled)
// or R G B.
[[nodiscard]] std::vector<DecodedPlane> LibjpegSamples(const std::string& jpeg,
                                                       unsigned eighths = 8);
[[nodiscard]] DecodedPlane LibjpegPixels(const std::string& jpeg, bool rgb,
                                         unsigned eighths = 8);

}  // namespace infeed
