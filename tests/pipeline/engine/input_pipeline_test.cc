#include "pipeline/engine/input_pipeline.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/reading/memory_plan.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

namespace infeed::input_pipeline_test {

constexpr int kRecords = 22;
constexpr int kPool = 3;

std::vector<BatchHandle> Hold(InputPipeline& pipeline, int count) {
  std::vector<BatchHandle> held;
  for (int i = 0; i < count; ++i) {
    held.push_back(pipeline.Next());
  }
  return held;
}

TEST(InputPipelineTest, SaysWhenTheCallerHoldsAllBatches) {
  InputPipeline pipeline(SharedIndex(), SmallTraining());
  std::vector<BatchHandle> held = Hold(pipeline, kPool - 1);
  EXPECT_FALSE(pipeline.all_lent());
  held.push_back(pipeline.Next());
  EXPECT_TRUE(pipeline.all_lent());
  // The next one can only come in the memory of one that is given back.
  const Batch* const given_back = held.front().get();
  held.erase(held.begin());
  EXPECT_FALSE(pipeline.all_lent());
  EXPECT_EQ(pipeline.Next().get(), given_back);
}

TEST(InputPipelineTest, WorksInTheConsumersThreadWhileItWaitsAndOnlyThen) {
  InputOptions options = SmallTraining();
  options.graph = GraphKind::kBasic;
  InputPipeline pipeline(SharedIndex(), options);
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

TEST(InputPipelineTest, TakesTheEndOfAnEpochForTheBeginningOfTheNext) {
  EXPECT_EQ(
      Stream(SharedIndex(), SmallTraining(), 2, {.epoch = 0, .position = 20}),
      Stream(SharedIndex(), SmallTraining(), 2,
             {.epoch = 1, .past_epochs = 1}));
}

TEST(InputPipelineTest, SaysWhereItGoesOn) {
  InputPipeline pipeline(SharedIndex(), SmallTraining(),
                         {.epoch = 3, .position = 12});
  EXPECT_EQ(pipeline.position(), (StreamPosition{3, 12}));
  (void)pipeline.Next();
  EXPECT_EQ(pipeline.position(), (StreamPosition{3, 16}));
  EXPECT_EQ(pipeline.batches_per_epoch(), 5);
}

TEST(InputPipelineTest, EvaluatesEachRecordOnceAndPads) {
  InputPipeline pipeline(SharedIndex(), SmallEvaluation());
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
  EXPECT_EQ(pipeline.Next(), nullptr);
}

TEST(InputPipelineTest, EvaluatesTheRecordsAskedForWithTheirLabels) {
  InputOptions options = SmallEvaluation();
  options.max_records = 5;
  options.label_offset = 0;
  const std::vector<std::int32_t> expected = {1, 2, 3, 4, 5, -1, -1, -1};
  EXPECT_EQ(LabelsOf(Stream(SharedIndex(), options, 9)), expected);
  options.batch_size = 8;  // More than all records.
  EXPECT_EQ(LabelsOf(Stream(SharedIndex(), options, 9)), expected);
}

TEST(InputPipelineTest, CountsWhatItDeliveredAndSeesItsQueues) {
  InputPipeline pipeline(SharedIndex(), SmallEvaluation());
  (void)TakeBatches(pipeline, 100);
  const PipelineStats stats = pipeline.stats();
  EXPECT_EQ(stats.images, kRecords);
  EXPECT_EQ(stats.batches, 6);
  EXPECT_EQ(stats.threads, 2);
  EXPECT_EQ(stats.bad_records, 0);
  EXPECT_GT(stats.first_batch_seconds, 0);
  EXPECT_GT(stats.elapsed_seconds, 0);
  ASSERT_EQ(stats.stages.size(), 5U);
  for (const StageStats& stage : stats.stages) {
    EXPECT_EQ(stage.items, kRecords) << stage.name;
  }
  EXPECT_EQ(stats.stages[3].bytes, kRecords * 16 * 16 * 4);
  // All batches were put, filled, taken and given back.
  struct Expected {
    int depth;
    int most;
  };
  std::map<std::string, Expected> queues = {{"waiting", {0, kRecords}},
                                            {"in_flight", {0, 2 * 2}},
                                            {"ready", {0, kPool}},
                                            {"free", {kPool, kPool}}};
  ASSERT_EQ(stats.queues.size(), queues.size());
  for (const QueueStats& queue : stats.queues) {
    EXPECT_EQ(queue.depth, queues.at(queue.name).depth) << queue.name;
    EXPECT_LE(queue.most, queues.at(queue.name).most) << queue.name;
    EXPECT_GE(queue.most, 1) << queue.name;
  }
}

TEST(InputPipelineTest, SaysWhatMemoryItCanTake) {
  const InputPipeline pipeline(SharedIndex(), SmallTraining());
  EXPECT_EQ(pipeline.memory().records, 2 * SharedIndex().max_length());
  EXPECT_EQ(pipeline.memory().batches,
            kPool * Batch::MemoryBytes({.size = 4, .image_size = 16}));
  EXPECT_EQ(pipeline.memory_bytes(), pipeline.memory().total());
  EXPECT_LE(pipeline.memory_bytes(), SmallTraining().memory_limit);
  EXPECT_EQ(pipeline.stats().memory_bytes, pipeline.memory_bytes());
}

TEST(InputPipelineTest, RefusesWrongOptionsAndStarts) {
  const auto refusal = [](const auto& change, const StreamPosition& start) {
    InputOptions options = SmallTraining();
    change(options);
    return MessageOf<UsageError>(
        [&] { InputPipeline(SharedIndex(), options, start); });
  };
  EXPECT_THAT(refusal([](InputOptions& o) { o.batch_size = 23; }, {}),
              HasSubstr("batch_size is 23, but an epoch has only 22 records"));
  EXPECT_THAT(refusal(
                  [](InputOptions& o) {
                    o.preprocess.image_size = {16, 0};
                  },
                  {}),
              HasSubstr("image_size=16x0: must be at least 1"));
  EXPECT_THAT(refusal([](InputOptions& o) { o.memory_limit = 1000; }, {}),
              HasSubstr("memory_limit is 1.0 KiB"));
  EXPECT_THAT(refusal([](InputOptions&) {}, {0, 6}),
              HasSubstr("cannot start at position 6"));
}

// Two epochs of an evaluation in an order of its own.
InputOptions Shuffled() {
  InputOptions options = SmallEvaluation();
  options.repeat = 2;
  options.shuffle = Shuffle::kGlobal;
  return options;
}

TEST(InputPipelineSamplesTest, EveryEpochHasTheOrdersSamples) {
  const SampleOrder order(kRecords, Shuffle::kGlobal, 7);
  const std::vector<BatchCopy> batches = Stream(SharedIndex(), Shuffled(), 99);
  ASSERT_EQ(batches.size(), 12U);
  for (int i = 0; i < 12; ++i) {
    const BatchCopy& batch = batches[static_cast<std::size_t>(i)];
    EXPECT_EQ(batch.epoch, i < 6 ? 0U : 1U);
    EXPECT_EQ(batch.number, i % 6);
    for (std::size_t slot = 0; slot < 4; ++slot) {
      const std::int64_t position =
          4 * batch.number + static_cast<std::int64_t>(slot);
      const bool is_padding = position >= kRecords;
      EXPECT_EQ(batch.positions[slot], is_padding ? -1 : position);
      EXPECT_EQ(batch.records[slot],
                is_padding ? -1 : order.Epoch(batch.epoch).RecordAt(position));
    }
  }
}

TEST(InputPipelineSamplesTest, SubstitutesAreListedForBadRecords) {
  TestShards shards(TestPayloads(kRecords));
  shards.Damage(5);
  InputOptions options = SmallEvaluation();
  options.label_offset = 1;
  options.on_bad_record = OnBadRecord::kReplace;
  const BatchCopy replaced = Stream(shards.index(), options, 2)[1];
  EXPECT_NE(replaced.records[1], 5);
  // A test record's label is its number.
  EXPECT_TRUE(std::ranges::equal(replaced.records, replaced.labels));
  EXPECT_THAT(replaced.positions, ElementsAre(4, 5, 6, 7));
  options.on_bad_record = OnBadRecord::kSkip;
  const BatchCopy skipped = Stream(shards.index(), options, 2)[1];
  EXPECT_THAT(skipped.records, ElementsAre(4, -1, 6, 7));
  EXPECT_THAT(skipped.positions, ElementsAre(4, 5, 6, 7));
}

}  // namespace infeed::input_pipeline_test
