#include "records/bytes/crc32c.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/support/record_file.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

struct Portable {
  static bool Available() { return true; }
  static std::uint32_t Extend(std::uint32_t crc,
                              std::span<const std::byte> bytes) {
    return ExtendCrc32cPortable(crc, bytes);
  }
};

struct Hardware {
  static bool Available() { return HasCrc32cInstruction(); }
  static std::uint32_t Extend(std::uint32_t crc,
                              std::span<const std::byte> bytes) {
    return ExtendCrc32cHardware(crc, bytes);
  }
};

struct Isal {
  static bool Available() { return true; }
  static std::uint32_t Extend(std::uint32_t crc,
                              std::span<const std::byte> bytes) {
    return ExtendCrc32cIsal(crc, bytes);
  }
};

struct Dispatched {
  static bool Available() { return true; }
  static std::uint32_t Extend(std::uint32_t crc,
                              std::span<const std::byte> bytes) {
    return ExtendCrc32c(crc, bytes);
  }
};

std::vector<std::byte> CountingBytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i * 131 >> 3);
  }
  return bytes;
}

// All implementations must behave alike.
template <typename Implementation>
class Crc32cTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Implementation::Available()) {
      GTEST_SKIP() << "the processor lacks the instruction";
    }
  }
};

using Implementations = ::testing::Types<Portable, Hardware, Isal, Dispatched>;
TYPED_TEST_SUITE(Crc32cTest, Implementations);

TYPED_TEST(Crc32cTest, GivesThePublishedValues) {
  EXPECT_EQ(TypeParam::Extend(0, {}), 0U);
  EXPECT_EQ(TypeParam::Extend(0, AsBytes("123456789")), 0xE3069283U);
  const std::string zeros(32, '\0');
  EXPECT_EQ(TypeParam::Extend(0, AsBytes(zeros)), 0x8A9136AAU);
  const std::string ones(32, '\xFF');
  EXPECT_EQ(TypeParam::Extend(0, AsBytes(ones)), 0x62A8AB43U);
  std::string counting(32, '\0');
  for (std::size_t i = 0; i < counting.size(); ++i) {
    counting[i] = static_cast<char>(i);
  }
  EXPECT_EQ(TypeParam::Extend(0, AsBytes(counting)), 0x46DD794EU);
}

TYPED_TEST(Crc32cTest, AnySplitGivesTheSame) {
  const std::vector<std::byte> bytes = CountingBytes(667);
  const std::uint32_t whole = TypeParam::Extend(0, bytes);
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    const std::uint32_t head =
        TypeParam::Extend(0, std::span(bytes).first(split));
    EXPECT_EQ(TypeParam::Extend(head, std::span(bytes).subspan(split)), whole)
        << "split at " << split;
  }
}

TYPED_TEST(Crc32cTest, AgreesWithThePortableTwinAtAnySizeAndAlignment) {
  const std::vector<std::byte> bytes = CountingBytes(5000);
  for (std::size_t start = 0; start < 9; ++start) {
    for (const std::size_t size : {0, 1, 7, 8, 9, 255, 256, 1024, 4099}) {
      const auto part = std::span(bytes).subspan(start, size);
      EXPECT_EQ(TypeParam::Extend(0, part), ExtendCrc32cPortable(0, part));
    }
  }
}

TEST(CombineCrc32cTest, IsTheChecksumOfBothTogether) {
  const std::vector<std::byte> bytes = CountingBytes(1100);
  const auto all = std::span(bytes);
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    EXPECT_EQ(CombineCrc32c(Crc32c(all.first(split)),
                            Crc32c(all.subspan(split)), bytes.size() - split),
              Crc32c(all))
        << "split at " << split;
  }
}

TEST(CombineCrc32cTest, TakesLengthsThatNoMemoryHolds) {
  // Zero bytes, 2^40 of them and 5, put together in two ways.
  const std::string zeros(5, '\0');
  std::uint32_t many = Crc32c(AsBytes(zeros).first(1));
  for (int i = 0; i < 40; ++i) {
    many = CombineCrc32c(many, many, std::uint64_t{1} << i);
  }
  const std::uint32_t few = Crc32c(AsBytes(zeros));
  EXPECT_EQ(CombineCrc32c(many, few, 5),
            CombineCrc32c(few, many, std::uint64_t{1} << 40));
}

TEST(CrcMaskTest, GivesTheReferencesValues) {
  EXPECT_EQ(MaskCrc(0), 0xA282EAD8U);
  EXPECT_EQ(MaskCrc(0xE3069283), 0xC78AB0E5U);
}

TEST(CrcMaskTest, UnmaskUndoesMask) {
  for (const std::uint32_t crc : {0U, 1U, 0x7FFFU, 0x80000000U, 0xFFFFFFFFU}) {
    EXPECT_EQ(UnmaskCrc(MaskCrc(crc)), crc);
    EXPECT_NE(MaskCrc(crc), crc);
  }
}

}  // namespace
}  // namespace infeed
