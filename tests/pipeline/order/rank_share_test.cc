// How ranks share an epoch: all modes against each other, and against PyTorch's
// own sampler.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "tests/support/batch_plans.h"

#include "gtest/gtest.h"

namespace infeed::rank_share_test {

// Every way to share and to end an epoch.
std::vector<InputOptions> AllModes(int batch_size) {
  std::vector<InputOptions> modes;
  for (const RankShare share :
       {RankShare::kContiguous, RankShare::kStrided, RankShare::kStridedDrop}) {
    for (const LastBatch last : {LastBatch::kDrop, LastBatch::kPad,
                                 LastBatch::kRepeat, LastBatch::kCarry}) {
      modes.push_back({.batch_size = batch_size,
                       .rank_share = share,
                       .last_batch = last,
                       .repeat = 2});
    }
  }
  return modes;
}

// The places of each global batch, over all ranks, in the order of positions.
std::vector<EpochPlaces> Union(std::int64_t places, InputOptions options) {
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> batches;
  for (options.rank = 0; options.rank < options.world_size; ++options.rank) {
    const std::vector<BatchPlan> plans = Take(Sequence(places, options), 999);
    batches.resize(plans.size());  // Checked below: as many for each rank.
    for (std::size_t i = 0; i < plans.size(); ++i) {
      for (int slot = 0; slot < plans[i].samples; ++slot) {
        batches[i].emplace_back(plans[i].PositionOf(slot),
                                plans[i].SampleOf(slot).place);
      }
    }
    EXPECT_EQ(std::ssize(plans), EpochBatchesOf(places, options).Within(2));
  }
  std::vector<EpochPlaces> sorted;
  for (auto& batch : batches) {
    std::sort(batch.begin(), batch.end());
    sorted.emplace_back();
    for (const auto& [position, place] : batch) {
      sorted.back().push_back(place);
    }
  }
  return sorted;
}

// Ranks can share 40 evenly; contiguous ones share anything. The repetitions of
// an image are next to each other over the ranks.
TEST(RankShareTest, IsTheSameStreamHoweverManyRanksShareIt) {
  for (const std::int64_t places : {40, 17, 31, 33, 39}) {
    for (InputOptions options : AllModes(16)) {
      for (const int repeats : {1, 3}) {
        const bool is_contiguous =
            options.rank_share == RankShare::kContiguous && repeats == 1;
        if (places != 40 && !is_contiguous) {
          continue;
        }
        options.repeat_augment = repeats;
        options.world_size = 1;
        const std::vector<EpochPlaces> single = Union(places, options);
        for (const int world_size : {2, 4, 8}) {
          options.world_size = world_size;
          EXPECT_EQ(Union(places, options), single)
              << places << ", " << world_size << " ranks, "
              << ChoiceName(options.rank_share, kRankShares) << ", "
              << ChoiceName(options.last_batch, kLastBatches);
        }
      }
    }
  }
}

TEST(RankShareTest, ResumesAtEveryBatchInEveryMode) {
  for (InputOptions options : AllModes(8)) {
    options.world_size = 4;
    options.rank = 3;
    const std::vector<BatchPlan> whole = Take(Sequence(21, options), 999);
    for (std::size_t done = 1; done <= whole.size(); ++done) {
      const std::vector<BatchPlan> rest =
          Take(Sequence(21, options, whole[done - 1].next), 999);
      ASSERT_TRUE(std::equal(rest.begin(), rest.end(),
                             whole.begin() + static_cast<std::ptrdiff_t>(done),
                             whole.end()));
    }
  }
}

InputOptions SamplersOptions(int world_size, int rank, bool drop) {
  return {.batch_size = 2 * world_size,
          .rank = rank,
          .world_size = world_size,
          .rank_share = drop ? RankShare::kStridedDrop : RankShare::kStrided,
          .last_batch = LastBatch::kPad,
          .repeat = 1};
}

// The whole epoch of a rank, as places; none where there is no batch at all.
EpochPlaces RankEpoch(std::int64_t places, const InputOptions& options) {
  if (options.rank_share == RankShare::kStridedDrop &&
      places < options.world_size) {
    return {};  // Refused, see above.
  }
  return PlacesOf(Take(Sequence(places, options), 999));
}

// What PyTorch itself gave; tests/data/README.md.
TEST(RankShareTest, SharesAsPyTorchDid) {
  std::ifstream file(INFEED_TEST_DATA "/distributed_sampler.json");
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 90U);
  for (const nlohmann::json& one : cases) {
    const int ranks = one["world_size"];
    for (int rank = 0; rank < ranks; ++rank) {
      const InputOptions options =
          SamplersOptions(ranks, rank, one["drop_last"]);
      EXPECT_EQ(RankEpoch(one["records"], options),
                one["ranks"][static_cast<std::size_t>(rank)].get<EpochPlaces>())
          << one;
    }
  }
}

// The samplers of repeated augmentation cut an epoch to a multiple of 256
// images; up to there the orders are the same.
TEST(RankShareTest, RepeatsAsTheSamplersOfTorchvisionAndTimmDid) {
  std::ifstream file(INFEED_TEST_DATA "/repeat_augment.json");
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 16U);
  for (const nlohmann::json& one : cases) {
    const int ranks = one["world_size"];
    const std::int64_t records = one["records"];
    const std::uint32_t start = one["epoch"];
    for (int rank = 0; rank < ranks; ++rank) {
      const InputOptions options{.batch_size = ranks,
                                 .rank = rank,
                                 .world_size = ranks,
                                 .rank_share = RankShare::kStrided,
                                 .last_batch = LastBatch::kPad,
                                 .repeat = 1,
                                 .shuffle = Shuffle::kTorch,
                                 .repeat_augment = one["repeats"]};
      const SampleOrder order({records}, options);
      CurrentEpoch epoch(order);
      EpochPlaces own;
      for (const BatchPlan& plan :
           Take(Sequence(records, options, {.epoch = start}), 999)) {
        own.push_back(epoch.RecordOf(plan.SampleOf(0)));
      }
      const auto theirs =
          one["ranks"][static_cast<std::size_t>(rank)].get<EpochPlaces>();
      ASSERT_EQ(theirs.size(), static_cast<std::size_t>(records / 256 * 256) /
                                   static_cast<std::size_t>(ranks));
      ASSERT_GE(own.size(), theirs.size());
      own.resize(theirs.size());
      EXPECT_EQ(own, theirs) << one["sampler"] << ", rank " << rank;
    }
  }
}

}  // namespace infeed::rank_share_test
