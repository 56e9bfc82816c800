#include "pipeline/engine/autotune.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "pipeline/reading/memory_plan.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr AutotuneOptions kPatient{.seconds = 1e9, .max_threads = 64};
const InputOptions kStart{.threads = 4};

// A machine of `cores` cores, which a pool of `pool` batches keeps busy.
double MadeRate(const InputOptions& options, int cores, int pool) {
  return 1000.0 * std::min(options.threads, cores) *
         std::min(1.0, static_cast<double>(options.batches_in_pool) / pool);
}

TEST(AutotuneTest, ClimbsToWhatIsFastestAndNoFurther) {
  const AutotuneResult result = Autotune(
      kStart, [](const InputOptions& o) { return MadeRate(o, 16, 6); },
      kPatient);
  EXPECT_EQ(result.options.threads, 16);
  EXPECT_EQ(result.options.batches_in_pool, 6);
  EXPECT_EQ(result.options.prefetch_batches, 0);  // It makes no difference.
  EXPECT_EQ(result.images_per_second, 16'000);
}

TEST(AutotuneTest, GoesDownWhereFewerAreAsFast) {
  const AutotuneResult result = Autotune(
      kStart, [](const InputOptions& o) { return MadeRate(o, 2, 1); },
      kPatient);
  EXPECT_EQ(result.options.threads, 2);
  EXPECT_EQ(result.options.batches_in_pool, 2);
}

TEST(AutotuneTest, PassesOverWhatDoesNotFit) {
  const AutotuneResult result = Autotune(
      kStart,
      [](const InputOptions& o) {
        if (o.threads > 8) {
          throw UsageError("too much");
        }
        return MadeRate(o, 64, 3);
      },
      kPatient);
  EXPECT_EQ(result.options.threads, 8);
}

TEST(AutotuneTest, SaysWhenTheOptionsCannotBe) {
  EXPECT_THROW((void)Autotune(kStart,
                              [](const InputOptions&) -> double {
                                throw UsageError("too much");
                              }),
               UsageError);
}

TEST(AutotuneTest, TriesNothingElseWhenTheTimeIsOver) {
  const AutotuneResult result =
      Autotune(kStart, [](const InputOptions& o) { return MadeRate(o, 64, 3); },
               {.seconds = 0});
  EXPECT_EQ(result.settings, 1);
  EXPECT_EQ(result.options.threads, kStart.threads);
}

TEST(AutotuneTest, SaysHowToHaveTheSameAgain) {
  EXPECT_EQ(AutotuneText({.options = {.threads = 2,
                                      .batches_in_pool = 4,
                                      .prefetch_batches = 1},
                          .images_per_second = 4012.4,
                          .settings = 7,
                          .seconds = 2.94}),
            "--threads 2 --batches_in_pool 4 --prefetch_batches 1: 4012 "
            "images/s, 7 settings tried in 2.9 s");
}

TEST(AutotuneTest, ChangesNoBatch) {
  const TestShards shards(TestPayloads(12));
  const InputOptions options{.batch_size = 4, .image_size = 16};
  const AutotuneResult result = Autotune(shards.index(), options, {0, 4},
                                         {.seconds = 0.05, .seconds_each = 0});
  EXPECT_GE(result.settings, 1);
  EXPECT_GT(result.images_per_second, 0);
  EXPECT_GT(result.options.threads, 0);
  EXPECT_EQ(Stream(shards.index(), result.options, 4),
            Stream(shards.index(), options, 4));
}

}  // namespace
}  // namespace infeed
