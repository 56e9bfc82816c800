#include "trainer/model_dir/model_dir.h"

#include <gtest/gtest.h>

namespace infeed {
namespace {

TEST(ModelDirTest, NamesWhatLiesInIt) {
  EXPECT_EQ(ParamsPath("m"), "m/params.yaml");
  EXPECT_EQ(MetricsPath("m/"), "m/metrics.jsonl");
  EXPECT_EQ(EvalFolder("m"), "m/eval");
}

TEST(ModelDirTest, PadsCheckpointsToEightDigits) {
  EXPECT_EQ(CheckpointFolder("m", 0), "m/checkpoint-00000000");
  EXPECT_EQ(CheckpointFolder("m", 123'456'789), "m/checkpoint-123456789");
}

TEST(ModelDirTest, RecognisesCheckpoints) {
  EXPECT_EQ(CheckpointStep("checkpoint-00000042"), 42);
  EXPECT_EQ(CheckpointStep("checkpoint-123456789"), 123'456'789);
}

TEST(ModelDirTest, RecognisesNothingElseAsACheckpoint) {
  for (const char* name :
       {"", "checkpoint-", "checkpoint-42", "checkpoint-000000042",
        "checkpoint-0000004x", "checkpoint--0000042", "checkpoint",
        "checkpoint-00000042.bak", ".checkpoint-00000042.new-1",
        "checkpoint-99999999999999999999"}) {
    EXPECT_FALSE(CheckpointStep(name)) << name;
  }
}

TEST(ModelDirTest, SortsTheStepsOfCheckpointsAmongNames) {
  EXPECT_EQ(CheckpointSteps({"checkpoint-00000042", "eval", "checkpoint-42",
                             "checkpoint-00000007"}),
            (std::vector<std::int64_t>{7, 42}));
}

TEST(ModelDirTest, TellsTemporaryCheckpointsApart) {
  const std::string name = TemporaryCheckpointFolder("", 42, "new");
  EXPECT_TRUE(name.starts_with(".checkpoint-00000042.new-")) << name;
  EXPECT_TRUE(IsTemporaryCheckpoint(name));
  EXPECT_FALSE(IsTemporaryCheckpoint("checkpoint-00000042"));
}

TEST(ModelDirTest, NamesEventFilesAsReadersExpect) {
  EXPECT_EQ(EventFileName(1'700'000'000, "host", 12, 3),
            "events.out.tfevents.1700000000.host.12.3");
}

}  // namespace
}  // namespace infeed
