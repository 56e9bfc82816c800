#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/files/dataset_info.h"
#include "records/tfrecord/reader.h"
#include "tests/support/files_in.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_file.h"
#include "tests/support/read_payloads.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tools/rewrite/shard_repair.h"

namespace infeed::set_repair_test {

namespace fs = std::filesystem;
using ::testing::Key;

// A training shard with seven bytes too many, and one for validation.
class SetRepairTest : public ::testing::Test {
 protected:
  SetRepairTest() {
    fs::create_directories(in_);
    RecordFile().Add("a").AddRaw("garbage").Add("b").Write(train_);
    RecordFile().Add("c").Write(validation_);
    WriteDatasetInfo(in_, {.seed = 5, .classes = {"cat", "dog"}});
    options_.writing.output = out_;
    options_.repair.parse_examples = false;
  }

  [[nodiscard]] RepairedSet Repair(
      const std::vector<std::string>& shards) const {
    return RepairShards(shards, options_, Interruption(std::stop_token()));
  }
  [[nodiscard]] RepairedSet Repair() const {
    return Repair({train_, validation_});
  }
  [[nodiscard]] std::string Refusal(const std::string& output) {
    options_.writing.output = output;
    return MessageOf<UsageError>([&] { (void)Repair(); });
  }
  // The output of an input, or a path in the output folder.
  [[nodiscard]] std::string Out(const std::string& path) const {
    return out_ + path.substr(path.starts_with(in_) ? in_.size() : 0);
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in";
  const std::string out_ = folder_ / "out";
  const std::string train_ = in_ + "/train-00000-of-00001";
  const std::string validation_ = in_ + "/validation-00000-of-00001";
  SetRepairOptions options_;
};

TEST_F(SetRepairTest, ShardsKeepTheirNamesAndTheRestIsPutAside) {
  const std::string text = RenderText(RepairReport(Repair()));
  EXPECT_THAT(text,
              AllOf(StartsWith(train_ + ": 7 bytes at byte 17: "),
                    EndsWith("\n3 good records in 2 shards, 1 bad place (7 B, "
                             "0 records known to be lost) in " +
                             out_ + "/.infeed\n")));
  const auto files = FilesBelow(out_);
  EXPECT_THAT(files,
              ElementsAre(Key(".infeed/repair.json"),
                          Pair(".infeed/train-00000-of-00001.bad", "garbage"),
                          Key(".infeed/train-00000-of-00001.bad.json"),
                          Key(".infeed/train-00000-of-00001.index"),
                          Key(".infeed/validation-00000-of-00001.index"),
                          Key("dataset.json"), Key("train-00000-of-00001"),
                          Key("validation-00000-of-00001")));
  EXPECT_THAT(ReadPayloads(Out(train_)), ElementsAre("a", "b"));

  // Repaired again from a good shard, it has no bytes put aside.
  RecordFile().Add("a").Write(train_);
  options_.writing.overwrite = true;
  EXPECT_THAT(Repair().shards[0].bad, IsEmpty());
  EXPECT_FALSE(fs::exists(Out("/.infeed/train-00000-of-00001.bad")));
  EXPECT_FALSE(fs::exists(Out("/.infeed/train-00000-of-00001.bad.json")));
}

TEST_F(SetRepairTest, RecordsThatAreNoExamplesAreKnownToBeLost) {
  RecordFile()
      .Add(PayloadOf({"image"}))
      .AddRaw("garbage")
      .Add("no Example")
      .Write(train_);
  options_.repair.parse_examples = true;
  EXPECT_THAT(RenderText(RepairReport(Repair({train_}))),
              AllOf(HasSubstr("not a tf.train.Example"),
                    HasSubstr("1 good record in 1 shard, 2 bad places (33 B, "
                              "1 record known to be lost)")));
}

TEST_F(SetRepairTest, TheReportIsJsonInTheFolder) {
  const RepairedSet set = Repair();
  const std::string json = RenderJson(RepairReport(set));
  EXPECT_EQ(FilesBelow(out_).at(".infeed/repair.json"), json);
  auto report = nlohmann::json::parse(json);
  EXPECT_EQ(report["shards"][0]["file"], train_);
  EXPECT_EQ(report["shards"][0]["crc32c"], set.shards[0].shard.crc32c);
  EXPECT_EQ(report["shards"][0]["bad"][0]["bytes"], 7);
  report.erase("shards");
  EXPECT_EQ(report, (nlohmann::json{{"output", out_},
                                    {"records", 3},
                                    {"bad", 1},
                                    {"bad_bytes", 7},
                                    {"records_lost", 0}}));
}

TEST_F(SetRepairTest, TheDescriptionOfTheOutputIsAddedTo) {
  (void)Repair({validation_});
  const RepairedSet train = Repair({train_});
  const auto info = ReadDatasetInfo(out_);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->seed, 5U);
  EXPECT_THAT(info->classes, ElementsAre("cat", "dog"));
  ASSERT_EQ(info->splits.size(), 2U);
  EXPECT_EQ(info->splits[0].name, "train");
  EXPECT_EQ(info->splits[0].records, 2);
  EXPECT_EQ(info->splits[0].shards[0].crc32c, train.shards[0].shard.crc32c);
  EXPECT_EQ(info->splits[1].records, 1);
}

TEST_F(SetRepairTest, NamesOfAListAreKept) {
  fs::remove(in_ + "/dataset.json");
  WriteFileAtomically(in_ + "/labels.txt", "cat\ndog\n");
  RecordFile()
      .Add(PayloadOf({.image = "a", .label = 1}))
      .Add(PayloadOf({.image = "b", .label = 2}))
      .Write(train_);
  (void)Repair();
  EXPECT_THAT(ReadDatasetInfo(out_)->classes, ElementsAre("cat", "dog"));
  EXPECT_EQ(ReadDatasetInfo(out_)->first_label, 1);
  // A broken frame hides the labels.
  RecordFile().Add("a").AddRaw("garbage").Add("b").Write(train_);
  fs::remove_all(out_);
  (void)Repair();
  EXPECT_EQ(FilesBelow(out_).at("labels.txt"), "cat\ndog\n");
}

TEST_F(SetRepairTest, OtherClassesInTheOutputAreRefused) {
  (void)Repair({validation_});
  const auto before = FilesBelow(out_);
  WriteDatasetInfo(in_, {.classes = {"dog", "cat"}});
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)Repair({train_}); }),
              AllOf(HasSubstr(in_), HasSubstr(out_), HasSubstr("--output")));
  EXPECT_EQ(FilesBelow(out_), before);
}

TEST_F(SetRepairTest, InputsAndOlderShardsAreNotReplaced) {
  EXPECT_THAT(Refusal(in_ + "/../in"), HasSubstr("lies in this folder"));
  fs::create_directories(out_);
  WriteFileAtomically(Out(validation_), "old");
  EXPECT_THAT(Refusal(out_),
              AllOf(HasSubstr(Out(validation_)), HasSubstr("--overwrite")));
  EXPECT_THAT(FilesBelow(out_), SizeIs(1));
  options_.writing.overwrite = true;
  (void)Repair();
  EXPECT_THAT(ReadPayloads(Out(validation_)), ElementsAre("c"));
}

TEST_F(SetRepairTest, APackedShardLosesItsSuffixIfItIsUnpacked) {
  const std::string packed = train_ + ".gz";
  WritePacked(packed, RecordFile().Add("a").Add("b").bytes());
  fs::remove(in_ + "/dataset.json");
  (void)Repair({packed});
  EXPECT_EQ(TfrecordReader(Out(train_)).compression(), Compression::kNone);
  EXPECT_THAT(ReadPayloads(Out(train_)), ElementsAre("a", "b"));
  EXPECT_FALSE(fs::exists(Out("/dataset.json")));
}

}  // namespace infeed::set_repair_test
