// The batch that a step takes from images on the device.
#include "trainer/kernels/resident.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/memory/image_choice.h"
#include "preprocess/pixels/image_size.h"
#include "tests/support/device_array.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

class GatherKernelTest : public DeviceTest,
                         public testing::WithParamInterface<ImageSize> {};

// The image, or its mirror image, written out.
std::vector<std::uint32_t> ImageAt(const std::vector<std::uint32_t>& images,
                                   int image, const ImageSize& size,
                                   bool is_mirrored) {
  const auto [height, width] = size;
  std::vector<std::uint32_t> pixels;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      const int from = is_mirrored ? width - 1 - column : column;
      pixels.push_back(images[static_cast<std::size_t>(
          (image * height + row) * width + from)]);
    }
  }
  return pixels;
}

TEST_P(GatherKernelTest, TakesTheRowOfTheStep) {
  const ImageSize size = GetParam();
  const std::size_t pixels = size.pixels();
  const auto images = Draw<std::uint32_t>(5 * pixels, 3);
  const std::vector<std::uint32_t> unused(4, ImageChoice(0, false));
  std::vector<std::uint32_t> choices = unused;
  for (const std::uint32_t choice :
       {ImageChoice(4, false), ImageChoice(2, true), kNoImage,
        ImageChoice(4, true)}) {
    choices.push_back(choice);
  }
  choices.insert(choices.end(), unused.begin(), unused.end());
  const DeviceArray<std::uint32_t> held(images);
  const DeviceArray<std::int32_t> held_labels({10, 11, 12, 13, 14});
  const DeviceArray<std::uint32_t> rows(choices);
  const DeviceArray<StepClock> clock({{.first = 70, .index = 1}});
  const DeviceArray<std::uint32_t> to(4 * pixels);
  const DeviceArray<std::int32_t> labels(4);
  const DeviceArray<float> weights(4);
  LaunchGather({.pixels = held.data(),
                .labels = held_labels.data(),
                .height = size.height,
                .width = size.width},
               rows.data(), clock.data(),
               {.pixels = to.data(),
                .labels = labels.data(),
                .weights = weights.data(),
                .slots = 4},
               nullptr);
  std::vector<std::uint32_t> expected = ImageAt(images, 4, size, false);
  const auto add = [&](const std::vector<std::uint32_t>& image) {
    expected.insert(expected.end(), image.begin(), image.end());
  };
  add(ImageAt(images, 2, size, true));
  add(std::vector<std::uint32_t>(pixels));
  add(ImageAt(images, 4, size, true));
  EXPECT_EQ(to.Values(), expected);
  EXPECT_THAT(labels.Values(), ElementsAre(14, 12, -1, 14));
  EXPECT_THAT(weights.Values(), ElementsAre(1, 1, 0, 1));
}

// Less than a block, several blocks, and more pixels than blocks take at once.
INSTANTIATE_TEST_SUITE_P(Sizes, GatherKernelTest,
                         testing::Values(1, 5, ImageSize(3, 8), 40, 144,
                                         ImageSize(160, 97)));

}  // namespace
}  // namespace infeed
