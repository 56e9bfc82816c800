#include "preprocess/recipe/label_image.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/support/bytes.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::label_image_test {

using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;
using Integers = std::vector<std::int32_t>;

// tests/data/README.recipes.md says how they were made.
Json Goldens() {
  std::ifstream file(INFEED_TEST_DATA "/label_goldens.json");
  return Json::parse(file);
}

// Values first, first + 1, and so on.
LabelImage Counted(const ImageSize& size, int first = 0) {
  LabelImage labels = {
      .width = size.width, .height = size.height, .values = {}};
  for (std::size_t i = 0; i < size.pixels(); ++i) {
    labels.values.push_back(
        static_cast<std::uint16_t>(first + static_cast<int>(i)));
  }
  return labels;
}

// The whole image, resized to the output.
Geometry Whole(const ImageSize& source, const ImageSize& output) {
  return {.source = source,
          .window = {.y = 0,
                     .x = 0,
                     .height = source.height,
                     .width = source.width},
          .resized = output};
}

template <typename Value = std::int32_t>
std::vector<Value> Mapped(const LabelImage& labels, const Geometry& geometry,
                          const ImageSize& output, Value fill = 0) {
  std::vector<Value> result(output.pixels());
  std::vector<int> columns = {5};
  MapLabels(labels, geometry, output, fill, columns, std::span(result));
  return result;
}

TEST(MapLabelsTest, SidesAreResizedAsByTorch) {
  std::map<std::pair<int, int>, std::vector<int>> less;
  const Json goldens = Goldens();
  for (const Json& golden : goldens["nearest"]) {
    less[{golden[0], golden[1]}] = golden[2].get<std::vector<int>>();
  }
  ASSERT_EQ((less[{62, 224}]), (std::vector<int>{112}));
  ASSERT_EQ(less.size(), 18U);
  for (int i = 1; i <= 600; ++i) {
    const int length = i <= 300 ? i : 224;
    const int out = i <= 300 ? 224 : i - 300;
    Integers expected;
    for (int place = 0; place < out; ++place) {
      expected.push_back(place * length / out);
    }
    const auto found = less.find({length, out});
    for (const int place :
         found == less.end() ? std::vector<int>() : found->second) {
      --expected[static_cast<std::size_t>(place)];
    }
    const auto resized = [&](const ImageSize& from, const ImageSize& to) {
      return Mapped(Counted(from), Whole(from, to), to);
    };
    EXPECT_EQ(resized({length, 1}, {out, 1}), expected) << length << ' ' << out;
    EXPECT_EQ(resized({1, length}, {1, out}), expected) << length << ' ' << out;
  }
}

TEST(MapLabelsTest, MasksFollowTorchvisionsTransforms) {
  const Json goldens = Goldens();
  ASSERT_EQ(goldens["cases"].size(), 120U);
  for (const Json& golden : goldens["cases"]) {
    const auto g = golden["geometry"].get<std::vector<int>>();
    ASSERT_EQ(g.size(), 15U);
    const Geometry geometry = {
        .source = {g[0], g[1]},
        .window = {.y = g[2], .x = g[3], .height = g[4], .width = g[5]},
        .resized = {g[6], g[7]},
        .y = g[8],
        .x = g[9],
        .is_mirrored = g[10] != 0,
        .is_upside_down = g[11] != 0,
        .padding = static_cast<std::int16_t>(g[12])};
    Integers expected;
    for (const int row : golden["rows"].get<std::vector<int>>()) {
      for (const int column : golden["columns"].get<std::vector<int>>()) {
        expected.push_back(row < 0 || column < 0 ? 0 : 1 + row * g[1] + column);
      }
    }
    LabelImage labels = Counted(geometry.source, 1);
    const ImageSize output(g[13], g[14]);
    EXPECT_EQ(Mapped(labels, geometry, output), expected) << golden;

    for (std::uint16_t& value : labels.values) {
      value %= 256;
    }
    EXPECT_EQ(Mapped<std::uint8_t>(labels, geometry, output),
              Bytes(expected.begin(), expected.end()))
        << golden;
  }
}

TEST(MapLabelsTest, TheWindowIsCutResizedAndMirrored) {
  Geometry geometry = {.source = {5, 6},
                       .window = {.y = 1, .x = 1, .height = 4, .width = 5},
                       .resized = {3, 4}};
  const auto labels = [&] {
    return Mapped<std::uint8_t>(Counted({5, 6}), geometry, {3, 4});
  };
  EXPECT_THAT(labels(),
              ElementsAre(7, 8, 9, 10, 13, 14, 15, 16, 19, 20, 21, 22));
  geometry.is_mirrored = true;
  EXPECT_THAT(labels(),
              ElementsAre(10, 9, 8, 7, 16, 15, 14, 13, 22, 21, 20, 19));
  geometry.is_upside_down = true;
  EXPECT_THAT(labels(),
              ElementsAre(22, 21, 20, 19, 16, 15, 14, 13, 10, 9, 8, 7));
}

// A 2 x 2 image with margins above, at the left and at the right.
TEST(MapLabelsTest, MarginsAreFilled) {
  Geometry geometry = Whole(2, 2);
  geometry.y = -1;
  geometry.x = -1;
  EXPECT_THAT(Mapped<std::uint8_t>(Counted(2, 1), geometry, {3, 4}, 255),
              ElementsAre(255, 255, 255, 255, 255, 1, 2, 255, 255, 3, 4, 255));
  geometry.is_upside_down = true;
  EXPECT_THAT(
      Mapped(Counted(2, 1), geometry, {3, 4}, -100),
      ElementsAre(-100, 3, 4, -100, -100, 1, 2, -100, -100, -100, -100, -100));
}

TEST(MapLabelsTest, ValuesThatAreShownMustFitTheType) {
  LabelImage labels = Counted({2, 3});
  labels.values[2] = 300;
  Geometry geometry = Whole({2, 3}, {2, 3});
  EXPECT_THAT(Mapped(labels, geometry, {2, 3}),
              ElementsAre(0, 1, 300, 3, 4, 5));
  EXPECT_EQ(MessageOf<DataError>([&] {
              Mapped<std::uint8_t>(labels, geometry, {2, 3});
            }),
            "the mask has 300, which is no uint8 (give labels=int32)");
  EXPECT_THAT(Mapped<std::uint8_t>(labels, geometry, 2),
              ElementsAre(0, 1, 3, 4));
}

struct Filled {
  std::string error;
  Bytes values = Bytes(99);
  std::size_t decoded = 0;  // values that there is memory for
};

Filled Fill(const std::string& png, const ImageSize& source) {
  Filled filled;
  LabelScratch scratch;
  filled.error = MessageOf<DataError>([&] {
    FillLabels(AsBytes(png), Whole(source, {9, 11}), {9, 11}, 255, 99, scratch,
               std::span(filled.values));
  });
  filled.decoded = scratch.image.values.capacity();
  return filled;
}

TEST(FillLabelsTest, APngOfTheImagesSizeIsDecodedAndMapped) {
  const Json golden = Goldens()["pngs"][16];
  ASSERT_EQ(golden["name"], "palette, 8 bits");
  const std::string stored = FromHex(golden["values"].get<std::string>());
  const std::string png = FromHex(golden["png"].get<std::string>());
  const Filled filled = Fill(png, {9, 11});
  EXPECT_EQ(filled.error, "");
  for (std::size_t i = 0; i < filled.values.size(); ++i) {
    EXPECT_EQ(filled.values[i], static_cast<std::uint8_t>(stored[2 * i + 1]));
  }

  const Filled other = Fill(png, {11, 9});
  EXPECT_EQ(other.error, "the mask has 11x9 pixels, the image 9x11");
  EXPECT_EQ(other.decoded, 0U);
  EXPECT_EQ(Fill("GIF89a", {9, 11}).error, "the mask is no PNG");
}

}  // namespace infeed::label_image_test
