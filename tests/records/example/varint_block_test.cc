#include "records/example/varint_block.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_bytes.h"
#include "base/random.h"
#include "preprocess/pixels/simd_target.h"
#include "tests/support/each_target.h"

#include "gtest/gtest.h"

namespace infeed::varint_block_test {

void Append(std::int64_t number, std::string& block) {
  AppendVarint(static_cast<std::uint64_t>(number), block);
}

std::string BlockOf(const std::vector<std::int64_t>& numbers) {
  std::string block;
  for (const std::int64_t number : numbers) {
    Append(number, block);
  }
  return block;
}

// Numbers of 1 to most_bytes bytes; most_bytes 10: also negative ones.
std::vector<std::int64_t> MadeNumbers(std::uint32_t most_bytes,
                                      SampleRandom& draws) {
  std::vector<std::int64_t> numbers(200);
  for (std::int64_t& number : numbers) {
    const std::uint64_t bits = std::uint64_t{draws.Word()} << 32 | draws.Word();
    const std::uint32_t bytes = 1 + draws.Below(most_bytes);
    number =
        static_cast<std::int64_t>(bytes < 10 ? bits >> (64 - 7 * bytes) : bits);
  }
  return numbers;
}

// Reads the first numbers of a block, and checks each; returns how many.
std::size_t ExpectPrefix(std::string_view block, std::size_t room,
                         const std::vector<std::int64_t>& expected) {
  constexpr std::int64_t kUnset = -77;
  std::vector<std::int64_t> numbers(room, kUnset);
  const VarintsRead read =
      ReadVarints(std::as_bytes(std::span(block)), numbers);
  EXPECT_LE(read.numbers, room);
  std::string bytes;
  for (std::size_t i = 0; i < read.numbers; ++i) {
    EXPECT_EQ(numbers[i], expected[i]) << i;
    Append(expected[i], bytes);
  }
  EXPECT_EQ(read.bytes, bytes.size());
  return read.numbers;
}

TEST(VarintBlockTest, ReadsTheFirstNumbers) {
  OnEachSimdTarget([] {
    SampleRandom draws({.seed = 5}, RandomStream::kMadeData);
    for (const std::uint32_t most_bytes : {1U, 2U, 3U, 4U, 5U, 10U}) {
      const std::vector<std::int64_t> numbers = MadeNumbers(most_bytes, draws);
      const std::string block = BlockOf(numbers);
      for (const std::size_t room : {0, 1, 7, 8, 9, 64, 300}) {
        ExpectPrefix(block, room, numbers);
      }
      for (std::size_t size = 0; size < block.size(); ++size) {
        ExpectPrefix(std::string_view(block).substr(0, size), 300, numbers);
      }
    }
  });
}

TEST(VarintBlockTest, LeavesOnlyTheLastShortNumbers) {
  if (SupportedSimdTargets().size() == 1) {
    GTEST_SKIP() << "this CPU has no vectors of bytes";
  }
  SampleRandom draws({.seed = 6}, RandomStream::kMadeData);
  const std::vector<std::int64_t> numbers = MadeNumbers(4, draws);
  EXPECT_GE(ExpectPrefix(BlockOf(numbers), 300, numbers), numbers.size() - 15);
}

}  // namespace infeed::varint_block_test
