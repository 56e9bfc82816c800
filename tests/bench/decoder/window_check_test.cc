#include "bench/decoder/window_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

using testing::IsEmpty;

WindowTally TallyOf(const std::string& jpeg,
                    JpegWarnings warnings = JpegWarnings::kErrors) {
  WindowTally tally;
  std::vector<std::string> differences;
  WindowChecker checker({.windows = 40, .warnings = warnings});
  checker.Check({.name = "a", .bytes = jpeg}, tally, differences);
  EXPECT_THAT(differences, IsEmpty());
  EXPECT_EQ(tally.equal, tally.windows);
  EXPECT_EQ(tally.images, 1);
  return tally;
}

TEST(WindowCheckTest, ComparesWindowsOfASoundImage) {
  const WindowTally tally =
      TallyOf(TestJpeg({.subsampling = Subsampling::k420}));
  EXPECT_EQ(tally.windows, 80);  // One through an index for each without.
  EXPECT_EQ(tally.indexed, 40);
  EXPECT_EQ(tally.plain, 80);
  EXPECT_EQ(tally.refused, 0);
}

TEST(WindowCheckTest, TellsWhichDecoderItWas) {
  const WindowTally tally = TallyOf(TestJpeg({.progressive = true}));
  EXPECT_EQ(tally.windows, 40);
  EXPECT_EQ(tally.indexed, 0);
  EXPECT_EQ(tally.plain, 0);
}

TEST(WindowCheckTest, ComparesWindowsAboveTheDamageAndRefusals) {
  const std::string jpeg = TestJpeg({.height = 200});
  const WindowTally tally = TallyOf(jpeg.substr(0, jpeg.size() * 9 / 10));
  EXPECT_EQ(tally.windows, 40);
  EXPECT_GT(tally.refused, 5);
  EXPECT_LT(tally.refused, 39);
}

TEST(WindowCheckTest, ComparesWindowsWithWarnings) {
  const std::string jpeg = TestJpeg();
  const WindowTally tally =
      TallyOf(jpeg.substr(0, jpeg.size() / 2), JpegWarnings::kTolerated);
  EXPECT_EQ(tally.windows, 40);
  EXPECT_EQ(tally.refused, 0);
}

TEST(WindowCheckTest, ComparesRefusedHeaders) {
  const WindowTally tally = TallyOf("no JPEG");
  EXPECT_EQ(tally.windows, 1);
  EXPECT_EQ(tally.refused, 1);
  EXPECT_EQ(tally.plain, 0);
}

TEST(WindowCheckTest, HashesPixels) {
  EXPECT_EQ(TallyOf(TestJpeg()).hash, TallyOf(TestJpeg()).hash);
  EXPECT_NE(TallyOf(TestJpeg()).hash, TallyOf(TestJpeg({.seed = 2})).hash);
  EXPECT_NE(TallyOf("no JPEG").hash, TallyOf("").hash);
}

}  // namespace
}  // namespace infeed
