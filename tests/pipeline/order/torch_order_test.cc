
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed::torch_order_test {

using Records = std::vector<std::int64_t>;

// Orders that PyTorch made; tests/data/README.md.
nlohmann::json PyTorchsOrders() {
  std::ifstream file(INFEED_TEST_DATA "/torch_order.json");
  return nlohmann::json::parse(file);
}

// The records of a rank in one epoch of a DistributedSampler's kind.
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
    own.push_back(order.Epoch(plan->epoch).RecordAt(plan->SampleOf(0).place));
  }
  return own;
}

TEST(TorchOrderTest, IsDistributedSamplersOnEveryRank) {
  int cases = 0;
  for (const nlohmann::json& one : PyTorchsOrders()) {
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
  for (const nlohmann::json& one : PyTorchsOrders()) {
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

}  // namespace infeed::torch_order_test
