#include "trainer/checkpoint/best_checkpoint.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/checkpoint/save.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

class BestCheckpointTest : public testing::Test {
 protected:
  BestCheckpointTest() {
    for (const std::int64_t step : {1, 2, 3}) {
      SaveCheckpoint(dir_, MadeCheckpoint(step));
    }
  }

  TemporaryFolder folder_;
  const std::string& dir_ = folder_.path();
};

TEST_F(BestCheckpointTest, OnlyAStrictlyBetterOneReplacesTheBest) {
  BestCheckpoint best(dir_, "top_1");
  EXPECT_EQ(best.step(), std::nullopt);
  EXPECT_TRUE(best.Note(1, 0.5));
  EXPECT_FALSE(best.Note(2, 0.5));
  EXPECT_TRUE(best.Note(3, 0.6));
  EXPECT_FALSE(best.Note(2, 0.4));
  EXPECT_THAT(best.step(), Optional(3));
  BestCheckpoint by_loss(dir_, "loss");
  EXPECT_FALSE(by_loss.Note(1, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(by_loss.Note(1, 2));
  EXPECT_FALSE(by_loss.Note(2, 3));
  EXPECT_TRUE(by_loss.Note(3, 1));
  BestCheckpoint by_auc(dir_, "auc");
  EXPECT_FALSE(by_auc.Note(1, std::nullopt));
  EXPECT_TRUE(by_auc.Note(1, 0.1));
}

TEST_F(BestCheckpointTest, ResumesKeepTheBest) {
  EXPECT_TRUE(BestCheckpoint(dir_, "top_5").Note(2, 0.5));
  EXPECT_EQ(ReadWholeFile(BestPath(dir_), 1000),
            "{\"schema\":1,\"metric\":\"top_5\",\"validation\":\"\",\"step\":2,"
            "\"value\":0.5}\n");
  BestCheckpoint again(dir_, "top_5");
  EXPECT_THAT(again.step(), Optional(2));
  EXPECT_FALSE(again.Note(3, 0.5));
}

TEST_F(BestCheckpointTest, AnotherMetricOrAMissingFolderDropsTheBest) {
  EXPECT_TRUE(BestCheckpoint(dir_, "top_1").Note(2, 0.5));
  EXPECT_EQ(BestCheckpoint(dir_, "loss").step(), std::nullopt);
  EXPECT_EQ(BestCheckpoint(dir_, "none").step(), std::nullopt);
  std::filesystem::remove_all(CheckpointFolder(dir_, 2));
  EXPECT_EQ(BestCheckpoint(dir_, "top_1").step(), std::nullopt);
}

TEST_F(BestCheckpointTest, IsForgottenWhereARunGoesBackBehindIt) {
  EXPECT_TRUE(BestCheckpoint(dir_, "top_1").Note(2, 0.5));
  ForgetBestAfter(2, dir_);
  EXPECT_EQ(RecordedBestStep(dir_), 2);
  ForgetBestAfter(1, dir_);
  EXPECT_FALSE(std::filesystem::exists(BestPath(dir_)));
  EXPECT_NO_THROW(ForgetBestAfter(1, dir_));
  WriteFileAtomically(BestPath(dir_), "{");
  EXPECT_NO_THROW(ForgetBestAfter(1, dir_));
  EXPECT_TRUE(std::filesystem::exists(BestPath(dir_)));
}

TEST_F(BestCheckpointTest, RemembersNothingForNone) {
  EXPECT_FALSE(BestCheckpoint(dir_, "none").Note(1, 1));
  EXPECT_FALSE(std::filesystem::exists(BestPath(dir_)));
}

TEST_F(BestCheckpointTest, NamesADamagedFile) {
  std::ofstream(BestPath(dir_)) << "{";
  EXPECT_THAT(MessageOf<DataError>([&] { BestCheckpoint(dir_, "loss"); }),
              AllOf(HasSubstr("best.json: not the record of a best"),
                    HasSubstr("move it away to start a new one")));
  std::ofstream(BestPath(dir_)) << R"({"schema":2})";
  EXPECT_THAT(MessageOf<DataError>([&] { BestCheckpoint(dir_, "loss"); }),
              HasSubstr("another version"));
}

}  // namespace
}  // namespace infeed
