#pragma once

#include <cstdint>
#include <string>

#include "preprocess/image.h"
#include "tests/support/bytes.h"

namespace infeed {

// Sampling factors of the first component; the others have 1x1.
enum class Subsampling { k444, k422, k420, k440, k411 };

enum class TestColor {
  kRgb,        // YCbCr
  kGray,       // one component
  kCmyk,       // four components without Adobe's marker
  kAdobeCmyk,  // four components, inks inverted, Adobe's marker
  kAdobeYcck,  // the same as luma, chroma and black
};

struct TestJpegOptions {
  int width = 64;
  int height = 48;
  int quality = 90;
  Subsampling subsampling = Subsampling::k444;
  TestColor color = TestColor::kRgb;
  bool progressive = false;
  bool separate_scans = false;  // baseline, one scan a component
  bool arithmetic = false;
  bool optimize = false;     // Huffman tables of its own
  int restart_interval = 0;  // MCUs; 0: none
  std::uint64_t seed = 1;
};

// An image that looks like a photograph to a codec: soft shapes, edges and a
// little noise. The same for the same arguments.
[[nodiscard]] RgbImage TestPhotograph(int width, int height,
                                      std::uint64_t seed);

// TestPhotograph() as a JPEG, through libjpeg: all the kinds that
// EncodeJpeg() does not make.
[[nodiscard]] std::string TestJpeg(const TestJpegOptions& options = {});

// The samples of a JPEG's own components, interleaved, before any colour
// conversion between inks and RGB.
[[nodiscard]] std::string DecodeInks(const std::string& jpeg);

// The pixels of a view, row after row without padding.
[[nodiscard]] std::string Flat(const RgbView& image);

}  // namespace infeed
