#include "preprocess/pixels/unpack.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "preprocess/pixels/simd_target.h"

#include "gtest/gtest.h"

namespace infeed {
namespace unpack_test {

class UnpackTest : public ::testing::TestWithParam<std::string> {
 protected:
  UnpackTest() { UseSimdTarget(GetParam()); }
  ~UnpackTest() override { UseSimdTarget(""); }
};

constexpr std::uint8_t kUntouched = 0xA5;

// Pixels whose bytes all differ, also the low ones, which unpacking ignores.
std::vector<std::uint32_t> SomePixels(std::size_t count) {
  std::vector<std::uint32_t> pixels(count);
  for (std::size_t i = 0; i < count; ++i) {
    pixels[i] = static_cast<std::uint32_t>(i + 1) * 2654435761U;
  }
  return pixels;
}

// The plain twin of the vector code.
std::vector<std::uint8_t> Truth(std::span<const std::uint32_t> pixels) {
  std::vector<std::uint8_t> rgb;
  for (const std::uint32_t pixel : pixels) {
    for (const int shift : {24, 16, 8}) {
      rgb.push_back(static_cast<std::uint8_t>(pixel >> shift));
    }
  }
  return rgb;
}

TEST_P(UnpackTest, UnpacksAnyNumberOfPixelsFromAndToAnyPlace) {
  for (std::size_t count = 0; count < 300; ++count) {
    const std::size_t offset = count % 67;
    const std::vector<std::uint32_t> pixels = SomePixels(count + offset);
    const std::span<const std::uint32_t> source =
        std::span(pixels).subspan(offset);
    std::vector<std::uint8_t> target(offset + 3 * count + 1, kUntouched);
    UnpackPixels(source, std::span(target).subspan(offset, 3 * count));
    std::vector<std::uint8_t> expected(offset, kUntouched);
    const std::vector<std::uint8_t> rgb = Truth(source);
    expected.insert(expected.end(), rgb.begin(), rgb.end());
    expected.push_back(kUntouched);
    ASSERT_EQ(target, expected) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, UnpackTest,
                         ::testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& test) { return test.param; });

TEST(UnpackDeathTest, AbortsOnBytesOfAnotherNumberOfPixels) {
  const std::vector<std::uint32_t> pixels(2);
  std::vector<std::uint8_t> rgb(5);
  EXPECT_DEATH(UnpackPixels(pixels, rgb), "a pixel has three bytes");
}

}  // namespace unpack_test
}  // namespace infeed
