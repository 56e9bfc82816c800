// The verbs that write shards, by their flags.

#include <filesystem>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/files/dataset_info.h"
#include "records/tfrecord/reader.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/read_payloads.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tests/tools/records/run_verb.h"

namespace infeed::writing_verbs_test {

namespace fs = std::filesystem;

// A shard of three records, the first and the last of one class.
class WritingVerbsTest : public ::testing::Test {
 protected:
  // Runs a verb that reads the shard and writes to the output; its text.
  VerbResult Call(const std::string& verb) const {
    VerbResult result = RunVerb(verb + " --output " + out_ + " " + shard_);
    EXPECT_EQ(result.code, ExitCode::kDone) << result.err;
    return result;
  }
  [[nodiscard]] std::string Run(const std::string& verb) const {
    fs::remove_all(out_);
    return Call(verb).out;
  }
  [[nodiscard]] std::string Refusal(const std::string& verb) const {
    return MessageOf<UsageError>([&] { (void)Call(verb); });
  }

  const TemporaryFolder folder_;
  const std::string out_ = folder_ / "out";
  const std::string shard_ = RecordFile()
                                 .Add(PayloadOf({"a", 1}))
                                 .Add(PayloadOf({"b", 2}))
                                 .Add(PayloadOf({"a", 1}))
                                 .Write(folder_ / "train-00000-of-00001");
};

TEST_F(WritingVerbsTest, ReshardCutsAndShuffles) {
  EXPECT_THAT(Run("reshard --shards 2 --compression zlib"),
              EndsWith("3 records in 2 shards, 0 bad left out\n"));
  EXPECT_EQ(TfrecordReader(out_ + "/train-00000-of-00002").compression(),
            Compression::kZlib);
  (void)Run("reshard --shuffle global --seed 4 --memory_limit 99MiB");
  EXPECT_EQ(ReadDatasetInfo(out_)->seed, 4U);
  EXPECT_THAT(Run("reshard --shards 1MB --dry_run"),
              EndsWith("would write 3 records in 1 shard\n"));
  RecordFile().Add("a long record").Add("b").Add("c").Write(shard_);
  EXPECT_THAT(Run("reshard --shards 2 --balance bytes"),
              HasSubstr("00000-of-00002 1\n"));
}

TEST_F(WritingVerbsTest, WrongValuesAreRefusedByTheirFlag) {
  for (const auto& [verb, flag] :
       {std::pair{"reshard --shards many", "--shards"},
        {"reshard --seed 3", "--shuffle global"},
        {"reshard --memory_limit much", "--memory_limit"},
        {"reshard --memory_limit 1MB --shuffle global", "--memory_limit"},
        {"split --bytes much", "--bytes"},
        {"split --records 2 --memory_limit much", "--memory_limit"}}) {
    EXPECT_THAT(Refusal(verb), HasSubstr(flag)) << verb;
  }
  EXPECT_THROW((void)Call("split"), CLI::ParseError);
  EXPECT_THROW((void)Call("split --records 3 --parts 2"), CLI::ParseError);
}

TEST_F(WritingVerbsTest, SplitCutsInEachWay) {
  EXPECT_THAT(Run("split --records 2"), HasSubstr("00000-of-00002 2\n"));
  EXPECT_THAT(Run("split --bytes 1"), HasSubstr("00002-of-00003 1\n"));
  EXPECT_THAT(Run("split --parts 2"), HasSubstr("00000-of-00002 2\n"));
  EXPECT_THAT(Run("split --by_label"),
              HasSubstr("/train-label-1-00000-of-00001 2\n"));
}

TEST_F(WritingVerbsTest, MergeAndRepairWriteEveryGoodRecord) {
  EXPECT_EQ(Run("merge"), "3 records in " + out_ + ", 0 bad left out\n");
  EXPECT_EQ(Run("repair"), "3 good records in 1 shard, 0 bad places\n");
  EXPECT_THAT(Run("repair --decode"),
              HasSubstr("\n0 good records in 1 shard, 3 bad places"));
  EXPECT_EQ(
      nlohmann::json::parse(Run("repair --frames_only --json"))["records"], 3);
  EXPECT_FALSE(fs::exists(out_ + "/.infeed/repair.json"));
  RecordFile().Add("a").Add("bad").FlipByte(17 + 12).Add("c").Write(shard_);
  EXPECT_EQ(Run("merge --on_bad_record skip"),
            "2 records in " + out_ + ", 1 bad left out\n");
}

TEST_F(WritingVerbsTest, MergeHasTheOrderOfTheListAndReshardThatOfThePaths) {
  const std::string night = RecordFile().Add("n").Write(folder_ / "night");
  const std::string day = RecordFile().Add("d").Write(folder_ / "day");
  const auto written = [&](const std::string& verb, const std::string& file) {
    fs::remove_all(out_);
    (void)RunVerb(verb + " --output " + out_ + " " + night + " " + day);
    return ReadPayloads(out_ + file);
  };
  EXPECT_THAT(written("merge", ""), ElementsAre("n", "d"));
  EXPECT_EQ(RunVerb("diff " + night + "," + day + " " + out_).code,
            ExitCode::kDone);
  EXPECT_THAT(written("reshard --shards 1 --prefix a", "/a-00000-of-00001"),
              ElementsAre("d", "n"));
}

// Readers of the folder would read each record twice.
TEST_F(WritingVerbsTest, MergeWritesNoRecordFileIntoAGivenFolder) {
  const std::string in = folder_ / "in";
  fs::create_directory(in);
  const std::string file = RecordFile().Add("a").Write(in + "/a.tfrecord");
  const auto merge = [&](const std::string& inputs, const std::string& name) {
    return RunVerb("merge --output " + in + "/" + name + " " + inputs).out;
  };
  for (const std::string& inputs : {in, in + "/*.tfrecord", file + " " + in}) {
    EXPECT_THAT(
        MessageOf<UsageError>([&] { (void)merge(inputs, "all.tfrecord"); }),
        HasSubstr("lies in this folder"))
        << inputs;
  }
  fs::create_directory(folder_ / "train");
  RecordFile().Add("b").Write(folder_ / "train/b.tfrecord");
  fs::remove(shard_);
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)RunVerb("merge --output " + (folder_ / "all.tfrecord") +
                              " " + folder_.path());
              }),
              HasSubstr("lies in this folder"));
  EXPECT_THAT(merge(in, "all"), StartsWith("1 record in "));
  EXPECT_THAT(merge(in + "/./a.tfrecord", "all.tfrecord"),
              StartsWith("1 record in "));
}

TEST_F(WritingVerbsTest, TheVerbsThatCutAndMergeReportAsJson) {
  const auto report = [this](const std::string& verb) {
    return nlohmann::json::parse(Run(verb + " --json"));
  };
  for (const char* verb : {"reshard --shards 1", "split --parts 1"}) {
    const auto json = report(verb);
    EXPECT_EQ(json["records"], 3);
    EXPECT_EQ(json["left_out"], 0);
    EXPECT_EQ(json["shards"][0]["file"], out_ + "/train-00000-of-00001");
  }
  EXPECT_EQ(report("merge")["file"], out_);
  const std::string file = folder_ / "report.json";
  EXPECT_THAT(Run("merge --json=" + file), HasSubstr("3 records"));
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(WritingVerbsTest, AReportReplacesNoNewShard) {
  for (const char* verb : {"reshard --shards 1", "split --parts 1"}) {
    const std::string shard = out_ + "/train-00000-of-00001";
    EXPECT_THAT(Refusal(verb + (" --json=" + shard)), HasSubstr("--json"));
    EXPECT_FALSE(fs::exists(shard));
  }
  EXPECT_THAT(Refusal("merge --json=" + out_), HasSubstr("--json"));
}

TEST_F(WritingVerbsTest, ARepairLeavesNoReportOfAnEarlierOne) {
  Call("repair");
  EXPECT_TRUE(fs::exists(out_ + "/.infeed/repair.json"));
  Call("repair --overwrite --json=" + (folder_ / "report.json"));
  EXPECT_FALSE(fs::exists(out_ + "/.infeed/repair.json"));
}

TEST_F(WritingVerbsTest, ADryRunOfRepairWritesNoReport) {
  const std::string report = folder_ / "report.json";
  const std::string verb = "repair --frames_only --dry_run --json";
  EXPECT_EQ(Run(verb + "=" + report),
            shard_ + " -> " + out_ + "/train-00000-of-00001\n");
  EXPECT_FALSE(fs::exists(report));
  const auto json = nlohmann::json::parse(Run(verb));
  EXPECT_EQ(json["output"], out_);
  EXPECT_EQ(
      json["shards"][0],
      (nlohmann::json{{"file", shard_}, {"name", "train-00000-of-00001"}}));
}

TEST_F(WritingVerbsTest, AReportsFolderMustBeThereUnlessItIsTheOutput) {
  EXPECT_THAT(MessageOf<IoError>([&] {
                (void)Call("repair --json=" + (folder_ / "none/report.json"));
              }),
              HasSubstr("none/report.json"));
  EXPECT_FALSE(fs::exists(out_));
  (void)Run("repair --json=" + out_ + "/report.json");
  EXPECT_TRUE(fs::exists(out_ + "/report.json"));
}

}  // namespace infeed::writing_verbs_test
