#include <signal.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/running_program.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

class PipelineThroughputTest : public ::testing::Test {
 protected:
  // Runs the program on the test's shards with small images.
  ProgramResult Run(const std::string& flags) {
    return RunProgram("pipeline_throughput", Flags(flags));
  }
  [[nodiscard]] std::unique_ptr<RunningProgram> Start(
      const std::string& flags) const {
    return std::make_unique<RunningProgram>("pipeline_throughput",
                                            ShellWords(Flags(flags)));
  }
  [[nodiscard]] std::string Flags(const std::string& more) const {
    return "--data_dir " + shards_.folder() +
           " --batch_size 4 --image_size 16 " + more;
  }

  TestShards shards_{TestPayloads(10)};
  TemporaryFolder folder_;
};

TEST_F(PipelineThroughputTest, PrintsATableAndAVerdict) {
  const ProgramResult result = Succeeded(
      Run("--threads 1,2 --seconds 0.05 --rounds 2 --seek_index read"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("10 records in 2 shards"),
                                HasSubstr("round 2/2, 2 threads")));
  EXPECT_THAT(
      result.out,
      AllOf(StartsWith("threads  images/s"), HasSubstr("decode"),
            HasSubstr("seek index: 0 used, 0 refused, "),
            HasSubstr("queues: waiting "), HasSubstr("time to first batch"),
            HasSubstr("peak memory")));
}

TEST_F(PipelineThroughputTest, GoesOnWithoutMissingShardsOnlyWhenTold) {
  std::filesystem::remove(shards_.index().shards()[0]);
  const std::string text = "1 shard is missing: " + shards_.index().shards()[0];
  const std::string flags = " --dry_run --batch_size 4 --image_size 16";
  for (const std::string& spec :
       {"--data_dir " + shards_.folder(), "--shards " + shards_.folder(),
        "--mix " + shards_.folder() + "=1"}) {
    EXPECT_THAT(RunProgram("pipeline_throughput", spec + flags),
                Ends(3, HasSubstr(text)))
        << spec;
    EXPECT_THAT(
        RunProgram("pipeline_throughput",
                   spec + flags + " --allow_missing_shards"),
        Ends(0, AllOf(HasSubstr(text), HasSubstr("5 records in 1 shard"))));
  }
}

TEST_F(PipelineThroughputTest, WritesOverNoInput) {
  const std::string shard = shards_.index().shards()[0];
  const std::string before = ReadWholeFile(shard, 1 << 20);
  for (const std::string& flags :
       {"--seconds 0.05 --json " + shard, "--hash 1 --save_state " + shard,
        "--hash 1 --trace " + shard, "--hash 1 --bad_record_report " + shard,
        "--hash 1 --metrics_file " + shard,
        "--trace " + (folder_ / "new") + " --json " + (folder_ / "new")}) {
    EXPECT_THAT(Run(flags), Ends(2, HasSubstr(": give another file"))) << flags;
  }
  EXPECT_EQ(ReadWholeFile(shard, 1 << 20), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

TEST_F(PipelineThroughputTest, MeasuresNothingWithAHashOrAnOrder) {
  for (const std::string flag :
       {"--seconds 1", "--rounds 1", "--stage read", "--device_rate 5",
        "--json FILE", "--plot FILE.svg"}) {
    for (const std::string what : {"--hash", "--order"}) {
      EXPECT_THAT(Run(what + " 1 " + flag),
                  Ends(2, HasSubstr(flag.substr(0, flag.find(' ')) +
                                    " excludes " + what)));
    }
  }
}

TEST_F(PipelineThroughputTest, PrintsTheOrderOfARank) {
  // The epoch ends before the third batch.
  EXPECT_EQ(Run("--rank 1 --world_size 2 --order 3 --shuffle none "
                "--rank_share strided")
                .out,
            "1 3\n5 7\n1 3\n");
}

TEST_F(PipelineThroughputTest, MeasuresRecordsWithoutImages) {
  const std::string flags =
      "--layout none --field image/class/label=int16[] "
      "--field image/filename=bytes --threads 1 ";
  EXPECT_THAT(Succeeded(Run(flags + "--seconds 0.05 --rounds 1")).out,
              AllOf(HasSubstr("records/s"), HasSubstr("\nread "),
                    Not(HasSubstr("images/s")), Not(HasSubstr("\ndecode "))));
  EXPECT_THAT(Run(flags + "--hash 3").out, MatchesRegex("[0-9a-f]{64}\n"));
}

TEST_F(PipelineThroughputTest, PrintsJsonAlone) {
  const ProgramResult result =
      Succeeded(Run("--threads 1 --seconds 0.05 --rounds 1 --json -"));
  EXPECT_EQ(nlohmann::json::parse(result.out)["schema"], 1);
}

// A large program that starts this one is not counted.
TEST_F(PipelineThroughputTest, ReportsItsOwnPeakMemory) {
  const std::string path = folder_ / "report.json";
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  const std::string large(kBytes, 'x');
  const auto program = Start("--threads 1 --seconds 0.05 --json " + path);
  ASSERT_EQ(program->Wait(), 0) << program->err();
  EXPECT_EQ(large.back(), 'x');
  EXPECT_LT(
      nlohmann::json::parse(ReadWholeFile(path, 1 << 20))["peak_rss_bytes"],
      kBytes);
}

TEST_F(PipelineThroughputTest, GoesOnWithAStreamByItsState) {
  const std::string state = folder_ / "state.json";
  ASSERT_EQ(Run("--threads 2 --hash 3 --save_state " + state).exit_code, 0);
  EXPECT_THAT(ReadWholeFile(state, 1 << 20), HasSubstr("\"batch_size\": 4"));
  EXPECT_THAT(
      Run("--threads 1 --hash 2 --restore " + state + " --save_state " + state),
      Ends(0));
  // Two batches make an epoch.
  EXPECT_THAT(ReadWholeFile(state, 1 << 20),
              AllOf(HasSubstr("\"epoch\": 2"), HasSubstr("\"position\": 4")));
  EXPECT_THAT(Run("--hash 1 --seed 5 --restore " + state),
              Ends(2, HasSubstr("seed is 5 here, 0 in the state")));
  EXPECT_EQ(Run("--restore " + state).exit_code, 2);  // Without --hash.
}

TEST_F(PipelineThroughputTest, WritesATraceMetricsAndPlots) {
  const std::string flags =
      "--threads 2 --seconds 0.02 --rounds 1 --augment randaugment --trace " +
      (folder_ / "trace") + " --metrics_file " + (folder_ / "prom") +
      " --plot " + (folder_ / "plot");
  EXPECT_THAT(Run(flags + ".svg"), Ends(0));
  EXPECT_THAT(Run(flags + ".html"), Ends(0));
  const auto text = [&](const char* name) {
    return ReadWholeFile(folder_ / name, 1 << 30);
  };
  std::set<std::string> spans;
  const nlohmann::json trace = nlohmann::json::parse(text("trace"));
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      spans.insert(event["name"]);
    }
  }
  EXPECT_EQ(spans, (std::set<std::string>{"augment", "batch", "decode", "order",
                                          "read", "resize", "wait"}));
  EXPECT_THAT(text("prom"),
              HasSubstr("infeed_images_total{run=\"" + shards_.folder()));
  EXPECT_THAT(text("plot.svg"), AllOf(StartsWith("<svg"), HasSubstr("decode")));
  EXPECT_THAT(text("plot.html"),
              AllOf(HasSubstr("10 records, recipe tpu"), HasSubstr("</html>")));
}

// Runs that are killed while they write, two at a time.
TEST_F(PipelineThroughputTest, LeavesNoWrongSeekIndexWhenItIsKilled) {
  const std::string flags = "--seconds 600 --rounds 1 --world_size 2 --rank ";
  for (int kills = 0; kills < 3; ++kills) {
    const auto first = Start(flags + "0");
    const auto second = Start(flags + "1");
    ASSERT_TRUE(first->ReadUntil("records in"));
    std::this_thread::sleep_for(std::chrono::milliseconds(60 * kills));
    first->Signal(SIGKILL);
    second->Signal(SIGKILL);
    (void)first->Wait();
    (void)second->Wait();
    ASSERT_THAT(RunProgram("records", "verify " + shards_.folder()), Ends(0));
  }
}

TEST_F(PipelineThroughputTest, OnlyChecksADryRun) {
  std::filesystem::remove_all(shards_.folder() + "/.infeed");
  EXPECT_THAT(
      Succeeded(Run("--dry_run --threads 1,3 --rounds 4 --seconds 5 --trace " +
                    (folder_ / "trace") + " --metrics_file " +
                    (folder_ / "prom") + " --bad_record_report " +
                    (folder_ / "bad")))
          .out,
      AllOf(HasSubstr("10 records, recipe tpu, 16x16"),
            HasSubstr("3 threads: memory: up to"),
            HasSubstr("4 rounds of 5 s each, 40 s in all"),
            Not(HasSubstr("images/s"))));
  EXPECT_FALSE(std::filesystem::exists(shards_.folder() + "/.infeed"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_EQ(Run("--dry_run --memory_limit 1MiB").exit_code, 2);
}

TEST_F(PipelineThroughputTest, RunsTheBasicGraphAndADeviceOnAMadeDataSet) {
  EXPECT_THAT(
      RunProgram("pipeline_throughput",
                 "--made 2 --batch_size 2 --graph basic --device_rate 1e9 "
                 "--seconds 0.02 --rounds 1 --json " +
                     (folder_ / "report.json")),
      Ends(0, HasSubstr("2 records in 8 shards")));
  EXPECT_THAT(ReadWholeFile(folder_ / "report.json", 1 << 20),
              AllOf(HasSubstr("\"graph\": \"basic\""),
                    HasSubstr("\"has_device\": true")));
}

TEST_F(PipelineThroughputTest, SaysWhatIsWrongWithItsFlags) {
  const std::string data = "--data_dir " + shards_.folder();
  for (const auto& [flags, why] : std::map<std::string, const char*>{
           {"--made 3 " + data,
            "give one of --data_dir, --shards, --mix and --made"},
           {data + " --plot a.png", "give a name in .svg or .html"},
           {data + " --device_rate 0", "--device_rate"},
           {data + " --stage write", "all, read, decode or resize"},
           {data + " --stage read --device_rate 9", "leave --device_rate out"},
           {data + " --batch_size 11", "batch_size is 11"}}) {
    EXPECT_THAT(RunProgram("pipeline_throughput", flags),
                Ends(2, HasSubstr(why)))
        << flags;
  }
  // At once, not after its seconds.
  EXPECT_THAT(Run("--seconds 1000 --trace /nowhere/trace"),
              Ends(1, HasSubstr("/nowhere/trace")));
}

}  // namespace
}  // namespace infeed
