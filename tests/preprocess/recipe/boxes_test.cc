#include "preprocess/recipe/boxes.h"

#include <array>
#include <bit>
#include <cstdint>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/recipe/framing.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::boxes_test {

using Json = nlohmann::json;
using Floats = std::vector<float>;
using Indexes = std::vector<std::uint32_t>;

Floats FromBits(const std::string& hex) {
  Floats values;
  for (std::size_t i = 0; i < hex.size(); i += 8) {
    values.push_back(std::bit_cast<float>(
        static_cast<std::uint32_t>(std::stoul(hex.substr(i, 8), nullptr, 16))));
  }
  return values;
}

std::string ToBits(const Floats& values) {
  std::string hex;
  for (const float value : values) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 28; shift >= 0; shift -= 4) {
      hex += kDigits[bits >> shift & 15];
    }
  }
  return hex;
}

// tests/data/README.recipes.md says how they were made.
TEST(FollowBoxesTest, HaveTheBitsOfTorchvision) {
  std::ifstream file(INFEED_TEST_DATA "/box_goldens.json");
  const Json goldens = Json::parse(file);
  ASSERT_EQ(goldens["cases"].size(), 404U);
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
    Floats boxes = FromBits(golden["boxes"]);
    Indexes kept;
    FollowBoxes(geometry, {g[13], g[14]}, {}, boxes, kept);
    EXPECT_EQ(ToBits(boxes), golden["result"].get<std::string>()) << golden;
    EXPECT_EQ(kept, golden["kept"].get<Indexes>()) << golden;
  }
}

// The framing that a case's recipe has in training.
Framing FramingOf(const Json& golden, const ImageSize& source,
                  const ImageSize& output, std::span<const float> boxes) {
  const auto key = golden["key"].get<std::array<std::uint32_t, 3>>();
  SampleRandom random({.seed = key[0], .epoch = key[1], .position = key[2]},
                      RandomStream::kCrop);
  const Window window = golden["iou_crop"]
                            ? IouCropWindow(source, boxes, random)
                            : Window{0, 0, source.height, source.width};
  if (!golden["scale"].is_null()) {
    return JitterScale(
        window, output,
        {.scale_min = golden["scale"][0], .scale_max = golden["scale"][1]},
        random);
  }
  return golden["fit"] ? FitWindow(window, output, FitMargin::kMiddle)
                       : WholeWindow(window, output);
}

// The same for the recipes of detection, whose windows and sizes are drawn.
TEST(FollowBoxesTest, FollowTorchvisionsDetectionRecipes) {
  std::ifstream file(INFEED_TEST_DATA "/detection_goldens.json");
  const Json goldens = Json::parse(file);
  ASSERT_EQ(goldens["cases"].size(), 300U);
  for (const Json& golden : goldens["cases"]) {
    const auto size = [&](const char* name) {
      return ImageSize(golden[name][0], golden[name][1]);
    };
    const ImageSize output = size("output");
    Floats boxes = FromBits(golden["boxes"]);
    const Geometry geometry = GeometryOf(
        FramingOf(golden, size("source"), output, boxes), size("source"));
    const Window& window = geometry.window;
    ASSERT_EQ(golden["geometry"],
              Json({window.y, window.x, window.height, window.width,
                    geometry.resized.height, geometry.resized.width, geometry.y,
                    geometry.x}))
        << golden;
    Indexes kept;
    FollowBoxes(geometry, output, {.centre_in_window = golden["iou_crop"]},
                boxes, kept);
    EXPECT_EQ(ToBits(boxes), golden["result"].get<std::string>()) << golden;
    EXPECT_EQ(kept, golden["kept"].get<Indexes>()) << golden;
  }
}

// The left upper quarter of an image of 20 x 20.
constexpr ImageSize kOutput = 10;
Geometry Quarter() {
  return {.source = 20,
          .window = {.y = 0, .x = 0, .height = 10, .width = 10},
          .resized = kOutput};
}

Indexes Kept(const BoxFilter& filter, Floats boxes,
             const Geometry& geometry = Quarter()) {
  Indexes kept;
  FollowBoxes(geometry, kOutput, filter, boxes, kept);
  EXPECT_EQ(boxes.size(), 4 * kept.size());
  return kept;
}

TEST(FollowBoxesTest, SmallBoxesAreFilteredAsAsked) {
  const Floats boxes = {0, 0, 1,    9,  1, 1, 3,  3,   // 1 x 9, 2 x 2
                        0, 0, 0.5F, 10, 8, 0, 20, 1};  // 0.5 x 10, 2 x 1
  EXPECT_THAT(Kept({}, boxes), ElementsAre(0, 1, 3));
  EXPECT_THAT(Kept({.min_size = 2}, boxes), ElementsAre(1));
  EXPECT_THAT(Kept({.min_area = 4}, boxes), ElementsAre(0, 1));
  EXPECT_THAT(Kept({.min_size = 0, .min_area = 0}, boxes),
              ElementsAre(0, 1, 2, 3));
}

TEST(FollowBoxesTest, MinVisibleIsAPartOfTheAreaInTheImage) {
  // Whole, half and a fifth of it visible; of the last one, half of what is in
  // the image.
  const Floats boxes = {1, 1, 9, 9, 5, 0, 15, 10, 8, 0, 18, 9, 0, 0, 4, 30};
  EXPECT_THAT(Kept({.min_visible = 0.2F}, boxes), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Kept({.min_visible = 0.5F}, boxes), ElementsAre(0, 1, 3));
  EXPECT_THAT(Kept({.min_visible = 1}, boxes), ElementsAre(0));
}

// The window is twice as large as its output, which shows the middle of it.
TEST(FollowBoxesTest, MinVisibleCountsWhatTheOutputShows) {
  Geometry geometry = Quarter();
  geometry.window = {.y = 0, .x = 0, .height = 20, .width = 20};
  geometry.resized = {10, 20};
  geometry.x = 5;  // from column 5 to 15 of the source
  const Floats boxes = {0, 0, 10, 20, 5, 0, 15, 20};
  EXPECT_THAT(Kept({.min_visible = 0.5F}, boxes, geometry), ElementsAre(0, 1));
  EXPECT_THAT(Kept({.min_visible = 0.6F}, boxes, geometry), ElementsAre(1));
}

TEST(FollowBoxesTest, CentresMustBeInsideTheWindow) {
  const Floats boxes = {5, 0, 15, 10, 4, 0, 15, 10, 0, 2, 8, 20};
  EXPECT_THAT(Kept({}, boxes), ElementsAre(0, 1, 2));
  EXPECT_THAT(Kept({.keep = BoxKeep::kCentre}, boxes), ElementsAre(1));
}

// The centre of the first is in the window, but not in the output.
TEST(FollowBoxesTest, CentresMayBeInTheWindowOutsideOfTheOutput) {
  Geometry geometry = Quarter();
  geometry.resized = 20;
  geometry.x = 10;
  const Floats boxes = {0, 2, 8, 8, 9, 2, 18, 8};
  EXPECT_THAT(Kept({}, boxes, geometry), ElementsAre(0, 1));
  EXPECT_THAT(Kept({.centre_in_window = true}, boxes, geometry),
              ElementsAre(0));
  EXPECT_THAT(Kept({.keep = BoxKeep::kCentre}, boxes, geometry), IsEmpty());
}

TEST(FollowBoxesTest, InvertedAndEmptyBoxesAreFilteredOut) {
  const BoxFilter all = {.min_size = 0, .min_area = 0};
  EXPECT_THAT(Kept(all, {5, 0, 3, 9, 5, 9, 9, 2}), IsEmpty());
  EXPECT_THAT(Kept({}, {5, 5, 5, 5, 12, 12, 19, 19}), IsEmpty());
  EXPECT_THAT(Kept(all, {}), IsEmpty());
}

constexpr ImageSize kSource{64, 128};

Floats Read(BoxFormat format, const Floats& values,
            bool is_normalized = false) {
  const std::span<const float> column = values;
  Floats boxes = {7};
  ReadBoxes({&column, 1}, format, is_normalized, kSource, boxes);
  return boxes;
}

Floats ReadColumns(BoxFormat format, const std::vector<Floats>& lists) {
  const std::vector<std::span<const float>> columns(lists.begin(), lists.end());
  Floats boxes;
  ReadBoxes(columns, format, false, kSource, boxes);
  return boxes;
}

TEST(ReadBoxesTest, EachFormatIsTheSameBoxes) {
  const Floats expected = {10, 5, 30, 25, 0, 1, 2, 5};
  EXPECT_EQ(Read(BoxFormat::kXyxy, expected), expected);
  EXPECT_EQ(Read(BoxFormat::kYxyx, {5, 10, 25, 30, 1, 0, 5, 2}), expected);
  EXPECT_EQ(Read(BoxFormat::kXywh, {10, 5, 20, 20, 0, 1, 2, 4}), expected);
  EXPECT_EQ(Read(BoxFormat::kCxcywh, {20, 15, 20, 20, 1, 3, 2, 4}), expected);
  EXPECT_EQ(ReadColumns(BoxFormat::kYxyx, {{5, 1}, {10, 0}, {25, 5}, {30, 2}}),
            expected);
  EXPECT_THAT(ReadColumns(BoxFormat::kXyxy, {{}, {}, {}, {}}), IsEmpty());
}

TEST(ReadBoxesTest, NormalizedBoxesArePartsOfTheSides) {
  const Floats expected = {32, 16, 96, 48};
  EXPECT_EQ(Read(BoxFormat::kXyxy, {.25F, .25F, .75F, .75F}, true), expected);
  EXPECT_EQ(Read(BoxFormat::kYxyx, {.25F, .25F, .75F, .75F}, true), expected);
  EXPECT_EQ(Read(BoxFormat::kXywh, {.25F, .25F, .5F, .5F}, true), expected);
  EXPECT_EQ(Read(BoxFormat::kCxcywh, {.5F, .5F, .5F, .5F}, true), expected);
}

TEST(ReadBoxesTest, BadListsAreNamed) {
  const auto message = [](auto call) { return MessageOf<DataError>(call); };
  EXPECT_EQ(message([] {
              (void)ReadColumns(BoxFormat::kXyxy,
                                {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2}});
            }),
            "boxes: 4 keys have 3, 3, 3 and 2 values");
  EXPECT_EQ(message([] {
              (void)Read(BoxFormat::kXyxy, {1, 2, 3, 4, 5});
            }),
            "boxes: the key has 5 values, which is no multiple of 4");
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                          -std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(message([&] {
                (void)Read(BoxFormat::kYxyx, {1, 2, 3, 4, 5, bad, 7, 8});
              }),
              "boxes: value 5 is not a finite number");
  }
  EXPECT_EQ(message([] { CheckOnePerBox("image/object/is_crowd", 2, 3); }),
            "'image/object/is_crowd' has 2 values for 3 boxes");
  CheckOnePerBox("image/object/is_crowd", 3, 3);
}

// Of finite numbers whose sums are not.
TEST(ReadBoxesTest, HugeNumbersAreFilteredOutOrClamped) {
  constexpr float kHuge = std::numeric_limits<float>::max();
  const BoxFilter all = {.min_size = 0, .min_area = 0};
  EXPECT_THAT(Kept(all, Read(BoxFormat::kCxcywh, {kHuge, 1, kHuge, 1}, true)),
              IsEmpty());
  EXPECT_THAT(Kept({}, Read(BoxFormat::kXyxy, {-kHuge, 0, kHuge, 9})),
              ElementsAre(0));
}

TEST(CheckBoxOptionsTest, PoliciesThatMovePixelsAreRefused) {
  for (const auto& [name, policy] : kAugmentPolicies) {
    const AugmentOptions augment = {.policy = policy};
    EXPECT_EQ(
        MessageOf<UsageError>([&] { CheckBoxOptions({}, augment); }),
        policy == AugmentPolicy::kNone
            ? ""
            : "augment=" + std::string(name) +
                  " moves pixels, which boxes do not follow: leave it out");
  }
  CheckBoxOptions({}, {.brightness = 0.4F,
                       .vertical_flip = true,
                       .grayscale = 0.1F,
                       .blur = 0.1F,
                       .solarize = 0.1F,
                       .erasing = 0.1F});
}

TEST(CheckBoxOptionsTest, FiltersHaveLimits) {
  const auto message = [](const BoxFilter& filter) {
    return MessageOf<UsageError>([&] { CheckBoxOptions(filter, {}); });
  };
  EXPECT_THAT(message({.min_size = -1}), testing::HasSubstr("min_size is -1"));
  EXPECT_THAT(message({.min_area = std::numeric_limits<float>::quiet_NaN()}),
              testing::HasSubstr("min_area is nan"));
  EXPECT_THAT(message({.min_visible = 1.5F}),
              testing::HasSubstr("min_visible is 1.5"));
}

}  // namespace infeed::boxes_test
