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

// Places row * 8 + column in zigzag order.
inline constexpr std::array<std::uint8_t, 64> kZigzag = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// Blocks, and for each how many coefficients in zigzag order it has.
struct MadeBlocks {
  CoefficientPlane plane;
  std::vector<std::uint8_t> ends;
};

// Random blocks with coefficients up to limit in magnitude, small ones as
// likely as large ones. Of eight neighbours all end at or before the same
// place: 64, 10 and 1 in turns.
[[nodiscard]] MadeBlocks MakeBlocks(int columns, int rows, int limit,
                                    int quantiser_limit, unsigned seed);

// A JPEG of whole MCUs with these coefficients: gray of one component, else
// YCbCr. Arithmetic coding, which has codes for numbers that Huffman coding
// has none for: up to 32767, DC up to 16383.
[[nodiscard]] std::string CoefficientJpeg(
    const std::vector<CoefficientPlane>& planes);

// Samples of one component, row after row.
struct DecodedPlane {
  int width = 0;
  int height = 0;
  int block = 0;  // samples a side that a block became
  std::vector<std::uint8_t> samples;

  // The samples of the i-th block.
  [[nodiscard]] std::vector<std::uint8_t> Block(int i) const;
};

// libjpeg's decode at eighths / 8 of the size: the samples of each component
// after the inverse DCT.
[[nodiscard]] std::vector<DecodedPlane> LibjpegSamples(const std::string& jpeg,
                                                       unsigned eighths = 8);

}  // namespace infeed
