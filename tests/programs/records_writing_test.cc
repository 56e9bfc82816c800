#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/example/imagenet_example.h"
#include "records/files/dataset_info.h"
#include "records/tfrecord/reader.h"
#include "tests/support/bytes.h"
#include "tests/support/read_payloads.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace records_writing_test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kMaxBytes = 1 << 24;

std::string Image(int label) {
  ImagenetExample example;
  example.label = label;
  example.synset = "class" + std::to_string(label);
  return BuildImagenetExample(example);
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// A set of two training shards and one for validation, with a dataset.json.
class RecordsWritingTest : public ::testing::Test {
 protected:
  RecordsWritingTest() {
    fs::create_directories(in_);
    RecordFile().Add(Image(1)).Add(Image(2)).Add(Image(1)).Write(
        In("train-00000-of-00002"));
    RecordFile().Add(Image(2)).Write(In("train-00001-of-00002"));
    RecordFile().Add(Image(2)).Add(Image(1)).Write(
        In("validation-00000-of-00001"));
    WriteDatasetInfo(
        in_, {.seed = 5, .classes = {"class1", "class2"}, .splits = {}});
  }

  [[nodiscard]] std::string In(const std::string& name) const {
    return in_ + "/" + name;
  }
  [[nodiscard]] std::string Out(const std::string& name) const {
    return out_ + "/" + name;
  }
  // Runs a verb on the set, with the output folder.
  [[nodiscard]] ProgramResult Run(const std::string& arguments) const {
    return RunProgram("records", arguments + " --output " + out_ + " " + in_);
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in";
  const std::string out_ = folder_ / "out";
};

TEST_F(RecordsWritingTest, RepairKeepsNamesAndPutsTheRestAside) {
  RecordFile()
      .Add(Image(1))
      .AddRaw("garbage")
      .Add("no Example")
      .Add(Image(2))
      .Write(In("train-00000-of-00002"));
  const ProgramResult result = Run("repair");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(StartsWith(In("train-00000-of-00002") + ": 7 bytes at byte "),
            HasSubstr("26 bytes at byte "), HasSubstr("not a tf.train.Example"),
            EndsWith("\n5 good records in 3 shards, 2 bad places (33 "
                     "B, 1 record known to be lost) in " +
                     out_ + "/.infeed\n")));
  EXPECT_THAT(NamesIn(out_), UnorderedElementsAre(".infeed", "dataset.json",
                                                  "train-00000-of-00002",
                                                  "train-00001-of-00002",
                                                  "validation-00000-of-00001"));
  EXPECT_THAT(NamesIn(out_ + "/.infeed"),
              UnorderedElementsAre("repair.json", "train-00000-of-00002.bad",
                                   "train-00000-of-00002.bad.json",
                                   "train-00000-of-00002.index",
                                   "train-00001-of-00002.index",
                                   "validation-00000-of-00001.index"));
  EXPECT_THAT(ReadPayloads(Out("train-00000-of-00002")),
              ElementsAre(Image(1), Image(2)));
  EXPECT_EQ(
      ReadWholeFile(out_ + "/.infeed/train-00000-of-00002.bad", kMaxBytes),
      "garbage" + RecordFile().Add("no Example").bytes());
}

TEST_F(RecordsWritingTest, RepairWritesReportAndDescription) {
  RecordFile().Add(Image(1)).AddRaw("garbage").Write(
      In("train-00000-of-00002"));
  EXPECT_EQ(Run("repair").exit_code, 0);
  const auto report = nlohmann::json::parse(
      ReadWholeFile(out_ + "/.infeed/repair.json", kMaxBytes));
  EXPECT_EQ(report["records"], 4);
  EXPECT_EQ(report["bad"], 1);
  EXPECT_EQ(report["bad_bytes"], 7);
  EXPECT_EQ(report["shards"][0]["file"], In("train-00000-of-00002"));
  EXPECT_EQ(report["shards"][0]["bad"][0]["bytes"], 7);
  const auto info = ReadDatasetInfo(out_);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->seed, 5U);
  EXPECT_THAT(info->classes, ElementsAre("class1", "class2"));
  ASSERT_EQ(info->splits.size(), 2U);
  EXPECT_EQ(info->splits[0].name, "train");
  EXPECT_EQ(info->splits[0].records, 2);
  EXPECT_EQ(info->splits[0].shards[0].crc32c,
            report["shards"][0]["crc32c"].get<std::string>());
  EXPECT_EQ(info->splits[1].records, 2);
}

TEST_F(RecordsWritingTest, RepairPutsTheReportWhereItIsTold) {
  const ProgramResult result = Run("repair --json");
  EXPECT_EQ(nlohmann::json::parse(result.out)["records"], 6);
  EXPECT_FALSE(fs::exists(out_ + "/.infeed/repair.json"));
}

TEST_F(RecordsWritingTest, RepairRefusesTheFolderOfItsInput) {
  const ProgramResult result =
      RunProgram("records", "repair " + in_ + " --output " + in_ + "/../in");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("lies in this folder"));
}

TEST_F(RecordsWritingTest, RepairOverwritesOnlyWhenTold) {
  fs::create_directories(out_);
  WriteFileAtomically(Out("train-00001-of-00002"), "old");
  ProgramResult result = Run("repair");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr(Out("train-00001-of-00002")),
                                HasSubstr("--overwrite")));
  EXPECT_THAT(NamesIn(out_), ElementsAre("train-00001-of-00002"));
  result = Run("repair --overwrite");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(ReadPayloads(Out("train-00001-of-00002")), ElementsAre(Image(2)));
}

TEST_F(RecordsWritingTest, RepairTakesAwayWhatAnEarlierRunPutAside) {
  RecordFile().Add(Image(1)).AddRaw("garbage").Write(
      In("train-00000-of-00002"));
  EXPECT_EQ(Run("repair").exit_code, 0);
  EXPECT_TRUE(fs::exists(out_ + "/.infeed/train-00000-of-00002.bad"));
  RecordFile().Add(Image(1)).Write(In("train-00000-of-00002"));
  EXPECT_EQ(Run("repair --overwrite").exit_code, 0);
  EXPECT_FALSE(fs::exists(out_ + "/.infeed/train-00000-of-00002.bad"));
  EXPECT_FALSE(fs::exists(out_ + "/.infeed/train-00000-of-00002.bad.json"));
}

TEST_F(RecordsWritingTest, RepairAddsToTheDescriptionOfItsOutput) {
  for (const std::string split : {"validation", "train"}) {
    const ProgramResult result = RunProgram(
        "records", "repair '" + in_ + "/" + split + "-*' --output " + out_);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
  const auto info = ReadDatasetInfo(out_);
  ASSERT_TRUE(info);
  ASSERT_EQ(info->splits.size(), 2U);
  EXPECT_EQ(info->splits[0].name, "train");
  EXPECT_EQ(info->splits[0].records, 4);
  EXPECT_EQ(info->splits[1].records, 2);
}

TEST_F(RecordsWritingTest, RepairOnlySaysWhatItWouldDo) {
  const ProgramResult result = Run("repair --dry_run");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(In("train-00000-of-00002") + " -> " +
                                    Out("train-00000-of-00002")));
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(RecordsWritingTest, RepairUnpacksShardsAndDropsTheirSuffix) {
  fs::remove(In("dataset.json"));
  EXPECT_EQ(Run("repair --compression gzip").exit_code, 0);
  const std::string packed = Out("train-00000-of-00002");
  EXPECT_EQ(TfrecordReader(packed).compression(), Compression::kGzip);
  EXPECT_FALSE(fs::exists(Out("dataset.json")));

  fs::rename(packed, packed + ".gz");
  const std::string plain = folder_ / "plain";
  const ProgramResult result =
      RunProgram("records", "repair " + packed + ".gz --output " + plain);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  TfrecordReader reader(plain + "/train-00000-of-00002");
  EXPECT_EQ(reader.compression(), Compression::kNone);
  EXPECT_THAT(ReadPayloads(plain + "/train-00000-of-00002"),
              ElementsAre(Image(1), Image(2), Image(1)));
}

TEST_F(RecordsWritingTest, RemovesWhatAKilledRunLeft) {
  fs::create_directories(out_ + "/.infeed/tmp");
  WriteFileAtomically(out_ + "/.infeed/tmp/train-00007-of-00009", "half");
  EXPECT_EQ(Run("repair").exit_code, 0);
  EXPECT_FALSE(fs::exists(Out("train-00007-of-00009")));
  EXPECT_FALSE(fs::exists(out_ + "/.infeed/tmp"));
}

}  // namespace records_writing_test
}  // namespace infeed
