#include "pipeline/memory_plan.h"

#include <cstdint>
#include <limits>

#include "base/error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

const InputOptions kOptions{.batch_size = 8,
                            .world_size = 2,
                            .image_size = 10,
                            .threads = 2,
                            .batches_in_pool = 3};

TEST(MemoryPlanTest, AddsTheParts) {
  const MemoryPlan plan = PlanMemory(kOptions, 1000);
  EXPECT_EQ(plan.batches, 3 * 4 * (100 * 4 + 8));
  EXPECT_EQ(plan.records, 4 * 1000);
  EXPECT_EQ(plan.decoding, 2 * 12 * 1000);
  EXPECT_EQ(plan.total(), plan.batches + plan.records + plan.decoding);
}

TEST(MemoryPlanTest, BoundsADecodedImageByItsLimit) {
  InputOptions options = kOptions;
  options.jpeg_limits.max_pixels = 50;
  EXPECT_EQ(PlanMemory(options, 1000).decoding, 2 * 50 * 3);
}

TEST(MemoryPlanTest, NamesBothNumbersAndWhatToLower) {
  InputOptions options = kOptions;
  options.memory_limit = PlanMemory(kOptions, 1000).total() - 1;
  EXPECT_THAT(
      [&] { (void)PlanMemory(options, 1000); },
      Throws<UsageError>(Property(
          &UsageError::what,
          AllOf(HasSubstr("memory_limit is 32895 bytes, but up to 32896 are "
                          "needed: 3 batches (4896), 4 records in flight "
                          "(4000), 2 decoders (24000)"),
                HasSubstr("lower batch_size")))));
}

TEST(MemoryPlanTest, DoesNotOverflowForTheLongestRecord) {
  InputOptions options = kOptions;
  options.threads = 1024;
  options.jpeg_limits.max_pixels = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(
      (void)PlanMemory(options, std::numeric_limits<std::int64_t>::max()),
      UsageError);
}

}  // namespace
}  // namespace infeed
