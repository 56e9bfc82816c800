#include "pipeline/order/window_order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/random.h"
#include "pipeline/order/keyed_permutation.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed::window_order_test {

using Sizes = std::vector<std::int64_t>;

constexpr std::uint64_t kSeed = 9;
constexpr std::uint32_t kEpoch = 3;

std::int64_t Total(const Sizes& sizes) {
  return std::reduce(sizes.begin(), sizes.end());
}

std::vector<std::int64_t> All(const Sizes& sizes, const OrderWindow& window,
                              std::uint32_t epoch = kEpoch) {
  const WindowOrder order(sizes, window, kSeed, epoch);
  std::vector<std::int64_t> records;
  for (std::int64_t place = 0; place < Total(sizes); ++place) {
    records.push_back(order.RecordAt(place));
  }
  return records;
}

// The definition in the header, walked through step by step.
std::vector<std::int64_t> Twin(const Sizes& sizes, const OrderWindow& window) {
  const KeyedPermutation shards(
      static_cast<std::uint32_t>(sizes.size()),
      {.seed = kSeed, .epoch = kEpoch, .domain = kShardDomain});
  std::vector<std::vector<std::int64_t>> queues;  // of each shard, as permuted
  for (std::uint32_t i = 0; i < shards.size(); ++i) {
    const auto shard = static_cast<std::ptrdiff_t>(shards.At(i));
    queues.emplace_back(static_cast<std::size_t>(sizes[shards.At(i)]));
    std::iota(queues.back().begin(), queues.back().end(),
              std::reduce(sizes.begin(), sizes.begin() + shard));
  }
  std::vector<std::int64_t> interleaved;
  const auto width = static_cast<std::size_t>(window.shards);
  for (std::size_t first = 0; first < queues.size(); first += width) {
    const auto begin = queues.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = queues.begin() + static_cast<std::ptrdiff_t>(std::min(
                                          first + width, queues.size()));
    std::sort(begin, end, [](const auto& a, const auto& b) {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    });
    for (std::size_t round = 0; round < begin->size(); ++round) {
      for (auto queue = begin; queue != end && round < queue->size(); ++queue) {
        interleaved.push_back((*queue)[round]);
      }
    }
  }
  std::vector<std::int64_t> order;
  for (std::size_t place = 0; place < interleaved.size(); ++place) {
    const std::size_t block = place / static_cast<std::size_t>(window.records);
    const std::size_t first = block * static_cast<std::size_t>(window.records);
    const KeyedPermutation shuffle(
        static_cast<std::uint32_t>(
            std::min(static_cast<std::size_t>(window.records),
                     interleaved.size() - first)),
        {.seed = kSeed,
         .epoch = kEpoch,
         .domain = kBlockDomain + static_cast<std::uint32_t>(block)});
    order.push_back(interleaved[first + shuffle.At(static_cast<std::uint32_t>(
                                            place - first))]);
  }
  return order;
}

TEST(WindowOrderTest, FollowsItsDefinition) {
  SampleRandom draws({.seed = 4}, RandomStream::kMadeData);
  for (int i = 0; i < 200; ++i) {
    Sizes sizes(1 + draws.Below(20));
    for (std::int64_t& size : sizes) {
      size = draws.Below(draws.Below(2) == 0 ? 3 : 40);
    }
    sizes[0] = 1;  // There is something.
    const OrderWindow window{.shards = 1 + static_cast<int>(draws.Below(6)),
                             .records = 1 + static_cast<int>(draws.Below(50))};
    ASSERT_EQ(All(sizes, window), Twin(sizes, window)) << i;
  }
}

TEST(WindowOrderTest, InterleavesRecordByRecordWhereNothingIsShuffled) {
  const std::vector<std::int64_t> records =
      All({3, 5, 2}, {.shards = 3, .records = 1});
  EXPECT_THAT(records, ::testing::ElementsAre(3, 0, 8, 4, 1, 9, 5, 2, 6, 7));
}

// What makes the reads sequential: the records that a block takes from a shard
// are neighbours, and go on where the block before stopped.
TEST(WindowOrderTest, ReadsEachShardForwards) {
  const Sizes sizes = {700, 512, 300, 699, 1, 0, 450};
  constexpr int kBlock = 128;
  const std::vector<std::int64_t> records =
      All(sizes, {.shards = 3, .records = kBlock});
  Sizes ends(sizes.size());
  std::inclusive_scan(sizes.begin(), sizes.end(), ends.begin());
  std::map<std::ptrdiff_t, std::int64_t> next;  // of each shard
  for (std::size_t first = 0; first < records.size(); first += kBlock) {
    std::map<std::ptrdiff_t, std::set<std::int64_t>> taken;
    for (std::size_t i = first; i < std::min(first + kBlock, records.size());
         ++i) {
      const auto shard =
          std::upper_bound(ends.begin(), ends.end(), records[i]) - ends.begin();
      taken[shard].insert(records[i]);
    }
    for (const auto& [shard, stretch] : taken) {
      const std::int64_t begin =
          next.try_emplace(shard, *stretch.begin()).first->second;
      EXPECT_EQ(*stretch.begin(), begin);
      EXPECT_EQ(*stretch.rbegin() - begin + 1, std::ssize(stretch));
      next[shard] = *stretch.rbegin() + 1;
    }
  }
}

TEST(WindowOrderTest, PairsOtherShardsInAnotherEpoch) {
  std::set<std::set<std::int64_t>> pairs;
  for (std::uint32_t epoch = 0; epoch < 50; ++epoch) {
    const WindowOrder order(Sizes(4, 2), {.shards = 2, .records = 1}, kSeed,
                            epoch);
    pairs.insert({order.RecordAt(0) / 2, order.RecordAt(1) / 2});
  }
  EXPECT_EQ(pairs.size(), 6U);  // all that there are
}

TEST(WindowOrderTest, KeepsItsOrderFromVersionToVersion) {
  EXPECT_THAT(All({4, 3, 3, 2}, {.shards = 2, .records = 4}),
              ::testing::ElementsAre(8, 10, 7, 11, 4, 1, 9, 0, 3, 6, 2, 5));
}

TEST(WindowOrderTest, TakesAWindowLargerThanAllThereIs) {
  const OrderWindow window{.shards = 1 << 24, .records = 1 << 24};
  EXPECT_EQ(All({5, 0, 9}, window), Twin({5, 0, 9}, window));
}

}  // namespace infeed::window_order_test
