// docs/internals/scale.md: compares its formulas for 1 to 1,000 machines with
// the code, and its tables with the program's. After a change of either,
//
//   INFEED_UPDATE_DOCS=1 cluster_scale_test --gtest_filter='ScaleDocsTest.*'
//
// writes the page's tables anew.

#include <poll.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "bench/cluster/cost.h"
#include "bench/cluster/order_locality.h"
#include "bench/cluster/tables.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "trainer/ranks/frames.h"
#include "trainer/ranks/ranks.h"
#include "trainer/scores/eval_sums.h"

namespace infeed {
namespace {

constexpr std::int64_t kParameters = 25'557'032;  // ResNet-50's

TEST(TrainingCostTest, SharesABatchAndSendsWhatARingSends) {
  const TrainingCost one = ComputeTrainingCost({.devices = 1}, 1);
  EXPECT_EQ(one.gradient_bytes, 0);
  EXPECT_EQ(one.batch, 256);
  EXPECT_EQ(one.steps, 1'281'167 / 256);
  EXPECT_DOUBLE_EQ(one.images_per_second, 2'500);
  const TrainingCost two = ComputeTrainingCost({.devices = 1}, 2);
  EXPECT_EQ(two.gradient_bytes, 4 * kParameters);
  EXPECT_EQ(two.ring_messages, 2);
  const TrainingCost many = ComputeTrainingCost({}, 1000);
  EXPECT_EQ(many.ranks, 8000);
  EXPECT_EQ(many.part, 65'536 / 8000);
  EXPECT_NEAR(static_cast<double>(many.gradient_bytes), 8.0 * kParameters,
              0.002 * kParameters);
}

TEST(TrainingCostTest, GoesAtTheSpeedOfTheSlower) {
  ClusterSpec spec;
  spec.link_rate = 1e15;
  EXPECT_DOUBLE_EQ(ComputeTrainingCost(spec, 1000).images_per_second,
                   8000 * spec.device_rate);
  spec.link_rate = 1e9;
  const TrainingCost slow = ComputeTrainingCost(spec, 1000);
  EXPECT_DOUBLE_EQ(slow.images_per_second,
                   static_cast<double>(slow.batch) / slow.exchange_seconds);
}

// Rank 0 of three that send the same, with what it sends to each of the others:
// frames over a connection.
class MeasuredRanks final : public Ranks {
 public:
  MeasuredRanks()
      : Ranks({}),
        listener_("127.0.0.1"),
        out_(ConnectTo("127.0.0.1", listener_.port(),
                       std::chrono::seconds(10))) {
    pollfd waiting{
        .fd = listener_.descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&waiting, 1, 10'000), 1);
    in_ = listener_.Accept();
  }

  std::string Reduce(std::string_view mine, const Reduction& reduce) override {
    const std::string message(mine);
    const std::string answer = reduce({message, message, message});
    out_.Put(FrameKind::kAnswer, answer);
    EXPECT_TRUE(out_.Flush());
    std::array<char, 8192> buffer{};
    pollfd readable{.fd = in_->descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, 10'000), 1);
    sent_ += ::read(in_->descriptor(), buffer.data(), buffer.size());
    return answer;
  }
  void Post(const std::string& /*key*/, std::string_view /*note*/) override {}
  std::string Read(const std::string& /*key*/,
                   std::chrono::milliseconds /*timeout*/) override {
    return "";
  }
  void Fail(std::string_view /*message*/) noexcept override {}
  std::optional<std::string> EndReason(
      std::chrono::milliseconds /*patience*/) override {
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t TakeSent() { return std::exchange(sent_, 0); }

 private:
  RankListener listener_;
  FrameStream out_;
  std::optional<RankSocket> in_;
  std::int64_t sent_ = 0;
};

TEST(StarCostTest, CountsTheBytesOfFrames) {
  ClusterSpec spec{.devices = 3};
  spec.model.num_classes = 10;
  const StarCost star = ComputeStarCost(spec, 1);
  EXPECT_EQ(star.connections, 2);
  MeasuredRanks ranks;
  (void)ranks.Total({0, 0});
  EXPECT_EQ(star.loop_bytes, 2 * ranks.TakeSent());
  EvalSums sums;
  sums.classes = 10;
  sums.confusion.resize(100, 1);
  (void)ranks.Total({0, 0, 0, 0, 0});
  (void)ranks.Reduce(ToBytes(sums), [](const std::vector<std::string>& parts) {
    return parts.front();
  });
  EXPECT_EQ(star.evaluation_bytes, 2 * ranks.TakeSent());
}

TEST(StarCostTest, GrowsWithTheRanksNotTheirSquare) {
  EXPECT_EQ(ComputeStarCost({}, 1000).loop_bytes / 7'999,
            ComputeStarCost({}, 1).loop_bytes / 7);
}

// A rank as the whole machine; shares that it has read in an epoch before.
TEST(CachedShareTest, IsWhatTheOrderBringsAgain) {
  constexpr int kMachines = 5;
  const InputOptions options =
      CheckedInputOptions({.batch_size = 100,
                           .world_size = kMachines,
                           .repeat = 4,
                           .shuffle = Shuffle::kGlobal});
  const ClusterSpec spec{.records = 20'000, .devices = 1};
  const SampleOrder order({spec.records}, options);
  CurrentEpoch current(order);
  BatchSequence sequence(order.places(), options, {});
  std::vector<int> first_epoch(20'000, -1);  // in which a record was read
  std::array<double, 4> again{};
  while (const std::optional<BatchPlan> plan = sequence.Next()) {
    for (int slot = 0; slot < plan->samples; ++slot) {
      const auto record =
          static_cast<std::size_t>(current.RecordOf(plan->SampleOf(slot)));
      if (first_epoch[record] < 0) {
        first_epoch[record] = static_cast<int>(plan->epoch);
      } else {
        again[plan->epoch] += 1.0 * kMachines / 20'000;
      }
    }
  }
  for (int epoch = 0; epoch < 4; ++epoch) {
    EXPECT_NEAR(CachedShare(spec, kMachines, epoch),
                again[static_cast<std::size_t>(epoch)], 0.025)
        << epoch;
  }
}

TEST(CachedShareTest, IsBoundedByMemory) {
  ClusterSpec spec;
  spec.page_cache_bytes = static_cast<double>(spec.records) *
                          static_cast<double>(spec.record_bytes) / 4;
  EXPECT_DOUBLE_EQ(CachedShare(spec, 1, 0), 0);
  EXPECT_DOUBLE_EQ(CachedShare(spec, 1, 1), 0.25);
  EXPECT_DOUBLE_EQ(CachedShare(spec, 10, 80), 0.25);
  EXPECT_NEAR(StorageBytes(spec, 1),
              (1 + 0.75 * 89) * 4 * spec.page_cache_bytes, 1e6);
}

class MeasureLocalityTest : public testing::Test {
 protected:
  const ClusterSpec small_{.records = 32'768,
                           .shards = 64,
                           .devices = 1,
                           .largest_part = 64,
                           .largest_batch = 1024};
};

TEST_F(MeasureLocalityTest, OneMachineReadsAllRecords) {
  for (const Shuffle shuffle : {Shuffle::kGlobal, Shuffle::kWindow}) {
    const OrderLocality one = MeasureLocality(small_, 1, shuffle);
    EXPECT_EQ(one.records, 32'768);
    EXPECT_EQ(one.shards_of_epoch, 64);
  }
}

TEST_F(MeasureLocalityTest, WindowsReadNeighbours) {
  const OrderLocality global = MeasureLocality(small_, 1, Shuffle::kGlobal);
  const OrderLocality window = MeasureLocality(small_, 1, Shuffle::kWindow);
  // 64 places of 64 shards come from 64 (1 - (63/64)^64) of them; of the 16 of
  // a window from 15.7.
  EXPECT_NEAR(global.shards_of_batch, 40.6, 0.5);
  EXPECT_NEAR(window.shards_of_batch, 15.7, 0.5);
  // A block of 4,096 records is read by ranges of 16 shards.
  EXPECT_LT(global.records, 1.1 * static_cast<double>(global.reads));
  EXPECT_GT(window.records, 50 * window.reads);
}

TEST_F(MeasureLocalityTest, TenMachinesReadATenthEach) {
  const OrderLocality part = MeasureLocality(small_, 10, Shuffle::kWindow);
  EXPECT_EQ(part.records, 32'768 / 640 * 64);
}

constexpr std::string_view kBegin =
    "<!-- Written by ScaleDocsTest; see there. -->\n";
constexpr std::string_view kEnd = "<!-- End of what it writes. -->\n";

TEST(ScaleDocsTest, HasTheTables) {
  const std::string path = INFEED_DOCS "/internals/scale.md";
  std::string page = ReadWholeFile(path, 1 << 20);
  const std::size_t begin = page.find(kBegin) + kBegin.size();
  const std::size_t end = page.find(kEnd);
  ASSERT_LE(begin, end);
  ASSERT_NE(end, std::string::npos);
  const std::string tables =
      ClusterTables({}, std::array<int, 4>{1, 10, 100, 1000}) + "\n";
  if (std::getenv("INFEED_UPDATE_DOCS") != nullptr) {
    WriteFileAtomically(path, page.replace(begin, end - begin, tables));
    return;
  }
  EXPECT_EQ(page.substr(begin, end - begin), tables)
      << "see tests/programs/cluster_scale_test.cc";
}

}  // namespace
}  // namespace infeed
