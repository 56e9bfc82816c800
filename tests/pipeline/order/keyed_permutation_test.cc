#include "pipeline/order/keyed_permutation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "tests/support/each_target.h"

#include "gtest/gtest.h"

namespace infeed::keyed_permutation_test {

std::vector<std::uint32_t> All(const KeyedPermutation& permutation) {
  std::vector<std::uint32_t> elements;
  for (std::uint32_t i = 0; i < permutation.size(); ++i) {
    elements.push_back(permutation.At(i));
  }
  return elements;
}

bool IsBijection(const KeyedPermutation& permutation) {
  std::vector<bool> seen(permutation.size());
  for (const std::uint32_t element : All(permutation)) {
    if (element >= seen.size() || seen[element]) {
      return false;
    }
    seen[element] = true;
  }
  return true;
}

// How far counts lie from being even: chi-square as a number of standard
// deviations above or below its mean. With 99 degrees of freedom or more a
// random permutation lies beyond 5 in less than 2 of 100,000 cases, and the
// seeds are fixed.
double ChiSquareDeviations(const std::vector<int>& counts, double expected) {
  double chi_square = 0;
  for (const int count : counts) {
    chi_square += (count - expected) * (count - expected) / expected;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

TEST(KeyedPermutationTest, IsABijectionForEverySize) {
  std::vector<std::uint32_t> sizes(2000);
  std::iota(sizes.begin(), sizes.end(), 1U);
  for (std::uint32_t size = 2001; size <= 5000; size += 10) {
    sizes.push_back(size);
  }
  sizes.insert(sizes.end(), {65535U, 65536U, 65537U});
  for (const std::uint32_t size : sizes) {
    ASSERT_TRUE(IsBijection({size, {.seed = 5, .epoch = size}})) << size;
  }
}

TEST(KeyedPermutationTest, GoesBackwardsForRandomSizes) {
  SampleRandom draws({.seed = 77}, RandomStream::kMadeData);
  for (std::uint32_t i = 0; i < 300; ++i) {
    const std::uint32_t size =
        i == 0 ? 0xffffffffU : 1 + draws.Below(1'000'000'000);
    const KeyedPermutation permutation(
        size, {.seed = draws.Word(), .epoch = i, .domain = draws.Word()});
    for (int j = 0; j < 20; ++j) {
      const std::uint32_t place = draws.Below(size);
      ASSERT_LT(permutation.At(place), size);
      ASSERT_EQ(permutation.PositionOf(permutation.At(place)), place) << size;
      ASSERT_EQ(permutation.At(permutation.PositionOf(place)), place) << size;
    }
  }
}

void ExpectSameAtOnce() {
  SampleRandom draws({.seed = 78}, RandomStream::kMadeData);
  for (const std::uint32_t size :
       {1U, 2U, 9U, 1000U, 1'281'167U, 0x80000000U, 0xffffffffU}) {
    const KeyedPermutation permutation(
        size, {.seed = draws.Word(), .epoch = 3, .domain = draws.Word()});
    for (const std::size_t count : {0, 1, 7, 8, 31, 32, 33, 100}) {
      std::vector<std::uint32_t> elements(count);
      std::vector<std::uint32_t> expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        elements[i] = i == 0 ? size - 1 : draws.Below(size);
        expected[i] = permutation.At(elements[i]);
      }
      permutation.ToElements(elements);
      ASSERT_EQ(elements, expected) << size;
    }
  }
}

TEST(KeyedPermutationTest, GivesManyElementsAtOnce) {
  OnEachSimdTarget(ExpectSameAtOnce);
}

// The definition in the header, word by word, without any shortcut.
std::uint32_t Twin(std::uint32_t size, const PermutationKey& key,
                   std::uint32_t x) {
  int bits = 0;
  while ((std::uint64_t{1} << bits) < size) {
    ++bits;
  }
  const std::uint64_t domain = std::uint64_t{key.domain} << 32;
  const int rounds = std::max(64, 6 * bits);
  for (int round = 0; round < rounds; ++round) {
    SampleRandom keys(
        {.seed = key.seed, .epoch = key.epoch, .position = domain},
        RandomStream::kOrder, 2 + static_cast<std::uint32_t>(round) / 4);
    for (int skip = 0; skip < round % 4; ++skip) {
      (void)keys.Word();
    }
    const std::uint64_t round_key = keys.Below(size);
    const std::uint32_t partner =
        static_cast<std::uint32_t>((round_key + size - x) % size);
    SampleRandom words({.seed = key.seed,
                        .epoch = key.epoch,
                        .position = domain + std::max(x, partner)},
                       RandomStream::kOrder,
                       static_cast<std::uint32_t>(round) / 128);
    for (int skip = 0; skip < round % 128 / 32; ++skip) {
      (void)words.Word();
    }
    if ((words.Word() >> round % 32 & 1) != 0) {
      x = partner;
    }
  }
  return x;
}

TEST(KeyedPermutationTest, FollowsItsDefinition) {
  constexpr std::uint32_t kSize = 3'000'000;  // 22 bits: two blocks of rounds
  for (const std::uint32_t domain : {kRecordDomain, kBlockDomain + 3}) {
    const PermutationKey key{
        .seed = 0x1122334455667788, .epoch = 9, .domain = domain};
    const KeyedPermutation permutation(kSize, key);
    for (std::uint32_t position = 7; position < kSize; position += 100'003) {
      ASSERT_EQ(permutation.At(position), Twin(kSize, key, position));
    }
  }
}

TEST(KeyedPermutationTest, IsAnotherOneForAnotherSeedEpochOrDomain) {
  const std::vector<std::uint32_t> one =
      All({1000, {.seed = 1, .epoch = 1, .domain = 1}});
  for (const PermutationKey& key :
       {PermutationKey{.seed = 2, .epoch = 1, .domain = 1},
        PermutationKey{
            .seed = 1 + (std::uint64_t{1} << 32), .epoch = 1, .domain = 1},
        PermutationKey{.seed = 1, .epoch = 2, .domain = 1},
        PermutationKey{.seed = 1, .epoch = 1, .domain = 2}}) {
    const std::vector<std::uint32_t> other = All({1000, key});
    int same = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      same += one[i] == other[i] ? 1 : 0;
    }
    // Two random ones agree in one place on average; in ten with a probability
    // of 1 in 10^7.
    EXPECT_LT(same, 10);
  }
}

// A record's place in one epoch is independent of its place in the next.
TEST(KeyedPermutationTest, MovesEvenlyFromEpochToEpoch) {
  constexpr std::uint32_t kSize = 50'000;
  for (const std::uint32_t epoch : {0U, 1U, 1000U}) {
    const KeyedPermutation now(kSize, {.seed = 6, .epoch = epoch});
    const KeyedPermutation next(kSize, {.seed = 6, .epoch = epoch + 1});
    std::vector<int> counts(100);  // places moved, in hundredths of all
    for (std::uint32_t place = 0; place < kSize; ++place) {
      const std::uint32_t moved =
          (next.PositionOf(now.At(place)) + kSize - place) % kSize;
      ++counts[moved / (kSize / 100)];
    }
    EXPECT_LT(std::abs(ChiSquareDeviations(counts, kSize / 100.0)), 5);
  }
}

TEST(KeyedPermutationTest, PutsEveryElementInEveryPlaceEquallyOften) {
  constexpr std::uint32_t kSize = 20;
  constexpr std::uint32_t kEpochs = 8000;
  std::vector<int> counts(kSize * kSize);
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    const KeyedPermutation permutation(kSize, {.seed = 11, .epoch = epoch});
    for (std::uint32_t place = 0; place < kSize; ++place) {
      ++counts[place * kSize + permutation.At(place)];
    }
  }
  EXPECT_LT(std::abs(ChiSquareDeviations(counts, kEpochs / double{kSize})), 5);
}

}  // namespace infeed::keyed_permutation_test
