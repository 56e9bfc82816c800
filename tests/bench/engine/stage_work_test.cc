#include "bench/engine/stage_work.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/shard_builder.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kSize = 8;

InputOptions Options(int threads = 2) {
  InputOptions options;
  options.batch_size = 2;
  options.preprocess.image_size = kSize;
  options.threads = threads;
  return CheckedInputOptions(options);
}

// Measures a moment's work.
ThroughputRound Measure(Stage stage, const TestShards& shards) {
  const auto work = MakeStageWork(stage, shards.index(), Options());
  return MeasureStage(stage, work, Options(), {.seconds = 0.01});
}

TEST(StageWorkTest, ReadsRecordsEpochAfterEpoch) {
  const TestShards shards(TestPayloads(3));
  const auto work = MakeStageWork(Stage::kRead, shards.index(), Options());
  const auto worker = work();
  std::int64_t first = 0;
  std::int64_t second = 0;
  for (int i = 0; i < 3; ++i) {
    first += worker(i).bytes;
    second += worker(3 + i).bytes;
  }
  std::int64_t all = 0;
  for (const std::string& payload : TestPayloads(3)) {
    all += static_cast<std::int64_t>(payload.size());
  }
  EXPECT_EQ(first, all);
  EXPECT_EQ(second, all);
}

TEST(StageWorkTest, ReadsWithChecksums) {
  TestShards shards(TestPayloads(2));
  shards.Damage(0);
  shards.Damage(1);
  EXPECT_THROW(Measure(Stage::kRead, shards), DataError);
}

TEST(StageWorkTest, DecodesOtherWindowsWithEveryPass) {
  const TestShards shards(TestPayloads(1));
  const auto work = MakeStageWork(Stage::kDecode, shards.index(), Options());
  const auto worker = work();
  const std::int64_t bytes = worker(0).bytes;
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(worker(0).bytes, bytes);
  bool differs = false;
  for (int pass = 1; pass < 20; ++pass) {
    differs = differs || worker(pass).bytes != bytes;
  }
  EXPECT_TRUE(differs);
}

TEST(StageWorkTest, ResizesIntoWholeSlots) {
  const TestShards shards(TestPayloads(3));
  const auto work = MakeStageWork(Stage::kResize, shards.index(), Options());
  EXPECT_EQ(work()(7).bytes, kSize * kSize * 4);
}

TEST(StageWorkTest, PassesOverBadImages) {
  std::vector<std::string> payloads = TestPayloads(3);
  payloads[1] = PayloadWithImage("no image", 1);
  const TestShards shards(payloads);
  EXPECT_GT(Measure(Stage::kDecode, shards).images, 0);
  EXPECT_GT(Measure(Stage::kResize, shards).images, 0);
}

TEST(StageWorkTest, HasNothingToDoWithoutImages) {
  const TestShards shards({PayloadWithImage("", 1)});
  EXPECT_THROW(Measure(Stage::kDecode, shards), DataError);
  const TestShards bad({PayloadWithImage("no image", 1)});
  EXPECT_THROW(Measure(Stage::kResize, bad), DataError);
}

TEST(StageRoundTest, CountsOneStage) {
  const TestShards shards(TestPayloads(3));
  const ThroughputRound round = Measure(Stage::kDecode, shards);
  EXPECT_EQ(round.stats.threads, 2);
  ASSERT_EQ(round.stats.stages.size(), 1U);
  EXPECT_EQ(round.stats.stages[0].name, "decode");
  EXPECT_EQ(round.stats.stages[0].items, round.images);
  EXPECT_GT(round.images_per_second, 0);
}

TEST(StageTest, HasNames) {
  for (const char* name : {"all", "read", "decode", "resize"}) {
    EXPECT_EQ(StageName(ParseStage(name)), name);
  }
  EXPECT_THROW((void)ParseStage("write"), UsageError);
}

}  // namespace
}  // namespace infeed
