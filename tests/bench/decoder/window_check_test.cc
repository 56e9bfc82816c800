#include "bench/decoder/window_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

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

TEST(DecodeOutcomeTest, NamesTheFirstDifference) {
  const RgbImage image = TestPhotograph(9, 7, 1);
  const RgbImage wider = TestPhotograph(10, 7, 1);
  const RgbImage same = TestPhotograph(9, 7, 1);
  RgbImage other = TestPhotograph(9, 7, 1);
  other.row(5)[8 * 3 + 2] = 9;
  const DecodeOutcome pixels{"", image.view()};
  const struct {
    DecodeOutcome one;
    DecodeOutcome other;
    std::string difference;
  } rows[] = {{pixels, {"", same.view()}, ""},
              {{"", other.view()},
               pixels,
               "row 5, column 8, channel 2: 9 is not " +
                   std::to_string(image.view().row(5)[8 * 3 + 2])},
              {pixels, {"", wider.view({0, 0, 7, 9})}, ""},
              {pixels, {"", wider.view()}, "another size"},
              {{"broken"}, {"broken"}, ""},
              {{"broken"}, {"cut"}, "'broken' is not 'cut'"},
              {{"broken"}, pixels, "'broken' is not pixels"},
              {pixels, {"cut"}, "pixels is not 'cut'"},
              {{"", image.view(), "odd"}, {"", image.view(), "odd"}, ""},
              {{"", image.view(), "odd"}, pixels, "warning 'odd' is not ''"}};
  for (const auto& row : rows) {
    EXPECT_EQ(DescribeDifference(row.one, row.other), row.difference);
  }
}

TEST(DecodeOutcomeTest, HashesWhatIsCompared) {
  const RgbImage image = TestPhotograph(9, 7, 1);
  RgbImage other = TestPhotograph(9, 7, 1);
  EXPECT_EQ(HashOutcome({"", image.view()}), HashOutcome({"", other.view()}));
  ++other.row(6)[26];
  EXPECT_NE(HashOutcome({"", image.view()}), HashOutcome({"", other.view()}));
  EXPECT_NE(HashOutcome({"broken"}), HashOutcome({"cut"}));
}

TEST(RandomWindowsTest, LieInside) {
  for (const int height : {1, 2, 17, 300}) {
    for (const int width : {1, 3, 40, 500}) {
      const std::vector<Window> windows = RandomWindows(height, width, 300, {});
      EXPECT_EQ(windows.size(), 300U);
      EXPECT_EQ(windows.front(), (Window{0, 0, height, width}));
      for (const Window& w : windows) {
        EXPECT_TRUE(w.y >= 0 && w.x >= 0 && w.height > 0 && w.width > 0 &&
                    w.y + w.height <= height && w.x + w.width <= width);
      }
    }
  }
}

TEST(RandomWindowsTest, AreLargeSmallAndAtAllEdges) {
  const std::vector<Window> windows = RandomWindows(300, 500, 200, {});
  const auto some = [&](auto is) { return std::ranges::any_of(windows, is); };
  EXPECT_TRUE(some([](const Window& w) { return w.x == 0 && w.width < 400; }));
  EXPECT_TRUE(some([](const Window& w) { return w.x == 1; }));
  EXPECT_TRUE(some([](const Window& w) { return w.x + w.width == 499; }));
  EXPECT_TRUE(some([](const Window& w) { return w.y + w.height == 300; }));
  EXPECT_TRUE(some([](const Window& w) { return w.width < 8; }));
  EXPECT_TRUE(some([](const Window& w) { return w.x > 8 && w.width > 250; }));
}

TEST(RandomWindowsTest, DependOnTheKey) {
  EXPECT_EQ(RandomWindows(99, 99, 50, {.position = 1}),
            RandomWindows(99, 99, 50, {.position = 1}));
  EXPECT_NE(RandomWindows(99, 99, 50, {.position = 1}),
            RandomWindows(99, 99, 50, {.position = 2}));
}

TEST(WindowCheckTest, ComparesWindowsOfASoundImage) {
  const WindowTally tally =
      TallyOf(TestJpeg({.subsampling = Subsampling::k420}));
  // Without an index, through a whole one, and some through a partial one.
  EXPECT_EQ(tally.windows - tally.indexed, 40);
  EXPECT_GT(tally.indexed, 43);
  EXPECT_EQ(tally.plain, tally.windows);
  EXPECT_EQ(tally.refused, 0);
}

TEST(WindowCheckTest, ComparesWindowsAboveTheDamageAndRefusals) {
  const std::string jpeg = TestJpeg({.height = 200});
  const WindowTally tally = TallyOf(jpeg.substr(0, jpeg.size() * 9 / 10));
  EXPECT_EQ(tally.windows - tally.indexed, 40);
  EXPECT_GT(tally.indexed, 20);  // Partial indexes of the rows above.
  EXPECT_GT(tally.refused, 5);
  EXPECT_LT(tally.refused, tally.windows - 20);
}

TEST(WindowCheckTest, ComparesWindowsWithWarnings) {
  const std::string jpeg = TestJpeg();
  const WindowTally tally =
      TallyOf(jpeg.substr(0, jpeg.size() / 2), JpegWarnings::kTolerated);
  EXPECT_EQ(tally.windows, 40);
  EXPECT_EQ(tally.refused, 0);
}

TEST(WindowCheckTest, TellsWhichDecoderItWasAndRefusedHeaders) {
  const WindowTally progressive = TallyOf(TestJpeg({.progressive = true}));
  EXPECT_EQ(progressive.windows, 40);
  EXPECT_EQ(progressive.indexed, 0);
  EXPECT_EQ(progressive.plain, 0);
  const WindowTally none = TallyOf("no JPEG");
  EXPECT_EQ(none.windows, 1);
  EXPECT_EQ(none.refused, 1);
  EXPECT_EQ(none.plain, 0);
}

TEST(WindowCheckTest, HashesPixels) {
  EXPECT_EQ(TallyOf(TestJpeg()).hash, TallyOf(TestJpeg()).hash);
  EXPECT_NE(TallyOf(TestJpeg()).hash, TallyOf(TestJpeg({.seed = 2})).hash);
  EXPECT_NE(TallyOf("no JPEG").hash, TallyOf("").hash);
}

}  // namespace
}  // namespace infeed
