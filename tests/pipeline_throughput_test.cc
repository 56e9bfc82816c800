#include <stdio.h>
#include <sys/wait.h>

#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Outcome {
  int exit_code = -1;
  std::string output;  // standard output and error together
};

class PipelineThroughputTest : public ::testing::Test {
 protected:
  // Runs the program on the test's shards with small images.
  Outcome Run(const std::string& flags) {
    return RunPlain("--data_dir " + shards_.folder() +
                    " --batch_size 4 --image_size 16 " + flags);
  }

  static Outcome RunPlain(const std::string& flags) {
    const std::string command = std::string(INFEED_PROGRAMS) +
                                "/pipeline_throughput " + flags + " 2>&1";
    FILE* const pipe = ::popen(command.c_str(), "r");
    Check(pipe != nullptr, "a program can be started");
    Outcome outcome;
    std::array<char, 4096> buffer{};
    while (const std::size_t count =
               ::fread(buffer.data(), 1, buffer.size(), pipe)) {
      outcome.output.append(buffer.data(), count);
    }
    outcome.exit_code = WEXITSTATUS(::pclose(pipe));
    return outcome;
  }

  TestShards shards_{TestPayloads(10)};
  TemporaryFolder folder_;
};

TEST_F(PipelineThroughputTest, PrintsATableAndAVerdict) {
  const Outcome outcome = Run("--threads 1,2 --seconds 0.05 --rounds 2");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(
      outcome.output,
      AllOf(HasSubstr("10 records in 2 shards"),
            HasSubstr("round 2/2, 2 threads"),
            HasSubstr("threads     images/s"), HasSubstr("decode"),
            HasSubstr("time to first batch"), HasSubstr("peak memory")));
}

TEST_F(PipelineThroughputTest, WritesItsReport) {
  const std::string path = folder_ / "report.json";
  const Outcome outcome =
      Run("--threads 2,1 --seconds 0.05 --rounds 3 --json " + path);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const nlohmann::json report =
      nlohmann::json::parse(ReadWholeFile(path, 1 << 20));
  EXPECT_GT(report["images_per_second"]["median"], 0);
  EXPECT_LE(report["images_per_second"]["min"],
            report["images_per_second"]["median"]);
  EXPECT_GE(report["images_per_second"]["max"],
            report["images_per_second"]["median"]);
  EXPECT_EQ(report["stages"].size(), 5U);
  EXPECT_GT(report["peak_rss_bytes"], 1 << 20);
  EXPECT_GT(report["first_batch_seconds"], 0);
  EXPECT_THAT(report["verdict"].get<std::string>(), Not(IsEmpty()));
  EXPECT_EQ(report["runs"].size(), 2U);
  EXPECT_EQ(report["runs"][0]["threads"], 2);
}

TEST_F(PipelineThroughputTest, HashesTheSameStreamForAnyThreads) {
  // Ten batches reach over four epochs.
  const Outcome outcome = Run("--threads 1,3 --hash 10");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, ContainsRegex("\n[0-9a-f]{64}\n"));
  const std::string hashes = outcome.output.substr(outcome.output.size() - 130);
  EXPECT_EQ(hashes.substr(0, 65), hashes.substr(65));
  EXPECT_NE(Run("--threads 1,3 --hash 9").output, outcome.output);
}

TEST_F(PipelineThroughputTest, MeasuresAnEvaluation) {
  const Outcome outcome = Run("--eval --rounds 1 --threads 1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("images/s"));
}

TEST_F(PipelineThroughputTest, TakesShardsByPattern) {
  const Outcome outcome = RunPlain("--shards '" + shards_.folder() +
                                   "/train-*' --batch_size 2 --image_size 8 "
                                   "--threads 1 --hash 1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST_F(PipelineThroughputTest, SaysWhatIsWrongWithItsFlags) {
  const auto refuses = [&](const std::string& flags, const char* why) {
    const Outcome outcome = RunPlain(flags);
    EXPECT_EQ(outcome.exit_code, 2) << flags;
    EXPECT_THAT(outcome.output, HasSubstr(why));
  };
  refuses("", "give one of --data_dir and --shards");
  refuses("--data_dir " + shards_.folder() + " --split test",
          "has no shards of the split \"test\"");
  refuses("--data_dir " + shards_.folder() + " --batch_size 11",
          "batch_size is 11");
  refuses("--rounds 0", "--rounds");
}

TEST_F(PipelineThroughputTest, TeachesItsUse) {
  const Outcome outcome = RunPlain("--help");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("--threads 1,2"), HasSubstr("what bounds it")));
}

}  // namespace
}  // namespace infeed
