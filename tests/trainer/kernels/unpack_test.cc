// Unpacking against the CPU's arithmetic.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/device_array.h"
#include "tests/support/image_bits.h"
#include "trainer/feed/pixel_math.h"
#include "trainer/kernels/kernels.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// The expected images of packed pixels: the normalised values' bits, and a
// channel of zeros.
template <typename T>
std::vector<T> ExpectedImages(const std::vector<std::uint32_t>& pixels,
                              const PixelStatistics& statistics) {
  std::vector<T> expected;
  for (const std::uint32_t pixel : pixels) {
    for (int channel = 0; channel < 3; ++channel) {
      expected.push_back(
          RoundedBits<T>(Normalized(pixel, channel, statistics)));
    }
    expected.push_back(T{0});
  }
  return expected;
}

// From ExpectedImages(): squares of 2x2 pixels, with two of zeros before and
// one after.
template <typename T>
std::vector<T> ExpectedSquares(const std::vector<T>& images,
                               const ImageSize& size) {
  std::vector<T> expected;
  const int columns = size.width / 2 + 3;
  const int pixels = 4 * columns * (size.height / 2 + 3);
  for (std::size_t image = 0; image < images.size();
       image += size.pixels() * kImageChannels) {
    for (int i = 0; i < pixels; ++i) {
      const int row = 2 * (i / 4 / columns - 2) + i / 2 % 2;
      const int column = 2 * (i / 4 % columns - 2) + i % 2;
      const bool is_in =
          row >= 0 && row < size.height && column >= 0 && column < size.width;
      for (int channel = 0; channel < kImageChannels; ++channel) {
        const int at = (row * size.width + column) * kImageChannels + channel;
        expected.push_back(is_in ? images[image + static_cast<std::size_t>(at)]
                                 : T{0});
      }
    }
  }
  return expected;
}

template <typename T>
class ImagesKernelTest : public DeviceTest {
 protected:
  static void ExpectUnpacked(int images, const ImageSize& size,
                             const PixelStatistics& statistics,
                             bool space_to_depth = false) {
    const auto count = static_cast<std::size_t>(images);
    const auto pixels = Draw<std::uint32_t>(count * size.pixels(), 1);
    const auto labels = Draw<std::int32_t>(count, 2);
    const auto weights = Draw<float>(count, 3);
    const DeviceArray<std::uint32_t> from(pixels);
    const DeviceArray<std::int32_t> from_labels(labels);
    const DeviceArray<float> from_weights(weights);
    std::vector<T> expected = ExpectedImages<T>(pixels, statistics);
    if (space_to_depth) {
      expected = ExpectedSquares(expected, size);
    }
    const DeviceArray<T> to(expected.size());
    const DeviceArray<std::int64_t> to_labels(count);
    const DeviceArray<float> to_weights(count);
    LaunchUnpack(
        {from.data(), from_labels.data(), from_weights.data()}, images, size,
        statistics, kImageTypeOf<T>,
        {to.data(), to_labels.data(), to_weights.data(), space_to_depth},
        nullptr);
    EXPECT_EQ(to.Values(), expected);
    EXPECT_EQ(to_labels.Values(),
              std::vector<std::int64_t>(labels.begin(), labels.end()));
    EXPECT_EQ(to_weights.Values(), weights);
  }
};

using ImageBits = testing::Types<std::uint32_t, std::uint16_t, Float16>;
TYPED_TEST_SUITE(ImagesKernelTest, ImageBits, );

TYPED_TEST(ImagesKernelTest, UnpacksWholeBlocksAndTheRest) {
  TestFixture::ExpectUnpacked(2, 64, kImagenetStatistics);
  TestFixture::ExpectUnpacked(3, 31, kImagenetStatistics);
  TestFixture::ExpectUnpacked(1, 1, kUnitStatistics);
}

TYPED_TEST(ImagesKernelTest, UnpacksToSquares) {
  for (const ImageSize size :
       {ImageSize(2), ImageSize(6, 16), ImageSize(64, 30)}) {
    TestFixture::ExpectUnpacked(3, size, kImagenetStatistics,
                                /*space_to_depth=*/true);
  }
}

TYPED_TEST(ImagesKernelTest, CopiesMoreLabelsThanItHasThreads) {
  TestFixture::ExpectUnpacked(5000, 1, kUnitStatistics);
}

}  // namespace
}  // namespace infeed
