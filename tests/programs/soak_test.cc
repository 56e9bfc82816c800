// The soak for a moment, so that it cannot rot; ./dev long runs it for an hour.

#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/shard_builder.h"

namespace infeed {
namespace {

TEST(SoakTest, GoesThroughCyclesAndFindsNoGrowth) {
  TestShards shards(TestPayloads(40));
  shards.Damage(7);
  EXPECT_THAT(
      Succeeded(
          RunProgram(
              "soak",
              "--shards '" + shards.folder() +
                  "/train-*' --seconds 0.2 --batch_size 4 --image_size 16"))
          .out,
      AllOf(HasSubstr("resumed      bad      MiB"), HasSubstr("nothing grew")));
}

}  // namespace
}  // namespace infeed
