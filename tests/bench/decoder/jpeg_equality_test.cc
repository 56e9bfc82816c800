#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/decoder/window_check.h"
#include "tests/support/each_target.h"
#include "tests/support/expect_same_decode.h"
#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"

// One property: JpegDecoder gives libjpeg-turbo's pixels, whole and in windows,
// on every SIMD target, for every kind of JPEG that libjpeg can be made to
// write.
namespace infeed {
namespace {

struct Kind {
  const char* name;
  TestJpegOptions options;
  bool is_plain = false;

  friend void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
  }
};

// Every width and height of 1..70 and every quality of 1..100, paired
// differently for each seed; restarts, tables, contents by chance.
std::vector<std::string> MadeSet(const TestJpegOptions& kind,
                                 std::uint64_t seed) {
  constexpr std::array<int, 6> kRestarts = {0, 0, 1, 2, 3, 7};
  SampleRandom random({.seed = seed}, RandomStream::kMadeData);
  const auto draw = [&](std::uint32_t n) {
    return static_cast<int>(random.Below(n));
  };
  std::vector<std::string> set;
  for (int i = 0; i < 100; ++i) {
    const int other = i + static_cast<int>(seed) * 13;
    TestJpegOptions options = kind;
    options.width = 1 + i % 70;
    options.height = 1 + other * 29 % 70;
    options.quality = 1 + other * 37 % 100;
    options.restart_interval = kRestarts[draw(kRestarts.size())];
    options.restart_rows = draw(8) == 0 ? 1 : 0;
    options.optimize = draw(2) == 0;
    options.content = static_cast<TestContent>(std::max(0, draw(8) - 4));
    options.seed = seed * 1000 + static_cast<std::uint64_t>(i);
    set.push_back(TestJpeg(options));
  }
  return set;
}

class JpegEqualityTest : public testing::TestWithParam<Kind> {
 protected:
  // Compares the whole and some windows of each, on each target.
  static void ExpectEqual(const std::vector<std::string>& jpegs,
                          int denominator = 1) {
    OnEachSimdTarget([&] {
      WindowChecker checker({.windows = 6, .denominator = denominator});
      WindowTally tally;
      std::vector<std::string> differences;
      for (const std::string& jpeg : jpegs) {
        checker.Check({.name = std::to_string(tally.images),
                       .number = tally.images,
                       .bytes = jpeg},
                      tally, differences);
      }
      EXPECT_THAT(differences, IsEmpty());
      EXPECT_EQ(tally.refused, 0);
      EXPECT_GE(tally.windows, 6 * std::ssize(jpegs));
      EXPECT_EQ(tally.plain, GetParam().is_plain ? tally.windows : 0);
    });
  }
};

TEST_P(JpegEqualityTest, HoldsForSizesQualitiesRestartsAndTables) {
  const std::uint64_t sets = GetParam().is_plain ? 8 : 3;
  for (std::uint64_t seed = 1; seed <= sets; ++seed) {
    ExpectEqual(MadeSet(GetParam().options, seed));
  }
}

TEST_P(JpegEqualityTest, HoldsForScaledDecodes) {
  for (const int denominator : {2, 4, 8}) {
    ExpectEqual(MadeSet(GetParam().options, 9), denominator);
  }
}

// Quantisers of more than 8 bits, which the decoder of our own does not take.
TEST_P(JpegEqualityTest, HoldsForWideQuantisers) {
  std::vector<NamedJpeg> jpegs;
  for (int quality = 1; quality <= 30; ++quality) {
    TestJpegOptions options = GetParam().options;
    options.quality = quality;
    options.wide_quantisers = true;
    jpegs.push_back({std::to_string(quality), TestJpeg(options)});
  }
  EXPECT_EQ(ExpectSameDecode(jpegs, 6).refused, 0);
}

// Larger than any block of rows that a decoder might take at once.
TEST_P(JpegEqualityTest, HoldsForLargeImages) {
  TestJpegOptions wide = GetParam().options;
  wide.width = 1203;
  wide.height = 41;
  TestJpegOptions tall = GetParam().options;
  tall.width = 37;
  tall.height = 999;
  tall.optimize = true;
  tall.restart_interval = 5;
  ExpectEqual({TestJpeg(wide), TestJpeg(tall)});
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) {
  return kind.param.name;
}

// What the decoder of our own takes.
INSTANTIATE_TEST_SUITE_P(
    Plain, JpegEqualityTest,
    testing::Values(Kind{"H1v1", {}, true},
                    Kind{"H2v1", {.subsampling = Subsampling::k422}, true},
                    Kind{"H2v2", {.subsampling = Subsampling::k420}, true},
                    Kind{"H1v2", {.subsampling = Subsampling::k440}, true},
                    Kind{"Gray", {.color = TestColor::kGray}, true},
                    Kind{"Rgb", {.color = TestColor::kAdobeRgb}, true}),
    NameOf);

// What it leaves to libjpeg-turbo.
INSTANTIATE_TEST_SUITE_P(
    Odd, JpegEqualityTest,
    testing::Values(
        Kind{"H4v1", {.subsampling = Subsampling::k411}},
        Kind{"H1v4", {.subsampling = Subsampling::k441}},
        Kind{"H4v2", {.subsampling = Subsampling::k410}},
        Kind{"AllWide", {.subsampling = Subsampling::kAllWide}},
        Kind{"WideChroma", {.subsampling = Subsampling::kWideChroma}},
        Kind{"TallBlue", {.subsampling = Subsampling::kTallBlue}},
        Kind{"RgbH2v2",
             {.subsampling = Subsampling::k420, .color = TestColor::kAdobeRgb}},
        Kind{"Cmyk", {.color = TestColor::kCmyk}},
        Kind{"CmykH2v2",
             {.subsampling = Subsampling::k420, .color = TestColor::kCmyk}},
        Kind{
            "Ycck",
            {.subsampling = Subsampling::k420, .color = TestColor::kAdobeYcck}},
        Kind{"Progressive",
             {.subsampling = Subsampling::k420, .progressive = true}},
        Kind{"Progressive444", {.progressive = true}},
        Kind{"Arithmetic", {.arithmetic = true}},
        Kind{"ArithmeticH2v2",
             {.subsampling = Subsampling::k420, .arithmetic = true}},
        Kind{"SeparateScans",
             {.subsampling = Subsampling::k422, .separate_scans = true}}),
    NameOf);

}  // namespace
}  // namespace infeed
