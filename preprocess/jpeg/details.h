#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace infeed {

// How a JPEG was encoded, from its markers before the first scan.
struct JpegDetails {
  int width = 0;
  int height = 0;
  int components = 0;  // 1 gray, 3 colour, 4 CMYK or YCCK
  bool progressive = false;
  bool arithmetic = false;   // else Huffman codes
  int restart_interval = 0;  // MCUs between restart markers; 0: none
  // -1 without Adobe's marker, else its transform: 0 none, 1 YCbCr, 2 YCCK.
  int adobe_transform = -1;
  bool has_exif = false;
  // Sampling factors of each component, horizontal and vertical.
  struct Factors {
    int horizontal = 0;
    int vertical = 0;
  };
  std::array<Factors, 4> sampling{};
  // 1..100: libjpeg's quality setting for the luminance table; for a table that
  // libjpeg does not make, the quality whose table has the nearest sum. 0
  // without a table.
  int quality = 0;
  // Whether the luminance table is exactly libjpeg's of that quality.
  bool standard_table = false;
};

// Reads the header of a JPEG without decoding anything. Throws DataError with
// libjpeg's message.
[[nodiscard]] JpegDetails ReadJpegDetails(std::span<const std::byte> bytes);

// Chroma sampling in the usual notation: "4:4:4", "4:2:2", "4:2:0", "4:4:0",
// "4:1:1", "4:1:0"; "gray" for one component; else the factors of each
// component, as "2x2,1x2,1x2".
[[nodiscard]] std::string SamplingName(const JpegDetails& details);

}  // namespace infeed
