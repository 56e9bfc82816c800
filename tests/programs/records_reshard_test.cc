#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "records/files/dataset_info.h"
#include "records/files/open_sink.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/reader.h"
#include "tests/support/bytes.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace records_reshard_test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Strings = std::vector<std::string>;

// The reference: a plain loop over the shards of a prefix, in order.
Strings ReadPrefix(const std::string& folder, const std::string& prefix) {
  Strings paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(prefix + "-0")) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  Strings payloads;
  for (const std::string& path : paths) {
    TfrecordReader reader(path);
    while (const auto record = reader.Next()) {
      payloads.push_back(AsText(record->payload));
    }
  }
  return payloads;
}

Strings Sorted(Strings strings) {
  std::sort(strings.begin(), strings.end());
  return strings;
}

Strings NamesIn(const std::string& folder) {
  Strings names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return Sorted(std::move(names));
}

// 100 training records in three shards, one of which is empty, and 7 more.
class RecordsReshardTest : public ::testing::Test {
 protected:
  RecordsReshardTest() {
    fs::create_directories(in_);
    RecordFile first;
    RecordFile third;
    for (int i = 0; i < 100; ++i) {
      train_.push_back("t" + std::to_string(i) + std::string(i, 'x'));
      (i < 60 ? first : third).Add(train_.back());
    }
    Write("train-00000-of-00003", first);
    Write("train-00001-of-00003", RecordFile());
    Write("train-00002-of-00003", third);
    RecordFile validation;
    for (int i = 0; i < 7; ++i) {
      validation_.push_back("v" + std::to_string(i));
      validation.Add(validation_.back());
    }
    Write("validation-00000-of-00001", validation);
  }

  void Write(const std::string& name, const RecordFile& file) {
    file.Write(in_ + "/" + name);
  }
  // Replaces a shard by its gzip stream.
  void Pack(const std::string& name) const {
    const std::string path = in_ + "/" + name;
    const std::string bytes = ReadWholeFile(path, 1 << 24);
    const auto sink = DeflateSink(OpenSink(path), Compression::kGzip);
    sink->Write(bytes);
    sink->Commit();
  }
  ProgramResult Reshard(const std::string& arguments) const {
    fs::remove_all(out_);
    return RunProgram("records",
                      "reshard " + arguments + " --output " + out_ + " " + in_);
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in";
  const std::string out_ = folder_ / "out";
  Strings train_;
  Strings validation_;
};

TEST_F(RecordsReshardTest, KeepsEveryRecordOnceAndInOrder) {
  for (const int shards : {1, 2, 8, 120}) {
    const ProgramResult result =
        Reshard("--shards " + std::to_string(shards) + " --threads 2");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(ReadPrefix(out_, "train"), train_) << shards;
    EXPECT_EQ(ReadPrefix(out_, "validation"), validation_) << shards;
    const std::size_t written =
        static_cast<std::size_t>(std::min(shards, 100) + std::min(shards, 7));
    EXPECT_THAT(NamesIn(out_), SizeIs(written + 2));  // and dataset.json
    EXPECT_THAT(NamesIn(out_ + "/.infeed"), SizeIs(written));
    EXPECT_THAT(result.out,
                EndsWith("107 records in " + std::to_string(written) +
                         " shards, 0 bad left out\n"));
  }
}

TEST_F(RecordsReshardTest, SaysHowManyRecordsEachShardHas) {
  EXPECT_THAT(Reshard("--shards 2").out,
              HasSubstr(out_ + "/train-00000-of-00002 50\n" + out_ +
                        "/train-00001-of-00002 50\n" + out_ +
                        "/validation-00000-of-00002 4\n"));
  EXPECT_THAT(Reshard("--shards 2 --balance bytes").out,
              HasSubstr(out_ + "/train-00000-of-00002 6"));
}

TEST_F(RecordsReshardTest, ShufflesTheSameWithAnyThreads) {
  ASSERT_EQ(
      Reshard("--shards 3 --shuffle global --seed 4 --threads 1").exit_code, 0);
  const Strings shuffled = ReadPrefix(out_, "train");
  EXPECT_NE(shuffled, train_);
  EXPECT_EQ(Sorted(shuffled), Sorted(train_));
  EXPECT_EQ(Sorted(ReadPrefix(out_, "validation")), Sorted(validation_));
  EXPECT_EQ(ReadDatasetInfo(out_)->seed, 4U);

  ASSERT_EQ(Reshard("--shards 8 --shuffle global --seed 4 --threads 2 "
                    "--memory_limit 21MiB")
                .exit_code,
            0);
  EXPECT_EQ(ReadPrefix(out_, "train"), shuffled);
  ASSERT_EQ(Reshard("--shards 3 --shuffle global --seed 5").exit_code, 0);
  EXPECT_NE(ReadPrefix(out_, "train"), shuffled);

  Pack("train-00000-of-00003");
  ASSERT_EQ(Reshard("--shards 3 --shuffle global --seed 4").exit_code, 0);
  EXPECT_EQ(ReadPrefix(out_, "train"), shuffled);
  EXPECT_FALSE(fs::exists(out_ + "/.infeed/tmp"));
}

TEST_F(RecordsReshardTest, ReadsAndWritesPackedShards) {
  Pack("train-00000-of-00003");
  ASSERT_EQ(Reshard("--shards 4").exit_code, 0);
  EXPECT_EQ(ReadPrefix(out_, "train"), train_);
  const ProgramResult result = Reshard("--shards 4 --compression zlib");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ReadPrefix(out_, "train"), train_);
  EXPECT_EQ(TfrecordReader(out_ + "/train-00003-of-00004").compression(),
            Compression::kZlib);
}

TEST_F(RecordsReshardTest, EndsAtDamageWithAdviceAndLeavesNothing) {
  RecordFile damaged;
  damaged.Add("a").Add("b").Add("c").FlipByte(17 + 12);
  Write("train-00001-of-00003", damaged);
  const ProgramResult result = Reshard("--shards 2");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train-00001-of-00003: record 1"),
                                HasSubstr("`records repair`")));
  EXPECT_THAT(NamesIn(out_), IsEmpty());
}

TEST_F(RecordsReshardTest, LeavesBadRecordsOutWhenTold) {
  Strings expected = train_;
  expected.insert(expected.begin() + 60, {"a", "c"});
  // A payload, which an index does not see, and a frame, which it does.
  for (const std::size_t byte : {17 + 12, 17 + 2}) {
    RecordFile damaged;
    damaged.Add("a").Add("b").Add("c").FlipByte(byte);
    Write("train-00001-of-00003", damaged);
    ProgramResult result = Reshard("--shards 2 --on_bad_record skip");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(ReadPrefix(out_, "train"), expected) << byte;
    EXPECT_THAT(result.out,
                EndsWith("109 records in 4 shards, 1 bad left out\n"));
    EXPECT_THAT(result.err, HasSubstr("left out: "));
    result = Reshard("--shuffle global --on_bad_record skip");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(Sorted(ReadPrefix(out_, "train")), Sorted(expected));
    EXPECT_THAT(result.out, HasSubstr(", 1 bad left out\n"));
  }
}

TEST_F(RecordsReshardTest, KeepsClassesAndSeed) {
  WriteDatasetInfo(
      in_,
      {.seed = 9, .classes = {"cat", "dog"}, .first_label = 0, .splits = {}});
  ASSERT_EQ(Reshard("--shards 2").exit_code, 0);
  const auto info = ReadDatasetInfo(out_);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->first_label, 0);
  EXPECT_EQ(info->seed, 9U);
  EXPECT_THAT(info->classes, ElementsAre("cat", "dog"));
  ASSERT_EQ(info->splits.size(), 2U);
  EXPECT_EQ(info->splits[0].records, 100);
  EXPECT_EQ(info->splits[0].shards[1].name, "train-00001-of-00002");
  EXPECT_EQ(static_cast<std::uintmax_t>(info->splits[0].shards[1].bytes),
            fs::file_size(out_ + "/train-00001-of-00002"));
}

TEST_F(RecordsReshardTest, RefusesSetsOfOtherClasses) {
  WriteDatasetInfo(in_, {.seed = 9, .classes = {"cat", "dog"}, .splits = {}});
  const std::string other = folder_ / "other";
  fs::create_directories(other);
  RecordFile().Write(other + "/train-00000-of-00001");
  for (const DatasetInfo& others :
       {DatasetInfo{.classes = {"dog"}},
        DatasetInfo{.classes = {"cat", "dog"}, .first_label = 0}}) {
    WriteDatasetInfo(other, others);
    const ProgramResult result = Reshard(other);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("different classes"));
  }
}

TEST_F(RecordsReshardTest, ReplacesAnOlderSetOnlyWhenTold) {
  fs::create_directories(out_);
  const std::string old = out_ + "/train-00000-of-00009";
  WriteFileAtomically(old, "");
  const std::string command = "reshard --shards 2 --output " + out_ + " " + in_;
  const ProgramResult result = RunProgram("records", command);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr(old), HasSubstr("--overwrite")));
  EXPECT_THAT(NamesIn(out_), ElementsAre("train-00000-of-00009"));
  EXPECT_EQ(RunProgram("records", command + " --overwrite").exit_code, 0);
  EXPECT_THAT(NamesIn(out_), Not(Contains("train-00000-of-00009")));
  EXPECT_EQ(ReadPrefix(out_, "train"), train_);
}

TEST_F(RecordsReshardTest, OnlySaysWhatItWouldDo) {
  Pack("train-00000-of-00003");
  const ProgramResult result = Reshard("--shards 2 --dry_run --shuffle global");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr(out_ + "/train-00000-of-00002 50\n"),
                    EndsWith("would write 107 records in 4 shards\n")));
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(RecordsReshardTest, AsksForAPrefixWhereNamesSayNone) {
  const std::string file =
      RecordFile().Add("x").Write(folder_ / "odd.tfrecord");
  const std::string command = "reshard --output " + out_ + " " + file;
  const ProgramResult result = RunProgram("records", command);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--prefix"));
  EXPECT_EQ(RunProgram("records", command + " --prefix test").exit_code, 0);
  EXPECT_THAT(ReadPrefix(out_, "test"), ElementsAre("x"));
}

TEST_F(RecordsReshardTest, RefusesWrongFlags) {
  EXPECT_EQ(Reshard("--shards many").exit_code, 2);
  EXPECT_EQ(Reshard("--seed 3").exit_code, 2);
  EXPECT_EQ(Reshard("--memory_limit 1MB").exit_code, 2);
  EXPECT_EQ(
      RunProgram("records", "reshard --output " + in_ + " " + in_).exit_code,
      2);
}

}  // namespace records_reshard_test
}  // namespace infeed
