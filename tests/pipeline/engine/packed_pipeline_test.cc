// Batches from compressed shards equal those of the uncompressed data.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/reading/packed_reading.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_file.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::packed_pipeline_test {

constexpr int kRecords = 44;

// One data set in plain and in packed shards.
class PackedShards {
 public:
  explicit PackedShards(const std::vector<std::string>& payloads)
      : plain_(payloads, 4) {
    std::vector<std::string> paths;
    for (const std::string& path : plain_.index().shards()) {
      paths.push_back(folder_ /
                      std::filesystem::path(path).filename().string());
      WritePacked(
          paths.back(), ReadWholeFile(path, 1 << 30),
          paths.size() % 2 == 0 ? Compression::kZlib : Compression::kGzip);
    }
    packed_ = std::make_unique<RecordIndex>(paths);
  }

  [[nodiscard]] const RecordIndex& plain() const { return plain_.index(); }
  [[nodiscard]] const RecordIndex& packed() const { return *packed_; }

 private:
  TestShards plain_;
  TemporaryFolder folder_;
  std::unique_ptr<RecordIndex> packed_;
};

InputOptions OptionsFor(Shuffle shuffle, int threads = 2) {
  InputOptions options = {.batch_size = 4, .preprocess = {.image_size = 16}};
  options.shuffle = shuffle;
  if (shuffle == Shuffle::kWindow) {
    options.window_shards = 2;
    options.window_records = 8;
  }
  options.seed = 7;
  options.threads = threads;
  return options;
}

class PackedPipelineTest : public ::testing::TestWithParam<Shuffle> {
 protected:
  const PackedShards shards_{TestPayloads(kRecords)};
};

INSTANTIATE_TEST_SUITE_P(Orders, PackedPipelineTest,
                         ::testing::Values(Shuffle::kNone, Shuffle::kWindow),
                         [](const auto& test) {
                           return std::string(
                               ChoiceName(test.param, kShuffles));
                         });

TEST_P(PackedPipelineTest, GivesTheBatchesOfPlainShards) {
  const std::vector<BatchCopy> expected =
      Stream(shards_.plain(), OptionsFor(GetParam()), 25);
  for (const int threads : {1, 2, 3, 4}) {
    EXPECT_EQ(Stream(shards_.packed(), OptionsFor(GetParam(), threads), 25),
              expected)
        << threads;
  }
}

TEST_P(PackedPipelineTest, ResumesAnywhereAndIsSharedByRanks) {
  InputOptions options = OptionsFor(GetParam(), 3);
  const std::vector<BatchCopy> expected = Stream(shards_.plain(), options, 20);
  for (const std::size_t batch : {1, 5, 9, 13}) {
    const auto rest = expected.begin() + static_cast<std::ptrdiff_t>(batch);
    EXPECT_EQ(Stream(shards_.packed(), options, 3, expected[batch - 1].next),
              std::vector(rest, rest + 3))
        << batch;
  }
  options.world_size = 2;
  for (options.rank = 0; options.rank < 2; ++options.rank) {
    EXPECT_EQ(Stream(shards_.packed(), options, 12),
              Stream(shards_.plain(), options, 12));
  }
}

TEST_P(PackedPipelineTest, ReplacesABadRecordByTheSameDraw) {
  std::vector<std::string> payloads = TestPayloads(kRecords);
  for (const std::size_t bad : {3, 20, 21, 40}) {
    payloads[bad] = PayloadWithImage("no image at all", 5);
  }
  const PackedShards shards(payloads);
  const std::vector<BatchCopy> expected =
      Stream(shards.plain(), OptionsFor(GetParam()), 22);
  for (const int threads : {1, 4}) {
    EXPECT_EQ(Stream(shards.packed(), OptionsFor(GetParam(), threads), 22),
              expected);
  }
}

TEST_P(PackedPipelineTest, SkipsTheRecordsBehindDamage) {
  BreakInTheMiddle(shards_.packed().shards()[1]);
  InputOptions options = OptionsFor(GetParam());
  options.training = false;
  options.on_bad_record = OnBadRecord::kSkip;
  const std::vector<BatchCopy> plain = Stream(shards_.plain(), options, 100);
  InputPipeline pipeline(shards_.packed(), options);
  const std::vector<BatchCopy> batches = TakeBatches(pipeline, 100);
  ASSERT_EQ(batches.size(), plain.size());
  int lost = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    for (std::size_t slot = 0; slot < 4; ++slot) {
      if (batches[i].weights[slot] == 0) {
        EXPECT_EQ(plain[i].labels[slot] / (kRecords / 4), 1);
        ++lost;
      } else {
        EXPECT_EQ(batches[i].labels[slot], plain[i].labels[slot]);
      }
    }
  }
  EXPECT_GT(lost, 2);
  EXPECT_LT(lost, kRecords / 4 - 2);
  EXPECT_EQ(pipeline.stats().bad_records, lost);
  EXPECT_THAT(pipeline.stats().first_bad_record,
              HasSubstr(shards_.packed().shards()[1]));
}

TEST(PackedReadingTest, RandomAccessIsRefusedWithAdvice) {
  const PackedShards shards(TestPayloads(8));
  for (const Shuffle shuffle : {Shuffle::kGlobal, Shuffle::kTorch}) {
    EXPECT_THAT(
        MessageOf<UsageError>(
            [&] { InputPipeline(shards.packed(), OptionsFor(shuffle)); }),
        AllOf(
            HasSubstr(shards.packed().shards()[0] + ": is a gzip stream"),
            HasSubstr("shuffle=" + std::string(ChoiceName(shuffle, kShuffles))),
            HasSubstr("window or none"), HasSubstr("`records reshard`")));
  }
}

TEST(PackedReadingTest, PackedReadingCountsInTheMemoryLimit) {
  const PackedShards shards(TestPayloads(16));
  InputOptions options = OptionsFor(Shuffle::kNone);
  const std::int64_t more =
      InputPipeline(shards.packed(), options).memory().compressed -
      InputPipeline(shards.plain(), options).memory().compressed;
  EXPECT_EQ(more,
            PlanPackedReading(shards.packed(), CheckedInputOptions(options))
                .memory_bytes);
  EXPECT_GT(more, 0);
  EXPECT_EQ(PlanPackedReading(shards.plain(), CheckedInputOptions(options))
                .memory_bytes,
            0);
  options.memory_limit = more;
  EXPECT_THAT(
      MessageOf<UsageError>([&] { InputPipeline(shards.packed(), options); }),
      AllOf(HasSubstr("compressed shards "), HasSubstr("window_records")));
}

TEST(PackedReadingTest, HasRoomForTheRecordsOfAWindow) {
  const PackedShards shards(TestPayloads(40));  // Ten in each shard.
  InputOptions options = CheckedInputOptions(OptionsFor(Shuffle::kWindow));
  const PackedReading two = PlanPackedReading(shards.packed(), options);
  EXPECT_EQ(two.store.near_records, 4);
  EXPECT_EQ(two.store.max_open_shards, 4U);
  options.window_records = 16;
  EXPECT_GT(PlanPackedReading(shards.packed(), options).store.max_passed_bytes,
            two.store.max_passed_bytes);
  options.window_shards = 3;  // Then one is left.
  EXPECT_EQ(PlanPackedReading(shards.packed(), options).store.near_records, 16);
}

}  // namespace infeed::packed_pipeline_test
