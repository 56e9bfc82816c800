#include "pipeline/order/reference_order.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "tests/support/throws.h"

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

namespace torch_order_test {

using Records = std::vector<std::int64_t>;

// What PyTorch itself gave; tests/data/README.md.
nlohmann::json PyTorchs() {
  std::ifstream file(INFEED_TEST_DATA "/torch_order.json");
  return nlohmann::json::parse(file);
}

// What a rank sees in one epoch of a DistributedSampler's kind.
Records Epoch(const nlohmann::json& one, int rank) {
  const InputOptions options = {.batch_size = one["world_size"],
                                .rank = rank,
                                .world_size = one["world_size"],
                                .rank_share = one["drop_last"]
                                                  ? RankShare::kStridedDrop
                                                  : RankShare::kStrided,
                                .shuffle = Shuffle::kTorch,
                                .seed = one["seed"]};
  const std::int64_t records = one["records"];
  if (options.rank_share == RankShare::kStridedDrop &&
      records < options.world_size) {
    return {};  // Refused: there is no batch.
  }
  const SampleOrder order({records}, options);
  BatchSequence sequence(records, CheckedInputOptions(options),
                         {.epoch = one["epoch"], .position = 0});
  Records own;
  for (std::optional<BatchPlan> plan = sequence.Next();
       plan->epoch == one["epoch"]; plan = sequence.Next()) {
    own.push_back(order.RecordAt(plan->epoch, plan->SampleOf(0).place));
  }
  return own;
}

TEST(TorchOrderTest, IsDistributedSamplersOnEveryRank) {
  int cases = 0;
  for (const nlohmann::json& one : PyTorchs()) {
    if (!one.contains("ranks")) {
      continue;
    }
    ++cases;
    for (int rank = 0; rank < one["world_size"]; ++rank) {
      EXPECT_EQ(Epoch(one, rank),
                one["ranks"][static_cast<std::size_t>(rank)].get<Records>())
          << one;
    }
  }
  EXPECT_EQ(cases, 48);
}

TEST(TorchOrderTest, IsPyTorchsOfManyRecords) {
  int cases = 0;
  for (const nlohmann::json& one : PyTorchs()) {
    if (!one.contains("sum")) {
      continue;
    }
    ++cases;
    const std::vector<std::uint32_t> order =
        TorchOrder(one["records"], one["seed"], one["epoch"]);
    std::int64_t sum = 0;
    for (std::size_t place = 0; place < order.size(); ++place) {
      sum += static_cast<std::int64_t>(place) * order[place];
    }
    EXPECT_EQ(sum, one["sum"]);
    const auto first = one["first"].get<std::vector<std::uint32_t>>();
    const auto last = one["last"].get<std::vector<std::uint32_t>>();
    EXPECT_TRUE(std::equal(first.begin(), first.end(), order.begin()));
    EXPECT_TRUE(std::equal(last.rbegin(), last.rend(), order.rbegin()));
  }
  EXPECT_EQ(cases, 2);
}

TEST(TorchOrderTest, IsRefusedWherePyTorchHasAnother) {
  EXPECT_THAT(MessageOf<UsageError>([] {
                SampleOrder(kMostTorchRecords + 1, Shuffle::kTorch, 0);
              }),
              testing::HasSubstr("shuffle=torch is for 214748363 records"));
}

}  // namespace torch_order_test

}  // namespace infeed
