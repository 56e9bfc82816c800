#include "base/number_bytes.h"

#include <array>
#include <bit>
#include <cstdint>

#include "gtest/gtest.h"

namespace infeed::number_bytes_test {

// Behind one byte, so that no number is aligned.
constexpr std::array<std::uint8_t, 9> kBytes = {0, 1, 2,    3,   4,
                                                5, 6, 0xF0, 0x3F};

TEST(NumberBytesTest, LoadsTheLowestByteFirst) {
  EXPECT_EQ(LoadLittleEndian<std::uint8_t>(&kBytes[1]), 0x01);
  EXPECT_EQ(LoadLittleEndian<std::uint16_t>(&kBytes[1]), 0x0201);
  EXPECT_EQ(LoadLittleEndian<std::uint32_t>(&kBytes[1]), 0x04030201U);
  EXPECT_EQ(LoadLittleEndian<std::uint64_t>(&kBytes[1]), 0x3FF0060504030201U);
  EXPECT_EQ(LoadLittleEndian<double>(&kBytes[1]),
            std::bit_cast<double>(std::uint64_t{0x3FF0060504030201}));
}

TEST(NumberBytesTest, IsItsOwnReverse) {
  for (const double number : {0.0, -1.5, 1e300}) {
    EXPECT_EQ(FromLittleEndian(FromLittleEndian(number)), number);
  }
  EXPECT_EQ(FromLittleEndian(FromLittleEndian(std::int64_t{-2})), -2);
}

}  // namespace infeed::number_bytes_test
