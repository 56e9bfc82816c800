#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "preprocess/recipe/crop.h"
#include "tests/support/matchers.h"
#include "tests/support/print_window.h"

namespace infeed::torchvision_crop_test {

// tests/data/README.recipes.md says how they were made.
void ExpectGoldenWindows(const std::string& name, const CropOptions& crop) {
  std::istringstream goldens(
      ReadWholeFile(INFEED_TEST_DATA "/recipes/" + name, 1 << 20));
  int width = 0;
  int height = 0;
  SampleKey key;
  Window window;
  int count = 0;
  while (goldens >> width >> height >> key.seed >> key.epoch >> key.position >>
         window.y >> window.x >> window.height >> window.width) {
    SampleRandom random(key, RandomStream::kCrop);
    ASSERT_EQ(RandomResizedCropWindow(height, width, crop, random), window)
        << width << "x" << height << ", position " << key.position;
    ++count;
  }
  EXPECT_EQ(count, 240);
}

TEST(RandomResizedCropTest, DrawsTorchvisionsWindows) {
  ExpectGoldenWindows("torchvision_crops.txt", {});
  ExpectGoldenWindows("torchvision_bounded_crops.txt",
                      {.scale = 0.35F, .ratio = 1.5F});
  ExpectGoldenWindows("torchvision_small_crops.txt",
                      {.scale = 0.05F, .max_scale = 0.4F});
  ExpectGoldenWindows("torchvision_large_crops.txt",
                      {.scale = 0.4F, .max_scale = 1});
}

TEST(RandomResizedCropTest, LiesInsideForRandomSizes) {
  SampleRandom sizes({.seed = 2}, RandomStream::kMadeData);
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const int height = 1 + static_cast<int>(sizes.Below(600));
    const int width = 1 + static_cast<int>(sizes.Below(600));
    SampleRandom random({.seed = i}, RandomStream::kCrop);
    const Window window = RandomResizedCropWindow(height, width, {}, random);
    ASSERT_TRUE(IsInside(window, ImageSize(height, width)));
  }
}

void ExpectFraming(int height, int width, int size, const Framing& expected) {
  const Framing framing =
      ResizedCenterCrop(height, width, size, EvalCover({}, size));
  EXPECT_EQ(framing.window, (Window{0, 0, height, width}));
  EXPECT_EQ(framing.height, expected.height);
  EXPECT_EQ(framing.width, expected.width);
  EXPECT_EQ(framing.y, expected.y) << height << "x" << width;
  EXPECT_EQ(framing.x, expected.x) << height << "x" << width;
}

// The longer side is cut to a whole number; offsets are rounded half to even.
TEST(ResizedCenterCropTest, IsTorchvisions) {
  ExpectFraming(375, 500, 224, {{}, 256, 341, 16, 58});
  ExpectFraming(500, 375, 224, {{}, 341, 256, 58, 16});
  ExpectFraming(256, 256, 224, {{}, 256, 256, 16, 16});
  ExpectFraming(333, 500, 224, {{}, 256, 384, 16, 80});
  ExpectFraming(100, 101, 224, {{}, 256, 258, 16, 17});
  ExpectFraming(100, 103, 224, {{}, 256, 263, 16, 20});
  ExpectFraming(1, 1, 224, {{}, 256, 256, 16, 16});
  ExpectFraming(375, 500, 32, {{}, 37, 49, 2, 8});
  ExpectFraming(20, 20, 1, {{}, 1, 1, 0, 0});
}

// timm's ResizeKeepRatio: the image just covers a rectangle.
TEST(ResizedCenterCropTest, CoversARectangleOfTheOutputsShape) {
  const ImageSize size(224, 320);
  const ImageSize cover = EvalCover({}, size);
  EXPECT_EQ(cover, ImageSize(256, 366));
  const auto framing = [&](int height, int width) {
    Framing made = ResizedCenterCrop(height, width, size, cover);
    EXPECT_EQ(made.window, (Window{0, 0, height, width}));
    made.window = {};
    return made;
  };
  // Wider than the output, narrower, and of its shape.
  EXPECT_EQ(framing(500, 1000), (Framing{{}, 256, 512, 16, 96}));
  EXPECT_EQ(framing(500, 500), (Framing{{}, 366, 366, 71, 23}));
  EXPECT_EQ(framing(512, 732), (Framing{{}, 256, 366, 16, 23}));
  // A given side: as CenterCrop() does, which pads an image that is smaller.
  const Window whole{0, 0, 500, 500};
  EXPECT_EQ(ResizedCenterCrop(500, 500, size, 256),
            (Framing{whole, 256, 256, 16, -32}));
  EXPECT_EQ(ResizedCenterCrop(375, 500, 224, 232),
            (Framing{{0, 0, 375, 500}, 232, 309, 4, 42}));
}

TEST(ResizedCenterCropTest, HasRoomForTheOutput) {
  for (int height = 1; height < 300; height += 7) {
    for (int width = 1; width < 300; width += 5) {
      for (const ImageSize size :
           {ImageSize(32, 61), ImageSize(61, 32), ImageSize(1 + width)}) {
        const Framing framing =
            ResizedCenterCrop(height, width, size, EvalCover({}, size));
        ASSERT_LE(framing.y + size.height, framing.height);
        ASSERT_LE(framing.x + size.width, framing.width);
      }
    }
  }
}

std::vector<std::uint32_t> Moved(int down, int right) {
  std::vector<std::uint32_t> pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  MovePixels({.down = down, .right = right}, 3, pixels);
  return pixels;
}

TEST(MovePixelsTest, LeavesBlackBehind) {
  EXPECT_THAT(Moved(0, 0), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(Moved(1, 0), ElementsAre(0, 0, 0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Moved(-2, 0), ElementsAre(7, 8, 9, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Moved(0, 2), ElementsAre(0, 0, 1, 0, 0, 4, 0, 0, 7));
  EXPECT_THAT(Moved(0, -1), ElementsAre(2, 3, 0, 5, 6, 0, 8, 9, 0));
  EXPECT_THAT(Moved(-1, 1), ElementsAre(0, 4, 5, 0, 7, 8, 0, 0, 0));
  for (const auto& [down, right] :
       {std::pair(3, 0), std::pair(-4, 0), std::pair(0, 4), std::pair(0, -3)}) {
    EXPECT_THAT(Moved(down, right), testing::Each(0U));
  }
  std::vector<std::uint32_t> oblong = {1, 2, 3, 4, 5, 6, 7, 8};
  MovePixels({.down = 1, .right = -1}, {2, 4}, oblong);
  EXPECT_THAT(oblong, ElementsAre(0, 0, 0, 0, 2, 3, 4, 0));
}

TEST(DrawMoveTest, DrawsEachMoveAsOften) {
  constexpr int kDraws = 81 * 200;
  std::array<std::array<int, 9>, 9> counts{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    SampleRandom random({.position = i}, RandomStream::kCrop);
    const Move move = DrawMove(random);
    ++counts.at(move.down + 4).at(move.right + 4);
  }
  for (const auto& row : counts) {
    for (const int count : row) {
      EXPECT_NEAR(count, 200, 70);  // five standard deviations
    }
  }
}

}  // namespace infeed::torchvision_crop_test
