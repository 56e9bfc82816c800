#include "records/bytes/crc32c.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "records/bytes/sha256.h"
#include "tests/support/bytes.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// All implementations must behave alike.
using Extend = std::uint32_t (*)(std::uint32_t, std::span<const std::byte>);

std::vector<Extend> Implementations() {
  std::vector<Extend> all = {ExtendCrc32cPortable, ExtendCrc32cIsal,
                             ExtendCrc32c};
  if (HasCrc32cInstruction()) {
    all.push_back(ExtendCrc32cHardware);
  }
  return all;
}

std::vector<std::byte> CountingBytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i * 131 >> 3);
  }
  return bytes;
}

TEST(Crc32cTest, GivesThePublishedValues) {
  std::string counting(32, '\0');
  std::iota(counting.begin(), counting.end(), '\0');
  for (const Extend extend : Implementations()) {
    EXPECT_EQ(extend(0, {}), 0U);
    EXPECT_EQ(extend(0, AsBytes("123456789")), 0xE3069283U);
    EXPECT_EQ(extend(0, AsBytes(std::string(32, '\0'))), 0x8A9136AAU);
    EXPECT_EQ(extend(0, AsBytes(std::string(32, '\xFF'))), 0x62A8AB43U);
    EXPECT_EQ(extend(0, AsBytes(counting)), 0x46DD794EU);
  }
}

TEST(Crc32cTest, AnySplitGivesTheSame) {
  const std::vector<std::byte> bytes = CountingBytes(667);
  const auto all = std::span(bytes);
  for (const Extend extend : Implementations()) {
    const std::uint32_t whole = extend(0, all);
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
      EXPECT_EQ(extend(extend(0, all.first(split)), all.subspan(split)), whole)
          << "split at " << split;
    }
  }
}

TEST(Crc32cTest, AgreesWithThePortableTwinAtAnySizeAndAlignment) {
  const std::vector<std::byte> bytes = CountingBytes(5000);
  for (const Extend extend : Implementations()) {
    for (std::size_t start = 0; start < 9; ++start) {
      for (const std::size_t size : {0, 1, 7, 8, 9, 255, 256, 1024, 4099}) {
        const auto part = std::span(bytes).subspan(start, size);
        EXPECT_EQ(extend(0, part), ExtendCrc32cPortable(0, part));
      }
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

// FIPS 180-2, appendix B.1.
constexpr const char* kOfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256Test, HashesBytesThatComeInPieces) {
  Sha256 hash;
  hash.Add(AsBytes("a"));
  hash.Add(AsBytes("bc"));
  EXPECT_EQ(Hex(hash.Finish()), kOfAbc);
}

}  // namespace
}  // namespace infeed
