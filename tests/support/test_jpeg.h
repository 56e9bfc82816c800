#pragma once

#include <cstdint>
#include <string>

#include "preprocess/pixels/image.h"
#include "tests/support/bytes.h"

namespace infeed {

// Sampling factors of the first component; the others have 1x1, where not said
// otherwise. The first four are the usual ones.
enum class Subsampling {
  k444,         // 1x1
  k422,         // 2x1
  k420,         // 2x2
  k440,         // 1x2
  k411,         // 4x1
  k441,         // 1x4
  k410,         // 4x2
  kAllWide,     // 2x1 of all components: as 4:4:4, in larger MCUs
  kWideChroma,  // 1x1, chroma 2x1
  kTallBlue,    // 2x2, chroma 1x2 and 1x1
};

enum class TestColor {
  kRgb,        // YCbCr
  kAdobeRgb,   // three components as they are, Adobe's marker
  kGray,       // one component
  kCmyk,       // four components without Adobe's marker
  kAdobeCmyk,  // four components, inks inverted, Adobe's marker
  kAdobeYcck,  // the same as luma, chroma and black
};

enum class TestContent {
  kPhotograph,
  kNoise,  // every sample 0..255 by chance: the longest codes
  kFlat,   // one colour: nothing but DC
};

struct TestJpegOptions {
  int width = 64;
  int height = 48;
  int quality = 90;
  Subsampling subsampling = Subsampling::k444;
  TestColor color = TestColor::kRgb;
  TestContent content = TestContent::kPhotograph;
  bool wide_quantisers = false;  // 16 bits where the quality asks for them
  bool progressive = false;
  bool separate_scans = false;  // baseline, one scan a component
  bool arithmetic = false;
  bool optimize = false;     // Huffman tables of its own, where it has any
  int restart_interval = 0;  // MCUs; 0: none
  int restart_rows = 0;      // in place of it, rows of MCUs
  std::uint64_t seed = 1;
};

// An image that looks like a photograph to a codec: soft shapes, edges and a
// little noise. The same for the same arguments.
[[nodiscard]] RgbImage TestPhotograph(int width, int height,
                                      std::uint64_t seed);

// Any content; kPhotograph is TestPhotograph().
[[nodiscard]] RgbImage TestPicture(TestContent content, int width, int height,
                                   std::uint64_t seed);

// TestPicture() as a JPEG, through libjpeg: all the kinds that
// EncodeJpeg() does not make.
[[nodiscard]] std::string TestJpeg(const TestJpegOptions& options = {});

// The samples of a JPEG's own components, interleaved, before any colour
// conversion between inks and RGB.
[[nodiscard]] std::string DecodeInks(const std::string& jpeg);

// The pixels of a view, row after row without padding.
[[nodiscard]] std::string Flat(const RgbView& image);

}  // namespace infeed
