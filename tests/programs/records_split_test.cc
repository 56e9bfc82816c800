#include <filesystem>
#include <string>
#include <vector>

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
namespace records_split_test {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string Image(int label, const std::string& synset, int number) {
  ImagenetExample example;
  example.label = label;
  example.synset = synset;
  example.width = number;
  return BuildImagenetExample(example);
}

// Two shards: images of a cat, of a dog twice, and of a class without a name.
class RecordsSplitTest : public ::testing::Test {
 protected:
  RecordsSplitTest() {
    fs::create_directories(in_);
    RecordFile().Add(dog_).Add(cat_).Write(first_);
    RecordFile().Add(odd_).Add(dog2_).Write(second_);
  }
  ProgramResult Split(const std::string& flags) const {
    fs::remove_all(out_);
    return RunProgram("records",
                      "split " + in_ + " --output " + out_ + " " + flags);
  }
  [[nodiscard]] std::vector<std::string> Part(const std::string& name) const {
    return ReadPayloads(out_ + "/train-" + name);
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in";
  const std::string out_ = folder_ / "out";
  const std::string first_ = in_ + "/train-00000-of-00002";
  const std::string second_ = in_ + "/train-00001-of-00002";
  const std::string cat_ = Image(1, "cat", 1);
  const std::string dog_ = Image(2, "dog/../x", 2);
  const std::string dog2_ = Image(2, "dog/../x", 3);
  const std::string odd_ = Image(7, "", 4);
};

TEST_F(RecordsSplitTest, CutsByRecords) {
  EXPECT_EQ(Split("--records 3").exit_code, 0);
  EXPECT_THAT(Part("00000-of-00002"), ElementsAre(dog_, cat_, odd_));
  EXPECT_THAT(Part("00001-of-00002"), ElementsAre(dog2_));
}

TEST_F(RecordsSplitTest, CutsByBytesAndParts) {
  EXPECT_EQ(
      Split("--bytes " + std::to_string(dog_.size() + 16 + cat_.size() + 16))
          .exit_code,
      0);
  EXPECT_THAT(Part("00000-of-00002"), ElementsAre(dog_, cat_));
  EXPECT_EQ(Split("--parts 4").exit_code, 0);
  EXPECT_THAT(Part("00002-of-00004"), ElementsAre(odd_));
}

TEST_F(RecordsSplitTest, MakesAShardOfEachClass) {
  const ProgramResult result = Split("--by_label --threads 2");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(Part("cat-00000-of-00001"), ElementsAre(cat_));
  EXPECT_THAT(Part("dog_.._x-00000-of-00001"), ElementsAre(dog_, dog2_));
  EXPECT_THAT(Part("label-7-00000-of-00001"), ElementsAre(odd_));
  EXPECT_THAT(result.out, EndsWith("4 records in 3 shards, 0 bad left out\n"));
  EXPECT_EQ(ReadDatasetInfo(out_)->splits[0].name, "train-cat");
}

TEST_F(RecordsSplitTest, KeepsClassesOfTheSameNameApart) {
  const std::string other = Image(3, "cat", 1);
  RecordFile().Add(other).Add(cat_).Write(first_);
  EXPECT_EQ(Split("--by_label").exit_code, 0);
  EXPECT_THAT(Part("cat-00000-of-00001"), ElementsAre(cat_));
  EXPECT_THAT(Part("cat-label-3-00000-of-00001"), ElementsAre(other));
}

TEST_F(RecordsSplitTest, NeedsExamplesToTellTheirClass) {
  RecordFile().Add("no Example").Add(cat_).Write(first_);
  EXPECT_EQ(Split("--by_label").exit_code, 3);
  const ProgramResult result = Split("--by_label --on_bad_record skip");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, EndsWith("3 records in 3 shards, 1 bad left out\n"));
  EXPECT_THAT(Part("cat-00000-of-00001"), ElementsAre(cat_));
}

TEST_F(RecordsSplitTest, WantsToKnowHow) {
  EXPECT_EQ(Split("").exit_code, 2);
  EXPECT_EQ(Split("--records 3 --parts 2").exit_code, 2);
  EXPECT_EQ(Split("--bytes much").exit_code, 2);
}

TEST_F(RecordsSplitTest, MergesAgainInOrder) {
  const std::string file = folder_ / "all.tfrecord";
  const std::string command = "merge " + in_ + " --output " + file;
  EXPECT_EQ(RunProgram("records", command + " --dry_run").out,
            "would write 4 records of 2 shards to " + file + "\n");
  EXPECT_FALSE(fs::exists(file));
  const ProgramResult result = RunProgram("records", command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "4 records in " + file + ", 0 bad left out\n");
  EXPECT_THAT(ReadPayloads(file), ElementsAre(dog_, cat_, odd_, dog2_));
  EXPECT_TRUE(fs::exists(folder_ / ".infeed/all.tfrecord.index"));
  EXPECT_EQ(RunProgram("records", command).exit_code, 2);
  EXPECT_EQ(RunProgram("records", command + " --overwrite --compression gzip")
                .exit_code,
            0);
  EXPECT_EQ(TfrecordReader(file).compression(), Compression::kGzip);
  EXPECT_EQ(ReadPayloads(file).size(), 4U);
}

TEST_F(RecordsSplitTest, MergeLeavesBadRecordsOutWhenTold) {
  RecordFile().Add("x").AddRaw("garbage").Add("y").Write(first_);
  const std::string file = folder_ / "all.tfrecord";
  const std::string command = "merge " + first_ + " --output " + file;
  const ProgramResult result = RunProgram("records", command);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("`records repair`"));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(RunProgram("records", command + " --on_bad_record skip").exit_code,
            0);
  EXPECT_THAT(ReadPayloads(file), ElementsAre("x", "y"));
}

TEST_F(RecordsSplitTest, MergeRefusesToSpoilItsInput) {
  for (const std::string& output :
       {first_, in_ + "/train-00000-of-00001", in_, in_ + "/"}) {
    const ProgramResult result = RunProgram(
        "records", "merge --overwrite " + in_ + " --output " + output);
    EXPECT_EQ(result.exit_code, 2) << output;
  }
  EXPECT_THAT(ReadPayloads(first_), ElementsAre(dog_, cat_));
}

}  // namespace records_split_test
}  // namespace infeed
