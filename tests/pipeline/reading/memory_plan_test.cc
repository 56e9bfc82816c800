#include "pipeline/reading/memory_plan.h"

#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"
#include "pipeline/memory/batch.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

constexpr std::int64_t kMebi = 1 << 20;
constexpr PlannedData kData{.records = 500, .longest_record = 1000};
const InputOptions kOptions{.batch_size = 8,
                            .world_size = 2,
                            .preprocess = {.image_size = 10},
                            .threads = 2,
                            .batches_in_pool = 3,
                            .memory_limit = 256 * kMebi};

std::string Refusal(const InputOptions& options,
                    const PlannedData& data = kData) {
  return MessageOf<UsageError>([&] { (void)PlanMemory(options, data); });
}

TEST(MemoryPlanTest, CountsTheFixedParts) {
  const MemoryPlan plan = PlanMemory(kOptions, kData);
  EXPECT_EQ(plan.batches,
            3 * Batch::MemoryBytes({.size = 4, .image_size = 10}));
  EXPECT_EQ(plan.records, 2 * 1000);
  EXPECT_EQ(plan.index, 24 * 500);
  EXPECT_EQ(plan.program, 66 * kMebi);
  EXPECT_EQ(plan.prefetch, 0);
  EXPECT_EQ(plan.cache, 0);
}

TEST(MemoryPlanTest, GivesWhatIsLeftToImages) {
  const MemoryPlan plan = PlanMemory(kOptions, kData);
  EXPECT_LE(plan.total(), plan.limit);
  EXPECT_GE(plan.total(), plan.limit - 1);
  EXPECT_EQ(plan.decoding, 2 * (1000 + 4 * kMebi + plan.image));
}

TEST(MemoryPlanTest, CountsScratchSlotsAndSmallerBatchesForRgbBytes) {
  InputOptions options = kOptions;
  options.layout = BatchContent::kRgb;
  options.preprocess.image_size = 200;
  const MemoryPlan plan = PlanMemory(options, kData);
  EXPECT_EQ(ScratchWords(options), 40'000U);
  EXPECT_EQ(ScratchWords(kOptions), 0U);
  EXPECT_EQ(
      plan.batches,
      3 * Batch::MemoryBytes(
              {.size = 4, .image_size = 200, .content = BatchContent::kRgb}));
  EXPECT_LT(plan.batches,
            3 * Batch::MemoryBytes({.size = 4, .image_size = 200}));
  EXPECT_EQ(plan.decoding, 2 * (1000 + 4 * kMebi + plan.image + 160'000));
  EXPECT_LE(plan.total(), plan.limit);
}

TEST(MemoryPlanTest, CountsFieldsByTheirLimit) {
  InputOptions options = kOptions;
  EXPECT_EQ(PlanMemory(options, kData).fields, 0);
  options.fields = {{.key = "image/class/text"}};
  options.max_field_bytes = 10'000;
  const MemoryPlan plan = PlanMemory(options, kData);
  EXPECT_GE(plan.fields, 4 * 3 * 4 * 10'000);
  EXPECT_LT(plan.fields, 4 * 3 * 4 * 11'000);
  EXPECT_THAT(MemoryText(plan), HasSubstr(", fields 4"));
  options.max_field_bytes = 10 * kMebi;
  EXPECT_THAT(Refusal(options), HasSubstr("max_field_bytes"));
}

TEST(MemoryPlanTest, GivesImagesNoMoreThanTheirLimit) {
  InputOptions options = kOptions;
  options.preprocess.limits.max_memory_bytes = 10 * kMebi;
  const MemoryPlan plan = PlanMemory(options, kData);
  EXPECT_EQ(plan.image, 10 * kMebi);
  EXPECT_LT(plan.total(), plan.limit);
}

TEST(MemoryPlanTest, GivesTheCacheMostOfWhatIsLeft) {
  const std::int64_t without = PlanMemory(kOptions, kData).image;
  InputOptions options = kOptions;
  options.use_cache = true;
  const MemoryPlan plan = PlanMemory(options, kData);
  EXPECT_EQ(plan.total(), plan.limit);
  EXPECT_GT(plan.cache, 2 * plan.image);
  EXPECT_LT(plan.image, without);
}

TEST(MemoryPlanTest, DividesTheLimitBetweenTheRanksOfAMachine) {
  InputOptions options = kOptions;
  options.local_world_size = 2;
  EXPECT_EQ(PlanMemory(options, kData).limit, 128 * kMebi);
  options.memory_limit = 128 * kMebi;
  EXPECT_THROW((void)PlanMemory(options, kData), UsageError);
}

TEST(MemoryPlanTest, CountsWhatIsReadAheadFromStores) {
  InputOptions options = kOptions;
  options.memory_limit = 1024 * kMebi;
  PlannedData data = kData;
  data.in_cloud = true;
  EXPECT_EQ(PlanMemory(options, data).prefetch, 512 * kMebi);
  options.memory_limit = 80 * kMebi;
  EXPECT_THAT(Refusal(options), EndsWith(" or threads"));
  EXPECT_THAT(Refusal(options, data),
              EndsWith("shards on a local disk need none"));
}

TEST(MemoryPlanTest, NamesBothNumbersThePartsAndWhatToLower) {
  InputOptions options = kOptions;
  options.memory_limit = 80 * kMebi;
  EXPECT_THAT(Refusal(options),
              AllOf(HasSubstr("memory_limit is 80.0 MiB, but up to "),
                    HasSubstr(" bytes) is needed: program 66.0 MiB, index "),
                    HasSubstr(", decoding 24."),
                    HasSubstr(": raise it, or lower batch_size")));
}

TEST(MemoryPlanTest, TakesALimitThatIsJustEnough) {
  InputOptions options = kOptions;
  options.preprocess.limits.max_memory_bytes = 1;
  options.seek_index = SeekIndexes::kRead;
  const std::int64_t least = PlanMemory(options, kData).total();
  options.memory_limit = least;
  EXPECT_EQ(PlanMemory(options, kData).total(), least);
  --options.memory_limit;
  EXPECT_THROW((void)PlanMemory(options, kData), UsageError);
}

TEST(MemoryPlanTest, HasRoomForSeekIndexesThatAreFound) {
  PlannedData data = kData;
  data.records = 1'281'167;
  InputOptions options = kOptions;
  options.memory_limit = 16 * 1024 * kMebi;
  EXPECT_EQ(PlanMemory(options, data).seek_indexes, data.records * 312);
  options.memory_limit = 256 * kMebi;
  EXPECT_LT(PlanMemory(options, data).seek_indexes, 256 * kMebi / 8);
  options.seek_index = SeekIndexes::kRead;
  EXPECT_EQ(PlanMemory(options, data).seek_indexes, 0);
}

TEST(MemoryPlanTest, DoesNotOverflowForTheLongestRecord) {
  InputOptions options = kOptions;
  options.threads = 1024;
  options.preprocess.limits.max_pixels =
      std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(
      (void)PlanMemory(options, {.records = 1,
                                 .longest_record =
                                     std::numeric_limits<std::int64_t>::max()}),
      UsageError);
}

TEST(MemoryPlanTest, BoundsWhatOneImageMayTake) {
  const MemoryPlan plan{.image = 100};
  InputOptions options;
  EXPECT_EQ(PlannedOptions(options, plan).preprocess.limits.max_memory_bytes,
            100);
  options.preprocess.limits.max_memory_bytes = 7;
  EXPECT_EQ(PlannedOptions(options, plan).preprocess.limits.max_memory_bytes,
            7);
}

TEST(MemoryPlanTest, PrintsOneLine) {
  const MemoryPlan plan{.limit = 256 * kMebi,
                        .program = 64 * kMebi,
                        .batches = 37 * kMebi + 1,
                        .decoding = 100 * kMebi};
  EXPECT_EQ(MemoryText(plan),
            "memory: up to 201.0 MiB of 256.0 MiB: program 64.0 MiB, batches "
            "37.0 MiB, decoding 100.0 MiB");
}

TEST(MemoryPlanTest, CountsRangesOfWorkersAsBytesAndTheirCheckAsAThread) {
  InputOptions options = kOptions;
  EXPECT_EQ(PlanMemory(options, kData).links, 0);
  options.workers = "a:9410";
  options.workers_in_flight = 5;
  const MemoryPlan plan = PlanMemory(options, kData);
  EXPECT_EQ(plan.links,
            (3 * 5 + 1) * Batch::MemoryBytes({.size = 1,
                                              .image_size = 10,
                                              .content = BatchContent::kRgb}));
  EXPECT_EQ(plan.records, 3 * 1000);
  EXPECT_EQ(plan.decoding, 3 * (1000 + 4 * kMebi + plan.image));
  EXPECT_LE(plan.total(), plan.limit);
  EXPECT_THAT(MemoryText(plan), HasSubstr(", links "));
  options.workers_in_flight = 4096;
  options.batch_size = 1024;
  options.preprocess.image_size = 224;
  EXPECT_THAT(Refusal(options), HasSubstr("workers_in_flight"));
}

TEST(MemoryPlanTest, GivesWorkersThePoolsRangesButNotTooMany) {
  InputOptions options = {.batch_size = 64, .threads = 4, .batches_in_pool = 3};
  EXPECT_EQ(RangesInFlight(options), 32);  // of 48 with 4 slots each
  options.batch_size = 20;
  EXPECT_EQ(RangesInFlight(options), 32);  // of 60 with 1 slot each
  options.batch_size = 6;
  EXPECT_EQ(RangesInFlight(options), 18);
  options.workers_in_flight = 7;
  EXPECT_EQ(RangesInFlight(options), 7);
}

TEST(MemoryPlanTest, GivesEachThreadSeveralTasksOfABatch) {
  EXPECT_EQ(SlotsPerTask({.batch_size = 64, .threads = 2}), 8);
  EXPECT_EQ(SlotsPerTask({.batch_size = 128, .world_size = 2, .threads = 2}),
            8);
  EXPECT_EQ(SlotsPerTask({.batch_size = 64, .threads = 16}), 1);
  EXPECT_EQ(SlotsPerTask({.batch_size = 4, .threads = 2}), 1);
  EXPECT_EQ(SlotsPerTask({.batch_size = 4096, .threads = 2}), 16);
}

}  // namespace
}  // namespace infeed
