#include "preprocess/pixels/pixel_hash.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "preprocess/pixels/simd_target.h"

#include "gtest/gtest.h"

namespace infeed::pixel_hash_test {

constexpr std::size_t kBlock = PixelHash::kBlockBytes;

std::vector<std::byte> Bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  HashChain random;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random.Add(1).hash());
  }
  return bytes;
}

TEST(PixelHashTest, IsTheSameForEveryTargetSizeAndAlignment) {
  const std::vector<std::byte> bytes = Bytes(3 * kBlock + 65);
  for (std::size_t size = 0; size + 1 < bytes.size(); size += 7) {
    std::set<std::uint64_t> hashes;
    for (const std::string& target : SupportedSimdTargets()) {
      UseSimdTarget(target);
      const std::vector<std::byte> moved(bytes.begin() + 1, bytes.end());
      hashes.insert(HashPixels(std::span(bytes).subspan(1, size)));
      hashes.insert(HashPixels(std::span(moved).first(size)));
    }
    EXPECT_EQ(hashes.size(), 1U) << size;
  }
  UseSimdTarget("");
}

// A state that was written on one machine is read on another one.
TEST(PixelHashTest, HasTheValueThatItAlwaysHad) {
  EXPECT_EQ(HashChain().Add(0).hash(), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(HashPixels(Bytes(1500)), 0x2C69D455A8013CD1U);
}

TEST(PixelHashTest, PartsGiveTheHashOfTheWhole) {
  constexpr std::size_t kPart = PixelHash::kPartBytes;
  const std::vector<std::byte> bytes = Bytes(5 * kBlock + 3);
  for (const std::string& target : SupportedSimdTargets()) {
    UseSimdTarget(target);
    for (const std::size_t step : {kPart, 3 * kPart, kBlock, 7 * kPart}) {
      PixelHash hash;
      for (std::size_t at = 0; at < bytes.size(); at += step) {
        hash.Add(
            std::span(bytes).subspan(at, std::min(step, bytes.size() - at)));
      }
      EXPECT_EQ(hash.hash(), HashPixels(bytes)) << target << ", " << step;
    }
  }
  UseSimdTarget("");
}

TEST(PixelHashDeathTest, NothingFollowsAPartThatIsNotWhole) {
  PixelHash hash;
  hash.Add(Bytes(3));
  EXPECT_DEATH(hash.Add(Bytes(3)), "only the last part may be shorter");
}

TEST(PixelHashTest, EachBitCounts) {
  std::vector<std::byte> bytes = Bytes(2 * kBlock + 20);
  std::set<std::uint64_t> hashes = {HashPixels(bytes)};
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const auto mask = std::byte{1} << bit % 8;
    bytes[bit / 8] ^= mask;
    hashes.insert(HashPixels(bytes));
    bytes[bit / 8] ^= mask;
  }
  EXPECT_EQ(hashes.size(), 1 + 8 * bytes.size());
}

TEST(PixelHashTest, TheOrderOfBytesWordsAndBlocksCounts) {
  const std::vector<std::byte> bytes = Bytes(4 * kBlock);
  std::set<std::uint64_t> hashes = {HashPixels(bytes)};
  std::size_t changes = 1;
  for (const std::size_t length : {std::size_t{1}, std::size_t{4},
                                   std::size_t{8}, std::size_t{64}, kBlock}) {
    for (const std::size_t by : {length, 2 * length, 3 * length}) {
      std::vector<std::byte> other = bytes;
      std::swap_ranges(other.begin(),
                       other.begin() + static_cast<std::ptrdiff_t>(length),
                       other.begin() + static_cast<std::ptrdiff_t>(by));
      hashes.insert(HashPixels(other));
      ++changes;
    }
  }
  EXPECT_EQ(hashes.size(), changes);
}

TEST(PixelHashTest, ZerosOfAnotherNumberDiffer) {
  std::set<std::uint64_t> hashes;
  for (std::size_t size = 0; size <= 2 * kBlock; ++size) {
    hashes.insert(HashPixels(std::vector<std::byte>(size)));
  }
  EXPECT_EQ(hashes.size(), 2 * kBlock + 1);
}

TEST(PixelHashTest, TheOrderOfAChainsValuesCounts) {
  EXPECT_NE(HashChain().Add(1).Add(2).hash(), HashChain().Add(2).Add(1).hash());
  EXPECT_NE(HashChain().Add(0).hash(), HashChain().Add(0).Add(0).hash());
  EXPECT_NE(HashChain().Add(0.5).hash(), HashChain().Add(-0.5).hash());
}

TEST(PixelHashTest, MixingIsUndone) {
  for (std::uint64_t bits = 1; bits != 0; bits <<= 1) {
    EXPECT_EQ(UnmixBits(MixBits(bits)), bits);
    EXPECT_EQ(MixBits(UnmixBits(bits - 1)), bits - 1);
  }
  constexpr std::uint64_t kOnes = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(UnmixBits(MixBits(kOnes)), kOnes);
}

}  // namespace infeed::pixel_hash_test
