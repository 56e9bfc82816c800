#include "pipeline/order/reference_order.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/random.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace reference_order_test {

using Order = std::vector<std::uint32_t>;
using Sizes = std::vector<std::int64_t>;

TEST(InterleaveTest, TakesTurnsRecordByRecord) {
  EXPECT_EQ(Interleave(Sizes{3, 2}, 2), (Order{0, 3, 1, 4, 2}));
}

TEST(InterleaveTest, TakesTheNextShardWhenOneEnds) {
  // The place of shard 0 is empty for one turn before it takes shard 2.
  EXPECT_EQ(Interleave(Sizes{1, 4, 2}, 2), (Order{0, 1, 2, 5, 3, 6, 4}));
}

// What tf.data's interleave gave for the same sizes; tests/data/README.md.
TEST(InterleaveTest, IsWhatTensorFlowsIs) {
  std::ifstream file(INFEED_TEST_DATA "/interleave.json");
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 10U);
  for (const nlohmann::json& one : cases) {
    EXPECT_EQ(Interleave(one["sizes"].get<Sizes>(), one["cycle_length"]),
              one["order"].get<Order>());
  }
}

// A shuffle buffer as its words say: fill it, draw from it, refill it.
Order Simulated(const Sizes& sizes, std::uint64_t seed, std::uint32_t epoch) {
  const Order interleaved = Interleave(sizes, 64);
  std::deque<std::uint32_t> coming(interleaved.begin(), interleaved.end());
  Order buffer;
  Order order;
  for (std::uint64_t place = 0; place < interleaved.size(); ++place) {
    while (!coming.empty() && buffer.size() < 1024) {
      buffer.push_back(coming.front());
      coming.pop_front();
    }
    SampleRandom draw({.seed = seed, .epoch = epoch, .position = place},
                      RandomStream::kFileShuffle);
    const std::size_t at =
        draw.Below(static_cast<std::uint32_t>(buffer.size()));
    order.push_back(buffer[at]);
    if (coming.empty()) {
      buffer[at] = buffer.back();
      buffer.pop_back();
    } else {
      buffer[at] = coming.front();
      coming.pop_front();
    }
  }
  return order;
}

TEST(ReferenceOrderTest, IsAShuffleBufferBehindAnInterleave) {
  Sizes many(100, 31);
  many[7] = 0;
  many[99] = 400;
  for (const Sizes& sizes : {Sizes{5}, Sizes{1024}, Sizes{1025}, many}) {
    EXPECT_EQ(ReferenceOrder(sizes, 3, 1), Simulated(sizes, 3, 1));
  }
}

TEST(ReferenceOrderTest, HasEveryRecordOnceAndNoneLongBeforeItsTurn) {
  const Sizes sizes(1, 5000);
  const Order order = ReferenceOrder(sizes, 8, 0);
  for (std::size_t place = 0; place < order.size(); ++place) {
    ASSERT_LT(order[place], place + 1024);
  }
  Order sorted = order;
  std::sort(sorted.begin(), sorted.end());
  Order all(5000);
  std::iota(all.begin(), all.end(), 0U);
  EXPECT_EQ(sorted, all);
}

TEST(ReferenceOrderTest, IsAnotherOneForAnotherSeedOrEpoch) {
  const Sizes sizes(1, 2000);
  const Order order = ReferenceOrder(sizes, 8, 0);
  EXPECT_EQ(ReferenceOrder(sizes, 8, 0), order);
  EXPECT_NE(ReferenceOrder(sizes, 8, 1), order);
  EXPECT_NE(ReferenceOrder(sizes, 9, 0), order);
}

}  // namespace reference_order_test
}  // namespace infeed
