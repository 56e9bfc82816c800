#include "preprocess/pixels/packed_copy.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "preprocess/pixels/simd_target.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

class PackedCopyTest : public ::testing::TestWithParam<std::string> {
 protected:
  PackedCopyTest() { UseSimdTarget(GetParam()); }
  ~PackedCopyTest() override { UseSimdTarget(""); }
};

constexpr std::uint32_t kUntouched = 0x12345678;

// The expected copy of some rows, made pixel by pixel.
std::vector<std::uint32_t> Truth(const std::vector<std::byte>& packed,
                                 std::size_t width, bool mirror) {
  std::vector<std::uint32_t> pixels(packed.size() / 4);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t x = i % width;
    const std::size_t from = mirror ? i - x + (width - 1 - x) : i;
    for (std::size_t byte = 1; byte < 4; ++byte) {
      pixels[i] |= std::to_integer<std::uint32_t>(packed[4 * from + byte])
                   << 8 * byte;
    }
  }
  return pixels;
}

TEST_P(PackedCopyTest, CopiesRowsOfAnyWidthFromAndToAnyPlace) {
  for (std::size_t width = 1; width < 70; ++width) {
    const std::size_t offset = width % 5;
    std::vector<std::byte> bytes(3 * width * 4 + offset);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(i * 37 + 11);
    }
    const std::span<const std::byte> packed = std::span(bytes).subspan(offset);
    const std::vector<std::byte> exact(packed.begin(), packed.end());
    for (const int way : {0, 1, 2, 3}) {
      const bool mirror = way % 2 == 1;
      std::vector<std::uint32_t> target(3 * width + offset + 1, kUntouched);
      CopyPackedPixels(packed, static_cast<int>(width), mirror,
                       std::span(target).subspan(offset, 3 * width), {},
                       way >= 2);
      EXPECT_EQ(target.back(), kUntouched);
      target.pop_back();
      for (std::size_t i = 0; i < offset; ++i) {
        EXPECT_EQ(target[i], kUntouched);
      }
      target.erase(target.begin(),
                   target.begin() + static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(target, Truth(exact, width, mirror)) << width << ", " << way;
    }
  }
}

TEST_P(PackedCopyTest, ShowsAllBytesInOrderBeforeItCopiesThem) {
  constexpr std::size_t kRows = 40;
  for (const std::size_t width : {1U, 7U, 64U, 224U, 1000U}) {
    std::vector<std::byte> packed(kRows * width * 4);
    for (std::size_t i = 0; i < packed.size(); ++i) {
      packed[i] = static_cast<std::byte>(i * 37 + 11);
    }
    for (const bool mirror : {false, true}) {
      std::vector<std::uint32_t> target(kRows * width, kUntouched);
      std::size_t shown = 0;
      CopyPackedPixels(packed, static_cast<int>(width), mirror, target,
                       [&](std::span<const std::byte> piece) {
                         EXPECT_EQ(piece.data(), packed.data() + shown);
                         // A mirrored row is copied as a whole.
                         const std::size_t pixel = shown / 4;
                         const std::size_t next =
                             mirror ? pixel - pixel % width : pixel;
                         EXPECT_EQ(target[next], kUntouched);
                         shown += piece.size();
                       });
      EXPECT_EQ(shown, packed.size());
      EXPECT_EQ(target, Truth(packed, width, mirror)) << width << mirror;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, PackedCopyTest,
                         ::testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& test) { return test.param; });

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

TEST_P(PackedCopyTest, UnpacksAnyNumberOfPixelsFromAndToAnyPlace) {
  constexpr std::uint8_t kMark = 0xA5;
  for (std::size_t count = 0; count < 300; ++count) {
    const std::size_t offset = count % 67;
    const std::vector<std::uint32_t> pixels = SomePixels(count + offset);
    const std::span<const std::uint32_t> source =
        std::span(pixels).subspan(offset);
    std::vector<std::uint8_t> target(offset + 3 * count + 1, kMark);
    UnpackPixels(source, std::span(target).subspan(offset, 3 * count));
    std::vector<std::uint8_t> expected(offset, kMark);
    const std::vector<std::uint8_t> rgb = Truth(source);
    expected.insert(expected.end(), rgb.begin(), rgb.end());
    expected.push_back(kMark);
    ASSERT_EQ(target, expected) << count;
  }
}

TEST_P(PackedCopyTest, CopiesAnyNumberOfBytesFromAndToAnyPlace) {
  constexpr std::byte kMark{0xA5};
  for (std::size_t count = 0; count < 300; ++count) {
    const std::size_t offset = count % 67;
    std::vector<std::byte> source(count + count % 3);
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[i] = static_cast<std::byte>(i * 37 + 11);
    }
    const std::span<const std::byte> from =
        std::span(source).subspan(count % 3, count);
    std::vector<std::byte> target(offset + count + 1, kMark);
    CopyPixelBytes(from, std::span(target).subspan(offset, count));
    std::vector<std::byte> expected(offset, kMark);
    expected.insert(expected.end(), from.begin(), from.end());
    expected.push_back(kMark);
    ASSERT_EQ(target, expected) << count;
  }
}

TEST(UnpackDeathTest, AbortsOnBytesOfAnotherNumberOfPixels) {
  const std::vector<std::uint32_t> pixels(2);
  std::vector<std::uint8_t> rgb(5);
  EXPECT_DEATH(UnpackPixels(pixels, rgb), "a pixel has three bytes");
}

}  // namespace
}  // namespace infeed
