#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/pixels/image_size.h"
#include "preprocess/pixels/pack.h"

// The images of tests/data/README.augment.md, made without files.
namespace infeed {

// Element i of the noise, a byte.
inline int AugmentNoise(std::uint32_t i) {
  std::uint32_t x = i * 2654435761U;
  x = (x ^ x >> 15) * 2246822519U;
  return static_cast<int>(x >> 24);
}

// "noise", "soft", "blocks"; anything else is "flat".
inline std::vector<std::uint32_t> AugmentImage(std::string_view name,
                                               const ImageSize& size) {
  std::vector<std::uint32_t> pixels;
  std::uint32_t i = 0;
  const auto level = [&](int x, int y, int c) -> std::uint32_t {
    const int noise = AugmentNoise(i++);
    const int value =
        name == "noise"    ? noise
        : name == "soft"   ? 40 + (3 * x + 2 * y + 20 * c + noise % 9) % 160
        : name == "blocks" ? (x / 8 * 37 + y / 8 * 91 + c * 53) % 256
                           : 60 + 50 * c;
    return static_cast<std::uint32_t>(value);
  };
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const std::uint32_t red = level(x, y, 0);
      const std::uint32_t green = level(x, y, 1);
      pixels.push_back(PackPixel(red, green, level(x, y, 2)));
    }
  }
  return pixels;
}

// Rows become columns. size: of `pixels`.
inline std::vector<std::uint32_t> Transposed(
    const std::vector<std::uint32_t>& pixels, const ImageSize& size) {
  std::vector<std::uint32_t> transposed;
  for (int x = 0; x < size.width; ++x) {
    for (int y = 0; y < size.height; ++y) {
      transposed.push_back(
          pixels[static_cast<std::size_t>(y * size.width + x)]);
    }
  }
  return transposed;
}

// The levels as R G B bytes. A low byte that is not 0 spoils them.
inline std::string RgbBytes(const std::vector<std::uint32_t>& pixels) {
  std::string bytes;
  for (const std::uint32_t pixel : pixels) {
    if ((pixel & 255) != 0) {
      return "a pixel's low byte is not 0";
    }
    for (const int shift : {24, 16, 8}) {
      bytes.push_back(static_cast<char>(pixel >> shift & 255));
    }
  }
  return bytes;
}

// Expects bytes within a level of another library's, all but a few the same.
inline void ExpectWithinALevel(const std::string& bytes,
                               const std::string& golden,
                               std::size_t most_unequal) {
  ASSERT_EQ(bytes.size(), golden.size());
  std::size_t unequal = 0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const int difference = std::abs(static_cast<unsigned char>(bytes[i]) -
                                    static_cast<unsigned char>(golden[i]));
    ASSERT_LE(difference, 1) << i;
    unequal += static_cast<std::size_t>(difference);
  }
  EXPECT_LE(unequal, most_unequal);
}

// FNV-1a, 64 bits, in hexadecimal.
inline std::string Fnv1a64(std::string_view bytes) {
  std::uint64_t value = 0xCBF29CE484222325;
  for (const char byte : bytes) {
    value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  }
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << value;
  return text.str();
}

}  // namespace infeed
