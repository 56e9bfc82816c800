#include "tools/demo/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

using ::testing::Ge;
using ::testing::Le;

RgbImage Draw(int demo_class, std::uint64_t number) {
  SampleRandom random({.seed = 1, .position = number}, RandomStream::kMadeData);
  RgbImage image;
  DrawDemoImage(demo_class, random, image);
  return image;
}

std::string Bytes(RgbImage& image) {
  return {image.pixels().begin(), image.pixels().end()};
}

using Channels = std::array<double, 3>;

// The mean colour of an image.
Channels Mean(RgbImage& image) {
  Channels sum{};
  for (std::size_t i = 0; i < image.pixels().size(); ++i) {
    sum[i % 3] += image.pixels()[i];
  }
  for (double& channel : sum) {
    channel /= image.width() * image.height();
  }
  return sum;
}

struct Spread {
  Channels mean{};
  Channels deviation{};
};

// How the mean colour is spread over the images of a class.
Spread SpreadOf(int demo_class, int images) {
  Channels sum{};
  Channels squares{};
  for (int i = 0; i < images; ++i) {
    RgbImage image =
        Draw(demo_class, static_cast<std::uint64_t>(demo_class * images + i));
    const Channels mean = Mean(image);
    for (std::size_t c = 0; c < 3; ++c) {
      sum[c] += mean[c];
      squares[c] += mean[c] * mean[c];
    }
  }
  Spread spread;
  for (std::size_t c = 0; c < 3; ++c) {
    spread.mean[c] = sum[c] / images;
    spread.deviation[c] =
        std::sqrt(squares[c] / images - spread.mean[c] * spread.mean[c]);
  }
  return spread;
}

TEST(DemoShapesTest, NamesClassesInTheConvertersOrder) {
  std::vector<std::string> names;
  for (int i = 0; i < kDemoClasses; ++i) {
    names.emplace_back(DemoClassName(i));
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 10U);
}

TEST(DemoShapesTest, DrawsOtherPicturesForOtherDrawsAndClasses) {
  std::set<std::string> pictures;
  for (int demo_class = 0; demo_class < kDemoClasses; ++demo_class) {
    for (std::uint64_t number = 0; number < 3; ++number) {
      RgbImage image = Draw(demo_class, number);
      pictures.insert(Bytes(image));
    }
  }
  EXPECT_EQ(pictures.size(), 30U);
}

TEST(DemoShapesTest, KeepsToTheSizes) {
  std::set<int> widths;
  for (std::uint64_t number = 0; number < 60; ++number) {
    const RgbImage image = Draw(static_cast<int>(number % 10), number);
    EXPECT_THAT(image.width(), AllOf(Ge(72), Le(160)));
    EXPECT_THAT(image.height(), AllOf(Ge(72), Le(160)));
    widths.insert(image.width());
  }
  EXPECT_GT(widths.size(), 25U);
}

// A network must not be able to use colours: the classes' mean colours lie
// within a fraction of their spread.
TEST(DemoShapesTest, SaysNothingByItsColours) {
  Channels low{255, 255, 255};
  Channels high{};
  Channels deviation{};
  for (int demo_class = 0; demo_class < kDemoClasses; ++demo_class) {
    const Spread spread = SpreadOf(demo_class, 30);
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] = std::min(low[c], spread.mean[c]);
      high[c] = std::max(high[c], spread.mean[c]);
      deviation[c] += spread.deviation[c] / kDemoClasses;
    }
  }
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_LT(high[c] - low[c], deviation[c]) << "channel " << c;
  }
}

TEST(DemoShapesTest, DrawsAFigureThatStandsOut) {
  for (int demo_class = 0; demo_class < kDemoClasses; ++demo_class) {
    RgbImage image = Draw(demo_class, 5);
    const std::vector<std::uint8_t> pixels(image.pixels().begin(),
                                           image.pixels().end());
    const double mean = Mean(image)[1];
    double squares = 0;
    for (std::size_t i = 1; i < pixels.size(); i += 3) {
      squares += (pixels[i] - mean) * (pixels[i] - mean);
    }
    EXPECT_GT(std::sqrt(squares * 3 / static_cast<double>(pixels.size())), 20)
        << DemoClassName(demo_class);
  }
}

}  // namespace
}  // namespace infeed
