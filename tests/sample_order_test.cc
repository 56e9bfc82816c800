#include "pipeline/sample_order.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/random.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

std::vector<std::int64_t> Epoch(const SampleOrder& order, std::uint32_t epoch) {
  const EpochOrder keyed = order.Epoch(epoch);
  std::vector<std::int64_t> records;
  for (std::int64_t i = 0; i < order.records(); ++i) {
    records.push_back(keyed.RecordAt(i));
  }
  return records;
}

bool IsPermutation(const std::vector<std::int64_t>& records) {
  std::vector<bool> seen(records.size());
  for (const std::int64_t record : records) {
    if (record < 0 || record >= static_cast<std::int64_t>(seen.size()) ||
        seen[static_cast<std::size_t>(record)]) {
      return false;
    }
    seen[static_cast<std::size_t>(record)] = true;
  }
  return true;
}

// How far counts lie from being even: chi-square as a number of standard
// deviations above or below its mean.
double ChiSquareDeviations(const std::vector<int>& counts, double expected) {
  double chi_square = 0;
  for (const int count : counts) {
    chi_square += (count - expected) * (count - expected) / expected;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

TEST(SampleOrderTest, IsAPermutationForEverySmallSize) {
  for (int size = 1; size <= 1000; ++size) {
    const SampleOrder order(size, Shuffle::kGlobal, 5);
    ASSERT_TRUE(IsPermutation(Epoch(order, 3))) << size;
  }
}

TEST(SampleOrderTest, IsAPermutationForLargerSizes) {
  for (const int size : {4095, 4096, 4097, 12345, 65537}) {
    const SampleOrder order(size, Shuffle::kGlobal, 1);
    ASSERT_TRUE(IsPermutation(Epoch(order, 0))) << size;
  }
}

TEST(SampleOrderTest, StaysInRangeForTheLargestSize) {
  constexpr std::int64_t kSize = 0xffffffff;
  const SampleOrder order(kSize, Shuffle::kGlobal, 1);
  const EpochOrder epoch = order.Epoch(0);
  for (const std::int64_t position : {std::int64_t{0}, kSize / 2, kSize - 1}) {
    EXPECT_GE(epoch.RecordAt(position), 0);
    EXPECT_LT(epoch.RecordAt(position), kSize);
  }
}

// The first positions of one order: a change of them changes everybody's
// batches.
TEST(SampleOrderTest, KeepsItsOrderFromVersionToVersion) {
  const SampleOrder order(10, Shuffle::kGlobal, 42);
  EXPECT_THAT(Epoch(order, 0),
              ::testing::ElementsAre(4, 1, 3, 2, 5, 8, 0, 6, 9, 7));
  EXPECT_THAT(Epoch(order, 1),
              ::testing::ElementsAre(1, 7, 8, 9, 3, 6, 2, 4, 5, 0));
}

// The definition in the header, word by word, without any shortcut.
std::int64_t Twin(std::uint32_t records, std::uint64_t seed,
                  std::uint32_t epoch, std::uint32_t x) {
  int bits = 0;
  while ((std::uint64_t{1} << bits) < records) {
    ++bits;
  }
  const int rounds = std::max(64, 6 * bits);
  for (int round = 0; round < rounds; ++round) {
    SampleRandom keys({.seed = seed, .epoch = epoch, .position = 0},
                      RandomStream::kOrder,
                      2 + static_cast<std::uint32_t>(round) / 4);
    for (int skip = 0; skip < round % 4; ++skip) {
      (void)keys.Word();
    }
    const std::uint64_t key = keys.Below(records);
    const std::uint32_t partner =
        static_cast<std::uint32_t>((key + records - x) % records);
    SampleRandom words(
        {.seed = seed, .epoch = epoch, .position = std::max(x, partner)},
        RandomStream::kOrder, static_cast<std::uint32_t>(round) / 128);
    for (int skip = 0; skip < round % 128 / 32; ++skip) {
      (void)words.Word();
    }
    if ((words.Word() >> round % 32 & 1) != 0) {
      x = partner;
    }
  }
  return x;
}

TEST(SampleOrderTest, FollowsItsDefinition) {
  constexpr std::uint32_t kSize = 3'000'000;  // 22 bits: two blocks of rounds
  constexpr std::uint64_t kSeed = 0x1122334455667788;
  const SampleOrder order(kSize, Shuffle::kGlobal, kSeed);
  for (std::uint32_t position = 7; position < kSize; position += 100'003) {
    ASSERT_EQ(order.RecordAt(9, position), Twin(kSize, kSeed, 9, position));
  }
}

TEST(SampleOrderTest, DiffersBetweenEpochsAndSeeds) {
  const SampleOrder one(1000, Shuffle::kGlobal, 1);
  const SampleOrder two(1000, Shuffle::kGlobal, 2);
  int same_epoch = 0;
  int same_seed = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    same_epoch += one.RecordAt(0, i) == one.RecordAt(1, i) ? 1 : 0;
    same_seed += one.RecordAt(0, i) == two.RecordAt(0, i) ? 1 : 0;
  }
  // Two random orders agree in one place on average.
  EXPECT_LT(same_epoch, 10);
  EXPECT_LT(same_seed, 10);
}

TEST(SampleOrderTest, PutsEveryRecordInEveryPlaceEquallyOften) {
  constexpr int kSize = 20;
  constexpr int kEpochs = 8000;
  const SampleOrder order(kSize, Shuffle::kGlobal, 11);
  std::vector<int> counts(kSize * kSize);
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    const std::vector<std::int64_t> records = Epoch(order, epoch);
    for (std::size_t i = 0; i < kSize; ++i) {
      ++counts[i * kSize + static_cast<std::size_t>(records[i])];
    }
  }
  EXPECT_LT(std::abs(ChiSquareDeviations(counts, kEpochs / double{kSize})), 5);
}

TEST(SampleOrderTest, TakesNeighboursApartEvenly) {
  constexpr std::int64_t kSize = 50'000;
  const SampleOrder order(kSize, Shuffle::kGlobal, 3);
  const std::vector<std::int64_t> records = Epoch(order, 2);
  // (b - a) mod size is even over 1..size-1 in a random order.
  std::vector<int> counts(100);
  for (std::size_t i = 1; i < records.size(); ++i) {
    const std::int64_t distance = (records[i] - records[i - 1] + kSize) % kSize;
    ++counts[static_cast<std::size_t>(distance * 100 / kSize)];
  }
  EXPECT_LT(std::abs(ChiSquareDeviations(counts, (kSize - 1) / 100.0)), 5);
}

TEST(SampleOrderTest, SpreadsEachEpochOverTheWholeRange) {
  constexpr std::int64_t kSize = 60'000;
  const EpochOrder order = SampleOrder(kSize, Shuffle::kGlobal, 8).Epoch(0);
  // The first 30,000 places: how many come from each hundredth of the records.
  std::vector<int> counts(100);
  for (std::int64_t i = 0; i < kSize / 2; ++i) {
    ++counts[static_cast<std::size_t>(order.RecordAt(i) * 100 / kSize)];
  }
  // Drawing without replacement halves the variance.
  EXPECT_LT(ChiSquareDeviations(counts, kSize / 200.0), 5);
}

TEST(SampleOrderTest, KeepsTheRecordsOwnOrderWhenAskedTo) {
  const SampleOrder order(100, Shuffle::kNone, 9);
  for (std::int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(order.RecordAt(4, i), i);
  }
}

TEST(SampleOrderTest, RefusesMoreRecordsThanItCanOrder) {
  EXPECT_THAT(
      [] { SampleOrder(std::int64_t{1} << 32, Shuffle::kGlobal, 0); },
      Throws<UsageError>(Property(&UsageError::what,
                                  HasSubstr("4294967296 records, more than"))));
}

}  // namespace
}  // namespace infeed
