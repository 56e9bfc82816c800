// Unpacking against the CPU's arithmetic.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/device_array.h"
#include "tests/support/float16.h"
#include "trainer/feed/pixel_math.h"
#include "trainer/kernels/kernels.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// A value in an element's bits: T is Float16, uint16_t for bfloat16, uint32_t
// for float32.
template <typename T>
T BitsOf(float value) {
  return static_cast<T>(sizeof(T) == 2 ? Bfloat16Bits(value)
                                       : std::bit_cast<std::uint32_t>(value));
}
template <>
Float16 BitsOf<Float16>(float value) {
  return ToFloat16(value);
}

// The expected images of packed pixels: the normalised values' bits, and a
// channel of zeros.
template <typename T>
std::vector<T> ExpectedImages(const std::vector<std::uint32_t>& pixels,
                              const PixelStatistics& statistics) {
  std::vector<T> expected;
  for (const std::uint32_t pixel : pixels) {
    for (int channel = 0; channel < 3; ++channel) {
      expected.push_back(BitsOf<T>(Normalized(pixel, channel, statistics)));
    }
    expected.push_back(T{0});
  }
  return expected;
}

template <typename T>
constexpr ImageType kTypeOf = sizeof(T) == 2 ? ImageType::kBfloat16
                                             : ImageType::kFloat32;
template <>
constexpr ImageType kTypeOf<Float16> = ImageType::kFloat16;

template <typename T>
class ImagesKernelTest : public DeviceTest {
 protected:
  static void ExpectUnpacked(int images, int side,
                             const PixelStatistics& statistics) {
    const auto count = static_cast<std::size_t>(images);
    const auto pixels =
        Draw<std::uint32_t>(count * static_cast<std::size_t>(side * side), 1);
    const auto labels = Draw<std::int32_t>(count, 2);
    const auto weights = Draw<float>(count, 3);
    const DeviceArray<std::uint32_t> from(pixels);
    const DeviceArray<std::int32_t> from_labels(labels);
    const DeviceArray<float> from_weights(weights);
    const DeviceArray<T> to(pixels.size() * kImageChannels);
    const DeviceArray<std::int64_t> to_labels(count);
    const DeviceArray<float> to_weights(count);
    LaunchUnpack({from.data(), from_labels.data(), from_weights.data()}, images,
                 side, statistics, kTypeOf<T>,
                 {to.data(), to_labels.data(), to_weights.data()}, nullptr);
    EXPECT_EQ(to.Values(), ExpectedImages<T>(pixels, statistics));
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

TYPED_TEST(ImagesKernelTest, CopiesMoreLabelsThanItHasThreads) {
  TestFixture::ExpectUnpacked(5000, 1, kUnitStatistics);
}

}  // namespace
}  // namespace infeed
