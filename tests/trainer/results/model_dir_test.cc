#include "trainer/results/model_dir.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

TEST(ModelDirTest, NamesWhatLiesInIt) {
  EXPECT_EQ(ParamsPath("m"), "m/params.yaml");
  EXPECT_EQ(MetricsPath("m/"), "m/metrics.jsonl");
  EXPECT_EQ(EvalFolder("m"), "m/eval");
}

TEST(ModelDirTest, PadsAndRecognisesCheckpoints) {
  EXPECT_EQ(CheckpointFolder("m", 0), "m/checkpoint-00000000");
  EXPECT_EQ(CheckpointFolder("m", 123'456'789), "m/checkpoint-123456789");
  EXPECT_EQ(CheckpointStep("checkpoint-00000042"), 42);
  EXPECT_EQ(CheckpointStep("checkpoint-123456789"), 123'456'789);
  for (const char* name :
       {"", "checkpoint-", "checkpoint-42", "checkpoint-000000042",
        "checkpoint-0000004x", "checkpoint--0000042", "checkpoint",
        "checkpoint-00000042.bak", ".checkpoint-00000042.new-1",
        "checkpoint-99999999999999999999"}) {
    EXPECT_FALSE(CheckpointStep(name)) << name;
  }
}

TEST(ModelDirTest, RecognisesEvaluations) {
  for (const std::int64_t step : {0, 42, 123'456'789}) {
    for (const char* subject : {"", "test-1a2b3c4d"}) {
      EXPECT_EQ(
          EvalStep(
              EvalPath("m", step, subject).substr(EvalFolder("m").size() + 1)),
          step);
    }
  }
  for (const char* name :
       {"", ".json", "42.json", "000000042.json", "00000042", "00000042.jsonl",
        "00000042.json.tmp-17", "-0000042.json", "a-00000042.json",
        "events.out.tfevents.00000042.json"}) {
    EXPECT_FALSE(EvalStep(name)) << name;
  }
}

TEST(ModelDirTest, SortsTheStepsOfCheckpointsAmongNames) {
  EXPECT_EQ(CheckpointSteps({"checkpoint-00000042", "eval", "checkpoint-42",
                             "checkpoint-00000007"}),
            (std::vector<std::int64_t>{7, 42}));
}

TEST(ModelDirTest, RemovesFilesThatKilledRunsWereWriting) {
  const TemporaryFolder model;
  RemoveLeftFiles(model / "none");
  std::filesystem::create_directory(model / "eval");
  // No process has the highest number that there can be.
  const std::string dead = ".tmp-4194304";
  const std::vector<std::string> stay = {
      "notes.txt" + dead,
      "report.html.tmp-" + std::to_string(::getpid()),
      "report.html",
      "report.html.tmp-",
      "report.html.tmp-4194304x",
      "eval/report.html" + dead};
  for (const std::string& name : stay) {
    WriteFileAtomically(model / name, "half");
  }
  for (const std::string& name :
       {"report.html" + dead, "report.html" + dead + "-1", "best.json" + dead,
        "eval/00000042.json" + dead}) {
    WriteFileAtomically(model / name, "half");
  }
  RemoveLeftFiles(model.path());
  std::vector<std::string> left;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(model.path())) {
    if (!entry.is_directory()) {
      left.push_back(entry.path().lexically_relative(model.path()).string());
    }
  }
  EXPECT_THAT(left, testing::UnorderedElementsAreArray(stay));
}

TEST(ModelDirTest, ListsTheFilesOfAModel) {
  const TemporaryFolder model;
  std::filesystem::create_directories(model / "checkpoint-00000042");
  std::filesystem::create_directories(model / "eval");
  WriteFileAtomically(model / "eval/00000042.json", "{}");
  const std::vector<std::string> files = ModelFiles(model.path());
  for (const std::string& path :
       {model.path(), ParamsPath(model.path()),
        model / "checkpoint-00000042/model.safetensors",
        model / "eval/00000042.json"}) {
    EXPECT_EQ(std::count(files.begin(), files.end(), path), 1) << path;
  }
  EXPECT_EQ(ModelFiles("weights.pth").front(), "weights.pth");
  EXPECT_TRUE(ModelFiles("").empty());
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
