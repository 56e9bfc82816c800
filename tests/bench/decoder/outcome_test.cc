#include "bench/decoder/outcome.h"

#include <gtest/gtest.h>

#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

TEST(DecodeOutcomeTest, NamesTheFirstDifferentPixel) {
  const RgbImage image = TestPhotograph(9, 7, 1);
  RgbImage other = TestPhotograph(9, 7, 1);
  EXPECT_EQ(DifferenceOf({"", image.view()}, {"", other.view()}), "");
  std::uint8_t& value = other.row(5)[8 * 3 + 2];
  value = 9;
  EXPECT_EQ(DifferenceOf({"", other.view()}, {"", image.view()}),
            "row 5, column 8, channel 2: 9 is not " +
                std::to_string(image.view().row(5)[8 * 3 + 2]));
}

TEST(DecodeOutcomeTest, ComparesPixelsWithinRowsAlone) {
  const RgbImage image = TestPhotograph(9, 7, 1);
  const RgbImage wider = TestPhotograph(10, 7, 1);
  EXPECT_EQ(DifferenceOf({"", image.view()}, {"", wider.view({0, 0, 7, 9})}),
            "");
  EXPECT_EQ(DifferenceOf({"", image.view()}, {"", wider.view()}),
            "another size");
}

TEST(DecodeOutcomeTest, ComparesMessages) {
  const RgbImage image = TestPhotograph(2, 2, 1);
  EXPECT_EQ(DifferenceOf({"broken"}, {"broken"}), "");
  EXPECT_EQ(DifferenceOf({"broken"}, {"cut"}), "'broken' is not 'cut'");
  EXPECT_EQ(DifferenceOf({"broken"}, {"", image.view()}),
            "'broken' is not pixels");
  EXPECT_EQ(DifferenceOf({"", image.view()}, {"cut"}), "pixels is not 'cut'");
}

TEST(DecodeOutcomeTest, ComparesWarnings) {
  const RgbImage image = TestPhotograph(2, 2, 1);
  EXPECT_EQ(DifferenceOf({"", image.view(), "odd"}, {"", image.view(), "odd"}),
            "");
  EXPECT_EQ(DifferenceOf({"", image.view(), "odd"}, {"", image.view()}),
            "warning 'odd' is not ''");
}

TEST(DecodeOutcomeTest, HashesWhatIsCompared) {
  const RgbImage image = TestPhotograph(9, 7, 1);
  RgbImage other = TestPhotograph(9, 7, 1);
  EXPECT_EQ(HashOf({"", image.view()}), HashOf({"", other.view()}));
  ++other.row(6)[26];
  EXPECT_NE(HashOf({"", image.view()}), HashOf({"", other.view()}));
  EXPECT_NE(HashOf({"broken"}), HashOf({"cut"}));
}

}  // namespace
}  // namespace infeed
