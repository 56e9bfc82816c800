#include "pipeline/engine/input_pipeline.h"

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/reading/memory_plan.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_pipeline_test {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr int kRecords = 22;
// Five full batches of four in an epoch, and two records over.
const InputOptions kTraining{.batch_size = 4,
                             .preprocess = {.image_size = 16},
                             .seed = 7,
                             .on_bad_record = OnBadRecord::kFail,
                             .threads = 3};
const InputOptions kEvaluation{.batch_size = 4,
                               .preprocess = {.image_size = 16},
                               .training = false,
                               .shuffle = Shuffle::kNone,
                               .on_bad_record = OnBadRecord::kFail,
                               .threads = 3};

// One data set for all tests: it is only read.
class InputPipelineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shards_ = std::make_unique<TestShards>(TestPayloads(kRecords));
  }
  static void TearDownTestSuite() { shards_.reset(); }
  static const RecordIndex& index() { return shards_->index(); }

 private:
  static std::unique_ptr<TestShards> shards_;
};

std::unique_ptr<TestShards> InputPipelineTest::shards_;

// Without an order of its own, in each epoch.
TEST_F(InputPipelineTest, GivesAnEvaluationInTheOrderOfTheRecords) {
  InputPipeline pipeline(index(), {.batch_size = 4,
                                   .preprocess = {.image_size = 16},
                                   .training = false,
                                   .repeat = 2});
  std::vector<std::int64_t> records;
  while (const BatchHandle batch = pipeline.Next()) {
    for (const std::int64_t record : batch->records()) {
      if (record >= 0) {
        records.push_back(record);
      }
    }
  }
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < std::int64_t{2} * kRecords; ++i) {
    expected.push_back(i % kRecords);
  }
  EXPECT_EQ(records, expected);
}

TEST_F(InputPipelineTest, SaysWhenTheCallerHoldsAllBatches) {
  InputOptions options = kTraining;
  options.batches_in_pool = 2;
  InputPipeline pipeline(index(), options);
  std::vector<BatchHandle> held;
  held.push_back(pipeline.Next());
  EXPECT_FALSE(pipeline.all_lent());
  held.push_back(pipeline.Next());
  EXPECT_TRUE(pipeline.all_lent());
  held.pop_back();
  EXPECT_FALSE(pipeline.all_lent());
}

TEST_F(InputPipelineTest, WorksInTheConsumersThreadWhileItWaitsAndOnlyThen) {
  InputOptions options = kTraining;
  options.graph = GraphKind::kBasic;
  InputPipeline pipeline(index(), options);
  EXPECT_EQ(pipeline.stats().stages[1].items, 0);
  (void)TakeBatches(pipeline, 2);
  const PipelineStats stats = pipeline.stats();
  EXPECT_EQ(stats.threads, 1);
  double busy = 0;
  for (const StageStats& stage : stats.stages) {
    EXPECT_EQ(stage.items, 8) << stage.name;  // Nothing is ahead.
    busy += stage.busy_seconds;
  }
  EXPECT_GE(stats.first_wait_seconds + stats.consumer_wait_seconds, busy);
}

TEST_F(InputPipelineTest, TellsErrorsFromTheConsumersThread) {
  TestShards shards(TestPayloads(8));
  shards.Damage(5);
  InputOptions options = kEvaluation;
  options.graph = GraphKind::kBasic;
  InputPipeline pipeline(shards.index(), options);
  EXPECT_NE(pipeline.Next(), nullptr);
  EXPECT_THROW((void)pipeline.Next(), DataError);
}

TEST_F(InputPipelineTest, GivesAnotherOrderInAnotherEpochAndForAnotherSeed) {
  const std::vector<std::int32_t> labels =
      LabelsOf(Stream(index(), kTraining, 10));
  const std::vector<std::int32_t> first(labels.begin(), labels.begin() + 20);
  const std::vector<std::int32_t> second(labels.begin() + 20, labels.end());
  EXPECT_NE(first, second);
  InputOptions options = kTraining;
  options.seed = 8;
  EXPECT_NE(LabelsOf(Stream(index(), options, 5)), first);
}

TEST_F(InputPipelineTest, TakesTheEndOfAnEpochForTheBeginningOfTheNext) {
  EXPECT_EQ(Stream(index(), kTraining, 2, {.epoch = 0, .position = 20}),
            Stream(index(), kTraining, 2, {.epoch = 1, .past_epochs = 1}));
}

TEST_F(InputPipelineTest, SaysWhereItGoesOn) {
  InputPipeline pipeline(index(), kTraining, {.epoch = 3, .position = 12});
  EXPECT_EQ(pipeline.position(), (StreamPosition{3, 12}));
  (void)pipeline.Next();
  EXPECT_EQ(pipeline.position(), (StreamPosition{3, 16}));
  EXPECT_EQ(pipeline.batches_per_epoch(), 5);
}

TEST_F(InputPipelineTest, EvaluatesEachRecordOnceAndPads) {
  InputPipeline pipeline(index(), kEvaluation);
  const std::vector<BatchCopy> batches = TakeBatches(pipeline, 100);
  ASSERT_EQ(batches.size(), 6U);
  EXPECT_EQ(pipeline.batches_per_epoch(), 6);
  std::vector<std::int32_t> expected(kRecords);
  std::iota(expected.begin(), expected.end(), 0);
  expected.insert(expected.end(), {-1, -1});
  EXPECT_EQ(LabelsOf(batches), expected);
  EXPECT_THAT(batches.back().weights, ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(batches.back().pixels.back(), 0U);
  EXPECT_EQ(batches.back().next, (StreamPosition{0, kRecords}));
}

TEST_F(InputPipelineTest, EvaluatesADataSetSmallerThanItsBatch) {
  InputOptions options = kEvaluation;
  options.batch_size = 64;
  const std::vector<BatchCopy> batches = Stream(index(), options, 9);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(std::accumulate(batches[0].weights.begin(),
                            batches[0].weights.end(), 0.0F),
            kRecords);
}

TEST_F(InputPipelineTest, EvaluatesNoMoreThanTheRecordsAskedFor) {
  InputOptions options = kEvaluation;
  options.max_records = 5;
  InputPipeline pipeline(index(), options);
  EXPECT_EQ(LabelsOf(TakeBatches(pipeline, 100)),
            (std::vector<std::int32_t>{0, 1, 2, 3, 4, -1, -1, -1}));
}

TEST_F(InputPipelineTest, HasNothingAfterTheEndOfAnEvaluation) {
  InputPipeline pipeline(index(), kEvaluation,
                         {.epoch = 0, .position = kRecords});
  EXPECT_EQ(pipeline.Next(), nullptr);
  EXPECT_EQ(pipeline.Next(), nullptr);
}

TEST_F(InputPipelineTest, SubtractsTheLabelOffset) {
  InputOptions options = kEvaluation;
  options.label_offset = 0;
  EXPECT_THAT(Stream(index(), options, 1)[0].labels, ElementsAre(1, 2, 3, 4));
}

TEST_F(InputPipelineTest, HoldsNoMoreBatchesThanItsPoolHas) {
  InputPipeline pipeline(index(), kTraining);
  std::vector<BatchHandle> held;
  for (int i = 0; i < kTraining.batches_in_pool; ++i) {
    held.push_back(pipeline.Next());
  }
  // The next one can only come in the memory of one that is given back.
  const Batch* const given_back = held.front().get();
  held.erase(held.begin());
  EXPECT_EQ(pipeline.Next().get(), given_back);
}

TEST_F(InputPipelineTest, EndsAtAnyMoment) {
  for (int taken = 0; taken < 12; ++taken) {
    InputPipeline pipeline(index(), kTraining);
    EXPECT_EQ(TakeBatches(pipeline, taken).size(),
              static_cast<std::size_t>(taken));
  }
}

TEST_F(InputPipelineTest, EndsWhileBatchesAreOnLoan) {
  std::vector<BatchHandle> held;
  for (int taken = 0; taken <= kTraining.batches_in_pool; ++taken) {
    InputPipeline pipeline(index(), kTraining);
    held.clear();
    for (int i = 0; i < taken; ++i) {
      held.push_back(pipeline.Next());
    }
  }
  // The last pipeline is gone; its batches are not.
  EXPECT_THAT(held.back()->weights(), Each(1));
}

TEST_F(InputPipelineTest, GivesNothingAfterStop) {
  InputPipeline pipeline(index(), kTraining);
  EXPECT_NE(pipeline.Next(), nullptr);
  pipeline.Stop();
  EXPECT_EQ(pipeline.Next(), nullptr);
}

TEST_F(InputPipelineTest, WakesAWaitingConsumerOnStop) {
  InputPipeline pipeline(index(), kTraining);
  std::vector<BatchHandle> held;
  for (int i = 0; i < kTraining.batches_in_pool; ++i) {
    held.push_back(pipeline.Next());
  }
  BatchHandle last = std::move(held.back());
  std::jthread consumer([&] { last = pipeline.Next(); });
  pipeline.Stop();
  consumer.join();
  EXPECT_EQ(last, nullptr);
}

TEST_F(InputPipelineTest, CountsWhatItDelivered) {
  InputPipeline pipeline(index(), kEvaluation);
  (void)TakeBatches(pipeline, 100);
  const PipelineStats stats = pipeline.stats();
  EXPECT_EQ(stats.images, kRecords);
  EXPECT_EQ(stats.batches, 6);
  EXPECT_EQ(stats.threads, 3);
  EXPECT_EQ(stats.bad_records, 0);
  EXPECT_GT(stats.first_batch_seconds, 0);
  EXPECT_GT(stats.elapsed_seconds, 0);
  ASSERT_EQ(stats.stages.size(), 5U);
  for (const StageStats& stage : stats.stages) {
    EXPECT_EQ(stage.items, kRecords) << stage.name;
  }
  EXPECT_EQ(stats.stages[3].bytes, kRecords * 16 * 16 * 4);
}

TEST_F(InputPipelineTest, SeesItsQueues) {
  InputPipeline pipeline(index(), kEvaluation);
  (void)TakeBatches(pipeline, 100);
  std::map<std::string, QueueStats> queues;
  for (const QueueStats& queue : pipeline.stats().queues) {
    queues[queue.name] = queue;
  }
  ASSERT_EQ(queues.size(), 4U);
  // All batches were put, filled, taken and given back.
  EXPECT_EQ(queues["waiting"].depth, 0);
  EXPECT_EQ(queues["in_flight"].depth, 0);
  EXPECT_EQ(queues["ready"].depth, 0);
  EXPECT_EQ(queues["free"].depth, kEvaluation.batches_in_pool);
  EXPECT_GE(queues["waiting"].most, 1);
  EXPECT_GE(queues["in_flight"].most, 1);
  EXPECT_LE(queues["in_flight"].most, 2 * 3);
  EXPECT_GE(queues["ready"].most, 1);
  EXPECT_LE(queues["ready"].most, kEvaluation.batches_in_pool);
}

TEST_F(InputPipelineTest, SaysWhatMemoryItCanTake) {
  const InputPipeline pipeline(index(), kTraining);
  EXPECT_EQ(pipeline.memory().records, 3 * index().max_length());
  EXPECT_EQ(pipeline.memory().batches, 3 * Batch::MemoryBytes(4, 16));
  EXPECT_EQ(pipeline.memory_bytes(), pipeline.memory().total());
  EXPECT_LE(pipeline.memory_bytes(), kTraining.memory_limit);
  EXPECT_EQ(pipeline.stats().memory_bytes, pipeline.memory_bytes());
}

TEST_F(InputPipelineTest, RefusesWrongOptions) {
  const auto refuses = [](const InputOptions& options, const char* why) {
    EXPECT_THAT(
        [&] { InputPipeline(index(), options); },
        Throws<UsageError>(Property(&UsageError::what, HasSubstr(why))));
  };
  InputOptions options = kTraining;
  options.batch_size = 23;
  refuses(options, "batch_size is 23, but an epoch has only 22 records");
  options = kTraining;
  options.preprocess.image_size = 0;
  refuses(options, "image_size=0: must be at least 1");
  options.preprocess.image_size = {16, 0};
  refuses(options, "image_size=16x0: must be at least 1");
  options = kTraining;
  options.memory_limit = 1000;
  refuses(options, "memory_limit is 1.0 KiB");
}

TEST_F(InputPipelineTest, RefusesAStartInsideABatch) {
  EXPECT_THAT(
      [] {
        InputPipeline(index(), kTraining, {0, 6});
      },
      Throws<UsageError>(Property(&UsageError::what,
                                  HasSubstr("cannot start at position 6"))));
}

}  // namespace input_pipeline_test
}  // namespace infeed
